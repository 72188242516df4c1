from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.admission import Admission, Applicant, Stop, admit
from foliot.domain.budgets import Funds, WhenSpent
from foliot.domain.policies import Overlap, Policies
from foliot.domain.runs import Hold, Kind, Reason
from tests.builders import HOUR, MINUTE, NOON, a_held_slot, a_paused_state, a_state, a_trigger, an_applicant

FREE = a_state(running=0)
BUSY = a_state(running=1)
LATER = NOON + HOUR

OVERLAP, SUPERSEDED, FULL = Reason.OVERLAP, Reason.SUPERSEDED, Reason.BUFFER_FULL


def slots(count: int) -> list[Applicant]:
    return [an_applicant(NOON + number * MINUTE) for number in range(1, count + 1)]


def names(admission: Admission) -> tuple[list[int], list[int], list[tuple[int, Reason]]]:
    """Which start, which wait, and which are skipped why, by their minute."""

    def minute(applicant: Applicant) -> int:
        return (applicant.nominal_at - NOON) // MINUTE

    return (
        [minute(start.applicant) for start in admission.starts],
        [minute(wait.applicant) for wait in admission.waits],
        [(minute(skip.applicant), skip.reason) for skip in admission.skips],
    )


class Row(NamedTuple):
    """Slots 1, 2, 3, … at once under a policy: what becomes of them."""

    overlap: Overlap
    size: int
    starts: list[int]
    waits: list[int]
    skips: list[tuple[int, Reason]]
    stop: Stop | None = None


ON_A_FREE_SCHEDULE = [
    Row(Overlap.SKIP, 1, [1], [], []),
    Row(Overlap.BUFFER_ONE, 1, [1], [], []),
    Row(Overlap.BUFFER_ALL, 1, [1], [], []),
    Row(Overlap.CANCEL_OTHER, 1, [1], [], []),
    Row(Overlap.TERMINATE_OTHER, 1, [1], [], []),
    Row(Overlap.ALLOW_ALL, 1, [1], [], []),
    Row(Overlap.SKIP, 3, [1], [], [(2, OVERLAP), (3, OVERLAP)]),
    Row(Overlap.BUFFER_ONE, 3, [1], [3], [(2, SUPERSEDED)]),
    Row(Overlap.BUFFER_ALL, 3, [1], [2, 3], []),
    Row(Overlap.CANCEL_OTHER, 3, [3], [], [(1, SUPERSEDED), (2, SUPERSEDED)]),
    Row(Overlap.TERMINATE_OTHER, 3, [3], [], [(1, SUPERSEDED), (2, SUPERSEDED)]),
    Row(Overlap.ALLOW_ALL, 3, [1, 2, 3], [], []),
]

BEHIND_A_RUN = [
    Row(Overlap.SKIP, 1, [], [], [(1, OVERLAP)]),
    Row(Overlap.BUFFER_ONE, 1, [], [1], []),
    Row(Overlap.BUFFER_ALL, 1, [], [1], []),
    Row(Overlap.CANCEL_OTHER, 1, [], [1], [], Stop.CANCEL),
    Row(Overlap.TERMINATE_OTHER, 1, [], [1], [], Stop.TERMINATE),
    Row(Overlap.ALLOW_ALL, 1, [1], [], []),
    Row(Overlap.SKIP, 3, [], [], [(1, OVERLAP), (2, OVERLAP), (3, OVERLAP)]),
    Row(Overlap.BUFFER_ONE, 3, [], [3], [(1, SUPERSEDED), (2, SUPERSEDED)]),
    Row(Overlap.BUFFER_ALL, 3, [], [1, 2, 3], []),
    Row(Overlap.CANCEL_OTHER, 3, [], [3], [(1, SUPERSEDED), (2, SUPERSEDED)], Stop.CANCEL),
    Row(Overlap.TERMINATE_OTHER, 3, [], [3], [(1, SUPERSEDED), (2, SUPERSEDED)], Stop.TERMINATE),
    Row(Overlap.ALLOW_ALL, 3, [1, 2, 3], [], []),
]


