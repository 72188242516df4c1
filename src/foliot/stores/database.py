"""A database, opened: transactions are plain functions, run whole or not at all, and tried again on contention."""

import asyncio
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar, cast

from sqlalchemy import URL, Connection, RootTransaction, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import StaticPool

from foliot.clock import SystemClock
from foliot.courtesy import INTERPRETER
from foliot.domain.errors import Invalid, Refusal, Unavailable
from foliot.files import make_private
from foliot.joint import Joint
from foliot.ports import Clock
from foliot.stores.dialect import PostgresqlDialect, SqlDialect, SqliteDialect
from foliot.stores.lock_file import LockFile
from foliot.stores.migration import NEWEST, migrate, version_of
from foliot.stores.pools import KeptConnections
from foliot.stores.sessions import LIMITS, PLANS, Pool, Pooling
from foliot.stores.sqlite_files import (
    begin_immediate,
    prepare_passing,
    prepare_reader,
    prepare_writer,
    quoted_path,
    sqlite_of,
)
from foliot.stores.transaction import SqlTransaction
from foliot.stores.translation import READ_ONLY_REMEDY, Contention, translated
from foliot.stores.write_queue import Waiting, WriteQueue

log = logging.getLogger("foliot.stores")

T = TypeVar("T")
Act = Callable[[SqlTransaction], T]

_TRIES = 8
_OTHERS_FOR = 0.01
"""Seconds that a writer spends at most on what others wait with, before all of it is committed."""
_PREPARED = 512
"""Statements that the driver keeps: more than there are."""
_REFS_IN_A_BLOCK = 1000
_BLOCK_LIVES = 5.0
"""Seconds: so that keys, whoever draws them, are never far behind those of others, and who watches finds all."""
_STEADY = SystemClock().steady
_AS_EVER: Mapping[str, Any] = {}
_MIGRATION_LOCK = 0x666F6C696F74


