"""What a LangGraph graph says is heard as events, and what it comes to is kept as JSON."""

import asyncio
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel

from foliot import Invalid, Unavailable
from foliot.domain.credits import Meter, Pricing, RunLimits, Usage
from foliot.domain.events import (
    DONE,
    AssistantFinal,
    ErrorCode,
    Failed,
    StatusNote,
    TextDelta,
    ToolCallResult,
    ToolCallStart,
    UsageReport,
)
from foliot.execution.executing import Request
from foliot.executors.langgraph import LangGraphExecutor
from foliot.ports import Control
from tests.execution.graphs import HELLO, Scripted, Stage, a_graph, a_line, a_request, a_talk, deliver


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'foliot.db'}"


def test_what_a_model_streams_is_heard_word_by_word_and_told_whole_at_the_end(url: str) -> None:
    told = Stage(url, a_talk(a_line("good morning to you"), streams=True)).run(HELLO)
    assert told.of(TextDelta) == [TextDelta("good "), TextDelta("morning "), TextDelta("to "), TextDelta("you")]
    assert told.events[-2:] == [AssistantFinal("good morning to you"), DONE]
    assert told.events.count(DONE) == 1


def test_what_a_model_says_at_once_is_one_piece(url: str) -> None:
    assert Stage(url, a_talk(a_line("good morning"))).run(HELLO).of(TextDelta) == [TextDelta("good morning")]


def test_the_result_is_the_state_with_messages_as_role_and_content(url: str) -> None:
    final = Stage(url, a_talk(a_line("good morning"))).run(HELLO).final
    assert json.loads(final.result or "") == {
        "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good morning"}]
    }
    assert (final.error, final.words, final.question) == (None, None, None)


@pytest.mark.parametrize("streams", [True, False])
def test_each_call_of_a_model_is_billed_once_by_the_id_of_its_message(url: str, streams: bool) -> None:
    told = Stage(url, a_talk(a_line("good morning", 12, id="msg-1"), streams=streams)).run(HELLO)
    if streams:
        assert [usage._replace(unit="") for usage in told.usages] == [Usage("", "foliot", "scripted-1", 12, None)]
    else:
        assert told.usages == [Usage("msg-1", "foliot", "scripted-1", 12, None)]


def test_a_call_whose_answer_is_not_kept_is_billed_too_and_so_is_a_message_that_no_model_of_ours_made(url: str) -> None:
    model = Scripted(lines=[a_line("a thought", 7, id="thought")])

    async def think(state: MessagesState) -> dict[str, Any]:
        await model.ainvoke("think")
        return {"messages": [a_line("by hand", 5, id="hand")]}

    told = Stage(url, a_graph(MessagesState, think=think)).run(HELLO)
    assert {(usage.unit, usage.tokens) for usage in told.usages} == {("thought", 7), ("hand", 5)}


def test_a_message_that_is_returned_again_and_again_is_told_and_billed_once(url: str) -> None:
    class Plain(TypedDict):
        messages: list[Any]

    def first(state: Plain) -> dict[str, Any]:
        return {"messages": [*state["messages"], a_line("once", 5, id="once")]}

    def second(state: Plain) -> dict[str, Any]:
        return {"messages": state["messages"]}

    told = Stage(url, a_graph(Plain, first=first, second=second, third=second)).run('{"messages": []}')
    assert (told.of(TextDelta), len(told.usages)) == ([TextDelta("once")], 1)