class TestOverlap:
    @pytest.mark.parametrize("row", ON_A_FREE_SCHEDULE, ids=lambda row: f"{row.overlap}-{row.size}")
    def test_on_a_free_schedule(self, row: Row) -> None:
        admission = admit(FREE, Policies(overlap=row.overlap), slots(row.size), LATER)
        assert names(admission) == (row.starts, row.waits, row.skips)
        assert admission.stop is row.stop

    @pytest.mark.parametrize("row", BEHIND_A_RUN, ids=lambda row: f"{row.overlap}-{row.size}")
    def test_while_a_run_is_not_over(self, row: Row) -> None:
        admission = admit(BUSY, Policies(overlap=row.overlap), slots(row.size), LATER)
        assert names(admission) == (row.starts, row.waits, row.skips)
        assert admission.stop is row.stop

    @pytest.mark.parametrize("overlap", sorted(set(Overlap) - {Overlap.ALLOW_ALL}))
    def test_a_run_occupies_its_schedule(self, overlap: Overlap) -> None:
        assert [start.occupies for start in admit(FREE, Policies(overlap=overlap), slots(1), LATER).starts] == [True]

    def test_a_run_under_allow_all_does_not_occupy_and_so_blocks_nobody(self) -> None:
        applicants = [an_applicant(overlap=Overlap.ALLOW_ALL), *slots(1)]
        assert [start.occupies for start in admit(FREE, Policies(), applicants, LATER).starts] == [False, True]

    def test_what_waits_for_the_run_before_it_says_so(self) -> None:
        assert [wait.hold for wait in admit(BUSY, Policies(overlap=Overlap.BUFFER_ALL), slots(2), LATER).waits] == [
            Hold.OVERLAP,
            Hold.OVERLAP,
        ]

    def test_an_applicant_that_brings_its_own_policy_is_judged_by_that(self) -> None:
        applicants = [an_applicant(NOON + MINUTE, overlap=Overlap.BUFFER_ALL), an_applicant(NOON + 2 * MINUTE)]
        assert names(admit(BUSY, Policies(overlap=Overlap.SKIP), applicants, LATER)) == ([], [1], [(2, OVERLAP)])

    def test_no_applicants_no_verdicts(self) -> None:
        assert admit(FREE, Policies(), [], LATER) == Admission([], [], [], None)


class TestBufferOne:
    POLICIES = Policies(overlap=Overlap.BUFFER_ONE)

    def test_five_at_once_on_a_free_schedule_start_the_oldest_hold_the_newest_and_supersede_three(self) -> None:
        assert names(admit(FREE, self.POLICIES, slots(5), LATER)) == (
            [1],
            [5],
            [(2, SUPERSEDED), (3, SUPERSEDED), (4, SUPERSEDED)],
        )

    def test_a_new_slot_takes_the_place_of_a_held_one(self) -> None:
        applicants = [a_held_slot(NOON), *slots(1)]
        assert names(admit(BUSY, self.POLICIES, applicants, LATER)) == ([], [1], [(0, SUPERSEDED)])

    def test_a_new_slot_never_takes_the_place_of_a_persons_trigger(self) -> None:
        applicants = [a_trigger(NOON, is_held=True, is_judged=True), *slots(1)]
        assert names(admit(BUSY, self.POLICIES, applicants, LATER)) == ([], [0], [(1, FULL)])

    def test_a_persons_trigger_takes_the_place_of_a_held_slot(self) -> None:
        applicants = [a_held_slot(NOON), a_trigger(NOON + MINUTE)]
        assert names(admit(BUSY, self.POLICIES, applicants, LATER)) == ([], [1], [(0, SUPERSEDED)])

    def test_a_second_trigger_is_told_that_one_waits_already(self) -> None:
        applicants = [a_trigger(NOON, is_held=True, is_judged=True), a_trigger(NOON + MINUTE)]
        assert names(admit(BUSY, self.POLICIES, applicants, LATER)) == ([], [0], [(1, FULL)])

    def test_the_held_slot_starts_when_the_run_before_it_is_over(self) -> None:
        assert names(admit(FREE, self.POLICIES, [a_held_slot(NOON)], LATER)) == ([0], [], [])

    def test_five_minute_slots_behind_a_run_of_22_minutes_start_the_newest_of_those_that_came_meanwhile(self) -> None:
        held: list[Applicant] = []
        superseded: list[int] = []
        for minute in (10, 15, 20, 25):
            admission = admit(BUSY, self.POLICIES, [*held, an_applicant(NOON + minute * MINUTE)], LATER)
            superseded += [minute for minute, _ in names(admission)[2]]
            held = [wait.applicant._replace(is_held=True, is_judged=True) for wait in admission.waits]
        assert superseded == [10, 15, 20]
        assert names(admit(FREE, self.POLICIES, held, LATER)) == ([25], [], [])


