"""What is read back from the ledger, and what is removed from it."""

import pytest

from foliot.domain.backfill import Attempted
from foliot.domain.generation import Gap
from foliot.domain.runs import Kind, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.rows import Finish, RunFilter
from tests.builders import HOUR, MINUTE, NOON
from tests.stores.stage import Stage


def test_marked_are_the_later_slots_that_have_their_row_already(stage: Stage) -> None:
    schedule = stage.schedule()
    for nominal_at in (NOON - MINUTE, NOON, NOON + 1, NOON + HOUR):
        stage.ended(schedule, nominal_at, Status.SKIPPED)
    stage.manual(schedule, NOON + 2)
    stage.recorded(schedule, NOON + 3, kind=Kind.BACKFILL, backfill=1)
    stage.ended(stage.schedule("other"), NOON + 4)

    assert sorted(stage.read(lambda tx: tx.marked(schedule, NOON))) == [NOON + 1, NOON + HOUR]


def test_the_last_trigger_is_the_latest_at_or_after_that_instant(stage: Stage) -> None:
    schedule = stage.schedule()
    for nominal_at in (NOON, NOON + 2, NOON + 1):
        stage.manual(schedule, nominal_at)
    stage.recorded(schedule, NOON + 3)
    stage.manual(stage.schedule("other"), NOON + 4)

    assert stage.read(lambda tx: tx.last_manual(schedule, NOON)) == NOON + 2
    assert stage.read(lambda tx: tx.last_manual(schedule, NOON + 2)) == NOON + 2
    assert stage.read(lambda tx: tx.last_manual(schedule, NOON + 3)) is None


def test_endings_are_result_and_error_of_those_that_there_are(stage: Stage) -> None:
    schedule = stage.schedule()
    won, lost, running = (stage.running(schedule, NOON + number) for number in range(3))
    reports = [
        Finish(won, 1, Outcome(Status.SUCCESS, result="[1]"), NOON),
        Finish(lost, 1, Outcome(Status.ERROR, Reason.INTERNAL, error="broke"), NOON),
    ]
    assert stage.write(lambda tx: tx.finish(reports))

    found = stage.read(lambda tx: tx.endings([won, lost, running, 404]))

    assert found == {won: ("[1]", None), lost: (None, "broke"), running: (None, None)}


def test_a_run_is_found_by_its_slot_and_attempt(stage: Stage) -> None:
    schedule = stage.schedule()
    first = stage.ended(schedule)
    again = stage.recorded(schedule, attempt=2)
    by_hand = stage.manual(schedule, NOON)
    filled = stage.recorded(schedule, kind=Kind.BACKFILL, backfill=3)

    def found(kind: Kind, backfill: int, attempt: int, nominal_at: int = NOON, owner: int = schedule) -> int | None:
        row = stage.read(lambda tx: tx.run_at(owner, nominal_at, kind, backfill, attempt))
        return None if row is None else row.ref

    assert found(Kind.SLOT, 0, 1) == first
    assert found(Kind.SLOT, 0, 2) == again
    assert found(Kind.MANUAL, 0, 1) == by_hand
    assert found(Kind.BACKFILL, 3, 1) == filled
    assert found(Kind.BACKFILL, 4, 1) is None
    assert found(Kind.SLOT, 0, 3) is None
    assert found(Kind.SLOT, 0, 1, nominal_at=NOON + 1) is None
    assert found(Kind.SLOT, 0, 1, owner=404) is None
    assert stage.read(lambda tx: tx.run_at(schedule, NOON, Kind.SLOT, 0, 1)) == stage.row(first)


def test_runs_at_a_moment_come_in_the_order_they_were_recorded(stage: Stage) -> None:
    schedule = stage.schedule()
    last = stage.recorded(schedule, created_at=NOON + 2)
    first = stage.manual(schedule, NOON, created_at=NOON)
    second = stage.recorded(schedule, attempt=2, created_at=NOON)
    stage.recorded(schedule, NOON + 1)
    stage.recorded(stage.schedule("other"))

    assert stage.read(lambda tx: tx.runs_at(schedule, NOON)) == [stage.row(ref) for ref in (first, second, last)]


