"""Who goes first in one interpreter: a worker's turn before those who only look, and these one after the other."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AT_MOST = 0.01
"""Seconds that somebody waits for each of the two: after them all share what there is."""


class Courtesy:
    """Between threads that need the interpreter for a moment, and one that is waited for.

    A worker gives the interpreter away with each of a dozen statements of its turn, and has it back when whoever took
    it lets it go, milliseconds later. So who looks lets a turn pass that has begun, and does not look beside others:
    one slot waits for one of them at the most, and not for all of them a dozen times.
    """

    def __init__(self, at_most: float = _AT_MOST) -> None:
        self._at_most = at_most
        self._looking = threading.Lock()
        self._nobody_hurries = threading.Event()
        self._nobody_hurries.set()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """One at a time: who hurries has the lead of the writers."""
        self._nobody_hurries.clear()
        try:
            yield
        finally:
            self._nobody_hurries.set()

    @contextmanager
    def looking(self) -> Iterator[None]:
        is_alone = self._looking.acquire(timeout=self._at_most)
        try:
            self._nobody_hurries.wait(self._at_most)
            yield
        finally:
            if is_alone:
                self._looking.release()