class TestBufferAll:
    def test_beyond_its_bound_a_slot_is_skipped_as_buffer_full(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, buffer=2)
        assert names(admit(BUSY, policies, slots(3), LATER)) == ([], [1, 2], [(3, FULL)])

    def test_those_that_wait_already_count(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, buffer=3)
        assert names(admit(a_state(running=1, held=2), policies, slots(2), LATER)) == ([], [1], [(2, FULL)])

    def test_one_that_waited_before_is_not_thrown_out_by_a_smaller_bound(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, buffer=1)
        applicants = [a_held_slot(NOON), a_held_slot(NOON + MINUTE)]
        assert names(admit(BUSY, policies, applicants, LATER)) == ([], [0, 1], [])

    def test_held_slots_start_one_after_another_in_order(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL)
        applicants = [a_held_slot(NOON), a_held_slot(NOON + MINUTE), an_applicant(NOON + 2 * MINUTE)]
        assert names(admit(FREE, policies, applicants, LATER)) == ([0], [1, 2], [])


class TestReplacing:
    @pytest.mark.parametrize(
        ("overlap", "stop"), [(Overlap.CANCEL_OTHER, Stop.CANCEL), (Overlap.TERMINATE_OTHER, Stop.TERMINATE)]
    )
    def test_older_held_slots_are_superseded_while_the_running_one_is_stopped(
        self, overlap: Overlap, stop: Stop
    ) -> None:
        admission = admit(BUSY, Policies(overlap=overlap), [a_held_slot(NOON), *slots(1)], LATER)
        assert names(admission) == ([], [1], [(0, SUPERSEDED)])
        assert admission.stop is stop

    def test_a_held_slot_that_is_freed_and_at_once_replaced_never_starts(self) -> None:
        admission = admit(FREE, Policies(overlap=Overlap.CANCEL_OTHER), [a_held_slot(NOON), *slots(1)], LATER)
        assert names(admission) == ([1], [], [(0, SUPERSEDED)])
        assert admission.stop is None

    def test_a_persons_trigger_that_waits_keeps_its_place(self) -> None:
        applicants = [a_trigger(NOON, is_held=True, is_judged=True), *slots(1)]
        admission = admit(BUSY, Policies(overlap=Overlap.CANCEL_OTHER), applicants, LATER)
        assert names(admission) == ([], [0, 1], [])

    def test_a_persons_trigger_just_started_is_asked_to_stop_rather_than_taken_back(self) -> None:
        admission = admit(FREE, Policies(overlap=Overlap.CANCEL_OTHER), [a_trigger(NOON), *slots(1)], LATER)
        assert names(admission) == ([0], [1], [])
        assert admission.stop is Stop.CANCEL

    @pytest.mark.parametrize("policies", [(Overlap.CANCEL_OTHER, Overlap.TERMINATE_OTHER)])
    @pytest.mark.parametrize("turned", [False, True])
    def test_terminate_wins_over_cancel_in_either_order(self, policies: tuple[Overlap, ...], turned: bool) -> None:
        applicants = [an_applicant(overlap=overlap) for overlap in (policies[::-1] if turned else policies)]
        assert admit(BUSY, Policies(), applicants, LATER).stop is Stop.TERMINATE

    def test_runs_under_allow_all_start_though_others_are_stopped(self) -> None:
        applicants = [*slots(1), an_applicant(NOON + 2 * MINUTE, overlap=Overlap.ALLOW_ALL)]
        admission = admit(BUSY, Policies(overlap=Overlap.CANCEL_OTHER), applicants, LATER)
        assert names(admission) == ([2], [1], [])

    def test_a_run_under_allow_all_is_not_taken_back(self) -> None:
        applicants = [an_applicant(NOON, overlap=Overlap.ALLOW_ALL), *slots(2)]
        admission = admit(FREE, Policies(overlap=Overlap.CANCEL_OTHER), applicants, LATER)
        assert names(admission) == ([0, 2], [], [(1, SUPERSEDED)])


