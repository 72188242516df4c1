"""The program that the crash tests run and kill: a plan's schedules, people at work, and a place to die at."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from foliot import Context, Foliot, Interval
from foliot.domain.instants import MICROSECONDS
from foliot.domain.slots import fraction_of, read_run_id
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from tests.crash.doom import Countdown, doom, note_kinds, on_new_engine
from tests.crash.evidence import Key, Pen
from tests.crash.patrons import Patrons
from tests.crash.people import People
from tests.crash.plan import ATTEMPTS, BACKOFF, DECIDED_WITHIN, LEASE, PLANS, PRICING, USD, Planned
from tests.crash.telling import SECRET, SECRET_ENV


@dataclass(frozen=True)
class Job:
    """What one process is to do."""

    url: str
    evidence: str
    plan: str = "few"
    declares: bool = True
    """Whether it brings the plan's schedules; else only the functions that they run."""
    end: str | None = None
    """When the schedules end; the last process is told."""
    boundary: str | None = None
    moment: str = "before"
    """Where it is to die: in the midst of the transaction, once it has done what names it, or after its commit."""
    hit: int = 1
    """The how-manieth time that it comes there."""
    stop_grace: float = 5.0
    keeps: float | None = None
    """Seconds after which old runs are removed, when it is to remove any."""
    hook: str | None = None
    """Where somebody listens who wants to be told what happens."""
    kinds: str | None = None
    """The file in which it notes what kinds of transactions there were."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def main(job: Job) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    pen = Pen(Path(job.evidence))
    os.environ |= {"FOLIOT_HTTP_ALLOW": "127.0.0.1/32", SECRET_ENV: SECRET}
    app = the_app(job, pen)
    people = People(app, PLANS[job.plan], pen, job.hook)
    patrons = Patrons(app, PLANS[job.plan], pen)
    _watch(app, pen, patrons.open_an_account, lambda: _let_in(people, patrons, job))
    if job.kinds is not None:
        note_kinds(app, Path(job.kinds))
    if job.boundary is not None:
        doom(app, job.boundary, job.moment, job.hit)
    app.run()


def the_app(job: Job, pen: Pen) -> Foliot:
    # Who declares nothing has a name of its own, lest it be taken for one that declares them no longer.
    app = Foliot(job.url, name="crash" if job.declares else "crash-worker", settings=_settings(job), pricing=PRICING)
    dies_at_work = Countdown(job.hit) if job.boundary == "run" else None

    @app.graph("work")
    async def work(input: dict[str, Any], ctx: Context) -> None:
        execution = pen.start(key_of(ctx), ctx._launch.token)
        if dies_at_work is not None:
            dies_at_work()
        outcome = "cut off"
        try:
            if input is not None and input["asks"] and ctx.decision is None:
                outcome = "asked"
                ctx.ask("approval", expires_in=DECIDED_WITHIN, at_expiry="approve")
            await asyncio.sleep(_length(input, ctx))
            _use(input, ctx)
            outcome = _outcome(input, ctx)
        finally:
            pen.end(execution, outcome)
        _fail_if(outcome)

    @app.graph("work-in-thread")
    def work_in_thread(input: dict[str, Any], ctx: Context) -> None:
        execution = pen.start(key_of(ctx), ctx._launch.token)
        time.sleep(_length(input, ctx))
        _use(input, ctx)
        outcome = _outcome(input, ctx)
        pen.end(execution, outcome)
        _fail_if(outcome)

    @app.graph("errand")
    async def errand() -> None:
        """Somebody outside asks for it."""

    if job.declares:
        for planned in PLANS[job.plan]:
            _schedule(app, planned, job.end, work_in_thread if planned.in_thread else work)
    return app


def _settings(job: Job) -> EngineSettings:
    settings = EngineSettings(
        lease=round(LEASE * MICROSECONDS),
        heartbeat=MICROSECONDS // 2,
        look=MICROSECONDS,
        stop_grace=round(job.stop_grace * MICROSECONDS),
    )
    if job.keeps is None:
        return settings
    keeps = round(job.keeps * MICROSECONDS)
    return replace(settings, keep_for=keeps, keep_runs=2, prune_every=MICROSECONDS // 5)


def _schedule(app: Foliot, planned: Planned, end: str | None, function: Callable[..., Any]) -> None:
    app.schedule(
        planned.name,
        every=Interval(timedelta(seconds=planned.every), timedelta(seconds=planned.offset)),
        jitter=planned.jitter or None,
        overlap=planned.overlap,
        retry={"attempts": ATTEMPTS, "backoff": BACKOFF} if planned.fails else None,
        input={
            "shortest": planned.shortest,
            "longest": planned.longest,
            "fails": planned.fails,
            "charged": planned.is_charged,
            "asks": planned.asks,
            **({} if planned.model is None else {"model": planned.model}),
        },
        end_at=end,
    )(function)


def key_of(ctx: Context) -> Key:
    key, attempt = read_run_id(ctx.run_id)
    return Key(key.schedule_id, _kind(key.kind, key.backfill), key.nominal_at, attempt)


def _kind(kind: str, backfill: int) -> str:
    return f"{kind} {backfill}" if backfill else str(kind)


def _length(input: dict[str, Any] | None, ctx: Context) -> float:
    """How long a run takes: the same whenever it is run again."""
    if input is None:
        return 0.0
    share = fraction_of(ctx.run_id, 0) / 2**64
    return float(input["shortest"] + share * (input["longest"] - input["shortest"]))


def _use(input: dict[str, Any] | None, ctx: Context) -> None:
    if input is not None and input["charged"]:
        model = input.get("model")
        ctx.report_usage("call", model=model, cost="0.0001" if model is None else USD)


def _outcome(input: dict[str, Any] | None, ctx: Context) -> str:
    return "failed" if input is not None and input["fails"] and ctx.attempt < ATTEMPTS else "done"


def _fail_if(outcome: str) -> None:
    if outcome == "failed":
        raise RuntimeError("it fails until its last attempt")


def _let_in(people: People, patrons: Patrons, job: Job) -> None:
    people.listen()
    # Somebody may have died who had paused a schedule.
    people.resume()
    if job.end is None:
        threading.Thread(target=people.act, args=(job.boundary, patrons.act), daemon=True).start()


def _watch(app: Foliot, pen: Pen, first: Callable[[], None], then: Callable[[], None]) -> None:
    """Note that the schedules were acknowledged, and which runs this process was told it has lost."""
    declare = app.declare

    def declared() -> None:
        if app.name == "crash":
            first()
        declare()
        if app.name == "crash":
            pen.note("declared", [])
        then()

    def fencing(engine: Engine) -> None:
        hands = engine._hands
        fence = hands.fence

        def fenced(refs: list[int]) -> None:
            launches = [hands.held[ref].launch for ref in refs if ref in hands.held]
            if launches:
                keys = [
                    Key(run.schedule_id, _kind(run.kind, run.backfill), run.nominal_at, run.attempt) for run in launches
                ]
                pen.note("fenced", keys, [run.token for run in launches])
            fence(refs)

        hands.fence = fenced  # type: ignore[method-assign]

    app.declare = declared  # type: ignore[method-assign]
    on_new_engine(app, fencing)
