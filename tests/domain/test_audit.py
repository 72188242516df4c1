from collections.abc import Sequence
from typing import Any

import pytest

from foliot import Spec
from foliot.domain.audit import (
    FOR_EVER,
    Ahead,
    AuditedTime,
    Books,
    Fault,
    Reign,
    RunShape,
    audit_slots,
    unexplained,
    unjudged,
)
from foliot.domain.generation import Gap
from foliot.domain.runs import FINAL, Hold, Kind, Reason, Status
from foliot.domain.times import Times
from tests.builders import DAY, HOUR, MINUTE, NOON, SECOND, a_state

EVERY_MINUTE = Spec(cron=("* * * * *",)).compile()
EVERY_HOUR = Spec(cron=("0 * * * *",)).compile()
HALF_PAST = Spec(cron=("30 * * * *",)).compile()
ELEVEN = NOON - HOUR
EVERYTHING = AuditedTime()


def minutes(first: int, last: int) -> list[int]:
    """From one minute after eleven to another."""
    return [ELEVEN + number * MINUTE for number in range(first, last + 1)]


def books(
    rows: Sequence[int] = (),
    *,
    times: Times = EVERY_MINUTE,
    since: int = ELEVEN,
    swept_to: int = NOON,
    marks: int = 0,
    past: Sequence[Reign] = (),
    **changes: Any,
) -> Books:
    """Of a schedule of every minute, created at eleven and swept up to noon."""
    facts: dict[str, Any] = {"pruned_before": 0, "skipped": frozenset(), "ahead": (), "gaps": ()}
    state = a_state(swept_to)._replace(marks=marks)
    return Books((*past, Reign(times, since, FOR_EVER)), state, rows=rows, **facts | changes)


def faults(found: Books, extent: AuditedTime = EVERYTHING) -> list[tuple[Fault, int, int, int]]:
    return [violation[:4] for violation in audit_slots(found, extent).violations]


