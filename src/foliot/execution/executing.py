"""What the gate asks of an executor: a stream of events, begun when it is listened to, and what it came to."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from foliot.domain.errors import Invalid, NotFound, Refusal, Unavailable
from foliot.domain.events import DONE, SUCCEEDED, ErrorCode, Event, Failed, Final
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import json_text
from foliot.execution.context import Cancelled, Context
from foliot.ports import Control, Transaction

_LONGEST_WORDS = 8000
_PACKAGE = Path(__file__).parents[1]


class Request(NamedTuple):
    """What is to be executed, and for whom."""

    target: str
    input: str | None
    """As JSON."""
    context: Context
    control: Control


class Execution(NamedTuple):
    """An execution that begins when its stream is listened to. The stream is heard to its done, then `final` is there.

    Exactly one `Done` ends the stream; after `Failed` it follows. Neither raises because the execution failed.
    """

    stream: AsyncIterator[Event]
    final: Awaitable[Final]
    work: Callable[[], Awaitable[Final]] | None = None
    """All of it, awaited instead of the stream: of what has nothing to say before its end, which `performed` makes."""


class Executor(Protocol):
    """A provider of targets, seen from the gate."""

    def targets(self) -> Sequence[str]:
        """The targets that can be executed here; `provider:*` stands for all of the provider's, whoever adds them."""

    def room(self, target: str) -> int | None:
        """How many more runs of the target could begin at once; None when that is not limited here."""

    def on_unknown(self, target: str) -> OnUnknown:
        """What the target wants done when nobody knows whether it was executed."""

    def run(self, request: Request) -> Execution: ...

    def close(self) -> None:
        """Let go of what it holds; it may be asked again."""


@runtime_checkable
class Reporting(Protocol):
    """An executor some of whose targets report later how a run of theirs has ended, with a token."""

    def report_digest(self, target: str, run_id: str) -> str | None:
        """By which the token for that run is known; None where nobody reports."""


@runtime_checkable
class Checking(Protocol):
    """An executor that can tell before anything is recorded that a request from outside could not be carried out."""

    def check_request(self, tx: Transaction, target: str, input: str | None) -> None:
        """A refusal that says why it could not be."""


def performed(work: Callable[[], Awaitable[Final]]) -> Execution:
    """The execution of something that has nothing to say before its end."""
    final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

    async def stream() -> AsyncIterator[Event]:
        came_to = await work()
        final.set_result(came_to)
        if isinstance(came_to, Final) and came_to.error is not None:
            yield Failed(came_to.error)
        yield DONE

    return Execution(stream(), final, work)


def success_of(result: Any) -> Final:
    """A result that cannot be kept does not make a failure of what went well."""
    if result is None:
        return SUCCEEDED
    try:
        return Final(result=json_text("result", result))
    except Invalid as refusal:
        return Final(words=f"the result was not kept: {refusal}")


def failure_of(error: BaseException, inside: int = 0) -> Final:
    """What a target's code raised; the innermost calls of our own, so many, are left out of the trace."""
    said = f"{type(error).__name__}: {words_of(error)}"
    trace = "" if _is_ours(error) else "".join(traceback.format_tb(error.__traceback__)[inside:])
    return Final(code_of(error), words=_writable(f"{said}\n{trace}".strip())[:_LONGEST_WORDS])


def _is_ours(error: BaseException) -> bool:
    """Whether it is a refusal that this package has raised itself: its words say it all."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, Refusal) and bool(frames) and Path(frames[-1].filename).is_relative_to(_PACKAGE)


def words_of(said: object) -> str:
    """What somebody's code has to say, as text that any database takes, and not more of it than anybody reads."""
    try:
        text = str(said)
    except Exception:  # Its own code says how it is written.
        text = f"a {type(said).__name__} that cannot be written"
    return _writable(text[:_LONGEST_WORDS])[:_LONGEST_WORDS]


def _writable(text: str) -> str:
    """What any database takes: an error may quote the undecodable name of a file."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def code_of(error: BaseException) -> ErrorCode:
    """What an exception of a target's code means: judged once, where it is caught."""
    match error:
        case Cancelled():
            return ErrorCode.ABORTED
        case Invalid():
            return ErrorCode.INVALID_REQUEST
        case NotFound():
            return ErrorCode.NOT_FOUND
        case Unavailable():
            return ErrorCode.PROVIDER_UNAVAILABLE
        case TimeoutError():
            return ErrorCode.TIMEOUT
        case _:
            return ErrorCode.INTERNAL
