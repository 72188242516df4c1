"""Nodes: what a workflow is made of, each read from its JSON and checked by itself."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from foliot.domain.expressions import Expression, Names
from foliot.domain.reader import Reader, variable_of
from foliot.domain.registration import read_timing
from foliot.domain.templates import Template

_DAY = 86_400_000
_URL = re.compile(r"https?://[^/?#\s]", re.ASCII | re.IGNORECASE)


class TriggerKind(StrEnum):
    SCHEDULE_BASED = "schedule_based"
    MANUAL = "manual"


class JoinMode(StrEnum):
    ALL = "all"
    """When every branch that can still arrive has."""
    ANY = "any"
    QUORUM = "quorum"


class Backoff(StrEnum):
    LINEAR = "linear"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True, slots=True)
class NodeRetry:
    """How often a failed action is tried again, and after how long."""

    retries: int = 1
    backoff: Backoff = Backoff.LINEAR
    delay_ms: int = 1000
    factor: float = 2.0

    def wait_after(self, attempt: int) -> float:
        """Seconds from the end of that attempt to the next."""
        grown = attempt if self.backoff is Backoff.LINEAR else self.factor ** min(attempt - 1, 64)
        return min(self.delay_ms * grown, _DAY) / 1000


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for every action that does not say otherwise."""

    retry: NodeRetry = NodeRetry()
    timeout_ms: int = 45_000
    max_parallelism: int = 5


@dataclass(frozen=True, slots=True)
class Trigger:
    kind: TriggerKind
    schedule: Mapping[str, Any] | None = None
    """The options of the schedule that fires it."""