def test_tool_calls_and_their_results_are_heard_in_order(url: str) -> None:
    @tool
    def weather(town: str) -> str:
        """The weather there."""
        if town == "Atlantis":
            raise ValueError("no such town")
        return f"rain in {town}"

    calls = [
        {"id": "call-1", "name": "weather", "args": {"town": "Paris"}, "type": "tool_call"},
        {"id": "call-2", "name": "weather", "args": {"town": "Atlantis"}, "type": "tool_call"},
    ]
    model = Scripted(lines=[a_line("", tool_calls=calls), a_line("take an umbrella")])

    def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph: StateGraph[Any] = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_node("tools", ToolNode([weather], handle_tool_errors=True))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    told = Stage(url, graph).run(HELLO)
    heard = told.of(ToolCallStart, ToolCallResult, AssistantFinal)
    assert heard[:2] == [
        ToolCallStart("call-1", "weather", {"town": "Paris"}),
        ToolCallStart("call-2", "weather", {"town": "Atlantis"}),
    ]
    results = {event.call: event for event in heard if isinstance(event, ToolCallResult)}
    assert results["call-1"] == ToolCallResult("call-1", "rain in Paris")
    assert results["call-2"].is_error
    assert heard[-1] == AssistantFinal("take an umbrella")
    assert len(heard) == 5
    assert len(told.usages) == 2


def test_what_a_subgraph_says_is_heard_and_billed_once(url: str) -> None:
    inner = a_talk(a_line("from within", 5, id="inner"), streams=False).compile()
    told = Stage(url, a_graph(MessagesState, inner=inner)).run(HELLO)
    assert (told.of(TextDelta), len(told.usages)) == ([TextDelta("from within")], 1)


def test_what_a_node_writes_by_itself_is_a_note(url: str) -> None:
    def work(state: MessagesState) -> None:
        write = get_stream_writer()
        write("half way")
        write({"done": 3})

    told = Stage(url, a_graph(MessagesState, work=work)).run(HELLO)
    assert told.of(StatusNote) == [StatusNote("half way"), StatusNote('{"done": 3}')]


def test_what_json_cannot_say_is_left_out_of_the_result_and_named(url: str) -> None:
    @dataclass
    class Place:
        town: str

    class Model(BaseModel):
        place: Any

    class Everything(TypedDict):
        title: str
        model: Any
        handle: Any
        part: Any

    def work(state: Everything) -> dict[str, Any]:
        return {"model": Model(place=Place("Paris")), "part": {1}, "handle": Decimal(1)}

    final = Stage(url, a_graph(Everything, work=work)).run('{"title": "x"}').final
    assert json.loads(final.result or "") == {"title": "x", "model": {"place": {"town": "Paris"}}, "part": [1]}
    assert final.words == "not kept of the result: handle (JSON has no Decimal)"


def test_the_result_is_what_the_output_schema_says(url: str) -> None:
    class Whole(TypedDict):
        question: str
        answer: str

    class Out(TypedDict):
        answer: str

    graph: StateGraph[Any] = StateGraph(Whole, output_schema=Out)
    graph.add_node("work", lambda state: {"answer": state["question"].upper()})
    graph.add_edge(START, "work")
    assert Stage(url, graph).run('{"question": "why"}').final.result == '{"answer":"WHY"}'


def test_a_workflow_of_the_functional_api_is_a_graph_too(url: str) -> None:
    @entrypoint()
    async def double(number: int) -> int:
        return number * 2

    assert Stage(url, double).run("21").final.result == "42"


@pytest.mark.parametrize(
    ("input", "messages"),
    [
        ('"hello"', [("human", "hello")]),
        ('{"message": "hello"}', [("human", "hello")]),
        ('{"messages": [["user", "hello"]]}', [("human", "hello")]),
        (None, []),
    ],
)
def test_a_text_or_a_message_becomes_messages_where_the_graph_takes_those(
    url: str, input: str | None, messages: list[Any]
) -> None:
    given: list[Any] = []

    def look(state: MessagesState) -> None:
        given.extend((message.type, message.content) for message in state.get("messages", []))

    assert Stage(url, a_graph(MessagesState, look=look)).run(input).final.error is None
    assert given == messages


def test_a_message_beside_other_values_keeps_them(url: str) -> None:
    class Talk(TypedDict):
        messages: Annotated[list[BaseMessage], add_messages]
        town: str

    given: list[Any] = []

    def look(state: Talk) -> None:
        given.append((state["town"], state["messages"][0].content))

    Stage(url, a_graph(Talk, look=look)).run('{"message": "hello", "town": "Paris"}')
    assert given == [("Paris", "hello")]


