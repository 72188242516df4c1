"""How many slots a second, how late, how many schedules? The whole engine, durable, beside a raw yardstick.

Throughput: N schedules, each with one due slot; from the engine's start until the last outcome is on disk. The
yardstick writes the same rows in batches of the same size with no logic at all, in the same run. Lateness: schedules
that all fire each second. Scale: many schedules, few of them due. `--quick` makes everything smaller.
"""

import argparse
import asyncio
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from foliot import Context, Foliot, Interval, Spec
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.ports import ScheduleFilter, Transaction
from foliot.stores.database import PostgresqlDatabase

ROUNDS = 3


async def nothing(input: object, ctx: object) -> None:
    """The body of every run: what is measured is everything around it."""


def an_app(url: str, settings: EngineSettings | None = None) -> Foliot:
    app = Foliot(url, name="bench", settings=settings)
    app.graph("nothing")(nothing)
    return app


def due_soon(seconds: int) -> Spec:
    """Hourly, the next time so many seconds from now."""
    now = int(time.time())
    return Spec(intervals=Interval(timedelta(hours=1), timedelta(seconds=(now + seconds) % 3600)))


def create(app: Foliot, count: int, spec: Spec, prefix: str = "s") -> float:
    """Schedules of one spec; how many were created a second."""
    began = time.perf_counter()
    for start in range(0, count, 10_000):
        names = range(start, min(start + 10_000, count))
        app.schedules.create_many({"name": f"{prefix}{number}", "target": "nothing", "spec": spec} for number in names)
    return count / (time.perf_counter() - began)


async def work_until_settled(engine: Engine, count: int) -> float:
    task = asyncio.get_running_loop().create_task(engine.run())
    began = time.perf_counter()
    while engine.counters.settled < count and not task.done():
        await asyncio.sleep(0.002)
    took = time.perf_counter() - began
    engine.stop()
    await task
    return took


def burn_down(url: str, count: int) -> tuple[float, float]:
    """Slots a second, and CPU microseconds of this process per slot."""
    app = an_app(url)
    wait = 3 + count // 8_000
    due = time.time() + wait
    create(app, count, due_soon(wait))
    time.sleep(max(0.0, due + 1 - time.time()))
    gc.collect()
    cpu = time.process_time()
    took = asyncio.run(work_until_settled(app.parts.engine("bench", app.settings), count))
    cpu = time.process_time() - cpu
    app.close()
    return count / took, cpu / count * 1e6


def yardstick(url: str, count: int, batch: int = 1000) -> float:
    """The same rows, written as fast as the database takes them: insert, advance, finish, each in a batch."""
    app = an_app(url)
    create(app, count, due_soon(1800))
    database = app.parts.database
    refs = [row.ref for row, _ in database.read(lambda tx: tx.list_schedules(ScheduleFilter()))]
    now = int(time.time() * 1e6)
    began = time.perf_counter()
    for start in range(0, count, batch):
        part = refs[start : start + batch]

        def write(tx: Transaction, part: list[int] = part) -> None:
            runs = [tx.next_ref() for _ in part]
            rows = [(run, ref, now, now, "slot", 0, 1, 1, 1, now, now) for run, ref in zip(runs, part, strict=True)]
            tx.start_new(rows)
            states = tx.states_seen(part)
            tx.move([state._replace(swept_to=now, running=1) for state in states])
            tx.keep([state._replace(running=0) for state in states])
            tx.end([("success", None, now, run) for run in runs])

        database.write(write)
    rate = count / (time.perf_counter() - began)
    app.close()
    return rate


def lateness(url: str, count: int, seconds: int) -> tuple[list[float], int]:
    """How late each start was, in milliseconds, and how many slots did not run."""
    late: list[float] = []

    async def body(_: object, ctx: Context) -> None:
        late.append((time.time() - ctx.due_at.timestamp()) * 1000)

    app = Foliot(url, name="bench")
    app.graph("nothing")(body)
    create(app, count, Spec(intervals=Interval(timedelta(seconds=1))))

    async def run() -> None:
        engine = app.parts.engine("bench", app.settings)
        task = asyncio.get_running_loop().create_task(engine.run())
        await asyncio.sleep(2)
        late.clear()
        await asyncio.sleep(seconds)
        engine.stop()
        await task

    asyncio.run(run())
    skipped = len(app.runs.list(status="skipped", limit=10_000))
    app.close()
    return late, skipped


