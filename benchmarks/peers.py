"""The peers, each set up in the fastest way that its documentation has; what it is asked, and what it does not do.

PgQueuer 1.6: the best of several batch sizes, the psycopg driver on one connection, drain mode, on uvloop as its own
command does. Keeps a log row for each job. No schedule behind the job, no overlap or catch-up policy.
procrastinate 3.10: the best of several concurrencies, a pool of psycopg connections, no waiting; jobs are kept, as is
its default. Takes each job with a query of its own.
APScheduler 3.11: AsyncIOScheduler with coroutines and an SQLAlchemyJobStore; on SQLite in SQLAlchemy's default journal
(a rollback journal, synchronous=FULL). Removes a job before it runs, so a crash loses it; no record of runs, no retry,
no second worker.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import psycopg
import uvloop
from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from pgqueuer import PgQueuer
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from benchmarks.children import Child, Found, Stage, together
from benchmarks.databases import one, settle
from benchmarks.samples import TOO_LATE, resident_mb

PGQUEUER_BATCHES = (100, 500, 1000)
PROCRASTINATE_CONCURRENCIES = (20, 100)
"""What each is tried with, in every round; the best counts."""
_ENQUEUED_AT_ONCE = 1000


async def nothing() -> None:
    """The job of every peer."""


def _rate(url: str, jobs: int, children: list[Child], last: str) -> float:
    """Jobs a second, from the moment the workers may begin to the last outcome in the database."""
    found = together(children)
    began: float = min(each["began"] for each in found)
    done, ended = one(url, last.replace("max(", "count(*)::text || ' ' || max(")).split()
    if int(done) != jobs:
        raise SystemExit(f"only {done} of {jobs} jobs were done")
    return jobs / (float(ended) - began)


def pgqueuer(url: str, jobs: int, workers: int, batch: int) -> float:
    """Jobs a second of so many workers; enqueuing is not counted."""

    async def enqueue() -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as cx:
            queries = Queries(PgQueuer.from_psycopg_connection(cx).connection)
            await queries.install()
            for start in range(0, jobs, _ENQUEUED_AT_ONCE):
                size = min(_ENQUEUED_AT_ONCE, jobs - start)
                await queries.enqueue(["nothing"] * size, [None] * size, [0] * size)

    asyncio.run(enqueue())
    settle(url)
    children = [Child("peers:pgqueuer_worker", url=url, batch=batch) for _ in range(workers)]
    return _rate(
        url,
        jobs,
        children,
        "SELECT max(extract(epoch FROM created)) FROM pgqueuer_log WHERE status = 'successful'",
    )


def pgqueuer_worker(stage: Stage, url: str, batch: int) -> Found:
    began = 0.0

    async def work() -> None:
        nonlocal began
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as cx:
            queue = PgQueuer.from_psycopg_connection(cx)

            @queue.entrypoint("nothing")
            async def _(job: Job) -> None:
                pass

            stage.ready()
            began = time.time()
            await queue.qm.run(batch_size=batch, mode=QueueExecutionMode.drain, dequeue_timeout=timedelta(seconds=1))

    uvloop.run(work())
    return {"began": began}


def _procrastinate(url: str) -> procrastinate.App:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=4, max_size=20))
    app.task(name="nothing")(nothing)
    return app


def procrastinate_jobs(url: str, jobs: int, workers: int, concurrency: int) -> float:
    """Jobs a second of so many workers; deferring is not counted."""

    async def defer() -> None:
        app = _procrastinate(url)
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            for start in range(0, jobs, _ENQUEUED_AT_ONCE):
                size = min(_ENQUEUED_AT_ONCE, jobs - start)
                await app.tasks["nothing"].batch_defer_async(*[{} for _ in range(size)])

    asyncio.run(defer())
    settle(url)
    children = [Child("peers:procrastinate_worker", url=url, concurrency=concurrency) for _ in range(workers)]
    return _rate(
        url,
        jobs,
        children,
        "SELECT max(extract(epoch FROM at)) FROM procrastinate_events WHERE type = 'succeeded'",
    )


def procrastinate_worker(stage: Stage, url: str, concurrency: int) -> Found:
    began = 0.0

    async def work() -> None:
        nonlocal began
        app = _procrastinate(url)
        async with app.open_async():
            stage.ready()
            began = time.time()
            await app.run_worker_async(concurrency=concurrency, wait=False, listen_notify=False)

    asyncio.run(work())
    return {"began": began}


def _store(url: str) -> SQLAlchemyJobStore:
    return SQLAlchemyJobStore(url=url.replace("postgresql:", "postgresql+psycopg:"))


async def _paused(url: str, jobs: int, trigger: Callable[[], dict[str, Any]]) -> tuple[AsyncIOScheduler, float]:
    """A scheduler with so many jobs in its store, not yet at work; and how many were added a second."""
    # What it says of jobs that are still under way when it is stopped.
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    scheduler = AsyncIOScheduler(
        jobstores={"default": _store(url)},
        job_defaults={"misfire_grace_time": None, "coalesce": False, "max_instances": 100},
        timezone=UTC,
    )
    scheduler.start(paused=True)
    began = time.perf_counter()
    for _ in range(jobs):
        scheduler.add_job("benchmarks.peers:nothing", **trigger())
    return scheduler, jobs / (time.perf_counter() - began)


def apscheduler_drain(stage: Stage, url: str, jobs: int) -> Found:
    """Jobs a second that are due at once, from the start to the last one's end; and how many were added a second."""
    stage.ready()
    found: Found = {}

    async def work() -> None:
        past = datetime.now(UTC) - timedelta(seconds=1)
        scheduler, found["created"] = await _paused(url, jobs, lambda: {"trigger": "date", "run_date": past})
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1

        scheduler.add_listener(count, EVENT_JOB_EXECUTED)
        began = time.perf_counter()
        scheduler.resume()
        while done < jobs:
            await asyncio.sleep(0.002)
        found["rate"] = jobs / (time.perf_counter() - began)
        scheduler.shutdown()

    asyncio.run(work())
    return found


