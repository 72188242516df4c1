"""Test your own schedules: a virtual clock that drives the real engine on a real database, days in milliseconds."""

import asyncio
import selectors
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from foliot.app import Foliot
from foliot.domain.durations import Span, span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of
from foliot.engine.loop import Engine
from foliot.executors.langgraph import in_memory
from foliot.services.views import Run
from foliot.wiring import Parts

_NEVER = 10**16
_HALF_A_MICROSECOND = 5e-7
_MOST_STUBBORN = 100
"""So often a run that goes on after it was cancelled is cancelled again when its world ends."""


class _Selector(selectors.DefaultSelector):
    """Instead of waiting, time passes: the loop asks for the next event, and it is that time already."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.horizon = 0.0
        self.reached: Callable[[], None] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # A timer for the horizon itself is due there, whatever a sum of fractions makes of it.
        if timeout is None or self.time + timeout > self.horizon + _HALF_A_MICROSECOND:
            self.time = max(self.time, self.horizon)
            self.reached()
        elif timeout > 0:
            self.time += timeout
        return super().select(0)


class _NoThreads(ThreadPoolExecutor):
    """What is handed to a thread is done at once: virtual time would not wait for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that lives in virtual time."""

    def __init__(self, selector: _Selector) -> None:
        super().__init__(selector)
        self._virtual = selector
        self.set_default_executor(_NoThreads())

    def time(self) -> float:
        return self._virtual.time


class _Clock:
    """The wall clock of the virtual world: its loop's time, and whatever steps the clock was set by."""

    def __init__(self, start: int, selector: _Selector) -> None:
        self.start = start
        self._selector = selector

    def now(self) -> int:
        return self.start + round(self._selector.time * MICROSECONDS)

    def steady(self) -> float:
        return self._selector.time


class World:
    """An app, its database and its workers, under a clock that moves only when told to."""

    def __init__(self, app: Foliot, start: datetime | str, database: str, workers: int) -> None:
        self.app = app
        self._selector = _Selector()
        self._clock = _Clock(instant_of(start, "start"), self._selector)
        self._before = (app.inhabited, app.functions.is_inline)
        app.functions.is_inline = True
        self._parts = Parts(database, app.executors, self._clock, app.pricing)
        if workers > 1 and self._parts.database.is_local:
            raise Invalid("several workers need PostgreSQL: give its URL as database, or be content with one")
        self._loop = _Loop(self._selector)
        self._selector.reached = self._loop.stop
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
        self._selector.horizon = self._elapsed / timedelta(seconds=1)
        self._loop.run_forever()
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
        for _ in range(_MOST_STUBBORN):
            left = asyncio.all_tasks(self._loop)
            if not left:
                break
            for task in left:
                task.cancel()
            self.advance()
        self._parts.close()
        parts, inline = self._before
        self.app.inhabit(parts)
        self.app.functions.is_inline = inline
        self._loop.close()


@contextmanager
def virtual(app: Foliot, start: datetime | str, *, database: str | None = None, workers: int = 1) -> Iterator[World]:
    """The app in a world of its own: its schedules on a fresh SQLite file, or on the database given, from `start`.

    Async functions that sleep do so in virtual time; sync ones, and `asyncio.to_thread`, take none. The app's own
    database is not touched.
    """
    with tempfile.TemporaryDirectory(prefix="foliot-") as folder, in_memory(app.executors.values()):
        world = World(app, start, database or f"sqlite:///{Path(folder) / 'world.db'}", workers)
        try:
            world.open()
            yield world
        finally:
            world.close()
