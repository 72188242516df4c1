"""`foliot serve`: the API and a worker in one process."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option

from foliot.cli.programs import folder_of
from foliot.cli.reloading import GRACE, Reloader
from foliot.cli.work import Database, Where, loaded, start
from foliot.domain.errors import Invalid
from foliot.settings.sources import Settings
from foliot.settings.table import APP, HOST, PORT

if TYPE_CHECKING:
    from foliot.app import Foliot
    from foliot.serving import Server


def serve(
    app: Where = None,
    host: Annotated[str | None, Option(metavar="ADDRESS", help="Where the API listens; else 127.0.0.1.")] = None,
    port: Annotated[
        int | None, Option(metavar="N", help="Where it listens; else 8420. 0: wherever there is room.")
    ] = None,
    database: Database = None,
    no_worker: Annotated[bool, Option("--no-worker", help="Only the API: workers are elsewhere.")] = False,
    no_api: Annotated[bool, Option("--no-api", help="Only the worker: nothing listens.")] = False,
    reload: Annotated[
        bool,
        Option("--reload", help=f"Start again when a .py file of the program changes; runs have {GRACE} to finish."),
    ] = False,
) -> None:
    """Run a program's schedules, and answer requests about them: the API and a worker in one process.

    On this machine's own address the first start makes a key for whoever started it, and keeps it in the profile that
    the other commands use.

    \b
    Examples:
      foliot serve app.py
      foliot serve app.py --reload
      foliot serve my_module:app --database postgresql://db.internal/jobs --port 9000
    """
    if no_worker and no_api:
        raise Invalid("--no-worker and --no-api leave nothing to do: leave one of them out")
    said = start({"app": app, "host": host, "port": port, "database": database})
    if reload:
        where = said.value(APP)
        if where is None:
            raise Invalid("--reload takes an app whose files it can watch, as in `foliot serve app.py --reload`")
        arguments = [argument for argument in sys.argv[1:] if argument != "--reload"]
        raise SystemExit(Reloader(folder_of(where), arguments).watch())
    program = loaded(said, database)
    _run(program, None if no_api else _server(program, said), is_worker=not no_worker)
    print("foliot: stopped", flush=True)


def _server(program: "Foliot", said: Settings) -> "Server":
    # Imported here: `--help` needs no server, and a worker neither.
    from foliot.serving import Server  # noqa: PLC0415

    return Server(program.asgi(), said.value(HOST), said.value(PORT))


def _run(program: "Foliot", server: "Server | None", *, is_worker: bool) -> None:
    from foliot.cli.local_key import find_key  # noqa: PLC0415
    from foliot.cli.welcome import welcome  # noqa: PLC0415

    key = None if server is None else find_key(program, server)

    def ready() -> None:
        print(welcome(program, server, key, is_worker=is_worker), flush=True)

    if is_worker:
        program.run(ready, server)
    elif server is not None:
        asyncio.run(program.attend(server, ready))
