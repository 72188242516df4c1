"""Progression: what runs, what is skipped, and how it ends; the same in any order, and from any record on."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot.domain.events import ErrorCode
from foliot.domain.node_states import NodeState, NodeStatus, Place
from foliot.domain.progression import Ending, Progression, Ready
from foliot.domain.workflows import Workflow, read_workflow
from tests.dags import Json, a_dag, act, manual, node, scheduled

Do = Callable[[Ready], Any]


class FailedError(Exception):
    pass


def echo(ready: Ready) -> Any:
    """Every action returns what it was given, and fails when it is told to."""
    if isinstance(ready.input, dict) and ready.input.get("fail"):
        raise FailedError(ready.input["fail"])
    return ready.input


class Played(NamedTuple):
    verdict: Ending
    states: dict[Place, NodeState]
    ran: list[str]
    most_at_once: int


def fired(trigger: str) -> dict[Place, NodeState]:
    return {Place(trigger): NodeState(NodeStatus.DONE, {"node": trigger})}


def ended(run: Progression, ready: Ready, do: Do) -> NodeState:
    try:
        return run.settle(ready.place, do(ready))
    except FailedError as error:
        return NodeState(NodeStatus.ERROR, reason=ErrorCode.INTERNAL, error=str(error))


def play(
    workflow: Workflow,
    do: Do = echo,
    *,
    inputs: Any = None,
    trigger: str | None = None,
    choose: Callable[[int], int] = lambda _: 0,
    states: dict[Place, NodeState] | None = None,
) -> Played:
    """Carry out what is ready, one ending after another as `choose` picks, all else waiting."""
    run = Progression(workflow, states or fired(workflow.first_trigger(trigger)), inputs)
    under_way: dict[Place, Ready] = {}
    ran: list[str] = []
    most = 0
    while True:
        for ready in run.step().ready:
            assert ready.place not in run.states
            run.states[ready.place] = NodeState(NodeStatus.RUNNING)
            under_way[ready.place] = ready
            ran.append(str(ready.place))
        most = max(most, len(under_way))
        if not under_way:
            assert run.is_over
            return Played(run.verdict(), run.states, ran, most)
        place = list(under_way)[choose(len(under_way))]
        run.states[place] = ended(run, under_way.pop(place), do)


def of(nodes: list[Json], *written: str, **more: Any) -> Workflow:
    return read_workflow(a_dag(nodes, *written, **more))


def statuses(played: Played) -> dict[str, str]:
    return {node: str(status) for node, status in played.verdict.nodes.items()}


def gateway(node_id: str, *branches: tuple[str, str], else_to: str | None = None) -> Json:
    written = [{"expr": expr, "to": to} for expr, to in branches]
    return node(node_id, "gateway_if", branches=written, else_to=else_to)


def test_what_follows_sees_what_came_before() -> None:
    workflow = of(
        [
            manual(),
            act("a", input_template={"n": "{{ inputs.n + 1 }}"}, output_vars={"n": "output.n"}),
            act("b", input_template={"sum": "{{ vars.n + nodes.a.output.n }}", "by": "{{ trigger.node }}"}),
            node("e", "end", outputs={"sum": "{{ nodes.b.output.sum }}", "by": "{{ nodes.b.output.by }}"}),
        ],
        "start > a > b > e",
    )
    verdict = play(workflow, inputs={"n": 1}).verdict
    assert (verdict.failed, verdict.outputs) == (None, {"n": 2, "sum": 4, "by": "start"})


def test_only_the_trigger_that_fired_starts_its_branch() -> None:
    workflow = of([manual("one"), scheduled("two"), act("a"), act("b")], "one > a", "two > b")
    assert play(workflow, trigger="two").ran == ["b"]
    assert statuses(play(workflow)) == {"one": "DONE", "two": "SKIPPED", "a": "DONE", "b": "SKIPPED"}


def test_a_gateway_leads_to_one_target_once_also_when_the_edges_are_drawn() -> None:
    nodes = [manual(), gateway("g", ("inputs.n > 5", "many"), ("inputs.n > 1", "some"), else_to="few")]
    nodes += [act("many"), act("some"), act("few")]
    workflow = of(nodes, "start > g", "g > many", "g > some")
    assert [play(workflow, inputs={"n": n}).ran for n in (9, 3, 0)] == [["many"], ["some"], ["few"]]


def test_a_switch_leads_to_the_case_of_its_value_else_to_its_default_else_nowhere() -> None:
    switch = node("g", "gateway_switch", selector="inputs.color", cases={"red": "r", "blue": "b"}, default_to="other")
    workflow = of([manual(), switch, act("r"), act("b"), act("other")], "start > g")
    assert [play(workflow, inputs={"color": c}).ran for c in ("red", "blue", "pink")] == [["r"], ["b"], ["other"]]
    numbers = node("g", "gateway_switch", selector="inputs.n", cases={"1": "r", "true": "b"}, default_to="other")
    counted = of([manual(), numbers, act("r"), act("b"), act("other")], "start > g")
    assert [play(counted, inputs={"n": n}).ran for n in (1, True, 2)] == [["r"], ["b"], ["other"]]
    del switch["data"]["default_to"]
    played = play(of([manual(), switch, act("r"), act("b")], "start > g"), inputs={"color": "pink"})
    assert (played.ran, played.verdict.failed) == ([], None)


def test_what_is_not_taken_is_skipped_down_to_the_join_which_does_not_wait_for_it() -> None:
    workflow = of(
        [
            manual(),
            gateway("g", ("inputs.go", "a"), else_to="c"),
            act("a"),
            act("b"),
            act("c"),
            node("j", "join"),
            act("d"),
        ],
        "start > g",
        "a > b > j > d",
        "c > j",
    )
    played = play(workflow, inputs={"go": False})
    assert played.ran == ["c", "d"]
    assert [statuses(played)[name] for name in "abj"] == ["SKIPPED", "SKIPPED", "DONE"]
    assert played.states[Place("j")].output == {"arrived": ["c"]}


def test_a_join_that_nothing_can_reach_is_skipped() -> None:
    workflow = of(
        [manual(), gateway("g", ("false", "p")), node("p", "parallel"), act("a"), act("b"), node("j", "join")],
        "start > g",
        "p > a > j",
        "p > b > j",
    )
    assert statuses(play(workflow))["j"] == "SKIPPED"


def in_parallel(mode: str, *names: str, **more: Any) -> Workflow:
    branches = [act(name, input_template={"fail": f"{{{{ get(inputs, '{name}') }}}}"}) for name in names]
    return of(
        [manual(), node("p", "parallel"), *branches, node("j", "join", mode=mode, **more), act("after")],
        "start > p",
        *(f"p > {name} > j" for name in names),
        "j > after",
    )


@pytest.mark.parametrize(
    ("workflow", "at"),
    [
        (in_parallel("all", "a", "b", "c"), 3),
        (in_parallel("any", "a", "b", "c"), 1),
        (in_parallel("quorum", "a", "b", "c", count=2), 2),
    ],
    ids=["all", "any", "quorum"],
)
def test_a_join_begins_when_enough_have_arrived(workflow: Workflow, at: int) -> None:
    begun_after = []

    def do(ready: Ready) -> None:
        if ready.place.node == "after":
            return
        begun_after.append(ready.place.node)

    run = Progression(workflow, fired("start"))
    for ready in run.step().ready:
        run.states[ready.place] = ended(run, ready, do)
        if Place("after") in {ready.place for ready in run.step().ready}:
            break
    assert len(begun_after) == at


def test_what_arrives_at_a_join_that_has_begun_changes_nothing() -> None:
    played = play(in_parallel("any", "a", "b"))
    assert (played.ran, played.states[Place("j")].output) == (["a", "b", "after"], {"arrived": ["a"]})


def test_a_quorum_that_cannot_come_about_is_a_failure_of_the_join() -> None:
    played = play(in_parallel("quorum", "a", "b", "c", count=2), inputs={"a": "x", "b": "y"})
    assert statuses(played) | {"j": "ERROR", "after": "SKIPPED"} == statuses(played)
    assert "waits for 2 of its branches, and only 1 could arrive" in (played.states[Place("j")].error or "")


def test_a_join_of_any_hands_on_the_variables_of_whoever_came_first() -> None:
    workflow = of(
        [
            manual(),
            *(act(name, input_template=name, output_vars={"winner": "output"}) for name in "ab"),
            node("j", "join", mode="any"),
            act("c", input_template="{{ vars.winner }}"),
        ],
        "start > a > j > c",
        "start > b > j",
    )
    assert [play(workflow, choose=pick).states[Place("c")].output for pick in (lambda n: 0, lambda n: n - 1)] == [
        "a",
        "b",
    ]


def test_an_error_that_an_edge_takes_care_of_does_not_fail_the_run() -> None:
    failing = act("a", input_template={"fail": "no luck"})
    mend = act("mend", input_template="{{ nodes.a.error }}")
    workflow = of(
        [manual(), failing, act("b"), mend, act("always")], "start > a > b", "a > mend error", "a > always always"
    )
    played = play(workflow)
    assert (played.verdict.failed, played.ran) == (None, ["a", "mend", "always"])
    assert played.states[Place("mend")].output == "no luck"
    assert statuses(played)["b"] == "SKIPPED"


def test_an_error_that_nothing_takes_care_of_fails_the_run_and_stops_what_waits_for_it_and_nothing_else() -> None:
    played = play(in_parallel("all", "a", "b"), inputs={"a": "no luck"})
    assert played.verdict.failed == Place("a")
    assert statuses(played) == {
        "start": "DONE",
        "p": "DONE",
        "a": "ERROR",
        "b": "DONE",
        "j": "SKIPPED",
        "after": "SKIPPED",
    }


def test_an_error_edge_is_dead_after_a_success_and_its_condition_may_let_a_failure_through() -> None:
    document = a_dag([manual(), act("a", input_template={"fail": "{{ inputs.why }}"}), act("mend")], "start > a")
    document["edges"].append({"source": "a", "target": "mend", "when": "error", "condition": "nodes.a.error == 'mild'"})
    workflow = read_workflow(document)
    ran = {why: play(workflow, inputs={"why": why}) for why in ("", "mild", "grave")}
    assert [(played.ran, played.verdict.failed) for played in ran.values()] == [
        (["a"], None),
        (["a", "mend"], None),
        (["a"], Place("a")),
    ]


def test_an_edge_is_taken_only_when_its_condition_holds() -> None:
    document = a_dag([manual(), act("a"), act("b")], "start > a")
    document["edges"].append({"source": "a", "target": "b", "condition": "inputs.go"})
    workflow = read_workflow(document)
    assert [play(workflow, inputs={"go": go}).ran for go in (True, False)] == [["a", "b"], ["a"]]
    played = play(workflow, inputs={})
    assert (played.verdict.failed, "edge 'a' -> 'b'" in (played.states[Place("b")].error or "")) == (Place("b"), True)


@pytest.mark.parametrize(
    "broken",
    [
        act("a", input_template="{{ inputs.absent }}"),
        act("a", output_vars={"x": "output.absent"}),
        gateway("a", ("inputs.absent", "z")),
        node("a", "end", outputs={"x": "{{ inputs.absent }}"}),
        node("a", "loop_foreach", source="inputs.absent", body_start="z"),
        node("a", "loop_foreach", source="7", body_start="z"),
        node("a", "loop_foreach", source="[1, 2, 3]", body_start="z", max_iterations=2),
        node("a", "loop_while", condition="inputs.absent", body_start="z"),
        node("a", "loop_while", condition="true", body_start="z", max_iterations=3),
    ],
    ids=lambda broken: f"{broken['type']} {broken['data']}"[:60],
)
def test_what_cannot_be_computed_is_an_error_of_its_node(broken: Json) -> None:
    needs_z = broken["type"] in ("gateway_if", "loop_foreach", "loop_while")
    played = play(of([manual(), broken, *([act("z")] if needs_z else [])], "start > a"))
    state = played.states[Place("a")]
    assert (played.verdict.failed, state.reason) == (Place("a"), ErrorCode.INVALID_REQUEST)


def test_a_while_goes_round_as_long_as_its_condition_holds_and_carries_its_variables() -> None:
    step = act(
        "step", input_template={"n": "{{ get(vars, 'n', 0) + 1 }}", "i": "{{ index }}"}, output_vars={"n": "output.n"}
    )
    loop = node("l", "loop_while", condition="get(vars, 'n', 0) < 3", body_start="step")
    workflow = of([manual(), loop, step, act("after", input_template="{{ vars.n }}")], "start > l > after", "step > l")
    played = play(workflow)
    assert played.ran == ["step[0]", "step[1]", "step[2]", "after"]
    assert played.states[Place("step", (2,))].output == {"n": 3, "i": 2}
    assert (played.states[Place("l")].output, played.states[Place("after")].output) == ({"count": 3}, 3)


def test_the_condition_of_a_while_looks_back_at_its_last_iteration() -> None:
    loop = node("l", "loop_while", condition="index == 0 or nodes.poll.output < 2", body_start="poll")
    assert play(of([manual(), loop, act("poll", input_template="{{ index }}")], "start > l")).ran == [
        "poll[0]",
        "poll[1]",
        "poll[2]",
    ]


def test_a_while_whose_condition_never_held_is_done_and_its_body_skipped() -> None:
    loop = node("l", "loop_while", condition="false", body_start="a")
    assert statuses(play(of([manual(), loop, act("a")], "start > l"))) == {"start": "DONE", "l": "DONE", "a": "SKIPPED"}


def test_a_foreach_goes_through_its_items_at_most_so_many_at_once_and_collects_what_they_set() -> None:
    loop = node("l", "loop_foreach", source="inputs.items", body_start="a", max_concurrency=2)
    body = act("a", input_template="{{ item }}{{ index }}", output_vars={"said": "output"})
    workflow = of([manual(), loop, body, act("after", input_template="{{ nodes.l.output }}")], "start > l > after")
    played = play(workflow, inputs={"items": ["x", "y", "z", "w"]})
    assert (played.ran[:4], played.most_at_once) == (["a[0]", "a[1]", "a[2]", "a[3]"], 2)
    results = [{"said": text} for text in ("x0", "y1", "z2", "w3")]
    assert played.states[Place("after")].output == {"count": 4, "results": results}


def test_a_foreach_of_nothing_is_done() -> None:
    loop = node("l", "loop_foreach", source="[]", body_start="a")
    assert statuses(play(of([manual(), loop, act("a"), act("b")], "start > l > b")))["b"] == "DONE"


def test_a_failure_in_an_iteration_fails_the_loop_which_may_be_taken_care_of() -> None:
    loop = node("l", "loop_foreach", source="['ok', 'bad', 'ok']", body_start="a")
    body = act("a", input_template={"fail": "{{ item == 'bad' and 'bad one' }}"})
    alone = play(of([manual(), loop, body], "start > l"))
    assert (alone.verdict.failed, alone.ran) == (Place("l"), ["a[0]", "a[1]", "a[2]"])
    assert alone.states[Place("l")].error == "iteration 1: 'a' failed: bad one"
    mended = play(of([manual(), loop, body, act("mend")], "start > l", "l > mend error"))
    assert (mended.verdict.failed, mended.ran[-1]) == (None, "mend")
    inside = play(of([manual(), loop, body, act("mend")], "start > l", "a > mend error"))
    assert (inside.verdict.failed, inside.ran) == (None, ["a[0]", "a[1]", "a[2]", "mend[1]"])


def test_a_failure_ends_a_while() -> None:
    loop = node("l", "loop_while", condition="true", body_start="a")
    body = act("a", input_template={"fail": "{{ index == 2 and 'enough' }}"})
    assert play(of([manual(), loop, body], "start > l")).ran == ["a[0]", "a[1]", "a[2]"]


def test_loops_in_loops_have_iterations_of_their_own() -> None:
    outer = node("o", "loop_foreach", source="[[1, 2], [3]]", body_start="i", item_var="row", index_var="r")
    inner = node("i", "loop_foreach", source="row", body_start="a", index_var="c")
    body = act("a", input_template="{{ r }}{{ c }}:{{ item }}", output_vars={"x": "output"})
    total = act("sum", input_template="{{ nodes.i.output.results }}", output_vars={"line": "output"})
    workflow = of(
        [manual(), outer, inner, body, total, act("after", input_template="{{ nodes.o.output.results }}")],
        "start > o > after",
        "i > sum",
    )
    played = play(workflow)
    assert sorted(played.ran) == ["a[0.0]", "a[0.1]", "a[1.0]", "after", "sum[0]", "sum[1]"]
    assert played.states[Place("after")].output == [
        {"line": [{"x": "00:1"}, {"x": "01:2"}]},
        {"line": [{"x": "10:3"}]},
    ]


def test_a_loop_whose_body_needs_nothing_from_outside_comes_to_its_end_at_once() -> None:
    loop = node("l", "loop_while", condition="index < 500", body_start="p")
    played = play(of([manual(), loop, node("p", "parallel")], "start > l"))
    assert (played.states[Place("l")].output, played.ran) == ({"count": 500}, [])


@st.composite
def workflows(draw: st.DrawFn) -> Json:
    """Documents of all kinds of nodes; edges only lead forward, so that they are DAGs."""
    count = draw(st.integers(2, 7))
    nodes: list[Json] = [manual()]
    written: list[Json] = []
    loops = 0
    for number in range(1, count):
        name, before = f"n{number}", [f"n{earlier}" for earlier in range(1, number)]
        sources = draw(st.lists(st.sampled_from(["start", *before]), min_size=1, max_size=3, unique=True))
        kind = draw(st.sampled_from(["action", "action", "fails", "join", "foreach", "while", "parallel"]))
        if kind == "join" and len(sources) < 2:
            kind = "action"
        given_input: Json = {"seen": [f"{{{{ nodes.{source}.status }}}}" for source in sources]}
        if kind == "join":
            mode = draw(st.sampled_from(["all", "any", "quorum"]))
            nodes.append(node(name, "join", mode=mode, **({"count": 2} if mode == "quorum" else {})))
        elif kind == "foreach":
            loops += 1
            nodes.append(node(name, "loop_foreach", source="[1, 2, 3]", body_start=f"b{loops}", max_concurrency=2))
            fail = draw(st.booleans())
            body = {"fail": "{{ item == 2 }}"} if fail else "{{ item }}"
            nodes.append(act(f"b{loops}", input_template=body, output_vars={f"v{number}": "output"}))
        elif kind == "while":
            loops += 1
            nodes.append(node(name, "loop_while", condition="index < 2", body_start=f"b{loops}"))
            nodes.append(act(f"b{loops}", input_template="{{ index }}", output_vars={f"v{number}": "output"}))
        elif kind == "parallel":
            nodes.append(node(name, "parallel"))
        else:
            given_input |= {"fail": "as told"} if kind == "fails" else {}
            nodes.append(act(name, input_template=given_input, output_vars={f"v{number}": "output.seen"}))
        for source in sources:
            when = draw(st.sampled_from(["success", "success", "error", "always"]))
            written.append({"source": source, "target": name, "when": when})
    return a_dag(nodes) | {"edges": written}


def has_race(workflow: Workflow) -> bool:
    return any(getattr(node.data, "mode", "all") != "all" for node in workflow.nodes.values())


@settings(max_examples=150, deadline=None)
@given(workflows(), st.integers(0, 2**32), st.integers(0, 2**32))
def test_any_order_of_endings_comes_to_the_same_end(document: Json, one: int, other: int) -> None:
    workflow = read_workflow(document)
    first, second = (play(workflow, choose=random.Random(seed).randrange) for seed in (one, other))
    assert first.verdict.nodes == second.verdict.nodes
    assert first.verdict.failed == second.verdict.failed
    if not has_race(workflow):
        assert first.verdict == second.verdict
        assert first.states == second.states


@settings(max_examples=150, deadline=None)
@given(workflows(), st.integers(0, 2**32), st.data())
def test_from_any_record_on_a_run_comes_to_the_end_that_it_would_have_come_to(
    document: Json, seed: int, data: st.DataObject
) -> None:
    """A process dies after any of its records: what ran then is begun again, what had ended is not."""
    workflow = read_workflow(document)
    chance = random.Random(seed)
    whole = play(workflow, choose=chance.randrange)
    run = Progression(workflow, fired("start"))
    records = [dict(run.states)]
    under_way: dict[Place, Ready] = {}
    while not run.is_over:
        for ready in run.step().ready:
            run.states[ready.place] = NodeState(NodeStatus.RUNNING)
            under_way[ready.place] = ready
        records.append(dict(run.states))
        if under_way:
            place = chance.choice(list(under_way))
            run.states[place] = ended(run, under_way.pop(place), echo)
            records.append(dict(run.states))
    record = data.draw(st.sampled_from(records))
    is_action = {name for name, found in workflow.nodes.items() if type(found.data).__name__ == "Action"}
    kept = {place: state for place, state in record.items() if not (place.node in is_action and not state.is_over)}
    again = play(workflow, states=kept)
    assert not {str(place) for place in kept} & set(again.ran)
    assert (again.verdict.nodes, again.verdict.failed) == (whole.verdict.nodes, whole.verdict.failed)
    if not has_race(workflow):
        assert again.states == whole.states


def test_the_same_node_is_never_ready_twice_while_it_has_a_record() -> None:
    run = Progression(of([manual(), act("a")], "start > a"), fired("start"))
    (ready,) = run.step().ready
    run.states[ready.place] = NodeState(NodeStatus.RUNNING)
    assert run.step().ready == []


def test_what_an_action_returned_is_seen_as_it_is_found_in_the_record_and_cannot_be_changed_afterwards() -> None:
    shared = {"pair": (1, 2)}

    def do(ready: Ready) -> Any:
        if ready.place.node == "a":
            return shared
        shared["pair"] = (7, 7)
        ready.input.append("changed")
        return None

    document = a_dag([manual(), act("a"), act("b", input_template="{{ nodes.a.output.pair }}")], "start > a > b")
    played = play(read_workflow(document), do)
    assert played.states[Place("a")].output == {"pair": [1, 2]}
