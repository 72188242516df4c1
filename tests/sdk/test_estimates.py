"""What is to come, and what a backfill asks for, is told in numbers that are true, or at least not too small."""

from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Context, Invalid
from foliot.services.views import Estimate
from foliot.testing import World, virtual
from tests.sdk.test_budgets import COST, an_app, create, fates
from tests.sdk.worlds import START


@pytest.fixture
def world() -> Iterator[World]:
    app = an_app()

    @app.graph("free")
    async def free(input: Any, ctx: Context) -> None:
        if input == "fails":
            ctx.report_usage("call", cost="0.00001")
            raise RuntimeError("after its call")

    with virtual(app, START) as world:
        yield world


def slots(world: World, **days: int) -> int:
    return world.app.schedules.estimate("digest", **days).slots


def test_no_more_slots_are_to_come_than_the_limit_leaves(world: World) -> None:
    create(world, every="1h", limit=5)
    assert (slots(world), slots(world, days=1)) == (5, 5)
    world.advance(hours=3)
    assert slots(world) == 2
    world.advance(hours=2)
    assert world.app.schedules.get("digest").standing == "completed"
    assert slots(world) == 0


def test_nothing_is_to_come_after_the_end(world: World) -> None:
    create(world, every="1h", end_at="2026-11-15T15:30:00Z")
    assert slots(world) == 3
    world.advance(hours=4)
    assert (world.app.schedules.get("digest").standing, slots(world)) == ("completed", 0)


def test_of_a_paused_schedule_is_told_what_would_be(world: World) -> None:
    create(world, every="1h")
    world.app.schedules.pause("digest")
    assert slots(world, days=1) == 24


def test_a_past_that_cost_nothing_is_told_as_nothing(world: World) -> None:
    create(world, every="1h", target="free")
    assert world.app.schedules.estimate("digest", days=1) == Estimate(slots=24, credits_each=None, credits=None)
    world.advance(hours=5)
    assert world.app.schedules.estimate("digest", days=1) == Estimate(slots=24, credits_each=0, credits=0)


def test_costs_that_nobody_knows_yet_are_not_nothing(world: World) -> None:
    create(world, every="1h", input={"unknown": True})
    world.advance(hours=2)
    assert world.app.schedules.estimate("digest").credits_each is None
    world.app.report_usage(world.runs("digest")[0].id, "call", cost="0.00001")
    assert world.app.schedules.estimate("digest").credits_each == COST


def test_a_budget_does_not_rely_on_a_past_that_cost_nothing(world: World) -> None:
    create(world, target="free", manual=True, every=None, budget={"credits": COST, "per": "day"})
    for given in ("works", "works", "fails", "fails"):
        world.app.schedules.trigger("digest", input=given)
        world.advance(minutes=1)
    assert fates(world) == ["success", "success", "internal", "over_budget"]


@pytest.mark.parametrize(
    ("which", "words"), [("all", "a backfill of 323,136 slots"), ("missing", "a backfill of up to 323,136 slots")]
)
def test_more_slots_than_are_listed_are_counted_all_the_same(world: World, which: str, words: str) -> None:
    create(world, every="1h")
    world.advance(hours=2)
    span = ("1990-01-01T01:00:00Z", "2026-11-12T00:00:00Z")
    plan = world.app.schedules.backfill("digest", *span, which=which, dry_run=True)
    assert (len(plan.slots), plan.total, plan.credits) == (100_000, 323_136, 323_136 * COST)
    with pytest.raises(Invalid, match=f"{words} for about 32,313,600 credits is started only when that is meant"):
        world.app.schedules.backfill("digest", *span, which=which)


def test_a_dry_run_says_how_many_slots_there_are(world: World) -> None:
    create(world, every="1h")
    world.advance(hours=3)
    plan = world.app.schedules.backfill("digest", "2026-11-15T11:00:00Z", world.now, dry_run=True)
    assert (len(plan.slots), plan.total) == (2, 2)
    assert [one.total for one in world.app.schedules.backfills("digest")] == []
