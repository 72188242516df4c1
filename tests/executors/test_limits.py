"""What one run may use holds for every kind of target: scheduled, launched, or asked for from outside."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import MessagesState

from foliot import ActionContext, Foliot, LimitExceeded, Unavailable
from foliot.domain.credits import Model, Pricing
from foliot.execution.requests import Executed
from foliot.testing import World, virtual
from tests.dags import a_dag, act, manual
from tests.execution.graphs import a_graph, a_line
from tests.executors.receiver import Reply, a_receiver
from tests.sdk.worlds import START

PRICING = Pricing({"scripted-1": Model("scripted-1", is_free=False, usd_per_token=Decimal("0.0000001"))}, Decimal(1))
"""A token is a credit."""
EXCEEDED = ("error", "run_limit", "it has used 200 credits, and one run may take 150")
TARGETS = ("dag:flow", "langgraph:agent")


class Program:
    """A workflow and a graph, each of three steps for 100 credits."""

    def __init__(self) -> None:
        self.app = Foliot("sqlite:///not-used.db", pricing=PRICING)
        self.steps = 0
        self.app.action("spend")(self.spend)
        self.app.langgraph("agent", a_graph(MessagesState, one=self.say, two=self.say, three=self.say))

    async def spend(self, input: Any, ctx: ActionContext) -> None:
        self.steps += 1
        ctx.report_usage("call", cost="0.00001")

    def say(self, state: MessagesState) -> dict[str, Any]:
        self.steps += 1
        return {"messages": [a_line("something", 100, id=f"call-{self.steps}")]}

    def deploy(self) -> None:
        nodes = [manual(), act("a", "spend"), act("b", "spend"), act("c", "spend")]
        self.app.workflows.deploy(a_dag(nodes, "start > a > b > c"))


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.mark.parametrize("target", TARGETS)
def test_a_scheduled_run_ends_with_the_call_that_passes_its_limit(program: Program, target: str) -> None:
    with virtual(program.app, START) as world:
        program.deploy()
        world.app.schedules.create("once", target=target, every="1h", max_credits=150)
        world.advance(minutes=61)
        (run,) = world.runs("once")
        assert (run.status, run.reason, run.error) == EXCEEDED
        assert (program.steps, world.app.accounts.get().balance) == (2, -200)


@pytest.mark.parametrize("target", TARGETS)
def test_a_request_ends_with_the_call_that_passes_its_limit(program: Program, target: str) -> None:
    with virtual(program.app, START) as world:
        program.deploy()
        answer = answered(world, target, max_credits=150)
        assert (answer.status, answer.error_code, answer.error) == EXCEEDED
        assert (program.steps, world.app.accounts.get().balance) == (2, -200)


def answered(world: World, target: str, **bounds: Any) -> Executed:
    asking = world._loop.create_task(world.app.execute(target, key="k1", **bounds))
    world.advance(seconds=1)
    return asking.result()


@pytest.mark.parametrize("target", TARGETS)
def test_a_limit_that_is_not_passed_is_in_nobodys_way(program: Program, target: str) -> None:
    with virtual(program.app, START) as world:
        program.deploy()
        assert answered(world, target, max_credits=300, max_calls=3, timeout="1m").ok
        assert program.steps == 3


def test_what_is_launched_from_outside_has_the_limits_of_the_schedule_that_it_belongs_to(program: Program) -> None:
    with virtual(program.app, START) as world:
        program.deploy()
        first = world.app.runs.get(launched(world, "k1"))
        world.app.schedules.patch(first.schedule, max_credits=150)
        second = world.app.runs.get(launched(world, "k2"))
        assert (first.status, second.status, second.reason) == ("success", "error", "run_limit")


def launched(world: World, key: str) -> str:
    started = world.app.launcher.start("flow", 1, "local", START, key)
    world.advance(seconds=1)
    assert started.run_id is not None
    return started.run_id


def test_an_action_is_not_tried_again_once_its_run_has_used_more_than_it_may(program: Program) -> None:
    @program.app.action("hides")
    async def hides(input: Any, ctx: ActionContext) -> None:
        program.steps += 1
        try:
            ctx.report_usage(f"call-{ctx.attempt}", cost="0.00002")
        except LimitExceeded as limit:
            raise Unavailable("something went wrong") from limit

    with virtual(program.app, START) as world:
        world.app.workflows.deploy(a_dag([manual(), act("a", "hides", retry={"retries": 5})], "start > a"))
        world.app.schedules.create("once", target="dag:flow", manual=True, max_credits=150)
        world.app.schedules.trigger("once")
        world.advance(minutes=5)
        (run,) = world.runs("once")
        assert ((run.status, run.reason, run.error), program.steps) == (EXCEEDED, 1)


def test_an_endpoint_that_used_more_than_it_may_has_failed_though_it_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.0/8")
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}", pricing=PRICING)
    usage = {"usage": [{"unit": f"call-{number}", "cost": "0.00001"} for number in range(2)]}
    with a_receiver(Reply(200, json.dumps({"sent": 3, "foliot_usage": usage}))) as receiver:
        app.endpoint("billing", receiver.url())
        answer = asyncio.run(app.execute("http:billing", key="k1", max_credits=150))
    assert (answer.status, answer.error_code, answer.error) == EXCEEDED
    assert app.accounts.get().balance == -200
    app.close()


def test_an_endpoint_that_does_not_answer_within_the_timeout_of_the_request_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.0/8")
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    with a_receiver(Reply(200)) as receiver:
        receiver.hold()
        app.endpoint("billing", receiver.url())
        answer = asyncio.run(app.execute("http:billing", key="k1", timeout=0.2))
        receiver.go_on()
    assert (answer.status, answer.error_code, answer.error) == ("error", "timeout", "it ran longer than its timeout")
    app.close()
