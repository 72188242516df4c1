"""What changed since the last look, for whoever listens: read from the database, whoever has written it."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from foliot.domain.durations import DAY
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import FINAL
from foliot.domain.watching import Watched, watched
from foliot.lines import RunLine, ScheduleLine
from foliot.ports import Clock, Database, Transaction

LAG = 30
"""Seconds within which a server's transactions have ended: until then runs with smaller keys may still appear."""
_BASELINE = 5_000
_MOST = 20_000
"""Rows that are looked at for one look; who would have to be told of more reads anew."""


class Changes(NamedTuple):
    """What changed."""

    runs: Sequence[RunLine]
    schedules: Sequence[ScheduleLine]


class Watcher:
    """Looks at the database again and again. Used from one thread only."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[int, RunLine] = {}
        self._seen: set[int] = set()
        self._floor = 0
        self._newest: deque[tuple[float, int]] = deque()
        self._versions: dict[int, int] = {}
        self._at = 0

    def begin(self) -> None:
        """From now on changes count."""

        def act(tx: Transaction) -> None:
            floor = tx.ref_before(None, 0 if self._database.is_local else _BASELINE) or 0
            self._floor, self._at = floor, tx.now
            self._seen = set(tx.refs_after(floor, _MOST))
            self._open = {line.ref: line for line in tx.open_lines(_MOST)}
            self._versions = {line.ref: line.version for line in tx.schedules_since(self._since(tx.now), _MOST)}

        self._database.read(act)

    def look(self) -> Changes:
        return self._database.read(self._look)

    def _look(self, tx: Transaction) -> Changes:
        new = [ref for ref in tx.refs_after(self._floor, _MOST) if ref not in self._seen]
        lines = tx.lines([*new, *self._open])
        runs = [line for line in lines if self._open.get(line.ref) != line]
        self._open = {line.ref: line for line in lines if line.status not in FINAL}
        self._seen.update(new)
        self._raise_floor()
        found = tx.schedules_since(self._since(min(self._at, tx.now)), _MOST)
        schedules = [line for line in found if self._versions.get(line.ref) != line.version]
        self._versions = {line.ref: line.version for line in found}
        self._at = tx.now
        return Changes(runs, schedules)

    def _since(self, now: int) -> int:
        return now - LAG * MICROSECONDS

    def _raise_floor(self) -> None:
        """What lies below it is looked at no more, but for what is open."""
        steady = self._clock.steady()
        self._newest.append((steady, max(self._seen, default=self._floor)))
        lag = 0 if self._database.is_local else LAG
        while self._newest and self._newest[0][0] <= steady - lag:
            self._floor = max(self._floor, self._newest.popleft()[1])
        self._seen = {ref for ref in self._seen if ref > self._floor}

    def place(self, owner: str | None) -> Watched:
        """Where somebody has come to who sees that user's runs, or all."""
        refs = (line.ref for line in self._open.values() if owner in (None, line.owner))
        return watched(self._at, self._floor, refs)

    def since(self, place: Watched) -> Changes | None:
        """What changed since somebody had come to that place; None: too much, or nobody knows."""

        def act(tx: Transaction) -> Changes | None:
            newest = tx.ref_before(None, 0) or 0
            if place.floor > newest or not 0 <= tx.now - place.at + LAG * MICROSECONDS <= DAY * MICROSECONDS:
                return None
            refs = tx.refs_after(place.floor, _MOST)
            schedules = tx.schedules_since(self._since(place.at), _MOST)
            if max(len(refs), len(schedules)) == _MOST:
                return None
            before = self._since(place.at)
            runs = [
                line
                for line in tx.lines({*place.olds, *refs})
                if line.status not in FINAL or max(line.created_at, line.ended_at or 0) >= before
            ]
            return Changes(runs, schedules)

        return self._database.read(act)
