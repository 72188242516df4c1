"""What may be asked of one schedule over HTTP: to pause, resume, run or skip, and when and why it runs."""

from datetime import datetime
from typing import Annotated

from fastapi import Body, Query
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.backfill import Direction, Which
from foliot.domain.instants import instant_of, moment_of
from foliot.domain.ledger import LedgerVerdict
from foliot.domain.runs import Reason
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import ETAG, also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Json, Moment, SaidMoment, Switch, Taken, Whole, such_as
from foliot.http.v1.schedule_schemas import SaidOverlap, ShownBudgetUse, ShownSchedule, etag, shown_schedule
from foliot.http.v1.schedules import ScheduleId
from foliot.http.v1.shown import ShownBackfill, ShownRun, shown_backfill, shown_run
from foliot.http.wording import over_http

router = routes("/schedules", "schedules")

MOST_TIMES = 10_000
Time = Annotated[str | None, Query(max_length=64, json_schema_extra={"format": "date-time"})]
"""A moment in a query; the verbs read it."""


class SaidPause(Taken):
    """Why, and until when."""

    model_config = such_as(note="the printer burns", until="2026-12-01T00:00:00Z")

    note: str | None = Field(default=None, max_length=1000)
    until: SaidMoment | None = None


class SaidTrigger(Taken):
    """With what it runs, instead of the schedule's own."""

    model_config = such_as(input={"to": "everybody"}, overlap="allow")

    input: Json = None
    overlap: SaidOverlap | None = None


class SkippedSlot(Taken):
    """The nominal time of a slot."""

    model_config = such_as(at="2026-11-16T08:00:00Z")

    at: SaidMoment


class NewBackfill(Taken):
    """Which past slots are run, and how."""

    model_config = such_as(start="2026-11-01T00:00:00Z", end="2026-11-15T00:00:00Z", dry_run=True)

    start: SaidMoment
    end: SaidMoment
    which: Annotated[str, Field(json_schema_extra={"enum": [*Which]})] = Which.MISSING.value
    order: Annotated[str, Field(json_schema_extra={"enum": [*Direction]})] = Direction.OLDEST_FIRST.value
    concurrency: Whole | None = None
    overlap: SaidOverlap | None = None
    input: Json = None
    dry_run: Switch = False
    confirm: Switch = False


class TimeList(Given):
    """Moments that a spec names."""

    items: list[Moment]
    next: Moment | None
    """The first that is left out, to be asked for as `start`; null when these are all."""


class ShownExplanation(Given):
    """Why a moment did or did not run."""

    verdict: LedgerVerdict
    reason: str | None
    run_id: str | None
    sentence: str


class ShownEstimate(Given):
    """What a schedule may cost; null: nobody knows."""

    slots: int
    credits_each: int | None
    credits: int | None


class ShownGap(Given):
    """A long run of slots that nothing ran, and why."""

    first: Moment
    last: Moment
    size: int
    reason: Reason


@router.post("/{schedule_id}/pause", response_model=ShownSchedule, responses={200: ETAG})
@needs(Right.WRITE)
def pause(schedule_id: ScheduleId, asked: Asked, body: Annotated[SaidPause | None, Body()] = None) -> Response:
    """Start nothing of its own until it is resumed, or until that moment."""
    said = body or SaidPause()
    return asked.write(
        lambda verbs: verbs.schedules.pause(schedule_id, said.note, until=said.until, by=asked.principal.user),
        shown_schedule,
        headers=etag,
    )


@router.post("/{schedule_id}/resume", response_model=ShownSchedule, responses={200: ETAG})
@needs(Right.WRITE)
def resume(schedule_id: ScheduleId, asked: Asked) -> Response:
    """End its pause: what fell into it is judged by catch-up. Nothing happens when it is not paused."""
    return asked.write(lambda verbs: verbs.schedules.resume(schedule_id), shown_schedule, headers=etag)


@router.post("/{schedule_id}/trigger", status_code=201, response_model=ShownRun)
@needs(Right.WRITE)
def trigger(schedule_id: ScheduleId, asked: Asked, body: Annotated[SaidTrigger | None, Body()] = None) -> Response:
    """Run it now, also when it is paused; the run says whether it starts, waits or is skipped."""
    options = {} if body is None else body.model_dump(exclude_unset=True)
    return asked.write(lambda verbs: verbs.schedules.trigger(schedule_id, **options), shown_run, status=201)


