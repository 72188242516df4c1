"""Progress bars as rich draws them: how much is done, how fast, and how long it will take."""

import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from foliot.cli.output import has_colour


class RateColumn(ProgressColumn):
    """How many each second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s")


def new_bar() -> Progress:
    """On standard error, and gone when it is over."""
    console = Console(stderr=True, no_color=not has_colour(sys.stderr))
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
