"""A worker of the simulation: the real engine in a process of its own, and the user's code that it runs."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, NoReturn, Protocol

from foliot import Context
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.execution.context import Cancelled
from foliot.execution.gate import LocalGate
from foliot.executors.python import PROVIDER, PythonExecutor
from tests.simulation.conductor import MICROSECONDS, Conductor, Process
from tests.simulation.shaky import Fate, ShakyDatabase, ShakyGate
from tests.simulation.story import Execution, Story

LEASE = 600.0
HEARTBEAT = 100.0
LOOK = 500.0
SETTINGS = EngineSettings(
    lease=int(LEASE * MICROSECONDS),
    heartbeat=int(HEARTBEAT * MICROSECONDS),
    look=int(LOOK * MICROSECONDS),
    clock_check=int(LOOK * MICROSECONDS),
    threads=3,
    prune_every=6 * 3600 * MICROSECONDS,
    stop_grace=90 * MICROSECONDS,
)
"""Scaled so that a day is not spent on heartbeats: their proportions are those of the real ones."""
ASYNC_JOB, SYNC_JOB = "job", "plain"


class Plan(NamedTuple):
    """What a delivery of a run does."""

    seconds: float
    how: str
    """returns, raises or gives up"""
    is_stubborn: bool
    """Goes on when it is cancelled."""
    beats: bool
    """Says how far it has come."""
    result: str | None


class Surroundings(Fate, Protocol):
    """What a worker lives in."""

    seed: int
    conductor: Conductor
    story: Story

    def is_gate_away(self, whom: str) -> bool: ...

    def slowness(self, whom: str) -> float: ...

    def began(self, execution: Execution, due_at: int) -> None: ...


def plan_of(seed: int, run_id: str, token: int) -> Plan:
    """Drawn from what is executed, not from when: the same wherever it is delivered."""
    chance = Random(f"{seed} {run_id} {token}")
    longest = chance.choice((0.0, 30.0, 30.0, 300.0, 300.0, 900.0, 2400.0))
    return Plan(
        seconds=chance.uniform(longest / 3, longest),
        how=chance.choices(("returns", "raises", "gives up"), (80, 18, 2))[0],
        is_stubborn=chance.random() < 0.15,
        beats=chance.random() < 0.3,
        result=chance.choice((None, f"{run_id} {token}")),
    )


class Worker(Process):
    """One process: killed, frozen or cut off at any moment; its successor is another one."""

    def __init__(self, world: Surroundings, name: str, *, inline: bool, most: int) -> None:
        super().__init__(world.conductor, name)
        self.world = world
        self.loop.slowness = lambda: world.slowness(name)
        executor = PythonExecutor(SETTINGS.threads)
        executor.register(ASYNC_JOB, self.job)
        executor.register(SYNC_JOB, self.plain)
        setattr(executor, "_pool", VirtualThreads(self))  # noqa: B010
        gate = ShakyGate(LocalGate({PROVIDER: executor}), lambda: world.is_gate_away(name))
        settings = replace(SETTINGS, inline=inline, max_running=most)
        self.engine = Engine(ShakyDatabase(world, self), gate, self, name, settings)
        self.working = self.loop.create_task(self.engine.run())
        self.is_stopping = False
        self.refs: set[int] = set()
        """The numbers that it has had as a worker."""

    def stop(self) -> None:
        self.is_stopping = True
        self.engine.stop()

    @property
    def is_over(self) -> bool:
        return self.is_dead or self.working.done()

    def why_it_fell(self) -> str | None:
        """What ended its engine, when that was neither death nor a wish."""
        if self.is_dead or not self.working.done() or self.working.cancelled():
            return None
        error = self.working.exception()
        if error is None:
            return None if self.is_stopping else "it ended by itself"
        return f"{type(error).__name__}: {error}"

    def begin(self, ctx: Context) -> tuple[Execution, Plan]:
        launch = ctx._launch
        execution = Execution(
            self.name,
            launch.schedule_ref,
            launch.ref,
            launch.token,
            ctx.run_id,
            launch.occupies,
            self.steady(),
        )
        self.world.began(execution, launch.due_at)
        return execution, plan_of(self.world.seed, ctx.run_id, launch.token)

    def end(self, execution: Execution, how: str, result: str | None = None) -> None:
        if not self.is_dead:
            self.world.story.end(execution, self.steady(), how, result)

    async def job(self, input: Any, ctx: Context) -> str | None:
        """A user's async function: it sleeps, says how far it has come, and ends as planned."""
        execution, plan = self.begin(ctx)
        over = self.steady() + plan.seconds
        try:
            while (left := over - self.steady()) > 0:
                try:
                    await asyncio.sleep(min(left, 120.0))
                    if plan.beats and not plan.is_stubborn:
                        ctx.heartbeat(round(left))
                except asyncio.CancelledError:
                    if not plan.is_stubborn:
                        raise
        except (asyncio.CancelledError, Cancelled):
            self.end(execution, "stopped")
            raise
        return self._finish(execution, plan)

    def plain(self, input: Any, ctx: Context) -> str | None:
        """A user's sync function, at the moment when its thread comes to its end."""
        execution = self.world.story.executions[ctx._launch.ref, ctx._launch.token]
        plan = plan_of(self.world.seed, ctx.run_id, ctx._launch.token)
        if ctx.cancelled and not plan.is_stubborn:
            self.end(execution, "stopped")
            ctx.heartbeat()
        return self._finish(execution, plan._replace(how="raises" if plan.how == "gives up" else plan.how))

    def _finish(self, execution: Execution, plan: Plan) -> str | None:
        if plan.how == "raises":
            self.end(execution, "raised")
            raise RuntimeError("as planned")
        if plan.how == "gives up":
            self.end(execution, "gave up")
            _give_up()
        self.end(execution, "returned", plan.result)
        return plan.result


def _give_up() -> NoReturn:
    raise asyncio.CancelledError


class VirtualThreads:
    """Threads whose work takes virtual time, and which cannot be stopped."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def submit(self, called: Callable[..., Any], function: Callable[..., Any], arguments: tuple[Any, Context]) -> Any:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        _, plan = self._worker.begin(arguments[1])

        def run() -> None:
            future.set_result(called(function, arguments))

        self._worker.loop.call_later(plan.seconds, run)
        return future
