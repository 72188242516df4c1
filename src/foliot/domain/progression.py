"""Progression: what of a workflow's run is next, given what has happened so far.

It knows nothing of time: the same records lead to the same end, in whichever order they came to be, and a run that was
cut off anywhere goes on from its records as if it had not been.
"""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.events import ErrorCode
from foliot.domain.expressions import text_of_value
from foliot.domain.node_states import NodeState, NodeStatus, Path, Place
from foliot.domain.nodes import (
    Action,
    End,
    GatewayIf,
    GatewaySwitch,
    Join,
    JoinMode,
    LoopForeach,
    LoopWhile,
    Node,
    Parallel,
    Trigger,
)
from foliot.domain.schedule import json_text, text_of
from foliot.domain.sight import Sight
from foliot.domain.topology import Edge, When
from foliot.domain.workflows import Workflow


class Ready(NamedTuple):
    """An action that may begin."""

    place: Place
    action: Action
    input: Any
    key: str | None
    """Its idempotency key, if the workflow makes one itself."""


class Step(NamedTuple):
    decided: dict[Place, NodeState]
    """What came to a state without anything being done outside."""
    ready: list[Ready]


class Ending(NamedTuple):
    """What a run came to."""

    failed: Place | None
    """The first node that failed, and nothing in the workflow took care of it."""
    outputs: Mapping[str, Any]
    nodes: Mapping[str, NodeStatus]


class _Way(Enum):
    """What an edge is to its target."""

    OPEN = "not decided"
    TAKEN = "taken"
    DEAD = "not taken"
    BROKEN = "never to be taken, because of a failure"


_SKIPPED = NodeState(NodeStatus.SKIPPED)
_DONE = NodeState(NodeStatus.DONE)


