"""Python's database interface over APSW, as far as the store and SQLAlchemy use it: the store runs unchanged on it."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from tests.power.disk import RecordingDisk

_KINDS = {apsw.ConstraintError: sqlite3.IntegrityError, apsw.NotADBError: sqlite3.DatabaseError}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        kind: type[sqlite3.Error] = _KINDS.get(type(error), sqlite3.OperationalError)
        translated = kind(str(error))
        translated.sqlite_errorcode = getattr(error, "extendedresult", 1)
        raise translated from error


class Cursor:
    arraysize = 1
    lastrowid: int | None = None

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []
        self.description: list[tuple[Any, ...]] | None = None
        self.rowcount = -1

    def execute(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> "Cursor":
        self._run(text, [values])
        return self

    def executemany(self, text: str, rows: Sequence[Any]) -> "Cursor":
        self._run(text, rows)
        return self

    def _run(self, text: str, rows: Sequence[Any]) -> None:
        cursor = self._connection.cursor()
        before = self._connection.total_changes()
        self._rows, self.description = [], None
        with _translated():
            for values in rows:
                self._rows += self._described(cursor, text, values)
        # All changes, those of foreign keys too: the store has none that cascade.
        self.rowcount = self._connection.total_changes() - before if self.description is None else -1
        self.lastrowid = self._connection.last_insert_rowid()

    def _described(self, cursor: apsw.Cursor, text: str, values: Any) -> list[tuple[Any, ...]]:
        def trace(described: apsw.Cursor, _text: str, _values: Any) -> bool:
            columns = described.get_description()
            if columns:
                self.description = [(column[0], *(None,) * 6) for column in columns]
            return True

        cursor.exec_trace = trace
        return list(cursor.execute(text, values))

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        found, self._rows = self._rows[:size], self._rows[size:]
        return found

    def fetchall(self) -> list[tuple[Any, ...]]:
        found, self._rows = self._rows, []
        return found

    def close(self) -> None:
        self._rows = []


class Connection:
    def __init__(self, path: str, flags: int, disk: RecordingDisk, pragmas: Mapping[str, str]) -> None:
        with _translated():
            self._connection = apsw.Connection(path, flags=flags, vfs=disk.name)
        self._pragmas = pragmas

    def cursor(self) -> Cursor:
        return Cursor(self._connection)

    def execute(self, text: str) -> Cursor:
        """What the store prepares its connections with; some pragmas may be meant to be others."""
        name = text.removeprefix("PRAGMA ").partition("=")[0]
        return self.cursor().execute(f"PRAGMA {name}={self._pragmas[name]}" if name in self._pragmas else text)

    def create_function(self, name: str, count: int, function: Any, deterministic: bool = False) -> None:
        self._connection.create_scalar_function(name, function, count, deterministic=deterministic)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def commit(self) -> None:
        if self._connection.in_transaction:
            self.cursor().execute("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self.cursor().execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()


class Driver:
    """What SQLAlchemy takes for the module `sqlite3`: every connection is on the recording disk."""

    paramstyle = "qmark"
    apilevel = "2.0"
    threadsafety = 1
    sqlite_version = apsw.sqlite_lib_version()
    sqlite_version_info = tuple(map(int, sqlite_version.split(".")))
    Binary = memoryview
    Warning = sqlite3.Warning
    Error = sqlite3.Error
    InterfaceError = sqlite3.InterfaceError
    DatabaseError = sqlite3.DatabaseError
    DataError = sqlite3.DataError
    OperationalError = sqlite3.OperationalError
    IntegrityError = sqlite3.IntegrityError
    InternalError = sqlite3.InternalError
    ProgrammingError = sqlite3.ProgrammingError
    NotSupportedError = sqlite3.NotSupportedError

    def __init__(self, disk: RecordingDisk, pragmas: Mapping[str, str]) -> None:
        self._disk = disk
        self._pragmas = pragmas

    def connect(self, path: str, *, uri: bool = False, **_: Any) -> Connection:
        how = apsw.SQLITE_OPEN_READONLY if uri else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        return Connection(path, how | apsw.SQLITE_OPEN_URI, self._disk, self._pragmas)
