"""Workflows: a DAG as JSON, read and checked as a whole before anything of it runs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from foliot.domain.errors import Invalid
from foliot.domain.expressions import Expression
from foliot.domain.nodes import (
    Action,
    Defaults,
    End,
    GatewayIf,
    GatewaySwitch,
    HttpCall,
    LoopForeach,
    LoopWhile,
    Node,
    Trigger,
    TriggerKind,
    read_defaults,
    read_node,
)
from foliot.domain.reader import ROOT_NAMES, Reader
from foliot.domain.schedule import json_text
from foliot.domain.topology import Topology, read_edge, topology_of

_MOST_NODES = 500
_MOST_EDGES = 2000
_SAID_ELSEWHERE = ("version", "user_id")
"""Who deploys it and which version it becomes is not for the document to say."""

Check = tuple[str, Expression, frozenset[str], tuple[str, ...]]
"""Where an expression stands, what it is, which nodes it may look at, and which names it has besides."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A DAG that can be run. Two that say the same have the same text."""

    id: str
    nodes: Mapping[str, Node]
    topology: Topology
    defaults: Defaults
    globals: Mapping[str, Any]
    text: str
    """In canonical form."""

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    @property
    def triggers(self) -> Mapping[str, Trigger]:
        return {node.id: node.data for node in self.nodes.values() if isinstance(node.data, Trigger)}

    def first_trigger(self, named: str | None) -> str:
        """The trigger of that name; without one the first that is manual, else the first."""
        triggers = self.triggers
        if named is not None:
            if named not in triggers:
                raise Invalid(f"workflow {self.id!r} has the triggers {', '.join(map(repr, triggers))}, got {named!r}")
            return named
        manual = [node for node, trigger in triggers.items() if trigger.kind is TriggerKind.MANUAL]
        return (manual or list(triggers))[0]

    def trigger_of(self, cron: str) -> str:
        """The trigger that a schedule of that cron text fires: the one that says so, else the first of a schedule."""
        timed = {node: trigger.schedule for node, trigger in self.triggers.items() if trigger.schedule is not None}
        same = [node for node, schedule in timed.items() if schedule["cron"].split() == cron.split()]
        return next(iter(same or timed), self.first_trigger(None))


def read_workflow(given: Any) -> Workflow:
    """Invalid, naming the node or edge, the rule and the remedy, unless it can be run."""
    reader = Reader("a workflow", given)
    reader.only("workflow_id", "nodes", "edges", "globals", "ui", "metadata", *_SAID_ELSEWHERE)
    workflow_id = reader.name("workflow_id")
    text = json_text("a workflow", {key: value for key, value in given.items() if key not in _SAID_ELSEWHERE})
    assert text is not None
    defaults = read_defaults(given.get("globals"))
    nodes: dict[str, Node] = {}
    for number, one in enumerate(_listed(reader, "nodes", _MOST_NODES)):
        node = read_node(one, number, defaults)
        if node.id in nodes:
            raise Invalid(f"node {node.id!r} is there twice: give each node an id of its own")
        nodes[node.id] = node
    edges = [read_edge(one, number) for number, one in enumerate(_listed(reader, "edges", _MOST_EDGES))]
    topology = topology_of(nodes, edges)
    workflow = Workflow(workflow_id, nodes, topology, defaults, given.get("globals") or {}, text)
    _check_expressions(workflow)
    return workflow


@lru_cache(maxsize=128)
def workflow_from_text(text: str) -> Workflow:
    """What was stored in canonical form. Runs of the same version share it: nobody changes it."""
    return read_workflow(json.loads(text))


def _listed(reader: Reader, key: str, most: int) -> list[Any]:
    given = reader.given.get(key, [] if key == "edges" else None)
    if not isinstance(given, list) or len(given) > most:
        reader.refuse(f"takes {key}, a list of at most {most:,} objects, got {given!r:.80}")
    return list(given)


def _check_expressions(workflow: Workflow) -> None:
    """Each looks only at what is there, and only at nodes that have surely come to their end by then."""
    variables = {
        name for node in workflow.nodes.values() if isinstance(node.data, Action) for name, _ in node.data.output_vars
    }
    for where, expression, before, names in _checks(workflow):
        if unknown := sorted(expression.names - {*ROOT_NAMES, *names}):
            there = ", ".join((*ROOT_NAMES, *names))
            raise Invalid(f"{where}: {expression.text!r} names {unknown[0]!r}, which is not there: there are {there}")
        for name, key in expression.uses:
            if name == "nodes" and key not in before:
                _refuse_node(workflow, where, expression, key, before)
            if name == "vars" and key is not None and key not in variables:
                there = ", ".join(sorted(variables)) or "none"
                raise Invalid(f"{where}: {expression.text!r} takes vars.{key}, which no output_vars sets: {there}")


def _refuse_node(
    workflow: Workflow, where: str, expression: Expression, key: str | None, before: frozenset[str]
) -> None:
    there = ", ".join(node for node in workflow.topology.order if node in before) or "none"
    if key is None:
        raise Invalid(f"{where}: {expression.text!r} takes one of nodes by its name, as in nodes.fetch: {there}")
    why = "is no node" if key not in workflow.nodes else "has not surely ended by then"
    raise Invalid(f"{where}: {expression.text!r} looks at {key!r}, which {why}: there are {there}")


def _checks(workflow: Workflow) -> Iterator[Check]:
    topology = workflow.topology
    for node in workflow.nodes.values():
        names = _loop_names(workflow, topology.loop_of[node.id])
        for what, expression, own in _expressions(node):
            before = topology.before[node.id]
            if isinstance(node.data, LoopWhile):
                before |= frozenset(topology.scopes[node.id])
            yield f"node {node.id!r}: {what}", expression, before, (*names, *own)
        for edge in topology.outgoing[node.id]:
            if edge.condition is not None:
                yield f"{edge.name}: condition", edge.condition, topology.before[node.id] | {node.id}, names


def _loop_names(workflow: Workflow, loop: str | None) -> tuple[str, ...]:
    """What expressions inside of that loop may name besides, those of the loops around it included."""
    names: tuple[str, ...] = ()
    while loop is not None:
        data = workflow.nodes[loop].data
        if isinstance(data, LoopForeach):
            names += (data.item_var,)
        if isinstance(data, LoopForeach | LoopWhile):
            names += (data.index_var,)
        loop = workflow.topology.loop_of[loop]
    return names


def _expressions(node: Node) -> Iterator[tuple[str, Expression, tuple[str, ...]]]:
    """Its expressions, what each is, and which names it has for itself."""
    match node.data:
        case Action(does=does, input=given, output_vars=paths, key=key):
            templates = {"input_template": given} | ({} if key is None else {"idempotency_key": key})
            if isinstance(does, HttpCall):
                templates |= {"url": does.url, "headers": does.headers, "body_template": does.body}
            for what, template in templates.items():
                yield from ((what, expression, ()) for expression in template.expressions)
            yield from (("output_vars", path, ("output",)) for _, path in paths)
        case GatewayIf(branches=branches):
            yield from ((f"branch {branch.name!r}", branch.condition, ()) for branch in branches)
        case GatewaySwitch(selector=selector):
            yield "selector", selector, ()
        case LoopWhile(condition=condition, index_var=index):
            yield "condition", condition, (index,)
        case LoopForeach(source=source):
            yield "source", source, ()
        case End(outputs=outputs):
            yield from (("outputs", expression, ()) for expression in outputs.expressions)
        case _:
            pass
