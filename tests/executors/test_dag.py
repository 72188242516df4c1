"""Workflows on a real engine, in virtual time: what runs, what is recorded, and how a run ends."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from foliot import ActionContext, Foliot, LimitExceeded, Unavailable
from foliot.services.views import Run
from foliot.testing import World, virtual
from tests.dags import Json, a_dag, act, manual, node
from tests.sdk.worlds import START


class Program:
    """An app whose actions write down that they were called."""

    def __init__(self) -> None:
        self.app = Foliot("sqlite:///not-used.db")
        self.calls: list[tuple[str, Any]] = []
        self.keys: list[str] = []
        self.at_work = self.most_at_work = 0
        self.failures: list[BaseException] = []
        for name in ("do", "fail", "slow", "flaky"):
            self.app.action(name)(getattr(self, name))

    def do(self, input: Any, ctx: ActionContext) -> Any:
        self.calls.append((str(ctx._place), input))
        self.keys.append(ctx.idempotency_key)
        return input

    def fail(self, input: Any, ctx: ActionContext) -> None:
        self.do(input, ctx)
        raise RuntimeError("no luck")

    async def slow(self, input: Any, ctx: ActionContext) -> Any:
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        self.do(input, ctx)
        await asyncio.sleep(60)
        self.at_work -= 1
        return input

    async def flaky(self, input: Any, ctx: ActionContext) -> Any:
        self.do(input, ctx)
        if self.failures:
            raise self.failures.pop(0)
        return ctx.attempt

    @property
    def called(self) -> list[str]:
        return [place for place, _ in self.calls]


@pytest.fixture
def program() -> Program:
    return Program()


def does(node_id: str, action: str = "do", **data: Any) -> Json:
    return act(node_id, action, **data)


def start(world: World, document: Json, **given: Any) -> None:
    world.app.workflows.deploy(document)
    world.app.schedules.upsert("once", target=f"dag:{document['workflow_id']}", manual=True)
    world.app.schedules.trigger("once", input=given or None)


def ran(world: World, document: Json, minutes: float = 10, **given: Any) -> Run:
    start(world, document, **given)
    world.advance(minutes=minutes)
    return world.runs("once")[-1]


def statuses(run: Run) -> Mapping[str, str]:
    found: Mapping[str, str] = run.result["nodes"]
    return found


def test_a_workflow_runs_to_its_end_and_its_result_says_what_came_of_it(program: Program) -> None:
    document = a_dag(
        [
            manual(),
            does(
                "a",
                input_template={"n": "{{ inputs.n }}", "for": "{{ trigger.schedule_id }}"},
                output_vars={"n": "output.n"},
            ),
            does("b", input_template="{{ vars.n + 1 }}"),
            node("e", "end", outputs={"sum": "{{ nodes.b.output }}"}),
        ],
        "start > a > b > e",
    )
    with virtual(program.app, START) as world:
        run = ran(world, document, inputs={"n": 1})
        assert (run.status, run.result["outputs"]) == ("success", {"n": 1, "sum": 2})
        assert statuses(run) == {"start": "DONE", "a": "DONE", "b": "DONE", "e": "DONE"}
        assert program.calls == [("a", {"n": 1, "for": "once"}), ("b", 2)]
        recorded = world.app.workflows.nodes(run.id)
        assert [(state.node, state.status, state.output) for state in recorded][1:] == [
            ("a", "DONE", {"n": 1, "for": "once"}),
            ("b", "DONE", 2),
            ("e", "DONE", {"sum": 2}),
        ]


def test_a_gateway_routes_once(program: Program) -> None:
    gateway = node("g", "gateway_if", branches=[{"expr": "inputs.n > 1", "to": "many"}], else_to="few")
    document = a_dag(
        [manual(), gateway, does("many"), does("few"), does("after")], "start > g > many > after", "few > after"
    )
    with virtual(program.app, START) as world:
        ran(world, document, inputs={"n": 2})
        assert program.called == ["many", "after"]


def test_a_switch_routes_once(program: Program) -> None:
    switch = node("g", "gateway_switch", selector="inputs.color", cases={"red": "a"}, default_to="b")
    with virtual(program.app, START) as world:
        ran(world, a_dag([manual(), switch, does("a"), does("b")], "start > g > a"), inputs={"color": "red"})
        assert program.called == ["a"]


@pytest.mark.parametrize(("mode", "at"), [("all", 3), ("any", 1), ("quorum", 2)])
def test_branches_run_at_once_and_a_join_waits_for_enough_of_them(program: Program, mode: str, at: int) -> None:
    @program.app.action("wait")
    async def wait(input: float, ctx: ActionContext) -> None:
        await asyncio.sleep(input)
        program.do(input, ctx)

    branches = [does(name, "wait", input_template=seconds) for name, seconds in (("a", 1), ("b", 2), ("c", 3))]
    document = a_dag(
        [manual(), *branches, node("j", "join", mode=mode), does("after")],
        *(f"start > {name} > j" for name in "abc"),
        "j > after",
    )
    with virtual(program.app, START) as world:
        run = ran(world, document)
        assert program.called.index("after") == at
        assert (run.status, set(statuses(run).values())) == ("success", {"DONE"})
        assert run.ended_at is not None
        assert 3 <= (run.ended_at - run.scheduled_for).total_seconds() < 4


def test_what_is_not_taken_is_skipped_and_recorded_as_such(program: Program) -> None:
    gateway = node("g", "gateway_if", branches=[{"expr": "false", "to": "a"}], else_to="c")
    document = a_dag(
        [manual(), gateway, does("a"), does("b"), does("c"), node("j", "join")], "start > g", "a > b > j", "c > j"
    )
    with virtual(program.app, START) as world:
        run = ran(world, document)
        assert statuses(run) == {"start": "DONE", "g": "DONE", "a": "SKIPPED", "b": "SKIPPED", "c": "DONE", "j": "DONE"}


def test_a_while_goes_round(program: Program) -> None:
    loop = node("l", "loop_while", condition="get(vars, 'n', 0) < 3", body_start="step")
    step = does("step", input_template="{{ get(vars, 'n', 0) + 1 }}", output_vars={"n": "output"})
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), loop, step], "start > l"))
        assert (program.calls, run.result["outputs"]) == ([("step[0]", 1), ("step[1]", 2), ("step[2]", 3)], {"n": 3})


def test_a_foreach_has_at_most_so_many_iterations_at_once(program: Program) -> None:
    loop = node("l", "loop_foreach", source="[1, 2, 3, 4, 5, 6, 7]", body_start="a", max_concurrency=3)
    document = a_dag([manual(), loop, does("a", "slow", input_template="{{ item }}", timeout_ms=100_000)], "start > l")
    with virtual(program.app, START) as world:
        assert ran(world, document).status == "success"
        assert (program.most_at_work, len(program.calls)) == (3, 7)


def test_a_run_has_at_most_so_many_actions_at_once(program: Program) -> None:
    names = [f"a{number}" for number in range(6)]
    branches = [does(name, "slow", timeout_ms=100_000) for name in names]
    document = a_dag([manual(), *branches], *(f"start > {name}" for name in names), globals={"max_parallelism": 2})
    with virtual(program.app, START) as world:
        assert ran(world, document).status == "success"
        assert (program.most_at_work, len(program.calls)) == (2, 6)


def test_an_error_that_an_edge_takes_care_of_is_a_success(program: Program) -> None:
    mend = does("mend", input_template="{{ nodes.a.error }}")
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "fail"), does("b"), mend], "start > a > b", "a > mend error"))
        assert (run.status, program.called) == ("success", ["a", "mend"])
        assert statuses(run)["a"] == "ERROR"
        assert "RuntimeError: no luck" in program.calls[1][1]


def test_an_error_that_nothing_takes_care_of_is_the_runs(program: Program) -> None:
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "fail"), does("b")], "start > a > b"))
        assert (run.status, run.reason, program.called) == ("error", "internal", ["a"])
        assert (run.error or "").startswith("node 'a' failed: RuntimeError: no luck")
        assert [state.status for state in world.app.workflows.nodes(run.id)] == ["DONE", "ERROR", "SKIPPED"]


def test_an_action_is_tried_again_after_a_while_under_the_same_key(program: Program) -> None:
    program.failures = [Unavailable("not now"), RuntimeError("nor now")]
    retry = {"retries": 3, "backoff": "exponential", "delay_ms": 10_000}
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "flaky", retry=retry, output_vars={"n": "output"})], "start > a"))
        assert (run.status, run.result["outputs"], len(set(program.keys))) == ("success", {"n": 3}, 1)
        assert run.ended_at is not None
        assert 30 <= (run.ended_at - run.scheduled_for).total_seconds() < 31
        assert world.app.workflows.nodes(run.id)[-1].attempt == 3


def test_what_cannot_go_better_is_not_tried_again(program: Program) -> None:
    document = a_dag([manual(), does("a", "nobody-knows-it", retry={"retries": 5})], "start > a")
    with virtual(program.app, START) as world:
        run = ran(world, document)
        assert (run.status, run.reason) == ("error", "not_found")
        assert "no action 'nobody-knows-it' is registered here: there are do, fail, flaky, slow" in (run.error or "")


def test_an_action_that_takes_too_long_has_failed_of_that(program: Program) -> None:
    document = a_dag([manual(), does("a", "slow", timeout_ms=5000), does("mend")], "start > a", "a > mend error")
    with virtual(program.app, START) as world:
        run = ran(world, document)
        assert (run.status, program.called) == ("success", ["a", "mend"])
        failed = next(state for state in world.app.workflows.nodes(run.id) if state.node == "a")
        assert (failed.reason, "longer than its 5,000 ms" in (failed.error or "")) == ("timeout", True)


def test_what_each_attempt_at_a_node_has_used_is_charged() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.action("call")
    async def call(input: Any, ctx: ActionContext) -> int:
        ctx.report_usage("model", cost="0.001")
        if ctx.attempt < 3:
            raise Unavailable("not yet")
        return ctx.attempt

    retry = {"retries": 3, "backoff": "linear", "delay_ms": 1000}
    with virtual(app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "call", retry=retry)], "start > a"))
        assert [receipt.unit for receipt in app.runs.receipts(run.id)] == ["a/model", "a/model~2", "a/model~3"]


def test_a_retry_of_the_run_does_not_repeat_what_had_succeeded(program: Program) -> None:
    program.failures = [RuntimeError("once")]
    with virtual(program.app, START) as world:
        world.app.workflows.deploy(a_dag([manual(), does("a"), does("b", "flaky")], "start > a > b"))
        world.app.schedules.create("once", target="dag:flow", manual=True, retry=2)
        world.app.schedules.trigger("once")
        world.advance(minutes=10)
        assert [run.status for run in world.runs("once")] == ["error", "success"]
        assert program.called == ["a", "b", "b"]
        assert program.keys[1] == program.keys[2]
        reused = world.app.workflows.nodes(world.runs("once")[1].id)[1]
        assert (reused.node, reused.status, reused.attempt) == ("a", "DONE", 0)


def test_a_success_stands_for_others_under_the_same_key_for_a_while_and_no_longer(program: Program) -> None:
    action = does("a", idempotency_key="order-{{ inputs.n }}", cache_ms=3_600_000)
    document = a_dag([manual(), action], "start > a")
    with virtual(program.app, START) as world:
        for _ in range(3):
            ran(world, document, minutes=25, inputs={"n": 7})
        assert program.keys == ["order-7"]
        ran(world, document, inputs={"n": 8})
        assert program.keys == ["order-7", "order-8"]
        ran(world, document, inputs={"n": 7})
        assert program.keys == ["order-7", "order-8", "order-7"]


def test_nothing_is_remembered_where_that_is_not_wanted(program: Program) -> None:
    document = a_dag([manual(), does("a", idempotency_key="same", cache_ms=0)], "start > a")
    with virtual(program.app, START) as world:
        ran(world, document)
        ran(world, document)
        assert program.keys == ["same", "same"]


def test_a_run_keeps_the_version_that_it_was_started_with_also_when_it_is_taken_up_again(program: Program) -> None:
    first = a_dag([manual(), does("a", "slow", timeout_ms=100_000), does("b", input_template="one")], "start > a > b")
    second = a_dag([manual(), does("a", "slow", timeout_ms=100_000), does("b", input_template="two")], "start > a > b")
    with virtual(program.app, START) as world:
        start(world, first)
        world.advance(seconds=30)
        world.kill()
        assert world.app.workflows.deploy(second).version == 2
        world.restart()
        world.advance(minutes=10)
        assert program.calls == [("a", None), ("a", None), ("b", "one")]
        assert ran(world, second).status == "success"
        assert program.calls[-1] == ("b", "two")


def test_a_worker_that_dies_goes_on_at_the_node_it_had_reached_under_the_same_key(program: Program) -> None:
    nodes = [manual(), does("a"), does("b", "slow", timeout_ms=100_000), does("c")]
    with virtual(program.app, START) as world:
        start(world, a_dag(nodes, "start > a > b > c"))
        world.advance(seconds=30)
        world.kill()
        world.restart()
        world.advance(minutes=10)
        run = world.runs("once")[-1]
        assert (run.status, program.called) == ("success", ["a", "b", "b", "c"])
        assert program.keys[1] == program.keys[2]


@pytest.mark.parametrize(
    ("given", "reason", "words"),
    [
        ({"version": 9}, "not_found", "there is no workflow 'flow' in version 9"),
        ({"trigger": "z"}, "invalid_request", "has the triggers 'start', got 'z'"),
        ({"n": 1}, "invalid_request", "an object of version, trigger and inputs"),
        ({"version": "1"}, "invalid_request", "version takes a whole number"),
        ({"version": 2**70}, "invalid_request", "version takes a whole number"),
    ],
)
def test_an_input_that_asks_for_what_is_not_there_is_an_error(
    program: Program, given: Json, reason: str, words: str
) -> None:
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual()]), **given)
        assert (run.status, run.reason, words in (run.error or "")) == ("error", reason, True)


def test_a_workflow_that_nobody_deployed_is_not_found(program: Program) -> None:
    with virtual(program.app, START) as world:
        world.app.schedules.create("once", target="dag:absent", manual=True)
        world.app.schedules.trigger("once")
        world.advance(minutes=1)
        assert world.runs("once")[0].reason == "not_found"


def test_a_run_that_is_asked_to_stop_stops_its_actions(program: Program) -> None:
    with virtual(program.app, START) as world:
        start(world, a_dag([manual(), does("a", "slow", timeout_ms=100_000), does("b")], "start > a > b"))
        world.advance(seconds=10)
        world.app.runs.cancel(world.runs("once")[0].id)
        world.advance(minutes=10)
        run = world.runs("once")[0]
        assert (run.status, run.reason, program.called) == ("cancelled", "cancelled_by_user", ["a"])


def test_a_run_that_passes_its_timeout_is_over(program: Program) -> None:
    with virtual(program.app, START) as world:
        world.app.workflows.deploy(a_dag([manual(), does("a", "slow", timeout_ms=100_000)], "start > a"))
        world.app.schedules.create("once", target="dag:flow", manual=True, timeout="10s")
        world.app.schedules.trigger("once")
        world.advance(minutes=10)
        assert (world.runs("once")[0].status, world.runs("once")[0].reason) == ("error", "timeout")


def test_what_actions_use_is_charged_by_node_and_what_they_say_of_their_progress_is_shown(program: Program) -> None:
    @program.app.action("bill")
    async def bill(input: Any, ctx: ActionContext) -> None:
        ctx.report_usage("call", cost="0.001")
        ctx.heartbeat({"half": True})
        ctx.log.info("at work")
        await asyncio.sleep(20)

    loop = node("l", "loop_foreach", source="[1, 2]", body_start="a")
    with virtual(program.app, START) as world:
        start(world, a_dag([manual(), loop, does("a", "bill")], "start > l"))
        world.advance(seconds=10)
        run = world.runs("once")[0]
        assert run.progress == {"node": "a[1]", "progress": {"half": True}}
        world.advance(seconds=30)
        assert [receipt.unit for receipt in world.app.runs.receipts(run.id)] == ["a[0]/call", "a[1]/call"]


def test_an_action_that_would_ask_a_person_has_failed_and_says_so(program: Program) -> None:
    program.app.action("ask")(lambda _, ctx: ctx.run.ask("approval"))
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "ask")], "start > a"))
        assert (run.reason, "cannot ask a person" in (run.error or "")) == ("invalid_request", True)


def test_an_output_that_is_not_json_is_an_error_of_its_node(program: Program) -> None:
    program.app.action("odd")(lambda: {1, 2})
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a", "odd")], "start > a"))
        assert (run.reason, "what JSON can say" in (run.error or "")) == ("invalid_request", True)


def test_a_loop_that_is_over_at_once_is_recorded_once(program: Program) -> None:
    loop = node("l", "loop_foreach", source="[]", body_start="a")
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), loop, does("a"), does("b")], "start > l > b"))
        recorded = [(state.node, state.status) for state in world.app.workflows.nodes(run.id)]
        assert recorded == [("start", "DONE"), ("l", "DONE"), ("b", "DONE")]


def test_a_run_that_has_used_more_than_it_may_stops_though_its_action_does_not_mind(program: Program) -> None:
    @program.app.action("spend")
    async def spend(input: Any, ctx: ActionContext) -> None:
        with suppress(LimitExceeded):
            ctx.report_usage("one", cost="0.1")
            ctx.report_usage("two", cost="0.1")

    with virtual(program.app, START) as world:
        world.app.workflows.deploy(a_dag([manual(), does("a", "spend"), does("b")], "start > a > b"))
        world.app.schedules.create("once", target="dag:flow", manual=True, max_calls=1)
        world.app.schedules.trigger("once")
        world.advance(minutes=1)
        assert (world.runs("once")[0].reason, program.called) == ("run_limit", [])


def test_old_records_of_nodes_are_removed_with_old_runs(program: Program) -> None:
    with virtual(program.app, START) as world:
        run = ran(world, a_dag([manual(), does("a")], "start > a"))
        world.advance(days=100)
        again = ran(world, a_dag([manual(), does("a")], "start > a"))
        world.advance(hours=1)
        assert [len(world.app.workflows.nodes(one.id)) for one in (run, again)] == [0, 2]
