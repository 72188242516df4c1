"""Foliot's instants beside those of a real Temporal server, which are right but near some clock changes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from tests.builders import RANGES, at, said
from tests.diet import every_day
from tests.oracle import DAY, LAST_INSTANT, PlainCalendar, PlainSpec
from tests.temporal.both_sides import Instants, Window, for_foliot, instants_of_both

HOUR = 3600
TEMPORAL_RANGES = RANGES | {"year": range(2000, 2101)}

# Years with clock changes, where the zone has any, so that a window can lie around one.
YEARS = {
    "UTC": range(2001, 2100),
    "America/New_York": range(2001, 2100),
    "America/Los_Angeles": range(2001, 2100),
    "America/Santiago": range(2001, 2100),
    "America/Sao_Paulo": range(2001, 2019),
    "Asia/Kolkata": range(2001, 2100),
    "Asia/Tokyo": range(2001, 2100),
    "Europe/London": range(2001, 2100),
    "Europe/Berlin": range(2001, 2100),
    "Australia/Sydney": range(2001, 2100),
}
CHANGING = [zone for zone in YEARS if zone not in ("UTC", "Asia/Kolkata", "Asia/Tokyo")]


class Change(NamedTuple):
    """When the clocks change, and their offsets in seconds before and after."""

    instant: int
    before: int
    after: int

    @property
    def shift(self) -> int:
        return self.after - self.before


def a_calendar(**chosen: int | set[int]) -> PlainCalendar:
    """These fields; of the others, second, minute and hour are 0 and the rest any."""
    return an_exclusion(**({"second": 0, "minute": 0, "hour": 0} | chosen))


def an_exclusion(**chosen: int | set[int]) -> PlainCalendar:
    """These fields, and the others any."""
    sets: dict[str, frozenset[int]] = {name: frozenset(values) for name, values in TEMPORAL_RANGES.items()}
    for name, value in chosen.items():
        sets[name] = frozenset({value} if isinstance(value, int) else value)
    return PlainCalendar(**sets, gap="skip", fold="both")


def offset_at(instant: int, zone: ZoneInfo) -> int:
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


def changes_within(window: Window, zone: str) -> Iterator[Change]:
    """The changes on the days of the window, the one before and the one after."""
    clock = ZoneInfo(zone)
    for day in range(window.start - DAY, window.end + DAY, DAY):
        low, high = day, day + DAY
        before, after = offset_at(low, clock), offset_at(high, clock)
        if before == after:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset_at(middle, clock) == before else (low, middle)
        yield Change(high, before, after)


def misread_hours(window: Window, zone: str) -> list[range]:
    """At Greenwich and east of it, the server confuses the two turns of a repeated hour, and the hour after them."""
    return [
        range(change.instant + change.shift, change.instant - 2 * change.shift)
        for change in changes_within(window, zone)
        if change.shift < 0 <= change.after
    ]


def misread_days(window: Window, zone: str) -> list[range]:
    """West of Greenwich, the server gives a day whose midnight is skipped the weekday of the day before."""
    return [
        range(change.instant, change.instant + DAY - change.shift)
        for change in changes_within(window, zone)
        if change.before < 0 and -(change.instant + change.before) % DAY < change.shift
    ]


def trusted(both: Instants, plain: PlainSpec, window: Window, zone: str) -> Instants:
    """Without the instants that the server is known to get wrong."""
    misread = misread_hours(window, zone)
    if any(len(calendar.day_of_week) < 7 for calendar in plain.calendars):
        misread += misread_days(window, zone)
    return Instants(*([instant for instant in side if not any(instant in span for span in misread)] for side in both))


def a_window(random: Random, zone: str) -> Window:
    """Two to sixteen weeks, around a clock change where the zone has any in that year."""
    year = random.choice(YEARS[zone])
    whole_year = Window(at(f"{year}-01-01T00:00:00Z"), at(f"{year}-12-31T00:00:00Z"))
    changes = list(changes_within(whole_year, zone))
    start = random.choice(changes).instant if changes else random.randrange(*whole_year)
    start -= random.choice([6 * HOUR, DAY, 5 * DAY, 15 * DAY])
    return Window(start, start + random.randrange(14, 112) * DAY)


def a_spec(random: Random, zone: str, window: Window) -> PlainSpec:
    """Some of everything that Temporal knows, with one instant in the window that is sure to be named."""
    misread = misread_hours(window, zone) + misread_days(window, zone)
    sure = random.randrange(*window)
    while any(sure in span for span in misread):
        sure = random.randrange(*window)
    shown = fields_of(datetime.fromtimestamp(sure, ZoneInfo(zone)))
    calendars = [a_calendar_that_names(shown, random) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    periods = [random.randrange(5 * 60, 3 * DAY) for _ in range(random.choice([0, 1, 2]) if calendars else 2)]
    return PlainSpec(
        calendars=tuple(calendars),
        exclude=tuple(an_exclusion_that_spares(shown, random) for _ in range(random.choice([0, 0, 1, 2]))),
        intervals=tuple((every, sure % every) for every in periods),
        first=random.choice([0, sure, random.randint(window.start, sure)]),
        last=random.choice([LAST_INSTANT, sure + random.randint(0, window.end - sure)]),
    )


def fields_of(shown: datetime) -> dict[str, int]:
    return {
        "second": shown.second,
        "minute": shown.minute,
        "hour": shown.hour,
        "day_of_month": shown.day,
        "month": shown.month,
        "year": shown.year,
        "day_of_week": shown.isoweekday() % 7,
    }


def a_calendar_that_names(shown: dict[str, int], random: Random) -> PlainCalendar:
    sets = {name: a_set_with(shown[name], values, random) for name, values in TEMPORAL_RANGES.items()}
    for name in ("day_of_month", "month", "year", "day_of_week"):
        if random.random() < 0.7:
            sets[name] = frozenset(TEMPORAL_RANGES[name])
    sets["second"] = frozenset({shown["second"], random.choice([0, shown["second"]])})
    return PlainCalendar(**sets, gap="skip", fold="both")


def a_set_with(value: int, values: Sequence[int], random: Random) -> frozenset[int]:
    """Every so many of the values, or a few of them; this one included."""
    if random.random() < 0.5:
        step = random.randint(1, len(values))
        return frozenset(values[values.index(value) % step :: step])
    return frozenset({value, *random.choices(values, k=random.randint(0, 4))})


def an_exclusion_that_spares(shown: dict[str, int], random: Random) -> PlainCalendar:
    name = random.choice(["minute", "hour", "day_of_month", "month", "day_of_week"])
    others = [value for value in TEMPORAL_RANGES[name] if value != shown[name]]
    chosen = {name: set(random.sample(others, random.randint(1, len(others) // 3)))}
    narrowed = random.choice(["hour", "day_of_week", "month"])
    if narrowed != name and random.random() < 0.5:
        chosen[narrowed] = set(random.sample(TEMPORAL_RANGES[narrowed], 3))
    return an_exclusion(**chosen)


def from_to(start: str, end: str) -> Window:
    return Window(at(start), at(end))


def agreed(address: str, plain: PlainSpec, zone: str, window: Window) -> list[str]:
    """What both name in the window."""
    both = instants_of_both(address, plain, zone, window)
    assert said(both.foliot) == said(both.temporal)
    return said(both.temporal)


@pytest.mark.parametrize("seed", every_day(range(9), first=3))
@pytest.mark.parametrize("zone", YEARS)
def test_temporal_names_the_same_instants(temporal_address: str, zone: str, seed: int) -> None:
    random = Random(f"{zone} {seed}")
    window = a_window(random, zone)
    plain = a_spec(random, zone, window)
    both = trusted(instants_of_both(temporal_address, plain, zone, window), plain, window, zone)
    assert said(both.foliot) == said(both.temporal), for_foliot(plain, zone)
    assert both.temporal


@pytest.mark.parametrize("zone", CHANGING)
def test_temporal_names_the_same_quarters_of_an_hour_around_clock_changes(temporal_address: str, zone: str) -> None:
    years = Window(at("2008-01-02T00:00:00Z"), at("2015-01-02T00:00:00Z"))
    windows = [Window(change.instant - DAY, change.instant + DAY) for change in changes_within(years, zone)]
    quarters = PlainSpec(calendars=(a_calendar(minute={0, 15, 30, 45}, hour=set(range(24))),))
    both = trusted(instants_of_both(temporal_address, quarters, zone, *windows), quarters, years, zone)
    assert said(both.foliot) == said(both.temporal)
    assert len(both.temporal) > 14 * 180


def test_a_leap_day_comes_in_every_leap_year_up_to_2100_which_is_none(temporal_address: str) -> None:
    leap_days = PlainSpec(calendars=(a_calendar(day_of_month=29, month=2),))
    century = from_to("2026-01-01T00:00:00Z", "2100-12-31T23:59:59Z")
    assert agreed(temporal_address, leap_days, "UTC", century) == [
        f"{year}-02-29T00:00:00Z" for year in range(2028, 2100, 4)
    ]


def test_an_interval_is_counted_from_1970_plus_its_offset(temporal_address: str) -> None:
    every_ninety_minutes = PlainSpec(intervals=((90 * 60, 5 * 60 + 44),))
    afternoon = from_to("2022-03-23T12:53:02Z", "2022-03-23T17:00:00Z")
    assert agreed(temporal_address, every_ninety_minutes, "America/New_York", afternoon) == [
        "2022-03-23T13:35:44Z",
        "2022-03-23T15:05:44Z",
        "2022-03-23T16:35:44Z",
    ]


def test_a_skipped_half_past_two_in_new_york_fires_zero_times(temporal_address: str) -> None:
    half_past_two = PlainSpec(calendars=(a_calendar(minute=30, hour=2),))
    around_the_gap = from_to("2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z")
    assert agreed(temporal_address, half_past_two, "America/New_York", around_the_gap) == [
        "2026-03-07T07:30:00Z",
        "2026-03-09T06:30:00Z",
    ]


def test_a_repeated_half_past_one_in_new_york_fires_twice(temporal_address: str) -> None:
    half_past_one = PlainSpec(calendars=(a_calendar(minute=30, hour=1),))
    around_the_fold = from_to("2026-10-31T00:00:00Z", "2026-11-03T00:00:00Z")
    assert agreed(temporal_address, half_past_one, "America/New_York", around_the_fold) == [
        "2026-10-31T05:30:00Z",
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:30:00Z",
        "2026-11-02T06:30:00Z",
    ]


def test_an_excluded_day_is_the_day_on_the_clocks_of_the_zone(temporal_address: str) -> None:
    not_at_christmas = PlainSpec(
        calendars=(a_calendar(hour={0, 12}),), exclude=(an_exclusion(day_of_month=25, month=12),)
    )
    around_christmas = from_to("2026-12-24T00:00:00Z", "2026-12-26T23:59:59Z")
    assert agreed(temporal_address, not_at_christmas, "Asia/Tokyo", around_christmas) == [
        "2026-12-24T03:00:00Z",
        "2026-12-25T15:00:00Z",
        "2026-12-26T03:00:00Z",
        "2026-12-26T15:00:00Z",
    ]


def test_an_exclusion_takes_from_intervals_as_well_as_from_calendars(temporal_address: str) -> None:
    not_at_noon = PlainSpec(
        calendars=(a_calendar(minute=15, hour={11, 12, 13}),),
        exclude=(an_exclusion(hour=12),),
        intervals=((30 * 60, 0),),
    )
    around_noon = from_to("2026-06-01T11:15:00Z", "2026-06-01T13:15:00Z")
    assert agreed(temporal_address, not_at_noon, "UTC", around_noon) == [
        "2026-06-01T11:15:00Z",
        "2026-06-01T11:30:00Z",
        "2026-06-01T13:00:00Z",
        "2026-06-01T13:15:00Z",
    ]


def test_bounds_include_both_ends(temporal_address: str) -> None:
    bounded = PlainSpec(intervals=((HOUR, 0),), first=at("2026-06-01T12:00:00Z"), last=at("2026-06-01T14:00:00Z"))
    assert agreed(temporal_address, bounded, "UTC", from_to("2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z")) == [
        "2026-06-01T12:00:00Z",
        "2026-06-01T13:00:00Z",
        "2026-06-01T14:00:00Z",
    ]


def test_an_instant_that_is_named_twice_comes_once(temporal_address: str) -> None:
    union = PlainSpec(calendars=(a_calendar(hour=9), a_calendar(minute={0, 20}, hour=9)), intervals=((3 * HOUR, 0),))
    assert agreed(temporal_address, union, "UTC", from_to("2026-06-01T06:00:00Z", "2026-06-01T12:00:00Z")) == [
        "2026-06-01T06:00:00Z",
        "2026-06-01T09:00:00Z",
        "2026-06-01T09:20:00Z",
        "2026-06-01T12:00:00Z",
    ]


def test_temporal_still_loses_the_first_of_two_half_past_twos_in_berlin(temporal_address: str) -> None:
    half_past_two = PlainSpec(calendars=(a_calendar(minute=30, hour=2),))
    day_of_the_fold = from_to("2026-10-25T00:00:00Z", "2026-10-25T23:59:59Z")
    both = instants_of_both(temporal_address, half_past_two, "Europe/Berlin", day_of_the_fold)
    assert said(both.foliot) == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    assert said(both.temporal) == ["2026-10-25T01:30:00Z"]


def test_temporal_still_takes_a_sunday_whose_midnight_is_skipped_in_santiago_for_a_saturday(
    temporal_address: str,
) -> None:
    day_of_the_gap = from_to("2026-09-06T04:00:00Z", "2026-09-07T02:59:59Z")
    on_sundays = PlainSpec(calendars=(a_calendar(hour=9, day_of_week=0),))
    both = instants_of_both(temporal_address, on_sundays, "America/Santiago", day_of_the_gap)
    assert (said(both.foliot), said(both.temporal)) == (["2026-09-06T12:00:00Z"], [])
    on_saturdays = PlainSpec(calendars=(a_calendar(hour=9, day_of_week=6),))
    both = instants_of_both(temporal_address, on_saturdays, "America/Santiago", day_of_the_gap)
    assert (said(both.foliot), said(both.temporal)) == ([], ["2026-09-06T12:00:00Z"])
