"""What the measured processes do: each runs one engine and nothing else."""

import asyncio
import gc
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping

from benchmarks.children import Found, Stage
from benchmarks.samples import TOO_LATE, resident_mb
from benchmarks.world import an_app
from foliot import Context, Foliot
from foliot.books.configurations import Scheduled
from foliot.books.permits import NO_BUDGET, Allowance, Permits
from foliot.domain.budgets import Owner
from foliot.domain.grants import Grant
from foliot.domain.runs import Reason, Status
from foliot.domain.settlement import Outcome
from foliot.engine.collector import calm_collector
from foliot.engine.loop import Engine
from foliot.execution.executing import Request
from foliot.executors.python import PythonExecutor
from foliot.ports import Control, Launch, Transaction

_STEP = 0.01
_WEIGH_EVERY = 0.2
"""Seconds: who looks more often takes from the engine in the same process what it is measured by."""
_QUIET = 1.5
_NOTHING_AT_ALL = 5.0
_LONGEST_STORM = 300.0
_SAME = 5


def _beside(app: Foliot, engine: Engine, act: Callable[[], Awaitable[None]]) -> None:
    """Do something while the engine works and listens, then stop it."""

    async def work() -> None:
        deaf = app.parts.listen()
        working = asyncio.get_running_loop().create_task(engine.run())
        await act()
        engine.stop()
        await working
        deaf()

    # As `Foliot.run` does.
    with calm_collector():
        asyncio.run(work())
    app.close()


class Watch:
    """Follows an engine until it has settled all there is: when it did so last, and how it went meanwhile."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.settled = 0
        self._weighed_at = 0.0
        self.cpu = 0.0
        self.most_memory = self.memory = resident_mb()
        self._cpu_before = time.process_time()
        self.began = self.ended = time.time()

    async def until_quiet(self) -> None:
        """Until nothing was settled for a while."""
        while not self._is_quiet():
            await self.step()

    async def step(self) -> None:
        await asyncio.sleep(_STEP)
        if self.engine.counters.settled != self.settled:
            self.settled, self.ended = self.engine.counters.settled, time.time()
            self.cpu = time.process_time() - self._cpu_before
        # By time, not by steps: a busy engine leaves few of these.
        if time.perf_counter() - self._weighed_at > _WEIGH_EVERY:
            self.most_memory = max(self.most_memory, resident_mb())
            self._weighed_at = time.perf_counter()

    def _is_quiet(self) -> bool:
        wait = _QUIET if self.settled else _NOTHING_AT_ALL
        return self.engine.in_hand == 0 and time.time() - self.ended > wait

    def found(self) -> Found:
        return {
            "began": self.began,
            "ended": self.ended,
            "settled": self.settled,
            "cpu": self.cpu,
            "memory": self.memory,
            "most_memory": self.most_memory,
        }


class BareGate:
    """What a gate would be that asks nobody: no observation, no permission, no credit, nothing is charged."""

    def __init__(self, functions: PythonExecutor) -> None:
        self._functions = functions
        self.targets, self.room, self.on_unknown = functions.targets, functions.room, functions.on_unknown

    def report_digest(self, target: str, run_id: str) -> str | None:
        return None

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        request = Request(launch.target, launch.input, Context(launch, control), control)
        execution = self._functions.run(request)
        assert execution.work is not None
        final = await execution.work()
        return Outcome(Status.SUCCESS, result=final.result)


class NoPermits(Permits):
    """Everything may start, and nothing is counted."""

    def prepare(self, tx: Transaction, schedules: Iterable[Scheduled]) -> None:
        """There is nothing to look up."""

    def refusal(self, tx: Transaction, schedule: Scheduled) -> Reason | None:
        return None

    def grant_of(self, schedule: Scheduled) -> Grant:
        return _ANYBODY

    def is_plain(self, tx: Transaction, schedule: Scheduled) -> bool:
        return True

    def allowance(self, tx: Transaction, schedule: Scheduled, taken: Mapping[tuple[Owner, int], int]) -> Allowance:
        return NO_BUDGET


_ANYBODY = Grant(0, "anybody", 0, frozenset())


def drain(stage: Stage, url: str, gated: bool = True) -> Found:
    """Run all that is due; when the last outcome was on disk."""
    app = an_app(url)
    engine = app.parts.engine("bench", app.settings)
    if not gated:
        engine._hands.gate = BareGate(app.functions)
        engine._shift.permits = NoPermits(app.pricing)
    gc.collect()
    stage.ready()
    watch = Watch(engine)
    _beside(app, engine, watch.until_quiet)
    return watch.found()


class Starts:
    """Notes how late every run of a graph starts, by the time it is due."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    async def body(self, _: object, ctx: Context) -> None:
        now = time.time()
        due = ctx.due_at.timestamp()
        self.seen.append((due, (now - due) * 1000))

    def between(self, first: float, end: float) -> list[float]:
        """Milliseconds late, of those due from `first` on and before `end`."""
        return [late for due, late in self.seen if first <= due < end]


