"""How much of a budget is used is told as starts are judged by it, and from when there is room: then one starts."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import NotFound
from foliot.domain.budgets import Window
from foliot.domain.schedule import OWN
from foliot.services.views import BudgetUse
from foliot.testing import World, virtual
from tests.sdk.test_budgets import COST, MODELS, an_app, create, fates
from tests.sdk.worlds import START

MOMENT = timedelta(microseconds=1)


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    with virtual(an_app(catalogue=MODELS), START, database=database_url) as world:
        yield world


def a_manual(world: World, name: str = "digest", runs: float = 3, **options: Any) -> None:
    """A schedule with a budget for so many runs an hour, which may run beside each other."""
    budget = {"credits": int(runs * COST), "per": "hour"}
    create(world, name, **{"manual": True, "every": None, "overlap": "allow_all", "budget": budget} | options)


def trigger(world: World, name: str = "digest", **given: Any) -> str:
    """What becomes of a run that is asked for now."""
    run = world.app.schedules.trigger(name, input=given or OWN)
    world.advance(seconds=2)
    found = world.app.runs.get(run.id)
    return str(found.reason or found.status)


def use(world: World, name: str = "digest") -> BudgetUse:
    return world.app.schedules.budget(name)


def amounts(world: World, name: str = "digest") -> tuple[int, int, int]:
    found = use(world, name)
    assert found.spent + found.reserved + found.left == found.credits
    return found.spent, found.reserved, found.left


def starts_from(world: World, found: BudgetUse, name: str = "digest") -> None:
    """The engine starts nothing a moment before there is said to be room, and something from then on."""
    assert found.room_at is not None
    assert not found.has_room
    world.advance_to(found.room_at - MOMENT)
    assert not use(world, name).has_room
    assert world.app.schedules.trigger(name).reason == "over_budget"
    world.advance_to(found.room_at)
    assert use(world, name).has_room
    assert trigger(world, name) == "success"


def test_a_budget_that_nothing_was_spent_of_is_all_left(world: World) -> None:
    a_manual(world)
    assert use(world) == BudgetUse(3 * COST, Window.HOUR, 0, 0, 3 * COST, has_room=True, room_at=None)


def test_what_was_spent_is_told_and_there_is_room_again_when_it_has_left_the_window(world: World) -> None:
    a_manual(world)
    for _ in range(3):
        assert use(world).has_room
        assert trigger(world) == "success"
        world.advance(minutes=7)
    assert amounts(world) == (3 * COST, 0, 0)
    assert trigger(world) == "over_budget"
    starts_from(world, use(world))
    assert amounts(world) == (3 * COST, 0, 0), "what left the window was spent anew"


def test_of_what_leaves_the_window_the_oldest_counts_first_until_it_is_enough(world: World) -> None:
    a_manual(world)
    for _ in range(3):
        trigger(world)
        world.advance(minutes=7)
    world.app.schedules.patch("digest", budget={"credits": int(1.5 * COST), "per": "hour"})
    found = use(world)
    assert (found.spent, found.left) == (3 * COST, -int(1.5 * COST))
    world.advance_to(START + timedelta(hours=1, seconds=10))
    assert amounts(world) == (2 * COST, 0, -COST // 2), "one has left, and it is not enough"
    assert use(world).room_at == found.room_at
    starts_from(world, found)


@pytest.mark.parametrize("per", ["hour", "day", "30d"])
def test_the_next_slot_from_when_there_is_room_is_the_first_that_the_engine_starts(world: World, per: str) -> None:
    every = {"hour": "11m", "day": "5h", "30d": "6d"}[per]
    create(world, every=every, budget={"credits": 2 * COST, "per": per})
    world.advance(days={"hour": 0.03, "day": 0.7, "30d": 20}[per])
    assert "over_budget" in fates(world)
    room_at = use(world).room_at
    assert room_at is not None
    started = len(world.runs("digest", status="success"))
    world.advance(days={"hour": 0.05, "day": 1, "30d": 24}[per])
    later = world.runs("digest", status="success")[started]
    before = [run for run in world.runs("digest") if run.scheduled_for < later.scheduled_for][-1]
    assert before.reason == "over_budget"
    assert before.scheduled_for < room_at <= later.scheduled_for


def test_what_is_set_aside_for_runs_under_way_is_reserved_and_nobody_can_say_when_it_is_free(world: World) -> None:
    a_manual(world)
    trigger(world)
    for _ in range(2):
        trigger(world, seconds=5400)
    assert amounts(world) == (COST, 2 * COST, 0)
    found = use(world)
    assert found.room_at is not None, "the first leaves the window"
    world.app.schedules.patch("digest", budget={"credits": 2 * COST, "per": "hour"})
    assert (use(world).left, use(world).has_room, use(world).room_at) == (-COST, False, None)
    world.advance(hours=1)
    assert amounts(world) == (0, 2 * COST, 0), "what is not over counts whenever it began"
    world.advance(hours=1)
    assert amounts(world) == (2 * COST, 0, 0)
    starts_from(world, use(world))


def test_while_nobody_knows_what_a_run_costs_all_is_reserved_for_the_first(world: World) -> None:
    a_manual(world)
    trigger(world, seconds=60)
    assert amounts(world) == (0, 3 * COST, 0)
    assert (use(world).has_room, use(world).room_at) == (False, None)
    world.advance(minutes=2)
    assert amounts(world) == (COST, 0, 2 * COST)
    assert use(world).has_room


def test_a_cost_that_is_not_known_keeps_what_was_reserved_until_it_is_told_or_leaves_the_window(world: World) -> None:
    a_manual(world, runs=2)
    trigger(world, unknown=True)
    assert amounts(world) == (0, 2 * COST, 0)
    told = use(world)
    assert trigger(world) == "over_budget"
    starts_from(world, told)
    trigger(world, unknown=True)
    assert amounts(world) == (COST, COST, 0)
    world.app.report_usage(world.runs("digest")[-1].id, "call", cost="0.000005")
    assert amounts(world) == (int(1.5 * COST), 0, COST // 2)


def test_what_costs_nothing_takes_nothing_of_a_budget_and_what_is_free_always_has_room(world: World) -> None:
    a_manual(world, runs=1, input={"idle": True})
    for _ in range(3):
        assert trigger(world) == "success"
    assert (amounts(world), use(world).has_room) == ((0, 0, COST), True)
    a_manual(world, "free", runs=0, input={"model": "small", "idle": True})
    assert (amounts(world, "free"), use(world, "free").has_room) == ((0, 0, 0), True)
    assert trigger(world, "free") == "success"
    a_manual(world, "none", runs=0)
    assert (use(world, "none").has_room, use(world, "none").room_at) == (False, None), "there never is"
    assert trigger(world, "none") == "over_budget"


def test_a_guess_above_the_whole_budget_has_room_when_nothing_of_it_counts(world: World) -> None:
    a_manual(world, input={"model": "large", "fails": True})
    assert use(world).has_room
    assert trigger(world) == "internal"
    assert amounts(world) == (COST, 0, 2 * COST)
    found = use(world)
    assert trigger(world) == "over_budget"
    assert found.room_at is not None
    world.advance_to(found.room_at - MOMENT)
    assert world.app.schedules.trigger("digest").reason == "over_budget"
    world.advance_to(found.room_at)
    assert trigger(world) == "internal", "it has started"


def test_such_a_guess_waits_for_the_budget_of_the_grant_too(world: World) -> None:
    grant = world.app.grants.create("graph:execute:python:agent", budget={"credits": 10 * COST, "per": "day"})
    a_manual(world, "other", grant=grant.id)
    trigger(world, "other")
    world.advance(minutes=1)
    a_manual(world, grant=grant.id, input={"model": "large"})
    found = use(world)
    assert (found.spent, found.room_at) == (0, START + timedelta(days=1))
    starts_from(world, found)


def test_schedules_that_run_by_one_grant_use_its_budget_together(world: World) -> None:
    grant = world.app.grants.create("graph:execute:python:agent", budget={"credits": 3 * COST, "per": "hour"})
    for name in ("one", "two"):
        a_manual(world, name, runs=9, grant=grant.id)
    trigger(world, "one")
    world.advance(minutes=5)
    trigger(world, "two")
    trigger(world, "two", seconds=60)
    found = world.app.grants.budget(grant.id)
    assert (found.credits, found.per) == (3 * COST, Window.HOUR)
    assert (found.spent, found.reserved, found.left) == (2 * COST, COST, 0)
    world.advance(minutes=2)
    found = world.app.grants.budget(grant.id)
    assert (found.spent, found.reserved, found.left, found.has_room) == (3 * COST, 0, 0, False)
    assert (amounts(world, "one")[0], amounts(world, "two")[0]) == (COST, 2 * COST)
    assert found.room_at is not None
    for moment, fate in ((found.room_at - MOMENT, "over_budget"), (found.room_at, None)):
        world.advance_to(moment)
        assert world.app.schedules.trigger("two").reason == fate


def test_what_has_no_budget_says_how_it_gets_one(world: World) -> None:
    grant = world.app.grants.create("graph:execute:python:agent")
    create(world, grant=grant.id)
    with pytest.raises(NotFound, match=r"^'digest' has no budget of its own: `schedules.patch` gives it one$"):
        world.app.schedules.budget("digest")
    with pytest.raises(NotFound, match=f"{grant.id} has no budget: `grants.allow` gives it one"):
        world.app.grants.budget(grant.id)
    world.app.grants.allow(grant.id, {"credits": 5})
    words = f"gives it one, and `grants.budget` shows that of {grant.id}, by which it runs"
    with pytest.raises(NotFound, match=re.escape(words)):
        world.app.schedules.budget("digest")
    with pytest.raises(NotFound, match="there is no schedule 'absent'"):
        world.app.schedules.budget("absent")
