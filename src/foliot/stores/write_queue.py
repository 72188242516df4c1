"""Who writes next: one at a time leads, and carries out what others wait with, so that all of it is one commit."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from foliot.joint import Joint

_MOST_ALONG = 64
"""That are done along with each other: whoever is in a hurry waits for all of them."""


class Waiting:
    """A thread that waits to write: until somebody has done it along with his own, or until it has the lead."""

    __slots__ = ("_bell", "act", "answer", "error", "goes_alone", "is_gone", "leads", "thread")

    def __init__(self, act: Callable[[Any], Any] | None, thread: int) -> None:
        self.act = act
        self.thread = thread
        self.leads = False
        self.goes_alone = False
        """Whether it was tried along with others, and could not be done."""
        self.is_gone = False
        """Whether it was interrupted as it waited: it must never have the lead, for it would not know."""
        self.answer: Any = None
        self.error: BaseException | None = None
        self._bell = threading.Lock()
        self._bell.acquire()

    def wait(self) -> None:
        self._bell.acquire()

    def ring(self) -> None:
        """It need not wait any more."""
        self._bell.release()


class WriteQueue:
    """At most one thread leads. The others wait: in front those who lead for themselves, then those who need not."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._leader: int | None = None
        self._is_hasty = False
        """Whether the leader leads for himself, and does nothing for others."""
        self._again = 0
        """How often the leader has come in besides the first time."""
        self._in_front: deque[Waiting] = deque()
        self._others: deque[Waiting] = deque()

    def enter(self, act: Callable[[Any], Any] | None = None) -> Waiting | None:
        """None when the caller has the lead, and must `leave`; else what became of its act, which somebody has done.

        Without an act it leads in any case, as soon as it can, and for itself alone.
        """
        me = threading.get_ident()
        if self._leader == me:
            self._again += 1
            return None
        waiting = Waiting(act, me)
        try:
            if self._leads_now(waiting, self._in_front if act is None else self._others):
                return None
            waiting.wait()
        except BaseException:
            self._withdraw(waiting)
            raise
        return None if waiting.leads else waiting

    def _leads_now(self, waiting: Waiting, line: deque[Waiting]) -> bool:
        """Whether it has the lead, since nobody had it; else it stands in line."""
        with self._changing:
            if self._leader is None:
                self._follow(waiting)
                return True
            line.append(waiting)
            return False

    def _follow(self, heir: Waiting | None) -> None:
        self._leader = None if heir is None else heir.thread
        self._is_hasty = heir is not None and heir.act is None

    def next(self) -> Waiting | None:
        """One whose act the leader may do besides his own; none while somebody in a hurry leads, or waits to."""
        if self._is_hasty or not self._others:
            return None
        with self._changing:
            return self._others.popleft() if self._others and not self._in_front else None

    def has_along(self, first: Waiting) -> bool:
        """Whether the next in line can be done along with it; not while somebody in a hurry leads, or waits to."""
        with self._changing:
            return self._goes_along(first)

    def along_with(self, first: Waiting) -> list[Waiting]:
        """Those next in line who can be done along with that one."""
        found: list[Waiting] = []
        with self._changing:
            while len(found) < _MOST_ALONG and self._goes_along(first):
                found.append(self._others.popleft())
        return found

    def _goes_along(self, first: Waiting) -> bool:
        if self._is_hasty or self._in_front or first.goes_alone or not isinstance(first.act, Joint):
            return False
        return bool(self._others) and not self._others[0].goes_alone and first.act.goes_with(self._others[0].act)

    def give_back(self, several: Sequence[Waiting]) -> None:
        """They could not be done along with others: each that still waits is next in line again, and goes alone."""
        for waiting in several:
            waiting.goes_alone = True
        with self._changing:
            self._others.extendleft(waiting for waiting in reversed(several) if not waiting.is_gone)

    def leave(self) -> None:
        """Somebody else has the lead now, if anybody waits for it."""
        with self._changing:
            if self._again:
                self._again -= 1
                return
            heir = self._in_front.popleft() if self._in_front else self._others.popleft() if self._others else None
            self._follow(heir)
        if heir is not None:
            heir.leads = True
            heir.ring()

    def _withdraw(self, waiting: Waiting) -> None:
        """It was interrupted as it waited: nobody does it, unless somebody is at it already."""
        with self._changing:
            waiting.is_gone = True
            for line in (self._in_front, self._others):
                if waiting in line:
                    line.remove(waiting)
                    return
            leads = self._leader == waiting.thread
        if leads:
            self.leave()
