"""A configuration as people write it, made into one that can be stored."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from foliot.books.configurations import canonical_text
from foliot.domain.errors import Invalid
from foliot.domain.policies import Policies, policies_of
from foliot.domain.schedule import json_text, labels_of, target_said
from foliot.domain.spec import Spec
from foliot.services.specs import SPEC_OPTIONS, spec_of

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

POLICY_OPTIONS = (
    "overlap",
    "buffer",
    "catchup",
    "catchup_window",
    "catchup_cap",
    "grace",
    "lookahead",
    "retry",
    "timeout",
    "limit",
    "pause_on_failure",
    "budget",
    "max_calls",
    "max_tokens",
    "max_credits",
)
OTHER_OPTIONS = ("target", "spec", "input", "labels", "memo")
_STORED_AS = {"catchup_window": "window", "catchup_cap": "cap"}
_PLAIN = (str, int, float, bool, timedelta)
_Option = tuple[str, type, Any]
"""Its name, the type of its value, and the value: 1 and True are not the same to who reads them."""


class Stored(NamedTuple):
    """A configuration as it is stored: texts that are the same when the configuration is."""

    target: str
    spec: str
    policies: str
    input: str | None
    labels: str
    memo: str | None


def stored_of(name: str, options: Mapping[str, Any]) -> Stored:
    """The configuration that these options describe, with the defaults for the rest."""
    _check_options(options)
    given = {key: value for key, value in options.items() if value is not None}
    return Stored(
        target=_target_of(given.get("target"), name),
        spec=_text_of(_read_spec, given, ("spec", *SPEC_OPTIONS)),
        policies=_text_of(_read_policies, given, POLICY_OPTIONS),
        input=json_text("input", given.get("input")),
        labels=_labels_text(given.get("labels")),
        memo=json_text("memo", given.get("memo")),
    )


def stored_among(name: str, options: Mapping[str, Any]) -> Stored:
    """The same for one of several schedules: what is wrong with it is said with its name."""
    try:
        return stored_of(name, options)
    except Invalid as refusal:
        raise Invalid(f"{name!r}: {refusal}") from refusal


@lru_cache(maxsize=4096)
def _read_spec(*options: _Option) -> str:
    return _spec_text(spec_of({name: value for name, _, value in options}))


@lru_cache(maxsize=1024)
def _read_policies(*options: _Option) -> str:
    return policies_of(**{name: value for name, _, value in options}).as_text()


def _text_of(read: "_lru_cache_wrapper[str]", given: Mapping[str, Any], names: Sequence[str]) -> str:
    """How these options are stored. Many schedules are described in the same plain words, which are read once."""
    options = [(name, type(given[name]), given[name]) for name in names if name in given]
    is_plain = all(kind in _PLAIN for _, kind, _ in options)
    return read(*options) if is_plain else read.__wrapped__(*options)


def patched(name: str, stored: Stored, policies: Policies, changes: Mapping[str, Any]) -> Stored:
    """The stored configuration of a schedule of that name with these changes; None puts an option back to its default.

    Options of the spec describe it anew as a whole: it is kept only when none of them is given.
    """
    _check_options(changes)
    touched = {key: value for key, value in changes.items() if key in POLICY_OPTIONS}
    policies = policies_of(policies, **{key: value for key, value in touched.items() if value is not None})
    defaults = Policies()
    reset = {_STORED_AS.get(key, key) for key, value in touched.items() if value is None}
    if reset:
        kept = {name: getattr(defaults if name in reset else policies, name) for name in Policies.__slots__}
        policies = Policies(**kept)
    spec = stored.spec
    if "spec" in changes or any(key in changes for key in SPEC_OPTIONS):
        spec = _spec_text(spec_of({key: value for key, value in changes.items() if value is not None}))
    return Stored(
        target=_target_of(changes["target"], name) if "target" in changes else stored.target,
        spec=spec,
        policies=policies.as_text(),
        input=json_text("input", changes["input"]) if "input" in changes else stored.input,
        labels=_labels_text(changes["labels"]) if "labels" in changes else stored.labels,
        memo=json_text("memo", changes["memo"]) if "memo" in changes else stored.memo,
    )


def _target_of(said: str | None, name: str) -> str:
    """What runs: the target that is said, else the Python function that is called as the schedule is."""
    if said is not None:
        return target_said(said)
    try:
        return target_said(name)
    except Invalid as refusal:
        raise Invalid(
            f"target is missing, and no function has the schedule's name {name[:100]!r}: "
            "give a target, such as 'python:digest'"
        ) from refusal


def _spec_text(spec: Spec) -> str:
    """The canonical form; compiling it is its validation."""
    try:
        return _canonical_text(spec)
    except TypeError:
        # An option that cannot be hashed is none that a spec takes: compiling says which.
        spec.compile()
        raise


_canonical_text = lru_cache(maxsize=4096)(canonical_text)


def _check_options(options: Mapping[str, Any]) -> None:
    known = (*OTHER_OPTIONS, *SPEC_OPTIONS, *POLICY_OPTIONS)
    if unknown := [key for key in options if key not in known]:
        raise Invalid(f"a schedule takes {', '.join(known)}, got {', '.join(unknown)}")


def _labels_text(labels: Mapping[str, str] | None) -> str:
    return json.dumps(labels_of(labels), separators=(",", ":")) if labels is not None else "{}"