def punctual(stage: Stage, url: str, seconds: int, warm: int) -> Found:
    """How late each slot of so many whole seconds starts, once it is warm."""
    app = an_app(url)
    starts = Starts()
    app.graph("timed")(starts.body)
    engine = app.parts.engine("bench", app.settings)
    stage.ready()
    # Several of them must mean the same seconds.
    first = math.ceil((time.time() + warm) / _SAME) * _SAME
    end = first + seconds
    found: Found = {"first": first, "end": end}

    async def wait() -> None:
        # Both looks at what it cost are taken between two seconds' slots.
        await asyncio.sleep(first - 0.02 - time.time())
        cpu, started = time.process_time(), engine.counters.started
        await asyncio.sleep(end - 0.02 - time.time())
        slots = max(1, engine.counters.started - started)
        found["cpu_each"] = (time.process_time() - cpu) / slots * 1e6
        found["memory"] = resident_mb()
        # Until no more of them start; whatever starts much later than it should is as good as missed.
        count = -1
        while len(starts.between(first, end)) > count and time.time() < end + TOO_LATE:
            count = len(starts.between(first, end))
            await asyncio.sleep(1)

    _beside(app, engine, wait)
    return {**found, "late": starts.between(first, end)}


def lone(stage: Stage, url: str, seconds: int, warm: int, apart: float) -> Found:
    """How late slots start on an engine that was idle for so many seconds before each."""
    app = an_app(url)
    starts = Starts()
    app.graph("timed")(starts.body)
    engine = app.parts.engine("bench", app.settings)
    stage.ready()

    async def wait() -> None:
        await asyncio.sleep(warm)
        starts.seen.clear()
        await asyncio.sleep(seconds)

    _beside(app, engine, wait)
    seen = sorted(starts.seen)
    return {"late": [late for (due, late), (before, _) in zip(seen[1:], seen, strict=False) if due - before >= apart]}


def bare_sleep(stage: Stage, seconds: int, warm: int, every: float) -> Found:
    """How late the event loop itself wakes up, with nothing to do: the noise of this machine."""
    stage.ready()
    late: list[float] = []

    async def wait() -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(warm)
        due = time.time() + every
        for number in range(round(seconds / every)):
            # Not a round time, when everything else of the machine wakes up too.
            due += every * (0.9 + 0.2 * (number * 7 % 11) / 11)
            woken = asyncio.Event()
            loop.call_later(due - time.time(), woken.set)
            await woken.wait()
            late.append((time.time() - due) * 1000)

    asyncio.run(wait())
    return {"late": late}


def idle(stage: Stage, url: str, seconds: int) -> Found:
    """How soon an engine is at work, what it costs when nothing is due, and what it holds."""
    stage.ready()
    began = time.perf_counter()
    app = an_app(url)
    engine = app.parts.engine("bench", app.settings)
    found: Found = {}

    async def wait() -> None:
        while not engine.counters.turns:
            await asyncio.sleep(0.0005)
        found["start"] = time.perf_counter() - began
        await asyncio.sleep(1)
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(seconds)
        found["cpu"] = (time.process_time() - cpu) / (time.perf_counter() - wall) * 100
        found["memory"] = resident_mb()

    _beside(app, engine, wait)
    return found


def decide(stage: Stage, url: str) -> Found:
    """How long the first turn takes, from the start of the engine."""
    app = an_app(url)
    engine = app.parts.engine("bench", app.settings)
    stage.ready()
    found: Found = {}

    async def wait() -> None:
        began = time.perf_counter()
        while not engine.counters.turns:
            await asyncio.sleep(0.0005)
        found["seconds"] = time.perf_counter() - began
        await asyncio.sleep(0.5)

    _beside(app, engine, wait)
    return found


def storm(stage: Stage, url: str, slots: int) -> Found:
    """Drain a backlog; how late slots start that come due meanwhile, of the same target and of another."""
    same, other = Starts(), Starts()
    drained = 0

    async def old_or_new(given: object, ctx: Context) -> None:
        nonlocal drained
        if given is None:
            drained += 1
        else:
            await same.body(given, ctx)

    app = an_app(url, old_or_new)
    app.graph("timed")(other.body)
    engine = app.parts.engine("bench", app.settings)
    gc.collect()
    stage.ready()
    watch = Watch(engine)

    async def follow() -> None:
        while drained < slots:
            await watch.step()
            if time.time() > watch.began + _LONGEST_STORM:
                raise SystemExit(f"only {drained} of {slots} slots were run")
        started = engine.counters.started
        while engine.counters.settled < started:
            await watch.step()

    _beside(app, engine, follow)
    # Whole seconds of the storm; the last two are left out, for their slots may start when it is over.
    first, end = math.ceil(watch.began), math.floor(watch.ended) - 2
    return {
        **watch.found(),
        "first": first,
        "end": end,
        "same": same.between(first, end),
        "other": other.between(first, end),
    }
