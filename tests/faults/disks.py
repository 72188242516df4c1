"""Disks that can be filled up and freed again while the store is at work on them."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from foliot.stores.database import SqliteDatabase

_MOST_PAGES = 1 << 30
_BALLAST = "ballast"


class Disk(Protocol):
    folder: Path

    def fill(self, database: SqliteDatabase) -> None: ...

    def free(self, database: SqliteDatabase) -> None: ...


class Quota:
    """A file that may not grow: to SQLite that is a full disk, and it needs no permission."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, database: SqliteDatabase) -> None:
        pragma(database, "max_page_count=1")

    def free(self, database: SqliteDatabase) -> None:
        pragma(database, f"max_page_count={_MOST_PAGES}")


class SmallDisk:
    """A real one, in memory; filled to its last byte by a file of somebody else's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, database: SqliteDatabase | None = None) -> None:
        with (self.folder / _BALLAST).open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        file.write(b"x" * size)

    def free(self, database: SqliteDatabase | None = None) -> None:
        (self.folder / _BALLAST).unlink()


def pragma(database: SqliteDatabase, text: str) -> None:
    """Said to the store's own writing connection, from outside."""
    assert database._writer is not None
    connection = database._writer.connection.driver_connection
    assert connection is not None
    connection.execute(f"PRAGMA {text}")


@contextmanager
def a_small_disk(megabytes: int = 16) -> Iterator[SmallDisk | None]:
    """None where it may not be mounted."""
    with tempfile.TemporaryDirectory(prefix="disk-") as folder:
        if not _do("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", folder):
            yield None
            return
        try:
            yield SmallDisk(Path(folder))
        finally:
            _do("umount", "--lazy", folder)


@contextmanager
def unchangeable(*files: Path) -> Iterator[bool]:
    """Whether nobody, be it the superuser, can change the files for now: not every system has that."""
    done = [_do("chattr", "+i", str(file)) for file in files]
    try:
        yield all(done)
    finally:
        for file in files:
            _do("chattr", "-i", str(file))


def _do(*words: str) -> bool:
    try:
        return os.getuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
