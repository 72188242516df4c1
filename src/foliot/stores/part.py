"""What every part of a transaction stands on: a connection, its dialect and the time."""

from collections.abc import Callable
from typing import Any, cast

from sqlalchemy import Connection

from foliot.stores.dialect import Dialect


class Part:
    """A connection inside a transaction. `now` is fixed when it begins."""

    def __init__(self, cx: Connection, dialect: Dialect, now: int, next_ref: Callable[[], int]) -> None:
        self.cx = cx
        self.dialect = dialect
        self.now = now
        self.next_ref = next_ref

    def _all(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows, as the driver makes them: no object is built around each."""
        result = self.cx.exec_driver_sql(self.dialect.sql(text), values)
        assert result.cursor is not None
        rows = result.cursor.fetchall()
        result.close()
        return cast("list[tuple[Any, ...]]", rows)

    def _do(self, text: str, *values: Any) -> int:
        return self.cx.exec_driver_sql(self.dialect.sql(text), values).rowcount
