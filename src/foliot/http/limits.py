"""Limits: how large and how deep a request may be, how long it may take to arrive, and how often one may be made."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from math import ceil
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foliot.domain.access import Principal
from foliot.domain.errors import TooMany
from foliot.domain.nesting import is_deeper
from foliot.domain.pace import Bucket, Pace, draw, full
from foliot.http.errors import problem
from foliot.ports import Clock

LARGEST_BODY = 1024 * 1024
DEEPEST_JSON = 32
SLOWEST_BODY = 30.0
"""Seconds for the whole of it."""
_MOST_BUCKETS = 10_000
_UTF_8 = ("utf-8", "utf-8-sig")


class RateLimits:
    """A bucket for each who asks. Only ever touched from the loop of the server."""

    def __init__(self, clock: Clock, pace: Pace) -> None:
        self._clock = clock
        self._pace = pace
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def spend(self, principal: Principal) -> None:
        """Count a request of that key, or user without one; TooMany when there were too many."""
        self.spend_of(principal.key or principal.user)

    def spend_of(self, who: str) -> None:
        now = self._clock.steady()
        bucket = self._buckets.pop(who, None) or full(self._pace, now)
        drawn = draw(bucket, self._pace, now)
        self._buckets[who] = drawn.bucket
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if not drawn.is_granted:
            pace = f"{self._pace.per_second:g} requests a second, {self._pace.burst} at once"
            # Rounded up: who waits as long as is said is not to come too early.
            wait = ceil(drawn.wait * 10) / 10
            raise TooMany(f"{who} asks too often: the limit is {pace}; wait {wait:.1f} s", drawn.wait)


class BodyLimits:
    """Reads a request's body before anybody else does, and refuses one that is too large, too slow or too deep."""

    def __init__(self, app: ASGIApp, slowest: float = SLOWEST_BODY) -> None:
        self._app = app
        self._slowest = slowest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Whatever the method: nothing keeps a client from sending a body with a GET, and somebody might read it.
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._slowest):
                body = await _read(scope, receive)
        except ClientDisconnect:
            # What came of it is not what was to be asked.
            return
        except TimeoutError:
            await _refuse(scope, send, 408, "too_slow", f"the request did not arrive within {self._slowest:g} s")
            return
        if body is None:
            await _refuse(scope, send, 413, "too_large", f"a request takes at most {LARGEST_BODY:,} bytes: send less")
        elif (encoding := json.detect_encoding(body)) not in _UTF_8:
            # Whoever reads JSON would take that too, and whoever looks at it before would see something else.
            rule = f"a body takes JSON in UTF-8, and this looks like {encoding.upper()}: encode its text as UTF-8"
            await _refuse(scope, send, 400, "unreadable", rule)
        elif is_deeper(body, DEEPEST_JSON):
            # Whatever it says that it is: all that is read here is read as JSON.
            rule = f"JSON is taken {DEEPEST_JSON} levels deep: send it flatter"
            await _refuse(scope, send, 400, "too_deep", rule)
        else:
            await self._app(scope, _replay(body, receive), send)


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; None when it is too large, before all of it has come. ClientDisconnect when it never does."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > LARGEST_BODY:
            return None
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    is_told = False

    async def replay() -> Message:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _refuse(scope: Scope, send: Send, status: int, code: str, detail: str) -> None:
    response = problem(status, code, detail, scope["state"]["request_id"], headers={"Connection": "close"})
    await response(scope, _nothing, send)


async def _nothing() -> Any:
    return {"type": "http.disconnect"}
