"""What a LangGraph graph says while it runs, as events: each message, tool call and billable call once."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.types import Command, StreamMode

from foliot.domain.credits import usage_of
from foliot.domain.errors import Invalid
from foliot.domain.events import Event, StatusNote, TextDelta, ToolCallResult, ToolCallStart, UsageReport
from foliot.executors.graph_values import messages_in, shown

MODES: Sequence[StreamMode] = ("messages", "updates", "custom")


class Ear(BaseCallbackHandler):
    """Hears of every call of a model, also of those whose answer never becomes part of the state."""

    run_inline = True

    def __init__(self) -> None:
        self.heard: deque[AIMessage] = deque()

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        for generations in response.generations:
            for generation in generations:
                if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
                    self.heard.append(generation.message)


class Transcript:
    """Turns what is streamed into events; the stream repeats itself, the transcript does not."""

    def __init__(self, ear: Ear, known: Iterable[BaseMessage]) -> None:
        self._ear = ear
        self._said = {message.id for message in known}
        """Messages whose text is told, or is older than the run."""
        self._billed = set(self._said)
        self._calls: set[str] = set()
        self._results: set[str] = set()

    def recall(self, messages: Iterable[BaseMessage]) -> Iterator[Event]:
        """What an earlier delivery has said is not said again; that it was paid for is not known, so it is billed."""
        for message in messages:
            if isinstance(message, AIMessage):
                yield from self._bill(message, "recalled")
                self._calls.update(call["id"] or "" for call in message.tool_calls)
            elif isinstance(message, ToolMessage):
                self._results.add(message.tool_call_id)
            self._said.add(message.id)

    def heard(self, mode: str, data: Any) -> Iterator[Event]:
        yield from self.left()
        match mode:
            case "custom":
                said = shown(data)
                yield StatusNote(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
            case "messages":
                message, metadata = data
                place = f"{metadata.get('langgraph_node')}/{metadata.get('langgraph_step')}"
                yield from self._chunk(message) if isinstance(message, AIMessageChunk) else self._whole(message, place)
            case "updates":
                for node, update in data.items():
                    for number, message in enumerate(_messages_of(update)):
                        yield from self._whole(message, f"{node}/{number}")

    def left(self) -> Iterator[Event]:
        """The bills of calls that have ended since."""
        while self._ear.heard:
            yield from self._bill(self._ear.heard.popleft(), "call")

    def _chunk(self, chunk: AIMessageChunk) -> Iterator[Event]:
        self._said.add(chunk.id)
        if chunk.text:
            yield TextDelta(chunk.text)

    def _whole(self, message: BaseMessage, place: str) -> Iterator[Event]:
        if isinstance(message, ToolMessage) and message.tool_call_id not in self._results:
            self._results.add(message.tool_call_id)
            yield ToolCallResult(message.tool_call_id, shown(message.content), message.status == "error")
        if not isinstance(message, AIMessage):
            return
        yield from self._bill(message, place)
        if message.id not in self._said:
            self._said.add(message.id)
            if message.text:
                yield TextDelta(message.text)
        for call in message.tool_calls:
            if (call["id"] or "") not in self._calls:
                self._calls.add(call["id"] or "")
                yield ToolCallStart(call["id"] or "", call["name"], shown(call["args"]))

    def _bill(self, message: AIMessage, place: str) -> Iterator[Event]:
        used = message.usage_metadata
        unit = message.id or place
        if not used or unit in self._billed:
            return
        self._billed.add(unit)
        about = message.response_metadata
        model = about.get("model_name") or about.get("model")
        try:
            usage = usage_of(unit, model=model, tokens=used["total_tokens"])
        except Invalid:  # A name or a number that nobody could charge by: the call was made all the same.
            usage = usage_of(place, model=model if isinstance(model, str) else None)
        yield UsageReport(usage)


def _messages_of(update: Any) -> Iterator[BaseMessage]:
    """The messages in what a node returned."""
    for part in update if isinstance(update, list | tuple) else [update]:
        yield from messages_in(part.update if isinstance(part, Command) else part)
