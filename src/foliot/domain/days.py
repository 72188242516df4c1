"""Which dates a calendar's four day fields name, special days such as `L`, `15W` and `5#2` among them."""

from datetime import date
from functools import lru_cache
from typing import NamedTuple, assert_never

from foliot.domain.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIRST_YEAR,
    LAST_YEAR,
    MONTH,
    YEAR,
    Field,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    SpecialDay,
)


class Days(NamedTuple):
    """A set of dates: those in all four sets."""

    day_of_month: int = DAY_OF_MONTH.all
    month: int = MONTH.all
    year: int = YEAR.all
    day_of_week: int = DAY_OF_WEEK.all

    def __and__(self, other: "Days") -> "Days":
        return Days(*(mine & theirs for mine, theirs in zip(self, other, strict=True)))


def _bit(value: int) -> int:
    return 1 << value


def _month_bits(*months: int) -> int:
    return sum(map(_bit, months))


_EPOCH = date(1970, 1, 1).toordinal()
NEW_YEARS = tuple(date(year, 1, 1).toordinal() - _EPOCH for year in range(FIRST_YEAR, LAST_YEAR + 2))
"""The day number of each 1 January; day 0 is 1 January 1970."""

_LEAP_YEARS = sum(_bit(place) for place in range(len(NEW_YEARS) - 1) if NEW_YEARS[place + 1] - NEW_YEARS[place] == 366)
_MONTHS_BY_LENGTH = (
    (31, Days(month=_month_bits(1, 3, 5, 7, 8, 10, 12))),
    (30, Days(month=_month_bits(4, 6, 9, 11))),
    (29, Days(month=_month_bits(2), year=_LEAP_YEARS)),
    (28, Days(month=_month_bits(2), year=YEAR.all & ~_LEAP_YEARS)),
)
_MONDAY, _FRIDAY = _bit(1), _bit(5)
_WORKDAYS = 0b0111110


def days_of_field(field: Field) -> list[Days]:
    """The dates that a day field names."""
    plain = Days(day_of_month=field.values) if field.kind is DAY_OF_MONTH else Days(day_of_week=field.values)
    if field.values == field.kind.all or not field.specials:
        return [plain]
    return merged(
        [plain] * bool(field.values) + [days for special in field.specials for days in _special_days(special)]
    )


def _special_days(special: SpecialDay) -> list[Days]:
    match special:
        case NthWeekday(weekday, nth):
            week = sum(_bit(day) for day in range(7 * nth - 6, min(7 * nth, 31) + 1))
            return [Days(day_of_month=week, day_of_week=_bit(weekday))]
        case LastDay() | LastWorkday() | NearestWorkday() | LastOfWeekday():
            return [
                days & months
                for length, months in _MONTHS_BY_LENGTH
                for days in _special_days_in_month(special, length)
            ]
        case _:
            assert_never(special)


def _special_days_in_month(special: LastDay | LastWorkday | NearestWorkday | LastOfWeekday, length: int) -> list[Days]:
    match special:
        case LastDay(before):
            return [Days(day_of_month=_bit(length - before))] if before < length else []
        case LastOfWeekday(weekday):
            return [Days(day_of_month=sum(map(_bit, range(length - 6, length + 1))), day_of_week=_bit(weekday))]
        case LastWorkday():
            return _nearest_workday(length, length)
        case NearestWorkday(day):
            return _nearest_workday(day, length)
        case _:
            assert_never(special)


def _nearest_workday(day: int, length: int) -> list[Days]:
    """That day if it is a workday; else the Friday before or the Monday after, whichever is near and in the month."""
    if day > length:
        return []
    on_saturday = Days(_bit(day - 1), day_of_week=_FRIDAY) if day > 1 else Days(_bit(3), day_of_week=_MONDAY)
    on_sunday = Days(_bit(day + 1), day_of_week=_MONDAY) if day < length else Days(_bit(day - 2), day_of_week=_FRIDAY)
    return [Days(_bit(day), day_of_week=_WORKDAYS), on_saturday, on_sunday]


def merged(alternatives: list[Days]) -> list[Days]:
    """The same dates in fewer sets: those that differ in one field only become one."""
    sets = [days for days in alternatives if all(days)]
    for place in (2, 1, 0, 3):
        by_rest: dict[tuple[int, ...], int] = {}
        for days in sets:
            rest = days[:place] + days[place + 1 :]
            by_rest[rest] = by_rest.get(rest, 0) | days[place]
        sets = [Days._make((*rest[:place], bits, *rest[place:])) for rest, bits in by_rest.items()]
    return sets


LONGEST_MONTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""How long each month can be, by its number."""


def marked_days(days: tuple[Days, ...], year: int) -> bytes:
    """The year's days in order, 1 for those in any of the sets."""
    new_year = NEW_YEARS[year - FIRST_YEAR]
    leap = NEW_YEARS[year - FIRST_YEAR + 1] - new_year == 366
    kind_of_year = ((new_year + 4) % 7, leap)
    rows = [
        _marked_days(one.day_of_month, one.month, one.day_of_week, *kind_of_year)
        for one in days
        if one.year >> (year - FIRST_YEAR) & 1
    ]
    return _either(rows) if rows else bytes(365 + leap)


def _either(rows: list[bytes]) -> bytes:
    """Marked where any of the rows is."""
    union = 0
    for row in rows:
        union |= int.from_bytes(row)
    return union.to_bytes(len(rows[0])) if len(rows) > 1 else rows[0]


@lru_cache(maxsize=4096)
def _marked_days(day_of_month: int, month: int, day_of_week: int, first_weekday: int, leap: bool) -> bytes:
    """There are only fourteen kinds of year: seven weekdays to begin with, leap or not."""
    in_month = bytes(day_of_month >> day & 1 for day in range(1, 32))
    lengths = (31, 28 + leap, *LONGEST_MONTHS[3:])
    row = b"".join(
        in_month[:length] if month >> number & 1 else bytes(length) for number, length in enumerate(lengths, 1)
    )
    if day_of_week == DAY_OF_WEEK.all:
        return row
    week = bytes(day_of_week >> (first_weekday + day) % 7 & 1 for day in range(7))
    return (int.from_bytes(row) & int.from_bytes((week * 53)[: len(row)])).to_bytes(len(row))