class TestHeldSlots:
    def test_they_wait_for_ever_without_a_window(self) -> None:
        admission = admit(BUSY, Policies(overlap=Overlap.BUFFER_ALL), [a_held_slot(NOON)], NOON + 10**6 * HOUR)
        assert names(admission) == ([], [0], [])

    @pytest.mark.parametrize("state", [FREE, BUSY], ids=["free", "busy"])
    def test_one_older_than_the_catch_up_window_is_missed(self, state: Any) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, window=HOUR)
        assert names(admit(state, policies, [a_held_slot(NOON)], NOON + HOUR + 1)) == ([], [], [(0, Reason.MISSED)])

    def test_one_exactly_as_old_as_the_window_starts(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, window=HOUR)
        assert names(admit(FREE, policies, [a_held_slot(NOON)], NOON + HOUR)) == ([0], [], [])

    def test_the_window_counts_from_the_due_time(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL, window=HOUR)
        held = a_held_slot(NOON, due_at=NOON + MINUTE)
        assert names(admit(FREE, policies, [held], NOON + HOUR + MINUTE)) == ([0], [], [])

    def test_the_window_is_not_asked_about_a_slot_that_generation_let_through(self) -> None:
        assert names(admit(FREE, Policies(window=MINUTE), [an_applicant(NOON)], NOON + HOUR)) == ([0], [], [])

    @pytest.mark.parametrize("kind", [Kind.MANUAL, Kind.BACKFILL])
    def test_what_somebody_asked_for_does_not_expire(self, kind: Kind) -> None:
        held = a_held_slot(NOON, kind=kind)
        assert names(admit(FREE, Policies(window=MINUTE), [held], NOON + HOUR)) == ([0], [], [])

    def test_one_held_under_another_policy_stays_held_under_skip(self) -> None:
        assert names(admit(BUSY, Policies(overlap=Overlap.SKIP), [a_held_slot(NOON)], LATER)) == ([], [0], [])


class TestPause:
    PAUSED = a_paused_state(NOON, None)

    def test_a_slot_that_comes_due_in_a_pause_waits_for_its_end(self) -> None:
        admission = admit(self.PAUSED, Policies(), slots(2), LATER)
        assert [wait.hold for wait in admission.waits] == [Hold.PAUSED, Hold.PAUSED]
        assert not admission.starts

    def test_a_held_slot_waits_for_its_end_though_nothing_runs(self) -> None:
        assert [wait.hold for wait in admit(self.PAUSED, Policies(), [a_held_slot(NOON)], LATER).waits] == [Hold.PAUSED]

    def test_a_persons_trigger_starts(self) -> None:
        assert names(admit(self.PAUSED, Policies(), [a_trigger(NOON)], LATER)) == ([0], [], [])

    def test_a_pause_that_is_over_keeps_nothing_back(self) -> None:
        assert names(admit(a_paused_state(NOON, LATER), Policies(), slots(1), LATER)) == ([1], [], [])


class TestLimit:
    ALLOW = Policies(overlap=Overlap.ALLOW_ALL)

    def test_slots_beyond_the_limit_are_skipped_as_limit_reached(self) -> None:
        assert names(admit(a_state(remaining=2), self.ALLOW, slots(3), LATER)) == (
            [1, 2],
            [],
            [(3, Reason.LIMIT_REACHED)],
        )

    @pytest.mark.parametrize("kind", [Kind.MANUAL, Kind.BACKFILL])
    def test_what_somebody_asked_for_is_free(self, kind: Kind) -> None:
        applicants = [an_applicant(NOON, kind=kind), *slots(1)]
        assert names(admit(a_state(remaining=1), self.ALLOW, applicants, LATER)) == ([0, 1], [], [])
        assert names(admit(a_state(remaining=0), self.ALLOW, applicants[:1], LATER)) == ([0], [], [])

    def test_a_slot_that_is_skipped_or_waits_takes_nothing(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL)
        applicants = [an_applicant(NOON, overlap=Overlap.SKIP), *slots(2)]
        state = a_state(running=1, remaining=1)
        assert names(admit(state, policies, applicants, LATER)) == ([], [1, 2], [(0, OVERLAP)])

    def test_a_start_that_is_taken_back_gives_back_what_it_took(self) -> None:
        policies = Policies(overlap=Overlap.CANCEL_OTHER)
        assert names(admit(a_state(remaining=1), policies, slots(2), LATER)) == (
            [1],
            [],
            [(2, Reason.LIMIT_REACHED)],
        )
        assert names(admit(a_state(remaining=2), policies, [*slots(3)], LATER)) == (
            [3],
            [],
            [(1, SUPERSEDED), (2, SUPERSEDED)],
        )


