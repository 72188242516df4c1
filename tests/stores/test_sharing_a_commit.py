"""Those who write to SQLite at the same time share a commit: each whole or not at all, and told when it is on disk."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from sqlite3 import OperationalError
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import InvalidRequestError

from foliot.courtesy import Courtesy
from foliot.domain.errors import Unavailable
from foliot.joint import Joint
from foliot.stores import database
from foliot.stores.database import SqliteDatabase
from foliot.stores.transaction import SqlTransaction
from tests.builders import SECOND
from tests.stores.sharing import Act, are_waiting, together
from tests.stores.stage import Stage

_SOME_LOOKS = 300_000


class _MishapError(Exception):
    pass


class _EndError(BaseException):
    pass


def a_target(name: str) -> Act:
    return lambda tx: tx.target_refs([f"python:{name}"])


def targets(stage: Stage) -> set[str]:
    return {name for (name,) in stage.read(lambda tx: tx._all("SELECT name FROM targets"))}


def meanwhile(stage: Stage, act: Act, others: list[Act]) -> list[Future[Any]]:
    """Write while all the others wait, in their order."""
    return together(stage.database, act, [partial(stage.write, other) for other in others])


@contextmanager
def commits_of(stage: Stage) -> Iterator[list[str]]:
    assert isinstance(stage.database, SqliteDatabase)
    stage.write(lambda _: None)
    assert stage.database._writer is not None
    found: list[str] = []

    def note(_: object) -> None:
        found.append("commit")

    event.listen(stage.database._writer.engine, "commit", note)
    try:
        yield found
    finally:
        event.remove(stage.database._writer.engine, "commit", note)


def test_all_that_wait_are_written_by_one_commit_and_each_is_told_what_its_own_came_to(sqlite: Stage) -> None:
    with commits_of(sqlite) as commits:
        first, *others = meanwhile(sqlite, a_target("a"), [a_target("b"), a_target("c")])

    assert commits == ["commit"]
    assert [list(done.result()) for done in (first, *others)] == [["python:a"], ["python:b"], ["python:c"]]
    assert targets(sqlite) == {"python:a", "python:b", "python:c"}


def test_who_writes_alone_has_a_commit_of_his_own_and_no_savepoint(sqlite: Stage) -> None:
    said: list[str] = []
    assert isinstance(sqlite.database, SqliteDatabase)
    sqlite.write(lambda _: None)
    writer: Any = sqlite.database._writer
    writer.connection.dbapi_connection.set_trace_callback(said.append)
    try:
        sqlite.write(lambda tx: tx._all("SELECT 1"))
    finally:
        writer.connection.dbapi_connection.set_trace_callback(None)

    assert said == ["BEGIN IMMEDIATE", "SELECT 1", "COMMIT"]


def test_one_that_raises_undoes_only_itself_and_is_told_so_itself(sqlite: Stage) -> None:
    def fails(tx: SqlTransaction) -> None:
        a_target("undone")(tx)
        raise _MishapError

    first, failed, last = meanwhile(sqlite, a_target("a"), [fails, a_target("c")])

    assert isinstance(failed.exception(), _MishapError)
    assert first.exception() is last.exception() is None
    assert targets(sqlite) == {"python:a", "python:c"}


def test_when_the_one_who_leads_raises_the_others_are_written_without_it(sqlite: Stage) -> None:
    def fails(tx: SqlTransaction) -> None:
        a_target("undone")(tx)
        raise _MishapError

    first, *others = meanwhile(sqlite, fails, [a_target("b"), a_target("c")])

    assert isinstance(first.exception(), _MishapError)
    assert [other.exception() for other in others] == [None, None]
    assert targets(sqlite) == {"python:b", "python:c"}


def test_an_error_of_the_database_in_one_of_them_is_that_one_s(sqlite: Stage) -> None:
    first, failed, last = meanwhile(
        sqlite, a_target("a"), [lambda tx: tx._do("INSERT INTO runs (ref) VALUES (1)"), a_target("c")]
    )

    assert "NOT NULL" in str(failed.exception())
    assert first.exception() is last.exception() is None


def test_a_commit_that_fails_is_raised_in_all_of_them(sqlite: Stage) -> None:
    def breaks_at_commit(tx: SqlTransaction) -> None:
        tx._do("PRAGMA defer_foreign_keys = ON")
        tx._do("DELETE FROM schedules")

    sqlite.running(sqlite.schedule())
    done = meanwhile(sqlite, a_target("a"), [breaks_at_commit, a_target("c")])

    assert ["FOREIGN KEY" in str(each.exception()) for each in done] == [True, True, True]
    assert targets(sqlite) == {"python:digest"}
    sqlite.write(a_target("later"))


_MANY_AT_ONCE = "INSERT INTO large SELECT zeroblob(100000) FROM (VALUES (1), (2)) AS twice"
"""A statement that may fail half-way keeps a journal of its own: a full disk undoes it alone."""
_A_SINGLE_ROW = "INSERT INTO large VALUES (zeroblob(1000000))"
"""One that may not has none: SQLite undoes the whole transaction."""


def on_a_full_disk(stage: Stage, statement: str) -> list[Future[Any]]:
    """Two write: the second finds that the file, free pages and all, may not grow."""

    def fills_the_disk(tx: SqlTransaction) -> None:
        tx._do("CREATE TABLE large (what NOT NULL)")
        free: int = tx._all("PRAGMA freelist_count")[0][0]
        tx._do("INSERT INTO large VALUES (zeroblob(?))", 4096 * free)
        tx._all("PRAGMA max_page_count = 1")
        tx._do(statement)

    try:
        return meanwhile(stage, a_target("a"), [fills_the_disk])
    finally:
        stage.write(lambda tx: tx._all("PRAGMA max_page_count = 1073741823"))


def test_a_full_disk_is_unavailable_to_whom_it_concerns(sqlite: Stage) -> None:
    first, full = on_a_full_disk(sqlite, _MANY_AT_ONCE)

    assert first.exception() is None
    assert isinstance(full.exception(), Unavailable)
    assert "make room on its disk" in str(full.exception())
    assert targets(sqlite) == {"python:a"}


def test_a_full_disk_that_undoes_everything_is_unavailable_to_all_of_them(sqlite: Stage) -> None:
    """Which of the two it was once hung on what earlier tests had left in the file."""
    done = on_a_full_disk(sqlite, _A_SINGLE_ROW)

    assert ["make room on its disk" in str(each.exception()) for each in done] == [True, True]
    assert targets(sqlite) == set()
    sqlite.write(a_target("later"))


def test_when_sqlite_undoes_everything_in_the_midst_all_of_them_are_told(sqlite: Stage) -> None:
    def undone(tx: SqlTransaction) -> None:
        # As SQLite does by itself when it cannot read or write the file.
        tx._do("ROLLBACK")
        raise OperationalError("disk I/O error")

    done = meanwhile(sqlite, a_target("a"), [a_target("b"), undone])

    assert [isinstance(each.exception(), Unavailable) for each in done] == [True] * 3
    assert targets(sqlite) == set()
    sqlite.write(a_target("later"))


def test_the_end_of_one_of_them_is_not_the_end_of_the_others(sqlite: Stage) -> None:
    def ends(tx: SqlTransaction) -> None:
        raise _EndError

    def elsewhere() -> list[Future[Any]]:
        return meanwhile(sqlite, a_target("a"), [ends, a_target("c")])

    with ThreadPoolExecutor(1) as thread:
        first, ended, last = thread.submit(elsewhere).result()

    assert isinstance(ended.exception(), _EndError)
    assert first.exception() is last.exception() is None


def test_an_interrupt_of_the_one_who_leads_is_his_alone_and_nothing_is_written(sqlite: Stage) -> None:
    def interrupted(tx: SqlTransaction) -> None:
        signal.raise_signal(signal.SIGINT)

    first, *others = meanwhile(sqlite, a_target("a"), [a_target("b"), interrupted])

    assert isinstance(first.exception(), KeyboardInterrupt)
    assert [type(other.exception()) for other in others] == [Unavailable, Unavailable]
    assert targets(sqlite) == set()
    sqlite.write(a_target("later"))


def test_who_is_interrupted_as_he_waits_has_written_nothing_and_is_in_nobody_s_way(sqlite: Stage) -> None:
    main = threading.main_thread().ident
    assert main is not None

    entered = threading.Event()

    def leads(tx: SqlTransaction) -> None:
        entered.set()
        assert are_waiting(sqlite.database, 1)
        # One that arrives just before the wait begins does not end it.
        while not are_waiting(sqlite.database, 0, _SOME_LOOKS):
            signal.pthread_kill(main, signal.SIGINT)

    led = threading.Thread(target=sqlite.write, args=(leads,))
    led.start()
    entered.wait()
    with pytest.raises(KeyboardInterrupt):
        sqlite.write(a_target("never"))
    led.join()

    assert targets(sqlite) == set()
    sqlite.write(a_target("later"))


def test_a_write_within_a_write_is_refused_and_does_not_wait_for_itself(sqlite: Stage) -> None:
    def nested(tx: SqlTransaction) -> None:
        sqlite.write(a_target("inner"))

    first, other = meanwhile(sqlite, nested, [nested])

    assert isinstance(first.exception(), InvalidRequestError)
    assert isinstance(other.exception(), InvalidRequestError)
    sqlite.write(a_target("later"))
    assert targets(sqlite) == {"python:later"}


def test_who_holds_up_an_event_loop_goes_first_and_leads_himself(sqlite: Stage) -> None:
    order: list[tuple[str, int]] = []

    def note(name: str) -> Act:
        return lambda tx: order.append((name, threading.get_ident()))

    async def on_a_loop() -> int:
        sqlite.write(note("loop"))
        return threading.get_ident()

    calls = [lambda: sqlite.write(note("other")), lambda: asyncio.run(on_a_loop())]
    _, _, loop_s = together(sqlite.database, lambda tx: None, calls)

    assert [name for name, _ in order] == ["loop", "other"]
    assert order[0][1] == loop_s.result()


def test_who_holds_up_an_event_loop_waits_for_nothing_that_others_write(sqlite: Stage) -> None:
    """What a turn starts was late by whatever was written along with it."""

    async def on_a_loop() -> Future[Any]:
        with ThreadPoolExecutor(1) as threads:

            def turn(tx: SqlTransaction) -> Future[Any]:
                other = threads.submit(sqlite.write, a_target("other"))
                assert are_waiting(sqlite.database, 1)
                return other

            return sqlite.write(turn)

    with commits_of(sqlite) as commits:
        asyncio.run(on_a_loop()).result()

    assert len(commits) == 2


def test_who_comes_to_write_between_two_turns_lets_the_second_pass(
    sqlite: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was due and more than one turn takes was late by what somebody wrote after the first of them."""
    patient = Courtesy(before_a_write=60.0)
    monkeypatch.setattr(database, "INTERPRETER", patient)
    order: list[str] = []

    async def turns() -> None:
        with ThreadPoolExecutor(1) as threads:

            def first(tx: SqlTransaction) -> None:
                threads.submit(sqlite.write, lambda tx: order.append("other"))
                assert are_waiting(sqlite.database, 1)
                patient.hurry()

            sqlite.write(first)
            while not patient._has_waited:
                """The other has had the lead, and given it back."""
            sqlite.write(lambda tx: order.append("second turn"))
            patient.rest()

    asyncio.run(turns())
    assert order == ["second turn", "other"]


