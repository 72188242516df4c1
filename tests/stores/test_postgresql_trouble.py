"""PostgreSQL in trouble: cut connections, deadlocks, collisions and locks that nobody lets go of."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import psycopg
import pytest

from foliot.domain.errors import Unavailable
from foliot.domain.schedule import State
from foliot.stores.transaction import SqlTransaction
from tests.builders import NOON, a_new_run
from tests.databases import DRIVER_ERRORS
from tests.stores.stage import Stage


def cut_all_connections(url: str) -> int:
    """End every session of the database but this one, as a restart or a failover does."""
    text = (
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as cx:
        row = cx.execute(text).fetchone()
    return 0 if row is None else int(row[0])


@pytest.mark.parametrize("use", [Stage.write, Stage.read])
def test_after_the_connections_were_cut_at_most_one_call_is_refused(
    postgresql: Stage, use: Callable[[Stage, Callable[[SqlTransaction], list[State]]], list[State]]
) -> None:
    ref = postgresql.schedule()
    with ThreadPoolExecutor(3) as threads:
        together = Barrier(3)
        list(threads.map(lambda _: postgresql.read(lambda tx: together.wait()), range(3)))
    assert cut_all_connections(postgresql.url) >= 3

    with suppress(Unavailable):
        use(postgresql, lambda tx: tx.states_seen([ref]))

    assert len(use(postgresql, lambda tx: tx.states_seen([ref]))) == 1
    assert postgresql.state(ref).ref == ref


def test_a_transaction_that_loses_its_connection_leaves_nothing_and_the_next_one_works(postgresql: Stage) -> None:
    schedule = postgresql.schedule()

    def act(tx: SqlTransaction) -> None:
        tx.record([a_new_run(tx.next_ref(), schedule)])
        cut_all_connections(postgresql.url)
        tx.states([schedule])

    with pytest.raises(Unavailable, match="cannot be used now"):
        postgresql.write(act)

    assert postgresql.refs() == set()
    assert postgresql.recorded(schedule)


def test_of_two_transactions_that_wait_for_each_other_both_succeed(postgresql: Stage) -> None:
    one, other = postgresql.schedule("one"), postgresql.schedule("other")
    both_hold_one = Barrier(2)
    tries = []

    def add(first: int, second: int) -> None:
        is_first_try = [True]

        def act(tx: SqlTransaction) -> None:
            tries.append(first)
            tx.cx.exec_driver_sql("SET LOCAL deadlock_timeout = '50ms'")
            (mine,) = tx.states([first])
            if is_first_try.pop() if is_first_try else False:
                both_hold_one.wait(timeout=20)
            (theirs,) = tx.states([second])
            tx.keep([state._replace(running=state.running + 1) for state in (mine, theirs)])

        postgresql.write(act)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, (one, other), (other, one)))

    assert len(tries) >= 3
    assert [postgresql.state(ref).running for ref in (one, other)] == [2, 2]


def test_a_transaction_that_cannot_be_serialised_is_run_again(postgresql: Stage) -> None:
    ref = postgresql.schedule()
    tries = []

    def add(tx: SqlTransaction) -> None:
        tx.cx.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        (state,) = tx.states_seen([ref])
        tries.append(state.running)
        if len(tries) == 1:
            postgresql.write(lambda other: other.keep([state._replace(running=10)]))
        tx.keep([state._replace(running=state.running + 1)])

    postgresql.write(add)

    assert tries == [0, 10]
    assert postgresql.state(ref).running == 11


@pytest.mark.parametrize("use", [Stage.write, Stage.read])
def test_a_lock_that_nobody_lets_go_of_makes_the_call_unavailable_and_keeps_the_cause(
    postgresql: Stage, use: Callable[[Stage, Callable[[SqlTransaction], object]], object]
) -> None:
    ref = postgresql.schedule()
    tries = []

    def ask(tx: SqlTransaction) -> None:
        tries.append(ref)
        tx.cx.exec_driver_sql("SET LOCAL lock_timeout = '5ms'")
        tx.states([ref])

    def hold(tx: SqlTransaction) -> None:
        tx.states([ref])
        with pytest.raises(Unavailable, match="too contended") as refusal:
            use(postgresql, ask)
        assert isinstance(refusal.value.__cause__, DRIVER_ERRORS)

    postgresql.write(hold)

    assert len(tries) == 8
    use(postgresql, ask)


def test_a_row_that_will_always_collide_is_given_up_and_the_constraint_is_named(postgresql: Stage) -> None:
    schedule = postgresql.schedule()
    postgresql.recorded(schedule, NOON)

    with pytest.raises(Unavailable) as refusal:
        postgresql.recorded(schedule, NOON)

    assert "runs_slot" in str(refusal.value.__cause__)