class SqliteDatabase:
    """One file, one process, one writer; any number of readers."""

    dialect: SqlDialect = SqliteDialect()
    is_local = True

    def __init__(self, url: URL, clock: Clock, *, is_passing: bool = False) -> None:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise Invalid("a database URL for SQLite names a file, such as sqlite:///foliot.db: memory is not durable")
        self.path = url.database
        self.clock = clock
        self._is_passing = is_passing
        """Nobody would look for it after the machine has stopped: nothing is waited for to be on disk."""
        self._uncommitted: RootTransaction | None = None
        self._queue = WriteQueue()
        self._lock_file: LockFile | None = None
        self._writer: Connection | None = None
        self._readers = create_engine(
            URL.create("sqlite", database=f"file:{quoted_path(self.path)}", query={"mode": "ro", "uri": "true"}),
            poolclass=KeptConnections,
            # As many as there are threads that read: the loop of the server, which reads too, must not wait for one.
            pool_size=0,
            connect_args={"isolation_level": None},
            hide_parameters=True,
        )
        event.listen(self._readers, "connect", prepare_reader)
        self._refs = count()

    def write(self, act: Act[T]) -> T:
        """Run the function in a transaction; all that it wrote is on disk when this returns.

        Those who write at the same time share a commit: one of them runs the functions of the others after its own. A
        function that raises undoes only itself; when the commit fails, that is raised in all of them. A turn of the
        engine is alone in its commit: what it starts would wait for all that came along.
        """
        with translated(self.path, sqlite3):
            if _is_on_a_loop():
                self._queue.enter()
                return self._lead(act)
            INTERPRETER.let_pass_before_a_write()
            waited = self._queue.enter(act)
            if waited is None and INTERPRETER.is_hurried:
                # The engine has only ended one turn of several: the next would wait.
                self._queue.leave()
                INTERPRETER.let_pass_before_a_write()
                waited = self._queue.enter(act)
            if waited is None:
                return self._lead(act)
            if waited.error is not None:
                raise waited.error
            return cast(T, waited.answer)

    def _lead(self, act: Act[T]) -> T:
        own = Waiting(act, threading.get_ident())
        others: list[Waiting] = []
        try:
            cx = self._writer or self._open_writer()
            if self._is_passing:
                return self._pass(cx, act)
            with cx.begin(), INTERPRETER.writing():
                if self._queue.has_along(own):
                    self._serve(cx, own, others)
                else:
                    own.answer = act(self._transaction(cx))
                self._do_others(cx, others)
        except BaseException as error:
            self._undo()
            for waiting in others:
                waiting.error = error if isinstance(error, Exception) else _interrupted(self.path)
            raise
        finally:
            self._queue.leave()
            for waiting in others:
                waiting.ring()
        if own.error is not None:
            raise own.error
        return cast(T, own.answer)

    def _pass(self, cx: Connection, act: Act[T]) -> T:
        """One of many that are committed together: nobody else looks, and nobody would look after a crash."""
        if self._uncommitted is None:
            self._uncommitted = cx.begin()
        cursor = sqlite_of(cx).cursor()
        cursor.execute("SAVEPOINT one")
        try:
            return act(self._transaction(cx))
        except BaseException:
            cursor.execute("ROLLBACK TO one")
            raise
        finally:
            cursor.execute("RELEASE one")

    def _commit_passing(self) -> None:
        if self._uncommitted is not None:
            with self._alone():
                self._uncommitted.commit()
                self._uncommitted = None

    def _do_others(self, cx: Connection, others: list[Waiting]) -> None:
        """What others wait with, for a moment: each is undone by itself when it raises."""
        waiting = self._queue.next()
        if waiting is None:
            return
        until = self.clock.steady() + _OTHERS_FOR
        while waiting is not None:
            others.append(waiting)
            self._serve(cx, waiting, others)
            waiting = self._queue.next() if self.clock.steady() < until else None

    def _serve(self, cx: Connection, first: Waiting, others: list[Waiting]) -> None:
        """Do what it waits with, and in the same go what those next in line do who can be done along with it.

        Where that fails all but the first are in line again: there may be no time for each of them by itself.
        """
        assert first.act is not None, "who leads for himself is not among the others"
        along = self._queue.along_with(first)
        others += along
        if along and not self._all_done(cx, [first, *along]):
            del others[-len(along) :]
            self._queue.give_back(along)
            along = []
        if not along:
            first.answer, first.error = self._tried(cx, first.act)

    def _all_done(self, cx: Connection, group: Sequence[Waiting]) -> bool:
        acts = [waiting.act for waiting in group if isinstance(waiting.act, Joint)]
        answers, error = self._tried(cx, lambda tx: acts[0].do(tx, [act.item for act in acts]))
        if error is not None:
            if not isinstance(error, Refusal | sqlite3.IntegrityError):
                log.warning(
                    "what %d wanted at once could not be done in one go: each is served alone",
                    len(acts),
                    exc_info=error,
                )
            return False
        for waiting, answer in zip(group, answers, strict=True):
            waiting.answer = answer
        return True

    def _tried(self, cx: Connection, act: Act[Any]) -> tuple[Any, BaseException | None]:
        """What it comes to; or why it was undone by itself."""
        savepoint = sqlite_of(cx).cursor()
        savepoint.execute("SAVEPOINT one")
        answer, failure = None, None
        try:
            answer = act(self._transaction(cx))
        except BaseException as error:
            if not sqlite_of(cx).in_transaction or _is_an_interrupt(error):
                # SQLite has undone everything, as when the disk is full; or it is this thread that has to stop.
                raise
            failure = error
            savepoint.execute("ROLLBACK TO one")
        savepoint.execute("RELEASE one")
        return answer, failure

    def _undo(self) -> None:
        """A commit that fails may leave its transaction open, and nobody else could begin one."""
        cx = self._writer
        if cx is not None and not cx.in_transaction() and sqlite_of(cx).in_transaction:
            sqlite_of(cx).rollback()

    def read(self, act: Act[T]) -> T:
        """Run the function on what is committed; it must not write."""
        if _is_on_a_loop():
            return self._look(act)
        with INTERPRETER.reading():
            return self._look(act)

    def _look(self, act: Act[T]) -> T:
        with translated(self.path, sqlite3):
            self._commit_passing()
            if self._writer is None and not self._is_current():
                self.claim_alone()
            with self._readers.connect() as cx, cx.begin():
                return act(self._transaction(cx))

    def snapshot(self, act: Act[T]) -> T:
        """Run the function on what is committed at one moment; whoever writes goes on meanwhile."""

        def at_one_moment(tx: SqlTransaction) -> T:
            tx.cursor.execute("BEGIN")
            try:
                return act(tx)
            finally:
                tx.cursor.execute("ROLLBACK")

        return self._look(at_one_moment)

    def _transaction(self, cx: Connection) -> SqlTransaction:
        return SqlTransaction(cx, cx.connection.cursor(), self.dialect, self.clock.now(), self._refs.__next__)

    def claim_alone(self) -> None:
        """Be the one process that writes this file; Conflict, naming the holder, when another one is."""
        with self._alone(), translated(self.path, sqlite3):
            if self._writer is None:
                self._open_writer()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody writes meanwhile."""
        self._queue.enter()
        try:
            yield
        finally:
            self._queue.leave()

    def close(self) -> None:
        self._commit_passing()
        with self._alone():
            # The writer goes last: it leaves the file in one piece, without its log.
            self._readers.dispose()
            if self._writer is not None:
                engine = self._writer.engine
                self._writer.close()
                engine.dispose()
                self._writer = None
            if self._lock_file is not None:
                self._lock_file.release()
                self._lock_file = None

    def _open_writer(self) -> Connection:
        if os.path.exists(self.path) and not os.access(self.path, os.W_OK):
            # SQLite would open it for reading, in silence, and leave a log beside it that nobody can write either.
            raise Unavailable(f"the database {self.path} may not be written: {READ_ONLY_REMEDY}")
        lock_file = LockFile(f"{self.path}.lock", self.path)
        make_private(self.path)
        engine = create_engine(
            URL.create("sqlite", database=self.path),
            poolclass=StaticPool,
            hide_parameters=True,
            connect_args={
                "check_same_thread": False,
                "isolation_level": None,
                "timeout": 5,
                "cached_statements": _PREPARED,
            },
        )
        event.listen(engine, "connect", prepare_passing if self._is_passing else prepare_writer)
        event.listen(engine, "begin", begin_immediate)
        try:
            cx = engine.connect()
            with cx.begin():
                migrate(cx)
                # Nor does it say so of a log that may not be written: see that this one may.
                cx.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
                newest = cx.exec_driver_sql("SELECT coalesce(max(ref), 0) FROM runs").scalar_one()
        except BaseException:
            engine.dispose()
            lock_file.release()
            raise
        self._refs = count(newest + 1)
        self._lock_file, self._writer = lock_file, cx
        return cx

    def _is_current(self) -> bool:
        try:
            with self._readers.connect() as cx:
                return version_of(cx) == NEWEST
        except OperationalError:
            return False


class PostgresqlDatabase:
    """A server, and any number of processes. Its clock is the authority unless another is given."""

    dialect: SqlDialect = PostgresqlDialect()
    is_local = False

    def __init__(self, url: URL, clock: Clock | None, pooling: Pooling) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        self.clock = clock
        self.pooling = pooling
        self._writers = Pool(self.url, pooling, {**LIMITS, **PLANS})
        self._readers = Pool(self.url, pooling, LIMITS)
        self.engine = self._writers.engine
        self._driver = self.engine.dialect.loaded_dbapi
        self._name = f"{url.host or 'local socket'}/{url.database}"
        self._is_current = False
        self._starting = threading.Lock()
        self._allotting = threading.Lock()
        self._refs = iter(range(0))
        self._drawn_at = 0.0

    def write(self, act: Act[T]) -> T:
        """Run the function in a transaction; all that it wrote is durable when this returns."""
        return self._again_on_contention(lambda: self._write_once(act))

    def _write_once(self, act: Act[T]) -> T:
        with self._connect(self._writers) as cx, cx.begin():
            return act(self._transaction(cx, self._writers))

    def read(self, act: Act[T]) -> T:
        """Run the function on what is committed; it must not write."""
        return self._again_on_contention(lambda: self._read_once(act))

    def snapshot(self, act: Act[T]) -> T:
        """Run the function on what is committed at one moment; whoever writes goes on meanwhile."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

        def at_one_moment(tx: SqlTransaction) -> T:
            tx.cursor.execute("SET LOCAL statement_timeout = 600000")
            return act(tx)

        return self._again_on_contention(lambda: self._read_once(at_one_moment, options))

    def _read_once(self, act: Act[T], options: Mapping[str, Any] = _AS_EVER) -> T:
        with self._connect(self._readers) as cx:
            cx.execution_options(**options)
            reading = cx.begin()
            try:
                return act(self._transaction(cx, self._readers))
            finally:
                reading.rollback()

    def _transaction(self, cx: Connection, pool: Pool) -> SqlTransaction:
        cursor = cx.connection.cursor()
        return SqlTransaction(cx, cursor, self.dialect, self._now(cursor, pool), lambda: self._next_ref(cursor))

    def claim_alone(self) -> None:
        """Any number of processes may write: this only makes sure that the schema is there."""
        self.read(lambda _: None)

    def _again_on_contention(self, once: Callable[[], T]) -> T:
        for attempt in range(1, _TRIES + 1):
            try:
                with translated(self._name, self._driver):
                    return once()
            except Contention as contention:
                if attempt == _TRIES:
                    raise Unavailable(
                        f"the database {self._name} was too contended: try again"
                    ) from contention.__cause__
            except Unavailable as refusal:
                if not isinstance(refusal.__cause__, PoolTimeout):
                    # When one session was cut off others were, and one may be read-only for as long as it lives.
                    self.close()
                raise
        raise AssertionError("not reached")

    def close(self) -> None:
        self.engine.dispose()
        self._readers.engine.dispose()

    def _connect(self, pool: Pool) -> Connection:
        if not self._is_current:
            with self._starting:
                if not self._is_current:
                    self._migrate()
                    self._is_current = True
        return pool.engine.connect()

    def _migrate(self) -> None:
        with self.engine.connect() as cx, cx.begin():
            # Others may take long before it, and a step of the chain over a large table too.
            cx.exec_driver_sql("SET LOCAL lock_timeout = 0")
            cx.exec_driver_sql("SET LOCAL statement_timeout = 0")
            cx.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            migrate(cx)

    def _now(self, cursor: DBAPICursor, pool: Pool) -> int:
        if self.clock is not None and not self.pooling.is_by_transaction:
            return self.clock.now()
        cursor.execute(pool.opening)
        said = int(cursor.fetchall()[0][0])
        return said if self.clock is None else self.clock.now()

    def _next_ref(self, cursor: DBAPICursor) -> int:
        """Keys are drawn in blocks: one question to the server per thousand runs."""
        with self._allotting:
            if _STEADY() - self._drawn_at > _BLOCK_LIVES:
                self._refs = iter(range(0))
            for ref in self._refs:
                return ref
            cursor.execute("SELECT nextval('run_refs')")
            block = int(cursor.fetchall()[0][0])
            self._refs = iter(range(block, block + _REFS_IN_A_BLOCK))
            self._drawn_at = _STEADY()
            return next(self._refs)


