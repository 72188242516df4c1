"""Databases to measure on: a SQLite file each, or a database each on one PostgreSQL server with fsync on."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

KINDS = ("sqlite", "postgresql")

Urls = Iterator[str]


@contextmanager
def new_databases(kind: str) -> Iterator[Urls]:
    """URLs of empty databases, each used once; all are gone afterwards."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="foliot-bench-") as folder:
            yield (f"sqlite:///{Path(folder) / f'{number}.db'}" for number in count())
    else:
        # The server that the tests use.
        from tests.databases import a_postgresql_server  # noqa: PLC0415

        with a_postgresql_server() as server:
            yield (server.new_database() for _ in count())


def is_sqlite(url: str) -> bool:
    return url.startswith("sqlite:")


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """What the database has, read from outside."""
    if is_sqlite(url):
        with closing(sqlite3.connect(path_of(url))) as cx:
            return list(cx.execute(query))
    with psycopg.connect(url) as cx:
        return cx.execute(query.encode()).fetchall()


def one(url: str, query: str) -> Any:
    return rows(url, query)[0][0]


def change(url: str, *statements: str) -> None:
    """Prepare a database from outside, while nobody works on it."""
    if is_sqlite(url):
        with closing(sqlite3.connect(path_of(url))) as lite, lite:
            for statement in statements:
                lite.execute(statement)
        return
    with psycopg.connect(url) as cx:
        for statement in statements:
            cx.execute(statement.encode())


def settle(url: str) -> None:
    """Let the database finish what preparing it has left to do, so that nobody's measurement pays for it."""
    if is_sqlite(url):
        with closing(sqlite3.connect(path_of(url))) as lite:
            lite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    with psycopg.connect(url, autocommit=True) as cx:
        cx.execute("VACUUM ANALYZE")
        cx.execute("CHECKPOINT")


def drop(url: str) -> None:
    """Free the disk of a large database that is done with."""
    if is_sqlite(url):
        for ending in ("", "-wal", "-shm", ".lock"):
            Path(path_of(url) + ending).unlink(missing_ok=True)
        return
    name = url.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(url.replace(f"/{name}?", "/postgres?"), autocommit=True) as cx:
        cx.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
