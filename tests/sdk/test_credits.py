"""Money: what is used is charged once, who has nothing starts nothing that is paid, and nobody is stopped for free."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from foliot import Conflict, Context, Denied, Foliot, Invalid, NotFound
from foliot.domain.credits import Model, Pricing
from foliot.settings import pricing_of
from foliot.testing import World, virtual
from tests.sdk.worlds import START

PRICES = Pricing({"free": Model("free", is_free=True), "large": Model("large", False, Decimal("0.000001"))}, Decimal(2))
CALL = 5_000
"""Credits for a call of 0.00025 USD with that markup."""


def an_app(pricing: Pricing = PRICES) -> Foliot:
    app = Foliot("sqlite:///not-used.db", pricing=pricing)

    @app.graph("agent")
    async def agent(input: Any, ctx: Context) -> None:
        for unit in input.get("calls", ()):
            ctx.report_usage(unit, model=input.get("model"), cost=input.get("cost"), tokens=input.get("tokens"))
        if input.get("fails"):
            raise RuntimeError("after its calls")

    return app


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        yield world


def create(world: World, user: str | None = "ann", **input: Any) -> None:
    world.app.schedules.create("digest", target="agent", every="5m", user=user, input=input)


def fates(world: World) -> list[tuple[str, str | None]]:
    return [(str(run.status), run.reason and str(run.reason)) for run in world.runs("digest")]


def balance(world: World, user: str = "ann") -> int:
    return world.app.accounts.get(user).balance


def receipts(world: World) -> list[tuple[str, int | None]]:
    return [(each.unit, each.credits) for run in world.runs("digest") for each in world.app.runs.receipts(run.id)]


def test_each_call_of_a_run_is_charged_with_one_rounding_up(world: World) -> None:
    world.app.accounts.top_up("ann", 5_000_000, "payment 1")
    create(world, model="large", cost="0.00025000000001", calls=["a", "b"])
    world.advance(minutes=5)
    assert receipts(world) == [("a", CALL + 1), ("b", CALL + 1)]
    assert balance(world) == 5_000_000 - 2 * (CALL + 1)
    (run,) = world.runs("digest")
    assert [each.reference for each in world.app.runs.receipts(run.id)] == [
        "digest:2026-11-15T12:05:00Z/1/a",
        "digest:2026-11-15T12:05:00Z/1/b",
    ]
    newest, *_ = world.app.accounts.ledger("ann")
    assert (newest.kind, newest.amount, newest.balance_after) == ("charge", -(CALL + 1), balance(world))


def test_a_unit_that_is_reported_twice_is_charged_once(world: World) -> None:
    create(world, cost="0.00025", calls=["a", "a"])
    world.advance(minutes=5)
    (run,) = world.runs("digest")
    assert world.app.report_usage(run.id, "a", cost="0.00025") == "before"
    assert receipts(world) == [("a", CALL)]
    assert balance(world) == -CALL


def test_what_a_run_used_is_charged_though_it_failed_and_its_retry_may_be_charged_anew(world: World) -> None:
    create(world, cost="0.00025", calls=["a"], fails=True)
    world.app.schedules.patch("digest", retry=2)
    world.advance(minutes=6)
    assert fates(world) == [("error", "internal"), ("error", "internal")]
    assert receipts(world) == [("a", CALL), ("a", CALL)]
    assert balance(world) == -2 * CALL


def test_a_cost_that_is_not_known_is_deferred_and_completed_once(world: World) -> None:
    create(world, calls=["a"])
    world.advance(minutes=5)
    (run,) = world.runs("digest")
    assert receipts(world) == [("a", None)]
    assert balance(world) == 0
    assert world.app.report_usage(run.id, "a") == "deferred"
    assert world.app.report_usage(run.id, "a", cost="0.00025") == "now"
    assert world.app.report_usage(run.id, "a", cost="0.9") == "before"
    assert receipts(world) == [("a", CALL)]
    assert balance(world) == -CALL


def test_nothing_reported_for_a_paid_model_is_not_yet_known_and_not_nothing(world: World) -> None:
    world.app.accounts.top_up("ann", 5_000_000, "payment 1")
    create(world, model="large", cost=0, calls=["a"])
    world.advance(minutes=5)
    assert receipts(world) == [("a", None)]


def test_a_listed_model_is_charged_by_its_tokens(world: World) -> None:
    world.app.accounts.top_up("ann", 5_000_000, "payment 1")
    create(world, model="large", tokens=250, calls=["a"])
    world.advance(minutes=5)
    assert receipts(world) == [("a", CALL)]


def test_a_schedule_of_a_paid_model_is_not_made_for_an_empty_account(world: World) -> None:
    with pytest.raises(Denied, match="large is paid, and ann has 0 credits: top the account up"):
        create(world, model="large")
    assert world.app.schedules.list() == []
    for free in ({"model": "free"}, {}):
        world.app.schedules.upsert("digest", target="agent", every="5m", user="ann", input=free)


def test_no_edit_brings_a_paid_model_to_an_empty_account(world: World) -> None:
    create(world, model="free")
    with pytest.raises(Denied, match="large is paid, and ann has 0 credits"):
        world.app.schedules.patch("digest", input={"model": "large"})


def test_a_free_model_runs_with_a_balance_below_nothing(world: World) -> None:
    create(world, model="free", calls=["a"])
    world.app.schedules.create("other", target="agent", every="5m", user="ann", input={"cost": "1", "calls": ["b"]})
    world.advance(minutes=10)
    assert balance(world) < 0
    assert fates(world) == [("success", None), ("success", None)]


def test_a_run_that_cannot_be_paid_is_skipped_and_the_schedule_goes_on_when_it_can(world: World) -> None:
    world.app.accounts.top_up("ann", 1, "payment 1")
    create(world, model="large")
    world.advance(minutes=5)
    world.app.accounts.top_up("ann", 5_000_000, "payment 2")
    world.advance(minutes=5)
    assert fates(world) == [("skipped", "insufficient_credits"), ("success", None)]


def test_a_program_that_knows_no_users_needs_no_credits_and_is_told_what_it_spends(world: World) -> None:
    create(world, user=None, model="large", cost="0.00025", calls=["a"])
    world.advance(minutes=5)
    assert fates(world) == [("success", None)]
    assert balance(world, "local") == -CALL
    world.app.accounts.limit("local", True)
    world.advance(minutes=5)
    assert fates(world)[-1] == ("skipped", "insufficient_credits")


def test_a_payment_counts_once(world: World) -> None:
    for _ in range(2):
        world.app.accounts.top_up("ann", 100, "payment 1")
    assert world.app.accounts.top_up("ann", 10, "payment 2").balance == 110


def test_a_payment_told_again_with_another_amount_is_refused_and_the_first_stands(world: World) -> None:
    world.app.accounts.top_up("ann", 100, "payment 1")
    with pytest.raises(
        Conflict, match="'payment 1' has paid 100 credits to ann before: give this payment its own name"
    ):
        world.app.accounts.top_up("ann", 90, "payment 1")
    assert balance(world) == 100


def test_a_charge_is_given_back_once(world: World) -> None:
    create(world, cost="0.00025", calls=["a"])
    world.advance(minutes=5)
    (run,) = world.runs("digest")
    (receipt,) = world.app.runs.receipts(run.id)
    for _ in range(2):
        assert world.app.accounts.refund(receipt.source, receipt.reference).balance == 0
    with pytest.raises(NotFound, match="there is no charge"):
        world.app.accounts.refund("foliot", "nothing/1/a")


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5])
def test_what_is_no_payment_is_refused(world: World, wrong: Any) -> None:
    with pytest.raises(Invalid, match="credits takes a whole number above 0"):
        world.app.accounts.top_up("ann", wrong, "payment")


def test_usage_of_a_run_that_there_is_not_is_refused(world: World) -> None:
    with pytest.raises(NotFound, match="there is no run"):
        world.app.report_usage("digest:2026-11-15T12:05:00Z~1", "a", cost=1)


def test_prices_come_from_a_file_and_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"free": {"is_free": True}, "large": {"usd_per_token": "0.000001"}}))
    monkeypatch.setenv("FOLIOT_CATALOGUE", str(file))
    monkeypatch.setenv("FOLIOT_MARKUP", "1.5")
    pricing = pricing_of()
    assert pricing.markup == Decimal("1.5")
    assert (pricing.catalogue["free"].is_free, pricing.catalogue["large"].usd_per_token) == (True, Decimal("0.000001"))
    for name, value in (("FOLIOT_MARKUP", "0.5"), ("FOLIOT_MARKUP", "much"), ("FOLIOT_CATALOGUE", "nowhere.json")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            with pytest.raises(Invalid, match=name):
                pricing_of()