@dataclass(frozen=True, slots=True)
class HttpCall:
    url: Template
    method: str
    headers: Template
    body: Template


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is done outside: a registered function, or a call over HTTP."""

    does: str | HttpCall
    input: Template
    output_vars: tuple[tuple[str, Expression], ...]
    retry: NodeRetry
    timeout_ms: int
    key: Template | None
    """Makes its idempotency key; None: derived from the slot, the place and the input."""
    cache_ms: int

    def given(self, names: Names) -> Any:
        """What it is called with."""
        given = self.input.value(names)
        if isinstance(self.does, str):
            return given
        body = self.does.body.value(names)
        return {
            "method": self.does.method,
            "url": self.does.url.value(names),
            "headers": self.does.headers.value(names),
            "body": given if body is None else body,
        }


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    condition: Expression
    to: str


@dataclass(frozen=True, slots=True)
class GatewayIf:
    branches: tuple[Branch, ...]
    else_to: str | None


@dataclass(frozen=True, slots=True)
class GatewaySwitch:
    selector: Expression
    cases: tuple[tuple[Any, str], ...]
    default_to: str | None


@dataclass(frozen=True, slots=True)
class Parallel:
    """All that follows it begins at once."""


@dataclass(frozen=True, slots=True)
class Join:
    mode: JoinMode
    count: int


@dataclass(frozen=True, slots=True)
class LoopWhile:
    condition: Expression
    body_start: str
    max_iterations: int
    index_var: str


@dataclass(frozen=True, slots=True)
class LoopForeach:
    source: Expression
    item_var: str
    index_var: str
    body_start: str
    max_concurrency: int
    max_iterations: int


@dataclass(frozen=True, slots=True)
class End:
    outputs: Template


Data = Trigger | Action | GatewayIf | GatewaySwitch | Parallel | Join | LoopWhile | LoopForeach | End
Loop = LoopWhile | LoopForeach


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    data: Data

    @property
    def choices(self) -> tuple[str, ...]:
        """Where a gateway may lead, each node once."""
        match self.data:
            case GatewayIf(branches=branches, else_to=other):
                targets = [branch.to for branch in branches]
            case GatewaySwitch(cases=cases, default_to=other):
                targets = [to for _, to in cases]
            case _:
                return ()
        return tuple(dict.fromkeys([*targets, *([] if other is None else [other])]))


def read_defaults(given: Any) -> Defaults:
    """The `globals` of a workflow; `values` in it are for expressions alone."""
    reader = Reader("globals", {} if given is None else given)
    if "rate_limit" in reader.given:
        reader.refuse(
            "takes no rate_limit, which nobody here would keep to: max_parallelism bounds what is done at once"
        )
    reader.only("retry", "timeout_ms", "max_parallelism", "values")
    base = Defaults()
    return Defaults(
        retry=_retry(reader, base.retry),
        timeout_ms=reader.whole("timeout_ms", 1, _DAY, base.timeout_ms),
        max_parallelism=reader.whole("max_parallelism", 1, 100, base.max_parallelism),
    )


def read_node(given: Any, number: int, defaults: Defaults) -> Node:
    outer = Reader(f"nodes[{number}]", given)
    node_id = outer.name("id")
    outer.what = f"node {node_id!r}"
    outer.only("id", "type", "data", "label", "position", "ui", "metadata")
    kind = outer.given.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        outer.refuse(f"takes type of {', '.join(map(repr, _KINDS))}, got {kind!r:.80}")
    reader = Reader(outer.what, outer.given.get("data") or {})
    return Node(node_id, _KINDS[kind](reader, defaults))


def _trigger(reader: Reader, _: Defaults) -> Trigger:
    reader.only("kind", "schedule")
    kind = reader.word("kind", TriggerKind)
    if kind is TriggerKind.MANUAL:
        return Trigger(kind)
    return Trigger(kind, read_timing(Reader(f"{reader.what}: schedule", reader.given.get("schedule"))))


def _action(reader: Reader, defaults: Defaults) -> Action:
    known = ("action", "http", "input_template", "output_vars", "retry", "timeout_ms", "idempotency_key", "cache_ms")
    reader.only(*known)
    if ("action" in reader.given) == ("http" in reader.given):
        reader.refuse("takes either action, the name of a registered one, or http")
    sets = reader.given.get("output_vars") or {}
    if not isinstance(sets, dict):
        reader.refuse(f"takes output_vars such as {{'total': 'output.sum'}}, got {sets!r:.80}")
    paths = Reader(f"{reader.what}: output_vars", sets)
    return Action(
        does=_http(reader) if "http" in reader.given else reader.name("action"),
        input=reader.template("input_template"),
        output_vars=tuple((variable_of(name, paths.what), paths.expression(name)) for name in sets),
        retry=_retry(reader, defaults.retry),
        timeout_ms=reader.whole("timeout_ms", 1, _DAY, defaults.timeout_ms),
        key=None if reader.given.get("idempotency_key") is None else reader.template("idempotency_key"),
        cache_ms=reader.whole("cache_ms", 0, 366 * _DAY, _DAY),
    )


def _http(reader: Reader) -> HttpCall:
    inner = Reader(f"{reader.what}: http", reader.given["http"])
    inner.only("url", "method", "headers", "body_template")
    method = inner.given.get("method", "POST")
    if method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        inner.refuse(f"takes method of GET, POST, PUT, PATCH, DELETE, got {method!r:.80}")
    url = inner.given.get("url")
    if not isinstance(url, str) or not ("{{" in url or _URL.match(url)):
        inner.refuse(f"takes url such as 'https://example.com/hook', got {url!r:.80}")
    headers = inner.given.get("headers") or {}
    if not isinstance(headers, dict) or not all(isinstance(text, str) for text in headers.values()):
        inner.refuse(f"takes headers, texts by name, got {headers!r:.80}")
    return HttpCall(inner.template("url"), method, inner.template("headers", {}), inner.template("body_template"))


def _retry(reader: Reader, base: NodeRetry) -> NodeRetry:
    """Both shapes that there are: {retries, backoff, delay_ms}, {max_attempts, backoff_multiplier, initial_delay_ms}"""
    if reader.given.get("retry") is None:
        return base
    inner = Reader(f"{reader.what}: retry", reader.given["retry"])
    if {"max_attempts", "backoff_multiplier", "initial_delay_ms"} & set(inner.given):
        inner.only("max_attempts", "backoff_multiplier", "initial_delay_ms")
        factor = inner.given.get("backoff_multiplier", 2)
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor <= 10:
            inner.refuse(f"takes backoff_multiplier from 1 to 10, got {factor!r:.80}")
        attempts = inner.whole("max_attempts", 1, 101, base.retries + 1)
        delay = inner.whole("initial_delay_ms", 0, _DAY, base.delay_ms)
        return NodeRetry(attempts - 1, Backoff.EXPONENTIAL, delay, float(factor))
    inner.only("retries", "backoff", "delay_ms")
    return NodeRetry(
        inner.whole("retries", 0, 100, base.retries),
        inner.word("backoff", Backoff, base.backoff),
        inner.whole("delay_ms", 0, _DAY, base.delay_ms),
    )


def _gateway_if(reader: Reader, _: Defaults) -> GatewayIf:
    reader.only("branches", "else_to")
    branches = []
    for number, branch in enumerate(reader.objects("branches"), 1):
        branch.only("name", "expr", "to")
        name = str(branch.given.get("name") or number)
        branches.append(Branch(name, branch.expression("expr"), branch.name("to")))
    return GatewayIf(tuple(branches), reader.optional_name("else_to"))


def _gateway_switch(reader: Reader, _: Defaults) -> GatewaySwitch:
    """Cases are a list of {value, to}, or an object of targets by value."""
    reader.only("selector", "cases", "default_to")
    given = reader.given.get("cases")
    if isinstance(given, dict):
        given = [{"value": value, "to": to} for value, to in given.items()]
    listed = Reader(reader.what, {"cases": given}).objects("cases")
    for case in listed:
        case.only("value", "to")
        if isinstance(case.given.get("value"), dict | list):
            case.refuse("takes a value that is text, a number, true, false or null")
    cases = tuple((case.given.get("value"), case.name("to")) for case in listed)
    values = [value for value, _ in cases]
    for number, value in enumerate(values):
        if any(value == other and isinstance(value, bool) == isinstance(other, bool) for other in values[:number]):
            listed[number].refuse(f"takes a value of its own, got {value!r:.80} a second time: leave out one of them")
    return GatewaySwitch(reader.expression("selector"), cases, reader.optional_name("default_to"))


def _parallel(reader: Reader, _: Defaults) -> Parallel:
    reader.only()
    return Parallel()


def _join(reader: Reader, _: Defaults) -> Join:
    reader.only("mode", "count")
    mode = reader.word("mode", JoinMode, JoinMode.ALL)
    return Join(mode, reader.whole("count", 1, 1000, 2) if mode is JoinMode.QUORUM else 1)


def _loop_while(reader: Reader, _: Defaults) -> LoopWhile:
    reader.only("condition", "body_start", "max_iterations", "index_var")
    most = reader.whole("max_iterations", 1, 10_000, 1000)
    index = reader.variable("index_var", "index")
    return LoopWhile(reader.expression("condition"), reader.name("body_start"), most, index)


def _loop_foreach(reader: Reader, _: Defaults) -> LoopForeach:
    reader.only("source", "item_var", "index_var", "body_start", "max_concurrency", "max_iterations")
    return LoopForeach(
        source=reader.expression("source"),
        item_var=reader.variable("item_var", "item"),
        index_var=reader.variable("index_var", "index"),
        body_start=reader.name("body_start"),
        max_concurrency=reader.whole("max_concurrency", 1, 100, 5),
        max_iterations=reader.whole("max_iterations", 1, 10_000, 1000),
    )


def _end(reader: Reader, _: Defaults) -> End:
    reader.only("outputs")
    outputs = reader.given.get("outputs")
    if outputs is not None and not isinstance(outputs, dict):
        reader.refuse(f"takes outputs, an object of templates, got {outputs!r:.80}")
    return End(reader.template("outputs", {}))


_KINDS: dict[str, Callable[[Reader, Defaults], Data]] = {
    "trigger": _trigger,
    "action": _action,
    "gateway_if": _gateway_if,
    "gateway_switch": _gateway_switch,
    "parallel": _parallel,
    "join": _join,
    "loop_while": _loop_while,
    "loop_foreach": _loop_foreach,
    "end": _end,
}
