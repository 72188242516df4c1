"""A declared set of schedules against what there is: what differs, who changed it, and what is done about that.

Pure: forms in, differences out. A set owns what its file says of a schedule, an operator its pause, the note on it and
its budget.
"""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.services.configuration import Stored

NO_LONGER_DECLARED = "apply"
"""Who has paused a schedule that vanished from its set."""
_OPERATORS = ("budget",)
_POLICY_OPTIONS = {"window": "catchup_window", "cap": "catchup_cap"}
"""What a policy is called by people, where that is not what it is stored as."""


class Measure(StrEnum):
    """What is done to a schedule so that it is as its set says."""

    CREATE = "create"
    ADOPT = "adopt"
    """It is there and belonged to no set: from now on it belongs to this one."""
    CHANGE = "change"
    RESUME = "resume"
    """It was paused because it had vanished from the set, and is in it again."""
    PAUSE = "pause"
    """It has vanished from the set: paused with a note, never deleted."""
    VANISHED = "vanished"
    """It has vanished from the set, and is paused already: nothing is done."""
    NONE = "none"

    @property
    def is_idle(self) -> bool:
        """Whether nothing is done."""
        return self in (Measure.NONE, Measure.VANISHED)


class Difference(NamedTuple):
    """A field that is not as the set says."""

    field: str
    now: Any
    wanted: Any
    is_drift: bool
    """Somebody has changed it since it was applied last."""
    is_kept: bool
    """It stays as it is."""


class Judgement(NamedTuple):
    """What becomes of a schedule that is in the set and there."""

    differences: tuple[Difference, ...]
    stored: Stored
    """What it is made."""


def judge(live: Stored, last: Stored | None, wanted: Stored, *, overwrite: bool) -> Judgement:
    """What of the schedule changes, by what it is, what was applied last and what is declared now.

    A field that only the file changed is changed. One that somebody has changed since is theirs, unless it is to be
    overwritten. What belongs to an operator stays as it is, and differs from the file only where that says something.
    """
    now, before, then = _fields(live), None if last is None else _fields(last), _fields(wanted)
    differences = []
    for field in _in_order(now, then):
        is_operators = field in _OPERATORS
        if _is_same(now.get(field), then.get(field)) or (is_operators and then.get(field) is None):
            continue
        is_drift = before is not None and not _is_same(before.get(field), now.get(field))
        is_kept = is_operators or (is_drift and not overwrite)
        differences.append(Difference(field, now.get(field), then.get(field), is_drift, is_kept))
    kept = {*_OPERATORS, *(difference.field for difference in differences if difference.is_kept)}
    merged = {field: (now if field in kept else then).get(field) for field in _in_order(now, then)}
    return Judgement(tuple(differences), _stored(merged))


def _in_order(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterable[str]:
    return dict.fromkeys([*now, *then])


def _fields(stored: Stored) -> dict[str, Any]:
    """The configuration field by field, each by the name that people give it."""
    policies = json.loads(stored.policies)
    return {
        "target": stored.target,
        "spec": json.loads(stored.spec),
        **{_POLICY_OPTIONS.get(name, name): value for name, value in policies.items()},
        "input": None if stored.input is None else json.loads(stored.input),
        "labels": json.loads(stored.labels),
        "memo": None if stored.memo is None else json.loads(stored.memo),
    }


def _stored(fields: Mapping[str, Any]) -> Stored:
    """The same back again."""
    others = {"target", "spec", "input", "labels", "memo"}
    named = {option: name for name, option in _POLICY_OPTIONS.items()}
    policies = {named.get(field, field): value for field, value in fields.items() if field not in others}
    return Stored(
        target=fields["target"],
        spec=_text(fields["spec"]),
        policies=_text({name: value for name, value in policies.items() if value is not None}),
        input=None if fields["input"] is None else _text(fields["input"]),
        labels=_text(fields["labels"]),
        memo=None if fields["memo"] is None else _text(fields["memo"]),
    )


def _is_same(one: Any, other: Any) -> bool:
    """Compared as they are written: to Python 1 and true are the same."""
    return _text(one) == _text(other)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
