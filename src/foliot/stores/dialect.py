"""All that SQLite and PostgreSQL do differently, and nothing else.

Statements are written once, with `?` for a value, and rows travel in batches: SQLite takes some dozens of them in one
statement, PostgreSQL takes each column as one array, written as text because that is five times cheaper than to have
the driver adapt every element.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, Protocol

from sqlalchemy.engine.interfaces import DBAPICursor

Row = Sequence[Any]

_ROWS_AT_ONCE = 10_000
"""PostgreSQL gives each statement so long and no longer."""
_PORTIONS = (64, 16, 8, 4, 2, 1)
"""Rows that SQLite takes in one statement: few sizes, so that its driver has them all prepared."""


_OTHER_WAYS = ("seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin")
_IN_ORDER = "SELECT " + ", ".join(f"set_config('enable_{way}', 'off', true)" for way in _OTHER_WAYS)


class Columns(NamedTuple):
    """The columns of a batch, each `name` of numbers or `name:text`."""

    names: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Columns":
        parts = [part.partition(":") for part in text.split()]
        return cls(tuple(name for name, _, _ in parts), tuple(kind or "bigint" for _, _, kind in parts))


class InsertMany:
    """Rows into a table; `on_conflict` is what becomes of one whose key is there, which is else refused."""

    def __init__(self, table: str, columns: str, constants: str = "", on_conflict: str = "") -> None:
        names, types = Columns.of(columns)
        fixed = dict(part.split("=", 1) for part in constants.split())
        into = ", ".join((*names, *fixed))
        values = ", ".join((*("?" * len(names)), *fixed.values()))
        instead = f" ON CONFLICT {on_conflict}" if on_conflict else ""
        self.some = {
            size: f"INSERT INTO {table} ({into}) VALUES {', '.join([f'({values})'] * size)}{instead}"
            for size in _PORTIONS
        }
        self.types = types
        chosen = ", ".join((*(f"s.{name}" for name in names), *fixed.values()))
        self.all = f"INSERT INTO {table} ({into}) SELECT {chosen} FROM {_unnest(names, types)}{instead}"


class UpdateMany:
    """Changes to rows, found by the last columns; `also` is what must hold besides."""

    def __init__(self, table: str, columns: str, keys: str, constants: str = "", also: str = "") -> None:
        names, types = Columns.of(columns)
        key_names, key_types = Columns.of(keys)
        fixed = constants.split()
        condition = f" AND {also}" if also else ""
        changes = ", ".join((*(f"{name} = ?" for name in names), *fixed))
        found = " AND ".join(f"{name} = ?" for name in key_names)
        one = f"UPDATE {table} SET {changes} WHERE {found}{condition}"
        self.types = (*types, *key_types)
        changes = ", ".join((*(f"{name} = s.{name}" for name in names), *fixed))
        found = " AND ".join(f"{table}.{name} = s.{name}" for name in key_names)
        update = f"UPDATE {table} SET {changes} FROM {{source}} WHERE {found}{condition}"
        given = (*names, *key_names)
        self.some = {size: update.format(source=_listed(given, size)) for size in _PORTIONS} | {1: one}
        self.all = update.format(source=_unnest(given, self.types))


def _listed(names: Sequence[str], size: int) -> str:
    """So many rows of values, as SQLite names their columns."""
    renamed = ", ".join(f"column{number} AS {name}" for number, name in enumerate(names, 1))
    row = f"({', '.join('?' * len(names))})"
    return f"(SELECT {renamed} FROM (VALUES {', '.join([row] * size)})) AS s"


def _unnest(names: Sequence[str], types: Sequence[str]) -> str:
    arrays = ", ".join(f"%s::{kind}[]" for kind in types)
    return f"unnest({arrays}) AS s({', '.join(names)})"


class SqlDialect(Protocol):
    """What the statements ask of a database."""

    lock: str
    """After a SELECT: these rows are mine until the end; wait for them."""
    lock_free: str
    """The same, leaving out what somebody else holds."""

    def sql(self, text: str) -> str:
        """The statement with this database's sign for a value."""

    def any_of(self, column: str) -> str:
        """A condition with one value: the column is among those of `list_of`."""

    def list_of(self, numbers: Iterable[int]) -> str:
        """The numbers as one value."""

    def any_text_of(self, column: str) -> str:
        """A condition with one value: the column is among those of `list_of_texts`."""

    def list_of_texts(self, texts: Iterable[str]) -> str:
        """The texts as one value."""

    def label_is(self, labels: str) -> str:
        """A condition with two values, a name and a text: among the labels of that column, that one says so."""

    def new_keys(self, cursor: DBAPICursor, table: str, count: int) -> Sequence[int]:
        """Keys for that many rows to be inserted into the table."""

    def keep_to_indexes(self, cursor: DBAPICursor) -> None:
        """For the rest of the transaction, go through an index in its order rather than sort what is found."""

    def notify(self, cursor: DBAPICursor, what: str) -> None:
        """Tell other processes, at commit."""

    def insert(self, cursor: DBAPICursor, statement: InsertMany, rows: Sequence[Row]) -> None: ...

    def update(self, cursor: DBAPICursor, statement: UpdateMany, rows: Sequence[Row]) -> int:
        """How many rows were changed."""


