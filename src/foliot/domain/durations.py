"""Durations as people write them: `90m`, `1h30m`, `1.5h`, `2d`."""

import re
from datetime import timedelta

from foliot.domain.errors import Invalid

SECOND = 1
MINUTE = 60
HOUR = 3600
DAY = 86400

_MICROSECONDS = {"d": DAY * 10**6, "h": HOUR * 10**6, "m": MINUTE * 10**6, "s": 10**6, "ms": 10**3}
_PART = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?(d|h|ms|m|s)", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_LONGEST_TEXT = 64


def parse_duration(text: str) -> timedelta:
    """`1h30m` as a timedelta; Invalid for anything that is not a positive sum of such parts."""
    if len(text) > _LONGEST_TEXT or not _WHOLE.fullmatch(text):
        raise Invalid(
            "a duration is a sum of numbers with a unit d, h, m, s or ms, such as '90m' or '1h30m', "
            f"got {text[:_LONGEST_TEXT]!r}"
        )
    microseconds = sum(
        int(whole + part) * _MICROSECONDS[unit] // 10 ** len(part) for whole, part, unit in _PART.findall(text)
    )
    try:
        return timedelta(microseconds=microseconds)
    except OverflowError as error:
        raise Invalid(f"a duration is at most {timedelta.max.days} days, got {text!r}") from error


def whole_seconds(duration: timedelta, name: str) -> int:
    """The duration in seconds; Invalid when a fraction of a second is left over."""
    seconds, rest = divmod(duration, timedelta(seconds=1))
    if rest:
        raise Invalid(f"{name} takes whole seconds, got {duration}: a schedule names whole-second instants")
    return seconds


def say_duration(seconds: int) -> str:
    """`1 h 30 min 1 s`: exactly."""
    return " ".join(_said_units(seconds)) or "0 s"


def say_roughly(seconds: int) -> str:
    """`1 d 13 h`: the two largest units."""
    return " ".join(_said_units(seconds)[:2]) or "0 s"


def _said_units(seconds: int) -> list[str]:
    parts = []
    for unit, size in (("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", SECOND)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return parts
