"""Runs over HTTP."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.node_states import NodeStatus
from foliot.domain.questions import AtExpiry, Verdict
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.http.asking import Ask, Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, is_plain, listed, place_of
from foliot.http.routing import brief
from foliot.http.schemas import Given, Json, Moment, SaidMoment, such_as
from foliot.http.v1.shown import ShownRun, shown_run
from foliot.http.wording import over_http
from foliot.lines import RunPlace
from foliot.services.run_details import RunDetail
from foliot.services.run_lists import RunSummary

router = routes("/runs", "runs")


class ShownRunLine(Given):
    """A run as lists show it: without what it was given and has come to."""

    model_config = such_as(
        id="digest:2026-11-15T09:00:00Z~1",
        schedule="digest",
        kind="slot",
        scheduled_for="2026-11-15T09:00:00Z",
        due_at="2026-11-15T09:00:00Z",
        attempt=1,
        status="success",
        reason=None,
        hold=None,
        decision="start",
        idempotency_key="digest:2026-11-15T09:00:00Z",
        retry_of=None,
        error=None,
        losses=0,
        trace_id="6b0f1c7e9a2d4c58b3e1f0a9d8c7b6a5",
        created_at="2026-11-15T09:00:00.004Z",
        started_at="2026-11-15T09:00:00.004Z",
        ended_at="2026-11-15T09:00:01.2Z",
    )

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
    idempotency_key: str
    retry_of: str | None
    error: str | None
    """How it begins."""
    losses: int
    trace_id: str
    created_at: Moment
    started_at: Moment | None
    ended_at: Moment | None


class ShownQuestion(Given):
    """What a run has asked, and what came of it."""

    kind: str
    data: Json
    who: list[str]
    """Who may answer; empty: whoever sees the run."""
    asked_at: Moment
    expires_at: Moment
    at_expiry: AtExpiry
    verdict: Verdict | None
    feedback: Json
    decided_by: str | None
    decision: str | None
    closed_at: Moment | None


class ShownReceipt(Given):
    """A billable call that a run made."""

    source: str
    reference: str
    unit: str
    model: str | None
    tokens: int | None
    cost: str | None
    credits: int | None
    at: Moment


class ShownNode(Given):
    """A node of a workflow's run."""

    node: str
    path: str
    status: NodeStatus
    attempt: int
    reason: str | None
    error: str | None
    started_at: Moment
    ended_at: Moment | None


class ShownRunDetail(ShownRun):
    """A run and what belongs to it; of each list the last hundred."""

    sentence: str
    """What became of it and why, in words."""
    attempts: list[ShownRunLine]
    """All at the same slot, from the first."""
    questions: list[ShownQuestion]
    receipts: list[ShownReceipt]
    calls: int
    """How many calls it was charged for, and what they cost."""
    credits: int
    nodes: list[ShownNode]
    trace_url: str | None


def shown_line(run: RunSummary) -> ShownRunLine:
    return ShownRunLine.model_validate(run)


def _shown_detail(asked: Ask, found: RunDetail) -> ShownRunDetail:
    return ShownRunDetail(
        **shown_run(found.view).model_dump(),
        sentence=over_http(found.sentence),
        attempts=[shown_line(run) for run in found.attempts],
        questions=[ShownQuestion.model_validate(question) for question in found.questions],
        receipts=[ShownReceipt.model_validate(receipt) for receipt in found.receipts],
        calls=found.calls,
        credits=found.credits,
        nodes=[ShownNode.model_validate(node) for node in found.nodes],
        trace_url=asked.service.trace_url(found.view.trace_id),
    )


@router.get("", response_model=Listed[ShownRunLine], responses=also(404))
@needs(Right.READ)
@brief(lambda given: given["schedule"] is not None and is_plain(given, "schedule"))
def listing(
    asked: Asked,
    schedule: Annotated[str | None, Query(max_length=1000, description="Its id or name.")] = None,
    status: Status | None = None,
    reason: Reason | None = None,
    kind: Kind | None = None,
    since: Annotated[SaidMoment | None, Query(description="The first nominal time.")] = None,
    until: Annotated[SaidMoment | None, Query(description="The last nominal time.")] = None,
    backfill: Annotated[int | None, Query(ge=1, le=10**9, description="Its number.")] = None,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Runs, newest first: by nominal time; of everybody, for admins, in the order in which they were recorded.

    A page with a filter may have fewer than `limit`, also none, while there is a `next`.
    """
    place = place_of(after, int, int, int, int)
    found = asked.verbs.runs.page(
        schedule,
        status=status,
        reason=reason,
        kind=kind,
        since=since,
        until=until,
        backfill=backfill,
        after=None if place is None else RunPlace(*place),
        limit=limit,
    )
    return answered(listed(ShownRunLine, found, shown_line))


@router.get("/{run_id}", response_model=ShownRunDetail)
@needs(Right.READ)
def get(run_id: str, asked: Asked) -> Response:
    """A run, its attempts, why it is as it is in words, and what it asked, used and did."""
    return answered(_shown_detail(asked, asked.verbs.runs.detail(run_id)))


@router.post("/{run_id}/cancel", response_model=ShownRun)
@needs(Right.WRITE)
def cancel(run_id: str, asked: Asked) -> Response:
    """Ask a run to stop; one that has not begun is over at once."""
    return asked.write(lambda verbs: verbs.runs.cancel(run_id), shown_run)


@router.post("/{run_id}/terminate", response_model=ShownRun)
@needs(Right.WRITE)
def terminate(run_id: str, asked: Asked) -> Response:
    """End a run here and now, whatever its code still does: nothing of that counts any more."""
    return asked.write(lambda verbs: verbs.runs.terminate(run_id), shown_run)


@router.post("/{run_id}/retry", status_code=201, response_model=ShownRun)
@needs(Right.WRITE)
def retry(run_id: str, asked: Asked) -> Response:
    """One more attempt at a slot whose last one is over and was no success."""
    return asked.write(lambda verbs: verbs.runs.retry(run_id), shown_run, status=201)
