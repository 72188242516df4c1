"""Bounds of an execution: how long it may take and how much, and that it ends there whatever its code does."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, NamedTuple

from foliot.domain.credits import RunLimits
from foliot.domain.durations import Span
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import Policies, policies_of
from foliot.domain.runs import Reason, Status
from foliot.domain.settlement import TIMED_OUT, Outcome
from foliot.ports import Control

STOPS_WITHIN = 5.0
"""Seconds in which code that took too long, or too much, may tidy up, and what it has used is charged."""


class Bounds(NamedTuple):
    """How long an execution may take, in microseconds, and how much it may use; None: any amount."""

    timeout: int | None = None
    limits: RunLimits | None = None

    def within(self, others: "Bounds") -> "Bounds":
        """Of each, the stricter."""
        if self.limits is None or others.limits is None:
            limits = self.limits or others.limits
        else:
            limits = RunLimits(*map(_less, self.limits, others.limits))
        return Bounds(_less(self.timeout, others.timeout), limits)


def bounds_of(
    *, timeout: Span | None, max_calls: int | None, max_tokens: int | None, max_credits: int | None
) -> Bounds:
    """As callers give them; Invalid for what a schedule would not take either."""
    given = policies_of(timeout=timeout, max_calls=max_calls, max_tokens=max_tokens, max_credits=max_credits)
    return bounds_in(given)


def bounds_in(policies: Policies) -> Bounds:
    """Those that a schedule has for each of its runs."""
    return Bounds(policies.timeout, policies.run_limits)


async def in_time(executing: asyncio.Future[Outcome], timeout: int | None, control: Control) -> Outcome:
    """What it comes to; or that it took too long, whether its code obeys or not."""
    if timeout is None:
        return await executing
    try:
        await asyncio.wait({executing}, timeout=timeout / MICROSECONDS)
        if executing.done():
            return executing.result()
        control.fenced = True
        executing.cancel()
        executing.add_done_callback(_nobody_asks)
        await asyncio.wait({executing}, timeout=STOPS_WITHIN)
    except asyncio.CancelledError:
        executing.cancel()
        raise
    return TIMED_OUT


async def within_limits(work: Coroutine[Any, Any, Outcome], control: Control) -> Outcome:
    """What it comes to; or that it has used more than it may, whether its code obeys or not."""
    loop = asyncio.get_running_loop()
    executing = loop.create_task(work)
    executing.add_done_callback(_nobody_asks)
    passed: asyncio.Future[float] = loop.create_future()

    def note(seconds: float) -> None:
        if not passed.done():
            passed.set_result(seconds)

    def end_within(seconds: float) -> None:
        # A thread may go on when the loop is no more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(note, seconds)

    control.end_within = end_within
    either: set[asyncio.Future[Any]] = {executing, passed}
    while not executing.done() and not passed.done():
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            executing.cancel()
    if not executing.done():
        await asyncio.wait({executing}, timeout=passed.result())
        executing.cancel()
        await asyncio.wait({executing}, timeout=STOPS_WITHIN)
    return executing.result() if control.exceeded is None else over_limit(control.exceeded)


def over_limit(exceeded: str) -> Outcome:
    return Outcome(Status.ERROR, Reason.RUN_LIMIT, error=f"it has used {exceeded}")


def _nobody_asks(executing: asyncio.Future[Outcome]) -> None:
    """What it raises after its time is not heard; asyncio would complain of that."""
    if not executing.cancelled():
        executing.exception()


def _less(one: int | None, other: int | None) -> int | None:
    return min((most for most in (one, other) if most is not None), default=None)