class TestFunds:
    ALLOW = Policies(overlap=Overlap.ALLOW_ALL)

    def test_what_the_funds_are_not_enough_for_is_skipped_and_may_pause_the_schedule(self) -> None:
        for when_spent in WhenSpent:
            admission = admit(FREE, self.ALLOW, slots(3), LATER, funds=Funds(((70, when_spent),), each=30))
            assert names(admission) == ([1, 2], [], [(3, Reason.OVER_BUDGET)])
            assert admission.pauses is (when_spent is WhenSpent.PAUSE)

    def test_each_is_judged_by_what_it_may_cost_itself(self) -> None:
        numbered = [slot._replace(ref=number) for number, slot in enumerate(slots(4))]
        funds = Funds(((70, WhenSpent.SKIP),), each=30, own={0: 80, 2: 0})
        admission = admit(FREE, self.ALLOW, numbered, LATER, funds=funds)
        assert names(admission) == ([2, 3, 4], [], [(1, Reason.OVER_BUDGET)])

    def test_a_start_that_is_taken_back_gives_back_what_it_would_cost(self) -> None:
        policies = Policies(overlap=Overlap.CANCEL_OTHER)
        admission = admit(FREE, policies, slots(3), LATER, funds=Funds(((60, WhenSpent.PAUSE),), each=30))
        assert names(admission) == ([3], [], [(1, SUPERSEDED), (2, SUPERSEDED)])
        assert not admission.pauses

    def test_what_waits_for_another_run_is_not_asked_yet(self) -> None:
        policies = Policies(overlap=Overlap.BUFFER_ALL)
        admission = admit(BUSY, policies, slots(1), LATER, funds=Funds(((0, WhenSpent.PAUSE),), each=30))
        assert (names(admission), admission.pauses) == (([], [1], []), False)


applicants = st.builds(
    Applicant,
    nominal_at=st.integers(NOON - HOUR, LATER),
    due_at=st.integers(NOON - HOUR, LATER),
    kind=st.sampled_from(Kind),
    overlap=st.none() | st.sampled_from(Overlap),
    is_held=st.booleans(),
)
states = st.builds(
    a_state,
    running=st.integers(0, 2),
    held=st.integers(0, 2),
    remaining=st.none() | st.integers(0, 3),
    pause_from=st.none() | st.just(NOON),
)
policies = st.builds(
    Policies,
    overlap=st.sampled_from(Overlap),
    buffer=st.integers(1, 3),
    window=st.none() | st.integers(1, HOUR),
)


@given(states, policies, st.lists(applicants, max_size=8))
def test_every_applicant_has_one_verdict_and_no_two_runs_occupy_one_schedule(
    state: Any, policies: Policies, applicants: list[Applicant]
) -> None:
    numbered = [applicant._replace(ref=number) for number, applicant in enumerate(applicants)]
    admission = admit(state, policies, numbered, LATER)
    starts = [start.applicant.ref or 0 for start in admission.starts]
    waits = [wait.applicant.ref or 0 for wait in admission.waits]
    skips = [skip.applicant.ref or 0 for skip in admission.skips]
    assert sorted(starts + waits + skips) == list(range(len(numbered)))
    assert starts == sorted(starts)
    assert waits == sorted(waits)
    occupying = [start for start in admission.starts if start.occupies]
    assert len(occupying) <= (state.running == 0)
    slots = [start for start in admission.starts if start.applicant.kind is Kind.SLOT]
    assert state.remaining is None or len(slots) <= state.remaining
