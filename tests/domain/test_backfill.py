from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.backfill import (
    Attempted,
    Direction,
    Progress,
    Which,
    choose,
    lane_width,
    progress_of,
    range_of,
    wants,
)
from foliot.domain.policies import Overlap
from foliot.domain.runs import Status
from tests.builders import HOUR, MINUTE, NOON, SECOND, a_backfill, a_timetable

TIMES = a_timetable(MINUTE).times
START = NOON // SECOND
OLDEST, NEWEST = Direction.OLDEST_FIRST, Direction.NEWEST_FIRST

Ledger = Callable[[int, int], list[Attempted]]


def minute(number: int) -> int:
    return START + 60 * number


def a_ledger(**runs: list[Status]) -> Ledger:
    """Runs by their minute: `m3=[…]`."""
    recorded = [
        Attempted(minute(int(name[1:])) * SECOND, status) for name, statuses in runs.items() for status in statuses
    ]
    return lambda first, last: [run for run in recorded if first <= run.nominal_at <= last]


class TestWhich:
    @pytest.mark.parametrize(
        ("attempts", "missing", "failed"),
        [
            ([], True, False),
            ([Status.SKIPPED], True, False),
            ([Status.CANCELLED], True, False),
            ([Status.ERROR], True, True),
            ([Status.SUCCESS], False, False),
            ([Status.ERROR, Status.SUCCESS], False, False),
            ([Status.SUCCESS, Status.ERROR], False, True),
            ([Status.ERROR, Status.CANCELLED], True, False),
            ([Status.SKIPPED, Status.ERROR], True, True),
            ([Status.PENDING], False, False),
            ([Status.RUNNING], False, False),
            ([Status.WAITING], False, False),
            ([Status.ERROR, Status.PENDING], False, False),
            ([Status.PENDING, Status.ERROR], False, False),
        ],
    )
    def test_missing_has_no_success_and_nothing_open_and_failed_ended_in_an_error(
        self, attempts: list[Status], missing: bool, failed: bool
    ) -> None:
        assert wants(Which.MISSING, attempts) is missing
        assert wants(Which.FAILED, attempts) is failed

    @given(st.lists(st.sampled_from(Status)))
    def test_all_takes_up_every_slot(self, attempts: list[Status]) -> None:
        assert wants(Which.ALL, attempts)


class TestChoosing:
    LEDGER = staticmethod(
        a_ledger(m1=[Status.SUCCESS], m2=[Status.ERROR], m3=[Status.RUNNING], m4=[Status.ERROR, Status.SUCCESS])
    )

    @pytest.mark.parametrize(
        ("which", "chosen"),
        [(Which.MISSING, [0, 2, 5]), (Which.FAILED, [2]), (Which.ALL, [0, 1, 2, 3, 4, 5])],
    )
    def test_both_ends_of_the_range_are_included_in_either_direction(self, which: Which, chosen: list[int]) -> None:
        for direction, order in ((OLDEST, chosen), (NEWEST, chosen[::-1])):
            backfill = a_backfill(minute(0), minute(5), which, direction)
            choice = choose(TIMES, backfill, 100, self.LEDGER)
            assert choice.nominals == [minute(number) for number in order]
            assert choice.is_exhausted

    def test_a_range_of_one_slot_has_one(self) -> None:
        for direction in Direction:
            backfill = a_backfill(minute(0), minute(0), direction=direction)
            assert choose(TIMES, backfill, 100, a_ledger()).nominals == [minute(0)]

    def test_a_range_between_two_slots_has_none(self) -> None:
        for direction in Direction:
            choice = choose(TIMES, a_backfill(minute(0) + 1, minute(1) - 1, direction=direction), 100, a_ledger())
            assert choice.nominals == []
            assert choice.is_exhausted

    def test_a_range_beyond_the_spec_is_exhausted(self) -> None:
        times = a_timetable(manual=True).times
        for direction in Direction:
            assert choose(times, a_backfill(0, minute(0), direction=direction), 100, a_ledger()).is_exhausted

    def test_room_stops_it_at_the_slot_that_it_started_last(self) -> None:
        choice = choose(TIMES, a_backfill(minute(0), minute(5), Which.MISSING), 2, self.LEDGER)
        assert choice.nominals == [minute(0), minute(2)]
        assert choice.done_to == minute(2)
        assert not choice.is_exhausted

    def test_without_room_it_stays_where_it_is(self) -> None:
        backfill = a_backfill(minute(0), minute(5), done_to=minute(2))
        assert choose(TIMES, backfill, 0, a_ledger()) == ([], minute(2), False)

    def test_it_goes_on_after_the_slot_that_it_came_to(self) -> None:
        oldest = a_backfill(minute(0), minute(5), Which.ALL, OLDEST, done_to=minute(3))
        assert choose(TIMES, oldest, 100, a_ledger()).nominals == [minute(4), minute(5)]
        newest = a_backfill(minute(0), minute(5), Which.ALL, NEWEST, done_to=minute(2))
        assert choose(TIMES, newest, 100, a_ledger()).nominals == [minute(1), minute(0)]

    def test_when_its_last_slots_fill_the_room_it_is_exhausted(self) -> None:
        assert choose(TIMES, a_backfill(minute(0), minute(1)), 2, a_ledger()).is_exhausted

    def test_it_looks_at_no_more_slots_at_once_than_told_and_comes_back_for_the_others(self) -> None:
        first = choose(TIMES, a_backfill(minute(0), minute(3)), 100, a_ledger(), look=4)
        assert first.nominals == [minute(number) for number in range(4)]
        assert not first.is_exhausted
        second = choose(TIMES, a_backfill(minute(0), minute(3), done_to=first.done_to), 100, a_ledger(), look=4)
        assert second == ([], minute(3), True)

    def test_the_ledger_is_asked_only_for_the_slots_that_are_looked_at(self) -> None:
        asked: list[tuple[int, int]] = []

        def ledger(first: int, last: int) -> list[Attempted]:
            asked.append((first, last))
            return []

        choose(TIMES, a_backfill(minute(0), minute(100), direction=NEWEST), 1, ledger, look=3)
        choose(TIMES, a_backfill(minute(0), minute(100), Which.ALL), 1, ledger)
        assert asked == [(minute(98) * SECOND, minute(100) * SECOND)]

    @given(
        st.sampled_from(Direction),
        st.sampled_from(Which),
        st.integers(0, 40),
        st.integers(1, 7),
        st.integers(1, 9),
        st.dictionaries(st.integers(0, 40), st.lists(st.sampled_from(Status), max_size=3)),
    )
    def test_step_by_step_it_takes_up_each_wanted_slot_once_and_in_its_direction(
        self, direction: Direction, which: Which, last: int, room: int, look: int, runs: dict[int, list[Status]]
    ) -> None:
        ledger = a_ledger(**{f"m{number}": statuses for number, statuses in runs.items()})
        backfill = a_backfill(minute(0), minute(last), which, direction)
        taken: list[int] = []
        for _ in range(200):
            choice = choose(TIMES, backfill, room, ledger, look)
            assert len(choice.nominals) <= room
            taken += choice.nominals
            backfill = backfill._replace(done_to=choice.done_to)
            if choice.is_exhausted:
                break
        else:
            pytest.fail("it never ends")
        expected = [minute(number) for number in range(last + 1) if wants(which, runs.get(number, []))]
        assert taken == (expected if direction is OLDEST else expected[::-1])


