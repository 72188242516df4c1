"""`foliot settings`: every setting, its value and where that comes from."""

from typing import Annotated

from typer import Option

from foliot.cli.lazily import new_app
from foliot.settings.sources import Settings, read_settings
from foliot.settings.table import TABLE

app = new_app("Look at the settings, and where they come from.")


@app.callback()
def _all() -> None:
    pass


@app.command()
def show(
    origin: Annotated[bool, Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show what holds here: flags, environment, file, defaults. Secrets are never shown. Offline.

    \b
    Examples:
      foliot settings show --origin
    """
    said = read_settings()
    said.check()
    rows = [("SETTING", "VALUE", "ORIGIN"), *_rows(said)]
    shown = rows if origin else [row[:2] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for strange in said.unknown():
        print(f"warning: {strange}")


def _rows(said: Settings) -> list[tuple[str, str, str]]:
    return [(setting.name, said.shown(setting), said.origin(setting)) for setting in TABLE]