@router.post("/{schedule_id}/skip", response_model=ShownRun)
@needs(Right.WRITE)
def skip(schedule_id: ScheduleId, body: SkippedSlot, asked: Asked) -> Response:
    """Do not run the slot of that moment: one to come, or one that waits."""
    at = _moment_at(body.at)
    return asked.write(lambda verbs: verbs.schedules.skip(schedule_id, at), shown_run)


def _moment_at(said: str) -> datetime:
    """What `at` says; the verbs call it by another name."""
    return moment_of(instant_of(said, "at"))


@router.get("/{schedule_id}/times", response_model=TimeList)
@needs(Right.READ)
def times(
    schedule_id: ScheduleId,
    asked: Asked,
    start: Time = None,
    end: Time = None,
    count: Annotated[int, Query(ge=1, le=MOST_TIMES)] = 10,
) -> Response:
    """The moments that its spec names, after now or from `start`, up to `end`, at most so many."""
    found = asked.verbs.schedules.times(schedule_id, start, end, count=count + 1)
    return answered(TimeList(items=found[:count], next=found[count] if len(found) > count else None))


@router.get("/{schedule_id}/explain", response_model=ShownExplanation)
@needs(Right.READ)
def explain(
    schedule_id: ScheduleId,
    asked: Asked,
    at: Annotated[str, Query(max_length=64, json_schema_extra={"format": "date-time"})],
) -> Response:
    """Why that moment did or did not run; deleted schedules are explained too."""
    found = ShownExplanation.model_validate(asked.verbs.schedules.explain(schedule_id, _moment_at(at)))
    return answered(found.model_copy(update={"sentence": over_http(found.sentence)}))


@router.get("/{schedule_id}/estimate", response_model=ShownEstimate)
@needs(Right.READ)
def estimate(schedule_id: ScheduleId, asked: Asked, days: Annotated[int, Query(ge=1, le=3660)] = 30) -> Response:
    """What the slots of so many days to come may cost, within its limit."""
    return answered(ShownEstimate.model_validate(asked.verbs.schedules.estimate(schedule_id, days)))


@router.get("/{schedule_id}/budget", response_model=ShownBudgetUse)
@needs(Right.READ)
def budget(schedule_id: ScheduleId, asked: Asked) -> Response:
    """How much of its own budget is used, and from when there is room for its next slot; 404 when it has none."""
    return answered(ShownBudgetUse.model_validate(asked.verbs.schedules.budget(schedule_id)))


@router.get("/{schedule_id}/gaps", response_model=Listed[ShownGap])
@needs(Right.READ)
def gaps(schedule_id: ScheduleId, asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """Its long runs of slots that nothing ran, oldest first."""
    began_at, number = place_of(after, int, int) or (0, 0)
    found = asked.verbs.runs.gaps_page(schedule_id, after=(began_at, number), limit=limit)
    return answered(listed(ShownGap, found, ShownGap.model_validate))


@router.get("/{schedule_id}/backfills", response_model=Listed[ShownBackfill])
@needs(Right.READ)
def backfills(schedule_id: ScheduleId, asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """Its backfills, oldest first, and how far each has come."""
    place = place_of(after, int)
    found = asked.verbs.schedules.backfills_page(schedule_id, after=place[0] if place else 0, limit=limit)
    return answered(listed(ShownBackfill, found, shown_backfill))


@router.post(
    "/{schedule_id}/backfills",
    status_code=201,
    response_model=ShownBackfill,
    responses={200: {"model": ShownBackfill, "description": "What a dry run would do."}, **also(402)},
)
@needs(Right.WRITE)
def backfill(schedule_id: ScheduleId, body: NewBackfill, asked: Asked) -> Response:
    """Run past slots from start to end, both included; a dry run lists them and what they may cost."""
    options = body.model_dump(exclude_unset=True)
    if body.dry_run:
        return answered(shown_backfill(asked.verbs.schedules.backfill(schedule_id, **options)))
    return asked.write(lambda verbs: verbs.schedules.backfill(schedule_id, **options), shown_backfill, status=201)
