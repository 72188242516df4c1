"""What a simulated stretch came to: overlaps, peaks, skips and cost, and how long runs are said to take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.clock_changes import Effect
from foliot.domain.errors import Invalid
from foliot.domain.runs import Reason, Status
from foliot.domain.simulation import (
    DEFAULT_LENGTH,
    Lengths,
    Peak,
    SimulatedRun,
    check_known,
    check_size,
    days_of,
    forecast,
    forecast_of_all,
    length_of,
    lengths_of,
    overlaps_of,
    peak_of,
    surprises_of,
)
from foliot.domain.spec import Spec

SECOND = 1_000_000
STAYS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)).map(lambda one: (one[0], sum(one))), max_size=20)


def success(due_at: int, started_at: int, ended_at: int, attempt: int = 1) -> SimulatedRun:
    return SimulatedRun(due_at, started_at, ended_at, Status.SUCCESS, None, attempt)


def skipped(due_at: int, reason: Reason) -> SimulatedRun:
    return SimulatedRun(due_at, None, due_at, Status.SKIPPED, reason, 1)


def test_the_peak_is_the_most_that_were_under_way_at_once_and_when_it_was_first_reached() -> None:
    assert peak_of([(0, 10), (5, 15), (8, 9), (20, 30), (21, 30), (22, 30)]) == Peak(3, 8)


def test_who_ends_makes_room_for_who_begins_at_that_moment() -> None:
    assert peak_of([(0, 10), (10, 20), (20, 30)]) == Peak(1, 0)


def test_who_takes_no_time_is_there_for_a_moment() -> None:
    assert peak_of([(5, 5), (5, 5)]) == Peak(2, 5)
    assert peak_of([]) == Peak(0, None)


@given(STAYS)
def test_the_peak_is_what_counting_at_every_moment_finds(stays: list[tuple[int, int]]) -> None:
    under_way = [sum(begin <= moment < max(end, begin + 1) for begin, end in stays) for moment in range(80)]
    most = max(under_way)
    assert peak_of(stays) == Peak(most, under_way.index(most) if most else None)


def test_a_slot_overlaps_that_comes_due_while_an_earlier_run_is_under_way() -> None:
    assert overlaps_of([0, 60, 120, 180], [(0, 90), (120, 180)]) == 1


@given(st.lists(st.integers(0, 60)), STAYS)
def test_overlaps_are_what_comparing_each_with_each_finds(dues: list[int], stays: list[tuple[int, int]]) -> None:
    assert overlaps_of(dues, stays) == sum(any(begin < due < end for begin, end in stays) for due in dues)


def test_a_forecast_tells_fires_overlaps_skips_by_reason_the_peak_and_the_cost() -> None:
    runs = [
        success(0, 0, 90),
        skipped(60, Reason.OVERLAP),
        success(120, 121, 130),
        SimulatedRun(180, 180, 240, Status.ERROR, Reason.TIMEOUT, 1),
        SimulatedRun(180, 250, None, Status.RUNNING, None, 2),
        skipped(240, Reason.GRANT_EXPIRED),
    ]
    found = forecast(9, runs, {Reason.PAUSED: 4}, 300, cost_each=7)
    assert (found.slots, found.fires, found.overlaps, found.open) == (9, 4, 1, 1)
    assert list(found.skips.items()) == [(Reason.PAUSED, 4), (Reason.GRANT_EXPIRED, 1), (Reason.OVERLAP, 1)]
    assert found.failures == {Reason.TIMEOUT: 1}
    assert (found.peak, found.longest_wait, found.cost) == (Peak(1, 0), 70, 28)


def test_a_slot_at_the_very_end_overlaps_a_run_that_is_still_under_way() -> None:
    runs = [SimulatedRun(60, 60, None, Status.RUNNING, None, 1), skipped(120, Reason.OVERLAP)]
    assert forecast(2, runs, {}, 120, cost_each=0).overlaps == 1


def test_what_the_gate_refused_has_not_fired_and_costs_nothing() -> None:
    refused = SimulatedRun(0, 0, 0, Status.SKIPPED, Reason.INSUFFICIENT_CREDITS, 1)
    found = forecast(1, [refused], {}, 100, cost_each=7)
    assert (found.fires, found.cost, found.skips) == (0, 0, {Reason.INSUFFICIENT_CREDITS: 1})


def test_what_fires_at_a_price_that_nobody_knows_is_counted_apart() -> None:
    found = forecast(1, [success(0, 0, 1)], {}, 100, cost_each=None)
    assert (found.cost, found.unpriced) == (0, 1)


def test_all_together_are_the_sum_and_cost_what_is_known() -> None:
    one = forecast(2, [success(0, 0, 5), skipped(1, Reason.OVERLAP)], {}, 10, cost_each=3)
    other = forecast(3, [success(0, 4, 5)], {Reason.OVERLAP: 2}, 10, cost_each=None)
    found = forecast_of_all([one, other], Peak(2, 4))
    assert (found.slots, found.fires, found.overlaps, found.skips) == (5, 2, 1, {Reason.OVERLAP: 3})
    assert (found.peak, found.longest_wait, found.cost, found.unpriced) == (Peak(2, 4), 4, 3, 1)


def test_lengths_are_said_of_all_or_of_one_by_its_name() -> None:
    said = lengths_of(["90s", "digest=20m", "Weekly report=1h"])
    assert said == Lengths({"digest": 1200 * SECOND, "weekly-report": 3600 * SECOND}, 90 * SECOND)
    with pytest.raises(Invalid, match="durations of digest takes a duration"):
        lengths_of(["digest=long"])


def test_a_run_takes_what_is_said_of_it_else_of_all_else_the_median_of_the_past_else_a_second() -> None:
    assert length_of("digest", Lengths({"digest": 5}, 7), [9]) == 5
    assert length_of("digest", Lengths({}, 7), [9]) == 7
    assert length_of("digest", Lengths({}, None), [SECOND, 100 * SECOND, 9 * SECOND - 200]) == 9 * SECOND
    assert length_of("digest", Lengths({}, None), []) == DEFAULT_LENGTH


def test_lengths_of_what_is_not_there_are_refused() -> None:
    check_known(lengths_of(["a=1s"]), ["a", "b"])
    with pytest.raises(Invalid, match="got digset"):
        check_known(lengths_of(["digset=1s"]), ["digest"])


def test_more_slots_than_anybody_waits_for_are_refused_by_the_name_of_the_largest() -> None:
    check_size({"a": 5, "b": 5}, 10)
    with pytest.raises(Invalid, match=r"up to 10 slots, got 13, 8 of them of 'b': take fewer --days"):
        check_size({"a": 5, "b": 8}, 10)


def test_a_stretch_of_days_is_more_than_none() -> None:
    """It was told in seconds what was given in days."""
    assert days_of("--days", 1.5) == 36 * 3600 * SECOND
    for days, said in ((0, "0"), (-3, "-3"), (float("nan"), "nan"), (1e6, "1e\\+06")):
        with pytest.raises(Invalid, match=f"--days takes more than 0 and at most 84,180, got {said}$"):
            days_of("--days", days)


def test_clock_changes_surprise_where_a_time_is_fixed_and_not_where_it_comes_every_hour() -> None:
    start, end = 1_773_964_800, 1_773_964_800 + 30 * 86_400  # 20 March 2026, and thirty days.
    nightly = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin").compile()
    hourly = Spec(cron=("30 * * * *",), timezone="Europe/Berlin").compile()
    assert [change.effect for change in surprises_of(nightly, start, end)] == [Effect.SHIFTED]
    assert surprises_of(hourly, start, end) == []