class TestRows:
    def test_where_every_slot_has_its_row_nothing_is_found(self) -> None:
        finding = audit_slots(books(minutes(1, 60)), EVERYTHING)
        assert finding == (60, 0, [])

    def test_a_slot_at_the_very_moment_of_the_creation_is_not_owed_and_one_at_the_cursor_is(self) -> None:
        assert faults(books(minutes(1, 59))) == [(Fault.MISSING, NOON, NOON, 1)]
        assert faults(books(minutes(0, 60))) == [(Fault.UNNAMED, ELEVEN, ELEVEN, 1)]

    def test_what_is_not_swept_yet_is_not_missing(self) -> None:
        assert faults(books(minutes(1, 30), swept_to=ELEVEN + 30 * MINUTE)) == []

    def test_slots_in_a_row_that_are_missing_are_told_as_one(self) -> None:
        rows = [row for row in minutes(1, 60) if row not in (*minutes(10, 12), *minutes(40, 40))]
        finding = audit_slots(books(rows), EVERYTHING)
        assert [violation[:4] for violation in finding.violations] == [
            (Fault.MISSING, ELEVEN + 10 * MINUTE, ELEVEN + 12 * MINUTE, 3),
            (Fault.MISSING, ELEVEN + 40 * MINUTE, ELEVEN + 40 * MINUTE, 1),
        ]
        assert [violation.sentence for violation in finding.violations] == [
            "3 slots from 2026-11-15T11:10:00Z to 2026-11-15T11:12:00Z have no row and lie in no gap",
            "2026-11-15T11:40:00Z has no row and lies in no gap",
        ]

    @pytest.mark.parametrize("moved", [1, SECOND, -MINUTE // 2])
    def test_a_row_for_another_moment_is_found_and_so_is_the_slot_that_lost_it(self, moved: int) -> None:
        rows = sorted([*minutes(1, 29), ELEVEN + 30 * MINUTE + moved, *minutes(31, 60)])
        wrong, right = ELEVEN + 30 * MINUTE + moved, ELEVEN + 30 * MINUTE
        assert sorted(faults(books(rows))) == sorted(
            [(Fault.MISSING, right, right, 1), (Fault.UNNAMED, wrong, wrong, 1)]
        )

    def test_only_what_is_asked_for_is_looked_at(self) -> None:
        extent = AuditedTime(ELEVEN + 10 * MINUTE, ELEVEN + 20 * MINUTE)
        finding = audit_slots(books(minutes(11, 19)), extent)
        assert finding.slots == 11
        assert [violation.first_at for violation in finding.violations] == [extent.first_at, extent.last_at]

    def test_what_was_removed_with_age_is_not_asked_for(self) -> None:
        assert faults(books(minutes(30, 60), pruned_before=ELEVEN + 30 * MINUTE)) == []
        assert len(faults(books(minutes(30, 60), pruned_before=ELEVEN + 29 * MINUTE))) == 1

    def test_a_year_of_minutes_without_rows_is_counted_and_not_walked(self) -> None:
        class Uncountable(Times):
            def between(self, start: int, end: int) -> Any:
                raise AssertionError("walked")

        times = Uncountable(EVERY_MINUTE.almanac)
        year = 365 * DAY
        assert faults(books(times=times, since=NOON - year)) == [
            (Fault.MISSING, NOON - year + MINUTE, NOON, 365 * 24 * 60)
        ]

    def test_a_few_rows_in_a_year_of_missing_ones_are_found_by_halving(self) -> None:
        year = 365 * DAY
        rows = [NOON - 100 * DAY, NOON - 50 * DAY, NOON]
        finding = audit_slots(books(rows, since=NOON - year), EVERYTHING)
        assert finding.slots == 365 * 24 * 60
        assert sum(violation.slots for violation in finding.violations) == 365 * 24 * 60 - 3
        assert len(finding.violations) == 3


class TestGaps:
    GAP = Gap(ELEVEN + 10 * MINUTE, ELEVEN + 19 * MINUTE, 10, Reason.MISSED)
    AROUND = (*minutes(1, 9), *minutes(20, 60))

    def found(self, *gaps: Gap, rows: Sequence[int] = AROUND, **changes: Any) -> list[tuple[Fault, int, int, int]]:
        return faults(books(rows, gaps=gaps, **changes))

    def test_slots_in_a_gap_need_no_row(self) -> None:
        assert audit_slots(books(self.AROUND, gaps=(self.GAP,)), EVERYTHING) == (60, 10, [])

    def test_a_slot_that_was_skipped_before_has_its_row_and_is_not_counted(self) -> None:
        rows = sorted([*self.AROUND, ELEVEN + 15 * MINUTE])
        assert self.found(self.GAP._replace(size=9), rows=rows) == []
        assert self.found(self.GAP, rows=rows) == [(Fault.MISCOUNTED, self.GAP.first_at, self.GAP.last_at, 1)]

    @pytest.mark.parametrize("size", [8, 12])
    def test_a_gap_that_counts_others_than_it_spans_is_found(self, size: int) -> None:
        found = self.found(self.GAP._replace(size=size))
        assert found == [(Fault.MISCOUNTED, self.GAP.first_at, self.GAP.last_at, 2)]

    def test_a_gap_begins_and_ends_with_slots_of_its_own(self) -> None:
        early = self.GAP._replace(first_at=self.GAP.first_at - SECOND)
        assert self.found(early) == [(Fault.MISCOUNTED, early.first_at, early.last_at, 1)]

    def test_slots_that_lie_in_two_gaps_are_found(self) -> None:
        assert self.found(self.GAP, self.GAP) == [(Fault.DOUBLED, self.GAP.first_at, self.GAP.last_at, 10)]
        far = Gap(ELEVEN + 18 * MINUTE, ELEVEN + 21 * MINUTE, 4, Reason.PAUSED)
        rows = (*minutes(1, 9), *minutes(22, 60))
        assert self.found(self.GAP, far, rows=rows) == [(Fault.DOUBLED, far.first_at, self.GAP.last_at, 2)]

    def test_a_gap_where_nothing_is_named_is_found(self) -> None:
        early = Gap(ELEVEN - 10 * MINUTE, ELEVEN - MINUTE, 10, Reason.MISSED)
        assert self.found(early, rows=minutes(1, 60)) == [(Fault.UNNAMED, early.first_at, early.last_at, 10)]

    def test_without_their_gap_all_its_slots_are_missing(self) -> None:
        assert self.found() == [(Fault.MISSING, self.GAP.first_at, self.GAP.last_at, 10)]

    def test_a_gap_of_which_a_part_is_asked_for_is_judged_as_a_whole(self) -> None:
        extent = AuditedTime(ELEVEN + 15 * MINUTE, ELEVEN + 25 * MINUTE)
        assert audit_slots(books(self.AROUND, gaps=(self.GAP,)), extent) == (11, 5, [])

    def test_a_gap_that_began_before_what_was_removed_with_age_cannot_be_counted(self) -> None:
        gap = self.GAP._replace(size=7)
        assert self.found(gap, rows=self.AROUND, pruned_before=ELEVEN + 12 * MINUTE) == []


class TestEdits:
    """Of every hour until nine, of every half past until eleven, and of every minute since."""

    NINE = NOON - 3 * HOUR
    FIRST = Reign(EVERY_HOUR, NINE - 3 * HOUR, NINE)
    SECOND = Reign(HALF_PAST, NINE, ELEVEN)
    ROWS = (
        *(NINE - 2 * HOUR, NINE - HOUR, NINE),
        *(NINE + HOUR // 2, NINE + 3 * HOUR // 2),
        *minutes(1, 60),
    )

    def found(self, rows: Sequence[int], **changes: Any) -> list[tuple[Fault, int, int, int]]:
        return faults(books(rows, past=(self.FIRST, self.SECOND), **changes))

    def test_each_spec_is_answerable_for_its_time(self) -> None:
        assert audit_slots(books(self.ROWS, past=(self.FIRST, self.SECOND)), EVERYTHING) == (65, 0, [])

    @pytest.mark.parametrize("place", range(5))
    def test_what_a_spec_named_before_an_edit_is_missed(self, place: int) -> None:
        gone = self.ROWS[place]
        rows = [row for row in self.ROWS if row != gone]
        assert self.found(rows) == [(Fault.MISSING, gone, gone, 1)]

    def test_what_only_another_spec_names_is_found(self) -> None:
        wrong = self.NINE + HOUR
        assert self.found(sorted([*self.ROWS, wrong])) == [(Fault.UNNAMED, wrong, wrong, 1)]

    def test_while_nothing_was_owed_nothing_is_missing_and_nothing_may_be_there(self) -> None:
        lapsed = self.SECOND._replace(until=self.NINE + HOUR)
        rows = [row for row in self.ROWS if row != self.NINE + 3 * HOUR // 2]
        assert faults(books(rows, past=(self.FIRST, lapsed))) == []
        wrong = self.NINE + 3 * HOUR // 2
        assert faults(books(self.ROWS, past=(self.FIRST, lapsed))) == [(Fault.UNNAMED, wrong, wrong, 1)]

    def test_a_slot_that_was_skipped_ahead_of_an_edit_was_named_by_the_spec_of_then(self) -> None:
        skipped = self.NINE + HOUR
        rows = sorted([*self.ROWS, skipped])
        assert self.found(rows, skipped=frozenset({skipped})) == []
        finding = audit_slots(books(rows, past=(self.FIRST, self.SECOND), skipped=frozenset({skipped})), EVERYTHING)
        assert finding.slots == len(rows)
        nobody = self.NINE + HOUR + SECOND
        assert self.found(sorted([*self.ROWS, nobody]), skipped=frozenset({nobody})) == [
            (Fault.UNNAMED, nobody, nobody, 1)
        ]

    def test_what_was_recorded_ahead_of_an_edit_was_named_by_the_spec_of_then(self) -> None:
        """By jitter around, or before the clock was set back."""
        leading = self.SECOND._replace(until=ELEVEN + HOUR)
        since = ELEVEN + MINUTE // 2
        assert faults(books(self.ROWS, past=(self.FIRST, leading), since=since)) == []

    def test_of_two_that_overlap_the_one_that_ended_last_is_answerable(self) -> None:
        back = Reign(EVERY_HOUR, self.NINE + HOUR, ELEVEN)
        rows = sorted([*self.ROWS, ELEVEN])
        assert faults(books(rows, past=(self.FIRST, self.SECOND, back))) == []
        assert faults(books(self.ROWS, past=(self.FIRST, self.SECOND, back))) == [(Fault.MISSING, ELEVEN, ELEVEN, 1)]


class TestAhead:
    ONE = NOON + MINUTE

    def test_a_slot_to_come_that_was_skipped_is_in_order(self) -> None:
        ahead = (Ahead(self.ONE, 7, is_skipped=True),)
        assert faults(books(minutes(1, 60), ahead=ahead, marks=1)) == []
        assert faults(books(minutes(1, 60), ahead=ahead, marks=0)) == [], "its cursor may have forgotten it"

    def test_a_slot_to_come_that_was_skipped_is_one_of_the_slots_where_it_is_asked_for(self) -> None:
        """It was a row without a slot: the counts did not add up until its time had come."""
        ahead = (Ahead(self.ONE, 7, is_skipped=True),)
        found = books(minutes(1, 60), skipped=frozenset({self.ONE}), ahead=ahead, marks=1)
        assert audit_slots(found, EVERYTHING) == (61, 0, [])
        assert audit_slots(found, AuditedTime(0, self.ONE)) == (61, 0, [])
        assert audit_slots(found, AuditedTime(0, NOON)) == (60, 0, [])
        assert audit_slots(found, AuditedTime(self.ONE, FOR_EVER)) == (1, 0, [])
        assert audit_slots(found, AuditedTime(self.ONE + 1, FOR_EVER)) == (0, 0, [])

    def test_what_came_too_soon_is_none_of_the_slots(self) -> None:
        ahead = (Ahead(self.ONE, 7, is_skipped=False),)
        assert audit_slots(books(minutes(1, 60), ahead=ahead), EVERYTHING).slots == 60

    def test_what_an_edit_has_left_is_counted_by_the_cursor(self) -> None:
        ahead = (Ahead(self.ONE, 7, is_skipped=False),)
        assert faults(books(minutes(1, 60), ahead=ahead, marks=1)) == []

    def test_what_the_cursor_does_not_count_came_too_soon(self) -> None:
        ahead = (Ahead(self.ONE, 7, is_skipped=False), Ahead(self.ONE + MINUTE, 8, is_skipped=False))
        found = faults(books(minutes(1, 60), ahead=ahead, marks=1))
        assert found == [(Fault.PREMATURE, self.ONE + MINUTE, self.ONE + MINUTE, 1)]

    def test_what_nobody_named_is_found_there_too(self) -> None:
        ahead = (Ahead(self.ONE + SECOND, 7, is_skipped=False),)
        found = faults(books(minutes(1, 60), ahead=ahead, marks=1))
        assert found == [(Fault.UNNAMED, self.ONE + SECOND, self.ONE + SECOND, 1)]

    def test_what_is_to_be_judged_yet_is_counted_without_what_was_skipped(self) -> None:
        found = books(ahead=(Ahead(self.ONE, 7, is_skipped=True),))
        assert unjudged(found, EVERYTHING, NOON + 5 * MINUTE) == 4
        assert unjudged(found, AuditedTime(0, NOON + 3 * MINUTE), NOON + 5 * MINUTE) == 2
        assert unjudged(found, EVERYTHING, NOON) == 0


def a_shape(status: Status, **changes: Any) -> RunShape:
    """A run of that status with an explained fate."""
    is_final = status in FINAL
    reason = Reason.MISSED if is_final and status is not Status.SUCCESS else None
    is_pending, is_running = status is Status.PENDING, status is Status.RUNNING
    shape = RunShape(Kind.SLOT, status, reason, None, False, is_final, is_running, is_pending, status is Status.WAITING)
    return shape._replace(**changes)


class TestFates:
    @pytest.mark.parametrize("status", Status)
    def test_a_run_as_it_should_be_is_explained(self, status: Status) -> None:
        assert unexplained(a_shape(status)) is None

    @pytest.mark.parametrize("hold", [Hold.OVERLAP, Hold.PAUSED, Hold.RETRY])
    def test_what_is_held_needs_no_worker(self, hold: Hold) -> None:
        assert unexplained(a_shape(Status.PENDING, hold=hold, is_ready=False)) is None

    def test_what_was_taken_from_its_worker_is_there_for_another(self) -> None:
        assert unexplained(a_shape(Status.RUNNING, has_worker=False, is_ready=True)) is None

    @pytest.mark.parametrize(
        ("status", "changes", "what"),
        [
            (Status.ERROR, {"reason": None}, "is error for no reason"),
            (Status.SKIPPED, {"reason": None}, "is skipped for no reason"),
            (Status.CANCELLED, {"has_ended": False}, "is cancelled, and has not ended"),
            (Status.SUCCESS, {"reason": Reason.LOST}, "is success, and has a reason why not"),
            (Status.SKIPPED, {"hold": Hold.DUE}, "is skipped, and still waits"),
            (Status.ERROR, {"is_ready": True}, "is error, and still waits"),
            (Status.PENDING, {"has_ended": True}, "is pending, and has ended"),
            (Status.RUNNING, {"reason": Reason.LOST}, "is running, and has a reason why not"),
            (Status.RUNNING, {"has_worker": False}, "is running, and no worker has it"),
            (Status.WAITING, {"asks": False}, "waits for an answer, and asks nothing"),
            (Status.PENDING, {"is_ready": False}, "is pending, and waits for nothing that will come"),
            (Status.PENDING, {"is_ready": False, "hold": Hold.DUE}, "is pending, and waits for nothing that will come"),
        ],
    )
    def test_one_that_is_not_is_told(self, status: Status, changes: dict[str, Any], what: str) -> None:
        assert unexplained(a_shape(status, **changes)) == what
