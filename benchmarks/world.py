"""Apps and schedules to measure with, and how slots are made due: the clock cannot be set, so the cursors are."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from itertools import count, islice
from typing import Any

from benchmarks.databases import change, settle
from foliot import Context, Foliot, Interval, Spec

BATCH = 10_000
MICROSECONDS = 1_000_000

_numbers = count(1)


async def nothing(input: object, ctx: object) -> None:
    """The body of every run: what is measured is everything around it."""


async def told(input: object, ctx: Context) -> dict[str, object]:
    """A body that looks at what it is handed, and has something to tell."""
    return {"input": input, "key": ctx.idempotency_key, "before": ctx.last_result is not None}


async def charged(_: object, ctx: Context) -> None:
    """Does nothing, and has to be paid for it."""
    ctx.report_usage("call", cost="0.0001")


def an_app(url: str, body: Callable[..., Awaitable[None]] = nothing) -> Foliot:
    """With the default settings, as all that is measured here."""
    app = Foliot(url, name="bench")
    app.graph("nothing")(body)
    app.graph("told")(told)
    app.graph("charged")(charged)
    return app


def create(url: str, schedules: Iterable[Mapping[str, Any]]) -> float:
    """Create them in batches; how many a second, the making of the options included."""
    app = an_app(url)
    app.schedules.list(limit=1)
    wanted, made = iter(schedules), 0
    began = time.perf_counter()
    while batch := list(islice(wanted, BATCH)):
        app.schedules.create_many(batch)
        made += len(batch)
    took = time.perf_counter() - began
    app.close()
    return made / took


def plain(size: int, **options: Any) -> Iterable[Mapping[str, Any]]:
    """Schedules of one spec, named s0, s1 and so on."""
    return ({"name": f"s{number}", "target": "nothing", "every": "1h", **options} for number in range(size))


def make_due(url: str, seconds_ago: int = 1, specs: int = 1) -> None:
    """All schedules named s0, s1, ... have exactly one slot that is due: so many seconds ago, none before it.

    Their specs are of so many texts: every hour, every hour and a minute, and so on.
    """
    due = int(time.time()) - seconds_ago
    model = f"model-{next(_numbers)}-"
    periods = [3600 + 60 * number for number in range(specs)]
    intervals = [Interval(timedelta(seconds=period), timedelta(seconds=due % period)) for period in periods]
    create(
        url,
        (
            {"name": f"{model}{number}", "target": "nothing", "spec": Spec(intervals=interval)}
            for number, interval in enumerate(intervals)
        ),
    )
    change(
        url,
        "UPDATE schedules SET spec = (SELECT model.spec FROM schedules model"
        f" WHERE model.id = '{model}' || CAST(schedules.ref % {specs} AS text)) WHERE id LIKE 's%'",
        f"UPDATE cursors SET swept_to = {(due - 1) * MICROSECONDS}, wake_at = {due * MICROSECONDS}"
        " WHERE ref IN (SELECT ref FROM schedules WHERE id LIKE 's%')",
    )
    settle(url)


def set_back(url: str, name: str, seconds: int) -> None:
    """As if nobody had worked on this schedule for so long."""
    since = int(time.time()) - seconds
    change(
        url,
        f"UPDATE cursors SET swept_to = {since * MICROSECONDS}, wake_at = {(since + 1) * MICROSECONDS}"
        f" WHERE ref = (SELECT ref FROM schedules WHERE id = '{name}')",
    )


def fill_history(url: str, schedules: int, runs: int) -> None:
    """Past runs of the schedules named s0, s1, ...: successes of as many hours as it takes, long ago."""
    each = -(-runs // schedules)
    begin = (int(time.time()) - (each + 48) * 3600) * MICROSECONDS
    change(
        url,
        "WITH RECURSIVE"
        f" hours(hour) AS (SELECT 0 UNION ALL SELECT hour + 1 FROM hours WHERE hour < {each - 1}),"
        " first(ref) AS (SELECT min(ref) FROM schedules)"
        " INSERT INTO runs (ref, schedule_ref, nominal_at, due_at, kind, backfill, attempt, status, occupies, worker,"
        " token, losses, version, created_at, started_at, ended_at)"
        f" SELECT 1 + hour * {schedules} + s.ref - first.ref, s.ref, at.moment, at.moment, 'slot', 0, 1, 'success', 1,"
        " 1, 1, 0, 1, at.moment, at.moment, at.moment + 5000"
        f" FROM (SELECT hour, {begin} + hour * 3600000000 AS moment FROM hours) AS at"
        " CROSS JOIN first CROSS JOIN schedules s WHERE s.id LIKE 's%' ORDER BY hour, s.ref",
    )
    if not url.startswith("sqlite:"):
        change(url, "SELECT setval('run_refs', (SELECT max(ref) + 1000 FROM runs))")
    settle(url)
