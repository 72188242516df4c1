"""A database, opened: transactions are plain functions, run whole or not at all, and tried again on contention."""

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import StaticPool

from foliot.domain.errors import Invalid, Unavailable
from foliot.ports import Clock
from foliot.stores.dialect import PostgresqlDialect, SqlDialect, SqliteDialect
from foliot.stores.lock_file import LockFile
from foliot.stores.migration import NEWEST, migrate, version_of
from foliot.stores.transaction import SqlTransaction

T = TypeVar("T")
Act = Callable[[SqlTransaction], T]

_TRIES = 8
_RETRIED_STATES = ("40001", "40P01", "55P03", "23505")
"""Serialisation failure, deadlock, lock not available, or somebody else was first: the whole function is run again."""
_READ_ONLY_STATE = "25006"
"""A server that takes no writes for now: a replica, or one that protects its disk."""
_READ_ONLY_REMEDY = "let this process write the file, those beside it (-wal, -shm) and their folder"
_SQLITE_REMEDIES = {
    sqlite3.SQLITE_FULL: "make room on its disk",
    sqlite3.SQLITE_READONLY: _READ_ONLY_REMEDY,
    sqlite3.SQLITE_CANTOPEN: "its folder must be there, and this process must be allowed to write in it",
    sqlite3.SQLITE_IOERR: "look at its disk, and whether this process may write the files",
}
_NO_HANDLES = (errno.EMFILE, errno.ENFILE)
_REFS_IN_A_BLOCK = 1000
_LIMITS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000 -c jit=off"
PLANS = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off"
"""For those who write: every statement of theirs has its index. Left to choose, the server plans anew for each list of
keys, and by what a table was like when it was last counted: whole scans of a ledger that was empty a minute ago. Those
who only read ask for lists by many filters, which the server plans best."""
_MIGRATION_LOCK = 0x666F6C696F74


class SqliteDatabase:
    """One file, one process, one writer; any number of readers."""

    dialect: SqlDialect = SqliteDialect()
    is_local = True

    def __init__(self, url: URL, clock: Clock) -> None:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise Invalid("a database URL for SQLite names a file, such as sqlite:///foliot.db: memory is not durable")
        self.path = url.database
        self.clock = clock
        self._writing = threading.RLock()
        self._lock_file: LockFile | None = None
        self._writer: Connection | None = None
        self._readers = create_engine(
            URL.create("sqlite", database=f"file:{_quoted(self.path)}", query={"mode": "ro", "uri": "true"}),
            connect_args={"isolation_level": None},
        )
        event.listen(self._readers, "connect", _prepare_reader)
        self._refs = count()

    def write(self, act: Act[T]) -> T:
        """Run the function in a transaction; all that it wrote is on disk when this returns."""
        with self._writing, _translated(self.path, sqlite3):
            cx = self._writer or self._open_writer()
            with cx.begin():
                return act(self._transaction(cx))

    def read(self, act: Act[T]) -> T:
        """Run the function on what is committed; it must not write."""
        with _translated(self.path, sqlite3):
            if self._writer is None and not self._is_current():
                self.claim_alone()
            with self._readers.connect() as cx, cx.begin():
                return act(self._transaction(cx))

    def _transaction(self, cx: Connection) -> SqlTransaction:
        return SqlTransaction(cx, cx.connection.cursor(), self.dialect, self.clock.now(), self._refs.__next__)

    def claim_alone(self) -> None:
        """Be the one process that writes this file; Conflict, naming the holder, when another one is."""
        with self._writing, _translated(self.path, sqlite3):
            if self._writer is None:
                self._open_writer()

    def close(self) -> None:
        with self._writing:
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
            raise Unavailable(f"the database {self.path} may not be written: {_READ_ONLY_REMEDY}")
        lock_file = LockFile(f"{self.path}.lock", self.path)
        engine = create_engine(
            URL.create("sqlite", database=self.path),
            poolclass=StaticPool,
            connect_args={"check_same_thread": False, "isolation_level": None, "timeout": 5},
        )
        event.listen(engine, "connect", _prepare_writer)
        event.listen(engine, "begin", _begin_immediate)
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

    def __init__(self, url: URL, clock: Clock | None) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        self.clock = clock
        self.engine = self._pool(f"{_LIMITS} {PLANS}")
        self._readers = self._pool(_LIMITS)
        self._driver = self.engine.dialect.loaded_dbapi
        self._name = f"{url.host or 'local socket'}/{url.database}"
        self._is_current = False
        self._starting = threading.Lock()
        self._allotting = threading.Lock()
        self._refs = iter(range(0))

    def _pool(self, options: str) -> Engine:
        return create_engine(
            self.url,
            pool_size=2,
            max_overflow=4,
            pool_timeout=10,
            pool_pre_ping=False,
            pool_recycle=1800,
            connect_args={
                "connect_timeout": 5,
                "options": options,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 15000,
                "application_name": "foliot",
            },
        )

    def write(self, act: Act[T]) -> T:
        """Run the function in a transaction; all that it wrote is durable when this returns."""
        return self._again_on_contention(lambda: self._write_once(act))

    def _write_once(self, act: Act[T]) -> T:
        with self._connect(self.engine) as cx, cx.begin():
            return act(self._transaction(cx))

    def read(self, act: Act[T]) -> T:
        """Run the function on what is committed; it must not write."""
        return self._again_on_contention(lambda: self._read_once(act))

    def _read_once(self, act: Act[T]) -> T:
        with self._connect(self._readers) as cx:
            reading = cx.begin()
            try:
                return act(self._transaction(cx))
            finally:
                reading.rollback()

    def _transaction(self, cx: Connection) -> SqlTransaction:
        cursor = cx.connection.cursor()
        return SqlTransaction(cx, cursor, self.dialect, self._now(cursor), lambda: self._next_ref(cursor))

    def claim_alone(self) -> None:
        """Any number of processes may write: this only makes sure that the schema is there."""
        self.read(lambda _: None)

    def _again_on_contention(self, once: Callable[[], T]) -> T:
        for attempt in range(1, _TRIES + 1):
            try:
                with _translated(self._name, self._driver):
                    return once()
            except _Contention as contention:
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
        self._readers.dispose()

    def _connect(self, pool: Engine) -> Connection:
        if not self._is_current:
            with self._starting:
                if not self._is_current:
                    self._migrate()
                    self._is_current = True
        return pool.connect()

    def _migrate(self) -> None:
        with self.engine.connect() as cx, cx.begin():
            cx.exec_driver_sql("SET LOCAL lock_timeout = 0")
            cx.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            migrate(cx)

    def _now(self, cursor: DBAPICursor) -> int:
        if self.clock is not None:
            return self.clock.now()
        cursor.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        return int(cursor.fetchall()[0][0])

    def _next_ref(self, cursor: DBAPICursor) -> int:
        """Keys are drawn in blocks: one question to the server per thousand runs."""
        with self._allotting:
            for ref in self._refs:
                return ref
            cursor.execute("SELECT nextval('run_refs')")
            block = int(cursor.fetchall()[0][0])
            self._refs = iter(range(block, block + _REFS_IN_A_BLOCK))
            return next(self._refs)


