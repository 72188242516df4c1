"""What one field of a calendar may say: numbers, names, lists, ranges, steps and special days."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from foliot.domain.errors import Invalid

FIRST_YEAR = 1970
LAST_YEAR = 2199

_LONGEST_ITEM = 40
_LONGEST_QUOTE = 200


class Dialect(StrEnum):
    """Whose cron text it is: Debian's with Quartz's special days, or that of Temporal's users."""

    CRON = "cron"
    TEMPORAL = "temporal"


@dataclass(frozen=True, eq=False)
class FieldKind:
    """A field's name, its range, and the names its values have. A set of its values is an integer, one bit each."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    base: int = 0
    """The value whose bit is the lowest."""

    @cached_property
    def all(self) -> int:
        """The values of `*`."""
        high = 6 if self is DAY_OF_WEEK else self.high
        return (1 << (high - self.low + 1)) - 1 << (self.low - self.base)

    @property
    def range(self) -> str:
        if not self.names:
            return f"{self.low}-{self.high}"
        return f"{self.low}-{self.high} or {self.names[0][:3].upper()}-{self.names[-1][:3].upper()}"

    def values(self, bits: int) -> list[int]:
        return [self.base + bit for bit in range(bits.bit_length()) if bits >> bit & 1]


SECOND = FieldKind("second", 0, 59)
MINUTE = FieldKind("minute", 0, 59)
HOUR = FieldKind("hour", 0, 23)
DAY_OF_MONTH = FieldKind("day_of_month", 1, 31)
MONTH = FieldKind(
    "month",
    1,
    12,
    (
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ),
)
YEAR = FieldKind("year", FIRST_YEAR, LAST_YEAR, base=FIRST_YEAR)
DAY_OF_WEEK = FieldKind(
    "day_of_week", 0, 7, ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
)

KINDS = (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, YEAR, DAY_OF_WEEK)


class LastDay(NamedTuple):
    """`L`, `L-3`: so many days before the last of the month."""

    before: int


class LastWorkday(NamedTuple):
    """`LW`: the last Monday-to-Friday day of the month."""


class NearestWorkday(NamedTuple):
    """`15W`: the Monday-to-Friday day nearest to this one, within its month."""

    day: int


class NthWeekday(NamedTuple):
    """`5#2`: the second Friday of the month."""

    weekday: int
    nth: int


class LastOfWeekday(NamedTuple):
    """`5L`: the last Friday of the month."""

    weekday: int


SpecialDay = LastDay | LastWorkday | NearestWorkday | NthWeekday | LastOfWeekday


class Field(NamedTuple):
    """One field as it was read."""

    kind: FieldKind
    text: str
    values: int
    specials: tuple[SpecialDay, ...]

    @property
    def starred(self) -> bool:
        """Begins with `*`, or is `?`: cron treats such a field as a wildcard."""
        return self.text.startswith(("*", "?"))


class Source(NamedTuple):
    """Where a field's text stands, for messages: what it is part of, the whole text, the field's place in it."""

    label: str
    text: str
    start: int = 0


class _Wrong(ValueError):
    """What is wrong with one item, said without its surroundings."""


def quoted(text: str) -> str:
    """The text in quotes; the end of a very long one is left out."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…")


def parse_field(kind: FieldKind, text: str, source: Source, dialect: Dialect = Dialect.CRON) -> Field:
    """The values and special days that a field's text names; Invalid names field, range, item and position."""
    values = 0
    specials: dict[SpecialDay, None] = {}
    position = source.start
    for item in text.split(","):
        try:
            meaning = _parse_item(kind, item[: _LONGEST_ITEM + 1], dialect)
        except _Wrong as wrong:
            raise Invalid(
                f"{source.label} field '{kind.name}' takes {wrong}, got {quoted(item)}"
                f" in {quoted(source.text)} (character {position + 1})"
            ) from None
        if isinstance(meaning, int):
            values |= meaning
        else:
            specials[meaning] = None
        position += len(item) + 1
    return Field(kind, text, values, tuple(specials))


@lru_cache(maxsize=4096)
def _parse_item(kind: FieldKind, item: str, dialect: Dialect) -> int | SpecialDay:
    if item == "?" and kind in (DAY_OF_MONTH, DAY_OF_WEEK) and dialect is Dialect.CRON:
        return kind.all
    if dialect is Dialect.CRON and item.isascii() and (special := _parse_special(kind, item.upper())) is not None:
        return special
    return _parse_range(kind, item, dialect)


