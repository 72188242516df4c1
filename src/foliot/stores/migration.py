"""Bringing a database to the schema that this release knows."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from foliot.domain.errors import Conflict

if TYPE_CHECKING:
    from alembic.config import Config

NEWEST = "0001"
"""The last link of the chain in `migrations/versions`; a test proves it."""

_KNOWN = ("0001",)

# Alembic keeps what it works on in globals of the process.
_alembic_is_mine = threading.Lock()


class NewerSchema(Conflict):
    """A later release has written the database: there is no way back."""


def check_known(found: str | None) -> None:
    """NewerSchema unless this release can read such a database, or bring it up to date."""
    if found is not None and found not in _KNOWN:
        raise NewerSchema(
            f"the database has schema {found}, this release knows schemas up to {NEWEST}: "
            "use the release that wrote it, or a newer one"
        )


def migrate(cx: Connection) -> None:
    """Bring an empty or older database up to date; Conflict when it is newer than this release.

    The caller holds the lock under which one process at a time does so.
    """
    found = version_of(cx)
    if found == NEWEST:
        return
    check_known(found)
    # Imported here: most starts find the schema as it should be, and need no Alembic.
    from alembic import command  # noqa: PLC0415

    with _alembic_is_mine:
        command.upgrade(alembic_config(cx), "head")


def alembic_config(cx: Connection) -> "Config":
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = cx
    return config


def version_of(cx: Connection) -> str | None:
    """The schema that the database has; None for an empty one."""
    if not inspect(cx).has_table("alembic_version"):
        return None
    found = cx.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
