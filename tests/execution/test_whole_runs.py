"""The limits of a run count all that it uses: in each delivery, before and after each answer, each unit once."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Context, Foliot
from foliot.testing import World, virtual
from tests.sdk.worlds import START

COST = 200


class Program:
    """A target that makes the calls that a test says, tells each so often, and then sleeps or asks."""

    def __init__(self) -> None:
        self.app = Foliot("sqlite:///not-used.db")
        self.app.graph("agent")(self.work)
        self.units = ["one", "two"]
        self.told = 1
        self.begun = 0

    async def work(self, input: Any, ctx: Context) -> None:
        self.begun += 1
        for unit in self.units:
            for _ in range(self.told):
                ctx.report_usage(unit, cost="0.00001", tokens=100)
        await asyncio.sleep(60)
        if input == "asks" and (ctx.decision is None or ctx.decision.verdict == "revise"):
            ctx.ask("approval")


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def world(program: Program, database_url: str) -> Iterator[World]:
    with virtual(program.app, START, database=database_url) as world:
        yield world


def begin(world: World, **options: Any) -> str:
    world.app.schedules.create("digest", target="agent", manual=True, **options)
    run = world.app.schedules.trigger("digest")
    world.advance(seconds=30)
    return run.id


def deliver_again(world: World) -> None:
    world.kill()
    world.restart()
    world.advance(minutes=5)


def fate(world: World) -> str:
    (run,) = world.runs("digest")
    return str(run.reason or run.status)


def test_a_unit_that_is_told_again_is_one_call(world: World, program: Program) -> None:
    program.told = 5
    begin(world, max_calls=2, max_tokens=200, max_credits=2 * COST)
    world.advance(minutes=5)
    assert (fate(world), world.app.accounts.get().balance) == ("success", -2 * COST)


def test_what_is_used_after_an_answer_counts_with_what_was_used_before(world: World) -> None:
    run = begin(world, max_calls=3, input="asks")
    world.advance(minutes=1)
    assert fate(world) == "waiting"
    world.app.runs.decide(run, "revise")
    world.advance(minutes=5)
    assert fate(world) == "run_limit"
    assert sorted(receipt.unit for receipt in world.app.runs.receipts(run)) == ["one", "one@1", "two", "two@1"]


def test_what_a_second_delivery_does_again_counts_once(world: World, program: Program) -> None:
    begin(world, max_calls=2, max_tokens=200, max_credits=2 * COST)
    deliver_again(world)
    assert (fate(world), program.begun) == ("success", 2)


def test_what_a_second_delivery_does_otherwise_counts_with_what_the_first_did(world: World, program: Program) -> None:
    begin(world, max_calls=3)
    program.units = ["three", "four"]
    deliver_again(world)
    assert (fate(world), program.begun) == ("run_limit", 2)
    assert world.app.accounts.get().balance == -4 * COST


@pytest.mark.parametrize(("cost", "fate_then", "begun"), [("0.00001", "success", 2), ("0.00002", "run_limit", 1)])
def test_what_was_reported_from_outside_counts_when_the_run_is_next_delivered(
    world: World, program: Program, cost: str, fate_then: str, begun: int
) -> None:
    run = begin(world, max_credits=3 * COST)
    world.app.report_usage(run, "outside", cost=cost)
    world.advance(seconds=10)
    assert fate(world) == "running"
    deliver_again(world)
    assert (fate(world), program.begun) == (fate_then, begun)


def test_another_attempt_is_a_run_of_its_own(world: World, program: Program) -> None:
    run = begin(world, max_calls=2)
    world.app.runs.cancel(run)
    world.advance(seconds=10)
    world.app.runs.retry(run)
    world.advance(minutes=5)
    assert [str(run.status) for run in world.runs("digest")] == ["cancelled", "success"]
    assert program.begun == 2
