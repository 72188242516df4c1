from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from foliot import Calendar, Spec
from foliot.domain.clock_changes import Effect, clock_changes, effect_on
from tests.builders import at, said
from tests.domain.dst_cases import DST_CASES, DstCase


def local_times(case: DstCase) -> tuple[str, ...]:
    """The times of the case's day, as a person would write them."""
    times = Spec(cron=(case.cron,), timezone=case.zone, gap=case.gap, fold=case.fold).compile()
    zone = ZoneInfo(case.zone)
    noon = at(f"{case.day}T12:00:00Z")
    shown = [
        datetime.fromtimestamp(instant, UTC).astimezone(zone)
        for instant in times.between(noon - 172_800, noon + 172_800)
    ]
    return tuple(f"{local:%H:%M} {local.isoformat()[-6:]}" for local in shown if local.date().isoformat() == case.day)


@pytest.mark.parametrize(
    "case", DST_CASES, ids=lambda case: f"{case.zone} {case.day} {case.cron} {case.gap} {case.fold}"
)
def test_at_clock_changes_it_happens_as_documented(case: DstCase) -> None:
    assert local_times(case) == case.local


def test_no_quarter_hour_is_lost_in_autumn_and_none_repeated_in_spring() -> None:
    times = Spec(cron=("*/15 * * * *",), timezone="Europe/Berlin").compile()
    for day in ("2026-03-29", "2026-10-25"):
        start, end = at(f"{day}T00:00:00Z"), at(f"{day}T23:59:59Z")
        assert list(times.between(start, end)) == list(range(start, end, 900))


def test_temporal_loops_at_this_change_and_we_do_not() -> None:
    times = Spec(cron=("*/15 * * * *",), timezone="America/Caracas").compile()
    start = at("2016-05-01T05:00:00Z")
    assert list(times.between(start, start + 7200)) == list(range(start, start + 7201, 900))


class TestEffects:
    def test_an_instant_is_marked_by_what_the_clock_change_did(self) -> None:
        almanac = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", fold="both").compile().almanac
        marks = {
            "2026-03-29T01:00:00Z": Effect.SHIFTED,
            "2026-10-25T00:30:00Z": Effect.FIRST,
            "2026-10-25T01:30:00Z": Effect.SECOND,
            "2026-10-26T01:30:00Z": None,
        }
        assert {moment: effect_on(almanac, at(moment)) for moment in marks} == marks

    def test_an_interval_is_not_touched_by_a_repeated_hour(self) -> None:
        almanac = Spec(cron=("@every 30m",), timezone="Europe/Berlin").compile().almanac
        assert effect_on(almanac, at("2026-10-25T00:30:00Z")) is None

    def test_changes_are_listed_with_the_wall_clock_times_they_touch(self) -> None:
        times = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", gap="skip").compile()
        changes = clock_changes(times, at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"))
        assert [(change.effect, said(change.wall_seconds)) for change in changes] == [
            (Effect.SKIPPED, ["2026-03-29T02:30:00Z"]),
            (Effect.FIRST, ["2026-10-25T02:30:00Z"]),
        ]

    def test_times_that_no_change_touches_have_no_changes(self) -> None:
        times = Spec(cron=("0 9 * * *",), timezone="Europe/Berlin").compile()
        assert clock_changes(times, at("2026-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z")) == []

    def test_times_that_are_excluded_or_out_of_bounds_are_not_touched(self) -> None:
        year = (at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"))
        for gap in ("shift", "skip"):
            excluded = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", gap=gap, exclude=(Calendar(month="3,10"),))
            over = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", gap=gap, end_at=datetime(2026, 3, 1))
            for spec in (excluded, over):
                assert clock_changes(spec.compile(), *year) == []

    def test_an_interval_that_meets_a_silenced_time_is_not_taken_for_it(self) -> None:
        almanac = Spec(cron=("30 2 * * *", "@every 30m"), timezone="Europe/Berlin").compile().almanac
        assert effect_on(almanac, at("2026-10-25T00:30:00Z")) is Effect.FIRST
        assert effect_on(almanac, at("2026-10-25T01:30:00Z")) is None


def test_the_day_after_the_change_is_as_ever() -> None:
    times = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin").compile()
    assert times.next_after(at("2026-03-29T01:00:00Z")) == at("2026-03-30T00:30:00Z")
    assert timedelta(seconds=at("2026-03-31T00:30:00Z") - at("2026-03-30T00:30:00Z")) == timedelta(days=1)
