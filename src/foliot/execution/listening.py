"""Listening to an execution: until it is done, and then for what it came to."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeGuard

from foliot.domain.errors import Invalid
from foliot.domain.events import Done, Event, Failed, Final, StatusNote, UsageReport
from foliot.domain.runs import Reason, Status
from foliot.domain.schedule import json_text
from foliot.domain.settlement import Outcome
from foliot.execution.bounds import STOPS_WITHIN
from foliot.execution.context import Context
from foliot.execution.executing import words_of
from foliot.execution.reception import code_in, got, mistaken, outcome_of, used_of
from foliot.ports import Control

Complain = Callable[[str, str], None]
"""Told what is wrong, and how."""

_LOST = Outcome(Status.ERROR, Reason.FINALIZATION_LOST, error="its executor did not say what it came to")
_ENDS_WITHIN = 15.0
"""Seconds from done: so long a stream has to end, and what it came to, to be there."""


async def heard(execution: Any, context: Context, control: Control, complain: Complain) -> Outcome:
    """What it came to. What is said after a failure, or after done, is not heard."""
    if not hasattr(execution, "stream") or not hasattr(execution, "final"):
        if inspect.iscoroutine(execution):
            execution.close()
        return mistaken(f"the run of its executor gave {got(execution)}, and not an Execution")
    if getattr(execution, "work", None) is not None:
        return outcome_of(await execution.work())
    stream: AsyncIterator[Event] = aiter(execution.stream)
    failure: Failed | None = None
    async for event in stream:
        if isinstance(event, Done):
            return _agreed(failure, await _ending(stream, execution.final, complain))
        if failure is not None:
            complain("the stream after Failed", f"Done comes next, got {type(event).__name__}, which is not heard")
        elif isinstance(event, Failed):
            failure = event
        elif isinstance(event, UsageReport):
            cut_off = _noted(event, context)
            if cut_off is not None:
                if control.end_within is not None:
                    control.end_within(STOPS_WITHIN)
                await _hang_up(stream, complain)
                return cut_off
        elif isinstance(event, StatusNote):
            control.progress = json_text("progress", words_of(event.text))
    return _LOST


def _noted(report: UsageReport, context: Context) -> Outcome | None:
    """Put it on the bill; how the execution ends here, when that cannot be, or is more than it may use."""
    try:
        context.note_usage(used_of(report))
    except Invalid as refusal:
        return mistaken(f"its executor reports what cannot be charged: {refusal}")
    return _LOST if context.is_over_limit else None


async def _ending(stream: AsyncIterator[Event], final: Awaitable[Final], complain: Complain) -> Outcome:
    """What it came to, if that is there in time."""
    until = asyncio.get_running_loop().time() + _ENDS_WITHIN
    await _ended(stream, final, until, complain)
    if _is_there(final):
        return outcome_of(final.result())
    limit = asyncio.timeout_at(until)
    try:
        async with limit:
            return outcome_of(await final)
    except TimeoutError:
        if limit.expired():
            return _LOST
        raise


async def _ended(stream: AsyncIterator[Event], final: Awaitable[Final], until: float, complain: Complain) -> None:
    """Let the stream tidy up; one that goes on is closed."""
    about = "the stream after Done"
    try:
        async with asyncio.timeout_at(until):
            async for event in stream:
                complain(about, f"nothing comes after it, got {type(event).__name__}, which is not heard")
                if _is_there(final):
                    await _hang_up(stream, complain)
                    return
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # It is over, whatever its stream does.
        complain(about, f"it ends without a word, got {type(error).__name__}: {words_of(error)}")


async def _hang_up(stream: AsyncIterator[Event], complain: Complain) -> None:
    """Stop listening; what an executor would still do, it does not."""
    close = getattr(stream, "aclose", None)
    if close is None:
        return
    try:
        async with asyncio.timeout(_ENDS_WITHIN):
            await close()
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # It is not listened to any more, whatever it does.
        complain("the stream", f"it could not be closed, {type(error).__name__}: {words_of(error)}")


def _is_there(final: Awaitable[Final]) -> TypeGuard[asyncio.Future[Final]]:
    return isinstance(final, asyncio.Future) and final.done()


def _agreed(failure: Failed | None, outcome: Outcome) -> Outcome:
    """A failure that was told stands, also when what it came to is said to be none."""
    if failure is None or outcome.status is Status.ERROR:
        return outcome
    code = code_in(failure.code)
    if code is None:
        return mistaken(f"its executor told the failure {got(failure.code)}, which is no error code")
    return Outcome(Status.ERROR, Reason(code), error="its executor told this failure, and came to something else then")
