"""Connections that are kept open between transactions, and closed when the database is."""

import threading
from typing import Any

from sqlalchemy import QueuePool
from sqlalchemy.pool import ConnectionPoolEntry


class KeptConnections(QueuePool):
    """A pool that is closed for good: what is lent at that moment is closed when it comes back.

    SQLAlchemy's own would keep it, in a pool that nobody has any more, open until that is collected. Who was waiting
    for one when it was closed is still given what comes back.
    """

    _sqla_logger_namespace = "sqlalchemy.pool.KeptConnections"
    """What it logs is the library's: by its module it would be taken for ours."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_closed = False
        self._asking = 0
        self._counting = threading.Lock()

    def dispose(self) -> None:
        self._is_closed = True
        super().dispose()

    def _do_get(self) -> ConnectionPoolEntry:
        with self._counting:
            self._asking += 1
        try:
            return super()._do_get()
        finally:
            with self._counting:
                self._asking -= 1
            self._close_the_rest()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        # Asked after it was put back: either this finds that the pool is closed, or who closes it finds the connection.
        self._close_the_rest()

    def _close_the_rest(self) -> None:
        """Whoever waits for one takes it, and has it closed when it comes back: the last to go finds nobody waiting."""
        if self._is_closed and not self._asking:
            super().dispose()
