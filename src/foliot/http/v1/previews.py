"""What would be, over HTTP: any spec, and an edit of a schedule before it is made."""

import json
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.clock_changes import Effect
from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.zones import tzdata_version
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.schemas import Given, Json, Moment, SaidMoment
from foliot.http.v1.schedule_schemas import SaidSpec, ScheduleOptions
from foliot.http.v1.schedules import ScheduleId
from foliot.services.previewing import COMPARED, SpecPreview

router = routes("", "schedules")

MOST_SHOWN = 1_000
_Count = Annotated[int, Field(strict=True, ge=1, le=MOST_SHOWN, description="How many times at most.")]


class SaidPreview(SaidSpec):
    """A spec, and which of its times are wanted."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "count": 5}]}
    )

    since: SaidMoment | None = Field(default=None, description="Those after this moment; without one, after now.")
    count: _Count = 10


class PreviewedEdit(ScheduleOptions):
    """What is to change, as in PATCH, and how many of the next times are compared."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"cron": "0 10 * * *", "timezone": "Europe/Berlin"}]})

    grant: str | None = Field(default=None, max_length=100)
    count: _Count = COMPARED


class ShownTime(Given):
    """A time of a spec: as UTC, on the wall clock there, and what a clock change does to it."""

    nominal_at: Moment
    local: str
    dst: Effect | None


class ShownWarning(Given):
    """What is odd about a spec."""

    code: str
    message: str


class ShownPreview(Given):
    """What a spec means."""

    summary: str
    timezone: str
    tzdata: str
    canonical: dict[str, Any]
    times: list[ShownTime]
    skipped: list[str]
    """Times on the wall clock that a clock change leaves out, up to the last that is shown."""
    warnings: list[ShownWarning]


class ShownChange(Given):
    """An option as it is and as it would be; null: by default. A spec is said as a sentence."""

    field: str
    now: Json
    wanted: Json


class ShownEdit(Given):
    """What an edit would do."""

    id: str
    token: int
    changes: list[ShownChange]
    sentence: str
    compared: int
    """So many of the next times as they are were looked at; kept and moved add up to it."""
    kept: int
    """Of those, so many are times after the edit, too."""
    moved: int
    """Of those, so many are none any more."""
    added: int
    """So many times after the edit, up to the last of those, are none now: those in place of the moved, too."""
    next_now: list[Moment]
    """As the spec names them, also those that somebody has skipped."""
    next_wanted: list[Moment]
    warnings: list[ShownWarning]


@router.post("/preview", response_model=ShownPreview)
@needs(Right.READ)
def preview(body: SaidPreview, asked: Asked) -> Response:
    """What a spec means: in words, its next times, what clock changes do to them, and what is odd about it."""
    options = body.model_dump(exclude_unset=True, exclude={"since", "count"})
    return answered(_shown(asked.verbs.previews.spec(options, since=body.since, count=body.count)))


@router.post("/schedules/{schedule_id}/preview", response_model=ShownEdit)
@needs(Right.READ)
def preview_edit(schedule_id: ScheduleId, body: PreviewedEdit, asked: Asked) -> Response:
    """What a PATCH with this would change, and how many of the next times it moves; nothing is changed."""
    changes = body.model_dump(exclude_unset=True, exclude={"count"})
    found = asked.verbs.previews.edit(schedule_id, changes, count=body.count)
    return answered(ShownEdit.model_validate(found))


def _shown(found: SpecPreview) -> ShownPreview:
    shown = found.shown
    return ShownPreview(
        summary=shown.summary,
        timezone=shown.timezone,
        tzdata=tzdata_version(),
        canonical=json.loads(found.canonical),
        times=[
            ShownTime(nominal_at=moment_of(time.nominal_at * MICROSECONDS), local=time.local, dst=time.dst)
            for time in shown.times
        ],
        skipped=shown.skipped_texts,
        warnings=[ShownWarning.model_validate(warning) for warning in shown.warnings],
    )
