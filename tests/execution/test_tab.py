"""What a run has used is charged while it is still at work: who dies after that has paid."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Context, Foliot
from foliot.testing import World, virtual
from tests.docs.pages import ROOT
from tests.sdk.worlds import START

COST = 200


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("agent", on_unknown="hold")
    async def agent(input: Any, ctx: Context) -> None:
        for number in range(4):
            ctx.report_usage(f"call-{number}", cost="0.00001")
            await asyncio.sleep(input)

    with virtual(app, START, database=database_url) as world:
        yield world


def begin(world: World, pause: float) -> str:
    world.app.schedules.create("digest", target="agent", manual=True, input=pause)
    run = world.app.schedules.trigger("digest")
    world.advance()
    return run.id


def units(world: World, run: str) -> list[str]:
    return [receipt.unit for receipt in world.app.runs.receipts(run)]


def test_what_was_reported_is_charged_a_second_later_while_the_run_is_at_work(world: World) -> None:
    run = begin(world, 0.75)
    assert units(world, run) == []
    world.advance(seconds=1.25)
    assert units(world, run) == ["call-0", "call-1"]
    assert world.app.accounts.get().balance == -2 * COST
    world.advance(seconds=1.75)
    assert str(world.app.runs.get(run).status) == "success"
    assert (len(units(world, run)), world.app.accounts.get().balance) == (4, -4 * COST)


def test_a_short_run_pays_at_its_end(world: World) -> None:
    run = begin(world, 0)
    assert len(units(world, run)) == 4
    world.advance(minutes=1)
    assert world.app.accounts.get().balance == -4 * COST


@pytest.mark.parametrize(("after", "charged"), [(0, []), (1.5, ["call-0"])])
def test_who_is_killed_pays_nothing_any_more_and_has_paid_for_all_but_the_last_second(
    world: World, after: float, charged: list[str]
) -> None:
    run = begin(world, 60)
    world.advance(seconds=after)
    world.kill()
    world.advance(minutes=1)
    assert units(world, run) == charged
    world.restart()
    world.advance(minutes=5)
    world.app.runs.decide(run, "reject")
    world.advance(minutes=5)
    assert (world.app.runs.get(run).reason, units(world, run)) == ("rejected", charged)


def test_a_worker_that_is_killed_in_earnest_has_paid_for_what_its_run_used(database_url: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.execution.spender", database_url]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode == -signal.SIGKILL
    app = Foliot(database_url)
    (run,) = app.runs.list("digest")
    assert [receipt.credits for receipt in app.runs.receipts(run.id)] == [COST]
    assert (str(run.status), app.accounts.get().balance) == ("running", -COST)
    app.close()


def test_what_a_thread_uses_after_its_run_was_given_up_is_owed_too(database_url: str) -> None:
    app = Foliot(database_url)
    is_over = threading.Event()

    @app.graph("late")
    def late(input: Any, ctx: Context) -> None:
        is_over.wait(30)
        ctx.report_usage("call", cost="0.00001")

    async def work() -> str | None:
        answer = await app.execute("late", key="k1", timeout=0.1)
        is_over.set()
        while not app.accounts.get().balance:
            await asyncio.sleep(0.05)
        return answer.error_code

    assert asyncio.run(asyncio.wait_for(work(), 60)) == "timeout"
    assert app.accounts.get().balance == -COST
    app.close()
