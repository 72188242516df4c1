"""How far long work has come: on standard error, for people only."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from foliot.cli.session import Session


class Bar:
    """A bar that moves along; nothing to be seen where nobody looks."""

    def __init__(self, drawn: "Progress | None", about: str) -> None:
        self._drawn = drawn
        self._task = None if drawn is None else drawn.add_task(about, total=None)

    def move(self, done: int, total: int | None) -> None:
        if self._drawn is not None and self._task is not None:
            self._drawn.update(self._task, completed=done, total=total)


@contextmanager
def working(session: "Session", about: str) -> Iterator[Bar]:
    """A bar with rate and time left, for as long as it takes."""
    if session.is_quiet or not sys.stderr.isatty():
        yield Bar(None, about)
        return
    # Imported here: only people at a terminal wait for it.
    from foliot.cli.bars import new_bar  # noqa: PLC0415

    with new_bar() as drawn:
        yield Bar(drawn, about)
