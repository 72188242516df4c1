"""The verbs that show what would be: any spec, and an edit of a schedule before it is made. Nothing is changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from foliot.books.configurations import canonical_text, compiled
from foliot.domain.advice import SpecWarning
from foliot.domain.comparison import compare
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of
from foliot.domain.policies import read_policies
from foliot.domain.spec import Spec
from foliot.ports import Transaction
from foliot.services.configuration import Stored, patched
from foliot.services.desk import Desk
from foliot.services.editing import stored_form
from foliot.services.preview import Preview, preview
from foliot.services.schedules import Moment
from foliot.services.specs import SPEC_OPTIONS, spec_of
from foliot.services.written import options_of

COMPARED = 20
"""So many of the times to come are compared, unless others are asked for."""


@dataclass(frozen=True, slots=True)
class SpecPreview:
    """What a spec means."""

    canonical: str
    """As JSON."""
    shown: Preview


@dataclass(frozen=True, slots=True)
class Change:
    """An option of a schedule, as it is and as it would be; None: by default. A spec is said as a sentence."""

    field: str
    now: Any
    wanted: Any


class TargetWarning(NamedTuple):
    """What is odd about what it would run."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class EditPreview:
    """What an edit would do to a schedule."""

    id: str
    token: int
    """Of the schedule that was looked at."""
    changes: tuple[Change, ...]
    sentence: str
    """What it does to the next times, in words."""
    compared: int
    """So many of them as they are were looked at:"""
    kept: int
    """these are times after the edit, too,"""
    moved: int
    """and these are none any more."""
    added: int
    """So many times after the edit, up to the last of those, are none now: those in place of the moved, too."""
    next_now: tuple[datetime, ...]
    next_wanted: tuple[datetime, ...]
    warnings: tuple[SpecWarning | TargetWarning, ...]
    """What is odd about it as it would be."""


class PreviewVerbs:
    """What may be asked of what is not there yet."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def spec(self, options: Mapping[str, Any], *, since: Moment | None = None, count: int = 10) -> SpecPreview:
        """A spec in words, its times after that moment or now, what clock changes do to them, and what is odd."""
        spec = _spec_said(options)
        start = self._desk.read(lambda tx: tx.now) if since is None else instant_of(since, "since")
        return SpecPreview(canonical_text(spec), preview(spec, start // MICROSECONDS, count))

    def edit(self, name: str, changes: Mapping[str, Any], *, count: int = COMPARED) -> EditPreview:
        """What `patch` with these changes would do, and how that moves the next times."""
        changes = {option: value for option, value in changes.items() if option != "grant"}

        def act(tx: Transaction) -> EditPreview:
            row = self._desk.find_row(tx, name)
            live = stored_form(row)
            wanted = patched(row.name, live, read_policies(row.policies), changes)
            now = tx.now // MICROSECONDS
            compared = compare(compiled(live.spec), compiled(wanted.spec), now, count)
            # Asked of the spec as it is said: the canonical form no longer knows what was odd about a text.
            odd = _spec_said(changes).warnings(now) if live.spec != wanted.spec else []
            return EditPreview(
                id=row.id,
                token=row.version,
                changes=_changes(live, wanted),
                sentence=compared.sentence,
                compared=len(compared.before),
                kept=compared.kept,
                moved=compared.moved,
                added=compared.added,
                next_now=_moments(compared.before),
                next_wanted=_moments(compared.after),
                warnings=(*odd, *_about_target(tx, wanted.target)),
            )

        return self._desk.read(act)


def _about_target(tx: Transaction, target: str) -> Iterator[TargetWarning]:
    whole = f"{target.partition(':')[0]}:*"
    if len(tx.unregistered([target, whole])) == 2:
        said = f"No program has registered {target!r} yet: until one does, its runs end as not_found."
        yield TargetWarning("not_registered", said)


def _spec_said(options: Mapping[str, Any]) -> Spec:
    names = ("spec", *SPEC_OPTIONS)
    return spec_of({name: value for name, value in options.items() if name in names and value is not None})


def _changes(live: Stored, wanted: Stored) -> tuple[Change, ...]:
    now, then = options_of(live), options_of(wanted)
    changes = [
        Change(option, now.get(option), then.get(option))
        for option in dict.fromkeys([*now, *then])
        if option not in ("spec", *SPEC_OPTIONS) and now.get(option) != then.get(option)
    ]
    if live.spec != wanted.spec:
        described = (Spec.from_canonical(stored.spec).describe() for stored in (live, wanted))
        changes.insert(0, Change("spec", *described))
    return tuple(changes)


def _moments(instants: tuple[int, ...]) -> tuple[datetime, ...]:
    return tuple(moment_of(instant * MICROSECONDS) for instant in instants)
