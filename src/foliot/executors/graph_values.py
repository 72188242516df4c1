"""The state of a LangGraph graph as JSON, and JSON as its input."""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any
from uuid import UUID

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel

from foliot.domain.events import Final
from foliot.execution.executing import success_of
from foliot.executors.graph_places import Graph

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def input_of(graph: Graph, text: str | None) -> Any:
    """A run's input as the graph's: as it is, but a message becomes `messages` where the graph takes those."""
    given = None if text is None else json.loads(text)
    # To a graph None is no input, but the wish to go on where it stopped.
    given = {} if given is None else given
    said = given if isinstance(given, str) else given.get("message") if isinstance(given, dict) else None
    if not isinstance(said, str):
        return given
    taken = _names_taken(graph)
    if "messages" not in taken or "message" in taken:
        return given
    others = {key: value for key, value in given.items() if key != "message"} if isinstance(given, dict) else {}
    return {**others, "messages": [*others.get("messages", ()), ("user", said)]}


def _names_taken(graph: Graph) -> Collection[str]:
    """The names of the graph's input schema; its own JSON schema is not to be had for every type."""
    if isinstance(graph, CompiledStateGraph):
        return graph.builder.schemas[graph.builder.input_schema]
    return () if isinstance(graph.input_channels, str) else graph.input_channels


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """The messages that a state, or an update of it, holds."""
    if isinstance(value, BaseMessage):
        yield value
        return
    for part in value if isinstance(value, list | tuple) else _parts(value).values():
        if isinstance(part, BaseMessage):
            yield part
        elif isinstance(part, list | tuple):
            yield from (item for item in part if isinstance(item, BaseMessage))


def last_words(value: Any) -> str | None:
    """The text of the last message that the model wrote."""
    texts = [message.text for message in messages_in(value) if isinstance(message, AIMessage)]
    return next((text for text in reversed(texts) if text), None)


def result_of(graph: Graph, state: Any) -> Final:
    """The graph's output as JSON; what JSON cannot say is left out, and named."""
    channels = graph.output_channels
    if isinstance(channels, str):
        return _plainly(state)
    kept, lost = {}, []
    for name, value in _parts(state).items():
        if name not in channels:
            continue
        try:
            kept[name] = plain(value)
        except TypeError as error:
            lost.append(f"{name} ({error})")
    final = success_of(kept)
    return final._replace(words=f"not kept of the result: {', '.join(lost)}") if lost and not final.words else final


def _plainly(value: Any) -> Final:
    try:
        return success_of(plain(value))
    except TypeError as error:
        return Final(words=f"the result was not kept: {error}")


def plain(value: Any) -> Any:
    """The value as JSON has it, a message as its role and content; TypeError when it cannot be said so."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, BaseMessage):
        return {"role": _ROLES.get(value.type, value.type), "content": plain(value.content)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Mapping | BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return {_key(key): plain(item) for key, item in _parts(value).items()}
    return _single(value)


def _single(value: Any) -> Any:
    match value:
        case float() if math.isfinite(value):
            return value
        case datetime() | date() | time():
            return value.isoformat()
        case UUID():
            return str(value)
        case Enum():
            return plain(value.value)
    raise TypeError(f"JSON has no {value if isinstance(value, float) else type(value).__name__}")


def shown(value: Any) -> Any:
    """The value for a person to judge: what JSON cannot say, as Python writes it."""
    try:
        return plain(value)
    except (TypeError, RecursionError):
        return repr(value)


def _key(key: Any) -> str:
    if not isinstance(key, str | int):
        raise TypeError(f"JSON has no key {key!r}")
    return str(key)


def _parts(state: Any) -> Mapping[str, Any]:
    """The values of a state by name, however its schema is written."""
    if isinstance(state, Mapping):
        return state
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state) and not isinstance(state, type):
        return {field.name: getattr(state, field.name) for field in fields(state)}
    return {}
