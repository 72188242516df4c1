"""The canonical form of a calendar as JSON: each field a list of ranges."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from foliot.domain.calendar import Calendar, WallTimes
from foliot.domain.errors import Invalid
from foliot.domain.fields import KINDS, FieldKind, quoted

Json = dict[str, Any]

_LARGEST = 10**6
"""No field has such a number; and to read larger ones takes ever longer."""


def calendar_as_json(calendar: WallTimes) -> Json:
    """`{"hour": [{"start": 9, "end": 17, "step": 1}], …, "gap": "shift", "fold": "first"}`"""
    return exclusion_as_json(calendar) | {"gap": str(calendar.gap), "fold": str(calendar.fold)}


def exclusion_as_json(calendar: WallTimes) -> Json:
    """As a calendar, without the rule for clock changes: an exclusion is tested on instants."""
    bits = {
        "second": calendar.second,
        "minute": calendar.minute,
        "hour": calendar.hour,
        **calendar.days._asdict(),
    }
    return {kind.name: [dict(one) for one in _ranges_in(kind, bits[kind.name])] for kind in KINDS}


@lru_cache(maxsize=4096)
def _ranges_in(kind: FieldKind, bits: int) -> list[dict[str, int]]:
    return ranges_of(kind.values(bits))


def ranges_of(values: list[int]) -> list[dict[str, int]]:
    """The ascending values as few ranges, the same for the same values."""
    ranges = []
    while values:
        step = values[1] - values[0] if len(values) > 1 else 1
        size = 1
        while size < len(values) and values[size] - values[size - 1] == step:
            size += 1
        if size == 2 and step > 1:
            size = 1
        ranges.append({"start": values[0], "end": values[size - 1], "step": step if size > 1 else 1})
        values = values[size:]
    return ranges


def calendar_from_json(data: Mapping[str, Any], name: str) -> Calendar:
    """The calendar that has this canonical form."""
    return _calendar(data, name, _ranges_text)


def calendar_said(data: Any, name: str) -> Calendar:
    """The calendar of a JSON object as people write it: each field as text, as a number, or in canonical form.

    A field that is null is unset.
    """
    if not isinstance(data, Mapping):
        raise Invalid(f'{name} takes a JSON object such as {{"hour": "9-17"}}, got {quoted(repr(data))}')
    return _calendar({key: value for key, value in data.items() if value is not None}, name, _said_text)


def _calendar(data: Mapping[str, Any], name: str, text_of: Callable[[FieldKind, Any, str], str]) -> Calendar:
    known = (*(kind.name for kind in KINDS), "gap", "fold")
    if unknown := [key for key in data if key not in known]:
        raise Invalid(f"{name} takes the keys {', '.join(known)}, got {', '.join(map(repr, unknown))}")
    texts = {kind.name: text_of(kind, data[kind.name], name) for kind in KINDS if kind.name in data}
    return Calendar(**texts, **{rule: data[rule] for rule in ("gap", "fold") if rule in data})


def _said_text(kind: FieldKind, said: Any, name: str) -> str:
    is_text = isinstance(said, str) or (_is_number(said) and abs(said) < _LARGEST)
    return str(said) if is_text else _ranges_text(kind, said, name)


def _ranges_text(kind: FieldKind, ranges: Any, name: str) -> str:
    try:
        numbers = [(one["start"], one["end"], one.get("step", 1)) for one in ranges]
    except (TypeError, KeyError, AttributeError):
        numbers = []
    if not numbers or not all(_is_number(number) and abs(number) < _LARGEST for one in numbers for number in one):
        raise Invalid(
            f"{name} key '{kind.name}' takes text such as \"{kind.low}\", or a list of ranges such as "
            f'[{{"start": {kind.low}, "end": {kind.low}, "step": 1}}], got {quoted(_shown(ranges))}'
        )
    parts = [f"{start}-{end}/{step}" for start, end, step in numbers]
    whole = f"{kind.low}-{6 if kind.name == 'day_of_week' else kind.high}/1"
    return "*" if parts == [whole] else ",".join(_shortened(part) for part in parts)


def _is_number(value: Any) -> bool:
    return type(value) is int


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        # Python does not write numbers of thousands of digits.
        return "a number of thousands of digits"


def _shortened(part: str) -> str:
    span, step = part.split("/")
    low, high = span.split("-", 1)
    if low == high:
        return low
    return span if step == "1" else part