class Progression:
    """One run: its records, and what follows from them. The trigger that fired is among the records from the start."""

    def __init__(self, workflow: Workflow, states: Mapping[Place, NodeState], inputs: Any = None) -> None:
        self.workflow = workflow
        self.states = dict(states)
        self._topology = workflow.topology
        fired = [place for node in workflow.triggers if (place := Place(node)) in states and states[place].output]
        fixed = {
            "inputs": {} if inputs is None else inputs,
            "trigger": states[fired[0]].output,
            "globals": workflow.globals,
        }
        self._sight = Sight(workflow, self.states, fixed)
        self._step = Step({}, [])
        self._over_to: dict[Place, int] = {}
        """By loop: how many of its iterations are known to be over, from the first on."""

    def step(self) -> Step:
        """Decide all that can be decided now, and say which actions may begin."""
        self._step = Step({}, [])
        self._look_at(None, ())
        return self._step

    def settle(self, place: Place, output: Any) -> NodeState:
        """How an action has ended that returned this: its variables are set, or cannot be."""
        node = self.workflow.nodes[place.node]
        assert isinstance(node.data, Action)
        try:
            output = _as_recorded("the output of an action", output)
            names = {**self._sight.names(place), "output": output}
            found = {name: path.value(names) for name, path in node.data.output_vars}
        except Invalid as refusal:
            return _failure(refusal)
        return NodeState(NodeStatus.DONE, output, found)

    @property
    def is_over(self) -> bool:
        return self._scope_is_over(None, ())

    def verdict(self) -> Ending:
        failed = self._failure_in(None, ())
        outputs = self._sight.set_in(self._topology.scopes[None], ())
        for node in self._topology.scopes[None]:
            state = self.states.get(Place(node))
            if isinstance(self.workflow.nodes[node].data, End) and state is not None and state.output:
                outputs |= state.output
        return Ending(failed, outputs, self._statuses())

    def _statuses(self) -> dict[str, NodeStatus]:
        """Of a node in a loop, the gravest that it had."""
        gravest = [NodeStatus.ERROR, NodeStatus.RUNNING, NodeStatus.DONE, NodeStatus.SKIPPED]
        had: dict[str, set[NodeStatus]] = {}
        for place, state in self.states.items():
            had.setdefault(place.node, set()).add(state.status)
        order = self._topology.order
        return {node: next((s for s in gravest if s in had.get(node, ())), NodeStatus.SKIPPED) for node in order}

    def _look_at(self, loop: str | None, path: Path, start: str | None = None) -> None:
        """One look at all nodes of a scope, in their order: what is decided of one, the next ones see."""
        for node in self._topology.scopes[loop]:
            place = Place(node, path)
            state = self.states.get(place)
            if state is None:
                self._arrive(place, is_start=node == start)
                state = self.states.get(place)
            if state is not None and not state.is_over:
                self._go_round(place, state)

    def _arrive(self, place: Place, *, is_start: bool) -> None:
        node = self.workflow.nodes[place.node]
        try:
            if is_start or self._has_arrived(node, place):
                self._begin(node, place)
        except Invalid as refusal:
            self._decide(place, _failure(refusal))

    def _has_arrived(self, node: Node, place: Place) -> bool:
        """Whether it may begin; it is skipped when it never will."""
        if isinstance(node.data, Trigger):
            self._decide(place, _SKIPPED)
            return False
        edges = self._topology.incoming[node.id]
        ways = [self._way(edge, place.path) for edge in edges]
        taken = ways.count(_Way.TAKEN)
        is_race = isinstance(node.data, Join) and node.data.mode is not JoinMode.ALL
        if is_race and taken >= _needed(node):
            return True
        if _Way.OPEN in ways:
            return False
        if is_race and taken:
            raise Invalid(f"it waits for {_needed(node)} of its branches, and only {taken} could arrive")
        if _Way.BROKEN in ways:
            source = edges[ways.index(_Way.BROKEN)].source
            self._decide(place, NodeState(NodeStatus.SKIPPED, error=f"after {source!r} failed or was skipped"))
            return False
        if not taken:
            self._decide(place, _SKIPPED)
        return taken > 0

    def _way(self, edge: Edge, path: Path) -> _Way:
        state = self.states.get(Place(edge.source, path))
        if state is None or not state.is_over:
            return _Way.OPEN
        if state.status is NodeStatus.DONE:
            if edge.is_choice:
                return _taken(state.output["to"] == edge.target)
            return _taken(edge.when is not When.ERROR and self._holds(edge, path))
        if state.status is NodeStatus.ERROR and self._is_handled(Place(edge.source, path)):
            return _taken(edge.when is not When.SUCCESS and self._holds(edge, path))
        is_failure = state.status is NodeStatus.ERROR or state.error is not None
        return _Way.BROKEN if is_failure and edge.when is not When.ERROR else _Way.DEAD

    def _holds(self, edge: Edge, path: Path) -> bool:
        if edge.condition is None:
            return True
        before = self._topology.before[edge.source] | {edge.source}
        try:
            return bool(edge.condition.value(self._sight.names(Place(edge.source, path), before)))
        except Invalid as refusal:
            raise Invalid(f"{edge.name}: {refusal}") from None

    def _is_handled(self, place: Place) -> bool:
        """Whether the workflow says what follows a failure of that place."""
        for edge in self._topology.outgoing[place.node]:
            try:
                if edge.when is not When.SUCCESS and self._holds(edge, place.path):
                    return True
            except Invalid:
                return True  # Its target will say that the condition cannot be computed.
        return False

    def _begin(self, node: Node, place: Place) -> None:
        names = self._sight.names(place)
        match node.data:
            case Action(key=key) as action:
                given = _as_recorded("the input of an action", action.given(names))
                made = None if key is None else _key_of(key.value(names))
                self._step.ready.append(Ready(place, action, given, made))
            case GatewayIf(branches=branches, else_to=other):
                chosen = next((branch for branch in branches if branch.condition.value(names)), None)
                to, by = (other, "else") if chosen is None else (chosen.to, chosen.name)
                self._decide(place, _DONE._replace(output={"to": to, "branch": by}))
            case GatewaySwitch(selector=selector, cases=cases, default_to=other):
                value = selector.value(names)
                to = next((to for case, to in cases if _matches(value, case)), other)
                self._decide(place, _DONE._replace(output={"to": to, "value": value}))
            case Join(mode=mode):
                self._decide(place, self._joined(place, mode))
            case End(outputs=outputs):
                self._decide(place, _DONE._replace(output=outputs.value(names)))
            case LoopWhile():
                self._decide(place, NodeState(NodeStatus.RUNNING))
            case LoopForeach(source=source, max_iterations=most):
                self._decide(place, NodeState(NodeStatus.RUNNING, {"items": _items(source.value(names), most)}))
            case Parallel() | Trigger():
                self._decide(place, _DONE)

    def _joined(self, place: Place, mode: JoinMode) -> NodeState:
        edges = self._topology.incoming[place.node]
        arrived = [edge.source for edge in edges if self._way(edge, place.path) is _Way.TAKEN]
        found: dict[str, Any] = {}
        if mode is not JoinMode.ALL:
            # What of the branches is seen afterwards is what had arrived now.
            for source in arrived:
                found |= self._sight.variables(Place(source, place.path), self._topology.before[source] | {source})
        return NodeState(NodeStatus.DONE, {"arrived": arrived}, found)

    def _decide(self, place: Place, state: NodeState) -> None:
        try:
            json_text("an output", [state.output, state.vars])
        except Invalid as refusal:
            state = _failure(refusal)
        self.states[place] = state
        self._step.decided[place] = state

    def _go_round(self, place: Place, state: NodeState) -> None:
        data = self.workflow.nodes[place.node].data
        try:
            if isinstance(data, LoopWhile):
                self._go_round_while(place, data)
            elif isinstance(data, LoopForeach):
                self._go_round_each(place, data, state.output["items"])
        except Invalid as refusal:
            self._decide(place, _failure(refusal))

    def _go_round_while(self, place: Place, loop: LoopWhile) -> None:
        while True:
            index = self._over_to.get(place, 0)
            inner = (*place.path, index)
            if Place(loop.body_start, inner) not in self.states and not self._goes_on(place, loop, index):
                return
            self._look_at(place.node, inner, loop.body_start)
            if not self._scope_is_over(place.node, inner):
                return
            if (failed := self._failure_in(place.node, inner)) is not None:
                self._decide(place, self._failed_round(failed, index))
                return
            self._over_to[place] = index + 1

    def _goes_on(self, place: Place, loop: LoopWhile, index: int) -> bool:
        if not loop.condition.value(self._sight.names_of_while(place, loop.index_var, index)):
            self._decide(place, NodeState(NodeStatus.DONE, {"count": index}, self._sight.carried(place, index)))
            return False
        if index >= loop.max_iterations:
            raise Invalid(f"it went round {index:,} times and would go on: raise max_iterations, or mend its condition")
        return True

    def _go_round_each(self, place: Place, loop: LoopForeach, items: list[Any]) -> None:
        over_to, active = self._over_to.get(place, 0), 0
        for index in range(over_to, len(items)):
            inner = (*place.path, index)
            if active >= loop.max_concurrency and Place(loop.body_start, inner) not in self.states:
                break
            self._look_at(place.node, inner, loop.body_start)
            if not self._scope_is_over(place.node, inner):
                active += 1
            elif over_to == index:
                over_to += 1
        self._over_to[place] = over_to
        if over_to == len(items):
            self._decide(place, self._after_each(place, len(items)))

    def _after_each(self, place: Place, count: int) -> NodeState:
        scope = self._topology.scopes[place.node]
        results = []
        for index in range(count):
            inner = (*place.path, index)
            if (failed := self._failure_in(place.node, inner)) is not None:
                return self._failed_round(failed, index)
            results.append(self._sight.set_in(scope, inner))
        return _DONE._replace(output={"count": count, "results": results})

    def _failed_round(self, failed: Place, index: int) -> NodeState:
        state = self.states[failed]
        words = f"iteration {index}: {failed.node!r} failed: {state.error}"
        return NodeState(NodeStatus.ERROR, reason=state.reason, error=words)

    def _scope_is_over(self, loop: str | None, path: Path) -> bool:
        found = (self.states.get(Place(node, path)) for node in self._topology.scopes[loop])
        return all(state is not None and state.is_over for state in found)

    def _failure_in(self, loop: str | None, path: Path) -> Place | None:
        for node in self._topology.scopes[loop]:
            place = Place(node, path)
            if self.states[place].status is NodeStatus.ERROR and not self._is_handled(place):
                return place
        return None


