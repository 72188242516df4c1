"""Connections to a SQLite file: what each is told before it is used."""

import sqlite3
from typing import cast

from sqlalchemy import Connection


def prepare_writer(dbapi: sqlite3.Connection, _: object) -> None:
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


def prepare_passing(dbapi: sqlite3.Connection, record: object) -> None:
    prepare_writer(dbapi, record)
    dbapi.execute("PRAGMA synchronous=OFF")


def prepare_reader(dbapi: sqlite3.Connection, _: object) -> None:
    for pragma in ("query_only=ON", "busy_timeout=5000", "trusted_schema=OFF"):
        dbapi.execute(f"PRAGMA {pragma}")


def begin_immediate(cx: Connection) -> None:
    # By the driver itself: through all layers it would take as long as several statements.
    sqlite_of(cx).execute("BEGIN IMMEDIATE")


def sqlite_of(cx: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, cx.connection.dbapi_connection)


def quoted_path(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
