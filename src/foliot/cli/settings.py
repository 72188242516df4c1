"""`foliot settings`: every setting, its value and where that comes from."""

from typing import Annotated

from typer import Option

from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Session, printing
from foliot.settings.sources import read_settings
from foliot.settings.table import TABLE

app = new_app("Look at the settings, and where they come from.")


@app.callback()
def _all() -> None:
    pass


@app.command()
@printing
def show(
    session: Session,
    origin: Annotated[bool, Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show what holds here: flags, environment, file, defaults. Secrets are never shown. Offline.

    \b
    Examples:
      foliot settings show --origin
      foliot settings show -o json
    """
    said = read_settings()
    said.check()
    found = [{"name": one.name, "value": said.shown(one), "origin": said.origin(one)} for one in TABLE]
    columns = {"SETTING": "name", "VALUE": "value"} | ({"ORIGIN": "origin"} if origin else {})
    session.show_all(found, View(columns, name="name"))
    for strange in said.unknown():
        session.say(f"warning: {strange}")
