"""A worker of the simulation: the real engine in a process of its own, and the user's code that it runs."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from random import Random
from typing import Any, NamedTuple, NoReturn, Protocol

from foliot import Context
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.engine.turn import Situation, Turn
from foliot.execution.context import Cancelled, LimitExceeded
from foliot.execution.gate import LocalGate
from foliot.execution.permission import Permission
from foliot.execution.records import Records
from foliot.execution.till import Till
from foliot.executors.python import PROVIDER, PythonExecutor
from foliot.ports import Control, Launch, Transaction
from tests.simulation.conductor import MICROSECONDS, Conductor, Process
from tests.simulation.shaky import Fate, ShakyDatabase, ShakyGate, ShakySight
from tests.simulation.story import Execution, Story
from tests.simulation.usage import PRICING, Call, calls_of

LEASE = 600.0
HEARTBEAT = 100.0
LOOK = 500.0
SETTINGS = EngineSettings(
    lease=int(LEASE * MICROSECONDS),
    heartbeat=int(HEARTBEAT * MICROSECONDS),
    look=int(LOOK * MICROSECONDS),
    clock_check=int(LOOK * MICROSECONDS),
    nap_within=0,
    threads=2,
    prune_every=3600 * MICROSECONDS,
    stop_grace=90 * MICROSECONDS,
)
"""Scaled so that a day is not spent on heartbeats: their proportions are those of the real ones."""
ASYNC_JOB, SYNC_JOB = "job", "plain"
_GATE_TRIED_WITHIN = 20.0
"""A run that finds the gate away is tried again for some seconds, and has no thread meanwhile."""


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
    is_deaf: bool
    """Goes on when it has used more than it may."""


class Surroundings(Fate, Protocol):
    """What a worker lives in."""

    seed: int
    conductor: Conductor
    story: Story

    def is_gate_away(self, whom: str, launch: Launch) -> bool: ...

    def is_gate_blind(self, whom: str) -> bool: ...

    def turned_away(self, launch: Launch) -> None: ...

    def slowness(self, whom: str) -> float: ...

    def began(self, execution: Execution, due_at: int) -> None: ...

    def looked(self, whom: str, at: float) -> None:
        """A turn is concluded whose transaction was at that time."""

    def in_thread(self, whom: str, context: Context, until: float) -> None: ...

    def used(self, execution: Execution, call: Call) -> None:
        """Its code is about to report a call."""


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
        is_deaf=chance.random() < 0.3,
    )


class Worker(Process):
    """One process: killed, frozen or cut off at any moment; its successor is another one."""

    def __init__(self, world: Surroundings, name: str, settings: EngineSettings) -> None:
        super().__init__(world.conductor, name)
        self.world = world
        self.loop.slowness = lambda: world.slowness(name)
        executor = PythonExecutor(settings.threads)
        executor.register(ASYNC_JOB, self.job)
        executor.register(SYNC_JOB, self.plain)
        setattr(executor, "_pool", VirtualThreads(self, settings.threads))  # noqa: B010
        self.turned_away_at = -_GATE_TRIED_WITHIN
        self.turned_away: set[str] = set()
        """Runs that came to the gate in vain, and may come to the threads much later than they were leased."""
        database = ShakyDatabase(world, self)
        records = Records(ShakySight(world, self, lambda: world.is_gate_blind(name)), inline=True)
        local = LocalGate({PROVIDER: executor}, Permission(records, self), Till(records, PRICING))
        gate = ShakyGate(local, lambda launch: world.is_gate_away(name, launch), self._turn_away)
        self.engine = Engine(database, gate, self, name, settings, PRICING)
        _watch_turns(self.engine, lambda at: world.looked(name, at))
        self.working = self.loop.create_task(self.engine.run())
        self.is_stopping = False
        self.refs: set[int] = set()
        """The numbers that it has had as a worker."""

    def _turn_away(self, launch: Launch) -> None:
        self.turned_away_at = self.steady()
        self.turned_away.add(Context(launch, Control()).run_id)
        self.world.turned_away(launch)

    def may_wait(self, run_id: str) -> bool:
        """Whether the run, or one that is before it now, may have come to the threads later than it was leased."""
        return run_id in self.turned_away or self.steady() - self.turned_away_at < _GATE_TRIED_WITHIN

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
        if ctx.run_id in self.turned_away:
            # It takes the place that another was leased for.
            self.turned_away_at = self.steady()
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
        """A user's async function: it uses something, sleeps, says how far it has come, and ends as planned."""
        execution, plan = self.begin(ctx)
        calls = calls_of(self.world.seed, ctx.run_id, input)
        self._use(execution, plan, ctx, calls[:1])
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
        self._use(execution, plan, ctx, calls[1:])
        return self._finish(execution, plan)

    def plain(self, input: Any, ctx: Context) -> str | None:
        """A user's sync function, at the moment when its thread comes to its end."""
        execution = self.world.story.executions[ctx._launch.ref, ctx._launch.token]
        plan = plan_of(self.world.seed, ctx.run_id, ctx._launch.token)
        if ctx.cancelled and not plan.is_stubborn:
            self.end(execution, "stopped")
            ctx.heartbeat()
        self._use(execution, plan, ctx, calls_of(self.world.seed, ctx.run_id, input))
        return self._finish(execution, plan._replace(how="raises" if plan.how == "gives up" else plan.how))

    def _use(self, execution: Execution, plan: Plan, ctx: Context, calls: tuple[Call, ...]) -> None:
        for call in calls:
            self.world.used(execution, call)
            try:
                ctx.report_usage(call.unit, model=call.model, tokens=call.tokens, cost=call.cost)
            except LimitExceeded:
                if not plan.is_deaf:
                    self.end(execution, "exceeded")
                    raise

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


def _watch_turns(engine: Engine, looked: Callable[[float], None]) -> None:
    """Say of every turn that is concluded when its transaction was."""
    work, conclude = engine._shift.work, engine._conclude
    at = 0.0

    def noted_work(tx: Transaction, situation: Situation) -> Turn:
        nonlocal at
        at = engine.clock.steady()
        return work(tx, situation)

    def noted_conclude(*given: Any) -> None:
        conclude(*given)
        looked(at)

    setattr(engine._shift, "work", noted_work)  # noqa: B010
    setattr(engine, "_conclude", noted_conclude)  # noqa: B010


class VirtualThreads:
    """Threads whose work takes virtual time, and which cannot be stopped; who comes when all are busy waits."""

    def __init__(self, worker: Worker, threads: int) -> None:
        self._worker = worker
        self._free = threads
        self._waiting: deque[Callable[[], None]] = deque()

    def submit(self, called: Callable[..., Any], *call: Any) -> Any:
        """Of what is called, the last are the arguments of the run's function: its input and its context."""
        worker, (_, context) = self._worker, call[-1]
        future: Future[Any] = Future()

        def begin() -> None:
            if not future.set_running_or_notify_cancel():
                return
            self._free -= 1
            _, plan = worker.begin(context)
            worker.world.in_thread(worker.name, context, worker.steady() + plan.seconds)
            worker.loop.call_later(plan.seconds, end)

        def end() -> None:
            self._free += 1
            future.set_result(called(*call))
            while self._free and self._waiting:
                self._waiting.popleft()()

        if self._free:
            begin()
        else:
            if not worker.may_wait(context.run_id):
                worker.world.complain(f"no run waits behind the threads: {context.run_id} is leased by {worker.name}")
            self._waiting.append(begin)
        return future
