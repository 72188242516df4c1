"""Runs: the states one goes through, the moves that are legal, and why one ended otherwise than well."""

from enum import StrEnum

from foliot.domain.errors import Invalid


class Status(StrEnum):
    """Where a run stands. The last four are final."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCESS = "success"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


OPEN = frozenset({Status.PENDING, Status.RUNNING, Status.WAITING})
FINAL = frozenset(Status) - OPEN

LEGAL_MOVES: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.RUNNING, Status.ERROR, Status.SKIPPED, Status.CANCELLED}),
    Status.RUNNING: frozenset({Status.WAITING}) | FINAL,
    Status.WAITING: frozenset({Status.PENDING}) | FINAL,
    **{final: frozenset() for final in FINAL},
}


class Kind(StrEnum):
    """What asked for a run: the spec, a person, or a backfill."""

    SLOT = "slot"
    MANUAL = "manual"
    BACKFILL = "backfill"


class Hold(StrEnum):
    """What a pending run waits for; one that waits for nothing but a worker has none."""

    OVERLAP = "overlap"
    """The run before it."""
    PAUSED = "paused"
    """The end of a pause."""
    DUE = "due"
    """Its own time: jitter, or a place in a spread backlog."""
    RETRY = "retry"
    """The end of its backoff."""


class Reason(StrEnum):
    """Why a run ended as it did: every final state but success has one."""

    OVERLAP = "overlap"
    SUPERSEDED = "superseded"
    MISSED = "missed"
    PAUSED = "paused"
    OUT_OF_WINDOW = "out_of_window"
    LIMIT_REACHED = "limit_reached"
    BUFFER_FULL = "buffer_full"
    SKIPPED_BY_USER = "skipped_by_user"
    SCHEDULE_DELETED = "schedule_deleted"
    GRANT_NOT_FOUND = "grant_not_found"
    GRANT_EXPIRED = "grant_expired"
    GRANT_REVOKED = "grant_revoked"
    GRANT_SCOPE = "grant_scope"
    INSUFFICIENT_CREDITS = "insufficient_credits"
    OVER_BUDGET = "over_budget"
    RUN_LIMIT = "run_limit"
    TIMEOUT = "timeout"
    CANCELLED_BY_USER = "cancelled_by_user"
    CANCELLED_BY_POLICY = "cancelled_by_policy"
    TERMINATED = "terminated"
    LOST = "lost"
    REJECTED = "rejected"
    DECISION_EXPIRED = "decision_expired"
    FINALIZATION_LOST = "finalization_lost"
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    RATE_LIMIT = "rate_limit"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    ABORTED = "aborted"
    INTERNAL = "internal"


class Order(StrEnum):
    """What a worker is told to do with a run that it holds."""

    CANCEL_BY_USER = "cancel_by_user"
    CANCEL_BY_POLICY = "cancel_by_policy"


class OnUnknown(StrEnum):
    """What becomes of a run whose worker died while its code may have been at work."""

    REDELIVER = "redeliver"
    """Its code is run once more: the same run, the same attempt, the same key."""
    HOLD = "hold"
    """A person is asked."""


def on_unknown_of(text: str) -> OnUnknown:
    if text not in list(OnUnknown):
        raise Invalid(f"on_unknown takes {', '.join(map(repr, map(str, OnUnknown)))}, got {text!r}")
    return OnUnknown(text)


def decision_of(status: Status, reason: Reason | None, hold: Hold | None) -> str:
    """What was decided about a run: start, hold, skip, miss or cancel."""
    if status is Status.SKIPPED:
        return "miss" if reason is Reason.MISSED else "skip"
    if status is Status.CANCELLED:
        return "cancel"
    return "start" if hold is None else "hold"


LOSSES_UNTIL_ERROR = 3
"""A run whose worker died this often is not tried again by itself."""


def is_legal(before: Status, after: Status) -> bool:
    return after in LEGAL_MOVES[before]
