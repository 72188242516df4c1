"""`foliot serve` and `foliot worker`: run a program's schedules."""

import argparse
import importlib
import logging
import sys
from typing import TYPE_CHECKING

from foliot.domain.errors import Invalid

if TYPE_CHECKING:
    from foliot.app import Foliot


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    for name, about in (
        ("serve", "run a program's schedules on its database; on SQLite the one process that does"),
        ("worker", "one of several workers on PostgreSQL: the same, as often as you like"),
    ):
        parser = commands.add_parser(name, help=about, description=about)
        parser.add_argument("app", metavar="MODULE:APP", help="where the Foliot is, such as my_module:app")
        parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    # What Alembic says of a schema that it creates is no news to anybody.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    app = load(arguments.app)
    app.run(ready=lambda: _announce(app))
    return "foliot: stopped"


def _announce(app: "Foliot") -> None:
    coming = sorted(s.next_at for s in app.schedules.list(app=app.name, limit=1000) if s.next_at is not None)[:3]
    first = ", ".join(f"{moment:%Y-%m-%d %H:%M:%SZ}" for moment in coming) or "none to come"
    print(f"foliot: {app.name} works on {app.shown_url}; next: {first}. Stop it with Ctrl-C.", flush=True)


def load(text: str) -> "Foliot":
    """The Foliot of `module:name`, found from the working directory."""
    # Imported here: a preview must not wait for the database's libraries.
    from foliot.app import Foliot  # noqa: PLC0415

    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise Invalid(f"an app is module:name, such as my_module:app, got {text!r}")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name.removesuffix(".py"))
    except ModuleNotFoundError as error:
        if error.name != module_name.removesuffix(".py").split(".")[0]:
            raise
        raise Invalid(f"there is no module {module_name!r} here: start foliot in the folder that it is in") from error
    app = getattr(module, name, None)
    if not isinstance(app, Foliot):
        raise Invalid(f"{text} is no Foliot, got {app!r}: write `{name} = Foliot(...)` in {module_name}")
    return app
