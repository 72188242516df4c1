from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from time import perf_counter
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot import Calendar, Spec
from foliot.domain.generation import (
    LONGEST_SPREAD,
    MISSES_IN_A_GAP,
    Gap,
    Generation,
    Missed,
    Timetable,
    close_pause,
    generate,
    not_yet_due,
)
from foliot.domain.policies import CatchUp, Policies
from foliot.domain.runs import Reason
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from tests.builders import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    a_paused_state,
    a_state,
    a_timetable,
    moment,
    slots_at,
)

EVERY_MINUTE = a_timetable(MINUTE)
EVERY_HOUR = a_timetable(HOUR)
ROOM = 1000


def minutes(*numbers: int) -> list[Slot]:
    return slots_at(*(NOON + number * MINUTE for number in numbers))


def after_minutes(number: int, policies: Policies, room: int = ROOM, marked: Sequence[int] = ()) -> Generation:
    """What a schedule of every minute, swept up to noon, owes so many minutes later."""
    return generate(EVERY_MINUTE, policies, a_state(NOON), NOON + number * MINUTE, room, marked)


class TestOnTime:
    def test_nothing_is_owed_before_the_next_slot_is_due_and_the_cursor_stays(self) -> None:
        assert generate(EVERY_MINUTE, Policies(), a_state(NOON), NOON + MINUTE - 1, ROOM) == Generation(
            (), (), (), (), NOON, NOON + MINUTE
        )

    def test_a_slot_is_due_at_its_very_microsecond(self) -> None:
        assert after_minutes(1, Policies()) == Generation(
            tuple(minutes(1)), (), (), (), NOON + MINUTE, NOON + 2 * MINUTE
        )

    def test_the_slot_at_the_cursor_itself_is_not_owed_again(self) -> None:
        assert not generate(EVERY_MINUTE, Policies(), a_state(NOON + MINUTE), NOON + MINUTE, ROOM).due

    def test_a_cursor_between_two_seconds_loses_no_slot(self) -> None:
        state = a_state(NOON + MINUTE - 1)
        assert list(generate(EVERY_MINUTE, Policies(), state, NOON + MINUTE, ROOM).due) == minutes(1)

    def test_every_slot_within_grace_of_its_due_time_is_on_time_and_in_order(self) -> None:
        timetable = a_timetable(10 * SECOND)
        generation = generate(timetable, Policies(), a_state(NOON), NOON + MINUTE, ROOM)
        assert generation.due == slots_at(*(NOON + number * 10 * SECOND for number in range(1, 7)))
        assert not generation.missed

    def test_two_slots_of_which_one_is_due_this_very_moment_are_both_owed(self) -> None:
        timetable = a_timetable(30 * SECOND)
        generation = generate(timetable, Policies(), a_state(NOON), NOON + MINUTE, ROOM)
        assert generation.due == slots_at(NOON + 30 * SECOND, NOON + MINUTE)

    def test_a_slot_exactly_as_late_as_the_grace_is_on_time(self) -> None:
        assert list(generate(EVERY_HOUR, Policies(), a_state(NOON), NOON + HOUR + MINUTE, ROOM).due) == slots_at(
            NOON + HOUR
        )

    def test_a_slot_later_than_the_grace_by_a_microsecond_is_missed(self) -> None:
        generation = generate(EVERY_HOUR, Policies(), a_state(NOON), NOON + HOUR + MINUTE + 1, ROOM)
        assert generation.missed == [Missed(Slot(NOON + HOUR, NOON + HOUR), Reason.MISSED)]
        assert generation.swept_to == NOON + HOUR
        assert generation.wake_at == NOON + 2 * HOUR

    def test_without_grace_only_the_slot_of_this_very_moment_is_on_time(self) -> None:
        generation = after_minutes(3, Policies(grace=0))
        assert generation.due == minutes(3)
        assert [missed.slot for missed in generation.missed] == minutes(1, 2)

    def test_the_last_slot_of_a_spec_leaves_nothing_to_wake_for(self) -> None:
        timetable = a_timetable(at=moment((NOON + HOUR) // SECOND))
        generation = generate(timetable, Policies(), a_state(NOON), NOON + HOUR, ROOM)
        assert list(generation.due) == slots_at(NOON + HOUR)
        assert generation.wake_at is None

    def test_an_exhausted_spec_owes_nothing_ever(self) -> None:
        timetable = a_timetable(at=moment(NOON // SECOND))
        assert generate(timetable, Policies(), a_state(NOON), NOON + DAY, ROOM) == Generation(
            (), (), (), (), NOON, None
        )

    def test_a_manual_schedule_owes_nothing_ever(self) -> None:
        assert generate(a_timetable(manual=True), Policies(), a_state(NOON), NOON + DAY, ROOM).wake_at is None

    def test_the_last_late_slot_of_an_exhausted_spec_is_missed(self) -> None:
        timetable = a_timetable(at=moment((NOON + HOUR) // SECOND))
        generation = generate(timetable, Policies(), a_state(NOON), NOON + DAY, ROOM)
        assert [missed.slot for missed in generation.missed] == slots_at(NOON + HOUR)
        assert generation.wake_at is None


class TestCatchUp:
    def test_none_starts_no_late_slot_and_records_each_as_missed(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.NONE))
        assert generation.due == minutes(4, 5)
        assert generation.missed == [Missed(slot, Reason.MISSED) for slot in minutes(1, 2, 3)]
        assert generation.swept_to == NOON + 5 * MINUTE

    def test_last_starts_the_newest_late_slot_when_none_is_within_grace(self) -> None:
        generation = generate(
            EVERY_HOUR, Policies(catchup=CatchUp.LAST), a_state(NOON), NOON + 3 * HOUR + HOUR // 2, ROOM
        )
        assert generation.due == slots_at(NOON + 3 * HOUR)
        assert [missed.slot for missed in generation.missed] == slots_at(NOON + HOUR, NOON + 2 * HOUR)

    def test_last_starts_no_late_slot_when_one_is_within_grace(self) -> None:
        generation = generate(EVERY_HOUR, Policies(catchup=CatchUp.LAST), a_state(NOON), NOON + 3 * HOUR, ROOM)
        assert generation.due == slots_at(NOON + 3 * HOUR)
        assert [missed.slot for missed in generation.missed] == slots_at(NOON + HOUR, NOON + 2 * HOUR)

    def test_last_starts_nothing_when_even_the_newest_is_older_than_the_window(self) -> None:
        policies = Policies(catchup=CatchUp.LAST, window=20 * MINUTE)
        generation = generate(EVERY_HOUR, policies, a_state(NOON), NOON + 3 * HOUR + HOUR // 2, ROOM)
        assert not generation.due
        assert len(generation.missed) == 3

    def test_all_starts_every_late_slot_in_order(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL))
        assert generation.due == minutes(1, 2, 3, 4, 5)
        assert not generation.missed

    def test_a_slot_older_than_the_catchup_window_is_missed_not_started(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL, window=2 * MINUTE))
        assert generation.due == minutes(3, 4, 5)
        assert generation.missed == [Missed(slot, Reason.MISSED) for slot in minutes(1, 2)]

    def test_a_window_shorter_than_the_grace_takes_nothing_from_the_grace(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL, window=SECOND))
        assert generation.due == minutes(4, 5)
        assert [missed.slot for missed in generation.missed] == minutes(1, 2, 3)

    def test_a_window_longer_than_our_time_leaves_nothing_out(self) -> None:
        assert after_minutes(5, Policies(catchup=CatchUp.ALL, window=230 * 366 * DAY)).due == minutes(1, 2, 3, 4, 5)

    def test_a_grace_longer_than_our_time_makes_every_slot_on_time(self) -> None:
        assert after_minutes(5, Policies(grace=230 * 366 * DAY)).due == minutes(1, 2, 3, 4, 5)

    def test_an_hourly_schedule_asleep_for_six_hours_with_a_window_of_one_runs_once_and_misses_five(self) -> None:
        timetable = a_timetable(cron=("17 * * * *",))
        policies = Policies(catchup=CatchUp.ALL, window=HOUR)
        generation = generate(timetable, policies, a_state(NOON), NOON + 6 * HOUR, ROOM)
        assert generation.due == slots_at(NOON + 5 * HOUR + 17 * MINUTE)
        assert len(generation.missed) == 5

    def test_the_cap_stops_the_cursor_at_what_was_taken_up_and_asks_for_another_sweep_at_once(self) -> None:
        generation = after_minutes(10, Policies(catchup=CatchUp.ALL, cap=3))
        assert generation.due == minutes(1, 2, 3)
        assert generation.swept_to == NOON + 3 * MINUTE
        assert generation.wake_at == NOON + 10 * MINUTE

    def test_the_cap_counts_late_slots_and_not_those_on_time(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL, cap=3))
        assert generation.due == minutes(1, 2, 3, 4, 5)

    def test_room_bounds_late_and_timely_slots_together(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL), room=4)
        assert generation.due == minutes(1, 2, 3, 4)
        assert generation.swept_to == NOON + 4 * MINUTE
        assert generation.wake_at == NOON + 5 * MINUTE

    @pytest.mark.parametrize("swept_to", [NOON, NOON + SECOND // 2])
    @pytest.mark.parametrize("elapsed", [MINUTE, 10 * MINUTE])
    def test_without_room_nothing_is_admitted_the_cursor_stays_and_it_is_looked_at_again_at_once(
        self, swept_to: int, elapsed: int
    ) -> None:
        generation = generate(EVERY_MINUTE, Policies(catchup=CatchUp.ALL), a_state(swept_to), NOON + elapsed, room=0)
        assert generation == Generation([], (), [], [], swept_to, NOON + elapsed)

    def test_spread_gives_the_backlog_new_due_times_over_the_lookahead_and_keeps_the_nominal_ones(self) -> None:
        now = NOON + 4 * HOUR + HOUR // 2
        generation = generate(EVERY_HOUR, Policies(catchup=CatchUp.SPREAD), a_state(NOON), now, ROOM)
        assert generation.later == [
            Slot(NOON + HOUR, now),
            Slot(NOON + 2 * HOUR, now + 15 * SECOND),
            Slot(NOON + 3 * HOUR, now + 30 * SECOND),
            Slot(NOON + 4 * HOUR, now + 45 * SECOND),
        ]
        assert not generation.due
        assert generation.swept_to == NOON + 4 * HOUR

    def test_spread_leaves_a_slot_on_time_where_it_is(self) -> None:
        now = NOON + 2 * HOUR
        generation = generate(EVERY_HOUR, Policies(catchup=CatchUp.SPREAD), a_state(NOON), now, ROOM)
        assert generation.later == [Slot(NOON + HOUR, now)]
        assert generation.due == slots_at(now)

    def test_spread_fixes_the_whole_backlog_at_once_whatever_the_cap_and_the_room(self) -> None:
        generation = after_minutes(500, Policies(catchup=CatchUp.SPREAD, cap=3, lookahead=HOUR), room=5)
        assert [slot.nominal_at for slot in generation.later] == [NOON + number * MINUTE for number in range(1, 499)]
        due = [slot.due_at - NOON - 500 * MINUTE for slot in generation.later]
        assert due[0] == 0
        assert due == sorted(set(due))
        assert due[-1] < HOUR

    def test_spread_leaves_out_what_is_older_than_the_window(self) -> None:
        generation = after_minutes(10, Policies(catchup=CatchUp.SPREAD, window=4 * MINUTE))
        assert [slot.nominal_at for slot in generation.later] == [NOON + number * MINUTE for number in (6, 7, 8)]
        assert [missed.slot for missed in generation.missed] == minutes(1, 2, 3, 4, 5)

    def test_of_a_backlog_too_long_to_spread_the_newest_are_spread_and_the_others_missed(self) -> None:
        late = LONGEST_SPREAD + 150
        generation = after_minutes(late + 1, Policies(catchup=CatchUp.SPREAD, grace=0))
        assert len(generation.later) == LONGEST_SPREAD
        assert generation.gaps == [Gap(NOON + MINUTE, NOON + 150 * MINUTE, 150, Reason.MISSED)]
        assert generation.later[0].nominal_at == NOON + 151 * MINUTE
        assert generation.due == minutes(late + 1)


class TestGaps:
    def test_fewer_misses_than_a_gap_takes_have_a_row_each(self) -> None:
        generation = after_minutes(100, Policies(grace=0))
        assert len(generation.missed) == MISSES_IN_A_GAP - 1
        assert not generation.gaps

    def test_a_hundred_misses_are_one_gap(self) -> None:
        generation = after_minutes(101, Policies(grace=0))
        assert not generation.missed
        assert generation.gaps == [Gap(NOON + MINUTE, NOON + 100 * MINUTE, 100, Reason.MISSED)]

    def test_a_year_of_missed_minutes_is_one_gap_in_no_time(self) -> None:
        start = perf_counter()
        generation = after_minutes(365 * 24 * 60, Policies())
        elapsed = perf_counter() - start
        assert generation.due == minutes(365 * 24 * 60 - 1, 365 * 24 * 60)
        assert generation.gaps == [
            Gap(NOON + MINUTE, NOON + (365 * 24 * 60 - 2) * MINUTE, 365 * 24 * 60 - 2, Reason.MISSED)
        ]
        assert elapsed < 0.5

    @pytest.mark.parametrize("catchup", list(CatchUp))
    def test_a_year_of_jittered_seconds_is_decided_in_no_time_by_every_mode(self, catchup: CatchUp) -> None:
        timetable = a_timetable(SECOND, jitter=timedelta(minutes=1), jitter_mode="around")
        start = perf_counter()
        generation = generate(timetable, Policies(catchup=catchup), a_state(NOON), NOON + 365 * DAY, ROOM)
        assert perf_counter() - start < 2
        accounted = len(generation.due) + len(generation.later) + len(generation.missed)
        accounted += sum(gap.size for gap in generation.gaps)
        assert accounted == timetable.times.count_between(NOON // SECOND + 1, generation.swept_to // SECOND)

    def test_slots_skipped_by_hand_are_no_part_of_a_gap_even_at_its_ends(self) -> None:
        marked = [NOON + number * MINUTE for number in (1, 2, 50, 119, 120)]
        generation = after_minutes(121, Policies(grace=0), marked=marked)
        assert generation.gaps == [Gap(NOON + 3 * MINUTE, NOON + 118 * MINUTE, 115, Reason.MISSED)]

    def test_a_gap_has_one_reason(self) -> None:
        state = a_paused_state(NOON + 101 * MINUTE, NOON + 201 * MINUTE)
        generation = generate(EVERY_MINUTE, Policies(), state, NOON + 400 * MINUTE, ROOM)
        assert generation.gaps == [
            Gap(NOON + MINUTE, NOON + 100 * MINUTE, 100, Reason.MISSED),
            Gap(NOON + 101 * MINUTE, NOON + 200 * MINUTE, 100, Reason.PAUSED),
            Gap(NOON + 201 * MINUTE, NOON + 398 * MINUTE, 198, Reason.MISSED),
        ]


class TestPause:
    def test_while_paused_the_cursor_is_frozen_and_it_wakes_at_the_end(self) -> None:
        state = a_paused_state(NOON, NOON + HOUR)
        assert generate(EVERY_MINUTE, Policies(), state, NOON + HOUR - 1, ROOM) == Generation(
            (), (), (), (), NOON, NOON + HOUR
        )

    def test_while_paused_without_an_end_nothing_wakes_it(self) -> None:
        assert generate(EVERY_MINUTE, Policies(), a_paused_state(NOON, None), NOON + DAY, ROOM).wake_at is None

    def test_the_slot_exactly_at_the_end_of_a_pause_is_on_time(self) -> None:
        state = a_paused_state(NOON, NOON + HOUR)
        generation = generate(EVERY_MINUTE, Policies(), state, NOON + HOUR, ROOM)
        assert generation.due == minutes(60)

    def test_grace_does_not_apply_inside_a_pause(self) -> None:
        state = a_paused_state(NOON, NOON + 3 * MINUTE)
        generation = generate(EVERY_MINUTE, Policies(), state, NOON + 3 * MINUTE, ROOM)
        assert generation.missed == [Missed(slot, Reason.PAUSED) for slot in minutes(1, 2)]

    def test_a_slot_kept_back_by_a_pause_of_seconds_is_paused_though_grace_would_have_it(self) -> None:
        state = a_paused_state(NOON + MINUTE - SECOND, NOON + MINUTE + SECOND)
        generation = generate(EVERY_MINUTE, Policies(), state, NOON + MINUTE + SECOND, ROOM)
        assert not generation.due
        assert generation.missed == [Missed(slot, Reason.PAUSED) for slot in minutes(1)]

    def test_slots_before_and_after_a_pause_are_missed_and_those_inside_paused(self) -> None:
        state = a_paused_state(NOON + 2 * MINUTE, NOON + 4 * MINUTE)
        generation = generate(EVERY_MINUTE, Policies(grace=0), state, NOON + 6 * MINUTE, ROOM)
        assert generation.missed == [
            Missed(slot, reason)
            for slot, reason in zip(
                minutes(1, 2, 3, 4, 5),
                [Reason.MISSED, Reason.PAUSED, Reason.PAUSED, Reason.MISSED, Reason.MISSED],
                strict=True,
            )
        ]

    def test_an_hourly_schedule_paused_for_six_hours_has_no_miss_and_no_run(self) -> None:
        state = a_paused_state(NOON, NOON + 6 * HOUR + MINUTE)
        generation = generate(EVERY_HOUR, Policies(), state, NOON + 6 * HOUR + MINUTE, ROOM)
        assert not generation.due
        assert {missed.reason for missed in generation.missed} == {Reason.PAUSED}
        assert len(generation.missed) == 6

    def test_catch_up_takes_up_what_a_pause_kept_back(self) -> None:
        state = a_paused_state(NOON, NOON + 3 * MINUTE + SECOND)
        policies = Policies(catchup=CatchUp.ALL)
        generation = generate(EVERY_MINUTE, policies, state, NOON + 3 * MINUTE + SECOND, ROOM)
        assert generation.due == minutes(1, 2, 3)

    def test_what_a_pause_kept_back_and_catch_up_leaves_out_is_paused(self) -> None:
        state = a_paused_state(NOON, NOON + 3 * MINUTE + SECOND)
        policies = Policies(catchup=CatchUp.LAST)
        generation = generate(EVERY_MINUTE, policies, state, NOON + 3 * MINUTE + SECOND, ROOM)
        assert generation.due == minutes(3)
        assert generation.missed == [Missed(slot, Reason.PAUSED) for slot in minutes(1, 2)]

    def test_a_long_pause_is_one_gap(self) -> None:
        state = a_paused_state(NOON, NOON + DAY)
        generation = generate(EVERY_MINUTE, Policies(), state, NOON + DAY, ROOM)
        assert generation.gaps == [Gap(NOON + MINUTE, NOON + DAY - MINUTE, 1439, Reason.PAUSED)]
        assert generation.due == slots_at(NOON + DAY)


class TestClosingAPause:
    def test_an_edit_while_paused_records_the_frozen_stretch_as_paused(self) -> None:
        closed = close_pause(EVERY_MINUTE, a_paused_state(NOON, None), NOON + 3 * MINUTE)
        assert closed == Generation(
            (), (), [Missed(slot, Reason.PAUSED) for slot in minutes(1, 2, 3)], [], NOON + 3 * MINUTE, None
        )

    def test_a_long_frozen_stretch_is_one_gap(self) -> None:
        closed = close_pause(EVERY_MINUTE, a_paused_state(NOON, None), NOON + DAY + SECOND)
        assert closed.gaps == [Gap(NOON + MINUTE, NOON + DAY, 1440, Reason.PAUSED)]
        assert closed.swept_to == NOON + DAY + SECOND

    def test_slots_skipped_by_hand_keep_the_row_that_they_have(self) -> None:
        closed = close_pause(EVERY_MINUTE, a_paused_state(NOON, None), NOON + 3 * MINUTE, [NOON + 2 * MINUTE])
        assert [missed.slot for missed in closed.missed] == minutes(1, 3)

    def test_a_cursor_ahead_of_now_stays(self) -> None:
        state = a_paused_state(NOON, None, swept_to=NOON + MINUTE)
        assert close_pause(EVERY_MINUTE, state, NOON) == Generation((), (), [], [], NOON + MINUTE, None)


class TestMarks:
    def test_a_slot_skipped_by_hand_is_passed_over(self) -> None:
        generation = after_minutes(1, Policies(), marked=[NOON + MINUTE])
        assert generation == Generation([], (), [], [], NOON + MINUTE, NOON + 2 * MINUTE)

    def test_a_slot_skipped_by_hand_is_not_missed(self) -> None:
        generation = after_minutes(5, Policies(), marked=[NOON + 2 * MINUTE, NOON + 5 * MINUTE])
        assert generation.due == minutes(4)
        assert [missed.slot for missed in generation.missed] == minutes(1, 3)

    def test_all_passes_over_it(self) -> None:
        generation = after_minutes(5, Policies(catchup=CatchUp.ALL), marked=[NOON + 2 * MINUTE])
        assert generation.due == minutes(1, 3, 4, 5)

    def test_last_takes_the_newest_that_was_not_skipped(self) -> None:
        marked = [NOON + 3 * HOUR]
        policies = Policies(catchup=CatchUp.LAST)
        generation = generate(EVERY_HOUR, policies, a_state(NOON), NOON + 3 * HOUR + HOUR // 2, ROOM, marked)
        assert generation.due == slots_at(NOON + 2 * HOUR)
        assert generation.swept_to == NOON + 3 * HOUR

    def test_last_takes_the_newest_late_one_when_the_one_within_grace_was_skipped(self) -> None:
        policies = Policies(catchup=CatchUp.LAST)
        generation = generate(EVERY_HOUR, policies, a_state(NOON), NOON + 3 * HOUR, ROOM, [NOON + 3 * HOUR])
        assert generation.due == slots_at(NOON + 2 * HOUR)

    def test_last_takes_nothing_when_all_were_skipped(self) -> None:
        policies = Policies(catchup=CatchUp.LAST)
        generation = generate(
            EVERY_HOUR, policies, a_state(NOON), NOON + 2 * HOUR + HOUR // 2, ROOM, [NOON + HOUR, NOON + 2 * HOUR]
        )
        assert generation == Generation([], (), [], [], NOON + 2 * HOUR, NOON + 3 * HOUR)

    def test_last_takes_nothing_when_the_first_slot_of_a_spec_was_skipped(self) -> None:
        timetable = a_timetable(at=moment((NOON + HOUR) // SECOND))
        policies = Policies(catchup=CatchUp.LAST)
        generation = generate(timetable, policies, a_state(NOON), NOON + 2 * HOUR, ROOM, [NOON + HOUR])
        assert generation == Generation([], (), [], [], NOON + HOUR, None)

    def test_a_mark_that_the_spec_no_longer_names_takes_no_slot_away(self) -> None:
        generation = after_minutes(3, Policies(grace=0), marked=[NOON + MINUTE + SECOND, NOON + MINUTE + 2 * SECOND])
        assert [missed.slot for missed in generation.missed] == minutes(1, 2)


class TestLimit:
    def test_a_schedule_without_starts_left_owes_nothing_and_is_not_woken(self) -> None:
        assert generate(EVERY_MINUTE, Policies(), a_state(remaining=0), NOON + HOUR, ROOM) == Generation(
            (), (), (), (), NOON, None
        )

    def test_a_schedule_with_starts_left_owes_as_any_other(self) -> None:
        assert list(generate(EVERY_MINUTE, Policies(), a_state(remaining=1), NOON + MINUTE, ROOM).due) == minutes(1)


class TestJitter:
    AFTER = a_timetable(HOUR, jitter=timedelta(minutes=30))
    AROUND = a_timetable(HOUR, jitter=timedelta(minutes=30), jitter_mode="around")

    def early(self) -> Slot:
        """The first slot that `around` makes due before its nominal time, by more than the grace."""
        return next(slot for slot in self.AROUND.walk(NOON // SECOND) if slot.due_at < slot.nominal_at - 2 * MINUTE)

    def test_the_cursor_stops_before_a_slot_that_is_not_yet_due_and_never_jumps_to_now(self) -> None:
        slot = self.AFTER.between((NOON + HOUR) // SECOND, (NOON + HOUR) // SECOND)[0]
        assert generate(self.AFTER, Policies(), a_state(NOON), slot.due_at - 1, ROOM) == Generation(
            (), (), (), (), NOON, slot.due_at
        )

    def test_a_slot_is_owed_from_its_due_time_on(self) -> None:
        slot = self.AFTER.between((NOON + HOUR) // SECOND, (NOON + HOUR) // SECOND)[0]
        generation = generate(self.AFTER, Policies(), a_state(NOON), slot.due_at, ROOM)
        assert list(generation.due) == [slot]
        assert generation.swept_to == NOON + HOUR

    def test_grace_counts_from_the_due_time(self) -> None:
        slot = self.AFTER.between((NOON + HOUR) // SECOND, (NOON + HOUR) // SECOND)[0]
        assert slot.due_at > slot.nominal_at + MINUTE
        assert list(generate(self.AFTER, Policies(), a_state(NOON), slot.due_at + MINUTE, ROOM).due) == [slot]
        assert not generate(self.AFTER, Policies(), a_state(NOON), slot.due_at + MINUTE + 1, ROOM).due

    def test_a_slot_behind_the_cursor_is_not_owed_again_because_its_due_time_lies_within_the_window(self) -> None:
        done, owed = self.AFTER.between((NOON + HOUR) // SECOND, (NOON + 2 * HOUR) // SECOND)
        now = owed.due_at + 2 * MINUTE
        policies = Policies(catchup=CatchUp.ALL, window=now - done.due_at)
        assert list(generate(self.AFTER, policies, a_state(done.nominal_at), now, ROOM).due) == [owed]

    def test_around_looks_ahead_so_the_cursor_may_lead_the_clock(self) -> None:
        slot = self.early()
        state = a_state(slot.nominal_at - HOUR)
        generation = generate(self.AROUND, Policies(), state, slot.due_at, ROOM)
        assert list(generation.due) == [slot]
        assert generation.swept_to == slot.nominal_at > slot.due_at

    def test_a_slot_started_ahead_of_its_nominal_time_is_not_owed_again(self) -> None:
        slot = self.early()
        generation = generate(self.AROUND, Policies(), a_state(slot.nominal_at), slot.nominal_at, ROOM)
        assert not generation.due
        assert generation.swept_to == slot.nominal_at

    def test_whether_a_pause_kept_a_slot_back_is_judged_by_its_due_time(self) -> None:
        slot = self.early()
        state = a_paused_state(slot.due_at, slot.due_at + 1, swept_to=slot.nominal_at - HOUR)
        generation = generate(self.AROUND, Policies(), state, slot.due_at + 1, ROOM)
        assert generation.missed == [Missed(slot, Reason.PAUSED)]


class TestEdits:
    JITTERED = a_timetable(HOUR, jitter=timedelta(minutes=30))

    def slot(self) -> Slot:
        return self.JITTERED.between((NOON + HOUR) // SECOND, (NOON + HOUR) // SECOND)[0]

    def test_a_slot_between_its_nominal_and_its_due_time_is_not_lost(self) -> None:
        slot = self.slot()
        for now in (slot.nominal_at, slot.due_at - 1):
            assert not_yet_due(self.JITTERED, a_state(NOON), now) == [slot]

    def test_a_slot_that_is_due_is_not_among_those_that_are_not(self) -> None:
        slot = self.slot()
        assert not_yet_due(self.JITTERED, a_state(NOON), slot.due_at) == []

    def test_a_slot_whose_nominal_time_is_to_come_is_left_to_the_new_spec(self) -> None:
        assert not_yet_due(self.JITTERED, a_state(NOON), NOON + HOUR - 1) == []

    def test_a_slot_behind_the_cursor_is_not_recorded_twice(self) -> None:
        assert not_yet_due(self.JITTERED, a_state(NOON + HOUR), NOON + HOUR) == []

    def test_an_exhausted_spec_has_none(self) -> None:
        timetable = a_timetable(at=moment(NOON // SECOND))
        assert not_yet_due(timetable, a_state(NOON), NOON + HOUR) == []

    def test_without_jitter_none_is_between(self) -> None:
        assert not_yet_due(EVERY_MINUTE, a_state(NOON), NOON + HOUR) == []


class Pause(NamedTuple):
    since: int
    until: int | None
    is_known: bool
    """Whether its end is known while it lasts, or only when somebody ends it."""

    def state(self, swept_to: int, now: int) -> State:
        if now < self.since:
            return a_state(swept_to)
        is_over = self.until is not None and self.until <= now
        return a_paused_state(self.since, self.until if self.is_known or is_over else None, swept_to)


class Case(NamedTuple):
    """A schedule, and the moments at which somebody sweeps it."""

    spec: Spec
    policies: Policies
    pause: Pause | None
    swept_to: int
    nows: list[int]
    rooms: list[int]
    marked: frozenset[int]


def spans(longest: int) -> st.SearchStrategy[int]:
    """Lengths of time that like to be nothing, or one."""
    return st.sampled_from([0, 1, SECOND]) | st.integers(0, longest)


@st.composite
def specs(draw: st.DrawFn) -> tuple[Spec, int]:
    """A spec, and roughly the microseconds between two of its slots."""
    kind = draw(st.sampled_from(["interval", "two intervals", "seconds", "minutes", "hours", "one-offs"]))
    every = draw(st.sampled_from([1, 2, 7, 60, 90, 3600, 6 * 3600]))
    jitter = timedelta(microseconds=draw(spans(3 * every * SECOND)))
    spec = Spec(jitter=jitter, jitter_mode=draw(st.sampled_from(["after", "around"])), timezone="Europe/Berlin")
    if kind == "interval":
        return replace(spec, cron=(f"@every {every}s",)), every * SECOND
    if kind == "two intervals":
        return replace(spec, cron=(f"@every {every}s", f"@every {7 * every + 1}s")), every * SECOND
    if kind == "seconds":
        return replace(spec, calendars=Calendar(second="*/20", minute="*", hour="0-12,14")), 20 * SECOND
    if kind == "minutes":
        return replace(spec, cron=("*/7 * * * *", "13 */5 * * *")), 7 * MINUTE
    if kind == "hours":
        return replace(spec, cron=("30 2,13 * * *",), end_at=moment((NOON + 30 * DAY) // SECOND)), 12 * HOUR
    offs = draw(st.lists(st.integers(0, 50 * every), min_size=1, max_size=20))
    return replace(spec, at=tuple(moment(NOON // SECOND + off) for off in offs)), every * SECOND


@st.composite
def cases(draw: st.DrawFn) -> Case:
    spec, every = draw(specs())
    swept_to = NOON + draw(spans(2 * every))
    steps = draw(st.lists(spans(3 * every) | st.integers(0, 150 * every), min_size=1, max_size=6))
    nows = [NOON + sum(steps[: place + 1]) for place in range(len(steps))]
    horizon = nows[-1] - NOON
    pause = None
    if draw(st.booleans()):
        since = NOON + draw(st.integers(0, horizon))
        until = draw(st.none() | spans(horizon).map(lambda length: since + length))
        pause = Pause(since, until, draw(st.booleans()))
    times = spec.compile()
    candidates = [nominal * SECOND for nominal in times.between(NOON // SECOND, (nows[-1] + every) // SECOND)]
    marked = draw(st.sets(st.sampled_from(candidates), max_size=5)) if candidates else set()
    policies = Policies(
        catchup=draw(st.sampled_from(CatchUp)),
        window=draw(st.none() | spans(200 * every)),
        cap=draw(st.sampled_from([1, 3, 100])),
        grace=draw(st.just(MINUTE) | spans(5 * every)),
        lookahead=draw(st.integers(1, 10 * every)),
    )
    rooms = draw(st.lists(st.sampled_from([1, 2, 50, 1000]), min_size=len(nows), max_size=len(nows)))
    stray = draw(
        st.sets(st.integers(NOON // SECOND, nows[-1] // SECOND).map(lambda second: second * SECOND), max_size=3)
    )
    return Case(spec, policies, pause, swept_to, nows, rooms, frozenset(marked | stray))


class Plain(NamedTuple):
    """What the page of semantics says of one sweep, slot by slot."""

    due: list[Slot]
    later: list[int]
    missed: list[Missed]
    swept_to: int
    wake_at: int | None


def judged_one_by_one(
    slots: list[Slot], policies: Policies, state: State, now: int, room: int, marked: frozenset[int]
) -> Plain:
    """Walk the slots beyond the cursor, of which nobody has a reason to skip one silently, and judge each."""
    paused_from, paused_to = state.pause_from, state.pause_to
    if paused_from is not None and (paused_to is None or now < paused_to):
        return Plain([], [], [], state.swept_to, paused_to)

    def is_late(slot: Slot) -> bool:
        return now - slot.due_at > policies.grace or (paused_to is not None and slot.due_at < paused_to)

    owed = [slot for slot in slots if slot.due_at <= now]
    open_ones = [slot for slot in owed if slot.nominal_at not in marked]
    wanted = [slot for slot in open_ones if is_late(slot)]
    if policies.catchup is CatchUp.NONE:
        wanted = []
    if policies.catchup is CatchUp.LAST:
        wanted = [] if any(not is_late(slot) for slot in open_ones) else wanted[-1:]
    if policies.window is not None:
        wanted = [slot for slot in wanted if now - slot.due_at <= policies.window]
    chosen = frozenset(wanted)

    due: list[Slot] = []
    later: list[int] = []
    missed: list[Missed] = []
    swept_to = state.swept_to
    for slot in owed:
        late = is_late(slot)
        if len(due) >= room or (late and len(due) >= policies.cap):
            break
        swept_to = slot.nominal_at
        if slot.nominal_at in marked:
            continue
        if not late:
            due.append(slot)
        elif slot in chosen and policies.catchup is CatchUp.SPREAD:
            later.append(slot.nominal_at)
        elif slot in chosen:
            due.append(slot)
        else:
            inside = paused_from is not None and paused_to is not None and paused_from <= slot.due_at < paused_to
            missed.append(Missed(slot, Reason.PAUSED if inside else Reason.MISSED))
    following = next((slot for slot in slots if slot.nominal_at > swept_to), None)
    return Plain(due, later, missed, swept_to, None if following is None else max(following.due_at, now))


def all_slots(timetable: Timetable, case: Case) -> list[Slot]:
    """Those beyond the cursor, up to the first that is never due in this case."""
    slots = []
    for slot in timetable.walk(case.swept_to // SECOND):
        slots.append(slot)
        if slot.due_at > case.nows[-1]:
            break
    return slots


def written_out(generation: Generation, timetable: Timetable, marked: frozenset[int]) -> list[Missed]:
    """Rows and gaps as one row for each slot, in order."""
    rows = list(generation.missed)
    for gap in generation.gaps:
        inside = timetable.between(gap.first_at // SECOND, gap.last_at // SECOND)
        slots = [slot for slot in inside if slot.nominal_at not in marked]
        assert len(slots) == gap.size >= MISSES_IN_A_GAP
        assert (slots[0].nominal_at, slots[-1].nominal_at) == (gap.first_at, gap.last_at)
        rows += [Missed(slot, gap.reason) for slot in slots]
    return sorted(rows)


@settings(max_examples=400)
@given(cases())
def test_over_any_sweeps_every_slot_is_judged_once_in_order_and_as_if_walked_one_by_one(case: Case) -> None:
    timetable = Timetable(case.spec.compile(), "digest")
    slots = all_slots(timetable, case)
    accounted: list[int] = []
    swept_to = case.swept_to
    for now, room in zip(case.nows, case.rooms, strict=True):
        state = a_state(swept_to) if case.pause is None else case.pause.state(swept_to, now)
        marked = frozenset(mark for mark in case.marked if mark > swept_to)
        beyond = [slot for slot in slots if slot.nominal_at > swept_to]

        generation = generate(timetable, case.policies, state, now, room, marked)

        plain = judged_one_by_one(beyond, case.policies, state, now, room, marked)
        missed = written_out(generation, timetable, marked)
        assert list(generation.due) == plain.due
        assert [slot.nominal_at for slot in generation.later] == plain.later
        assert missed == plain.missed
        assert generation.swept_to == plain.swept_to
        assert generation.wake_at == plain.wake_at

        assert len(generation.due) <= room
        assert all(slot.due_at <= now for slot in generation.due)
        assert all(now <= slot.due_at < now + case.policies.lookahead for slot in generation.later)
        assert generation.swept_to >= swept_to
        # Before a pause, inside of it, and after it.
        assert len(generation.missed) < 3 * MISSES_IN_A_GAP
        accounted += sorted(
            [slot.nominal_at for slot in (*generation.due, *generation.later)] + [one.slot.nominal_at for one in missed]
        )
        swept_to = generation.swept_to

    assert accounted == [
        slot.nominal_at for slot in slots if slot.nominal_at <= swept_to and slot.nominal_at not in case.marked
    ]


@given(cases())
def test_sweeping_until_nothing_is_left_to_do_leaves_no_slot_that_is_due(case: Case) -> None:
    timetable = Timetable(case.spec.compile(), "digest")
    now = case.nows[-1]
    swept_to = case.swept_to
    wake_at: int | None = now
    while wake_at is not None and wake_at <= now:
        generation = generate(timetable, case.policies, a_state(swept_to), now, 50, case.marked)
        assert generation.swept_to > swept_to or generation.wake_at != now
        swept_to, wake_at = generation.swept_to, generation.wake_at
    following = timetable.next_after(swept_to // SECOND)
    assert wake_at == (None if following is None else following.due_at)
