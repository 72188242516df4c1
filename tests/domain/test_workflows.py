"""Workflows: what is read from JSON, and every way in which a document may be wrong, told by node or edge."""

import copy
from contextlib import suppress
from typing import Any

import pytest

from foliot import Invalid
from foliot.domain.nodes import Action, Backoff, HttpCall, Join, LoopForeach, LoopWhile, NodeRetry, Trigger
from foliot.domain.workflows import Workflow, read_workflow, workflow_from_text
from tests.dags import Json, a_dag, act, edges, manual, node, scheduled


def read(nodes: list[Json], *written: str, **more: Any) -> Workflow:
    return read_workflow(a_dag(nodes, *written, **more))


def action_of(**data: Any) -> Action:
    found = read([manual(), node("a", "action", **{"action": "a"} | data)], "start > a").nodes["a"].data
    assert isinstance(found, Action)
    return found


def test_the_smallest_workflow_is_a_trigger() -> None:
    assert read([manual()]).topology.order == ("start",)


def test_an_action_has_the_defaults_of_the_workflow_and_those_of_everybody() -> None:
    found = action_of()
    assert (found.does, found.retry, found.timeout_ms, found.cache_ms) == ("a", NodeRetry(1), 45_000, 86_400_000)
    nodes = [manual(), node("a", "action", action="a")]
    workflow = read(nodes, "start > a", globals={"timeout_ms": 9, "retry": {"retries": 4}, "max_parallelism": 2})
    data = workflow.nodes["a"].data
    assert isinstance(data, Action)
    assert (data.timeout_ms, data.retry.retries, workflow.defaults.max_parallelism) == (9, 4, 2)


def test_both_shapes_of_a_retry_are_understood() -> None:
    one = action_of(retry={"retries": 2, "backoff": "exponential", "delay_ms": 100}).retry
    other = action_of(retry={"max_attempts": 3, "backoff_multiplier": 2, "initial_delay_ms": 100}).retry
    assert one == other == NodeRetry(2, Backoff.EXPONENTIAL, 100, 2.0)
    assert [one.wait_after(attempt) for attempt in (1, 2, 3)] == [0.1, 0.2, 0.4]
    assert [NodeRetry(3, Backoff.LINEAR, 100).wait_after(attempt) for attempt in (1, 2, 3)] == [0.1, 0.2, 0.3]


def test_a_trigger_says_the_options_of_its_schedule() -> None:
    trigger = read(
        [scheduled(cron="0 9 * * MON", timezone="Europe/Paris", jitter_ms=1500, overlap_policy="queue")]
    ).triggers["tick"]
    assert trigger.schedule == {
        "cron": "0 9 * * MON",
        "timezone": "Europe/Paris",
        "jitter": 1.5,
        "jitter_mode": "around",
        "overlap": "queue",
    }


def test_loops_joins_and_calls_are_read_with_their_defaults() -> None:
    workflow = read(
        [
            manual(),
            node("p", "parallel"),
            node("each", "loop_foreach", source="[1, 2]", body_start="a"),
            act("a"),
            node("again", "loop_while", condition="{{ index < 2 }}", body_start="b"),
            node("b", "action", http={"url": "https://example.com/{{ index }}"}),
            node("j", "join", mode="quorum"),
        ],
        "start > p > each > j",
        "p > again > j",
        "a > each",
        "b > again",
    )
    each, again, call = (workflow.nodes[name].data for name in ("each", "again", "b"))
    assert isinstance(each, LoopForeach)
    assert (each.max_concurrency, each.item_var, each.index_var) == (5, "item", "index")
    assert isinstance(again, LoopWhile)
    assert again.max_iterations == 1000
    assert isinstance(call, Action)
    assert isinstance(call.does, HttpCall)
    assert workflow.nodes["j"].data == Join("quorum", 2)  # type: ignore[arg-type]
    assert workflow.topology.scopes == {None: ("start", "p", "each", "again", "j"), "each": ("a",), "again": ("b",)}


def test_the_first_trigger_is_the_named_one_else_a_manual_one_else_the_first() -> None:
    workflow = read([scheduled("a"), manual("b"), manual("c")])
    assert [workflow.first_trigger(name) for name in ("a", None)] == ["a", "b"]
    assert read([scheduled("x"), scheduled("y")]).first_trigger(None) == "x"
    with pytest.raises(Invalid, match="has the triggers 'a', 'b', 'c', got 'z'"):
        workflow.first_trigger("z")