Database = SqliteDatabase | PostgresqlDatabase


def open_database(text: str, clock: Clock, *, is_virtual: bool = False) -> Database:
    """The database at that URL, not yet connected. A virtual clock rules PostgreSQL too."""
    try:
        url = make_url(text)
        kind = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = ""
    if kind == "sqlite":
        return SqliteDatabase(url, clock)
    if kind in ("postgresql", "postgres"):
        return PostgresqlDatabase(url, clock if is_virtual else None)
    # Without user and options: either may hold a password.
    shown = text.rsplit("@", maxsplit=1)[-1].partition("?")[0]
    raise Invalid(f"a database URL is sqlite:///file.db or postgresql://host/name, got {shown!r}")


class _Contention(Exception):
    """Somebody else was in the way: run it again."""


@contextmanager
def _translated(name: str, driver: Any) -> Iterator[None]:
    """Errors of the driver, whether SQLAlchemy has wrapped them or not, as what they mean to the caller."""
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable(f"the database {name} had no free connection within 10 s: try later") from error
    except (DBAPIError, driver.Error) as error:
        said = _first_of(error, driver)
        state = getattr(said, "sqlstate", None)
        if state in _RETRIED_STATES:
            raise _Contention from error
        if state == _READ_ONLY_STATE:
            raise Unavailable(
                f"the database {name} takes no writes now: {_with_remedy(said)}: name its primary, or free its disk"
            ) from error
        is_cut_off = isinstance(error, DBAPIError) and error.connection_invalidated
        if isinstance(said, driver.OperationalError) or is_cut_off:
            raise Unavailable(f"the database {name} cannot be used now: {_with_remedy(said)}") from error
        if getattr(said, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise Invalid(f"{name} is no SQLite database: name another file") from error
        raise
    except OSError as error:
        # Without a file handle for it, a driver cannot even wait for the server.
        if not (isinstance(error, ConnectionError | TimeoutError) or error.errno in _NO_HANDLES):
            raise
        raise Unavailable(f"the database {name} cannot be used now: {error}{_handles_remedy()}") from error


def _first_of(error: BaseException, driver: Any) -> BaseException:
    """The driver's error behind this one: of a cut connection the server's words, not that it could not be undone."""
    said = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    before = said.__context__ if said is error else error.__context__
    while before is not None:
        if isinstance(before, driver.Error):
            said = before
        before = before.__context__
    return said


def _with_remedy(error: BaseException | None) -> str:
    """The driver's own words, and what can be done about it; then work goes on by itself."""
    # SQLite's finer distinctions are in the upper bits.
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    remedy = _SQLITE_REMEDIES.get(code, "")
    return str(error).strip() + (_handles_remedy() or (remedy and f": {remedy}"))


def _handles_remedy() -> str:
    """Drivers seldom say that file handles are what they lack: see whether there is one."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return f": {error.strerror}: let this process have more (ulimit -n), or close some"
    return ""


def _prepare_writer(dbapi: sqlite3.Connection, _: object) -> None:
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "busy_timeout=5000",
        "wal_autocheckpoint=8000",
        "journal_size_limit=67108864",
        "trusted_schema=OFF",
        "cell_size_check=ON",
        "cache_size=-65536",
        "temp_store=MEMORY",
    ):
        dbapi.execute(f"PRAGMA {pragma}")


def _prepare_reader(dbapi: sqlite3.Connection, _: object) -> None:
    for pragma in ("query_only=ON", "busy_timeout=5000", "trusted_schema=OFF"):
        dbapi.execute(f"PRAGMA {pragma}")


def _begin_immediate(cx: Connection) -> None:
    cx.exec_driver_sql("BEGIN IMMEDIATE")


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