def test_a_graph_without_messages_gets_its_input_as_it_is(url: str) -> None:
    class Mail(TypedDict):
        message: str

    given: list[Any] = []

    def look(state: Mail) -> None:
        given.append(state)

    Stage(url, a_graph(Mail, look=look)).run('{"message": "hello"}')
    assert given == [{"message": "hello"}]


@pytest.mark.parametrize("nothing", [None, "null"])
def test_a_graph_that_is_given_nothing_begins_with_an_empty_input(url: str, nothing: str | None) -> None:
    """To the library itself None is the wish to go on where it stopped."""
    final = Stage(url, a_talk(a_line("good morning"))).run(nothing).final
    assert (final.error, json.loads(final.result or "")["messages"][-1]["content"]) == (None, "good morning")


def test_nodes_are_told_which_run_this_is(url: str) -> None:
    told: list[dict[str, Any]] = []

    def look(state: MessagesState, config: RunnableConfig) -> None:
        told.append({**config["configurable"], **config["metadata"]})

    Stage(url, a_graph(MessagesState, look=look)).run(HELLO, attempt=2)
    assert (
        told[0]
        | {
            "thread_id": "digest:2026-11-15T12:00:00Z~2",
            "run_id": "digest:2026-11-15T12:00:00Z~2",
            "schedule": "digest",
            "scheduled_for": "2026-11-15T12:00:00Z",
            "attempt": 2,
            "idempotency_key": "digest:2026-11-15T12:00:00Z",
            "trace_id": a_request("langgraph:agent", attempt=2).context.trace_id,
        }
        == told[0]
    )


def test_callbacks_hear_the_run_with_its_id_and_trace(url: str) -> None:
    class Watcher(BaseCallbackHandler):
        def __init__(self) -> None:
            self.seen: dict[str, Any] = {}

        def on_chain_start(self, *args: Any, metadata: dict[str, Any] | None = None, **more: Any) -> None:
            self.seen.update(metadata or {})

    watcher = Watcher()
    Stage(url, a_talk(a_line("hi")), callbacks=[watcher]).run(HELLO)
    context = a_request("langgraph:agent").context
    assert (watcher.seen["run_id"], watcher.seen["trace_id"]) == (context.run_id, context.trace_id)


def raising(error: BaseException) -> StateGraph[Any]:
    def fail(state: MessagesState) -> None:
        raise error

    return a_graph(MessagesState, fail=fail)


class RateLimitError(Exception):
    """As the libraries of several providers name it."""


