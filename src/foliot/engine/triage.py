"""Triage: when a turn fails, it is done again with fewer and fewer schedules, until it is known which it fails for."""

from collections.abc import Awaitable
from typing import NamedTuple, Protocol

from foliot.books.choosing import Choice
from foliot.domain.errors import Unavailable
from foliot.domain.troubles import Trouble, said_of, trouble_after
from foliot.engine.turn import Fenced
from foliot.ports import Transaction

_FOR_ALL = (Unavailable, Fenced)
"""Failures that are no schedule's own."""


class Attempt(Protocol):
    """Do a turn with those schedules alone, and raise what it raises."""

    def __call__(self, *, choice: Choice) -> Awaitable[None]: ...


class Culprit(NamedTuple):
    """A schedule that a turn fails for, and how."""

    schedule_ref: int
    error: Exception


class Bewildered(Exception):
    """A turn fails, and not for any schedule."""


async def culprits_of(attempt: Attempt, aside: frozenset[int]) -> list[Culprit]:
    """Those that it fails for, all others worked on; none when it does not fail any more.

    Bewildered when it fails without any schedule at all. What keeps everybody from working is raised as it is.
    """
    everybody = Choice(but=aside)
    error = await _failure_of(attempt, everybody)
    if error is None:
        return []
    if await _failure_of(attempt, Choice(only=())) is not None:
        raise Bewildered from error
    suspects = [_halves(sorted(everybody.touched))]
    found: list[Culprit] = []
    while suspects:
        for some in suspects.pop():
            error = await _failure_of(attempt, Choice(only=frozenset(some)))
            if error is not None and len(some) == 1:
                found.append(Culprit(some[0], error))
            elif error is not None:
                suspects.append(_halves(some))
    return found


async def _failure_of(attempt: Attempt, choice: Choice) -> Exception | None:
    try:
        await attempt(choice=choice)
    except _FOR_ALL:
        raise
    except Exception as error:  # Whatever it is: it must not end the engine, and others must not wait for it.
        return error
    return None


def _halves(suspects: list[int]) -> list[list[int]]:
    middle = len(suspects) // 2
    return [half for half in (suspects[:middle], suspects[middle:]) if half]


def set_aside(tx: Transaction, culprit: Culprit) -> tuple[str, Trouble]:
    """Leave the schedule alone for a while: its id, and what is told of it."""
    tx.states([culprit.schedule_ref])
    (row,) = tx.configurations([culprit.schedule_ref])
    trouble = trouble_after(tx.trouble(row.ref), said_of(culprit.error), tx.now)
    tx.set_aside(row.ref, trouble)
    return row.id, trouble


class Aside:
    """Schedules that a worker leaves alone, each until a moment of its steady clock."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}

    def put(self, schedule_ref: int, until: float) -> None:
        self._until[schedule_ref] = until

    def refs(self, steady: float) -> frozenset[int]:
        """Those that are still left alone."""
        if not self._until:
            return frozenset()
        self._until = {ref: until for ref, until in self._until.items() if until > steady}
        return frozenset(self._until)

    @property
    def next_at(self) -> float | None:
        """When the first of them is looked at again."""
        return min(self._until.values(), default=None)