Database = SqliteDatabase | PostgresqlDatabase


def open_database(
    text: str,
    clock: Clock,
    *,
    is_virtual: bool = False,
    pooling: Pooling | None = None,
    is_passing: bool = False,
) -> Database:
    """The database at that URL, not yet connected. A virtual clock rules PostgreSQL too.

    A SQLite file that is passing is gone when its process is: it is written without waiting for the disk.
    """
    try:
        url = make_url(text)
        kind = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = ""
    if kind == "sqlite":
        return SqliteDatabase(url, clock, is_passing=is_passing)
    if kind in ("postgresql", "postgres"):
        return PostgresqlDatabase(url, clock if is_virtual else None, pooling or Pooling())
    # Without user and options: either may hold a password.
    shown = text.rsplit("@", maxsplit=1)[-1].partition("?")[0]
    raise Invalid(f"a database URL is sqlite:///file.db or postgresql://host/name, got {shown!r}")


def _is_on_a_loop() -> bool:
    """Whether the caller holds up everything on an event loop while it writes, such as a worker: it goes first."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_an_interrupt(error: BaseException) -> bool:
    """Whether it may be meant for this thread, whatever it was doing: signals arrive in the main one."""
    return not isinstance(error, Exception) and threading.current_thread() is threading.main_thread()


def _interrupted(name: str) -> Unavailable:
    return Unavailable(f"the write to {name} was interrupted: look whether it was done, and try again")