class TestProgress:
    @pytest.mark.parametrize(
        ("direction", "done_to"), [(OLDEST, START - 1), (NEWEST, START + 9 * 60 + 1)], ids=["oldest", "newest"]
    )
    def test_nobody_knows_how_long_it_takes_before_anything_is_done(self, direction: Direction, done_to: int) -> None:
        begun = a_backfill(START, START + 9 * 60, direction=direction, done_to=done_to)
        assert progress_of(TIMES, begun, HOUR) == Progress(total=10, done=0, left=None)

    @pytest.mark.parametrize(("direction", "done_to"), [(OLDEST, START + 4 * 60), (NEWEST, START + 5 * 60)])
    def test_the_rest_takes_as_long_as_what_is_done_did(self, direction: Direction, done_to: int) -> None:
        half = a_backfill(START, START + 9 * 60, direction=direction, done_to=done_to)
        assert progress_of(TIMES, half, HOUR) == Progress(total=10, done=5, left=HOUR)

    def test_what_runs_is_not_done(self) -> None:
        half = a_backfill(START, START + 9 * 60, done_to=START + 4 * 60)._replace(running=3)
        assert progress_of(TIMES, half, HOUR) == Progress(total=10, done=2, left=4 * HOUR)


class TestRange:
    def test_whole_seconds_are_kept_at_both_ends(self) -> None:
        assert range_of(NOON, NOON + HOUR) == (START, START + 3600)

    def test_fractions_narrow_the_range(self) -> None:
        assert range_of(NOON + 1, NOON + HOUR - 1) == (START + 1, START + 3599)

    def test_half_a_second_after_a_slot_names_no_slot(self) -> None:
        first, last = range_of(NOON + SECOND // 2, NOON + SECOND // 2)
        assert choose(TIMES, a_backfill(first, last), 100, a_ledger()).nominals == []

    def test_a_range_that_runs_backwards_is_refused(self) -> None:
        with pytest.raises(Invalid, match="a backfill takes an end not before its start, got 2026-11-15T12:00:00Z"):
            range_of(NOON, NOON - 1)


class TestLane:
    def test_its_runs_go_one_after_another_unless_asked_otherwise(self) -> None:
        assert lane_width(None, None) == 1
        assert lane_width(Overlap.BUFFER_ALL, None) == 1
        assert lane_width(None, 5) == 5

    def test_allow_all_lets_as_many_run_at_once_as_there_may_be(self) -> None:
        assert lane_width(Overlap.ALLOW_ALL, None) == 1000
        assert lane_width(Overlap.ALLOW_ALL, 3) == 3

    @pytest.mark.parametrize("overlap", sorted(set(Overlap) - {Overlap.BUFFER_ALL, Overlap.ALLOW_ALL}))
    def test_a_policy_that_would_leave_slots_out_is_refused(self, overlap: Overlap) -> None:
        with pytest.raises(Invalid, match="a backfill takes overlap 'buffer_all'"):
            lane_width(overlap, None)

    @pytest.mark.parametrize("concurrency", [0, -1, 1001, True, 1.5, "2"])
    def test_a_concurrency_that_cannot_be_is_refused(self, concurrency: Any) -> None:
        with pytest.raises(Invalid, match="concurrency takes 1 to 1000"):
            lane_width(None, concurrency)
