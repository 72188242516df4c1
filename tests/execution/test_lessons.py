"""What other schedulers of paid work have learned the hard way: each lesson has a test, here or where it belongs."""

import ast
import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from foliot import Context, Foliot, Unavailable
from foliot.domain.credits import Model, Pricing
from foliot.execution.records import Records
from foliot.ports import Transaction
from foliot.services.views import Run
from foliot.settings.table import TABLE
from foliot.testing import World, virtual
from tests.databases import PostgresqlServer

START = "2026-11-15T12:00:00Z"
PRICES = Pricing({"large": Model("large", is_free=False)})
CALL = 5_000
"""Credits for a call of 0.00025 USD, with the markup."""
T = TypeVar("T")

LESSONS = {
    "the path of schedules was not billed": "execution/test_lessons.py"
    "::test_whatever_makes_a_run_start_what_it_used_is_charged",
    "only one of the paths asked for credits": "execution/test_lessons.py"
    "::test_whatever_makes_a_run_start_it_needs_credits",
    "a paid schedule was accepted from an empty account": "sdk/test_credits.py"
    "::test_a_schedule_of_a_paid_model_is_not_made_for_an_empty_account",
    "an outage was recorded as a lack of permission": "execution/test_lessons.py"
    "::test_a_database_that_is_away_when_the_gate_looks_is_asked_again_and_nothing_is_skipped",
    "a gate that stays away was taken for a refusal": "execution/test_lessons.py"
    "::test_a_gate_that_cannot_tell_is_an_error_that_says_so_and_no_refusal",
    "what nobody knew the cost of was charged as free": "sdk/test_credits.py"
    "::test_nothing_reported_for_a_paid_model_is_not_yet_known_and_not_nothing",
    "a cost that came late was charged twice": "sdk/test_credits.py"
    "::test_a_cost_that_is_not_known_is_deferred_and_completed_once",
    "one run made many calls": "sdk/test_budgets.py"
    "::test_a_run_that_uses_more_than_one_run_may_is_over_and_pays_for_what_it_used",
    "what a user's schedule used was charged to the system": "execution/test_lessons.py"
    "::test_what_a_schedule_uses_is_charged_to_its_user_whoever_has_it_run",
    "a cost that came late was charged to somebody else": "execution/test_lessons.py"
    "::test_a_cost_that_comes_late_is_charged_to_who_paid_for_the_run_then",
    "a worker died in silence, and its schedules looked enabled": "execution/test_lessons.py"
    "::test_a_worker_that_cannot_go_on_ends_its_program_and_says_why",
    "a worker that was killed took its slots with it": "crash/test_processes.py"
    "::test_a_served_program_that_is_killed_and_started_again_loses_no_slot",
    "a redeploy left out the schedules that were there": "sdk/test_declaring.py"
    "::test_a_redeploy_changes_what_changed_and_leaves_the_rest_alone",
    "a catch-up of nothing was taken for one of a year": "engine/test_sweeping.py"
    "::test_catch_up_is_none_unless_somebody_asks",
    "a conversation had no session": "execution/test_langgraph.py::test_nodes_are_told_which_run_this_is",
    "a start of many blocked the worker until it was killed": "engine/test_overload.py"
    "::test_a_storm_of_slots_all_end_and_never_more_run_than_the_worker_holds",
    "a server that was not there yet ended the worker's start": "engine/test_outage.py"
    "::test_a_worker_that_starts_during_an_outage_waits_for_the_database",
    "an empty setting was taken for one": "execution/test_lessons.py::test_a_setting_that_is_empty_counts_as_none",
    "all runs of a schedule had one conversation": "execution/test_langgraph_threads.py"
    "::test_each_slot_has_a_thread_of_its_own",
    "a second start of a slot had an id of its own": "engine/test_rescue.py"
    "::test_a_restarted_process_delivers_its_run_again_with_the_same_id_attempt_and_key",
    "the code of a failure was lost on its way": "execution/test_executing.py::test_each_code_is_a_reason",
    "the trace was never kept": "sdk/test_running.py::test_every_run_has_a_trace_that_follows_from_its_id",
    "two replicas charged for one slot": "execution/test_lessons.py"
    "::test_a_slot_that_two_workers_are_after_is_run_once_and_charged_once",
    "a crash before the launch lost the run": "crash/test_fail_points.py"
    "::test_a_crash_at_any_boundary_loses_nothing_and_doubles_nothing",
    "a crash before the report charged twice": "execution/test_lessons.py"
    "::test_a_run_that_is_delivered_again_after_a_crash_is_charged_once",
    "a run was refused for want of what it had paid": "execution/test_redelivered.py"
    "::test_killed_between_its_charge_and_its_record_a_run_is_not_refused_for_its_own_charge",
    "a revoked grant stopped the schedule": "sdk/test_grants.py"
    "::test_a_revoked_grant_skips_each_slot_until_the_schedule_has_another",
    "an expired grant stopped the schedule": "sdk/test_grants.py"
    "::test_an_expired_grant_skips_each_slot_until_it_is_extended",
    "a grant for another target stopped the schedule": "sdk/test_grants.py"
    "::test_a_grant_for_something_else_skips_each_slot_until_it_covers_the_target",
    "a free model was refused to a balance below nothing": "sdk/test_credits.py"
    "::test_a_free_model_runs_with_a_balance_below_nothing",
    "a charge that the balance could not bear failed the run": "execution/test_lessons.py"
    "::test_a_balance_that_ends_below_nothing_fails_no_run_and_is_told",
    "a request that was refused blocked its key for ever": "execution/test_requests.py"
    "::test_a_request_that_is_refused_leaves_no_key_behind",
    "a key whose owner died was pending for ever": "execution/test_requests.py"
    "::test_killed_between_effect_and_record_it_is_delivered_again_and_charged_once",
    "a conflict with who was at it was taken for a failure": "engine/test_runs.py"
    "::test_a_gate_that_says_somebody_is_at_it_is_asked_until_that_one_is_done",
    "what was asked for twice was done twice": "execution/test_requests.py"
    "::test_the_same_key_executes_once_and_is_answered_from_memory",
    "another payload under the same key got the answer to the first": "execution/test_requests.py"
    "::test_a_changed_payload_under_the_same_key_is_a_conflict",
    "requests at the same time had an effect each": "execution/test_requests.py"
    "::test_of_two_hundred_at_once_under_one_key_one_has_an_effect",
    "one conversation for all runs grew without end": "execution/test_langgraph_threads.py"
    "::test_each_slot_has_a_thread_of_its_own",
}
"""By what went wrong, the test that it does not go wrong here."""


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_has_its_test(lesson: str) -> None:
    file, _, name = LESSONS[lesson].partition("::")
    tree = ast.parse((Path(__file__).parents[1] / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def an_app() -> Foliot:
    app = Foliot("sqlite:///not-used.db", pricing=PRICES)

    @app.graph("agent")
    async def agent(input: Any, ctx: Context) -> None:
        given = input or {}
        ctx.report_usage("call", cost=None if given.get("unknown") else "0.00025")
        await asyncio.sleep(given.get("seconds", 0))
        if given.get("fails"):
            raise RuntimeError("after its call")

    @app.graph("idle")
    async def idle(input: Any, ctx: Context) -> None:
        """Uses nothing, as far as it knows."""

    return app


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        yield world


def create(world: World, name: str = "digest", **options: Any) -> None:
    world.app.schedules.create(name, **{"target": "agent", "every": "10m", "user": "ann"} | options)


def fates(world: World, name: str = "digest") -> list[str]:
    return [str(run.reason or run.status) for run in world.runs(name)]


def charged(world: World, user: str = "ann") -> list[int]:
    """What the user was charged with, the newest first."""
    return [-posting.amount for posting in world.app.accounts.ledger(user) if posting.kind == "charge"]


def run_every_way(world: World) -> dict[str, list[Run]]:
    """A slot, a trigger, a backfill of one slot, and a person's retry of the trigger, by their kind."""
    world.advance(minutes=10)
    trigger = world.app.schedules.trigger("digest")
    world.app.schedules.backfill("digest", "2026-11-15T12:05:00Z", "2026-11-15T12:10:00Z", which="all")
    world.advance(minutes=1)
    world.app.runs.retry(trigger.id)
    world.advance(minutes=1)
    runs = world.runs("digest")
    return {kind: [run for run in runs if run.kind == kind] for kind in ("slot", "manual", "backfill")}


def test_whatever_makes_a_run_start_what_it_used_is_charged(world: World) -> None:
    create(world, input={"fails": True})
    found = run_every_way(world)
    assert {kind: len(runs) for kind, runs in found.items()} == {"slot": 1, "manual": 2, "backfill": 1}
    for run in world.runs("digest"):
        assert [receipt.credits for receipt in world.app.runs.receipts(run.id)] == [CALL], run
    assert charged(world) == [CALL] * 4


def test_whatever_makes_a_run_start_it_needs_credits(world: World) -> None:
    world.app.accounts.top_up("ann", 1, "payment 1")
    create(world, input={"model": "large"})
    found = run_every_way(world)
    assert {kind: [str(run.reason) for run in runs] for kind, runs in found.items()} == {
        "slot": ["insufficient_credits"],
        "manual": ["insufficient_credits"] * 2,
        "backfill": ["insufficient_credits"],
    }
    assert charged(world) == []


class Away:
    """A database that cannot be read so many times."""

    def __init__(self, database: Any, times: int) -> None:
        self._database = database
        self.times = times

    def read(self, act: Callable[[Transaction], T]) -> T:
        if self.times:
            self.times -= 1
            raise Unavailable("the database is away")
        found: T = self._database.read(act)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def cover_eyes(world: World, part: str, times: int) -> Away:
    """What this part of the gate looks at is away so often."""
    away = Away(world.app.parts.database, times)
    # Records of its own: the other parts of the gate see as before.
    getattr(world.app.parts.gate, part)._records = Records(away, inline=True)
    return away


@pytest.mark.parametrize("part", ["_permission", "_till"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_database_that_is_away_when_the_gate_looks_is_asked_again_and_nothing_is_skipped(
    world: World, part: str, times: int
) -> None:
    world.app.accounts.top_up("ann", 10_000_000, "payment 1")
    create(world, input={"model": "large"})
    away = cover_eyes(world, part, times)
    world.advance(minutes=11)
    assert (away.times, fates(world)) == (0, ["success"])


def test_a_gate_that_cannot_tell_is_an_error_that_says_so_and_no_refusal(world: World) -> None:
    create(world)
    away = cover_eyes(world, "_permission", 1000)
    world.advance(minutes=11)
    away.times = 0
    world.advance(minutes=10)
    assert fates(world) == ["provider_unavailable", "success"]
    assert not world.app.schedules.get("digest").needs_attention


def test_what_a_schedule_uses_is_charged_to_its_user_whoever_has_it_run(world: World) -> None:
    create(world, "hers", user="eve")
    create(world, "mine")
    create(world, "nobodys", user=None)
    world.app.schedules.trigger("hers")
    world.advance(minutes=10)
    assert [len(charged(world, user)) for user in ("eve", "ann", "local")] == [2, 1, 1]


def test_a_cost_that_comes_late_is_charged_to_who_paid_for_the_run_then(world: World) -> None:
    create(world, input={"unknown": True})
    world.advance(minutes=10)
    grant = world.app.grants.create("graph:execute:python:*", user="eve")
    world.app.schedules.patch("digest", grant=grant.id)
    (run,) = world.runs("digest")
    assert world.app.report_usage(run.id, "call", cost="0.00025") == "now"
    assert (charged(world), charged(world, "eve")) == ([CALL], [])


def test_a_cost_that_is_told_first_when_its_run_is_over_is_charged_to_who_had_permitted_it(world: World) -> None:
    world.app.schedules.create("digest", target="idle", every="10m", user="ann")
    world.advance(minutes=10)
    grant = world.app.grants.create("graph:execute:python:*", user="eve")
    world.app.schedules.patch("digest", grant=grant.id)
    (run,) = world.runs("digest")
    assert world.app.report_usage(run.id, "call", cost="0.00025") == "now"
    assert (charged(world), charged(world, "eve")) == ([CALL], [])


def test_a_slot_that_two_workers_are_after_is_run_once_and_charged_once(postgresql_server: PostgresqlServer) -> None:
    with virtual(an_app(), START, database=postgresql_server.new_database(), workers=2) as world:
        create(world)
        world.advance(minutes=30)
        assert fates(world) == ["success"] * 3
        assert charged(world) == [CALL] * 3


def test_a_run_that_is_delivered_again_after_a_crash_is_charged_once(world: World) -> None:
    create(world, input={"seconds": 60})
    world.advance(minutes=10, seconds=30)
    world.kill()
    assert charged(world) == [CALL]
    world.restart()
    world.advance(minutes=2)
    assert fates(world) == ["success"]
    assert charged(world) == [CALL]


def test_a_balance_that_ends_below_nothing_fails_no_run_and_is_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.app.accounts.top_up("ann", CALL - 1, "payment 1")
    create(world)
    with caplog.at_level(logging.CRITICAL, "foliot"):
        world.advance(minutes=10)
    assert fates(world) == ["success"]
    assert world.app.accounts.get("ann").balance == -1
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]


class Broken:
    """A database that fails in a way that nobody has foreseen."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def write(self, act: Callable[[Transaction], T]) -> T:
        raise RuntimeError("nobody has foreseen this")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def test_a_worker_that_cannot_go_on_ends_its_program_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    app.schedule("digest", every="1s")(an_app)
    app.declare()
    app.parts.database = Broken(app.parts.database)  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="nobody has foreseen this"):
        asyncio.run(asyncio.wait_for(app.serve(), 60))

    async def embedded() -> None:
        async with app:
            while not caplog.records:
                await asyncio.sleep(0.01)

    app.parts.database = Broken(app.parts.database)  # type: ignore[assignment]
    with caplog.at_level(logging.ERROR, "foliot"), pytest.raises(RuntimeError):
        asyncio.run(asyncio.wait_for(embedded(), 60))
    assert [record.message for record in caplog.records] == ["the worker has ended"]


def test_a_setting_that_is_empty_counts_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [setting.variable for setting in TABLE]
    monkeypatch.chdir(tmp_path)
    for name in names:
        monkeypatch.delenv(name, raising=False)
    without = Foliot()
    for name in names:
        monkeypatch.setenv(name, "")
    empty = Foliot()
    assert (empty.url, empty.pricing) == (without.url, without.pricing)
    empty.schedules.create("digest", manual=True)
    assert empty.trace_url(empty.schedules.trigger("digest").id) is None
    empty.close()
