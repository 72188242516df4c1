"""Whatever finds a budget spent is skipped, be it a retry or a backfill, and its schedule does what the budget says."""

import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from foliot.testing import World, virtual
from tests.databases import PostgresqlServer
from tests.sdk.test_budgets import COST, an_app, create, fates
from tests.sdk.worlds import START, at


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        yield world


def a_budget(runs: int, when_spent: str = "pause") -> dict[str, Any]:
    return {"credits": runs * COST, "per": "day", "when_spent": when_spent}


def stands(world: World) -> tuple[bool, str | None, str | None]:
    schedule = world.app.schedules.get("digest")
    return schedule.paused, schedule.note, schedule.paused_by


def needs_attention(world: World) -> bool:
    return world.app.schedules.get("digest").needs_attention


PAUSED = (True, "its budget is spent", "budget")
GOES_ON = (False, None, None)


@pytest.mark.parametrize(("when_spent", "stand"), [("pause", PAUSED), ("skip", GOES_ON)])
class TestEach:
    def test_a_retry(self, world: World, when_spent: str, stand: object) -> None:
        create(world, budget=a_budget(2, when_spent), retry=4, input={"fails": True})
        world.advance(minutes=19)
        assert fates(world) == ["internal", "internal", "over_budget"]
        assert stands(world) == stand
        assert world.app.schedules.get("digest").running == 0

    def test_a_trigger(self, world: World, when_spent: str, stand: object) -> None:
        create(world, budget=a_budget(1, when_spent))
        for _ in range(2):
            world.app.schedules.trigger("digest")
            world.advance(minutes=1)
        assert (fates(world), stands(world)) == (["success", "over_budget"], stand)

    def test_a_slot_of_a_backfill(self, world: World, when_spent: str, stand: object) -> None:
        create(world, budget=a_budget(2, when_spent))
        world.app.schedules.backfill("digest", at("11:10"), at("11:50"), which="all")
        world.advance(minutes=1)
        assert fates(world) == ["success"] * 2 + ["over_budget"] * 3
        assert stands(world) == stand
        assert world.app.schedules.backfills("digest")[0].ended_at is not None

    def test_a_retry_in_a_backfill_and_one_by_hand(self, world: World, when_spent: str, stand: object) -> None:
        create(world, budget=a_budget(1, when_spent), retry=2, input={"fails": True})
        world.app.schedules.backfill("digest", at("11:10"), at("11:10"), which="all")
        world.advance(minutes=5)
        assert (fates(world), stands(world)) == (["internal", "over_budget"], stand)
        world.app.schedules.resume("digest")
        world.app.runs.retry(world.runs("digest")[-1].id)
        world.advance(minutes=1)
        assert (fates(world), stands(world)) == (["internal", "over_budget", "over_budget"], stand)
        assert world.app.schedules.backfills("digest")[0].running == 0


@pytest.mark.parametrize("owner", ["schedule", "grant"])
def test_a_budget_that_stays_spent_raises_attention_once_and_a_start_ends_it(
    world: World, owner: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "foliot.books")
    budget = {"credits": COST, "per": "hour"}
    grant = world.app.grants.create("graph:execute:python:agent", budget=budget if owner == "grant" else None)
    create(world, grant=grant.id, budget=budget if owner == "schedule" else None)
    world.advance(minutes=30)
    assert (fates(world), needs_attention(world)) == (["success", "over_budget", "over_budget"], False)
    world.advance(minutes=30)
    assert (fates(world)[3:], needs_attention(world)) == (["over_budget"] * 3, True)
    assert len([record for record in caplog.records if "needs attention" in record.message]) == 1
    world.advance(minutes=10)
    assert (fates(world)[-1], needs_attention(world)) == ("success", False)


@pytest.mark.parametrize(("own", "whose"), [(None, "grant"), (3, "grant"), (1, "own"), (0, "own")])
def test_a_pause_says_whose_budget_is_spent(world: World, own: int | None, whose: str) -> None:
    grant = world.app.grants.create("graph:execute:python:agent", budget=a_budget(2))
    create(world, grant=grant.id, budget=None if own is None else a_budget(own))
    world.advance(minutes=40)
    note = "its budget is spent" if whose == "own" else f"the budget of its {grant.id} is spent"
    assert stands(world) == (True, note, "budget")


def test_a_retry_and_a_backfill_say_whose_budget_is_spent(world: World) -> None:
    grant = world.app.grants.create("graph:execute:python:agent", budget=a_budget(1))
    create(world, grant=grant.id, retry=2, input={"fails": True})
    world.advance(minutes=15)
    assert stands(world)[1] == f"the budget of its {grant.id} is spent"
    world.app.schedules.resume("digest")
    world.app.schedules.backfill("digest", at("11:10"), at("11:20"), which="all")
    world.advance(seconds=1)
    assert stands(world)[1] == f"the budget of its {grant.id} is spent"


def test_what_waits_behind_a_retry_that_finds_the_budget_spent_waits_for_the_schedule_to_be_resumed(
    world: World,
) -> None:
    retry = {"attempts": 4, "backoff": "15m"}
    create(world, budget=a_budget(1), retry=retry, input={"fails": True}, overlap="buffer_all")
    world.advance(minutes=29)
    assert fates(world) == ["internal", "over_budget", "pending"]
    world.app.schedules.patch("digest", budget=None, input={}, retry=None)
    world.app.schedules.resume("digest")
    world.advance(seconds=1)
    assert fates(world) == ["internal", "over_budget", "success"]


def test_a_pause_that_a_person_has_made_keeps_its_note(world: World) -> None:
    create(world, budget=a_budget(0))
    world.app.schedules.pause("digest", note="holidays")
    world.app.schedules.trigger("digest")
    world.app.schedules.backfill("digest", at("11:30"), at("12:00"), which="all")
    world.advance(minutes=1)
    assert set(fates(world)) == {"over_budget"}
    assert stands(world)[1] == "holidays"


def test_a_backfill_judges_what_is_beyond_the_budget_when_its_own_runs_are_over(world: World) -> None:
    create(world, budget=a_budget(3))
    world.app.schedules.trigger("digest")
    world.advance(minutes=1)
    free = {"seconds": 60, "idle": True}
    world.app.schedules.backfill("digest", at("11:10"), at("12:00"), which="all", concurrency=4, input=free)
    world.advance(seconds=30)
    assert fates(world) == ["running", "running", "success"]
    world.advance(minutes=3)
    assert (fates(world), stands(world)) == (["success"] * 7, GOES_ON)


def test_a_schedule_that_somebody_holds_is_paused_for_its_backfill_once_it_is_free(
    postgresql_server: PostgresqlServer,
) -> None:
    url = postgresql_server.new_database()
    with virtual(an_app(), START, database=url) as world, psycopg.connect(url) as somebody:
        create(world, budget=a_budget(0))
        world.app.schedules.backfill("digest", at("11:30"), at("12:00"), which="all")
        somebody.execute("SELECT 1 FROM cursors FOR UPDATE")
        world.advance(seconds=1)
        assert (fates(world), stands(world)) == ([], GOES_ON)
        somebody.rollback()
        world.advance(seconds=1)
        assert (fates(world), stands(world)) == (["over_budget"] * 4, PAUSED)
