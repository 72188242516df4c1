"""One delivery of one run, held with its LangGraph graph."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from foliot.domain.events import AssistantFinal, ErrorCode, Event, Final, UsageReport
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.questions import Question
from foliot.execution.context import Context, kept_as
from foliot.execution.executing import Request
from foliot.executors.checkpoints import Checkpoints
from foliot.executors.graph_failures import failed
from foliot.executors.graph_places import Graph, GraphPlace, checkpoint_of, place_of
from foliot.executors.graph_transcript import MODES, Ear, Transcript
from foliot.executors.graph_values import input_of, last_words, messages_in, result_of, shown
from foliot.executors.langgraph import RegisteredGraph, Thread

_APPROVAL = "approval"


@asynccontextmanager
async def kept(graph: Graph, checkpoints: Checkpoints) -> AsyncIterator[Graph]:
    """The graph with a checkpointer: its own, else one of ours."""
    if isinstance(graph.checkpointer, BaseCheckpointSaver):
        yield graph
        return
    async with checkpoints.saver() as saver:
        yield graph.copy(update={"checkpointer": saver})


async def held(graph: Graph, registered: RegisteredGraph, request: Request) -> AsyncGenerator[Event | Final]:
    """What the graph says, and last what it came to."""
    context = request.context
    ear = Ear()
    config = config_of(registered, context, ear)
    place = await place_of(graph, config, context.run_id, context.answer, input_of(graph, request.input))
    transcript = Transcript(ear, await _known(graph, config, context.run_id, place))
    if place.is_begun:
        for bill in transcript.recall(messages_in(place.snapshot.values)):
            yield bill
    snapshot = place.snapshot
    if place.goes_on:
        async with aclosing(_streamed(graph, place.given, config, transcript, request)) as streamed:
            async for event in streamed:
                yield event
                if isinstance(event, Final):
                    return
        snapshot = await graph.aget_state(config)
    if snapshot.tasks:
        yield Final(question=_question(registered, snapshot))
        return
    text = last_words(snapshot.values)
    if text:
        yield AssistantFinal(text)
    yield result_of(graph, snapshot.values)


def config_of(registered: RegisteredGraph, context: Context, ear: Ear) -> RunnableConfig:
    """What the graph's nodes, and whoever watches them, are told of the run."""
    config = RunnableConfig(
        configurable={
            "thread_id": thread_of(registered.thread, context),
            "run_id": context.run_id,
            "schedule": context.schedule,
            "scheduled_for": rfc3339(instant_of(context.scheduled_for, "scheduled_for")),
            "attempt": context.attempt,
            "idempotency_key": context.idempotency_key,
        },
        metadata={"run_id": context.run_id, "trace_id": context.trace_id},
        callbacks=[*registered.callbacks, ear],
        run_name=registered.target,
    )
    if registered.recursion_limit is not None:
        config["recursion_limit"] = registered.recursion_limit
    return config


def thread_of(thread: Thread, context: Context) -> str:
    """The name of the conversation that the run belongs to; what was asked for from outside always has its own.

    One that a schedule goes on with is its user's: whoever has a schedule of that name after them begins another.
    """
    if thread is Thread.SCHEDULE and context.schedule:
        # No schedule's id has a slash in it: nobody can be called so that it is another's.
        return f"{context.schedule}/{context.user}"
    return kept_as(context)


async def _known(graph: Graph, config: RunnableConfig, run_id: str, place: GraphPlace) -> list[BaseMessage]:
    """The messages that were in the thread before the run began."""
    if not place.is_begun:
        return list(messages_in(place.snapshot.values))
    wanted = {"run_id": run_id, "source": "input"}
    found = [first async for first in graph.aget_state_history(config, filter=wanted, limit=1)]
    return [message for first in found for message in messages_in(first.values)]


async def _streamed(
    graph: Graph, given: Any, config: RunnableConfig, transcript: Transcript, request: Request
) -> AsyncGenerator[Event | Final]:
    """The events of one call of the graph; a Final only when it has failed or must stop."""
    if (excess := _excess(request)) is not None:
        yield excess
        return
    call = graph.astream(given, config, stream_mode=list(MODES), subgraphs=True, durability="sync")
    failure: Final | None = None
    try:
        async with aclosing(cast("AsyncGenerator[Any]", call)) as streamed:
            async for _, mode, data in streamed:
                for event in transcript.heard(mode, data):
                    yield event
                if (failure := _excess(request)) is not None:
                    break
    except asyncio.CancelledError:
        for event in transcript.left():
            if isinstance(event, UsageReport):
                request.context.note_usage(event.usage)
        raise
    except Exception as error:
        failure = failed(error)
    for event in transcript.left():
        yield event
    if failure is not None:
        yield failure


def _excess(request: Request) -> Final | None:
    """The end of a run that has used more than it may."""
    exceeded = request.control.exceeded
    return None if exceeded is None else Final(ErrorCode.ABORTED, words=f"it has used {exceeded}")


def _question(registered: RegisteredGraph, snapshot: StateSnapshot) -> Question:
    """What the graph stopped for, as one question; where it stopped is kept with it."""
    asked = {interrupt.id: shown(interrupt.value) for interrupt in snapshot.interrupts}
    data: Any = asked
    if not asked:
        data = {"before": list(snapshot.next)}
    elif len(asked) == 1:
        (data,) = asked.values()
    kinds = {_kind_of(value) for value in asked.values()} or {_APPROVAL}
    question = registered.asks(kinds.pop() if len(kinds) == 1 else _APPROVAL, data)
    return question._replace(reference=json.dumps({"interrupts": sorted(asked), "checkpoint": checkpoint_of(snapshot)}))


def _kind_of(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) and kind else _APPROVAL
