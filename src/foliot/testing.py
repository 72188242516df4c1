"""Test your own schedules: a virtual clock that drives the real engine on a real database, days in milliseconds."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from foliot.app import Foliot
from foliot.domain.durations import Span, span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import instant_of, moment_of
from foliot.engine.loop import Engine
from foliot.executors.langgraph import in_memory
from foliot.ports import Carrier
from foliot.services.views import Run
from foliot.stores.blanks import write_blank
from foliot.virtual_time import VirtualTime
from foliot.wiring import Parts

_NEVER = 10**16


class World:
    """An app, its database and its workers, under a clock that moves only when told to."""

    def __init__(
        self,
        app: Foliot,
        start: datetime | str,
        database: str,
        workers: int,
        carrier: Carrier | None,
        *,
        is_passing: bool = False,
    ) -> None:
        self.app = app
        self._time = VirtualTime(instant_of(start, "start"))
        try:
            self._parts = Parts(database, app.executors, self._time.clock, app.pricing, carrier, is_passing=is_passing)
            if workers > 1 and self._parts.database.is_local:
                raise Invalid("several workers need PostgreSQL: give its URL as database, or be content with one")
        except Invalid:
            self._time.loop.close()
            raise
        self._clock, self._loop = self._time.clock, self._time.loop
        self._before = (app.inhabited, app.functions.is_inline)
        app.functions.is_inline = True
        self._working: dict[int, tuple[Engine, asyncio.Task[None]]] = {}
        self._numbers = range(workers)
        self._elapsed = timedelta()

    @property
    def now(self) -> datetime:
        return moment_of(self._clock.now())

    def advance(
        self,
        span: Span = 0,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> None:
        """Let that much time pass, and everything in it happen."""
        length = span if isinstance(span, timedelta) else timedelta(microseconds=span_of("span", span))
        length += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if length < timedelta():
            raise Invalid(f"time passes forward, got {length}: `step_clock` sets the wall clock back")
        self._elapsed += length
        self._time.pass_until(self._elapsed / timedelta(seconds=1))
        for _, task in self._working.values():
            if task.done():
                task.result()

    def advance_to(self, moment: datetime | str) -> None:
        """Let time pass until that moment."""
        self.advance(moment_of(instant_of(moment, "moment")) - self.now)

    def step_clock(self, span: timedelta) -> None:
        """Set the wall clock, forward or back, while no time passes."""
        self._clock.start += span // timedelta(microseconds=1)
        for engine, _ in self._working.values():
            engine.poke()
        self.advance()

    def runs(self, schedule: str | None = None, **wanted: Any) -> list[Run]:
        """The runs in the ledger, oldest first."""
        found: list[Run] = []
        while True:
            page = self.app.runs.list(schedule, limit=10_000, offset=len(found), **wanted)
            found += page
            if len(page) < 10_000:
                return found[::-1]

    def kill(self, worker: int = 0) -> None:
        """The worker is dead from this moment, as by `kill -9`; what it ran is cut off."""
        engine, task = self._of(worker)
        engine.kill()
        task.cancel()
        self._parts.engines.remove(engine)
        del self._working[worker]
        self.advance()

    def stop(self, worker: int = 0) -> None:
        """The worker stops gracefully: it starts nothing more and lets its runs finish as time passes."""
        engine, _ = self._of(worker)
        engine.stop()
        self.advance()

    def restart(self, worker: int = 0) -> None:
        """A new worker in the place of one that was killed or has stopped; it does what a new process does."""
        if worker in self._working:
            engine, task = self._working[worker]
            if not task.done():
                raise Invalid(f"worker {worker} is at work: kill or stop it first")
            self._parts.engines.remove(engine)
            del self._working[worker]
        self._begin(worker)
        self.advance()

    def engine(self, worker: int = 0) -> Engine:
        return self._of(worker)[0]

    def _of(self, worker: int) -> tuple[Engine, asyncio.Task[None]]:
        if worker not in self._working:
            raise Invalid(f"worker {worker} is not at work: restart it first")
        return self._working[worker]

    def _begin(self, worker: int) -> None:
        self.app.declare()
        # Workers do not hear of each other here: where there are several, each looks as often as it does in earnest.
        look = _NEVER if len(self._numbers) == 1 else self.app.settings.look
        settings = replace(self.app.settings, inline=True, look=look, clock_check=_NEVER, nap_within=0)
        engine = self._parts.engine(f"virtual {worker}", settings)
        self._working[worker] = (engine, self._loop.create_task(engine.run()))

    def open(self) -> None:
        self.app.inhabit(self._parts)
        for worker in self._numbers:
            self._begin(worker)
        self.advance()

    def close(self) -> None:
        for worker in list(self._working):
            self.kill(worker)
        self._time.cut_off()
        self._parts.close()
        parts, inline = self._before
        self.app.inhabit(parts)
        self.app.functions.is_inline = inline
        self._loop.close()


@contextmanager
def virtual(
    app: Foliot,
    start: datetime | str,
    *,
    database: str | None = None,
    workers: int = 1,
    carrier: Carrier | None = None,
) -> Iterator[World]:
    """The app in a world of its own: its schedules on a fresh SQLite file, or on the database given, from `start`.

    Async functions that sleep do so in virtual time; sync ones, and `asyncio.to_thread`, take none. What webhooks are
    told is handed to `carrier`; without one they are told nothing. The app's own database is not touched.
    """
    with tempfile.TemporaryDirectory(prefix="foliot-") as folder, in_memory(app.executors.values()):
        world = World(app, start, database or _fresh(folder), workers, carrier, is_passing=database is None)
        try:
            world.open()
            yield world
        finally:
            world.close()


def _fresh(folder: str) -> str:
    file = Path(folder) / "world.db"
    write_blank(file)
    return f"sqlite:///{file}"
