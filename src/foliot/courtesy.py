"""Who goes first in the one interpreter of this process: what the engine starts, then requests; readers one by one."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_AT_MOST = 0.002
"""Seconds that somebody waits for another at a time: after them all share what there is."""
_BEFORE_A_WRITE = 0.02
"""The same for who is about to write: the engine would wait for all of that."""


class Courtesy:
    """Between threads that need the interpreter for a moment, and one that is waited for.

    The engine gives the interpreter away with each of a dozen statements of a turn, and has it back when whoever took
    it lets it go, milliseconds later. So others begin nothing from when something is due until it is started that can
    wait until then, and do not read beside each other: a slot waits for what one of them had begun, and not for all of
    them a dozen times. While the engine itself waits, for the disk or for who writes, it is their turn; and it asks
    afterwards whether anybody has waited, and leaves them some time.
    """

    def __init__(self, at_most: float = _AT_MOST, before_a_write: float = _BEFORE_A_WRITE) -> None:
        self._at_most = at_most
        self._before_a_write = before_a_write
        self._reading = threading.Lock()
        self._in_a_hurry: int | None = None
        """Which thread."""
        self._nobody_hurries = threading.Event()
        self._nobody_hurries.set()
        self._nobody_needs_it = threading.Event()
        """The same, and besides while who hurries waits itself."""
        self._nobody_needs_it.set()
        self._has_waited = False

    def hurry(self) -> None:
        """From now on, until it rests, the caller goes first. One thread at a time; of several the last."""
        self._in_a_hurry = threading.get_ident()
        self._nobody_hurries.clear()
        self._nobody_needs_it.clear()

    def rest(self) -> None:
        """It is nobody's turn, or anybody's."""
        self._in_a_hurry = None
        self._nobody_hurries.set()
        self._nobody_needs_it.set()

    def lend(self) -> None:
        """If it is the caller who hurries: until it takes it back, others may have the interpreter."""
        if self._in_a_hurry == threading.get_ident():
            self._nobody_needs_it.set()

    def take_back(self) -> None:
        if self._in_a_hurry == threading.get_ident():
            self._nobody_needs_it.clear()

    @property
    def is_hurried(self) -> bool:
        return not self._nobody_hurries.is_set()

    def let_pass(self) -> None:
        """Wait for who hurries, though not for long."""
        if not self._nobody_needs_it.is_set() and self._in_a_hurry != threading.get_ident():
            self._has_waited = True
            self._nobody_needs_it.wait(self._at_most)

    def politely(self, items: Iterable[T]) -> Iterator[T]:
        """Each of them when nobody hurries: for who has much to compute."""
        for item in items:
            self.let_pass()
            yield item

    def let_pass_before_a_write(self) -> None:
        """Wait until nobody hurries any more, though not for long."""
        if self.is_hurried:
            self._has_waited = True
            self._nobody_hurries.wait(self._before_a_write)

    def has_waited(self) -> bool:
        """Whether anybody has waited for who hurried, since this was last asked."""
        waited, self._has_waited = self._has_waited, False
        return waited

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
