"""What a provider of one's own is written with: the promises of an executor, and the words that it speaks."""

from foliot.domain.credits import usage_of
from foliot.domain.events import (
    DONE,
    AssistantFinal,
    Done,
    ErrorCode,
    Event,
    Failed,
    Final,
    StatusNote,
    TextDelta,
    ToolCallResult,
    ToolCallStart,
    UsageReport,
)
from foliot.domain.questions import Answer, Question, question_of
from foliot.domain.runs import OnUnknown
from foliot.execution.executing import Execution, Executor, Request, failure_of, performed, success_of

__all__ = [
    "DONE",
    "Answer",
    "AssistantFinal",
    "Done",
    "ErrorCode",
    "Event",
    "Execution",
    "Executor",
    "Failed",
    "Final",
    "OnUnknown",
    "Question",
    "Request",
    "StatusNote",
    "TextDelta",
    "ToolCallResult",
    "ToolCallStart",
    "UsageReport",
    "failure_of",
    "performed",
    "question_of",
    "success_of",
    "usage_of",
]
