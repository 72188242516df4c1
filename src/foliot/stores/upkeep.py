"""Looking after a database from outside: which schema it has, whether it may be read as it is, and a copy of it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from foliot.domain.errors import Conflict, Invalid, NotFound, Unavailable
from foliot.stores.migration import NEWEST, check_known, version_of


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite database that is there; None for another kind. NotFound when there is no such file."""
    try:
        made = make_url(url)
        kind = made.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise Invalid("a database URL is sqlite:///file.db or postgresql://host/name") from error
    if kind in ("postgresql", "postgres"):
        return None
    if kind != "sqlite":
        raise Invalid(f"a database URL is sqlite:///file.db or postgresql://host/name, got one of {kind}")
    path = Path(made.database or "")
    if not path.is_file():
        raise NotFound(f"there is no database {made.database}: name the file that a server works on")
    return path


def schema_of(url: str) -> str | None:
    """The schema that a database has; None for an empty one. Nothing is created, migrated or locked."""
    path = sqlite_path(url)
    made = make_url(url)
    if path is not None:
        engine = create_engine(
            "sqlite://",
            poolclass=NullPool,
            creator=lambda: sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True),
        )
    else:
        arguments = {"connect_timeout": 5}
        engine = create_engine(made.set(drivername="postgresql+psycopg"), poolclass=NullPool, connect_args=arguments)
    name = made.database if path is not None else f"{made.host or 'local socket'}/{made.database}"
    try:
        with engine.connect() as cx:
            return version_of(cx)
    except DBAPIError as error:
        raise Unavailable(f"the database {name} cannot be used now: {error.orig}") from error


def check_current(url: str) -> None:
    """Conflict unless the database has the schema of this release: so that whoever only reads does not change it."""
    found = schema_of(url)
    if found != NEWEST:
        check_known(found)
        what = "is empty" if found is None else f"has schema {found}"
        raise Conflict(f"the database {what}, and this release reads schema {NEWEST}: `foliot migrate` brings it there")


def back_up(url: str, to: Path) -> int:
    """A copy of a SQLite database as of one moment, beside whoever writes it; how many bytes it has.

    It is whole and on disk when this returns, or is not there; nothing is overwritten.
    """
    path = sqlite_path(url)
    if path is None:
        raise Invalid("a backup here is of a SQLite file: use pg_dump for PostgreSQL")
    if to.exists():
        raise Conflict(f"{to} is there already: name another file, or remove it")
    part = to.with_name(f"{to.name}.part")
    try:
        # Made first, so that nobody else can ever read it.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise Unavailable(f"cannot write {part}: {error.strerror}") from error
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(part)) as copy,
        ):
            # In one go: in steps, every commit of the writer's would begin it anew.
            source.backup(copy)
            if (said := copy.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise Unavailable(f"{path} is damaged, and so would be its copy: {said}")
            copy.execute("PRAGMA journal_mode=DELETE")
        _sync(part)
        os.link(part, to)
        _sync(to.parent)
        return to.stat().st_size
    except sqlite3.Error as error:
        raise Unavailable(f"{path} cannot be backed up now: {error}") from error
    except FileExistsError as error:
        raise Conflict(f"{to} is there already: name another file, or remove it") from error
    except OSError as error:
        raise Unavailable(f"cannot write {to}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
