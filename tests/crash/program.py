"""The program that the crash tests run and kill: a plan's schedules, and a place at which the process kills itself.

Nothing in `src/` knows of it: the objects of an ordinary app are wrapped from outside.
"""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import foliot.stores.database
from foliot import Context, Foliot
from foliot.domain.errors import Refusal
from foliot.domain.instants import MICROSECONDS
from foliot.domain.slots import fraction_of
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.ports import Control, Launch
from foliot.stores.database import SqliteDatabase
from tests.crash.evidence import Key, Pen
from tests.crash.plan import ATTEMPTS, BACKOFF, PLANS, Planned

LEASE = 2.0
_TRIGGER_EVERY = 0.4

BOUNDARIES: dict[str, Callable[[set[str]], bool]] = {
    "declare": lambda did: "insert_schedules" in did,
    "edit": lambda did: {"update_schedule", "move"} <= did,
    "register": lambda did: "register" in did,
    "learn targets": lambda did: did == {"target_refs"},
    "prune": lambda did: "prunable" in did,
    "launch": lambda did: "start_new" in did,
    "settle": lambda did: "finish" in did,
    "heartbeat": lambda did: {"renew", "leased"} <= did,
    "take up": lambda did: {"ready", "start"} <= did,
    "rescue": lambda did: {"expired", "lose"} <= did,
    "leave": lambda did: "lose" in did and "expired" not in did,
    "trigger": lambda did: {"last_manual", "record"} <= did,
}
"""Transactions, by what they do: the names of the calls that they make on the database, empty batches left out."""


@dataclass(frozen=True)
class Job:
    """What one process is to do."""

    url: str
    evidence: str
    plan: str = "few"
    end: str | None = None
    """When the schedules end; the last process is told."""
    boundary: str | None = None
    moment: str = "before"
    """Where it is to die: in the midst of the transaction, once it has done what names it, or after its commit."""
    stop_grace: float = 5.0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def main(job: Job) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    pen = Pen(Path(job.evidence))
    app = the_app(job, pen)
    _watch(app, pen)
    if job.boundary is not None:
        _doom(app, job.boundary, job.moment)
    if job.end is None:
        threading.Thread(target=_trigger_now_and_then, args=(app, job, pen), daemon=True).start()
    app.run()


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


def the_app(job: Job, pen: Pen) -> Foliot:
    settings = EngineSettings(
        lease=round(LEASE * MICROSECONDS),
        heartbeat=MICROSECONDS // 2,
        look=MICROSECONDS,
        stop_grace=round(job.stop_grace * MICROSECONDS),
    )
    app = Foliot(job.url, name="crash", settings=settings)
    dies_at_work = job.boundary == "run"

    @app.graph("work")
    async def work(input: dict[str, Any], ctx: Context) -> None:
        execution = pen.start(key_of(ctx))
        if dies_at_work:
            die()
        outcome = "cut off"
        try:
            await asyncio.sleep(_length(input, ctx))
            outcome = _outcome(input, ctx)
        finally:
            pen.end(execution, outcome)
        _fail_if(outcome)

    @app.graph("work-in-thread")
    def work_in_thread(input: dict[str, Any], ctx: Context) -> None:
        execution = pen.start(key_of(ctx))
        time.sleep(_length(input, ctx))
        outcome = _outcome(input, ctx)
        pen.end(execution, outcome)
        _fail_if(outcome)

    for planned in PLANS[job.plan]:
        _schedule(app, planned, job.end, work_in_thread if planned.in_thread else work)
    return app


def _schedule(app: Foliot, planned: Planned, end: str | None, function: Callable[..., Any]) -> None:
    app.schedule(
        planned.name,
        every=planned.every,
        jitter=planned.jitter or None,
        overlap=planned.overlap,
        retry={"attempts": ATTEMPTS, "backoff": BACKOFF} if planned.fails else None,
        input={"shortest": planned.shortest, "longest": planned.longest, "fails": planned.fails},
        end_at=end,
    )(function)


def key_of(ctx: Context) -> Key:
    kind = "manual" if ":manual:" in ctx.run_id else "slot"
    return Key(ctx.schedule, kind, _microseconds(ctx.scheduled_for), ctx.attempt)


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * MICROSECONDS)


def _length(input: dict[str, Any], ctx: Context) -> float:
    """How long a run takes: the same whenever it is run again."""
    share = fraction_of(ctx.run_id, 0) / 2**64
    return float(input["shortest"] + share * (input["longest"] - input["shortest"]))


