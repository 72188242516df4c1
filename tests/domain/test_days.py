"""Special days against a plain reading of the calendar of every month from 1970 to 2199."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from foliot.domain.calendar import Reading
from foliot.domain.cron import read_cron
from foliot.domain.days import NEW_YEARS, marked_days


def dates_of(cron: str) -> set[date]:
    reading = read_cron(cron).moments
    assert isinstance(reading, Reading)
    days = tuple(reading.days())
    return {
        date(year, 1, 1) + timedelta(days=place)
        for year in range(1970, 2200)
        for place, mark in enumerate(marked_days(days, year))
        if mark
    }


def every_month(day_of: Callable[[int, int, int], list[int]]) -> set[date]:
    """The dates that a rule picks, given year, month and the month's length."""
    return {
        date(year, month, day)
        for year in range(1970, 2200)
        for month in range(1, 13)
        for day in day_of(year, month, monthrange(year, month)[1])
    }


def last_workday(year: int, month: int, length: int) -> list[int]:
    return [max(day for day in range(1, length + 1) if date(year, month, day).weekday() < 5)]


def nearest_workday(wanted: int) -> Callable[[int, int, int], list[int]]:
    def pick(year: int, month: int, length: int) -> list[int]:
        if wanted > length:
            return []
        workdays = [day for day in range(1, length + 1) if date(year, month, day).weekday() < 5]
        # Saturday goes to the Friday before and Sunday to the Monday after, as long as these are in the month.
        return [min(workdays, key=lambda day: (abs(day - wanted), day))]

    return pick


def weekdays(month: tuple[int, int, int], weekday: int) -> list[int]:
    year, number, length = month
    return [day for day in range(1, length + 1) if date(year, number, day).isoweekday() % 7 == weekday]


@pytest.mark.parametrize(
    ("cron", "rule"),
    [
        ("0 0 L * *", lambda year, month, length: [length]),
        ("0 0 L-3 * *", lambda year, month, length: [length - 3]),
        ("0 0 L-30 * *", lambda year, month, length: [length - 30] if length > 30 else []),
        ("0 0 LW * *", last_workday),
        *((f"0 0 {day}W * *", nearest_workday(day)) for day in (1, 2, 15, 28, 29, 30, 31)),
        ("0 0 * * 5L", lambda *month: weekdays(month, 5)[-1:]),
        ("0 0 * * 5#3", lambda *month: weekdays(month, 5)[2:3]),
        ("0 0 * * SUN#5", lambda *month: weekdays(month, 0)[4:5]),
        ("0 0 1,L * *", lambda year, month, length: [1, length]),
        ("0 0 13 * FRI", lambda *month: sorted({13, *weekdays(month, 5)})),
        ("0 0 */2 * FRI", lambda *month: [day for day in weekdays(month, 5) if day % 2]),
        ("0 0 13 * */5", lambda *month: [day for day in (13,) if day in weekdays(month, 5) + weekdays(month, 0)]),
        (
            "0 0 15W * */2",
            lambda y, m, n: [d for d in nearest_workday(15)(y, m, n) if date(y, m, d).isoweekday() % 2 == 0],
        ),
    ],
)
def test_special_days_fall_where_a_reading_of_the_calendar_says(
    cron: str, rule: Callable[[int, int, int], list[int]]
) -> None:
    assert dates_of(cron) == every_month(rule)


def test_day_numbers_begin_with_the_first_of_january_1970() -> None:
    assert NEW_YEARS[0] == 0
    assert NEW_YEARS[30] == (date(2000, 1, 1) - date(1970, 1, 1)).days
