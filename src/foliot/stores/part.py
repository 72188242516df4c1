"""What every part of a transaction stands on: a connection, its dialect and the time."""

from collections.abc import Callable
from typing import Any, cast

from sqlalchemy import Connection
from sqlalchemy.engine.interfaces import DBAPICursor

from foliot.stores.dialect import SqlDialect


class Part:
    """A connection inside a transaction. `now` is fixed when it begins."""

    def __init__(
        self, cx: Connection, cursor: DBAPICursor, dialect: SqlDialect, now: int, next_ref: Callable[[], int]
    ) -> None:
        self.cx = cx
        self.cursor = cursor
        """The driver's own: what SQLAlchemy builds around a statement costs more than most statements do."""
        self.dialect = dialect
        self.now = now
        self.next_ref = next_ref

    def _all(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        self.cursor.execute(self.dialect.sql(text), values)
        return cast("list[tuple[Any, ...]]", self.cursor.fetchall())

    def _do(self, text: str, *values: Any) -> int:
        self.cursor.execute(self.dialect.sql(text), values)
        return self.cursor.rowcount

    def _tell(self, what: str) -> None:
        """Whoever looks at the number of changes knows, from this commit on, that there was one."""
        self._do(
            "INSERT INTO revisions (name, number) VALUES (?, 1)"
            " ON CONFLICT (name) DO UPDATE SET number = revisions.number + 1",
            what,
        )
