"""Who was let in and charged is not asked again whether it can pay: what it used is owed, and never charged twice."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Context, Denied, Foliot
from foliot.domain.credits import Model, Pricing
from foliot.testing import World, virtual
from tests.sdk.worlds import START

PRICES = Pricing({"large": Model("large", is_free=False)})
CALL = 5_000_000
"""Credits for a call of 0.25 USD, with the markup."""


def an_app() -> Foliot:
    app = Foliot("sqlite:///not-used.db", pricing=PRICES)

    async def work(input: Any, ctx: Context) -> None:
        await asyncio.sleep(input.get("before", 0))
        ctx.report_usage("call", cost="0.25")
        await asyncio.sleep(input.get("after", 0))
        if input.get("asks") and ctx.decision is None:
            ctx.ask("approval")

    app.graph("agent")(work)
    app.graph("careful", on_unknown="hold")(work)
    return app


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    with virtual(an_app(), START, database=database_url) as world:
        world.app.accounts.top_up("ann", CALL, "payment")
        yield world


def create(world: World, target: str = "agent", **input: Any) -> None:
    given = {"model": "large", **input}
    world.app.schedules.create("digest", target=target, every="1h", limit=1, user="ann", input=given)
    world.advance(hours=1)


def die(world: World) -> None:
    """After the charge, which is made a second after the report, and before the record; another worker takes over."""
    world.advance(seconds=2)
    world.kill()
    world.restart()
    world.advance(minutes=5)


def fates(world: World) -> list[str]:
    return [str(run.reason or run.status) for run in world.runs("digest")]


def balance(world: World) -> int:
    return world.app.accounts.get("ann").balance


def test_killed_between_its_charge_and_its_record_a_run_is_not_refused_for_its_own_charge(world: World) -> None:
    create(world, after=60)
    die(world)
    assert (fates(world), balance(world)) == (["success"], 0)


def test_killed_before_anything_was_charged_it_is_asked_again(world: World) -> None:
    create(world, before=60)
    world.app.schedules.create("other", target="agent", manual=True, user="ann", input={})
    world.app.schedules.trigger("other")
    world.advance(seconds=1)
    die(world)
    assert (fates(world), balance(world)) == (["insufficient_credits"], 0)


def test_what_a_run_does_after_an_answer_needs_credits_of_its_own(world: World) -> None:
    create(world, asks=True)
    world.advance(seconds=1)
    assert (fates(world), balance(world)) == (["waiting"], 0)
    world.app.runs.decide(world.runs("digest")[0].id, "approve")
    world.advance(minutes=1)
    assert (fates(world), balance(world)) == (["insufficient_credits"], 0)


def test_killed_after_an_answer_and_its_charge_it_is_let_in_again(world: World) -> None:
    create(world, asks=True, after=60)
    world.advance(minutes=2)
    world.app.accounts.top_up("ann", CALL, "another")
    world.app.runs.decide(world.runs("digest")[0].id, "approve")
    world.advance(seconds=30)
    die(world)
    assert (fates(world), balance(world)) == (["success"], 0)


def test_that_a_person_has_it_delivered_again_is_no_answer_and_asks_for_no_credits(world: World) -> None:
    create(world, "careful", after=60)
    die(world)
    assert (fates(world), balance(world)) == (["waiting"], 0)
    world.app.runs.decide(world.runs("digest")[0].id, "approve")
    world.advance(minutes=5)
    assert (fates(world), balance(world)) == (["success"], 0)


def test_a_request_from_outside_that_was_charged_is_delivered_again_to_an_account_that_has_nothing(
    database_url: str,
) -> None:
    app = Foliot(database_url, pricing=PRICES)
    begun = asyncio.Event()

    @app.graph("send")
    async def send(input: Any, ctx: Context) -> None:
        ctx.report_usage("call", cost="0.25")
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()

    grant = app.grants.create("graph:execute:python:send", user="ann").id
    app.accounts.top_up("ann", CALL, "payment")

    def execute(key: str) -> Any:
        return app.execute("send", {"model": "large"}, key=key, grant=grant)

    async def cut_off() -> None:
        executing = asyncio.ensure_future(execute("k1"))
        await begun.wait()
        executing.cancel()

    asyncio.run(cut_off())
    assert app.accounts.get("ann").balance == 0
    app.parts.database.write(lambda tx: tx.renew_request(1, 1, 0))
    assert asyncio.run(execute("k1")).ok
    assert app.accounts.get("ann").balance == 0
    with pytest.raises(Denied, match="insufficient_credits"):
        asyncio.run(execute("k2"))
    app.close()