def test_attempted_are_the_runs_of_a_range_both_ends_included_in_the_order_they_were_recorded(stage: Stage) -> None:
    schedule = stage.schedule()
    stage.ended(schedule, NOON + 2, Status.ERROR, created_at=NOON + 1)
    stage.ended(schedule, NOON, Status.SUCCESS, created_at=NOON + 2)
    stage.recorded(schedule, NOON + 2, attempt=2, created_at=NOON + 3)
    stage.ended(schedule, NOON - 1)
    stage.ended(schedule, NOON + 3)
    stage.ended(stage.schedule("other"), NOON)

    assert stage.read(lambda tx: tx.attempted(schedule, NOON, NOON + 2)) == [
        Attempted(NOON + 2, Status.ERROR),
        Attempted(NOON, Status.SUCCESS),
        Attempted(NOON + 2, Status.PENDING),
    ]


def test_a_gap_covers_both_of_its_ends_and_nothing_beyond(stage: Stage) -> None:
    schedule = stage.schedule()
    gap = Gap(NOON, NOON + HOUR, 60, Reason.MISSED)
    stage.write(lambda tx: tx.record_gaps([(schedule, *gap, NOON)]))

    def found(nominal_at: int, owner: int = schedule) -> Gap | None:
        return stage.read(lambda tx: tx.gap_at(owner, nominal_at))

    assert found(NOON) == found(NOON + MINUTE) == found(NOON + HOUR) == gap
    assert found(NOON - 1) is None
    assert found(NOON + HOUR + 1) is None
    assert found(NOON, owner=404) is None


def test_of_gaps_that_lie_over_each_other_the_later_one_speaks(stage: Stage) -> None:
    schedule = stage.schedule()
    long, short = Gap(NOON, NOON + HOUR, 60, Reason.MISSED), Gap(NOON + MINUTE, NOON + HOUR, 59, Reason.PAUSED)
    stage.write(lambda tx: tx.record_gaps([(schedule, *gap, NOON) for gap in (short, long)]))

    assert stage.read(lambda tx: tx.gap_at(schedule, NOON + HOUR)) == short


def test_a_gap_goes_when_its_last_slot_is_before_that_moment(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    old, ending = Gap(NOON - HOUR, NOON - 1, 60, Reason.MISSED), Gap(NOON - HOUR, NOON, 60, Reason.MISSED)
    stage.write(lambda tx: tx.record_gaps([(schedule, *old, 0), (schedule, *ending, 0), (other, *old, 0)]))

    assert stage.write(lambda tx: tx.remove_gaps(schedule, NOON)) == 1
    assert [gap for _, gap in stage.read(lambda tx: tx.gaps_of(schedule, (0, 0), 10))] == [ending]
    assert [gap for _, gap in stage.read(lambda tx: tx.gaps_of(other, (0, 0), 10))] == [old]


def listed(stage: Stage, wanted: RunFilter) -> list[int]:
    return [row.ref for row in stage.read(lambda tx: tx.list_runs(wanted))]


def test_runs_of_a_schedule_are_listed_newest_moment_first_those_of_all_newest_row_first(stage: Stage) -> None:
    one, other = stage.schedule("one"), stage.schedule("other")
    later = stage.recorded(one, NOON + MINUTE)
    earlier = stage.recorded(one, NOON)
    again = stage.recorded(one, NOON, attempt=2, created_at=NOON + 1)
    stranger = stage.recorded(other, NOON - HOUR)

    assert listed(stage, RunFilter(schedule_ref=one)) == [later, again, earlier]
    assert listed(stage, RunFilter()) == [stranger, again, earlier, later]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunFilter(status=Status.SKIPPED), ["paused", "missed"]),
        (RunFilter(reason=Reason.PAUSED), ["paused"]),
        (RunFilter(kind=Kind.MANUAL), ["manual"]),
        (RunFilter(backfill=2), ["filled"]),
        (RunFilter(since=NOON + 2), ["filled", "manual", "paused"]),
        (RunFilter(until=NOON + 1), ["missed", "success"]),
        (RunFilter(since=NOON + 1, until=NOON + 2), ["paused", "missed"]),
        (RunFilter(status=Status.SKIPPED, reason=Reason.MISSED, kind=Kind.SLOT, since=NOON), ["missed"]),
        (RunFilter(status=Status.RUNNING), []),
        (RunFilter(kind=Kind.SLOT, backfill=2), []),
    ],
    ids=str,
)
def test_a_list_has_the_runs_that_every_condition_names(stage: Stage, wanted: RunFilter, expected: list[str]) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    runs = {
        "success": stage.ended(schedule, NOON),
        "missed": stage.ended(schedule, NOON + 1, Status.SKIPPED, reason=Reason.MISSED),
        "paused": stage.ended(schedule, NOON + 2, Status.SKIPPED, reason=Reason.PAUSED),
        "manual": stage.manual(schedule, NOON + 3),
        "filled": stage.recorded(schedule, NOON + 4, kind=Kind.BACKFILL, backfill=2),
    }
    stage.ended(other, NOON + 1, Status.SKIPPED, reason=Reason.MISSED)

    assert listed(stage, wanted._replace(schedule_ref=schedule)) == [runs[name] for name in expected]


