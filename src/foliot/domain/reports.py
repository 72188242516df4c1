"""Reports: what an executor elsewhere says of a run that waits for it, and whether that is news.

A run only goes forward: what is told too late, or was told otherwise before, changes nothing.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.events import ErrorCode
from foliot.domain.runs import Reason, Status
from foliot.domain.schedule import json_text, text_of
from foliot.domain.settlement import Outcome

_LONGEST_ERROR = 10_000
"""Somebody's traceback has its place."""


class Reported(StrEnum):
    """What may be said of a run."""

    RUNNING = "running"
    SUCCESS = "success"
    ERROR = "error"


class Hearing(StrEnum):
    """What becomes of a report."""

    NOTE = "note"
    """It says how far the run has come."""
    END = "end"
    """The run ends as it says."""
    REPEAT = "repeat"
    """The end was reported before: the same once more is no news, something else is refused."""
    EARLY = "early"
    """It is not on record yet that the run waits: to be said again in a moment."""
    LATE = "late"
    """The run has gone on without it."""


class Feedback(NamedTuple):
    """What is said of a run."""

    status: Reported
    outcome: Outcome | None
    """How it ended; None while it goes on."""
    progress: str | None
    """As JSON."""


def report_of(
    status: str, *, result: Any = None, error: str | None = None, code: str | None = None, progress: Any = None
) -> Feedback:
    """A report as programs make it; Invalid when it says what does not go together."""
    if status not in list(Reported):
        raise Invalid(f"a report takes the status {', '.join(map(repr, map(str, Reported)))}, got {status!r:.80}")
    if code is not None and code not in list(ErrorCode):
        raise Invalid(f"code takes {', '.join(map(repr, map(str, ErrorCode)))}, got {code!r:.80}")
    if result is not None and error is not None:
        raise Invalid("a report takes a result or an error, got both: leave out the one that is not so")
    found = Reported(status)
    if found is not Reported.ERROR and (error, code) != (None, None):
        raise Invalid(f"only a report of 'error' takes an error and its code, got one of {status!r}")
    if found is not Reported.SUCCESS and result is not None:
        raise Invalid(f"only a report of 'success' takes a result, got one of {status!r}")
    if found is not Reported.RUNNING and progress is not None:
        raise Invalid(f"only a report of 'running' takes progress, got one of {status!r}")
    match found:
        case Reported.RUNNING:
            return Feedback(found, None, json_text("progress", progress))
        case Reported.SUCCESS:
            return Feedback(found, Outcome(Status.SUCCESS, result=json_text("result", result)), None)
        case Reported.ERROR:
            reason = Reason.INTERNAL if code is None else Reason(code)
            return Feedback(found, Outcome(Status.ERROR, reason, error=text_of("error", error, _LONGEST_ERROR)), None)


def hearing_of(status: Status, reported: Reported, *, is_end_reported: bool) -> Hearing:
    """What becomes of a report about a run of that status, whose end was reported before or not."""
    if status is Status.RUNNING:
        return Hearing.EARLY
    if status is Status.WAITING:
        return Hearing.NOTE if reported is Reported.RUNNING else Hearing.END
    return Hearing.REPEAT if is_end_reported and reported is not Reported.RUNNING else Hearing.LATE
