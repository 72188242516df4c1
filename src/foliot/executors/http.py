"""`http:name`: endpoints that a program has registered, each run a signed POST."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple, Protocol

from foliot.clock import SystemClock
from foliot.domain.addresses import Network
from foliot.domain.credits import Usage
from foliot.domain.errors import Invalid, NotFound, Refusal
from foliot.domain.events import DONE, SUCCEEDED, Event, Failed, Final, UsageReport
from foliot.domain.instants import MICROSECONDS
from foliot.domain.questions import CALLBACK, AtExpiry, Question
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import json_text
from foliot.domain.signing import token_digest
from foliot.execution.context import Context
from foliot.execution.executing import Execution, Request
from foliot.executors.answers import Judged, backoff, judge, judge_failure, quote
from foliot.executors.endpoints import Endpoint
from foliot.executors.messages import body_of, headers_for, signed
from foliot.ports import Clock, Transaction

if TYPE_CHECKING:
    from foliot.executors.outbound import HttpAnswer

_AT_ONCE = 256
_ACCEPTED = 202
_HIDDEN = b"***"


class Outbound(Protocol):
    """Who makes the calls."""

    async def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> "HttpAnswer":
        """The answer; Invalid when it may not be called, Unavailable when it cannot, TimeoutError when too late."""


class _Delivery(NamedTuple):
    """One run on its way to its endpoint."""

    endpoint: Endpoint
    context: Context
    body: bytes
    secret: str | None
    token: str | None

    @property
    def asked(self) -> str:
        return f"POST {self.endpoint.host}"


class HttpExecutor:
    """The endpoints of one program."""

    def __init__(
        self,
        allowed: Iterable[Network] = (),
        *,
        clock: Clock | None = None,
        caller: Outbound | None = None,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
        at_once: int = _AT_ONCE,
    ) -> None:
        self._endpoints: dict[str, Endpoint] = {}
        self._allowed = tuple(allowed)
        self._clock = clock or SystemClock()
        self._given = caller
        self._caller = caller
        self._wait = wait
        self._at_once = at_once
        self._busy = 0
        self._counting = threading.Lock()

    def register(self, endpoint: Endpoint) -> str:
        """The target that the endpoint is from now on."""
        known = self._endpoints.get(endpoint.target)
        if known is not None and known != endpoint:
            raise Invalid(f"an endpoint takes a name of its own, got {endpoint.target!r} twice: rename one of them")
        self._endpoints[endpoint.target] = endpoint
        return endpoint.target

    @property
    def caller(self) -> Outbound:
        """Who makes the calls: for others who call what somebody else has named."""
        if self._caller is None:
            # Here, because only a program that calls something needs the library for it.
            from foliot.executors.outbound import GuardedCaller  # noqa: PLC0415

            self._caller = GuardedCaller(self._allowed)
        return self._caller

    def targets(self) -> Sequence[str]:
        return list(self._endpoints)

    def room(self, target: str) -> int | None:  # noqa: ARG002 - connections are one good, whoever they lead to
        return self._at_once - self._busy

    def on_unknown(self, target: str) -> OnUnknown:
        return self._endpoints[target].on_unknown

    def check_request(self, tx: Transaction, target: str, input: str | None) -> None:  # noqa: ARG002
        endpoint = self._endpoints[target]
        endpoint.secret_now()
        if endpoint.callback_within is not None:
            raise Invalid(f"{target} may report later, and no run is there to wait for that: schedule or trigger it")

    def report_digest(self, target: str, run_id: str) -> str | None:
        token = self._endpoints[target].token_of(run_id)
        return None if token is None else token_digest(token)

    def run(self, request: Request) -> Execution:
        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

        async def stream() -> AsyncIterator[Event]:
            came_to = SUCCEEDED
            self._count(1)
            try:
                async with aclosing(self._perform(request)) as calls:
                    async for judged in calls:
                        # At once: what was used is owed, also when the run is cut off before its next call.
                        for usage in judged.usages:
                            yield UsageReport(usage)
                        came_to = judged.final
            finally:
                self._count(-1)
            final.set_result(came_to)
            if came_to.error is not None:
                yield Failed(came_to.error)
            yield DONE

        return Execution(stream(), final)

    def _count(self, more: int) -> None:
        with self._counting:
            self._busy += more

    async def _perform(self, request: Request) -> AsyncGenerator[Judged]:
        """What each call came to; the last is what the run came to."""
        endpoint = self._endpoints.get(request.target)
        if endpoint is None:
            yield judge_failure(NotFound(f"no endpoint {request.target} is registered here"), may_repeat=False)
            return
        try:
            secret = endpoint.secret_now()
            token = endpoint.token_of(request.context.run_id)
        except Invalid as refusal:
            yield judge_failure(refusal, may_repeat=False)
            return
        body = body_of(request.context, request.input, token)
        delivery = _Delivery(endpoint, request.context, body, secret, token)
        async with aclosing(self._deliver(delivery)) as calls:
            async for judged in calls:
                yield judged

    async def _deliver(self, delivery: _Delivery) -> AsyncGenerator[Judged]:
        """Call until there is an answer that will not get better, or it was repeated often enough."""
        known: set[Usage] = set()
        call = 0
        while True:
            judged = await self._call(delivery, call)
            # Who repeats a report of an earlier answer means the same call.
            yield judged._replace(usages=[usage for usage in judged.usages if usage not in known])
            if judged.again is None or call == delivery.endpoint.retries:
                return
            known.update(judged.usages)
            await self._wait(max(judged.again, backoff(call, delivery.context.run_id)))
            call += 1

    async def _call(self, delivery: _Delivery, call: int) -> Judged:
        endpoint, context, body, secret, token = delivery
        now = self._clock.now() / MICROSECONDS
        headers = signed({**endpoint.headers, **headers_for(context, call)}, body, secret, int(now))
        try:
            answer = await self.caller.call("POST", endpoint.url, headers, body, endpoint.timeout)
        except (Refusal, TimeoutError) as error:
            # Without an answer nobody knows whether it was carried out: who wants a person asked is not called again.
            return judge_failure(error, may_repeat=endpoint.on_unknown is OnUnknown.REDELIVER)
        answer = _without(answer, *endpoint.hidden(), secret, token)
        judged = judge(delivery.asked, answer, now)
        if token is not None and answer.status == _ACCEPTED:
            return judged._replace(final=_to_be_reported(endpoint, token, answer))
        return judged

    def close(self) -> None:
        self._caller = self._given


def _to_be_reported(endpoint: Endpoint, token: str, answer: "HttpAnswer") -> Final:
    """The run waits until whoever has the token says how it ended."""
    assert endpoint.callback_within is not None
    data = json_text("data", {"endpoint": endpoint.target, "answer": quote(answer)})
    question = Question(CALLBACK, data, (), endpoint.callback_within, AtExpiry.FAIL, token_digest(token))
    return Final(question=question)


def _without(answer: "HttpAnswer", *hidden: str | None) -> "HttpAnswer":
    """The answer, without what nobody is to find in a ledger; its sender knows it too."""
    body = answer.body
    for text in filter(None, hidden):
        for written in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
            body = body.replace(written.encode(), _HIDDEN)
    return answer._replace(body=body)
