import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import islice
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foliot import Calendar, Interval, Invalid, Spec
from foliot.domain.times import Times
from tests.builders import HARD_ZONES, a_spec, at, said

seeds = st.integers(0, 2**32)
instants = st.integers(-(10**6), 7_300_000_000)


@st.composite
def compiled(draw: st.DrawFn) -> Times:
    start = draw(st.integers(86_400 * 3, 7_200_000_000))
    random = Random(draw(seeds))
    spec, _ = a_spec(random, draw(st.sampled_from(HARD_ZONES)), (start, start + 86_400), range(24), seconds=False)
    try:
        return spec.compile()
    except Invalid:
        assume(False)
        raise


@given(compiled(), instants)
def test_the_next_instant_is_later_and_the_previous_one_earlier(times: Times, instant: int) -> None:
    following, previous = times.next_after(instant), times.previous_before(instant)
    assert following is None or following > instant
    assert previous is None or previous < instant


@given(compiled(), instants, st.floats(0, 1))
def test_next_is_the_same_from_anywhere_in_the_gap_before_it(times: Times, instant: int, share: float) -> None:
    following = times.next_after(instant)
    if following is not None:
        between = instant + int((following - 1 - instant) * share)
        assert times.next_after(between) == following
        assert times.previous_before(between + 1) in (times.previous_before(instant + 1), instant)


@given(compiled(), instants)
def test_previous_inverts_next(times: Times, instant: int) -> None:
    following = times.next_after(instant)
    if following is not None:
        assert times.matches(following)
        later = times.next_after(following)
        if later is not None:
            assert times.previous_before(later) == following


@given(compiled(), instants, st.integers(-100, 20 * 86_400))
def test_between_equals_iterating_and_count_equals_its_length(times: Times, start: int, length: int) -> None:
    listed = list(times.between(start, start + length))
    iterated, instant = [], times.next_after(start - 1)
    while instant is not None and instant <= start + length:
        iterated.append(instant)
        instant = times.next_after(instant)
    assert listed == iterated
    assert times.count_between(start, start + length) == len(listed)


@given(compiled(), st.integers(0, 7_200_000_000), seeds)
def test_sweeping_in_steps_equals_sweeping_at_once(times: Times, start: int, seed: int) -> None:
    random = Random(seed)
    end = start + 5 * 86_400
    swept: list[int] = []
    cursor = start
    while cursor < end:
        now = min(cursor + random.randrange(1, 86_400), end)
        swept += times.between(cursor + 1, now)
        cursor = now
    assert swept == list(times.between(start + 1, end))


@given(compiled(), st.integers(0, 4_000_000_000), st.integers(0, 3 * 10**9))
def test_counts_of_two_parts_add_up(times: Times, start: int, length: int) -> None:
    middle, end = start + length // 3, start + length
    whole = times.count_between(start, end)
    assert times.count_between(start, middle) + times.count_between(middle + 1, end) == whole


def test_the_ends_of_time_are_the_years_1970_and_2199() -> None:
    times = Spec(cron=("0 0 1 1 *",)).compile()
    assert times.next_after(-(10**15)) == 0
    assert times.previous_before(0) is None
    assert times.previous_before(10**15) == at("2199-01-01T00:00:00Z")
    assert times.next_after(at("2199-01-01T00:00:00Z")) is None
    assert times.next_after(10**15) is None
    assert times.count_between(-(10**15), 10**15) == 230


def test_between_is_lazy() -> None:
    times = Spec(cron=("* * * * * *",)).compile()
    assert list(islice(times.between(0, 7_258_118_399), 3)) == [0, 1, 2]


def test_a_year_of_seconds_is_counted() -> None:
    times = Spec(cron=("* * * * * *",), timezone="America/New_York").compile()
    assert times.count_between(at("2026-01-01T00:00:00Z"), at("2026-12-31T23:59:59Z")) == 365 * 86_400