@pytest.mark.parametrize("of_one", [True, False], ids=["of one schedule", "of all"])
def test_pages_side_by_side_are_the_whole_list(stage: Stage, of_one: bool) -> None:
    schedule = stage.schedule()
    runs = [stage.recorded(schedule, NOON + number // 3, attempt=number) for number in range(10)]
    wanted = RunFilter(schedule_ref=schedule if of_one else None)

    pages = [listed(stage, wanted._replace(limit=4, offset=offset)) for offset in (0, 4, 8, 12)]

    assert [len(page) for page in pages] == [4, 4, 2, 0]
    assert [ref for page in pages for ref in page] == listed(stage, wanted) == runs[::-1]


def test_prunable_rows_come_in_the_order_of_their_keys_from_beyond_one_and_before_a_moment(stage: Stage) -> None:
    schedule = stage.schedule()
    first = stage.ended(schedule, NOON, created_at=NOON - 3)
    second = stage.ended(schedule, NOON + 1, Status.ERROR, created_at=NOON - 2, ended_at=NOON + 5)
    stage.ended(schedule, NOON + 2, created_at=NOON)
    third = stage.recorded(schedule, NOON + 3, created_at=NOON - 1)

    second_row = (second, schedule, NOON + 1, Status.ERROR, NOON + 5)
    third_row = (third, schedule, NOON + 3, Status.PENDING, None)
    assert stage.read(lambda tx: tx.prunable(first, NOON, 10)) == [second_row, third_row]
    assert stage.read(lambda tx: tx.prunable(first, NOON, 1)) == [second_row]
    assert stage.read(lambda tx: tx.prunable(third, NOON, 10)) == []


def test_newest_runs_from_is_the_moment_of_the_run_with_that_many_newer_ones(stage: Stage) -> None:
    schedule = stage.schedule()
    for nominal_at in (NOON, NOON + 2, NOON + 1):
        stage.ended(schedule, nominal_at)
    stage.ended(stage.schedule("other"), NOON + HOUR)

    assert stage.read(lambda tx: [tx.newest_runs_from(schedule, offset) for offset in range(4)]) == [
        NOON + 2,
        NOON + 1,
        NOON,
        None,
    ]


def test_what_is_removed_is_gone_and_counted(stage: Stage) -> None:
    schedule = stage.schedule()
    runs = [stage.ended(schedule, NOON + number) for number in range(3)]

    assert stage.write(lambda tx: tx.remove([*runs[:2], 404])) == 2
    assert stage.refs() == {runs[2]}
    assert stage.write(lambda tx: tx.remove([])) == 0