class StatusError(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(f"HTTP {status_code}")
        self.status_code = status_code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyError("x"), ErrorCode.INTERNAL),
        (TimeoutError(), ErrorCode.TIMEOUT),
        (RateLimitError("slow down"), ErrorCode.RATE_LIMIT),
        (StatusError(429), ErrorCode.RATE_LIMIT),
        (StatusError(503), ErrorCode.PROVIDER_UNAVAILABLE),
        (StatusError(404), ErrorCode.INTERNAL),
        (Unavailable("closed"), ErrorCode.PROVIDER_UNAVAILABLE),
        (Invalid("wrong"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_failure_is_told_then_done_and_says_what_it_means(url: str, error: Exception, code: ErrorCode) -> None:
    told = Stage(url, raising(error)).run(HELLO)
    assert told.events == [Failed(code), DONE]
    assert told.final.error is code
    assert f"{type(error).__name__}: {error}" in (told.final.words or "")


def test_an_error_that_was_wrapped_means_what_its_cause_means(url: str) -> None:
    def fail(state: MessagesState) -> None:
        try:
            raise RateLimitError("slow down")
        except RateLimitError as error:
            raise RuntimeError("the model failed") from error

    assert Stage(url, a_graph(MessagesState, fail=fail)).run(HELLO).final.error is ErrorCode.RATE_LIMIT


def test_a_graph_that_goes_in_circles_is_cut_off_at_its_recursion_limit(url: str) -> None:
    steps: list[int] = []
    graph = a_graph(MessagesState, step=lambda state: steps.append(1))
    graph.add_edge("step", "step")
    told = Stage(url, graph, recursion_limit=3).run(HELLO)
    assert told.final.error is ErrorCode.ABORTED
    assert "Recursion limit of 3" in (told.final.words or "")
    assert len(steps) == 3


def test_what_was_used_before_a_failure_is_billed(url: str) -> None:
    model = Scripted(lines=[a_line("a thought", 7, id="thought")])

    async def fail(state: MessagesState) -> None:
        await model.ainvoke("think")
        raise KeyError("x")

    told = Stage(url, a_graph(MessagesState, fail=fail)).run(HELLO)
    assert [usage.unit for usage in told.usages] == ["thought"]
    assert told.events[-2:] == [Failed(ErrorCode.INTERNAL), DONE]


def test_a_run_that_has_used_more_than_it_may_goes_no_further(url: str) -> None:
    steps: list[str] = []

    def spend(state: MessagesState) -> dict[str, Any]:
        steps.append("spend")
        return {"messages": [a_line("much", 500, id="much")]}

    def after(state: MessagesState) -> None:
        steps.append("after")

    async def main() -> Request:
        executor = LangGraphExecutor(url)
        executor.register("agent", a_graph(MessagesState, spend=spend, after=after))
        control = Control()
        control.meter = Meter(RunLimits(None, 100, None), Pricing())
        request = a_request("langgraph:agent", HELLO, control=control)
        async for event in executor.run(request).stream:
            if isinstance(event, UsageReport):
                request.context.note_usage(event.usage)
        return request

    assert asyncio.run(main()).control.exceeded is not None
    assert steps == ["spend"]


def test_an_execution_begins_when_it_is_listened_to(url: str) -> None:
    begun: list[int] = []

    async def main() -> list[int]:
        executor = LangGraphExecutor(url)
        executor.register("agent", a_graph(MessagesState, work=lambda state: begun.append(1)))
        execution = executor.run(a_request("langgraph:agent", HELLO))
        await asyncio.sleep(0)
        before = list(begun)
        async for _ in execution.stream:
            pass
        return before

    assert asyncio.run(main()) == []
    assert begun == [1]


def test_a_run_that_is_cancelled_stops_where_it_waits_and_owes_what_it_used(url: str) -> None:
    model = Scripted(lines=[a_line("a thought", 7, id="thought")])
    seen: list[str] = []

    async def main() -> Request:
        waits = asyncio.Event()

        async def work(state: MessagesState) -> None:
            await model.ainvoke("think")
            waits.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        executor = LangGraphExecutor(url)
        executor.register("agent", a_graph(MessagesState, work=work))
        request = a_request("langgraph:agent", HELLO)

        async def listen() -> None:
            async for event in executor.run(request).stream:
                if isinstance(event, UsageReport):
                    request.context.note_usage(event.usage)

        task = asyncio.get_running_loop().create_task(listen())
        await waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return request

    request = asyncio.run(main())
    assert seen == ["cancelled"]
    assert [usage.unit for usage in request.control.usages or ()] == ["thought"]


def test_many_runs_at_once_share_what_they_need_and_leave_nothing_open(url: str) -> None:
    def work(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", "done")]}

    stage = Stage(url, a_graph(MessagesState, work=work))
    minute = 60_000_000
    requests = [lambda n=n: a_request("langgraph:agent", HELLO, nominal_at=(n + 1) * minute) for n in range(20)]
    assert [told.final.error for told in stage.all(requests)] == [None] * 20


def test_a_target_that_is_not_registered_is_not_found(url: str) -> None:
    told = asyncio.run(deliver(LangGraphExecutor(url), a_request("langgraph:nobody")))
    assert told.events == [Failed(ErrorCode.NOT_FOUND), DONE]
