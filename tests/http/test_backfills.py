"""Backfills over the network: how far one has come, and that nothing more of it starts."""

import asyncio
from typing import Any

import pytest

from foliot import Context, Foliot
from foliot.testing import World
from tests.http.clients import People

RANGE = {"start": "2026-11-15T08:00:00Z", "end": "2026-11-15T11:30:00Z"}


@pytest.fixture
def started(program: Foliot, world: World, people: People) -> int:
    """A backfill of eight slots of Ann's, one after the other, each of ten minutes."""

    @program.graph("slow")
    async def slow(input: Any, ctx: Context) -> None:
        await asyncio.sleep(600)

    body = {"name": "job", "cron": "*/30 * * * *", "timezone": "UTC", "target": "python:slow", "catchup": "none"}
    assert people.ann.post("/api/v1/schedules", json=body).status_code == 201
    made = people.ann.post("/api/v1/schedules/job/backfills", json=RANGE)
    assert made.status_code == 201, made.text
    world.advance(minutes=1)
    return int(made.json()["id"])


def test_a_backfill_says_how_far_it_has_come(started: int, world: World, people: People) -> None:
    first = people.ann.get(f"/api/v1/backfills/{started}").json()
    assert (first["total"], first["done"], first["started"], first["running"]) == (8, 0, 1, 1)
    assert first["time_left"] is None
    world.advance(minutes=40)
    later = people.ann.get(f"/api/v1/backfills/{started}").json()
    assert (later["done"], later["started"], later["time_left"]) == (4, 5, "41m")
    world.advance(minutes=45)
    over = people.ann.get(f"/api/v1/backfills/{started}").json()
    assert (over["done"], over["running"], over["time_left"], over["cancelled_at"]) == (8, 0, None, None)
    assert over["ended_at"] is not None
    assert people.ann.post(f"/api/v1/backfills/{started}/cancel").status_code == 409


def test_a_backfill_that_found_nothing_missing_counts_nothing_as_its_dry_run_does(
    started: int, world: World, people: People
) -> None:
    world.advance(hours=2)
    path = "/api/v1/schedules/job/backfills"
    assert people.ann.post(path, json={**RANGE, "dry_run": True}).json()["total"] == 0
    again = people.ann.post(path, json=RANGE).json()["id"]
    assert again != started
    world.advance(minutes=1)
    over = people.ann.get(f"/api/v1/backfills/{again}").json()
    assert (over["total"], over["done"], over["started"], over["ended_at"] is None) == (0, 0, 0, False)


def test_nothing_more_of_a_cancelled_backfill_starts_and_what_runs_may_finish(
    started: int, world: World, people: People
) -> None:
    said = people.ann.post(f"/api/v1/backfills/{started}/cancel").json()
    assert (said["running"], said["started"], said["time_left"]) == (1, 1, None)
    assert said["ended_at"] == said["cancelled_at"] is not None
    world.advance(hours=2)
    found = people.ann.get("/api/v1/runs", params={"backfill": started}).json()["items"]
    assert [run["status"] for run in found] == ["success"]
    over = people.ann.get(f"/api/v1/backfills/{started}").json()
    assert (over["done"], over["running"], over["total"]) == (1, 0, 8)


def test_what_runs_of_a_backfill_is_stopped_too_when_that_is_said(started: int, world: World, people: People) -> None:
    people.ann.post(f"/api/v1/backfills/{started}/cancel", json={"stop": True})
    world.advance(minutes=1)
    found = people.ann.get("/api/v1/runs", params={"backfill": started}).json()["items"]
    assert [(run["status"], run["reason"]) for run in found] == [("cancelled", "cancelled_by_user")]
    assert people.ann.get(f"/api/v1/backfills/{started}").json()["running"] == 0


def test_a_backfill_of_somebody_else_is_missing(started: int, people: People) -> None:
    foreign, missing = people.bob.get(f"/api/v1/backfills/{started}"), people.bob.get("/api/v1/backfills/4711")
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert people.bob.post(f"/api/v1/backfills/{started}/cancel").status_code == 404
    assert people.bob.get("/api/v1/runs", params={"backfill": started}).json()["items"] == []
    for number in ("0", "-1", str(2**70), "x", "1.5"):
        assert people.ann.get(f"/api/v1/backfills/{number}").status_code == 422


def _walked(people: People, path: str) -> list[dict[str, Any]]:
    """All of a list, two at a time."""
    items: list[dict[str, Any]] = []
    after = None
    while True:
        asked = {"limit": 2} | ({} if after is None else {"after": after})
        page = people.ann.get(f"/api/v1/{path}", params=asked).json()
        assert len(page["items"]) <= 2
        items += page["items"]
        after = page["next"]
        if after is None:
            return items


def test_the_backfills_of_a_schedule_are_listed_page_by_page(started: int, people: People) -> None:
    more = [people.ann.post("/api/v1/schedules/job/backfills", json=RANGE).json()["id"] for _ in range(4)]
    found = _walked(people, "schedules/job/backfills")
    assert [backfill["id"] for backfill in found] == [started, *more]
    assert people.ann.get("/api/v1/schedules/job/backfills?after=x").status_code == 422
    assert len(people.program.schedules.backfills("job", limit=3)) == 3


def test_the_gaps_of_a_schedule_are_listed_page_by_page(world: World, people: People) -> None:
    body = {"name": "job", "cron": "* * * * *", "timezone": "UTC", "target": "python:digest"}
    assert people.ann.post("/api/v1/schedules", json=body).status_code == 201
    for _ in range(3):
        people.ann.post("/api/v1/schedules/job/pause")
        world.advance(hours=3)
        people.ann.post("/api/v1/schedules/job/resume")
        world.advance(minutes=5)
    whole = people.ann.get("/api/v1/schedules/job/gaps").json()
    assert (len(whole["items"]), whole["next"]) == (3, None)
    assert _walked(people, "schedules/job/gaps") == whole["items"]
    assert len(people.program.runs.gaps("job", limit=2)) == 2
