"""Events: what an executor says while a run goes on, and how it says that the run is over."""

from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.credits import Usage
from foliot.domain.questions import Question


class ErrorCode(StrEnum):
    """What an execution can fail of: a closed list. Words for people stand beside it, never instead of it."""

    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    ABORTED = "aborted"
    RATE_LIMIT = "rate_limit"
    INTERNAL = "internal"
    INSUFFICIENT_CREDITS = "insufficient_credits"
    PROVIDER_UNAVAILABLE = "provider_unavailable"


class TextDelta(NamedTuple):
    text: str


class ToolCallStart(NamedTuple):
    call: str
    tool: str
    arguments: Any


class ToolCallResult(NamedTuple):
    call: str
    result: Any
    is_error: bool = False


class UsageReport(NamedTuple):
    """For the till; nobody beyond it sees it."""

    usage: Usage


class AssistantFinal(NamedTuple):
    text: str


class StatusNote(NamedTuple):
    """How far it has come: the run's progress, until the next."""

    text: str


class Failed(NamedTuple):
    """`done` follows."""

    code: ErrorCode


class Done(NamedTuple):
    """The last event, exactly once."""


DONE = Done()

Event = TextDelta | ToolCallStart | ToolCallResult | UsageReport | AssistantFinal | StatusNote | Failed | Done


class Final(NamedTuple):
    """What an execution came to."""

    error: ErrorCode | None = None
    """None: it went well."""
    result: str | None = None
    """As JSON."""
    words: str | None = None
    """What went wrong, for people."""
    question: Question | None = None
    """It has not come to its end: it waits for somebody's decision."""


SUCCEEDED = Final()
