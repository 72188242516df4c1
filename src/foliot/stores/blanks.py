"""SQLite files with today's schema and nothing in them, for tests: migrated once in a process, then copied."""

import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import URL

from foliot.clock import SystemClock
from foliot.stores.database import SqliteDatabase


def write_blank(path: Path) -> None:
    """Make such a file. To migrate each of them takes longer than most of what is then done with it."""
    path.touch(0o600)
    path.write_bytes(_blank())


@cache
def _blank() -> bytes:
    with tempfile.TemporaryDirectory(prefix="foliot-") as folder:
        path = Path(folder) / "blank.db"
        database = SqliteDatabase(URL.create("sqlite", database=str(path)), SystemClock(), is_passing=True)
        database.claim_alone()
        database.close()
        return path.read_bytes()
