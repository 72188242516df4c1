"""Errors of the drivers, as what they mean to the caller, each with its remedy."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from foliot.domain.errors import DatabaseDown, Invalid

_RETRIED_STATES = ("40001", "40P01", "55P03", "23505")
"""Serialisation failure, deadlock, lock not available, or somebody else was first: the whole function is run again."""
_READ_ONLY_STATE = "25006"
"""A server that takes no writes for now: a replica, or one that protects its disk."""
_FOREIGN_SESSION_STATES = ("26000", "42P05")
"""A statement that was prepared in another session than this one, or already in this one, by somebody else."""
_NO_SUCH_PARAMETER = "unsupported startup parameter"
_POOLER_REMEDY = "a pooler is before this server: set FOLIOT_POOLER=transaction"
READ_ONLY_REMEDY = "let this process write the file, those beside it (-wal, -shm) and their folder"
_SQLITE_REMEDIES = {
    sqlite3.SQLITE_FULL: "make room on its disk",
    sqlite3.SQLITE_READONLY: READ_ONLY_REMEDY,
    sqlite3.SQLITE_CANTOPEN: "its folder must be there, and this process must be allowed to write in it",
    sqlite3.SQLITE_IOERR: "look at its disk, and whether this process may write the files",
}
_NO_HANDLES = (errno.EMFILE, errno.ENFILE)


class Contention(Exception):
    """Somebody else was in the way: run it again."""


@contextmanager
def translated(name: str, driver: Any) -> Iterator[None]:
    """Errors of the driver, whether SQLAlchemy has wrapped them or not, as what they mean to the caller."""
    try:
        yield
    except PoolTimeout as error:
        raise DatabaseDown(f"the database {name} had no free connection within 10 s: try later") from error
    except (DBAPIError, driver.Error) as error:
        said = _first_of(error, driver)
        state = getattr(said, "sqlstate", None)
        if state in _RETRIED_STATES:
            raise Contention from error
        if state == _READ_ONLY_STATE:
            raise DatabaseDown(
                f"the database {name} takes no writes now: {_with_remedy(said)}: name its primary, or free its disk"
            ) from error
        if state in _FOREIGN_SESSION_STATES:
            raise DatabaseDown(f"the database {name} lends sessions: {str(said).strip()}: {_POOLER_REMEDY}") from error
        is_cut_off = isinstance(error, DBAPIError) and error.connection_invalidated
        if isinstance(said, driver.OperationalError) or is_cut_off:
            raise DatabaseDown(f"the database {name} cannot be used now: {_with_remedy(said)}") from error
        if getattr(said, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise Invalid(f"{name} is no SQLite database: name another file") from error
        raise
    except OSError as error:
        # Without a file handle for it, a driver cannot even wait for the server.
        if not (isinstance(error, ConnectionError | TimeoutError) or error.errno in _NO_HANDLES):
            raise
        raise DatabaseDown(f"the database {name} cannot be used now: {error}{_handles_remedy()}") from error


def _first_of(error: BaseException, driver: Any) -> BaseException:
    """The driver's error behind this one: of a cut connection the server's words, not that it could not be undone."""
    said = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    before = said.__context__ if said is error else error.__context__
    while before is not None:
        if isinstance(before, driver.Error):
            said = before
        before = before.__context__
    return said


def _with_remedy(error: BaseException | None) -> str:
    """The driver's own words, and what can be done about it; then work goes on by itself."""
    # SQLite's finer distinctions are in the upper bits.
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    remedy = _POOLER_REMEDY if _NO_SUCH_PARAMETER in str(error) else _SQLITE_REMEDIES.get(code, "")
    return str(error).strip() + (_handles_remedy() or (remedy and f": {remedy}"))


def _handles_remedy() -> str:
    """Drivers seldom say that file handles are what they lack: see whether there is one."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return f": {error.strerror}: let this process have more (ulimit -n), or close some"
    return ""
