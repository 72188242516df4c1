"""Connections that are kept open between transactions, and closed when the database is."""

from sqlalchemy import QueuePool
from sqlalchemy.pool import ConnectionPoolEntry


class KeptConnections(QueuePool):
    """A pool that is closed for good: what is lent at that moment is closed when it comes back.

    SQLAlchemy's own would keep it, in a pool that nobody has any more, open until that is collected.
    """

    _sqla_logger_namespace = "sqlalchemy.pool.KeptConnections"
    """What it logs is the library's: by its module it would be taken for ours."""
    _is_closed = False

    def dispose(self) -> None:
        self._is_closed = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        # Asked after it was put back: either this finds that the pool is closed, or who closes it finds the connection.
        if self._is_closed:
            super().dispose()
