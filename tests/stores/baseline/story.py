"""What a database has gone through when it is written down: something of every kind, and much of it not over."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from math import inf
from typing import Any
from unittest.mock import patch

from starlette.testclient import TestClient

from foliot import Context, Foliot, chance
from foliot.domain.notices import Event
from foliot.domain.pace import Pace
from foliot.stores import database as stores_database
from foliot.testing import World, virtual
from tests.dags import a_dag, act, manual, scheduled
from tests.engine.mailbox import HOOK, REFUSED, SECRET, Mailbox

START, END = "2026-11-15T12:00:00Z", "2026-11-15T18:00:00Z"
UNDER_WAY = "order-2"
"""The key of a request that whoever executed it has died at."""
_ADMIN_KEY = f"fol_{'0' * 12}_{'not-a-secret-'.ljust(43, '0')}"
_SCOPES = ["graph:execute:python:*", "graph:execute:dag:*"]


class Graphs:
    """What the program can do, and for which runs each of it was begun."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.is_patient = True
        """Whether what takes long takes longer than anybody looks."""

    def program(self) -> Foliot:
        app = Foliot("sqlite:///not-used.db", name="shop")
        for name in ("quick", "long", "failing", "asking", "paid"):
            app.graph(name)(getattr(self, name))
        app.action("note")(self.note)
        app.schedule("nightly", cron="30 2 * * *", timezone="Europe/Berlin", catchup="last")(self.quick)
        return app

    async def quick(self, input: Any, ctx: Context) -> Any:
        self.begun[ctx.run_id] += 1
        return input

    async def long(self, input: Any, ctx: Context) -> str:
        self.begun[ctx.run_id] += 1
        await asyncio.sleep(24 * 3600 if self.is_patient else 60)
        return "done"

    async def failing(self, input: Any, ctx: Context) -> str:
        self.begun[ctx.run_id] += 1
        if self.is_patient:
            raise RuntimeError("the printer burns")
        return "mended"

    async def asking(self, input: Any, ctx: Context) -> str:
        self.begun[ctx.run_id] += 1
        if ctx.decision is None:
            ctx.ask("approve", {"draft": 1})
        return "published"

    async def paid(self, input: Any, ctx: Context) -> None:
        self.begun[ctx.run_id] += 1
        ctx.report_usage("call", cost="0.001")

    def note(self, input: Any, ctx: Any) -> Any:
        return input


@contextmanager
def told(database: str) -> Iterator[World]:
    """The world at its end: its worker has just died, and what it wrote is as it left it."""
    numbers = count(1)
    with (
        # What is drawn at random is dealt instead, and a block of keys lasts however slow the machine is: so that the
        # same story is told each time.
        patch.object(chance, "short", lambda: f"{next(numbers):012x}"),
        patch.object(stores_database, "_BLOCK_LIVES", inf),
        virtual(Graphs().program(), START, database=database, carrier=Mailbox(REFUSED)) as world,
    ):
        for chapter in (_people, _schedules, _money, _hours, _in_flight):
            chapter(world)
        world.kill()
        world.app.parts.database.write(_without_names)
        yield world


def _people(world: World) -> None:
    verbs = world.app.parts.verbs
    for user, role in (("ann", "member"), ("eve", "viewer"), ("old", "member")):
        verbs.users.put(user, role)
    verbs.users.disable("old")
    verbs.keys.adopt("admin", _ADMIN_KEY)
    world.app.webhooks.create(HOOK, tuple(Event), secret_env=SECRET)


def _schedules(world: World) -> None:
    create = world.app.schedules.create
    create("cron", target="quick", cron=["0 9 * * MON-FRI", "15 13 * * *"], timezone="America/New_York", input={"n": 1})
    create("interval", target="quick", every="20m", jitter="30s", labels={"team": "mail"}, memo="why")
    create("calendar", target="quick", calendars=[{"hour": "12-17", "minute": 5}], exclude={"hour": 14})
    create("once", target="quick", at=["2026-11-15T13:30:00Z"])
    create("later", target="quick", at=["2026-11-15T19:30:00Z"])
    create("manual", target="quick", manual=True)
    create("paused", target="quick", every="15m", catchup="all")
    create("paused-until", target="quick", every="30m")
    create("skipping", target="long", every="30m")
    create("holding", target="long", every="1h", overlap="buffer_all")
    create("newest", target="long", every="1h", overlap="buffer_one")
    create("retried", target="failing", every="2h", retry={"attempts": 9, "backoff": "20m", "factor": 2})
    create("asking", target="asking", every="3h")
    create("few", target="quick", every="30m", limit=2)
    create("edited", target="quick", every="30m")
    create("gone", target="quick", every="30m")
    create("spoilt", target="quick", every="1h")
    create("filled", target="long", every="1h", overlap="skip", start_at="2026-11-15T00:00:00Z")
    sets = [{"name": "declared", "target": "python:quick", "cron": "0 15 * * *"}]
    world.app.parts.verbs.declarations.apply("mail", sets)


