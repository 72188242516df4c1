"""Backfills: kept as asked for, due in order, held by one, saved as they go on."""

from foliot.domain.backfill import Direction, Which
from foliot.rows import BackfillRow
from foliot.stores.transaction import SqlTransaction
from tests.builders import MINUTE, NOON
from tests.stores.stage import Stage


def the_backfill(stage: Stage, ref: int) -> BackfillRow:
    (row,) = stage.write(lambda tx: tx.backfills([ref]))
    return row


def test_a_backfill_is_what_was_asked_for_and_has_not_begun(stage: Stage) -> None:
    schedule = stage.schedule()

    ref = stage.backfill(
        schedule,
        target=9,
        first=100,
        last=200,
        which=Which.FAILED,
        direction=Direction.NEWEST_FIRST,
        concurrency=3,
        done_to=201,
        wake_at=NOON,
        input="[1]",
        created_at=NOON + 1,
    )

    assert the_backfill(stage, ref) == BackfillRow(
        ref=ref,
        schedule_ref=schedule,
        target=9,
        first=100,
        last=200,
        which="failed",
        direction="newest_first",
        concurrency=3,
        running=0,
        started=0,
        done_to=201,
        wake_at=NOON,
        input="[1]",
        created_at=NOON + 1,
        ended_at=None,
        cancelled_at=None,
    )


def test_backfills_come_in_the_order_of_their_keys(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    first, stranger, second = stage.backfill(schedule), stage.backfill(other), stage.backfill(schedule)

    assert [row.ref for row in stage.write(lambda tx: tx.backfills([second, 404, first]))] == [first, second]
    assert [row.ref for row in stage.read(lambda tx: tx.list_backfills(schedule))] == [first, second]
    assert [row.ref for row in stage.read(lambda tx: tx.list_backfills(other))] == [stranger]


def test_due_backfills_of_a_target_come_longest_due_first_and_no_more_than_asked(stage: Stage) -> None:
    schedule = stage.schedule()
    late = stage.backfill(schedule, target=9, wake_at=NOON)
    later = stage.backfill(schedule, target=9, wake_at=NOON - MINUTE)
    stage.backfill(schedule, target=9, wake_at=NOON + 1)
    stage.backfill(schedule, target=9, wake_at=None)
    stage.backfill(schedule, target=8, wake_at=NOON)

    assert [row.ref for row in stage.write(lambda tx: tx.due_backfills(9, NOON, 10))] == [later, late]
    assert [row.ref for row in stage.write(lambda tx: tx.due_backfills(9, NOON, 1))] == [later]


def test_a_due_backfill_that_one_transaction_holds_is_left_out_of_another_s(postgresql: Stage) -> None:
    schedule = postgresql.schedule()
    for _ in range(2):
        postgresql.backfill(schedule, target=9, wake_at=NOON)

    def hold_one(tx: SqlTransaction) -> None:
        (held,) = tx.due_backfills(9, NOON, 1)
        (other,) = postgresql.write(lambda others: others.due_backfills(9, NOON, 10))
        assert other.ref != held.ref

    postgresql.write(hold_one)


def test_a_backfill_is_saved_whole_and_alone(stage: Stage) -> None:
    schedule = stage.schedule()
    ref, bystander = stage.backfill(schedule, wake_at=NOON), stage.backfill(schedule)
    before, other = the_backfill(stage, ref), the_backfill(stage, bystander)
    changed = before._replace(running=2, started=5, done_to=7, wake_at=None, ended_at=NOON + 1)

    stage.write(lambda tx: tx.save_backfill(changed))

    assert the_backfill(stage, ref) == changed
    assert the_backfill(stage, bystander) == other


def test_all_backfills_of_a_schedule_follow_it_to_its_new_target(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    mine, stranger = stage.backfill(schedule, target=9), stage.backfill(other, target=9)

    stage.write(lambda tx: tx.retarget_backfills(schedule, 10))

    assert (the_backfill(stage, mine).target, the_backfill(stage, stranger).target) == (10, 9)
