"""The registrar over HTTP: its own paths and words, for the services that deploy workflows."""

from typing import Annotated

from fastapi import Path
from pydantic import Field, RootModel
from starlette.responses import Response

from foliot.domain.errors import NotFound
from foliot.domain.registrar_defaults import CatchupPolicy, OverlapPolicy
from foliot.domain.registration import RunWord
from foliot.http.asking import SERVICE, AskedByService, answered, needs
from foliot.http.openapi import also, routes_at
from foliot.http.paging import LISTED, Limit
from foliot.http.schemas import Given, Moment, SaidMoment, Switch, Taken, Whole, such_as
from foliot.services.registrar import RegisteredSchedule, ScheduleRun
from foliot.services.verbs import Verbs

router = routes_at("", "registrar")

ScheduleId = Annotated[str, Path(min_length=1, max_length=300, description="Its `schedule_id`.")]
_REGISTERED = {
    "workflow_id": "invoices",
    "version": 3,
    "user_id": "ann",
    "cron_expr": "0 9 * * MON-FRI",
    "timezone": "America/New_York",
    "start_at": None,
    "end_at": None,
    "jitter_ms": 0,
    "overlap_policy": "skip",
    "catchup_policy": "none",
}


class SaidRegistration(Taken):
    """What is to be registered: which version of which workflow, for whom, when, and how."""

    model_config = such_as(schedule_id="invoices-daily", **_REGISTERED)

    schedule_id: str | None = Field(None, max_length=100, description="One is made when there is none.")
    workflow_id: str = Field(max_length=1000)
    version: Whole
    user_id: str = Field(max_length=1000, description="Whose it is, and who permits and pays.")
    cron_expr: str = Field(max_length=1000, description="5 fields, or 6 with seconds before them.")
    timezone: str = Field(max_length=1000, description="An IANA name.")
    start_at: SaidMoment | None = None
    end_at: SaidMoment | None = None
    jitter_ms: Whole | None = Field(None, description="At most so much before or after each moment.")
    overlap_policy: OverlapPolicy | None = None
    catchup_policy: CatchupPolicy | None = None


class UpsertedSchedule(Given):
    """What a schedule is called, and when it runs next."""

    model_config = such_as(schedule_id="invoices-daily", next_run_at="2026-11-16T14:00:00Z")

    schedule_id: str
    next_run_at: Moment | None


class SaidPaused(Taken):
    """Which schedule is paused, or goes on."""

    model_config = such_as(schedule_id="invoices-daily", paused=True)

    schedule_id: str = Field(max_length=1000)
    paused: Switch


class ShownRegistered(Given):
    """A schedule. What is null in it cannot be said in these words: it was changed elsewhere."""

    model_config = such_as(
        schedule_id="invoices-daily",
        **_REGISTERED,
        next_run_at="2026-11-16T14:00:00Z",
        paused=False,
        updated_at="2026-11-15T12:00:00Z",
        preview=["2026-11-16T14:00:00Z", "2026-11-17T14:00:00Z"],
    )

    schedule_id: str
    workflow_id: str
    version: int | None
    user_id: str
    cron_expr: str | None
    timezone: str
    start_at: Moment | None
    end_at: Moment | None
    next_run_at: Moment | None
    """The next moment that it names, also while it is paused."""
    paused: bool
    jitter_ms: int
    overlap_policy: OverlapPolicy | None
    catchup_policy: CatchupPolicy | None
    updated_at: Moment
    preview: list[Moment]
    """Its next five fire times."""


class ShownScheduleRun(Given):
    """A planned time of a schedule, and what became of it."""

    model_config = such_as(
        idempotency_key="b5f740f5372760c9b6c8ff8c66c68b8b093fa5971502448ab6f75ed16dcd1419",
        schedule_id="invoices-daily",
        run_at="2026-11-16T14:00:00Z",
        status="SUCCESS",
        run_id="invoices-daily:2026-11-16T14:00:00Z~1",
        created_at="2026-11-16T14:00:00.004Z",
        updated_at="2026-11-16T14:00:01.2Z",
    )

    idempotency_key: str
    """sha256 of `schedule_id:run_at`, the time in seconds since 1970."""
    schedule_id: str
    run_at: Moment
    status: RunWord
    run_id: str
    created_at: Moment
    updated_at: Moment


