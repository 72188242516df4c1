"""Topology: how the nodes of a workflow hang together, and what must be so for a run of it to come to an end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from foliot.domain.errors import Invalid
from foliot.domain.expressions import Expression
from foliot.domain.nodes import End, Join, JoinMode, LoopForeach, LoopWhile, Node, Trigger
from foliot.domain.reader import Reader


class When(StrEnum):
    """After which end of its source an edge is taken."""

    SUCCESS = "success"
    ERROR = "error"
    ALWAYS = "always"
    """After either."""


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    when: When = When.SUCCESS
    condition: Expression | None = None
    is_choice: bool = False
    """It is one of its source's, a gateway's, own: only the gateway says whether it is taken."""

    @property
    def name(self) -> str:
        return f"edge {self.source!r} -> {self.target!r}"


@dataclass(frozen=True, slots=True)
class Topology:
    """What follows from nodes and edges; every node by its id."""

    order: tuple[str, ...]
    """All nodes, each after those it waits for; a loop before its body."""
    incoming: Mapping[str, tuple[Edge, ...]]
    outgoing: Mapping[str, tuple[Edge, ...]]
    loop_of: Mapping[str, str | None]
    """The innermost loop that the node is in."""
    scopes: Mapping[str | None, tuple[str, ...]]
    """The nodes directly in each loop, and in none, in their order."""
    before: Mapping[str, frozenset[str]]
    """The nodes that have surely come to their end when the node begins."""


def read_edge(given: Any, number: int) -> Edge:
    reader = Reader(f"edges[{number}]", given)
    reader.only("id", "source", "target", "when", "condition", "label", "ui", "metadata")
    source, target = reader.name("source"), reader.name("target")
    reader.what = f"edge {source!r} -> {target!r}"
    condition = None if reader.given.get("condition") is None else reader.expression("condition")
    return Edge(source, target, reader.word("when", When, When.SUCCESS), condition)


def topology_of(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Topology:
    """Invalid, naming node or edge, rule and remedy, unless every run of it comes to an end."""
    links = _links(nodes, edges)
    follows = _follows(nodes, links)
    bodies = {loop: _reached([start], follows, but=loop) for loop, start in _starts(nodes).items()}
    loop_of = {node: _innermost(node, bodies) for node in nodes}
    _check_nesting(nodes, bodies, loop_of)
    # An edge back to its loop says that the iteration ends there, which it does anyhow.
    links = [link for link in links if loop_of[link.source] != link.target]
    _check_crossing(links, loop_of)
    _check_reached(nodes, follows)
    incoming = {node: tuple(link for link in links if link.target == node) for node in nodes}
    outgoing = {node: tuple(link for link in links if link.source == node) for node in nodes}
    _check_joins(nodes, incoming)
    _check_ends(nodes, outgoing)
    order = _order(nodes, incoming, loop_of)
    scopes = {loop: tuple(node for node in order if loop_of[node] == loop) for loop in (None, *bodies)}
    return Topology(order, incoming, outgoing, loop_of, scopes, _before(nodes, order, incoming, loop_of))


def _links(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> list[Edge]:
    """The edges that are written, and those that gateways have by themselves; none twice."""
    links: list[Edge] = []
    for edge in edges:
        _check_edge(nodes, edge)
        choices = nodes[edge.source].choices
        if not choices or edge.when is When.ERROR:
            links.append(edge)
        elif edge.target not in choices or edge.condition is not None:
            raise Invalid(
                f"{edge.name} leaves a gateway, which decides by itself where it leads ({', '.join(choices)}): "
                "name the target in its data, or take the edge away"
            )
    starts = _starts(nodes)
    for node in nodes.values():
        for target in (*node.choices, *([starts[node.id]] if node.id in starts else [])):
            if target not in nodes or isinstance(nodes[target].data, Trigger):
                raise Invalid(
                    f"node {node.id!r} leads to {target!r}, which is no node that something can lead to: "
                    f"there are {_some(nodes)}"
                )
        links += [Edge(node.id, target, is_choice=True) for target in node.choices]
    seen: set[tuple[str, str]] = set()
    for link in links:
        if (link.source, link.target) in seen:
            raise Invalid(f"{link.name} is there twice: write one, with `when` and `condition` for both")
        seen.add((link.source, link.target))
    return links


def _check_edge(nodes: Mapping[str, Node], edge: Edge) -> None:
    for end in (edge.source, edge.target):
        if end not in nodes:
            raise Invalid(f"{edge.name} names {end!r}, which is no node: there are {_some(nodes)}")
    if isinstance(nodes[edge.target].data, Trigger):
        raise Invalid(f"{edge.name} leads to a trigger, which nothing comes before: lead it to another node")


def _some(nodes: Iterable[str]) -> str:
    listed = list(nodes)
    return ", ".join(map(repr, listed[:10])) + (", ..." if len(listed) > 10 else "")


def _starts(nodes: Mapping[str, Node]) -> dict[str, str]:
    """By loop, where its body begins."""
    return {node.id: node.data.body_start for node in nodes.values() if isinstance(node.data, LoopWhile | LoopForeach)}


def _follows(nodes: Mapping[str, Node], links: Sequence[Edge]) -> dict[str, list[str]]:
    follows: dict[str, list[str]] = {node: [] for node in nodes}
    for link in links:
        follows[link.source].append(link.target)
    for loop, start in _starts(nodes).items():
        follows[loop].append(start)
    return follows


def _reached(starts: Iterable[str], follows: Mapping[str, Sequence[str]], but: str | None = None) -> frozenset[str]:
    reached: set[str] = set()
    ahead = list(starts)
    while ahead:
        node = ahead.pop()
        if node not in reached and node != but:
            reached.add(node)
            ahead += follows[node]
    return frozenset(reached)


def _innermost(node: str, bodies: Mapping[str, frozenset[str]]) -> str | None:
    around = [loop for loop, body in bodies.items() if node in body]
    return min(around, key=lambda loop: len(bodies[loop]), default=None)


def _check_nesting(
    nodes: Mapping[str, Node], bodies: Mapping[str, frozenset[str]], loop_of: Mapping[str, str | None]
) -> None:
    for loop, start in _starts(nodes).items():
        if start == loop or loop_of[start] != loop:
            raise Invalid(
                f"node {loop!r} has the body_start {start!r}, which is no body of its own: "
                "begin each loop's body with a node that only this loop leads to"
            )
        for other in bodies[loop] & set(bodies):
            if loop in bodies[other]:
                raise Invalid(
                    f"the loops {loop!r} and {other!r} are each inside of the other: "
                    "an inner loop ends before the outer one goes on"
                )


def _check_crossing(links: Sequence[Edge], loop_of: Mapping[str, str | None]) -> None:
    for link in links:
        inside, outside = loop_of[link.source], loop_of[link.target]
        if inside != outside:
            loop = outside if outside is not None else inside
            raise Invalid(
                f"{link.name} crosses the border of the loop {loop!r}: a body is entered at its body_start alone, "
                f"and left by coming to its end; lead what follows from {loop!r} itself"
            )


def _check_reached(nodes: Mapping[str, Node], follows: Mapping[str, Sequence[str]]) -> None:
    triggers = [node.id for node in nodes.values() if isinstance(node.data, Trigger)]
    if not triggers:
        raise Invalid("a workflow takes at least one node of type 'trigger', got none")
    reached = _reached(triggers, follows)
    for node in nodes:
        if node not in reached:
            raise Invalid(f"node {node!r} is not reached from any trigger: lead an edge to it, or take it away")


def _check_joins(nodes: Mapping[str, Node], incoming: Mapping[str, Sequence[Edge]]) -> None:
    for node in nodes.values():
        if not isinstance(node.data, Join):
            continue
        arriving = len(incoming[node.id])
        if arriving < 2:
            raise Invalid(f"node {node.id!r} joins at least 2 edges, got {arriving}: lead the branches to it")
        if node.data.count > arriving:
            raise Invalid(f"node {node.id!r} waits for {node.data.count} of {arriving} edges: take a smaller count")


def _check_ends(nodes: Mapping[str, Node], outgoing: Mapping[str, Sequence[Edge]]) -> None:
    for node in nodes.values():
        if isinstance(node.data, End) and outgoing[node.id]:
            raise Invalid(f"{outgoing[node.id][0].name} leaves an end, which nothing follows: take it away")


def _order(
    nodes: Mapping[str, Node], incoming: Mapping[str, Sequence[Edge]], loop_of: Mapping[str, str | None]
) -> tuple[str, ...]:
    """The nodes as they are written, but each after those it waits for; Invalid when some wait for each other."""
    waits = {node: {link.source for link in incoming[node]} for node in nodes}
    for node, loop in loop_of.items():
        if loop is not None:
            waits[node].add(loop)
    order: dict[str, None] = {}
    left = list(nodes)
    while left:
        free = [node for node in left if all(source in order for source in waits[node])]
        if not free:
            raise Invalid(
                f"the nodes {_some(left)} wait for each other: take an edge away, or declare a loop_while around them"
            )
        order |= dict.fromkeys(free)
        left = [node for node in left if node not in order]
    return tuple(order)


def _before(
    nodes: Mapping[str, Node],
    order: Sequence[str],
    incoming: Mapping[str, Sequence[Edge]],
    loop_of: Mapping[str, str | None],
) -> dict[str, frozenset[str]]:
    """After a join of any or of a quorum, only what all its branches have in common is sure."""
    before: dict[str, frozenset[str]] = {}
    for node in order:
        loop, data = loop_of[node], nodes[node].data
        arriving = [before[link.source] | {link.source} for link in incoming[node]]
        is_race = isinstance(data, Join) and data.mode is not JoinMode.ALL
        met = frozenset.intersection(*arriving) if is_race else frozenset[str]().union(*arriving)
        before[node] = met if loop is None else met | before[loop]
    return before
