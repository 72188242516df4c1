"""Who could have done it sooner: when each worker was well, since when it knew, and when it had room."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from foliot.domain.instants import MICROSECONDS
from tests.simulation import weather
from tests.simulation.shaky import DEATH_AFTER, DEATH_INSIDE, SLOW_COMMIT
from tests.simulation.worker import HEARTBEAT, LOOK

PROMPT = 8.0
"""Seconds: the engine's longest backoff, five, and some for the turns themselves."""
_FOREVER = float("inf")
_ENDS = (DEATH_INSIDE, DEATH_AFTER, weather.KILL, weather.STOP)
_CLOCKS = (weather.CLOCK_STEP, weather.SKEW)
_HARMLESS = (weather.GATE_AWAY, weather.GATE_BLIND, weather.LOST_HINT, "away", "the healing")
"""None of these keeps a worker from its turns. What it was not told it finds at its next look."""

Span = tuple[float, float]


class Owed(NamedTuple):
    """Something that any worker was to do."""

    since: float
    """When it could be done."""
    written: float
    """When it came into the books as it is: whoever has looked since then knows of it."""
    target: int | None = None
    """What a worker needs room for, when it does."""


class Lease:
    """A run in a worker's hands, and in one of its threads."""

    def __init__(self, began: float, is_sync: bool) -> None:
        self.began = began
        self.is_sync = is_sync
        self.ended = _FOREVER
        self.thread_ended = 0.0


class Watch:
    """One worker: its life, its troubles and its looks."""

    def __init__(self, name: str, began: float, most: int, threads: int) -> None:
        self.name = name
        self.began = began
        self.ended = _FOREVER
        self.leases: dict[tuple[int, int], Lease] = {}
        self._most = most
        self._threads = threads
        self._unwell: list[Span] = []
        self._unsure_until = began + LOOK
        """Until then it may not know the database's clock: it has just come, or a clock was set."""
        self._looked: list[float] = []
        self._concluded: list[float] = []
        self.told: list[float] = []

    def suffer(self, kind: str, began: float, ended: float) -> None:
        if kind in _ENDS:
            self.ended = min(self.ended, began)
        elif kind in _CLOCKS:
            ended = began + LOOK
            self._unsure_until = max(self._unsure_until, ended)
        elif kind in (SLOW_COMMIT, weather.FREEZE) and began <= self._unsure_until:
            # Who waits long for an answer cannot tell what the database's clock shows.
            ended += LOOK
            self._unsure_until = max(self._unsure_until, ended)
        self._unwell.append((began, ended))

    def look(self, looked: float, concluded: float) -> None:
        """It made a turn: what was in the books when it looked it knew when that was concluded."""
        self._looked.append(looked)
        self._concluded.append(concluded)

    def _knows_from(self, written: float) -> float:
        look, hint = bisect_right(self._looked, written), bisect_left(self.told, written)
        return min((*self._concluded[look : look + 1], *self.told[hint : hint + 1]), default=_FOREVER)

    def idle_span(self, owed: Owed, until: float, is_sync: bool) -> Span | None:
        """The first time within which it would have done it, had it done what it is for."""
        began, until = max(owed.since, self.began), min(until, self.ended)
        if until - began <= PROMPT:
            return None
        busy = [span for span in self._unwell if span[1] >= began and span[0] <= until]
        if owed.target is not None:
            busy += self._full(began, until, is_sync)
        knows_from = self._knows_from(owed.written)
        for first, last in _between(busy, began, until):
            if last - max(first, knows_from) > PROMPT or last - max(first, owed.written) > LOOK + PROMPT:
                return first, last
        return None

    def _full(self, began: float, until: float, is_sync: bool) -> list[Span]:
        """When it had room for nothing, or for nothing that needs a thread."""
        leases = [lease for lease in self.leases.values() if lease.began <= until]
        spans = _crowded([(lease.began, lease.ended) for lease in leases if lease.ended >= began], self._most)
        if is_sync:
            used = [(lease.began, max(lease.ended, lease.thread_ended)) for lease in leases if lease.is_sync]
            spans += _crowded([span for span in used if span[1] >= began], self._threads)
        return spans


