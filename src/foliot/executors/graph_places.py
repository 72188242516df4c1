"""Where a run finds its thread: not begun, cut off, waiting for an answer, answered, or at its end."""

import json
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from foliot.domain.questions import Answer

Graph = Pregel[Any, Any, Any, Any]


class GraphPlace(NamedTuple):
    """What the thread holds, and what is to be done."""

    snapshot: StateSnapshot
    is_begun: bool
    """Whether an earlier delivery of this run has left a checkpoint."""
    goes_on: bool
    """Whether the graph is to be called; else the run has ended, or has asked, and only nobody was told."""
    given: Any = None
    """What it is called with; None lets it go on from its checkpoint."""


async def place_of(graph: Graph, config: RunnableConfig, run_id: str, answer: Answer | None, given: Any) -> GraphPlace:
    """Where the run stands; `given` is its input, if it has not begun."""
    snapshot = await graph.aget_state(config)
    if (snapshot.metadata or {}).get("run_id") != run_id:
        return GraphPlace(snapshot, is_begun=False, goes_on=True, given=given)
    if not snapshot.tasks:
        return GraphPlace(snapshot, is_begun=True, goes_on=False)
    asked = {} if answer is None else json.loads(answer.reference or "{}")
    open_ids = {interrupt.id for interrupt in snapshot.interrupts}
    answered = open_ids.intersection(asked.get("interrupts", ()))
    if answer is not None and answered:
        resume = dict.fromkeys(sorted(answered), reply_of(answer))
        return GraphPlace(snapshot, is_begun=True, goes_on=True, given=Command(resume=resume))
    if open_ids:
        waiting = sum(1 for task in snapshot.tasks if task.interrupts)
        return GraphPlace(snapshot, is_begun=True, goes_on=waiting < len(snapshot.next))
    is_let_pass = asked.get("checkpoint") == checkpoint_of(snapshot)
    return GraphPlace(snapshot, is_begun=True, goes_on=is_let_pass or not await _is_at_breakpoint(graph, snapshot))


def reply_of(answer: Answer) -> dict[str, Any]:
    """What `interrupt()` returns to the graph."""
    feedback = None if answer.feedback is None else json.loads(answer.feedback)
    return {"verdict": str(answer.verdict), "feedback": feedback, "by": answer.by}


def checkpoint_of(snapshot: StateSnapshot) -> Any:
    return snapshot.config.get("configurable", {}).get("checkpoint_id")


async def _is_at_breakpoint(graph: Graph, snapshot: StateSnapshot) -> bool:
    """Whether the graph was compiled to stop here: called once more, it would take that for leave to go on."""
    if _names(graph.interrupt_before_nodes, snapshot.next):
        return True
    if not graph.interrupt_after_nodes or snapshot.parent_config is None:
        return False
    before = await graph.aget_state(snapshot.parent_config)
    return _names(graph.interrupt_after_nodes, tuple(task.name for task in before.tasks))


def _names(breakpoints: Any, nodes: tuple[str, ...]) -> bool:
    return bool(nodes) and (breakpoints == "*" or not set(breakpoints).isdisjoint(nodes))
