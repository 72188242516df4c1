"""Sight: what expressions may name, seen from a place in a workflow's run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foliot.domain.node_states import NodeState, NodeStatus, Path, Place
from foliot.domain.nodes import LoopForeach, LoopWhile
from foliot.domain.workflows import Workflow

States = Mapping[Place, NodeState]


class Sight:
    """Names and their values, from the records of a run.

    A place sees only what has surely ended before it begins, so that it sees the same whenever it looks.
    """

    def __init__(self, workflow: Workflow, states: States, fixed: Mapping[str, Any]) -> None:
        self._nodes = workflow.nodes
        self._topology = workflow.topology
        self._states = states
        self._fixed = fixed
        self._carried: dict[Place, tuple[int, dict[str, Any]]] = {}
        """By while: the variables that so many of its iterations have set."""

    def names(self, place: Place, before: frozenset[str] | None = None) -> dict[str, Any]:
        """What expressions at that place may name; `before` are the nodes that they may look at."""
        before = self._topology.before[place.node] if before is None else before
        seen = {node: Place(node, place.path[: len(self.loops_around(node))]) for node in before}
        names = {**self._fixed, "vars": self.variables(place, before), "nodes": _Nodes(self._states, seen)}
        for depth, loop in enumerate(self.loops_around(place.node)):
            data, index = self._nodes[loop].data, place.path[depth]
            if isinstance(data, LoopForeach):
                names[data.item_var] = self._states[Place(loop, place.path[:depth])].output["items"][index]
            if isinstance(data, LoopForeach | LoopWhile):
                names[data.index_var] = index
        return names

    def names_of_while(self, place: Place, index_var: str, index: int) -> dict[str, Any]:
        """What the condition of a while may name before that iteration: also what the last one has come to."""
        last = {node: Place(node, (*place.path, index - 1)) for node in self._topology.scopes[place.node]}
        names = self.names(place)
        variables = {**names["vars"], **self.carried(place, index)}
        return names | {"vars": variables, "nodes": names["nodes"].and_also(last), index_var: index}

    def variables(self, place: Place, before: frozenset[str]) -> dict[str, Any]:
        """Variables as they are seen from a place: of what comes before it, later nodes overrule earlier ones."""
        found: dict[str, Any] = {}
        for depth, loop in enumerate((None, *self.loops_around(place.node))):
            path = place.path[:depth]
            if loop is not None and isinstance(self._nodes[loop].data, LoopWhile):
                found |= self.carried(Place(loop, path[:-1]), path[-1])
            found |= self.set_in([node for node in self._topology.scopes[loop] if node in before], path)
        return found

    def carried(self, loop: Place, index: int) -> dict[str, Any]:
        """The variables that the first so many iterations of a while have set."""
        known, found = self._carried.get(loop, (0, {}))
        for earlier in range(known, index):
            found = found | self.set_in(self._topology.scopes[loop.node], (*loop.path, earlier))
        self._carried[loop] = (index, found)
        return dict(found)

    def set_in(self, nodes: Sequence[str], path: Path) -> dict[str, Any]:
        """The variables that these nodes have set in that iteration."""
        found: dict[str, Any] = {}
        for node in nodes:
            state = self._states.get(Place(node, path))
            if state is not None:
                found |= state.vars
        return found

    def loops_around(self, node: str) -> tuple[str, ...]:
        """The outermost first."""
        loop = self._topology.loop_of[node]
        return () if loop is None else (*self.loops_around(loop), loop)


class _Nodes(Mapping[str, Any]):
    """The nodes that an expression may look at, each as {status, output, error}."""

    def __init__(self, states: States, places: Mapping[str, Place]) -> None:
        self._states = states
        self._places = places

    def and_also(self, places: Mapping[str, Place]) -> "_Nodes":
        return _Nodes(self._states, {**self._places, **places})

    def __getitem__(self, node: str) -> Any:
        state = self._states.get(self._places[node], NodeState(NodeStatus.PENDING))
        return {"status": str(state.status), "output": state.output, "error": state.error}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