def _money(world: World) -> None:
    app = world.app
    app.accounts.limit("ann", True)
    app.accounts.top_up("ann", 1_000_000, "invoice-1")
    good = app.grants.create(_SCOPES, user="ann", budget={"credits": 90_000, "per": "day"})
    bad = app.grants.create(_SCOPES, user="ann", expires_at="2027-01-01T00:00:00Z")
    app.schedules.create("paid", target="paid", every="1h", grant=good.id)
    app.schedules.create("revoked", target="quick", every="1h", grant=bad.id)
    app.schedules.create("thrifty", target="paid", every="1h", grant=good.id, budget={"credits": 50_000, "per": "30d"})
    app.workflows.deploy(a_dag([scheduled(cron="*/50 * * * *"), act("note")], "tick > note", workflow_id="flow"))
    app.workflows.deploy(
        a_dag([manual(), act("note"), act("again", "note")], "start > note > again", workflow_id="two")
    )
    world.advance_to("2026-11-15T13:10:00Z")
    app.grants.revoke(bad.id)


def _hours(world: World) -> None:
    schedules = world.app.schedules
    schedules.pause("paused", "the printer burns")
    schedules.pause("paused-until", until="2026-11-15T20:00:00Z")
    schedules.skip("cron", "2026-11-15T18:15:00Z")
    schedules.patch("edited", every="40m")
    schedules.delete("gone")
    schedules.trigger("manual", input={"by": "hand"})
    _ask_over_http(world)
    _set_aside(world, "spoilt")
    # A long silence, for gaps and misses.
    world.advance_to("2026-11-15T14:02:00Z")
    schedules.create("often", target="quick", every="20s")
    world.kill()
    world.advance_to("2026-11-15T16:01:00Z")
    world.restart()
    schedules.patch("often", every="1h")


def _in_flight(world: World) -> None:
    app = world.app
    _drive(world, app.execute("quick", {"order": 1}, key="order-1"))
    app.schedules.backfill("filled", "2026-11-15T02:00:00Z", "2026-11-15T10:00:00Z", concurrency=2, confirm=True)
    world.advance_to("2026-11-15T17:59:30Z")
    _drive(world, app.execute("long", {"order": 2}, key=UNDER_WAY))
    _bounded_requests(world)
    world.advance_to(END)


def _bounded_requests(world: World) -> None:
    """Of a grant with a budget, one done and one under way; and a call that nobody knows the cost of."""
    app = world.app
    grant = app.grants.create(_SCOPES, user="ann", budget={"credits": 500_000, "per": "day"}).id
    _drive(world, app.execute("paid", key="order-3", grant=grant))
    _drive(world, app.execute("long", key="order-4", grant=grant))
    app.report_usage(world.runs("paid")[0].id, "unpriced", cost=None)


def _drive(world: World, work: Any) -> None:
    world._loop.create_task(work)
    world.advance(seconds=5)


def _ask_over_http(world: World) -> None:
    client = TestClient(world.app.parts.http(Pace(1e6, 10**6)))
    answer = client.post(
        "/api/v1/schedules",
        json={"name": "asked-for", "target": "quick", "every": "45m"},
        headers={"Authorization": f"Bearer {_ADMIN_KEY}", "Idempotency-Key": "one"},
    )
    assert answer.status_code == 201, answer.text


def _set_aside(world: World, schedule: str) -> None:
    """The engine finds that it cannot read it; then somebody mends it, and it is left alone for a while yet."""
    write: Callable[[Any], Any] = world.app.parts.database.write
    text = "UPDATE schedules SET policies = ?, version = version + 1 WHERE id = ?"
    cursor = "UPDATE cursors SET version = version + 1 WHERE ref = (SELECT ref FROM schedules WHERE id = ?)"

    def say(policies: str) -> None:
        write(lambda tx: [tx._do(text, policies, schedule), tx._do(cursor, schedule)])

    (before,) = write(lambda tx: tx._all("SELECT policies FROM schedules WHERE id = ?", schedule))[0]
    log = logging.getLogger("foliot.engine")
    was_off, log.disabled = log.disabled, True
    say("no JSON")
    world.advance_to("2026-11-15T14:00:30Z")
    say(before)
    log.disabled = was_off


def _without_names(tx: Any) -> None:
    """Of the machine, the process and the folder that it was told on."""
    tx._do("UPDATE workers SET name = 'worker ' || ref")
    tx._do("UPDATE execution_requests SET owner = 'a process that is gone'")
    for ref, error in tx._all("SELECT ref, error FROM runs WHERE error IS NOT NULL"):
        tx._do("UPDATE runs SET error = ? WHERE ref = ?", error.partition("\n")[0], ref)
