"""The log: a record for each decision and each request, after the fact, and never what is secret."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot import Context, Foliot
from foliot.domain.pace import Pace
from foliot.engine.settings import EngineSettings
from foliot.logs import configure_logs, redacted
from foliot.testing import World, virtual
from tests.http.clients import People
from tests.http.eventful import HOUR_OF_DECISIONS, an_eventful_hour

CANARY = "hunter2-canary"

Read = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What is written to the log; it is as before when the test is over."""
    ours, root = logging.getLogger("foliot"), logging.getLogger()
    before = ours.level, ours.propagate, ours.handlers[:], root.level, root.handlers[:]
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    yield stream
    ours.level, ours.propagate, ours.handlers[:], root.level, root.handlers[:] = before
    ours.setLevel(before[0])
    root.setLevel(before[3])


@pytest.fixture
def records(written: io.StringIO) -> Read:
    return lambda: [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    app = Foliot("sqlite:///not-used.db", name="shop")

    @app.graph("long")
    async def long(input: Any) -> None:
        await asyncio.sleep(90)
        raise RuntimeError(f"it failed with {CANARY}")

    app.schedule("long", every="1m", input={"password": CANARY})(long)
    with virtual(app, "2026-11-15T12:00:00Z", database=database_url) as found:
        yield found


def of(records: Read, logger: str) -> list[dict[str, Any]]:
    return [record for record in records() if record["logger"] == f"foliot.{logger}"]


def test_each_decision_is_a_record_with_schedule_slot_reason_and_trace(world: World, records: Read) -> None:
    world.advance(minutes=3, seconds=5)
    told = of(records, "decisions")
    shown = [(one["event"], one["slot"].partition(":")[2][11:16], one["status"], one.get("reason")) for one in told]

    assert shown == [
        ("start", "12:01", "running", None),
        ("skip", "12:02", "skipped", "overlap"),
        ("end", "12:01", "error", "internal"),
        ("start", "12:03", "running", None),
    ]
    run = world.runs("long")[0]
    assert {name: told[0][name] for name in ("schedule", "run_id", "trace_id", "kind", "attempt", "level")} == {
        "schedule": "long",
        "run_id": run.id,
        "trace_id": run.trace_id,
        "kind": "slot",
        "attempt": 1,
        "level": "info",
    }


def test_what_a_verb_decides_is_told_too_and_a_gap_is_one_record(world: World, records: Read) -> None:
    schedules = world.app.schedules
    world.advance(seconds=30)
    schedules.pause("long")
    world.advance(hours=5)
    schedules.resume("long")
    world.advance(seconds=10)

    (gap,) = [one for one in of(records, "decisions") if one["event"] == "skip"]
    assert (gap["reason"], gap["size"]) == ("paused", 300)


def test_whoever_decides_each_decision_is_one_record_and_says_what_the_ledger_does(
    database_url: str, records: Read
) -> None:
    """A trigger or a retry was told to be held first, also one that started or was skipped at once."""
    with an_eventful_hour(database_url) as world:
        told = of(records, "decisions")
        ledger = {run.id: (run.status, run.reason) for run in world.runs("job")}

    assert [(one["event"], short(one), one.get("reason")) for one in told] == HOUR_OF_DECISIONS
    assert {one["run_id"]: (one["status"], one.get("reason")) for one in told} == ledger


def short(record: dict[str, Any]) -> str:
    at = re.search(r"T(\d\d:\d\d)", record["slot"])
    assert at is not None
    return f"{record['kind']} {at[1]} ~{record['attempt']}"


def test_what_waits_for_nothing_but_a_worker_is_told_when_it_starts(records: Read) -> None:
    app = Foliot("sqlite:///not-used.db", settings=EngineSettings(max_running=1))
    app.graph("long")(lambda: asyncio.sleep(90))
    with virtual(app, "2026-11-15T12:00:00Z") as world:
        for name in ("a", "b"):
            app.schedules.create(name, target="long", at=["2026-11-15T12:01:00Z"])
        world.advance(minutes=2)
        assert [run.status for run in world.runs()] == ["running", "pending"]
        world.advance(minutes=3)

    assert [one["event"] for one in of(records, "decisions")] == ["start", "end", "start", "end"]


def test_a_run_that_asks_something_when_it_is_to_stop_is_told_to_be_cancelled(records: Read) -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("slow")
    async def slow(input: Any, ctx: Context) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ctx.ask("approval")

    with virtual(app, "2026-11-15T12:00:00Z") as world:
        app.schedules.create("slow", target="slow", manual=True)
        run = app.schedules.trigger("slow")
        world.advance(seconds=1)
        app.runs.cancel(run.id)
        world.advance(seconds=5)

    shown = [(one["event"], one.get("reason")) for one in of(records, "decisions")]
    assert shown == [("start", None), ("cancel", "cancelled_by_user")]


def test_a_run_that_was_to_stop_and_ends_with_its_worker_is_told_to_be_cancelled(records: Read) -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("stubborn")
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        await asyncio.sleep(600)

    with virtual(app, "2026-11-15T12:00:00Z") as world:
        app.schedules.create("stubborn", target="stubborn", manual=True)
        run = app.schedules.trigger("stubborn")
        world.advance(seconds=1)
        app.runs.cancel(run.id)
        world.advance(seconds=5)
        engine = world.engine()
        world.stop()
        world.advance(minutes=1)
        assert engine.counters.ended["cancelled"] == 1

    shown = [(one["event"], one.get("reason")) for one in of(records, "decisions")]
    assert shown == [("start", None), ("cancel", "cancelled_by_user")]


def test_people_read_a_decision_on_a_short_line(world: World, written: io.StringIO) -> None:
    configure_logs("info", "text", written)
    world.advance(minutes=2, seconds=40)
    first, second, third = written.getvalue().splitlines()
    at = "[0-9:.]{12} "
    assert re.fullmatch(at + r"\[info     \] start  slot=long:2026-11-15T12:01:00Z status=running", first)
    assert re.fullmatch(
        at + r"\[info     \] skip   slot=long:2026-11-15T12:02:00Z status=skipped reason=overlap", second
    )
    assert re.fullmatch(at + r"\[info     \] end    slot=long:2026-11-15T12:01:00Z status=error reason=internal", third)


def test_nothing_is_put_together_that_nobody_reads(world: World, written: io.StringIO) -> None:
    configure_logs("warning", "json", written)
    world.advance(minutes=3)
    assert written.getvalue() == ""


def test_each_request_is_a_record_of_its_route_and_who_asked(world: World, records: Read) -> None:
    http = world.app.parts.http(Pace(1e6, 10**6))
    people = People(world.app, lambda: TestClient(http, raise_server_exceptions=False))
    answer = people.ann.get(f"/api/v1/schedules/long?q={CANARY}")
    people.nobody.get("/api/v1/me")
    people.nobody.get("/healthz")
    found, unknown = of(records, "access")

    assert {name: found[name] for name in ("event", "request_id", "method", "route", "status", "user")} == {
        "event": "request",
        "request_id": answer.headers["X-Request-Id"],
        "method": "GET",
        "route": "/api/v1/schedules/{schedule_id}",
        "status": answer.status_code,
        "user": "ann",
    }
    assert found["milliseconds"] >= 0
    assert ("user" in unknown, unknown["status"]) == (False, 401)


def test_nothing_secret_is_ever_written(world: World, written: io.StringIO) -> None:
    configure_logs("debug", "json", written)
    http = world.app.parts.http(Pace(1e6, 10**6))
    people = People(world.app, lambda: TestClient(http, raise_server_exceptions=False))
    ann = people.ann
    key = ann.headers["Authorization"].removeprefix("Bearer ")
    ann.post("/api/v1/schedules", json={"name": "s", "target": "python:long", "every": "1m", "input": {"x": CANARY}})
    ann.post(f"/api/v1/schedules/s/trigger?token={CANARY}", json={"input": CANARY}, headers={"X-Secret": CANARY})
    ann.get(f"/api/v1/{CANARY}")
    people.nobody.get("/api/v1/me", headers={"Authorization": f"Bearer {CANARY}"})
    world.advance(minutes=3)
    configure_logs("debug", "text", written)
    world.advance(minutes=3)

    assert "decisions" in written.getvalue()
    assert CANARY not in written.getvalue()
    assert key not in written.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("could not reach postgresql://me:pw@host/db?password=x", "could not reach postgresql://…@host/db?…"),
        ("GET https://example.org/a?token=x failed", "GET https://example.org/a?… failed"),
        ("sent Authorization: Bearer abc.def", "sent Authorization: Bearer …"),
        ("the key fol_0123456789ab_" + "x" * 43, "the key fol_…"),
        ("it violates a rule\nDETAIL:  Failing row contains (secret)\n", "it violates a rule\n"),
        ("[SQL: INSERT ...]\n[parameters: ('secret',)]\n(Background)", "(Background)"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_looks_secret_is_left_out_of_the_words(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_a_field_that_nobody_knows_is_not_written(written: io.StringIO, records: Read) -> None:
    logging.getLogger("foliot.engine").info("hello", extra={"schedule": "s", "input": CANARY})
    (record,) = records()
    assert (record["schedule"], "input" in record) == ("s", False)


def test_an_error_is_written_with_where_it_came_from(written: io.StringIO, records: Read) -> None:
    try:
        raise RuntimeError("with Bearer abc")
    except RuntimeError:
        logging.getLogger("foliot.engine").exception("it failed")
    (record,) = records()
    assert "test_logs.py" in record["exception"]
    assert record["exception"].endswith("RuntimeError: with Bearer …")


def test_a_program_that_has_a_log_of_its_own_keeps_it(written: io.StringIO) -> None:
    root, theirs = logging.getLogger(), logging.StreamHandler(io.StringIO())
    root.handlers[:] = [theirs]
    configure_logs("info", "json", written)
    assert root.handlers == [theirs]


def test_on_a_terminal_it_is_for_people(written: io.StringIO, world: World) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    configure_logs("info", "auto", terminal)
    world.advance(minutes=1, seconds=1)
    assert "start" in terminal.getvalue()
    assert "{" not in terminal.getvalue()
