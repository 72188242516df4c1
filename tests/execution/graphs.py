"""LangGraph graphs to try the executor with, a model that says what it is told to, and deliveries of runs."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import START, MessagesState, StateGraph

from foliot.domain.credits import Usage
from foliot.domain.events import Event, Final, UsageReport
from foliot.domain.questions import Answer, Verdict
from foliot.domain.runs import Kind
from foliot.execution.context import Context
from foliot.execution.executing import Request
from foliot.executors.langgraph import LangGraphExecutor
from foliot.ports import Control, Outside
from tests.builders import NOON, a_launch

HELLO = '{"messages": [{"role": "user", "content": "hello"}]}'


class Scripted(BaseChatModel):
    """A model that says its lines one after the other, whatever it is asked."""

    lines: list[AIMessage]
    streams: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.lines.pop(0))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        line = self.lines.pop(0)
        *words, last = str(line.content).split(" ")
        for word in words:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content=last, usage_metadata=line.usage_metadata, response_metadata=line.response_metadata, id=line.id
            )
        )

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        return self.streams


def a_line(text: str, tokens: int = 10, **more: Any) -> AIMessage:
    """What a model says, and what it took."""
    usage = {"input_tokens": tokens - 1, "output_tokens": 1, "total_tokens": tokens}
    return AIMessage(text, usage_metadata=usage, response_metadata={"model_name": "scripted-1"}, **more)


def a_talk(*lines: AIMessage, streams: bool = False) -> StateGraph[Any]:
    """A graph whose one node lets the model say a line."""
    model = Scripted(lines=list(lines), streams=streams)

    async def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return a_graph(MessagesState, say=say)


def a_graph(schema: Any, **nodes: Any) -> StateGraph[Any]:
    """The nodes one after the other."""
    graph: StateGraph[Any] = StateGraph(schema)
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    return graph


class Delivered(NamedTuple):
    """What one delivery of a run said and came to."""

    events: list[Event]
    final: Final

    def of(self, *kinds: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def usages(self) -> list[Usage]:
        return [event.usage for event in self.events if isinstance(event, UsageReport)]


def a_request(
    target: str,
    input: str | None = None,
    *,
    nominal_at: int = NOON,
    attempt: int = 1,
    answer: Answer | None = None,
    control: Control | None = None,
    outside: Outside | None = None,
) -> Request:
    given: dict[str, Any] = {"nominal_at": nominal_at, "due_at": nominal_at, "attempt": attempt, "answer": answer}
    if outside is not None:
        given |= {"schedule_id": "", "kind": Kind.MANUAL, "outside": outside}
    launch = a_launch(target, input=input, **given)
    control = control or Control()
    return Request(target, input, Context(launch, control), control)


async def deliver(executor: LangGraphExecutor, request: Request) -> Delivered:
    execution = executor.run(request)
    events = [event async for event in execution.stream]
    return Delivered(events, await execution.final)


def answered(final: Final, verdict: Verdict = Verdict.APPROVE, feedback: str | None = None, by: str = "ann") -> Answer:
    """The answer to what a run has asked."""
    assert final.question is not None
    return Answer(verdict, feedback, by, final.question.reference)


class Stage:
    """An executor on a database, with one graph; each delivery has a loop of its own, as each process has."""

    def __init__(self, url: str, graph: Any, **options: Any) -> None:
        self.url = url
        self.graph = graph
        self.options = options

    def executor(self) -> LangGraphExecutor:
        executor = LangGraphExecutor(self.url)
        executor.register("agent", self.graph, **self.options)
        return executor

    def run(self, input: str | None = None, **request: Any) -> Delivered:
        return asyncio.run(deliver(self.executor(), a_request("langgraph:agent", input, **request)))

    def all(self, requests: Sequence[Callable[[], Request]]) -> list[Delivered]:
        """All at once, by one executor."""

        async def work() -> list[Delivered]:
            executor = self.executor()
            return await asyncio.gather(*(deliver(executor, request()) for request in requests))

        return asyncio.run(work())