class ShownScheduleRuns(Given):
    """The last runs of a schedule, the newest first."""

    schedule_runs: list[ShownScheduleRun]


class WantedStart(Taken):
    """Which version of which workflow is started, for whom, for which moment, and under which key."""

    model_config = such_as(
        workflow_id="invoices",
        version=3,
        user_id="ann",
        scheduled_for="2026-11-16T14:00:00Z",
        idempotency_key="b5f740f5372760c9b6c8ff8c66c68b8b093fa5971502448ab6f75ed16dcd1419",
    )

    workflow_id: str = Field(max_length=1000)
    version: Whole
    user_id: str = Field(max_length=1000)
    scheduled_for: SaidMoment
    idempotency_key: str = Field(min_length=1, max_length=1000)


class StartAccepted(RootModel[bool]):
    """Whether it was started; false: there is no such workflow in that version."""

    model_config = {"json_schema_extra": {"examples": [True]}}


@router.post("/schedules/upsert", response_model=UpsertedSchedule, responses=also(402, 404))
@needs(SERVICE)
def upsert(body: SaidRegistration, asked: AskedByService) -> Response:
    """Register a schedule, or make the one of that id what is said. One that is paused stays paused."""
    given, defaults = body.model_dump(exclude_unset=True), asked.service.registrar

    def shown(schedule: RegisteredSchedule) -> UpsertedSchedule:
        return UpsertedSchedule(schedule_id=schedule.schedule_id, next_run_at=schedule.next_run_at)

    return asked.write(lambda verbs: verbs.registrar.upsert(given, defaults), shown)


@router.post("/schedules/pause", status_code=204, responses=also(404))
@needs(SERVICE)
def pause(body: SaidPaused, asked: AskedByService) -> Response:
    """Pause a schedule, or let it go on; told what it does already, it changes nothing."""
    return asked.write(lambda verbs: verbs.registrar.pause(body.schedule_id, body.paused), lambda _: None, status=204)


@router.delete("/schedules/{schedule_id}", status_code=204)
@needs(SERVICE)
def delete(schedule_id: ScheduleId, asked: AskedByService) -> Response:
    """Take a schedule away: nothing of it starts any more, and its runs stay on record."""
    return asked.write(lambda verbs: verbs.registrar.delete(schedule_id), lambda _: None, status=204)


@router.get("/schedules/{schedule_id}", response_model=ShownRegistered)
@needs(SERVICE)
def get(schedule_id: ScheduleId, asked: AskedByService) -> Response:
    """A schedule, and its next five fire times."""
    return answered(ShownRegistered.model_validate(asked.verbs.registrar.get(schedule_id)))


@router.get("/schedules/{schedule_id}/runs", response_model=ShownScheduleRuns)
@needs(SERVICE)
def runs(schedule_id: ScheduleId, asked: AskedByService, limit: Limit = LISTED) -> Response:
    """The last runs that its cron has asked for, the newest first; of several attempts the last."""
    found = asked.verbs.registrar.runs(schedule_id, limit)
    return answered(ShownScheduleRuns(schedule_runs=[_shown_run(run) for run in found]))


@router.post("/run-launcher/start", response_model=StartAccepted, responses=also(402))
@needs(SERVICE)
def start(body: WantedStart, asked: AskedByService) -> Response:
    """Start a workflow once under its key. True: it is on record, now or since the key was used first."""
    return asked.write(lambda verbs: _launched(verbs, body), lambda run_id: StartAccepted(run_id is not None))


def _launched(verbs: Verbs, body: WantedStart) -> str | None:
    """Its run; None when there is nothing of that name and version to start."""
    try:
        return verbs.launcher.launch(**body.model_dump())
    except NotFound:
        return None


def _shown_run(run: ScheduleRun) -> ShownScheduleRun:
    return ShownScheduleRun.model_validate(run)
