"""What several routers show: runs and backfills as they stand."""

from dataclasses import replace

from foliot.domain.backfill import Direction, Which
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.http.schemas import Given, Json, Moment
from foliot.services.views import Backfill, Run

_MOST_SLOTS = 1000
"""Of a dry run; `total` says how many there are."""


class ShownRun(Given):
    """One attempt at a slot, a trigger or a slot of a backfill, and what became of it."""

    id: str
    schedule: str
    kind: Kind
    scheduled_for: Moment
    due_at: Moment
    attempt: int
    status: Status
    reason: Reason | None
    hold: Hold | None
    decision: str
    """What was decided about it: start, hold, skip, miss or cancel."""
    idempotency_key: str
    retry_of: str | None
    input: Json
    result: Json
    error: str | None
    progress: Json
    losses: int
    trace_id: str
    created_at: Moment
    started_at: Moment | None
    ended_at: Moment | None


class ShownBackfill(Given):
    """A backfill as it stands; a dry run has no number, and lists the first of its slots."""

    id: int | None
    schedule: str
    start: Moment
    end: Moment
    which: Which
    order: Direction
    concurrency: int
    slots: list[Moment]
    total: int | None
    credits: int | None
    started: int
    running: int
    created_at: Moment
    ended_at: Moment | None
    """When all of its runs were over, or it was cancelled, or its schedule deleted: what had begun then may go on."""
    cancelled_at: Moment | None


def shown_run(run: Run) -> ShownRun:
    return ShownRun.model_validate(run)


def shown_backfill(backfill: Backfill) -> ShownBackfill:
    return ShownBackfill.model_validate(replace(backfill, slots=backfill.slots[:_MOST_SLOTS]))
