"""Who goes first in the one interpreter of this process: a turn of the engine, then requests; readers one by one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AT_MOST = 0.002
"""Seconds that somebody waits for another at a time: after them all share what there is."""


class Courtesy:
    """Between threads that need the interpreter for a moment, and one that is waited for.

    The engine gives the interpreter away with each of a dozen statements of a turn, and has it back when whoever took
    it lets it go, milliseconds later. So others begin nothing while a turn is under way that can wait until it is over,
    and do not read beside each other: a slot waits for what one of them had begun, and not for all of them a dozen
    times.
    """

    def __init__(self, at_most: float = _AT_MOST) -> None:
        self._at_most = at_most
        self._reading = threading.Lock()
        self._nobody_hurries = threading.Event()
        self._nobody_hurries.set()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """One at a time."""
        self._nobody_hurries.clear()
        try:
            yield
        finally:
            self._nobody_hurries.set()

    def let_pass(self) -> None:
        """Wait for who hurries, though not for long."""
        self._nobody_hurries.wait(self._at_most)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """When nobody hurries and nobody else reads, or none of them is done soon."""
        is_alone = self._reading.acquire(timeout=self._at_most)
        try:
            self.let_pass()
            yield
        finally:
            if is_alone:
                self._reading.release()


INTERPRETER = Courtesy()
"""That of this process."""