def scale(url: str, count: int) -> dict[str, float]:
    """Many schedules, a hundred of them due each second."""
    app = an_app(url)
    rate = create(app, count, Spec(cron=("0 0 1 1 *",)), "idle")
    app.close()
    gc.collect()
    began = time.perf_counter()
    app = an_app(url)
    late: list[float] = []

    async def body(_: object, ctx: Context) -> None:
        late.append((time.time() - ctx.due_at.timestamp()) * 1000)

    app.graph("busy")(body)

    async def run() -> tuple[float, float]:
        engine = app.parts.engine("bench", app.settings)
        task = asyncio.get_running_loop().create_task(engine.run())
        while not engine.counters.turns:
            await asyncio.sleep(0.001)
        started = time.perf_counter() - began
        cpu = time.process_time()
        await asyncio.sleep(5)
        idle = (time.process_time() - cpu) / 5
        app.schedules.create_many({"name": f"busy{number}", "target": "busy", "every": "1s"} for number in range(100))
        await asyncio.sleep(5)
        engine.stop()
        await task
        return started, idle

    started, idle = asyncio.run(run())
    app.close()
    return {
        "created a second": rate,
        "start, s": started,
        "idle CPU, %": idle * 100,
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "late p50, ms": statistics.median(late),
        "late p99, ms": percentile(late, 99),
    }


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


@contextmanager
def sqlite_urls() -> Iterator[Iterator[str]]:
    with tempfile.TemporaryDirectory(prefix="foliot-bench-") as folder:
        yield (f"sqlite:///{Path(folder) / f'{number}.db'}" for number in range(10_000))


@contextmanager
def postgresql_urls() -> Iterator[Iterator[str]]:
    sys.path.insert(0, str(Path(__file__).parent.parent))
    # The server that the tests use.
    from tests.databases import a_postgresql_server  # noqa: PLC0415

    with a_postgresql_server() as server:
        yield (server.new_database() for _ in range(10_000))


def two_workers(url: str, count: int) -> float:
    """Slots a second of two worker processes on PostgreSQL."""
    app = an_app(url)
    wait = 6 + count // 6_000
    due = time.time() + wait
    create(app, count, due_soon(wait))
    program = (
        "import asyncio, sys; sys.path.insert(0, 'benchmarks'); from engine import an_app;"
        f"app = an_app({url!r}); app.run()"
    )
    workers = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    database = app.parts.database
    assert isinstance(database, PostgresqlDatabase)
    done = text("SELECT count(*), min(started_at), max(ended_at) FROM runs WHERE status = 'success'")
    try:
        time.sleep(max(0.0, due - time.time()))
        while True:
            time.sleep(0.5)
            with database.engine.connect() as cx:
                finished, first, last = cx.execute(done).one()
            if finished >= count:
                return float(count / ((last - first) / 1e6))
            if time.time() > due + 120:
                raise SystemExit(f"only {finished} of {count} finished")
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()
        app.close()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="everything smaller: a look, not a measurement")
    arguments.add_argument("--only", choices=("sqlite", "postgresql"), help="one database only")
    options = arguments.parse_args()
    slots, schedules, rounds = (5_000, 20_000, 1) if options.quick else (30_000, 200_000, ROUNDS)
    print(f"engine: Python {sys.version.split()[0]}, {os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d %H:%M}Z")
    for kind, urls_of in (("sqlite", sqlite_urls), ("postgresql", postgresql_urls)):
        if options.only not in (None, kind):
            continue
        with urls_of() as urls:
            measure(kind, urls, slots, schedules, rounds)


def measure(kind: str, urls: Iterator[str], slots: int, schedules: int, rounds: int) -> None:
    burns, raws = [], []
    for _ in range(rounds):
        raws.append(yardstick(next(urls), slots))
        burns.append(burn_down(next(urls), slots))
    rate = statistics.median(rate for rate, _ in burns)
    raw = statistics.median(raws)
    cpu = statistics.median(cpu for _, cpu in burns)
    print(
        f"{kind:10} throughput: {rate:,.0f} slots/s of {slots:,} (median of {rounds}), {cpu:.0f} us CPU a slot; "
        f"raw yardstick {raw:,.0f} rows/s, ratio {rate / raw:.2f}",
        flush=True,
    )
    if kind == "postgresql":
        rates = [two_workers(next(urls), slots) for _ in range(rounds)]
        print(f"{kind:10} two workers: {statistics.median(rates):,.0f} slots/s", flush=True)
    late, skipped = lateness(next(urls), 1_000, 10)
    print(
        f"{kind:10} lateness of 1,000 each second: p50 {statistics.median(late):.1f} ms, "
        f"p99 {percentile(late, 99):.1f} ms, max {max(late):.1f} ms, {len(late):,} runs, {skipped} skipped",
        flush=True,
    )
    found = scale(next(urls), schedules)
    said = ", ".join(f"{name} {value:,.1f}" for name, value in found.items())
    print(f"{kind:10} scale, {schedules:,} schedules: {said}", flush=True)


if __name__ == "__main__":
    main()
