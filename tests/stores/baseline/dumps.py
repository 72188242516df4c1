"""A database as text, and the text as a database again: the schema as the database tells it, the rows by their keys."""

import sqlite3
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import make_url

from foliot.stores.tables import metadata
from tests.databases import PostgresqlServer

FOLDER = Path(__file__).parent
_VERSION = "alembic_version"
_NOT_THE_SCHEMA = ("--", "\\", "SET ", "SELECT pg_catalog.set_config")
"""Of what pg_dump writes: remarks, orders to psql, and what only its own session is about."""


def of_sqlite(url: str) -> str:
    """Beside whoever writes the file."""
    with closing(sqlite3.connect(f"file:{make_url(url).database}?mode=ro", uri=True)) as cx:
        text = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        schema = [f"{statement};" for (statement,) in cx.execute(text)]
        rows = [_inserted(table, *_all(cx.execute(_ordered(table, key)))) for table, key in _tables()]
    return "\n".join([*schema, *filter(None, rows), ""])


def of_postgresql(server: PostgresqlServer, url: str) -> str:
    program = Path(server.server.bin_path) / "pg_dump"
    dumped = subprocess.check_output([program, "--schema-only", "--no-owner", "--no-privileges", url], text=True)
    schema = [line for line in dumped.splitlines() if line and not line.startswith(_NOT_THE_SCHEMA)]
    with psycopg.connect(url) as cx:
        rows = [_inserted(table, *_all(cx.execute(_ordered(table, key).encode()))) for table, key in _tables()]
        text = b"SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL ORDER BY 1"
        drawn = [f"SELECT setval('public.{name}', {value});" for name, value in cx.execute(text)]
    return "\n".join([*schema, *filter(None, rows), *drawn, ""])


def stored(kind: str) -> list[Path]:
    """Those that were kept, the oldest schema first."""
    return sorted(FOLDER.glob(f"*.{kind}.sql"))


def load(path: Path, url: str) -> None:
    """Make of the empty database the one that was written down."""
    text = path.read_text(encoding="utf-8")
    if make_url(url).get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(make_url(url).database))) as file:
            file.executescript(text)
        return
    with psycopg.connect(url) as server:
        server.execute(text.encode())


def _tables() -> Iterator[tuple[str, Sequence[str]]]:
    """Each with its key, those that others refer to first."""
    yield _VERSION, ["version_num"]
    for table in metadata.sorted_tables:
        yield table.name, [column.name for column in table.primary_key]


def _ordered(table: str, key: Sequence[str]) -> str:
    return f"SELECT * FROM {table} ORDER BY {', '.join(key)}"


def _all(cursor: Any) -> tuple[list[str], list[Sequence[Any]]]:
    return [column[0] for column in cursor.description], cursor.fetchall()


def _inserted(table: str, columns: Iterable[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    values = ",\n".join(f"({', '.join(map(_literal, row))})" for row in rows)
    # Some of them are words of the language.
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES\n{values};"


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
