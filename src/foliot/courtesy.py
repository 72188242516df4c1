"""Who goes first in the one interpreter of this process: the engine, who writes, the others; readers one by one."""

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

    Who gives the interpreter away, as the engine does with each of a dozen statements of a turn, has it back when
    whoever took it lets it go, milliseconds later. So others begin nothing that can wait from when something is due
    until it is started, and do not read beside each other: a slot waits for what one of them had begun, and not for all
    of them a dozen times. Nor do they while somebody writes to a database that takes one writer at a time: the engine
    may have come to wait for him. It asks after a turn whether anybody has waited, and leaves them some time.
    """

    def __init__(self, at_most: float = _AT_MOST, before_a_write: float = _BEFORE_A_WRITE) -> None:
        self._at_most = at_most
        self._before_a_write = before_a_write
        self._reading = threading.Lock()
        self._changing = threading.Lock()
        self._hurried: int | None = None
        """Which thread, as below."""
        self._writing: int | None = None
        self._nobody_hurries = threading.Event()
        self._nobody_hurries.set()
        self._nobody_is_waited_for = threading.Event()
        """Nobody hurries and nobody writes."""
        self._nobody_is_waited_for.set()
        self._has_waited = False

    def hurry(self) -> None:
        """From now on, until it rests, the caller goes first. One thread at a time; of several the last."""
        with self._changing:
            self._hurried = threading.get_ident()
            self._nobody_hurries.clear()
            self._nobody_is_waited_for.clear()

    def rest(self) -> None:
        """It is nobody's turn, or anybody's."""
        with self._changing:
            self._hurried = None
            self._nobody_hurries.set()
            if self._writing is None:
                self._nobody_is_waited_for.set()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Others let the caller pass too, until it has only to wait for the disk. One thread at a time."""
        with self._changing:
            self._writing = threading.get_ident()
            self._nobody_is_waited_for.clear()
        try:
            yield
        finally:
            with self._changing:
                self._writing = None
                if self._hurried is None:
                    self._nobody_is_waited_for.set()

    @property
    def is_hurried(self) -> bool:
        return not self._nobody_hurries.is_set()

    def let_pass(self) -> None:
        """Wait for who hurries and for who writes, though not for long."""
        if self._nobody_is_waited_for.is_set() or threading.get_ident() in (self._hurried, self._writing):
            return
        self._has_waited = self._has_waited or self.is_hurried
        self._nobody_is_waited_for.wait(self._at_most)

    def politely(self, items: Iterable[T]) -> Iterator[T]:
        """Each of them when nobody is waited for: for who has much to compute."""
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
