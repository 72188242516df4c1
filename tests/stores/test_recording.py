"""Recording: rows are what was given, a slot has one row for each attempt, and only known words are written."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from foliot.domain.backfill import Direction, Which
from foliot.domain.errors import Unavailable
from foliot.domain.generation import Gap
from foliot.domain.policies import Overlap
from foliot.domain.runs import Hold, Kind, Order, Reason, Status
from foliot.rows import RunRow
from foliot.stores.transaction import SqlTransaction
from tests.builders import DAY, MINUTE, NOON, a_new_cursor, a_new_run, a_new_schedule, a_started_run
from tests.databases import INTEGRITY_ERRORS
from tests.stores.stage import Stage

# PostgreSQL takes a second row for a collision, and tries again a few times before it gives up.
REFUSALS = (*INTEGRITY_ERRORS, Unavailable)


def test_a_run_that_starts_with_its_slot_is_running_under_its_first_token(stage: Stage) -> None:
    schedule = stage.schedule()

    ref = stage.running(schedule, NOON, worker=5, due_at=NOON + 1, occupies=1, version=3, started_at=NOON + 2)

    assert stage.row(ref) == RunRow(
        ref=ref,
        schedule_ref=schedule,
        nominal_at=NOON,
        due_at=NOON + 1,
        kind=Kind.SLOT,
        backfill=0,
        attempt=1,
        status=Status.RUNNING,
        reason=None,
        hold=None,
        occupies=1,
        overlap=None,
        orders=None,
        grant_ref=1,
        worker=5,
        token=1,
        losses=0,
        rounds=0,
        retry_of=None,
        version=3,
        created_at=NOON,
        started_at=NOON + 2,
        ended_at=None,
        input=None,
        result=None,
        error=None,
        progress=None,
    )
    assert stage.readiness(ref) == (None, None)


def test_a_recorded_run_has_everything_that_was_given_and_no_token_yet(stage: Stage) -> None:
    schedule = stage.schedule()
    given = a_new_run(
        7,
        schedule,
        NOON,
        due_at=NOON + 1,
        kind=Kind.BACKFILL,
        backfill=4,
        attempt=2,
        status=Status.SKIPPED,
        reason=Reason.OVERLAP,
        hold=Hold.RETRY,
        occupies=1,
        overlap=Overlap.BUFFER_ONE,
        ready_for=11,
        ready_at=NOON + 2,
        retry_of=6,
        version=3,
        created_at=NOON + 3,
        ended_at=NOON + 4,
        input='{"a":1}',
    )

    stage.write(lambda tx: tx.record([given]))

    row = stage.row(7)
    readiness = {"ready_for": 11, "ready_at": NOON + 2}
    assert {name: value for name, value in given._asdict().items() if name not in readiness} == {
        name: value for name, value in row._asdict().items() if name in given._fields
    }
    assert stage.readiness(7) == (11, NOON + 2)
    assert (row.token, row.losses, row.worker, row.orders, row.started_at) == (0, 0, None, None, None)
    assert (row.result, row.error, row.progress) == (None, None, None)


def test_many_runs_are_recorded_at_once_and_none_at_all_is_no_mistake(stage: Stage) -> None:
    schedule = stage.schedule()

    def act(tx: SqlTransaction) -> None:
        tx.record([a_new_run(ref, schedule, NOON + ref) for ref in range(1, 301)])
        tx.start_new([a_started_run(ref, schedule, NOON + ref) for ref in range(301, 601)])
        for nothing in (tx.record, tx.start_new, tx.record_gaps, tx.start, tx.make_ready, tx.hold, tx.end, tx.lose):
            nothing([])

    stage.write(act)

    assert stage.refs() == set(range(1, 601))
    assert {stage.row(ref).nominal_at - NOON for ref in (1, 300, 301, 600)} == {1, 300, 301, 600}


def test_gaps_are_recorded_as_they_are(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    missed, paused = Gap(NOON, NOON + DAY, 1440, Reason.MISSED), Gap(NOON + DAY, NOON + 2 * DAY, 99, Reason.PAUSED)

    stage.write(lambda tx: tx.record_gaps([(schedule, *paused, NOON), (schedule, *missed, NOON), (other, *missed, 0)]))

    assert [gap for _, gap in stage.read(lambda tx: tx.gaps_of(schedule, (0, 0), 10))] == [missed, paused]


def test_a_second_row_for_the_same_attempt_at_a_slot_is_refused_and_nothing_of_its_transaction_is_left(
    stage: Stage,
) -> None:
    schedule = stage.schedule()
    first = stage.running(schedule, NOON)
    before = stage.state(schedule)

    def act(tx: SqlTransaction) -> None:
        tx.register("a worker of the same transaction")
        tx.move([before._replace(swept_to=NOON + DAY)])
        tx.record([a_new_run(tx.next_ref(), schedule, NOON + MINUTE), a_new_run(tx.next_ref(), schedule, NOON)])

    with pytest.raises(REFUSALS):
        stage.write(act)

    assert stage.refs() == {first}
    assert stage.state(schedule) == before
    assert stage.read(lambda tx: tx._all("SELECT count(*) FROM workers")) == [(0,)]


def test_a_slot_that_starts_twice_is_refused(stage: Stage) -> None:
    schedule = stage.schedule()
    first = stage.running(schedule, NOON)

    with pytest.raises(REFUSALS):
        stage.running(schedule, NOON, worker=2)

    assert stage.refs() == {first}
    assert stage.row(first).worker == 1


@pytest.mark.parametrize(
    "difference",
    [{"kind": Kind.MANUAL}, {"kind": Kind.BACKFILL, "backfill": 1}, {"attempt": 2}, {"nominal_at": NOON + 1}],
    ids=str,
)
def test_another_attempt_kind_backfill_or_moment_has_a_row_of_its_own(stage: Stage, difference: dict[str, Any]) -> None:
    schedule = stage.schedule()
    first = stage.recorded(schedule)

    stage.write(lambda tx: tx.record([a_new_run(first + 1, schedule)._replace(**difference)]))

    assert stage.refs() == {first, first + 1}


def test_two_schedules_have_the_same_slot(stage: Stage) -> None:
    assert len({stage.recorded(stage.schedule("one")), stage.recorded(stage.schedule("other"))}) == 2


def test_a_key_is_given_to_one_run_only(stage: Stage) -> None:
    schedule = stage.schedule()
    ref = stage.recorded(schedule)

    with pytest.raises(REFUSALS):
        stage.write(lambda tx: tx.record([a_new_run(ref, schedule, NOON + 1)]))


NOWHERE = 404


@pytest.mark.parametrize(
    "orphan",
    [
        lambda tx: tx.record_gaps([(NOWHERE, NOON, NOON, 1, Reason.MISSED, NOON)]),
        lambda tx: tx.insert_schedules([a_new_schedule(1, NOWHERE)], [a_new_cursor(1, NOWHERE)]),
        lambda tx: tx.insert_schedules([], [a_new_cursor(NOWHERE, 1)]),
        lambda tx: tx.insert_backfill(
            schedule_ref=NOWHERE,
            target=1,
            first=1,
            last=1,
            which=Which.ALL,
            direction=Direction.OLDEST_FIRST,
            concurrency=1,
            done_to=0,
            created_at=NOON,
        ),
    ],
    ids=["gap", "schedule", "cursor", "backfill"],
)
def test_nothing_belongs_to_what_there_is_not(stage: Stage, orphan: Callable[[SqlTransaction], object]) -> None:
    with pytest.raises(INTEGRITY_ERRORS):
        stage.write(orphan)


def test_a_schedule_with_runs_is_not_removed_from_under_them(stage: Stage) -> None:
    stage.recorded(stage.schedule())

    with pytest.raises(INTEGRITY_ERRORS):
        stage.write(lambda tx: tx._do("DELETE FROM schedules"))


WORDS: list[tuple[str, str, type[StrEnum]]] = [
    ("runs", "status", Status),
    ("runs", "kind", Kind),
    ("runs", "reason", Reason),
    ("runs", "hold", Hold),
    ("runs", "overlap", Overlap),
    ("runs", "orders", Order),
    ("backfills", "which", Which),
    ("backfills", "direction", Direction),
]


def a_row_of(stage: Stage, table: str) -> None:
    schedule = stage.schedule()
    if table == "runs":
        stage.recorded(schedule)
    elif table == "backfills":
        stage.backfill(schedule)
    else:
        stage.write(lambda tx: tx.record_gaps([(schedule, NOON, NOON, 1, Reason.MISSED, NOON)]))


def say(stage: Stage, table: str, column: str, word: str) -> None:
    stage.write(lambda tx: tx._do(f"UPDATE {table} SET {column} = ?", word))


@pytest.mark.parametrize(("table", "column", "words"), [*WORDS], ids=str)
def test_every_word_of_a_closed_list_is_written(stage: Stage, table: str, column: str, words: type[StrEnum]) -> None:
    a_row_of(stage, table)

    for word in words:
        say(stage, table, column, word)

        assert stage.read(lambda tx: tx._all(f"SELECT {column} FROM {table}")) == [(word,)]


@pytest.mark.parametrize(("table", "column"), [*((table, column) for table, column, _ in WORDS), ("gaps", "reason")])
def test_a_word_that_is_in_no_list_is_refused(stage: Stage, table: str, column: str) -> None:
    a_row_of(stage, table)

    for word in ("Success", "", "overlap ", "nonsense"):
        with pytest.raises(INTEGRITY_ERRORS):
            say(stage, table, column, word)


def test_only_slots_that_were_missed_or_paused_make_a_gap(stage: Stage) -> None:
    a_row_of(stage, "gaps")
    say(stage, "gaps", "reason", Reason.PAUSED)
    say(stage, "gaps", "reason", Reason.MISSED)

    for reason in frozenset(Reason) - {Reason.MISSED, Reason.PAUSED}:
        with pytest.raises(INTEGRITY_ERRORS):
            say(stage, "gaps", "reason", reason)


def test_a_number_is_a_number_on_sqlite_too(stage: Stage) -> None:
    schedule = stage.schedule()

    with pytest.raises(Exception, match=r"cannot store TEXT value|invalid input syntax"):
        stage.write(lambda tx: tx.record([a_new_run(1, schedule, due_at="tomorrow")]))
