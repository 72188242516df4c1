"""Transactions: whole or not at all, at one instant, with keys of their own, heard only when they commit."""

from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import psycopg
import pytest
from sqlalchemy.engine import make_url

from foliot.clock import SystemClock
from foliot.domain.errors import Unavailable
from foliot.domain.runs import Reason
from foliot.rows import RunFilter
from foliot.stores.database import open_database
from foliot.stores.listener import Listener
from foliot.stores.tables import metadata
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, NOON, a_new_run
from tests.databases import DRIVER_ERRORS
from tests.stores.stage import Stage


class _MishapError(Exception):
    pass


def counts(stage: Stage) -> list[int]:
    """How many rows each table has."""
    return stage.read(lambda tx: [tx._all(f"SELECT count(*) FROM {table}")[0][0] for table in metadata.sorted_tables])


def test_a_transaction_that_raises_leaves_nothing(stage: Stage) -> None:
    schedule = stage.schedule()
    running = stage.running(schedule)
    before, run, state = counts(stage), stage.row(running), stage.state(schedule)

    def act(tx: SqlTransaction) -> None:
        tx.target_refs(["python:new"])
        tx.record([a_new_run(tx.next_ref(), schedule, NOON + 1)])
        tx.record_gaps([(schedule, NOON, NOON, 1, Reason.MISSED, NOON)])
        tx.end([("cancelled", "terminated", NOON, running)])
        tx.move([state._replace(swept_to=NOON + HOUR)])
        tx.register("worker")
        raise _MishapError

    with pytest.raises(_MishapError):
        stage.write(act)

    assert counts(stage) == before
    assert stage.row(running) == run
    assert stage.state(schedule) == state


def test_after_a_transaction_that_raised_the_next_one_works(stage: Stage) -> None:
    with pytest.raises(DRIVER_ERRORS):
        stage.write(lambda tx: tx._do("INSERT INTO runs (ref) VALUES (1)"))

    assert stage.schedule()


def test_what_a_transaction_returns_is_what_its_function_returned(stage: Stage) -> None:
    assert stage.write(lambda _: "written") == "written"
    assert stage.read(lambda _: "read") == "read"


def test_the_time_stands_still_inside_a_transaction(stage: Stage) -> None:
    def act(tx: SqlTransaction) -> tuple[int, int]:
        before = tx.now
        stage.clock.at += HOUR
        return before, tx.now

    assert stage.write(act) == (NOON, NOON)
    assert stage.read(act) == (NOON + HOUR, NOON + HOUR)
    assert stage.write(lambda tx: tx.now) == NOON + 2 * HOUR


def test_the_database_s_clock_rules_unless_time_is_virtual(postgresql: Stage) -> None:
    wrong = open_database(postgresql.url, postgresql.clock)
    try:
        with psycopg.connect(postgresql.url) as cx:
            row = cx.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").fetchone()
        assert row is not None
        now = wrong.write(lambda tx: tx.now)
    finally:
        wrong.close()

    assert now >= row[0]
    assert now - row[0] < HOUR
    assert abs(now - SystemClock().now()) < HOUR


def test_keys_only_grow(stage: Stage) -> None:
    refs = stage.write(lambda tx: [tx.next_ref() for _ in range(2500)])
    more = stage.write(lambda tx: [tx.next_ref() for _ in range(3)])

    assert refs + more == sorted({*refs, *more})


def test_keys_go_on_beyond_the_newest_run_when_the_database_is_opened_again(database_url: str) -> None:
    before = Stage(database_url)
    newest = before.recorded(before.schedule())
    before.close()

    after = before.another()
    try:
        assert after.write(lambda tx: tx.next_ref()) > newest
    finally:
        after.close()


def test_two_processes_never_draw_the_same_key(postgresql: Stage) -> None:
    other = postgresql.another()
    try:
        mine = postgresql.write(lambda tx: [tx.next_ref() for _ in range(2500)])
        others = other.write(lambda tx: [tx.next_ref() for _ in range(2500)])
        mine += postgresql.write(lambda tx: [tx.next_ref() for _ in range(2500)])
    finally:
        other.close()

    assert len({*mine, *others}) == 7500


def test_threads_of_one_process_never_draw_the_same_key(stage: Stage) -> None:
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(lambda _: stage.write(lambda tx: [tx.next_ref() for _ in range(300)]), range(20)))

    assert len({ref for refs in drawn for ref in refs}) == 20 * 300


def test_threads_write_side_by_side_and_nothing_is_lost(stage: Stage) -> None:
    schedule = stage.schedule()

    def add_one(tx: SqlTransaction) -> None:
        (state,) = tx.states([schedule])
        tx.keep([state._replace(running=state.running + 1)])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: stage.write(add_one), range(40)))

    assert stage.state(schedule).running == 40


def test_a_reader_sees_what_is_committed_and_nothing_else(stage: Stage) -> None:
    schedule = stage.schedule()

    def act(tx: SqlTransaction) -> list[object]:
        tx.record([a_new_run(tx.next_ref(), schedule)])
        return stage.read(lambda reader: list(reader.list_runs(RunFilter())))

    assert stage.write(act) == []
    assert len(stage.refs()) == 1


def test_a_reader_cannot_leave_anything_behind(stage: Stage) -> None:
    try:
        stage.read(lambda tx: tx.register("by a reader"))
    except Unavailable:
        assert stage.database.is_local

    assert stage.read(lambda tx: tx._all("SELECT count(*) FROM workers")) == [(0,)]


def test_a_hint_is_heard_when_its_transaction_commits_and_only_then(postgresql: Stage) -> None:
    heard: Queue[str] = Queue()
    listener = Listener(make_url(postgresql.url), heard.put)
    try:
        assert heard.get(timeout=20) == "look"

        def undone(tx: SqlTransaction) -> None:
            tx.notify("never to be heard")
            raise _MishapError

        with pytest.raises(_MishapError):
            postgresql.write(undone)
        postgresql.write(lambda tx: tx.notify("recall"))

        assert heard.get(timeout=20) == "recall"
    finally:
        listener.close()


def test_on_sqlite_there_is_nobody_to_be_told(sqlite: Stage) -> None:
    sqlite.write(lambda tx: tx.notify("look"))
