"""A schedule: what to run, when and how; and the narrow state that moves with every slot."""

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.nesting import is_deeper

LONGEST_ID = 100
LONGEST_JSON = 1_000_000
DEEPEST_KEPT = 100
"""Levels of JSON that is kept: whoever reads it, from wherever, can."""
_LONGEST_TEXT = 1000
MOST_LABELS = 100
"""Of one schedule."""
OWN = ...
"""The schedule's own, where anything may be given instead of it, None too."""
ME = "me"
"""Whoever asks, where a user is named."""
DONE_TO_USERS = ("disable", "enable", "ledger", "limit", "top-up")
"""What may stand behind a user in a path: `acme/ledger` is the ledger of acme."""
_TARGET = re.compile(r"[a-z][a-z0-9_]*:[^\s#~?*]{1,200}", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,62}", re.ASCII)


class Standing(StrEnum):
    """What a schedule does now."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    """No more slots, or no more starts; kept, and an edit brings it back to life."""
    DELETED = "deleted"


class Ordering(StrEnum):
    """In which order schedules are listed."""

    ID = "id"
    NEXT = "next"
    """The one that fires next first; last those that do not, or are paused."""
    NAME = "name"


class State(NamedTuple):
    """What moves: one row, read and written for every sweep and every settlement."""

    ref: int
    version: int
    target: int
    swept_to: int
    wake_at: int | None
    pause_from: int | None
    """The start of a pause that the sweeper has not yet left behind."""
    pause_to: int | None
    """Its end: in the future while it lasts until then, None while nobody knows."""
    running: int
    """Runs that occupy the schedule."""
    held: int
    """Slots that wait for one of them, or for the end of a pause."""
    remaining: int | None
    marks: int
    """Future slots that have their row already: skipped by hand."""
    last_result: int | None
    last_failure: int | None
    refusals: int
    """How often in a row it was not permitted to start."""

    def is_paused(self, now: int) -> bool:
        return self.pause_from is not None and (self.pause_to is None or now < self.pause_to)

    def moved(self, swept_to: int, wake_at: int | None, running: int) -> "State":
        """What `_replace` does, without its detours: it happens to every slot, twice."""
        return State(
            self.ref,
            self.version,
            self.target,
            swept_to,
            wake_at,
            self.pause_from,
            self.pause_to,
            running,
            self.held,
            self.remaining,
            self.marks,
            self.last_result,
            self.last_failure,
            self.refusals,
        )


def slug_of(name: str) -> str:
    """The id of a schedule of that name: small letters, digits, `-`, `_`, `.`; Invalid when nothing is left."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise Invalid(f"a schedule takes a printable name such as 'digest', got {name!r}")
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9_.]+", "-", plain).strip("-.")
    if not slug or len(slug) > LONGEST_ID:
        raise Invalid(f"a schedule takes a name with 1 to {LONGEST_ID} letters or digits of a-z0-9, got {name[:120]!r}")
    return slug


def text_of(name: str, text: str | None, longest: int = _LONGEST_TEXT) -> str | None:
    """A text that people wrote; Invalid when it is too long, or has signs that cannot be written down everywhere."""
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > longest or not "".join(text.split()).isprintable():
        raise Invalid(f"{name} takes printable text of at most {longest:,} characters, got {str(text)[:100]!r}")
    return text


def name_of(what: str, text: str) -> str:
    """A text by which something is looked for; Invalid when nothing could have such a name."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST_TEXT or not text.isprintable():
        raise Invalid(f"{what} takes printable text of 1 to {_LONGEST_TEXT:,} characters, got {str(text)[:100]!r}")
    return text


def user_of(user: str, what: str = "a user") -> str:
    """A user's id, whatever the program around calls its users; Invalid when it is empty or no printable text.

    Invalid too when a path with that id in it means somebody else.
    """
    if not isinstance(user, str) or not user.strip() or len(user) > LONGEST_ID or not user.isprintable():
        raise Invalid(f"{what} takes printable text of 1 to {LONGEST_ID} characters, got {user!r}")
    if user == ME:
        raise Invalid(f"{what} takes no {ME!r}, which means whoever asks: give the id of a user")
    if not {".", ".."}.isdisjoint(user.split("/")):
        raise Invalid(
            f"{what} takes no '.' or '..' between slashes, which a path leaves out: give another, got {user!r}"
        )
    whose, slash, last = user.rpartition("/")
    if slash and last in DONE_TO_USERS:
        raise Invalid(
            f"{what} takes no id that ends in '/{last}', which in a path is about {whose!r}: give another, got {user!r}"
        )
    return user


def target_of(text: str) -> str:
    """A target as it is stored; Invalid unless it is `provider:name`. No name has a `*`: scopes mean more by it."""
    if isinstance(text, str) and "*" in text:
        raise Invalid(f"a target is one provider:name, without *, which only a grant's scope takes, got {text[:100]!r}")
    if not isinstance(text, str) or not _TARGET.fullmatch(text) or not text.isprintable():
        raise Invalid(f"a target is provider:name, such as 'python:digest', got {str(text)[:100]!r}")
    return text


def target_said(text: str) -> str:
    """The same as people say it: a name alone is one of `python:`."""
    return target_of(f"python:{text}" if isinstance(text, str) and ":" not in text else text)


def labels_of(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Labels in order; Invalid unless they are short texts by short names."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise Invalid(f"labels take a mapping such as {{'team': 'mail'}}, got {labels!r}")
    for name, value in labels.items():
        if not isinstance(name, str) or not _LABEL.fullmatch(name):
            raise Invalid(f"a label's name takes 1 to 63 of A-Z a-z 0-9 _ . / -, got {name!r}")
        if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
            raise Invalid(f"label {name!r} takes printable text of at most 200 characters, got {value!r}")
    return dict(sorted(labels.items()))


def relabelled(labels: Mapping[str, str], put: Mapping[str, str], gone: Collection[str]) -> dict[str, str]:
    """The labels with others put there or instead, and without those that go; Invalid when they become too many."""
    after = labels_of({name: value for name, value in {**labels, **put}.items() if name not in gone})
    if len(after) > max(MOST_LABELS, len(labels)):
        raise Invalid(f"a schedule takes at most {MOST_LABELS} labels, and would have {len(after)}: remove some")
    return after


def json_text(name: str, value: Any) -> str | None:
    """The value as JSON, the same text for the same value; None for None. Invalid when it is not JSON, or too much."""
    if value is None:
        return None
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{name} takes what JSON can say (text, numbers, lists, objects): {error}") from error
    # Its letters count, not the escapes that they are kept as.
    if len(text) > LONGEST_JSON and (length := _length(value)) > LONGEST_JSON:
        raise Invalid(f"{name} takes at most {LONGEST_JSON:,} characters of JSON, got {length:,}")
    if is_deeper(text.encode(), DEEPEST_KEPT):
        raise Invalid(f"{name} takes JSON of at most {DEEPEST_KEPT} levels: make it flatter, or keep it as text")
    return text


def own_json_text(name: str, value: Any) -> str | None:
    """The same of what is given instead of the schedule's own, or None for that: null is given like any other value."""
    return None if value is OWN else json_text(name, value) or "null"


def _length(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
