"""`foliot backup` and `foliot migrate`: looking after a database, offline."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from foliot.cli.exits import FAILED

Database = Annotated[
    str | None, Option(metavar="URL", help="Of this database; else FOLIOT_DATABASE, the settings file, foliot.db here.")
]


def backup(to: Annotated[Path, Argument(metavar="FILE", help="A new file.")], database: Database = None) -> None:
    """Copy a SQLite database as of one moment, also beside a running server. To restore it, put the copy in its place.

    \b
    Examples:
      foliot backup foliot-2026-11-15.db
      foliot backup /var/backups/foliot.db --database sqlite:////var/lib/foliot/foliot.db
    """
    print(run_backup(to, database))


def run_backup(to: Path, database: str | None) -> str:
    from foliot.cli.offline import database_of  # noqa: PLC0415
    from foliot.stores.upkeep import back_up  # noqa: PLC0415

    return f"{to}: {back_up(database_of(database), to):,} bytes"


def migrate(
    database: Database = None,
    check: Annotated[
        bool, Option("--check", help="Change nothing; exit with 1 when there is something to do.")
    ] = False,
) -> None:
    """Bring a database to the schema of this release. A server does so when it starts.

    \b
    Examples:
      foliot migrate --check
      foliot migrate --database postgresql://db.internal/jobs
    """
    is_current, said = run_migrate(database, check=check)
    print(said)
    if check and not is_current:
        raise Exit(FAILED)


def run_migrate(database: str | None, *, check: bool) -> tuple[bool, str]:
    """Whether it has, or had to be given, the newest schema; and which it has."""
    from foliot.cli.offline import database_of  # noqa: PLC0415
    from foliot.domain.errors import NotFound  # noqa: PLC0415
    from foliot.stores.migration import NEWEST  # noqa: PLC0415
    from foliot.stores.upkeep import schema_of  # noqa: PLC0415
    from foliot.wiring import Parts  # noqa: PLC0415

    url = database_of(database)
    try:
        found = schema_of(url)
    except NotFound:
        if check:
            raise
        found = None
    if found == NEWEST:
        return True, f"schema {NEWEST}, the newest"
    had = "no schema" if found is None else f"schema {found}"
    if check:
        return False, f"{had}; this release has {NEWEST}"
    parts = Parts(url, {})
    try:
        parts.database.claim_alone()
    finally:
        parts.close()
    return False, f"{had} before, {NEWEST} now"
