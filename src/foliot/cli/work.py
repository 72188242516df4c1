"""`foliot worker`: one of several that run a program's schedules; and what is said when work begins."""

import logging
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from foliot.cli.programs import load
from foliot.settings.sources import Settings, read_settings
from foliot.settings.table import APP, LOG_FORMAT, LOG_LEVEL

if TYPE_CHECKING:
    from foliot.app import Foliot

Where = Annotated[
    str | None,
    Argument(metavar="APP", help="The program: file.py, file.py:name or module:name; else the one of the settings."),
]
Database = Annotated[
    str | None, Option(metavar="URL", help="sqlite:///file.db or postgresql://host/name; else the program's.")
]


Gate = Annotated[
    str | None,
    Option(metavar="URL", help="Have runs executed by the service there, and know no program: it needs --database."),
]


def worker(app: Where = None, database: Database = None, gate: Gate = None) -> None:
    """Be one of several workers on PostgreSQL: as many as you like, on as many machines.

    \b
    Examples:
      foliot worker app.py --database postgresql://db.internal/jobs
      foliot worker my_module:app
      foliot worker --gate https://jobs.internal --database postgresql://db.internal/jobs
    """
    if gate is not None:
        start({"database": database})
        from foliot.cli.gate_worker import run_gate_worker  # noqa: PLC0415
        from foliot.settings import database_url  # noqa: PLC0415

        run_gate_worker(gate, database_url(database))
        print("foliot: stopped", flush=True)
        return
    # Imported here: `--help` must not wait for the database's libraries.
    from foliot.cli.welcome import welcome  # noqa: PLC0415

    said = start({"app": app, "database": database})
    program = loaded(said, database)
    program.run(ready=lambda: print(welcome(program), flush=True))
    print("foliot: stopped", flush=True)


def start(flags: dict[str, str | int | None]) -> Settings:
    """What is said, all of it judged, and a log as it is wanted."""
    said = read_settings(flags)
    said.check()
    # Imported here: `--help` needs no log.
    from foliot.logs import configure_logs  # noqa: PLC0415

    configure_logs(said.value(LOG_LEVEL), said.value(LOG_FORMAT))
    for strange in said.unknown():
        logging.getLogger("foliot").warning("%s", strange)
    return said


def loaded(said: Settings, database: str | None) -> "Foliot":
    """The program that is wanted, on the database that a flag names, if one does."""
    program = load(said.value(APP))
    if database is not None:
        program.relocate(database)
    return program
