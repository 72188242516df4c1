"""Worlds to tell timelines in: a graph that takes as long as told, a schedule of it, and its runs as lines of text."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from foliot import Context, Foliot
from foliot.engine.settings import EngineSettings
from foliot.ports import Carrier
from foliot.services.views import Run
from foliot.testing import World, virtual
from tests.engine.invariants import check_books, check_nothing_is_stuck

START = datetime(2026, 11, 15, 12, tzinfo=UTC)
"""When every world begins: a Sunday at noon."""


def at(text: str) -> datetime:
    """`12:05` or `12:05:30` of the first day; `16T09:00` of another."""
    day, _, clock = text.rpartition("T")
    return datetime.fromisoformat(f"2026-11-{day or 15}T{clock}+00:00")


class Job:
    """A graph whose runs take the given minutes, one after another, then the last of them for ever."""

    def __init__(self, *minutes: float) -> None:
        self._lengths = list(minutes) or [0.0]
        self.seen: list[Context] = []
        self.inputs: list[Any] = []

    async def __call__(self, input: Any, ctx: Context) -> None:
        self.seen.append(ctx)
        self.inputs.append(input)
        length = self._lengths.pop(0) if len(self._lengths) > 1 else self._lengths[0]
        if length:
            await asyncio.sleep(length * 60)

    @property
    def deliveries(self) -> list[str]:
        """The ids of the runs that its code was begun for, in order."""
        return [ctx.run_id for ctx in self.seen]


class Failing:
    """A graph that fails the first so many times; what it raises can be chosen."""

    def __init__(self, times: int = 1_000_000, error: Exception | None = None) -> None:
        self.left = times
        self.error = error or RuntimeError("it broke")
        self.seen: list[Context] = []

    async def __call__(self, input: Any, ctx: Context) -> str:
        self.seen.append(ctx)
        if self.left > 0:
            self.left -= 1
            raise self.error
        return "done"


def an_app(graph: Callable[..., Any], settings: EngineSettings | None = None) -> Foliot:
    app = Foliot("sqlite:///not-used.db", settings=settings)
    app.graph("job")(graph)
    return app


@contextmanager
def a_world(
    graph: Callable[..., Any],
    *,
    database: str | None = None,
    workers: int = 1,
    settings: EngineSettings | None = None,
    start: datetime = START,
    covers: bool = True,
    settled: bool = True,
    carrier: Carrier | None = None,
    **options: Any,
) -> Iterator[World]:
    """A world with the graph `job`, and a schedule `job` of it when options are given; its books are checked after.

    `covers` as in `check_books`; `settled`: whether a worker has seen to everything at the end.
    """
    with virtual(an_app(graph, settings), start, database=database, workers=workers, carrier=carrier) as world:
        if options:
            world.app.schedules.create("job", **options)
        yield world
        check_books(world, covers=covers)
        if settled:
            check_nothing_is_stuck(world)


def register_elsewhere(world: World, *targets: str) -> None:
    """Another program, which is not at work, has registered these: they are left to it."""
    world.app.parts.database.write(lambda tx: tx.register_targets(targets))


def timeline(world: World, schedule: str = "job", **wanted: Any) -> list[str]:
    """Each run as a line: `12:05 success 12:05-12:27`, `12:10 skipped overlap`, `12:15 pending overlap`."""
    return [told(run) for run in world.runs(schedule, **wanted)]


def told(run: Run) -> str:
    words = [clock(run.scheduled_for), *([f"~{run.attempt}"] if run.attempt > 1 else []), str(run.status)]
    words += [str(word) for word in (run.reason, run.hold) if word is not None]
    if run.started_at is not None:
        words.append(f"{clock(run.started_at)}-{'' if run.ended_at is None else clock(run.ended_at)}")
    return " ".join(words)


def clock(moment: datetime) -> str:
    day = "" if moment.date() == START.date() else f"{moment.day}T"
    return day + f"{moment:%H:%M:%S}".removesuffix(":00")


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)
