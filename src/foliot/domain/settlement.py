"""Settlement: what the end of a run means for its row, its schedule, and what comes after it."""

import json
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.policies import Policies
from foliot.domain.questions import AtExpiry, Question, Verdict
from foliot.domain.runs import LOSSES_UNTIL_ERROR, Kind, Order, Reason, Status


class Outcome(NamedTuple):
    """What a worker reports of a run: how it ended, why if not well, and what it left behind."""

    status: Status
    reason: Reason | None = None
    result: str | None = None
    """As JSON."""
    error: str | None = None
    question: Question | None = None
    """What it waits to be told, when it has not ended but waits."""


BY_ORDER = {
    Order.CANCEL_BY_USER: Outcome(Status.CANCELLED, Reason.CANCELLED_BY_USER),
    Order.CANCEL_BY_POLICY: Outcome(Status.CANCELLED, Reason.CANCELLED_BY_POLICY),
}
"""How a run ends that does as its worker was told."""

TIMED_OUT = Outcome(Status.ERROR, Reason.TIMEOUT, error="it ran longer than its timeout")
STOPPED_ITSELF = Outcome(Status.ERROR, Reason.ABORTED, error="it cancelled itself")


class Ended(NamedTuple):
    """What is known of a run that ended."""

    key: str
    """Its slot key, the same over all attempts."""
    kind: Kind
    attempt: int
    occupies: bool
    order: Order | None
    """What its worker had been told."""
    was_delivered: bool = False
    """Whether a worker had it before, and may have begun it."""


class Memory(StrEnum):
    """What the schedule remembers of a finished chain of attempts, for the next run."""

    NOTHING = "nothing"
    RESULT = "result"
    FAILURE = "failure"


class Settlement(NamedTuple):
    """What becomes of it."""

    retry_at: int | None
    """When the next attempt is due; None when the chain is over."""
    memory: Memory
    pauses: bool
    """The schedule pauses because of this failure."""
    gives_back: bool
    """No attempt at the slot ever started, so it does not count against the schedule's limit."""


_PLAIN_SUCCESS = Settlement(None, Memory.RESULT, pauses=False, gives_back=False)


def settle(run: Ended, outcome: Outcome, policies: Policies, now: int) -> Settlement:
    """What follows from that outcome: another attempt, a pause, something to remember, or nothing."""
    if outcome.status is Status.SUCCESS:
        return _PLAIN_SUCCESS
    if outcome.status is Status.SKIPPED:
        never_started = run.kind is Kind.SLOT and run.attempt == 1 and not run.was_delivered
        return Settlement(None, Memory.NOTHING, pauses=False, gives_back=never_started)
    if outcome.status is Status.CANCELLED:
        return Settlement(None, Memory.NOTHING, pauses=False, gives_back=False)
    assert outcome.reason is not None, "every failure has a reason"
    retry = policies.retry
    if retry is not None and run.order is None and retry.allows(run.attempt, outcome.reason):
        return Settlement(now + retry.wait_after(run.attempt, run.key), Memory.NOTHING, pauses=False, gives_back=False)
    return Settlement(None, Memory.FAILURE, pauses=policies.pause_on_failure, gives_back=False)


def outcome_text(outcome: Outcome) -> str:
    """The outcome as it is kept, as JSON."""
    return json.dumps(outcome, separators=(",", ":"))


def read_outcome(text: str) -> Outcome:
    """What `outcome_text` wrote."""
    status, reason, result, error, question = json.loads(text)
    asked = None
    if question is not None:
        kind, data, who, expires_in, at_expiry, reference = question
        asked = Question(kind, data, tuple(who), expires_in, AtExpiry(at_expiry), reference)
    return Outcome(Status(status), None if reason is None else Reason(reason), result, error, asked)


def answered(verdict: Verdict) -> Outcome | None:
    """How a waiting run ends that was told this; None when it goes on."""
    return Outcome(Status.CANCELLED, Reason.REJECTED) if verdict is Verdict.REJECT else None


def unanswered(at_expiry: AtExpiry) -> Outcome | None:
    """How a waiting run ends that nobody has answered in time; None when it goes on."""
    match at_expiry:
        case AtExpiry.APPROVE:
            return None
        case AtExpiry.REJECT:
            return Outcome(Status.CANCELLED, Reason.DECISION_EXPIRED)
        case AtExpiry.FAIL:
            return Outcome(Status.ERROR, Reason.TIMEOUT, error="what it waited for did not come in time")


def is_given_up(losses: int) -> bool:
    """Whether a run that lost its worker so often is an error rather than delivered once more."""
    return losses >= LOSSES_UNTIL_ERROR