class SqliteDialect:
    lock = ""
    lock_free = ""

    def sql(self, text: str) -> str:
        return text

    def any_of(self, column: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(?))"

    def list_of(self, numbers: Iterable[int]) -> str:
        return f"[{','.join(map(str, numbers))}]"

    def any_text_of(self, column: str) -> str:
        return self.any_of(column)

    def list_of_texts(self, texts: Iterable[str]) -> str:
        return json.dumps(list(texts))

    def label_is(self, labels: str) -> str:
        return f"json_extract({labels}, '$.\"' || ? || '\"') = ?"

    def new_keys(self, cursor: DBAPICursor, table: str, count: int) -> Sequence[int]:
        if not count:
            return ()
        cursor.execute(f"SELECT coalesce(max(ref), 0) + 1 FROM {table}")
        first = int(cursor.fetchall()[0][0])
        return range(first, first + count)

    def keep_to_indexes(self, cursor: DBAPICursor) -> None:
        """It does so by itself."""

    def notify(self, cursor: DBAPICursor, what: str) -> None:
        """There is no other process."""

    def insert(self, cursor: DBAPICursor, statement: InsertMany, rows: Sequence[Row]) -> None:
        for values, text in _in_portions(rows, statement.some):
            cursor.execute(text, values)

    def update(self, cursor: DBAPICursor, statement: UpdateMany, rows: Sequence[Row]) -> int:
        changed = 0
        for values, text in _in_portions(rows, statement.some):
            cursor.execute(text, values)
            changed += cursor.rowcount
        return changed


def _in_portions(rows: Sequence[Row], texts: Mapping[int, str]) -> Iterator[tuple[Row, str]]:
    """The values of some rows after the other, each time with the statement for so many.

    With each statement the driver gives the interpreter away, and may wait for it: the fewer the better.
    """
    if not rows:
        return
    start = 0
    for size in _PORTIONS:
        for first in range(start, len(rows) - size + 1, size):
            start = first + size
            yield (rows[first] if size == 1 else [*chain.from_iterable(rows[first:start])]), texts[size]


class PostgresqlDialect:
    lock = " FOR UPDATE"
    lock_free = " FOR UPDATE SKIP LOCKED"

    def sql(self, text: str) -> str:
        return _with_percent_signs(text)

    def any_of(self, column: str) -> str:
        return f"{column} = ANY(?::bigint[])"

    def list_of(self, numbers: Iterable[int]) -> str:
        return f"{{{','.join(map(str, numbers))}}}"

    def any_text_of(self, column: str) -> str:
        return f"{column} = ANY(?::text[])"

    def list_of_texts(self, texts: Iterable[str]) -> str:
        return text_array(texts)

    def label_is(self, labels: str) -> str:
        return f"CAST({labels} AS json) ->> CAST(? AS text) = ?"

    def new_keys(self, cursor: DBAPICursor, table: str, count: int) -> Sequence[int]:
        if not count:
            return ()
        cursor.execute("SELECT pg_get_serial_sequence(%s, 'ref')", (table,))
        (name,) = cursor.fetchall()[0]
        cursor.execute("SELECT nextval(%s::regclass) FROM generate_series(1, %s)", (name, count))
        return [int(row[0]) for row in cursor.fetchall()]

    def keep_to_indexes(self, cursor: DBAPICursor) -> None:
        # It takes a stretch of an index for far shorter than it is, above all before it has counted any rows.
        cursor.execute(_IN_ORDER)

    def notify(self, cursor: DBAPICursor, what: str) -> None:
        cursor.execute("SELECT pg_notify('foliot', %s)", (what,))

    def insert(self, cursor: DBAPICursor, statement: InsertMany, rows: Sequence[Row]) -> None:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            cursor.execute(statement.all, _arrays(statement.types, rows[start : start + _ROWS_AT_ONCE]))

    def update(self, cursor: DBAPICursor, statement: UpdateMany, rows: Sequence[Row]) -> int:
        if not rows:
            return 0
        cursor.execute(statement.all, _arrays(statement.types, rows))
        return cursor.rowcount


@lru_cache(maxsize=512)
def _with_percent_signs(text: str) -> str:
    return text.replace("?", "%s")


def _arrays(types: Sequence[str], rows: Sequence[Row]) -> tuple[str, ...]:
    columns = zip(*rows, strict=True)
    return tuple(
        text_array(column) if kind == "text" else number_array(column)
        for kind, column in zip(types, columns, strict=True)
    )


def number_array(numbers: Iterable[int | None]) -> str:
    """A PostgreSQL array of numbers, as text."""
    return f"{{{','.join(['NULL' if number is None else str(number) for number in numbers])}}}"


def text_array(texts: Iterable[str | None]) -> str:
    """A PostgreSQL array of texts, as text: quoted, so that any text is itself. Zero characters it cannot hold."""
    return f"{{{','.join(['NULL' if text is None else _quoted(text) for text in texts])}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "")
    return f'"{escaped}"'
