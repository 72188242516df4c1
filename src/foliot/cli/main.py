"""`foliot`: the command line.

A command is a function with typer's annotations, or a `typer.Typer` of several, in a module of this package, and one
line in COMMANDS that says where. Only what is asked for is imported.
"""

import os
import sys
from typing import Annotated

import typer

from foliot.cli.lazily import Lazily, Module
from foliot.cli.shells import teach_typer

COMMANDS = {
    "serve": Module("foliot.cli.serve", "serve", "run a program's schedules, and answer requests about them"),
    "worker": Module("foliot.cli.work", "worker", "be one of several workers on PostgreSQL"),
    "init": Module("foliot.cli.starter", "init", "write a program and settings to begin with"),
    "schedule": Module("foliot.cli.schedules", "app", "create, look at and change schedules"),
    "run": Module("foliot.cli.runs", "app", "look at runs, follow, stop and retry them"),
    "backfill": Module("foliot.cli.backfills", "app", "look at backfills and stop them"),
    "decision": Module("foliot.cli.decisions", "app", "see what waits for you, and answer it"),
    "workflow": Module("foliot.cli.workflows", "app", "deploy workflows, and look at their versions"),
    "grant": Module("foliot.cli.grants", "app", "make, look at, extend and revoke permissions"),
    "account": Module("foliot.cli.accounts", "app", "see what there is to pay with"),
    "webhook": Module("foliot.cli.webhooks", "app", "have a URL told what happens"),
    "key": Module("foliot.cli.people", "keys", "make, look at and revoke API keys"),
    "user": Module("foliot.cli.people", "users", "say who may do what"),
    "trail": Module("foliot.cli.people", "trail", "see who changed what"),
    "preview": Module("foliot.cli.preview", "show_preview", "show when a spec fires, offline"),
    "simulate": Module("foliot.cli.simulate", "simulate", "see what the days to come will bring, on a virtual clock"),
    "audit": Module("foliot.cli.audit", "audit", "prove that the ledger has every slot once"),
    "doctor": Module("foliot.cli.doctor", "doctor", "say what is wrong with a database, and the remedy"),
    "backup": Module("foliot.cli.upkeep", "backup", "copy a SQLite database beside a running server"),
    "migrate": Module("foliot.cli.upkeep", "migrate", "bring a database to the schema of this release"),
    "settings": Module("foliot.cli.settings", "app", "look at the settings, and where they come from"),
}


class Commands(Lazily):
    modules = COMMANDS


app = typer.Typer(
    cls=Commands,
    help="Durable scheduling: schedules, their runs, and why each moment did or did not run.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        # Imported here: it takes its time, and hardly anybody asks.
        from importlib.metadata import version  # noqa: PLC0415

        print(f"foliot {version('foliot')}")
        raise typer.Exit


@app.callback()
def _all(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    output = sys.stdout
    teach_typer(sys.argv[1:])
    try:
        try:
            app(prog_name="foliot")
        finally:
            if output is not None:
                output.flush()
    except BrokenPipeError:
        # The reader, `head` perhaps, has seen enough. Nothing more is to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
    except SystemExit:
        # Typer has put another in its place where the reader went away meanwhile.
        if sys.stdout is output:
            raise
    except OSError as error:
        print(f"foliot: cannot write the answer: {error.strerror}", file=sys.stderr)
        os._exit(1)  # A plain exit would try to write it once more, and fail with a traceback.
