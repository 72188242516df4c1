"""An hour of a service in which slots, people and runs decide of each other in most ways that there are."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from foliot import Context, Foliot
from foliot.domain.pace import Pace
from foliot.testing import World, virtual
from tests.http.clients import People

HOUR_OF_DECISIONS = [
    ("start", "slot 12:10 ~1", None),
    ("skip", "manual 12:10 ~1", "overlap"),
    ("end", "slot 12:10 ~1", None),
    ("start", "manual 12:12 ~1", None),
    ("hold", "manual 12:12 ~1", "overlap"),
    ("end", "manual 12:12 ~1", None),
    ("start", "manual 12:12 ~1", None),
    ("end", "manual 12:12 ~1", None),
    ("skip", "slot 12:20 ~1", "skipped_by_user"),
    ("start", "slot 12:30 ~1", None),
    ("cancel", "slot 12:30 ~1", "cancelled_by_user"),
    ("start", "slot 12:40 ~1", None),
    ("cancel", "slot 12:40 ~1", "terminated"),
    ("start", "slot 12:40 ~2", None),
    ("skip", "slot 12:30 ~2", "overlap"),
    ("end", "slot 12:40 ~2", None),
    ("start", "slot 12:50 ~1", None),
    ("cancel", "slot 12:50 ~1", "terminated"),
    ("start", "manual 12:50 ~1", None),
    ("end", "manual 12:50 ~1", None),
    ("start", "manual 12:53 ~1", None),
    ("ask", "manual 12:53 ~1", None),
    ("cancel", "manual 12:53 ~1", "rejected"),
]
"""What is decided in it, of what, and why."""


@contextmanager
def an_eventful_hour(database_url: str) -> Iterator[World]:
    """One slot in ten minutes, each at work for 90 seconds; what people do is asked for over the network."""
    app = Foliot("sqlite:///not-used.db", name="shop")

    @app.graph("job")
    async def job(input: Any, ctx: Context) -> Any:
        if input == "ask":
            return ctx.ask("approval")
        await asyncio.sleep(90)
        return None

    app.schedule("job", every="10m")(job)
    with virtual(app, "2026-11-15T12:00:00Z", database=database_url) as world:
        _pass(world)
        yield world


def _pass(world: World) -> None:
    http = world.app.parts.http(Pace(1e6, 10**6))
    root = People(world.app, lambda: TestClient(http, raise_server_exceptions=False)).root

    def at(time: str, path: str, **said: Any) -> None:
        world.advance_to(f"2026-11-15T{time}Z")
        answer = root.post(f"/api/v1/{path}", json=said or None)
        assert answer.is_success, answer.text

    at("12:10:30", "schedules/job/trigger")
    at("12:12:00", "schedules/job/trigger")
    at("12:12:01", "schedules/job/trigger", overlap="buffer_one")
    at("12:16:00", "schedules/job/skip", at="2026-11-15T12:20:00Z")
    at("12:30:10", "runs/job:2026-11-15T12:30:00Z~1/cancel")
    at("12:40:10", "runs/job:2026-11-15T12:40:00Z~1/terminate")
    at("12:40:20", "runs/job:2026-11-15T12:40:00Z~1/retry")
    at("12:40:30", "runs/job:2026-11-15T12:30:00Z~1/retry")
    at("12:50:10", "schedules/job/trigger", overlap="terminate_other")
    at("12:53:00", "schedules/job/trigger", input="ask")
    at("12:53:10", "runs/job:manual:2026-11-15T12:53:00Z~1/decision", verdict="reject")
    world.advance(seconds=10)
