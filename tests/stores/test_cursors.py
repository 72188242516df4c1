"""Cursors: who is due, in which order, held against whom, and what moving one changes."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from foliot.domain.runs import Hold
from foliot.domain.schedule import State
from foliot.rows import Earliest
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, MINUTE, NOON
from tests.stores.stage import Stage
from tests.stores.waiting import until_somebody_waits


def refs(states: list[State]) -> list[int]:
    return [state.ref for state in states]


def test_earliest_says_for_each_target_in_the_order_asked_when_each_kind_of_work_comes_first(stage: Stage) -> None:
    busy = stage.schedule("busy", "python:busy", wake_at=NOON + 2 * MINUTE)
    stage.schedule("sooner", "python:busy", wake_at=NOON + MINUTE)
    stage.schedule("never", "python:busy", wake_at=None)
    stage.schedule("idle", "python:idle", wake_at=NOON + HOUR)
    target, idle, unknown = stage.target("python:busy"), stage.target("python:idle"), stage.target("python:new")
    for minutes in (4, 3):
        stage.recorded(busy, NOON + minutes, ready_for=target, ready_at=NOON + minutes * MINUTE)
    for wake_at in (NOON + 6 * MINUTE, NOON + 5 * MINUTE, None):
        stage.backfill(busy, target=target, wake_at=wake_at)

    found = stage.read(lambda tx: tx.earliest([idle, target, unknown]))

    assert found == [
        Earliest(idle, NOON + HOUR, None, None),
        Earliest(target, NOON + MINUTE, NOON + 3 * MINUTE, NOON + 5 * MINUTE),
        Earliest(unknown, None, None, None),
    ]


def test_earliest_of_no_target_is_nothing(stage: Stage) -> None:
    assert stage.read(lambda tx: tx.earliest([])) == []


def test_due_takes_the_longest_due_first_and_no_more_than_asked(stage: Stage) -> None:
    late, later = stage.schedule("late", wake_at=NOON - MINUTE), stage.schedule("later", wake_at=NOON - 2 * MINUTE)
    now, as_late = stage.schedule("now", wake_at=NOON), stage.schedule("as late", wake_at=NOON - MINUTE)
    target = stage.target()

    assert refs(stage.write(lambda tx: tx.due(target, NOON, 10))) == [later, late, as_late, now]
    assert refs(stage.write(lambda tx: tx.due(target, NOON, 2))) == [later, late]


def test_due_newest_takes_the_shortest_due_first_and_no_more_than_asked(stage: Stage) -> None:
    late, later = stage.schedule("late", wake_at=NOON - MINUTE), stage.schedule("later", wake_at=NOON - 2 * MINUTE)
    now, as_late = stage.schedule("now", wake_at=NOON), stage.schedule("as late", wake_at=NOON - MINUTE)
    target = stage.target()

    assert refs(stage.write(lambda tx: tx.due_newest(target, NOON, 10))) == [now, as_late, late, later]
    assert refs(stage.write(lambda tx: tx.due_newest(target, NOON, 1))) == [now]


@pytest.mark.parametrize("order", [SqlTransaction.due, SqlTransaction.due_newest])
def test_a_schedule_of_another_target_or_of_later_or_of_never_is_not_due(
    stage: Stage, order: Callable[[SqlTransaction, int, int, int], list[State]]
) -> None:
    stage.schedule("other", "python:other", wake_at=NOON)
    stage.schedule("later", wake_at=NOON + 1)
    stage.schedule("never", wake_at=None)
    target = stage.target()

    assert stage.write(lambda tx: order(tx, target, NOON, 10)) == []


def test_states_come_in_the_order_of_their_keys_without_those_that_there_are_not(stage: Stage) -> None:
    first, second = stage.schedule("first"), stage.schedule("second")
    wanted = [second, 999, first]

    for found in (
        stage.write(lambda tx: tx.states(wanted)),
        stage.write(lambda tx: tx.states_free(wanted)),
        stage.read(lambda tx: tx.states_seen(wanted)),
    ):
        assert refs(found) == [first, second]


def test_a_state_is_what_was_inserted(stage: Stage) -> None:
    ref = stage.schedule(wake_at=NOON + MINUTE)

    assert stage.state(ref) == State(
        ref=ref,
        version=1,
        target=stage.target(),
        swept_to=NOON,
        wake_at=NOON + MINUTE,
        pause_from=None,
        pause_to=None,
        running=0,
        held=0,
        remaining=None,
        marks=0,
        last_result=None,
        last_failure=None,
        refusals=0,
    )


def everything_else(state: State) -> State:
    """The state with another value in every column but its key."""
    changed = [10 + number for number in range(len(State._fields) - 1)]
    return State(state.ref, *changed)


def test_move_saves_all_that_moves_and_leaves_version_and_target(stage: Stage) -> None:
    ref, other = stage.schedule(), stage.schedule("other")
    before, bystander = stage.state(ref), stage.state(other)

    stage.write(lambda tx: tx.move([everything_else(before)]))

    assert stage.state(ref) == everything_else(before)._replace(version=before.version, target=before.target)
    assert stage.state(other) == bystander


def test_move_can_take_everything_away_again(stage: Stage) -> None:
    ref = stage.schedule(wake_at=NOON)
    before = stage.state(ref)
    stage.write(lambda tx: tx.move([everything_else(before)]))

    stage.write(lambda tx: tx.move([before]))

    assert stage.state(ref) == before


def test_advance_saves_cursor_wake_up_and_number_of_runs_and_leaves_the_rest(stage: Stage) -> None:
    ref, other = stage.schedule(wake_at=NOON), stage.schedule("other")
    before, bystander = stage.state(ref), stage.state(other)
    changed = everything_else(before)

    stage.write(lambda tx: tx.advance([changed]))

    expected = before._replace(swept_to=changed.swept_to, wake_at=changed.wake_at, running=changed.running)
    assert stage.state(ref) == expected
    assert stage.state(other) == bystander


def test_advance_can_leave_nothing_to_come(stage: Stage) -> None:
    ref = stage.schedule(wake_at=NOON)
    stage.write(lambda tx: tx.advance([stage.state(ref)._replace(wake_at=None)]))
    assert stage.state(ref).wake_at is None


def test_free_saves_the_number_of_runs_and_leaves_the_rest(stage: Stage) -> None:
    ref = stage.schedule(wake_at=NOON)
    before = stage.state(ref)

    stage.write(lambda tx: tx.free([everything_else(before)]))

    assert stage.state(ref) == before._replace(running=everything_else(before).running)


def test_keep_saves_counts_and_memories_and_leaves_cursor_pause_and_wake_up(stage: Stage) -> None:
    ref = stage.schedule(wake_at=NOON)
    before = stage.state(ref)
    changed = everything_else(before)

    stage.write(lambda tx: tx.keep([changed]))

    assert stage.state(ref) == before._replace(
        running=changed.running,
        held=changed.held,
        remaining=changed.remaining,
        marks=changed.marks,
        last_result=changed.last_result,
        last_failure=changed.last_failure,
        refusals=changed.refusals,
    )


def test_many_states_move_at_once_each_to_its_own_place(stage: Stage) -> None:
    moved = [stage.state(stage.schedule(f"s{number}"))._replace(wake_at=NOON + number) for number in range(20)]

    stage.write(lambda tx: tx.move(moved))

    assert stage.read(lambda tx: tx.states_seen(state.ref for state in moved)) == moved


def test_set_version_changes_what_the_cursor_knows_of_the_configuration(stage: Stage) -> None:
    ref = stage.schedule()
    before = stage.state(ref)

    stage.write(lambda tx: tx.set_version(ref, 7, 3))

    assert stage.state(ref) == before._replace(version=7, target=3)


def test_what_one_transaction_holds_is_left_out_of_another_s_due(postgresql: Stage) -> None:
    for number in range(4):
        postgresql.schedule(f"s{number}", wake_at=NOON + number)
    target = postgresql.target()

    def hold_two(tx: SqlTransaction) -> None:
        held = refs(tx.due(target, NOON + MINUTE, 2))
        others = refs(postgresql.write(lambda other: other.due(target, NOON + MINUTE, 10)))
        newest = refs(postgresql.write(lambda other: other.due_newest(target, NOON + MINUTE, 10)))
        everybody = sorted(held + others)
        assert len(everybody) == 4
        assert newest == others[::-1]
        assert refs(postgresql.write(lambda other: other.states_free(everybody))) == others
        assert refs(postgresql.write(lambda other: other.states_seen(everybody))) == everybody

    postgresql.write(hold_two)


def test_ready_runs_that_one_transaction_holds_are_left_out_of_another_s(postgresql: Stage) -> None:
    schedule, target = postgresql.schedule(), postgresql.target()
    first, second = (
        postgresql.recorded(schedule, NOON + number, ready_for=target, ready_at=NOON + number, hold=Hold.DUE)
        for number in range(2)
    )

    def hold_one(tx: SqlTransaction) -> None:
        assert [run.ref for run in tx.ready(target, NOON + MINUTE, 1)] == [first]
        others = postgresql.write(lambda other: other.ready(target, NOON + MINUTE, 10))
        assert [run.ref for run in others] == [second]

    postgresql.write(hold_one)


def test_states_waits_for_whoever_holds_them_and_sees_what_was_written(postgresql: Stage) -> None:
    ref = postgresql.schedule()

    with ThreadPoolExecutor() as threads:

        def hold(tx: SqlTransaction) -> None:
            (state,) = tx.states([ref])
            waiting.append(threads.submit(postgresql.write, lambda other: other.states([ref])))
            until_somebody_waits(postgresql.url)
            tx.move([state._replace(swept_to=NOON + HOUR)])

        waiting: list[Future[list[State]]] = []
        postgresql.write(hold)
        (found,) = waiting[0].result(timeout=20)

    assert found.swept_to == NOON + HOUR


def test_a_schedule_that_was_swept_while_another_looked_is_not_due_twice(postgresql: Stage) -> None:
    ref, target = postgresql.schedule(wake_at=NOON), postgresql.target()

    def look(tx: SqlTransaction) -> list[State]:
        tx.states_seen([ref])
        postgresql.write(lambda other: other.move([other.states([ref])[0]._replace(wake_at=NOON + HOUR)]))
        return tx.due(target, NOON, 10)

    assert postgresql.write(look) == []