def test_a_leap_day_monday_is_found_across_forty_years() -> None:
    times = Spec(calendars=(Calendar(day_of_month="29", month="2", day_of_week="MON"),)).compile()
    assert said(list(times.between(at("2072-01-01T00:00:00Z"), at("2125-01-01T00:00:00Z")))) == [
        "2072-02-29T00:00:00Z",
        "2112-02-29T00:00:00Z",
    ]


def test_an_interval_meets_the_only_time_of_day_that_is_left() -> None:
    only_midnight = (Calendar(hour="1-23"), Calendar(minute="1-59"), Calendar(second="1-59"))
    times = Spec(intervals=(Interval(timedelta(seconds=7919)),), exclude=only_midnight).compile()
    expected = [instant for instant in range(0, 7_258_118_400, 7919) if instant % 86_400 == 0]
    assert list(times.between(0, 7_258_118_399)) == expected


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_an_interval_with_exclusions_in_any_zone_is_found_by_arithmetic_as_by_walking(zone: str) -> None:
    only_noon = (Calendar(hour="0-11,13-23"), Calendar(minute="1-59"), Calendar(second="1-59"))
    period = 1800 * 11
    times = Spec(intervals=(Interval(timedelta(seconds=period)),), exclude=only_noon, timezone=zone).compile()
    noon = Spec(cron=("0 12 * * *",), timezone=zone).compile()
    start, end = at("2020-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z")
    assert list(times.between(start, end)) == [t for t in noon.between(start, end) if t % period == 0]


def test_an_interval_among_many_different_exclusions_is_found() -> None:
    every_minute_but_one = tuple(Calendar(minute=str(minute), day_of_week="*") for minute in range(1, 60))
    weekdays = tuple(Calendar(hour=str(hour), day_of_week="MON-FRI") for hour in range(20))
    times = Spec(intervals=(Interval(timedelta(seconds=4999)),), exclude=every_minute_but_one + weekdays).compile()
    start, end = at("2026-01-01T00:00:00Z"), at("2026-03-01T00:00:00Z")

    def is_left(instant: int) -> bool:
        workday = (instant // 86_400 + 4) % 7 in range(1, 6)
        return instant // 60 % 60 == 0 and not (workday and instant // 3600 % 24 < 20)

    expected = [instant for instant in range(start - start % 4999, end, 4999) if instant >= start and is_left(instant)]
    assert list(times.between(start, end - 1)) == expected
    assert len(expected) > 5


def test_threads_that_share_a_compiled_spec_find_the_same_instants() -> None:
    spec = Spec(
        cron=("*/7 9-17 * * MON-FRI", "0 0 L * *"),
        exclude=(Calendar(month="8"), Calendar(hour="12"), Calendar(day_of_week="WED", hour="10")),
        intervals=(Interval(timedelta(minutes=97)),),
        timezone="America/New_York",
    )
    random = Random(7)
    asked = [random.randrange(0, 7_000_000_000) for _ in range(300)]

    def answers(times: Times, instant: int) -> tuple[int | None, int | None]:
        return times.next_after(instant), times.previous_before(instant)

    alone = spec.compile()
    expected = [answers(alone, instant) for instant in asked]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            shared = spec.compile()
            with ThreadPoolExecutor(8) as pool:
                assert list(pool.map(answers, [shared] * len(asked), asked)) == expected
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("cron", [(), ("30 9 * * *",)])
def test_what_is_counted_roughly_is_never_less_than_there_is(cron: tuple[str, ...]) -> None:
    intervals = tuple(Interval(timedelta(hours=hours)) for hours in (5, 7, 11, 13, 17))
    times = Spec(cron=cron, intervals=intervals, exclude=(Calendar(hour="3"),)).compile()
    start, end = at("1980-01-01T00:00:00Z"), at("2060-01-01T00:00:00Z")
    exact, rough = times.count_between(start, end), times.count_roughly(start, end)
    assert not rough.is_exact
    assert exact <= rough.number
    assert times.count_roughly(start, start + 86_400) == (times.count_between(start, start + 86_400), True)
    assert times.count_roughly(end, start).number == 0