def apscheduler_punctual(stage: Stage, url: str, jobs: int, seconds: int) -> Found:
    """How late jobs run that are all due each second, once the first second is over; and how many did not run."""
    stage.ready()
    found: Found = {}

    async def work() -> None:
        # Long enough until then to add them all, each in a transaction of its own.
        first = datetime.fromtimestamp(int(time.time()) + 2 + jobs // 200, UTC)
        scheduler, _ = await _paused(
            url, jobs, lambda: {"trigger": "interval", "seconds": 1, "start_date": first, "next_run_time": first}
        )
        seen: list[tuple[float, float]] = []

        def note(event: Any) -> None:
            due = event.scheduled_run_time.timestamp()
            seen.append((due, (time.time() - due) * 1000))

        scheduler.add_listener(note, EVENT_JOB_EXECUTED)
        scheduler.resume()
        begin = max(first.timestamp(), int(time.time()) + 1) + 1
        await asyncio.sleep(begin + seconds - time.time())
        # As long as our own are waited for: until no more of them start.
        count = -1
        while len(seen) > count and time.time() < begin + seconds + TOO_LATE:
            count = len(seen)
            await asyncio.sleep(1)
        late = [late for due, late in seen if begin <= due < begin + seconds]
        found.update(late=late, missed=jobs * seconds - len(late))
        scheduler.shutdown(wait=False)

    asyncio.run(work())
    return found


def apscheduler_idle(stage: Stage, url: str, jobs: int, seconds: int) -> Found:
    """How soon a scheduler is at work on so many jobs of which none is due, what it costs then, and what it holds."""
    stage.ready()
    found: Found = {}

    async def work() -> None:
        later = datetime.now(UTC) + timedelta(days=30)
        before, found["created"] = await _paused(url, jobs, lambda: {"trigger": "date", "run_date": later})
        before.shutdown(wait=False)
        began = time.perf_counter()
        scheduler, _ = await _paused(url, 0, dict)
        scheduler.resume()
        found["start"] = time.perf_counter() - began
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(seconds)
        found["cpu"] = (time.process_time() - cpu) / (time.perf_counter() - wall) * 100
        found["memory"] = resident_mb()
        scheduler.shutdown(wait=False)

    asyncio.run(work())
    return found


def apscheduler_outage(stage: Stage, url: str, days: int) -> Found:
    """A minute job that was down for so long, its late runs made one: seconds until it runs."""
    stage.ready()
    found: Found = {}

    async def work() -> None:
        scheduler, _ = await _paused(url, 0, dict)
        before = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=days)
        scheduler.add_job(
            "benchmarks.peers:nothing", "cron", minute="*", next_run_time=before, coalesce=True, id="minute"
        )
        ran = asyncio.Event()
        scheduler.add_listener(lambda _: ran.set(), EVENT_JOB_EXECUTED)
        began = time.perf_counter()
        scheduler.resume()
        await ran.wait()
        found["seconds"] = time.perf_counter() - began
        scheduler.shutdown()

    asyncio.run(work())
    return found