def test_who_writes_does_not_wait_for_a_turn_that_waits_for_it(sqlite: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who let it pass in the midst of a write held it up by that."""
    patient = Courtesy(at_most=60.0)
    monkeypatch.setattr(database, "INTERPRETER", patient)

    async def turn() -> None:
        patient.hurry()
        sqlite.write(lambda tx: None)
        patient.rest()

    _, turned = together(sqlite.database, lambda tx: patient.let_pass(), [lambda: asyncio.run(turn())])
    turned.result()
    assert not patient.has_waited()


def test_nobody_spends_long_on_what_others_wait_with(sqlite: Stage) -> None:
    def slow(tx: SqlTransaction) -> None:
        sqlite.clock.at += SECOND

    with commits_of(sqlite) as commits:
        meanwhile(sqlite, a_target("a"), [slow, slow, slow])

    # The first does one besides its own, and so does the next.
    assert len(commits) == 2


def test_many_threads_at_once_lose_nothing(sqlite: Stage) -> None:
    def work(thread: int) -> int:
        failures = 0
        for number in range(25):

            def act(tx: SqlTransaction, number: int = number) -> None:
                a_target(f"t{thread}-{number}")(tx)
                if number % 5 == 0:
                    raise _MishapError

            try:
                sqlite.write(act)
            except _MishapError:
                failures += 1
        return failures

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [5] * 8
    assert len(targets(sqlite)) == 8 * 20


class _AtOnce:
    """Acts that are done for all who want one in one go; and how many there were each time."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused
        self.went: list[list[str]] = []

    def act(self, name: str) -> Joint[str, str]:
        return Joint(self, name, self._do)

    def _do(self, tx: Any, names: Sequence[str]) -> list[str]:
        self.went.append([*names])
        for name in names:
            a_target(name)(tx)
        if {*names} & {*self._refused}:
            raise _MishapError
        return [f"done {name}" for name in names]


def test_acts_of_one_kind_that_wait_behind_each_other_are_done_in_one_go(sqlite: Stage) -> None:
    some, others = _AtOnce(), _AtOnce()
    acts: list[Act] = [some.act("b"), some.act("c"), a_target("d"), some.act("e"), others.act("f"), others.act("g")]
    with commits_of(sqlite) as commits:
        done = meanwhile(sqlite, a_target("a"), acts)

    assert (some.went, others.went) == ([["b", "c"], ["e"]], [["f", "g"]])
    assert [done[number].result() for number in (1, 2, 4, 5, 6)] == [f"done {name}" for name in "bcefg"]
    assert commits == ["commit"]
    assert targets(sqlite) == {f"python:{name}" for name in "abcdefg"}


def test_where_one_of_a_kind_fails_each_is_done_by_itself(sqlite: Stage) -> None:
    some = _AtOnce("c")
    _, *done = meanwhile(sqlite, a_target("a"), [some.act("b"), some.act("c"), some.act("d")])

    assert some.went == [["b", "c", "d"], ["b"], ["c"], ["d"]]
    assert [type(each.exception()) for each in done] == [type(None), _MishapError, type(None)]
    assert targets(sqlite) == {f"python:{name}" for name in "abd"}


@pytest.mark.parametrize("refused", ["", "b", "c"])
def test_who_leads_does_his_own_along_with_theirs(sqlite: Stage, refused: str) -> None:
    """The first does it alone; of the two that it had no time for, the one leads and does the other's too."""
    some = _AtOnce(refused)

    def slow(tx: SqlTransaction) -> None:
        sqlite.clock.at += SECOND

    _, _, *done = meanwhile(sqlite, a_target("a"), [slow, some.act("b"), some.act("c")])

    assert some.went[0] == ["b", "c"]
    assert [each.exception() is None for each in done] == [refused != "b", refused != "c"]
    assert targets(sqlite) == {"python:a", *(f"python:{name}" for name in "bc" if name != refused)}


def test_where_acts_of_a_kind_fail_each_is_done_while_there_is_time(sqlite: Stage) -> None:
    some = _AtOnce("b")

    def slow(tx: Any, names: Sequence[str]) -> list[str]:
        sqlite.clock.at += SECOND
        return some._do(tx, names)

    acts: list[Act] = [Joint(some, name, slow) for name in "bcd"]
    with commits_of(sqlite) as commits:
        _, *done = meanwhile(sqlite, a_target("a"), acts)

    # With the first of them its time is over; the next leads, and does the last one's after its own.
    assert some.went == [["b", "c", "d"], ["b"], ["c"], ["d"]]
    assert [each.exception() is None for each in done] == [False, True, True]
    assert len(commits) == 2


def test_who_is_interrupted_as_his_is_tried_along_with_others_does_not_get_the_lead(sqlite: Stage) -> None:
    """He was put in line again when that failed, had the lead and did not know: nobody wrote any more."""
    main = threading.main_thread().ident
    assert main is not None
    entered, is_gone, kind = threading.Event(), threading.Event(), object()

    def leads(tx: SqlTransaction) -> None:
        entered.set()
        assert are_waiting(sqlite.database, 2)

    def fails_for_both(tx: Any, names: Sequence[str]) -> list[str]:
        sqlite.clock.at += SECOND
        if len(names) == 1:
            return [*names]
        signal.pthread_kill(main, signal.SIGINT)
        # One that arrives just before the wait begins does not end it.
        while not is_gone.wait(2):
            signal.pthread_kill(main, signal.SIGINT)
        raise _MishapError

    with ThreadPoolExecutor(3) as threads:
        led = threads.submit(sqlite.write, leads)
        entered.wait()
        first = threads.submit(sqlite.write, Joint(kind, "first", fails_for_both))
        assert are_waiting(sqlite.database, 1)
        with pytest.raises(KeyboardInterrupt):
            sqlite.write(Joint(kind, "mine", fails_for_both))
        is_gone.set()
        assert (led.result(20), first.result(20)) == (None, "first")
        threads.submit(sqlite.write, a_target("later")).result(20)
    assert targets(sqlite) == {"python:later"}


def test_who_holds_up_an_event_loop_does_nothing_along_with_his_own(sqlite: Stage) -> None:
    some = _AtOnce()

    async def on_a_loop() -> None:
        sqlite.write(some.act("loop"))

    calls: list[Callable[[], Any]] = [
        partial(sqlite.write, some.act("b")),
        partial(sqlite.write, some.act("c")),
        lambda: asyncio.run(on_a_loop()),
    ]
    for each in together(sqlite.database, lambda tx: None, calls):
        each.result()

    assert some.went == [["loop"], ["b", "c"]]


def test_a_defect_that_shows_only_in_one_go_is_told_and_each_is_served(
    sqlite: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def forgets_one(tx: Any, names: Sequence[str]) -> list[str]:
        if len(names) > 1:
            raise KeyError(names[-1])
        return [*names]

    _, *done = meanwhile(sqlite, a_target("a"), [Joint("kind", name, forgets_one) for name in "bc"])

    assert [each.result() for each in done] == ["b", "c"]
    assert "what 2 wanted at once could not be done in one go" in caplog.text