def _outcome(input: dict[str, Any], ctx: Context) -> str:
    return "failed" if input["fails"] and ctx.attempt < ATTEMPTS else "done"


def _fail_if(outcome: str) -> None:
    if outcome == "failed":
        raise RuntimeError("it fails until its last attempt")


def _trigger_now_and_then(app: Foliot, job: Job, pen: Pen) -> None:
    """Trigger what is to be triggered, and note what was acknowledged."""
    names = [planned.name for planned in PLANS[job.plan] if planned.is_triggered]
    parts = app.parts
    while True:
        time.sleep(_TRIGGER_EVERY)
        # A refusal acknowledges nothing; a database that is closed is that of a process about to end.
        for name in names:
            with suppress(Refusal):
                run = parts.schedules.trigger(name)
                pen.note("acknowledged", [Key(run.schedule, str(run.kind), _microseconds(run.scheduled_for), 1)])


def _watch(app: Foliot, pen: Pen) -> None:
    """Note that the schedules were acknowledged, and which runs this process was told it has lost."""
    declare = app.declare

    def declared() -> None:
        declare()
        pen.note("declared", [])

    def fencing(engine: Engine) -> None:
        hands = engine._hands
        fence = hands.fence

        def fenced(refs: list[int]) -> None:
            launches = [hands.held[ref].launch for ref in refs if ref in hands.held]
            if launches:
                pen.note("fenced", [Key(run.schedule_id, run.kind, run.nominal_at, run.attempt) for run in launches])
            fence(refs)

        hands.fence = fenced  # type: ignore[method-assign]

    app.declare = declared  # type: ignore[method-assign]
    _on_new_engine(app, fencing)


def _on_new_engine(app: Foliot, act: Callable[[Engine], None]) -> None:
    parts = app.parts
    make = parts.engine

    def made(name: str, settings: EngineSettings | None = None) -> Engine:
        engine = make(name, settings)
        act(engine)
        return engine

    parts.engine = made  # type: ignore[method-assign]


def _doom(app: Foliot, boundary: str, moment: str) -> None:
    """Make the process die the first time that it comes to that boundary, on that side of it."""
    if boundary == "run":
        return
    if boundary == "migrate":
        _die_at_migration(app, moment)
    elif boundary == "dispatch":
        _on_new_engine(app, lambda engine: _die_at_dispatch(engine, moment))
    else:
        _die_at_commit(app, BOUNDARIES[boundary], moment)


def _die_at_migration(app: Foliot, moment: str) -> None:
    database: Any = app.parts.database
    module: Any = foliot.stores.database
    if moment == "before":
        _die_after(module, "migrate")
    else:
        _die_after(database, "_open_writer" if isinstance(database, SqliteDatabase) else "_migrate")


def _die_after(owner: Any, name: str) -> None:
    whole = getattr(owner, name)

    def and_die(*given: Any) -> NoReturn:
        whole(*given)
        die()

    setattr(owner, name, and_die)


def _die_at_dispatch(engine: Engine, moment: str) -> None:
    execute: Callable[[Launch, Control], Awaitable[Any]] = engine.gate.execute

    async def executed(launch: Launch, control: Control) -> NoReturn:
        if moment == "before":
            die()
        await execute(launch, control)
        die()

    engine.gate.execute = executed  # type: ignore[method-assign]


class _Spy:
    """A transaction that remembers what was asked of it, and calls when it has done something."""

    def __init__(self, tx: Any, did: set[str], done: Callable[[], None]) -> None:
        self._tx = tx
        self._did = did
        self._done = done

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._tx, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            result = found(*given, **named)
            is_empty_batch = bool(given) and hasattr(given[0], "__len__") and len(given[0]) == 0
            if not is_empty_batch:
                self._did.add(name)
                self._done()
            return result

        return call


def _die_at_commit(app: Foliot, is_it: Callable[[set[str]], bool], moment: str) -> None:
    database: Any = app.parts.database
    write = database.write

    def written(act: Callable[[Any], Any]) -> Any:
        did: set[str] = set()

        def die_before() -> None:
            if moment == "before" and is_it(did):
                die()

        def spied(tx: Any) -> Any:
            did.clear()
            return act(_Spy(tx, did, die_before))

        result = write(spied)
        if moment == "after" and is_it(did):
            die()
        return result

    database.write = written