def _as_recorded(what: str, value: Any) -> Any:
    """The value as it is found in the record, and nobody else's: a run that goes on from there sees the same."""
    text = json_text(what, value)
    return None if text is None else json.loads(text)


def _key_of(made: Any) -> str | None:
    """None: what came to nothing is no key, or all that came to nothing would be the same work."""
    return None if made is None else text_of("idempotency_key", text_of_value(made)) or None


def _needed(node: Node) -> int:
    return node.data.count if isinstance(node.data, Join) else 1


def _taken(is_taken: bool) -> _Way:
    return _Way.TAKEN if is_taken else _Way.DEAD


def _failure(refusal: Invalid) -> NodeState:
    return NodeState(NodeStatus.ERROR, reason=ErrorCode.INVALID_REQUEST, error=str(refusal))


def _matches(value: Any, case: Any) -> bool:
    """Also by its text: cases that are the keys of an object have nothing else."""
    is_same = value == case and isinstance(value, bool) == isinstance(case, bool)
    return is_same or (isinstance(case, str) and text_of_value(value) == case)


def _items(found: Any, most: int) -> list[Any]:
    if not isinstance(found, list):
        raise Invalid(f"a loop_foreach takes a list, got {type(found).__name__}: mend its source")
    if len(found) > most:
        raise Invalid(f"a loop_foreach takes at most {most:,} items, got {len(found):,}: raise max_iterations")
    return found