_RANGE = re.compile(r"(\*|[^-/*]+)(?:-([^-/*]+))?(?:/([^-/*]*))?")


def _parse_range(kind: FieldKind, item: str, dialect: Dialect) -> int:
    match = _RANGE.fullmatch(item)
    if not match or (match[1] == "*" and match[2]) or len(item) > _LONGEST_ITEM:
        raise _Wrong(_everything(kind, dialect))
    first, last, step_text = match.groups()
    step = _parse_step(step_text)
    if first == "*":
        low, high = kind.low, kind.high
    else:
        low = high = _parse_value(kind, first, dialect)
        if last is not None:
            high = _parse_value(kind, last, dialect)
            if kind is DAY_OF_WEEK and high == 0 and low and not last.isdigit():
                high = 7  # FRI-SUN: the week's end, not its beginning
        elif step_text is not None:
            high = kind.high
    if low > high:
        raise _Wrong(f"{kind.range}, ranges running forwards")
    return _bits(kind, low, high, step)


def _parse_step(text: str | None) -> int:
    if text is None:
        return 1
    if not (text.isascii() and text.isdigit() and int(text)):
        raise _Wrong("a step of 1 or more after '/'")
    return int(text)


def _parse_value(kind: FieldKind, text: str, dialect: Dialect) -> int:
    if text.isascii() and text.isdigit():
        value = int(text)
        if not kind.low <= value <= kind.high:
            raise _Wrong(kind.range)
        return value
    shortest = 2 if dialect is Dialect.TEMPORAL and kind is DAY_OF_WEEK else 3
    if text.isascii() and len(text) >= shortest:
        for place, name in enumerate(kind.names):
            if name.startswith(text.lower()):
                return kind.low + place
    raise _Wrong(_everything(kind, dialect))


def _bits(kind: FieldKind, low: int, high: int, step: int) -> int:
    step = min(step, high - low + 1)
    count = (high - low) // step + 1
    # A run of `count` ones, `step` bits apart: the quotient of two all-ones numbers.
    bits = ((1 << count * step) - 1) // ((1 << step) - 1) << (low - kind.base)
    if kind is DAY_OF_WEEK:
        bits = bits & 0x7F | bits >> 7 & 1
    return bits


_LAST_DAY = re.compile(r"L(?:-(\d{1,2}))?", re.ASCII)
_NEAREST = re.compile(r"(\d{1,2})W", re.ASCII)
_NTH = re.compile(r"([^#]+)#([^#]*)")


def _parse_special(kind: FieldKind, item: str) -> SpecialDay | None:
    if kind is DAY_OF_MONTH:
        if item == "LW":
            return LastWorkday()
        if match := _LAST_DAY.fullmatch(item):
            before = int(match[1] or 0)
            if before > 30:
                raise _Wrong("L-0 to L-30")
            return LastDay(before)
        if match := _NEAREST.fullmatch(item):
            return NearestWorkday(_parse_value(kind, match[1], Dialect.CRON))
    if kind is DAY_OF_WEEK:
        if item == "L":
            raise _Wrong("a weekday before 'L', such as 5L for the last Friday of the month")
        if match := _NTH.fullmatch(item):
            if match[2] not in ("1", "2", "3", "4", "5"):
                raise _Wrong("1-5 after '#', such as 5#2 for the second Friday of the month")
            return NthWeekday(_parse_value(kind, match[1], Dialect.CRON) % 7, int(match[2]))
        if item.endswith("L") and len(item) <= _LONGEST_ITEM:
            return LastOfWeekday(_parse_value(kind, item[:-1], Dialect.CRON) % 7)
    return None


def _everything(kind: FieldKind, dialect: Dialect) -> str:
    if dialect is Dialect.CRON and kind is DAY_OF_MONTH:
        return f"{kind.range}, lists, ranges, steps, L, L-3, LW or 15W"
    if dialect is Dialect.CRON and kind is DAY_OF_WEEK:
        return f"{kind.range}, lists, ranges, steps, 5L or 5#2"
    return f"{kind.range}, lists, ranges or steps"
