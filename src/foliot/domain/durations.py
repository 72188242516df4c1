"""Durations as people write them: `90m`, `1h30m`, `1.5h`, `2d`."""

import re
from datetime import timedelta

from foliot.domain.errors import Invalid

SECOND = 1
MINUTE = 60
HOUR = 3600
DAY = 86400

_MICROSECONDS = {"d": DAY * 10**6, "h": HOUR * 10**6, "m": MINUTE * 10**6, "s": 10**6, "ms": 10**3}
_PART = re.compile(r"(\d+)(?:\.(\d{1,9}))?(d|h|ms|m|s)", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_LONGEST_TEXT = 64
_SUCH_AS = "a duration such as '90s' or '1h30m'"
_MICROSECOND = timedelta(microseconds=1)
_LONGEST_SPAN = timedelta(days=230 * 366)

Span = timedelta | str | int | float
"""A duration at the edge: a timedelta, text such as `90m`, or a number of seconds."""


def span_of(name: str, span: Span) -> int:
    """The duration in microseconds; Invalid, by the name of the option, when it is none, or negative."""
    if isinstance(span, str):
        length = timedelta() if span == "0" else parse_duration(name, span)
    elif isinstance(span, bool) or not isinstance(span, timedelta | int | float):
        raise Invalid(f"{name} takes {_SUCH_AS}, a timedelta or seconds, got {span!r}")
    else:
        try:
            length = span if isinstance(span, timedelta) else timedelta(seconds=span)
        except (OverflowError, ValueError):
            length = -_MICROSECOND
    if not timedelta() <= length <= _LONGEST_SPAN:
        raise Invalid(f"{name} takes a duration from 0 to 230 years, got {span!r}")
    return length // _MICROSECOND


def positive_span_of(name: str, span: Span) -> int:
    """The same for an option that 0 means nothing to."""
    length = span_of(name, span)
    if length == 0:
        raise Invalid(f"{name} takes more than 0, got {span!r}: leave it out to have its default")
    return length


def parse_duration(name: str, text: str) -> timedelta:
    """`1h30m` as a timedelta; Invalid, by the name of the option, for anything that is not a sum of such parts."""
    if len(text) > _LONGEST_TEXT or not _WHOLE.fullmatch(text):
        raise Invalid(
            f"{name} takes {_SUCH_AS}, got {text[:_LONGEST_TEXT]!r}: give each number its unit, d, h, m, s or ms"
        )
    microseconds = sum(
        int(whole + part) * _MICROSECONDS[unit] // 10 ** len(part) for whole, part, unit in _PART.findall(text)
    )
    try:
        return timedelta(microseconds=microseconds)
    except OverflowError as error:
        raise Invalid(f"{name} takes at most {timedelta.max.days} days, got {text!r}") from error


def whole_seconds(name: str, duration: timedelta) -> int:
    """The duration in seconds; Invalid when a fraction of a second is left over."""
    seconds, rest = divmod(duration, timedelta(seconds=1))
    if rest:
        raise Invalid(f"{name} takes whole seconds, got {duration}: a schedule names whole-second instants")
    return seconds


def duration_text(microseconds: int) -> str:
    """`1h30m`: what `span_of` reads."""
    parts = []
    for unit, size in _MICROSECONDS.items():
        count, microseconds = divmod(microseconds, size)
        if count:
            parts.append(f"{count}{unit}")
    if microseconds:
        parts.append(f"0.{microseconds:03d}ms")
    return "".join(parts) or "0s"


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