def test_a_schedule_fires_the_trigger_of_its_cron_else_the_first_with_a_schedule_else_the_first_of_all() -> None:
    workflow = read([manual("b"), scheduled("a", "0 * * * *"), scheduled("c", "5  * * * *")])
    assert [workflow.trigger_of(cron) for cron in ("5 * * * *", "7 * * * *")] == ["c", "a"]
    assert read([manual("b")]).trigger_of("5 * * * *") == "b"


def test_the_same_document_has_the_same_text_whatever_the_order_of_its_keys_and_who_deploys_it() -> None:
    one = read([manual(), act("a")], "start > a", version=3, user_id="ann")
    other = read_workflow(dict(reversed(a_dag([manual(), act("a")], "start > a").items())))
    assert (one.text, one.hash) == (other.text, other.hash)
    assert workflow_from_text(one.text).text == one.text
    assert read([manual(), act("b")], "start > b").hash != one.hash


BAD: dict[str, tuple[Json, str]] = {
    "no object": ([], "a workflow takes a JSON object"),  # type: ignore[dict-item]
    "no id": ({"nodes": []}, "a workflow takes workflow_id of 1 to 100 letters"),
    "unknown key": (a_dag([manual()], edgs=[]), "a workflow takes workflow_id, .*, got 'edgs'"),
    "no nodes": ({"workflow_id": "x"}, "takes nodes, a list"),
    "no trigger": (a_dag([act("a")]), "at least one node of type 'trigger'"),
    "twice": (a_dag([manual(), manual()]), "node 'start' is there twice"),
    "type": (a_dag([node("a", "acton")]), "node 'a' takes type of 'trigger', .*, got 'acton'"),
    "kind": (
        a_dag([node("a", "trigger", kind="event_based")]),
        "kind of 'schedule_based', 'manual', got 'event_based'",
    ),
    "cron": (a_dag([scheduled(cron="61 * * * *")]), "node 'tick': schedule: cron field 'minute' takes 0-59, got '61'"),
    "fields": (a_dag([scheduled(cron="* * *")]), "5 or 6 fields, got '\\* \\* \\*'"),
    "zone": (a_dag([scheduled(timezone="Mars/Olympus")]), "Mars/Olympus"),
    "bounds": (a_dag([scheduled(start_at="tomorrow")]), "start_at takes a moment"),
    "overlap": (
        a_dag([scheduled(overlap_policy="buffer_all")]),
        "node 'tick': schedule takes overlap_policy of 'skip', 'allow', 'queue', got 'buffer_all'",
    ),
    "catch-up": (
        a_dag([scheduled(catchup_policy="all")]),
        "takes catchup_policy of 'none', 'fire_immediately', 'spread', got 'all'",
    ),
    "rate limit": (
        a_dag([manual()], globals={"rate_limit": {"per_second": 1}}),
        "globals takes no rate_limit, which nobody here would keep to: max_parallelism bounds",
    ),
    "a url of something else": (
        a_dag([manual(), node("a", "action", http={"url": "ftp://x"})], "start > a"),
        "node 'a': http takes url such as 'https://example.com/hook', got 'ftp://x'",
    ),
    "a case twice": (
        a_dag(
            [
                manual(),
                node("g", "gateway_switch", selector="1", cases=[{"value": 1, "to": "a"}, {"value": 1, "to": "b"}]),
                *(act("a"), act("b")),
            ],
            "start > g",
        ),
        r"cases\[1\] takes a value of its own, got 1 a second time",
    ),
    "unknown data": (a_dag([manual(), act("a", timout_ms=1)], "start > a"), "node 'a' takes .*, got 'timout_ms'"),
    "action": (a_dag([manual(), node("a", "action")], "start > a"), "either action, the name .* or http"),
    "timeout": (a_dag([manual(), act("a", timeout_ms=0)], "start > a"), "takes timeout_ms from 1 to"),
    "retries": (
        a_dag([manual(), act("a", retry={"retries": -1})], "start > a"),
        "node 'a': retry takes retries from 0",
    ),
    "var": (a_dag([manual(), act("a", output_vars={"inputs": "output"})], "start > a"), "none of .*, got 'inputs'"),
    "syntax": (a_dag([manual(), act("a", input_template={"x": "{{ 1 + }}"})], "start > a"), "node 'a': input_template"),
    "name": (a_dag([manual(), act("a", input_template="{{ x }}")], "start > a"), "names 'x', which is not there"),
    "no such node": (a_dag([manual(), act("a", input_template="{{ nodes.z }}")], "start > a"), "'z', which is no node"),
    "nodes as a whole": (a_dag([manual(), act("a", input_template="{{ len(nodes) }}")], "start > a"), "by its name"),
    "a later node": (
        a_dag([manual(), act("a", input_template="{{ nodes.b.output }}"), act("b")], "start > a > b"),
        "node 'a': input_template: .*'b', which has not surely ended by then: there are start",
    ),
    "no such var": (a_dag([manual(), act("a", input_template="{{ vars.x }}")], "start > a"), "vars.x, which no output"),
    "edge": (a_dag([manual()], "start > z"), "edge 'start' -> 'z' names 'z', which is no node"),
    "edge to a trigger": (a_dag([manual(), act("a")], "start > a > start"), "leads to a trigger"),
    "edge twice": (a_dag([manual(), act("a")], "start > a", "start > a error"), "edge 'start' -> 'a' is there twice"),
    "when": (
        a_dag([manual(), act("a")]) | {"edges": [{"source": "start", "target": "a", "when": "maybe"}]},
        "edge 'start' -> 'a' takes when of 'success', 'error', 'always', got 'maybe'",
    ),
    "condition": (
        a_dag([manual(), act("a")]) | {"edges": [{"source": "start", "target": "a", "condition": "1 +"}]},
        "edge 'start' -> 'a': condition",
    ),
    "not reached": (a_dag([manual(), act("a"), act("b")], "start > a"), "node 'b' is not reached from any trigger"),
    "cycle": (a_dag([manual(), act("a"), act("b")], "start > a > b > a"), "the nodes 'a', 'b' wait for each other"),
    "itself": (a_dag([manual(), act("a")], "start > a > a"), "the nodes 'a' wait for each other"),
    "gateway target": (
        a_dag([manual(), node("g", "gateway_if", branches=[{"expr": "true", "to": "z"}])], "start > g"),
        "node 'g' leads to 'z', which is no node",
    ),
    "gateway without branches": (a_dag([manual(), node("g", "gateway_if")], "start > g"), "takes branches, a list"),
    "a gateway's other edge": (
        a_dag(
            [manual(), node("g", "gateway_if", branches=[{"expr": "true", "to": "a"}]), act("a"), act("b")],
            "start > g > b",
        ),
        "edge 'g' -> 'b' leaves a gateway, which decides by itself",
    ),
    "join of one": (a_dag([manual(), node("j", "join")], "start > j"), "joins at least 2 edges, got 1"),
    "quorum": (
        a_dag(
            [manual(), act("a"), act("b"), node("j", "join", mode="quorum", count=3)], "start > a > j", "start > b > j"
        ),
        "node 'j' waits for 3 of 2 edges",
    ),
    "after the end": (a_dag([manual(), node("e", "end"), act("a")], "start > e > a"), "leaves an end"),
    "loop without body": (a_dag([manual(), node("l", "loop_while", condition="true")], "start > l"), "body_start"),
    "body of itself": (
        a_dag([manual(), node("l", "loop_while", condition="true", body_start="l")], "start > l"),
        "no body of its own",
    ),
    "body entered": (
        a_dag(
            [manual(), node("l", "loop_while", condition="true", body_start="a"), act("a")], "start > l", "start > a"
        ),
        "edge 'start' -> 'a' crosses the border of the loop 'l'",
    ),
    "body left": (
        a_dag(
            [manual(), node("l", "loop_while", condition="true", body_start="a"), act("a"), act("b")],
            "start > l > b",
            "a > b",
        ),
        "crosses the border of the loop 'l'",
    ),
    "one body for two": (
        a_dag(
            [manual()]
            + [node(name, "loop_while", condition="true", body_start="a") for name in ("l", "m")]
            + [act("a")],
            "start > l > m",
        ),
        "no body of its own",
    ),
    "back to the outer loop": (
        a_dag(
            [
                manual(),
                node("l", "loop_while", condition="true", body_start="m"),
                node("m", "loop_while", condition="true", body_start="a"),
                act("a"),
            ],
            "start > l",
            "a > l",
        ),
        "each inside of the other|no body of its own|crosses the border",
    ),
    "globals": (a_dag([manual()], globals={"max_paralelism": 2}), "globals takes retry, .*, got 'max_paralelism'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_told_by_node_or_edge_rule_and_remedy(case: str) -> None:
    document, words = BAD[case]
    with pytest.raises(Invalid, match=words):
        read_workflow(document)


def test_after_a_join_of_any_only_what_all_branches_share_is_sure() -> None:
    nodes = [manual(), act("a"), act("b"), node("j", "join", mode="any"), act("c", input_template="{{ nodes.a }}")]
    with pytest.raises(Invalid, match="'a', which has not surely ended by then: there are start, j"):
        read(nodes, "start > a > j > c", "start > b > j")
    nodes[3] = node("j", "join", mode="all")
    assert "a" in read(nodes, "start > a > j > c", "start > b > j").topology.before["c"]


def test_a_loop_sees_what_is_around_it_and_what_is_around_it_does_not_see_in() -> None:
    inside = act("b", input_template="{{ item }} {{ index }} {{ nodes.a.output }}")
    loop = node("l", "loop_foreach", source="nodes.a.output", body_start="b")
    after = act("c", input_template="{{ nodes.l.output.results }}")
    assert read([manual(), act("a"), loop, inside, after], "start > a > l > c").topology.loop_of["b"] == "l"
    with pytest.raises(Invalid, match="'b', which has not surely ended"):
        read([manual(), act("a"), loop, inside, act("c", input_template="{{ nodes.b }}")], "start > a > l > c")
    with pytest.raises(Invalid, match="names 'item', which is not there"):
        read([manual(), act("a", input_template="{{ item }}"), loop, inside], "start > a > l")


@pytest.mark.parametrize("given_cases", [[{"value": "a", "to": "x"}], {"a": "x"}])
def test_cases_are_a_list_or_an_object(given_cases: Any) -> None:
    workflow = read(
        [manual(), node("g", "gateway_switch", selector="'a'", cases=given_cases, default_to="y"), act("x"), act("y")],
        "start > g",
        "g > x",
    )
    assert [edge.target for edge in workflow.topology.outgoing["g"]] == ["x", "y"]


def test_triggers_that_came_from_elsewhere_may_carry_more() -> None:
    document = a_dag([node("t", "trigger", kind="manual", tool="system", slug="SCHEDULE", connection_id=None)])
    assert read_workflow(document).triggers == {"t": Trigger("manual")}  # type: ignore[arg-type]


DOCUMENT = a_dag(
    [
        scheduled(
            jitter_ms=5, timezone="UTC", start_at="2026-01-01T00:00:00Z", overlap_policy="skip", catchup_policy="none"
        ),
        act(
            "a", output_vars={"x": "output"}, timeout_ms=5, cache_ms=5, idempotency_key="k", input_template={"a": ["b"]}
        ),
        node("h", "action", http={"url": "u", "method": "GET", "headers": {"a": "b"}, "body_template": 1}),
        node("s", "gateway_switch", selector="1", cases=[{"value": 1, "to": "l"}], default_to="l"),
        node("w", "loop_while", condition="false", body_start="c", max_iterations=2, index_var="i"),
        act("c", retry={"max_attempts": 2, "backoff_multiplier": 2, "initial_delay_ms": 1}),
        node("j", "join", mode="quorum", count=2),
        node("l", "loop_foreach", source="[1]", body_start="b"),
        act("b"),
        node("g", "gateway_if", branches=[{"expr": "vars.x", "to": "e"}], else_to="f"),
        node("e", "end"),
        node("f", "end"),
    ],
    "tick > a > h > s",
    "l > g",
    "a > w > j",
    "h > j error",
    globals={"timeout_ms": 5, "retry": {"retries": 1, "backoff": "linear", "delay_ms": 1}, "max_parallelism": 2},
)
JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**30,
    0.5,
    float("nan"),
    "",
    "x",
    "{{",
    "\0",
    [],
    [[]],
    {},
    {"x": []},
    {1: 2},
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += _places(inner, (*path, key))
    return found


@pytest.mark.parametrize("path", _places(DOCUMENT), ids=str)
def test_a_document_with_anything_in_any_place_is_read_or_invalid(path: tuple[Any, ...]) -> None:
    for junk in JUNK:
        _read_with(path, junk)


def _read_with(path: tuple[Any, ...], junk: Any) -> None:
    document: Any = copy.deepcopy(DOCUMENT)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = junk
    with suppress(Invalid):
        read_workflow(document)


def test_edges_of_tests_are_what_they_say() -> None:
    assert edges("a > b > c", "c > d error") == [
        {"source": "a", "target": "b"},
        {"source": "b", "target": "c"},
        {"source": "c", "target": "d", "when": "error"},
    ]
