"""Budgets: so much within a span of time that moves along; what runs has its share set aside."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from foliot import Context, Foliot, Invalid, LimitExceeded
from foliot.domain.budgets import Budget, WhenSpent, Window
from foliot.domain.credits import Model, Pricing
from foliot.domain.schedule import OWN
from foliot.services.views import Estimate
from foliot.testing import World, virtual
from tests.sdk.worlds import START

COST = 100
"""Credits for a call of 0.00001 USD."""


def an_app(**pricing: Any) -> Foliot:
    app = Foliot("sqlite:///not-used.db", pricing=Pricing(markup=Decimal(1), **pricing))

    @app.graph("agent")
    async def agent(input: Any, ctx: Context) -> None:
        given = input or {}
        await asyncio.sleep(given.get("seconds", 0))
        if not given.get("idle"):
            ctx.report_usage("call", cost=None if given.get("unknown") else "0.00001")
        if given.get("fails"):
            raise RuntimeError("after its call")

    return app


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        yield world


def create(world: World, name: str = "digest", **options: Any) -> None:
    world.app.schedules.create(name, **{"target": "agent", "every": "10m"} | options)


def fates(world: World, name: str = "digest") -> list[str]:
    return [str(run.reason or run.status) for run in world.runs(name)]


def test_a_schedule_skips_what_its_budget_has_no_credits_for_and_goes_on_when_it_has(world: World) -> None:
    create(world, budget={"credits": 3 * COST, "per": "hour"})
    world.advance(minutes=90)
    assert fates(world) == ["success"] * 3 + ["over_budget"] * 3 + ["success"] * 3


def test_until_somebody_knows_what_a_run_costs_one_starts_while_anything_is_left(world: World) -> None:
    create(world, budget={"credits": 1, "per": "day"})
    world.advance(minutes=30)
    assert fates(world) == ["success", "over_budget", "over_budget"]


def test_of_runs_that_may_cost_anything_one_starts_with_what_is_left_and_the_others_when_it_is_over(
    world: World,
) -> None:
    grant = world.app.grants.create("graph:execute:python:agent", budget={"credits": 5 * COST, "per": "day"})
    for name in "abcde":
        create(world, name, grant=grant.id, every="1h", input={"seconds": 60})
    world.advance(minutes=61)
    assert sorted(fates(world, name)[0] for name in "abcde") == ["over_budget"] * 4 + ["success"]
    world.advance(hours=1)
    assert sorted(fates(world, name)[1] for name in "abcde") == ["over_budget"] * 3 + ["success"] * 2


def test_of_triggers_that_may_cost_anything_one_starts_with_what_is_left(world: World) -> None:
    create(world, budget={"credits": COST, "per": "day"}, overlap="allow_all", manual=True, every=None)
    for _ in range(5):
        world.app.schedules.trigger("digest")
    world.advance(minutes=1)
    assert sorted(fates(world)) == ["over_budget"] * 4 + ["success"]


def test_spending_counts_from_when_it_was_charged_and_not_from_when_the_run_began(world: World) -> None:
    create(world, budget={"credits": COST, "per": "hour"}, every="2h", input={"seconds": 5400})
    world.advance(hours=2, minutes=91)
    world.app.schedules.trigger("digest")
    world.advance(minutes=1)
    assert fates(world) == ["success", "over_budget"]


def test_a_spent_budget_may_pause_its_schedule_with_a_note(world: World) -> None:
    create(world, budget={"credits": COST, "per": "hour", "when_spent": "pause"})
    world.advance(minutes=30)
    schedule = world.app.schedules.get("digest")
    assert fates(world) == ["success", "over_budget"]
    assert (schedule.paused, schedule.note, schedule.paused_by) == (True, "its budget is spent", "budget")
    world.advance(minutes=65)
    world.app.schedules.resume("digest")
    world.advance(minutes=5)
    assert fates(world)[-1] == "success"


def test_schedules_that_run_by_one_grant_share_its_budget(world: World) -> None:
    grant = world.app.grants.create(
        "graph:execute:python:agent", budget={"credits": 3 * COST, "per": "day"}, user="ann"
    )
    assert grant.budget == Budget(3 * COST, Window.DAY, WhenSpent.SKIP)
    for name in ("one", "two"):
        create(world, name, grant=grant.id)
    world.advance(minutes=20)
    assert sorted(fates(world, "one") + fates(world, "two")) == ["over_budget"] + ["success"] * 3
    world.app.grants.allow(grant.id, None)
    world.advance(minutes=10)
    assert fates(world, "one")[-1] == fates(world, "two")[-1] == "success"


def test_what_is_set_aside_for_those_that_run_is_not_left_for_others(world: World) -> None:
    create(world, budget={"credits": 3 * COST, "per": "day"}, overlap="allow_all", input={"seconds": 3600})
    world.app.schedules.trigger("digest", input={"seconds": 0})
    world.advance(minutes=1)
    for _ in range(4):
        world.app.schedules.trigger("digest")
    world.advance(minutes=1)
    assert fates(world)[1:] == ["running", "running", "over_budget", "over_budget"]


def test_a_run_that_cost_nothing_after_all_gives_back_what_was_set_aside(world: World) -> None:
    create(world, budget={"credits": COST, "per": "day"}, manual=True, every=None)
    for _ in range(3):
        world.app.schedules.trigger("digest", input={"idle": True})
        world.advance(minutes=1)
    assert fates(world) == ["success"] * 3


def test_what_may_have_been_spent_counts_until_somebody_knows_what_it_was(world: World) -> None:
    create(world, budget={"credits": 2 * COST, "per": "day"}, input={"unknown": True})
    world.advance(hours=2)
    assert fates(world) == ["success"] + ["over_budget"] * 11
    world.app.report_usage(world.runs("digest")[0].id, "call", cost="0.00001")
    world.advance(minutes=20)
    assert fates(world)[-2:] == ["success", "over_budget"], "one more could be paid for"


def test_a_cost_that_nobody_ever_tells_counts_no_longer_than_what_was_spent(world: World) -> None:
    create(world, budget={"credits": COST, "per": "hour"}, input={"unknown": True})
    world.advance(minutes=80)
    assert fates(world) == ["success"] + ["over_budget"] * 5 + ["success", "over_budget"]


def test_a_guess_above_the_whole_budget_keeps_nothing_from_starting_that_may_cost_less() -> None:
    with virtual(an_app(), START) as world:
        create(world, budget={"credits": 4_000_000, "per": "day"}, input={"model": "nobody-lists-it"})
        world.app.schedules.trigger("digest")
        world.app.schedules.trigger("digest", overlap="allow_all")
        world.advance(minutes=20)
        assert world.app.schedules.estimate("digest", 1).credits_each == COST, "it is known by now"
        assert sorted(fates(world)) == ["over_budget"] + ["success"] * 3


def test_a_budget_is_no_more_than_can_be_added_up(world: World) -> None:
    with pytest.raises(Invalid, match="credits of a budget takes a whole number from 0 to 1,000,000,000,000,000"):
        create(world, budget={"credits": 10**30})


def test_a_retry_needs_credits_of_its_own(world: World) -> None:
    create(world, budget={"credits": 2 * COST, "per": "day"}, retry=4, input={"fails": True})
    world.advance(minutes=15)
    assert fates(world)[:3] == ["internal", "internal", "over_budget"]
    assert world.app.schedules.get("digest").running == 0


def test_a_backfill_stops_at_what_the_budget_has(world: World) -> None:
    create(world, budget={"credits": 2 * COST, "per": "day"})
    world.app.schedules.pause("digest")
    world.advance(hours=1)
    world.app.schedules.resume("digest")
    world.app.schedules.backfill("digest", START, world.now, which="all", concurrency=3)
    world.advance(minutes=1)
    filled = [str(run.reason or run.status) for run in world.runs("digest") if run.kind == "backfill"]
    assert filled.count("success") <= 3
    assert filled.count("over_budget") >= 3
    assert len(filled) == 7


def test_a_budget_is_part_of_what_a_schedule_is(world: World) -> None:
    create(world, budget={"credits": 5})
    assert world.app.schedules.get("digest").policies.budget == Budget(5, Window.DAY)
    world.app.schedules.patch("digest", budget={"credits": 7, "per": "30d"})
    assert world.app.schedules.get("digest").policies.budget == Budget(7, Window.MONTH)
    world.app.schedules.patch("digest", budget=None)
    assert world.app.schedules.get("digest").policies.budget is None


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"max_calls": 2}, "it has used 3 calls, and one run may take 2"),
        ({"max_tokens": 250}, "it has used 300 tokens, and one run may take 250"),
        ({"max_credits": 2 * COST}, "it has used 300 credits, and one run may take 200"),
    ],
)
@pytest.mark.parametrize("swallows", [False, True])
def test_a_run_that_uses_more_than_one_run_may_is_over_and_pays_for_what_it_used(
    limits: dict[str, Any], words: str, swallows: bool
) -> None:
    app = an_app()

    @app.graph("greedy")
    async def greedy(input: Any, ctx: Context) -> None:
        for number in range(5):
            try:
                ctx.report_usage(f"call-{number}", cost="0.00001", tokens=100)
            except LimitExceeded:
                if not swallows:
                    raise
                return

    with virtual(app, START) as world:
        create(world, target="greedy", **limits)
        world.advance(minutes=10)
        (run,) = world.runs("digest")
        assert (run.status, run.reason, run.error) == ("error", "run_limit", words)
        assert app.accounts.get().balance == -3 * COST


def test_what_the_next_days_may_cost_is_told_from_what_the_last_runs_did(world: World) -> None:
    create(world, every="1h")
    assert world.app.schedules.estimate("digest") == Estimate(slots=720, credits_each=None, credits=None)
    world.advance(hours=3)
    assert world.app.schedules.estimate("digest", days=1) == Estimate(slots=24, credits_each=COST, credits=24 * COST)


def test_a_large_backfill_is_started_only_when_it_is_meant(world: World) -> None:
    create(world, every="10s")
    world.app.schedules.pause("digest")
    world.advance(hours=3)
    span = (START, world.now)
    plan = world.app.schedules.backfill("digest", *span, which="all", dry_run=True)
    assert (len(plan.slots), plan.credits) == (1081, None)
    with pytest.raises(Invalid, match="a backfill of 1,081 slots is started only when that is meant"):
        world.app.schedules.backfill("digest", *span, which="all")
    assert world.app.schedules.backfills("digest") == []
    world.app.schedules.backfill("digest", *span, which="all", confirm=True)
    assert len(world.app.schedules.backfills("digest")) == 1


def test_an_expensive_backfill_is_started_only_when_it_is_meant() -> None:
    app = an_app(confirm_credits=5 * COST)
    with virtual(app, START) as world:
        create(world)
        world.advance(hours=1)
        plan = app.schedules.backfill("digest", START, world.now, which="all", dry_run=True)
        assert plan.credits == len(plan.slots) * COST
        with pytest.raises(Invalid, match="for about 700 credits"):
            app.schedules.backfill("digest", START, world.now, which="all")
        app.schedules.backfill("digest", START, START + timedelta(minutes=30), which="all")


DEAR, CHEAP = {"model": "large"}, {"model": "small"}
MODELS = {"large": Model("large", False, Decimal("0.000001")), "small": Model("small", is_free=True)}
"""A run of the large one may cost some 105,000 credits, as far as anybody knows."""


@pytest.fixture
def choosy() -> Iterator[World]:
    """A world whose schedule has run once, for what a run of it costs."""
    with virtual(an_app(catalogue=MODELS), START) as world:
        create(world, budget={"credits": 10 * COST, "per": "day"}, overlap="allow_all")
        world.app.schedules.trigger("digest")
        world.advance(minutes=1)
        yield world


def test_a_trigger_with_a_dearer_model_of_its_own_is_judged_by_that_and_not_by_the_past(choosy: World) -> None:
    for own in (OWN, {"seconds": 0}, DEAR, OWN):
        choosy.app.schedules.trigger("digest", input=own)
        choosy.advance(seconds=1)
    assert fates(choosy) == ["success", "success", "success", "over_budget", "success"]


def test_what_a_dearer_model_may_cost_is_set_aside_and_its_retry_is_judged_by_it_too(choosy: World) -> None:
    choosy.app.schedules.patch("digest", budget={"credits": 110_000, "per": "day"}, retry=2)
    choosy.app.schedules.trigger("digest", input=DEAR | {"seconds": 60, "fails": True})
    choosy.advance(seconds=1)
    for own in (DEAR, OWN):
        choosy.app.schedules.trigger("digest", input=own)
        choosy.advance(seconds=1)
    assert fates(choosy) == ["success", "running", "over_budget", "success"]
    choosy.app.schedules.patch("digest", budget={"credits": 50_000, "per": "day"})
    choosy.advance(minutes=2)
    assert [run.reason for run in choosy.runs("digest") if run.attempt == 2] == ["over_budget"]


def test_a_trigger_with_a_free_model_of_its_own_starts_whatever_is_left(choosy: World) -> None:
    choosy.app.schedules.patch("digest", budget={"credits": 0})
    for own in (OWN, CHEAP):
        choosy.app.schedules.trigger("digest", input=own)
        choosy.advance(seconds=1)
    assert fates(choosy) == ["success", "over_budget", "success"]


def test_triggers_that_have_waited_are_judged_each_by_its_own_model(choosy: World) -> None:
    choosy.app.schedules.patch("digest", overlap="buffer_all", input={"seconds": 60})
    for own in (OWN, DEAR, CHEAP):
        choosy.app.schedules.trigger("digest", input=own)
    choosy.advance(seconds=1)
    assert fates(choosy) == ["success", "running", "pending", "pending"]
    choosy.advance(minutes=2)
    assert fates(choosy) == ["success", "success", "over_budget", "success"]


def test_a_backfill_with_a_model_of_its_own_is_estimated_and_judged_by_it(choosy: World) -> None:
    span = (START - timedelta(minutes=40), START - timedelta(minutes=10))
    plans = [
        choosy.app.schedules.backfill("digest", *span, which="all", dry_run=True, input=own).credits
        for own in (OWN, {"seconds": 0}, CHEAP)
    ]
    assert plans == [4 * COST, 4 * COST, 0]
    dear = choosy.app.schedules.backfill("digest", *span, which="all", dry_run=True, input=DEAR)
    assert (dear.credits or 0) > 4 * 105_000
    choosy.app.schedules.backfill("digest", *span, which="all", input=DEAR)
    choosy.advance(seconds=1)
    assert fates(choosy) == ["over_budget"] * 4 + ["success"]