class Punctuality:
    """All workers of a day."""

    def __init__(self) -> None:
        self.watches: dict[str, Watch] = {}
        self._last, self._same = 0.0, 0
        self._for_all: list[tuple[str, float, float]] = []
        """Troubles of everybody, also of those who come while they last."""

    def moment(self, now: float) -> float:
        """Now, and after all that was said to be now before: much happens within one instant of virtual time."""
        self._same = self._same + 1 if now == self._last else 0
        self._last = now
        return now + self._same * 1e-7

    def hear(self, name: str, now: float) -> None:
        """A worker was told that something was written: it looks as soon as it can."""
        self.watches[name].told.append(self.moment(now))

    def begin(self, name: str, now: float, most: int, threads: int) -> None:
        watch = self.watches[name] = Watch(name, now, most, threads)
        for kind, began, ended in self._for_all:
            if ended >= now:
                watch.suffer(kind, began, ended)

    def suffer(self, kind: str, began: float, ended: float, whom: str | None) -> None:
        if kind in _HARMLESS:
            return
        if whom is None:
            self._for_all.append((kind, began, ended))
        for watch in self.watches.values():
            if watch.ended >= began and whom in (watch.name, None):
                watch.suffer(kind, began, ended)

    def lease(self, name: str, key: tuple[int, int], now: float, is_sync: bool) -> None:
        self.watches[name].leases.setdefault(key, Lease(now, is_sync))

    def release(self, name: str, key: tuple[int, int], now: float, by_itself: bool) -> None:
        """It is out of its hands: at once, or when it next compares them with the books."""
        lease = self.watches[name].leases.get(key)
        if lease is not None:
            lease.ended = min(lease.ended, now if by_itself else now + HEARTBEAT + PROMPT)

    def in_thread(self, name: str, key: tuple[int, int], until: float) -> None:
        lease = self.watches[name].leases.get(key)
        if lease is not None:
            lease.thread_ended = until

    def idler(self, owed: Owed, until: float, is_sync: bool = False, but: str | None = None) -> str | None:
        """Who could have done it long before, and when."""
        if until - owed.since <= PROMPT:
            return None
        for watch in self.watches.values():
            if watch.name == but or watch.ended < owed.since:
                continue
            span = watch.idle_span(owed, until, is_sync)
            if span is not None:
                return f"{watch.name} was well and free from {span[0]:.3f} to {span[1]:.3f}"
        return None


def _crowded(spans: Iterable[Span], most: int) -> list[Span]:
    """When there were so many at once."""
    steps = sorted((at, step) for began, ended in spans for at, step in ((began, 1), (ended, -1)))
    crowded: list[Span] = []
    count, since = 0, 0.0
    for at, step in steps:
        count += step
        if step == 1 and count == most:
            since = at
        elif step == -1 and count == most - 1:
            crowded.append((since, at))
    return crowded


def _between(busy: Iterable[Span], began: float, until: float) -> Iterable[Span]:
    """What is left of that time."""
    for first, last in sorted(busy):
        if first > began:
            yield began, min(first, until)
        began = max(began, last)
        if began >= until:
            return
    yield began, until


def due_since(times: list[tuple[float, int]], instant: int) -> float:
    """Since when the database's clock has shown that instant or a later one, without a break; it may be to come."""
    since = _FOREVER
    for index in range(len(times) - 1, -1, -1):
        began, offset = times[index]
        crossed = (instant - offset) / MICROSECONDS
        ended = times[index + 1][0] if index + 1 < len(times) else _FOREVER
        if crossed >= ended:
            return since
        if crossed > began:
            return crossed
        since = began
    return since
