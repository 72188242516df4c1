"""Many schedules at once over HTTP: created all or none, and changed by the filter of their list, batch by batch."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from starlette.responses import Response

from foliot.courtesy import INTERPRETER
from foliot.domain.access import Right
from foliot.domain.schedule import MOST_LABELS
from foliot.http.asking import Ask, Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import cursor_of, place_of
from foliot.http.schemas import Given, Moment, SaidMoment, Switch, Taken, such_as
from foliot.http.v1.schedule_schemas import DIGEST, NewSchedule, SaidLabels, SaidStanding
from foliot.services.bulk import MOST_AT_ONCE, Batch, Reach
from foliot.services.schedule_lists import Meant
from foliot.services.verbs import Verbs
from foliot.services.views import Schedule

router = routes("/schedules", "schedules")


class NewSchedules(Taken):
    """Schedules that are to be, all of them or none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [DIGEST]}]})

    items: Annotated[list[NewSchedule], Field(min_length=1, max_length=MOST_AT_ONCE)]


class CreatedSchedule(Given):
    """A schedule that is now there."""

    id: str
    name: str
    token: int
    grant: str
    next_at: Moment | None


class CreatedSchedules(Given):
    """What was created, in the order in which it was asked for."""

    created: int
    items: list[CreatedSchedule]


class SaidFilter(Taken):
    """Which schedules are meant: those for which all holds that is said, as in their list."""

    model_config = such_as(labels={"team": "mail"}, standing="active")

    q: str | None = Field(default=None, max_length=300, description="In the id or in the name.")
    ids: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=MOST_AT_ONCE)] | None = None
    app: str | None = Field(default=None, max_length=1000)
    set: str | None = Field(default=None, max_length=100)
    target: str | None = Field(default=None, max_length=300)
    labels: SaidLabels | None = None
    standing: SaidStanding | None = None
    needs_attention: Switch | None = None
    owner: str | None = Field(default=None, max_length=100, description="Whose they are; for admins.")

    def meant(self) -> Meant:
        return Meant(text=self.q, **self.model_dump(exclude={"q"}))


class SaidReach(Taken):
    """Which schedules, and how many at once."""

    filter: SaidFilter = SaidFilter()
    all: Switch = Field(default=False, description="Also when the filter leaves none out.")
    dry_run: Switch = Field(
        default=False, description="Change nothing: count them all, up to 100,000, and name those of this batch."
    )
    after: str | None = Field(default=None, max_length=2000, description="The `next` of the batch before.")
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST_AT_ONCE)] = MOST_AT_ONCE


class SaidPauses(SaidReach):
    """Which are paused, why, and until when."""

    model_config = such_as(filter={"labels": {"team": "mail"}}, note="the printer burns")

    note: str | None = Field(default=None, max_length=1000)
    until: SaidMoment | None = None


class SaidResumptions(SaidReach):
    """Which are resumed."""

    model_config = such_as(filter={"labels": {"team": "mail"}})


class SaidLabelling(SaidReach):
    """Which labels are put on which schedules, and which are taken off."""

    model_config = such_as(filter={"target": "python:digest"}, set={"team": "mail"}, remove=["owner"])

    set: SaidLabels = Field(default_factory=dict)
    remove: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=MOST_LABELS)


class ShownBatch(Given):
    """What one batch did. With a `next` there may be more: the same is asked again with it as `after`."""

    found: int = Field(description="How many were meant: in this batch, or of a dry run in all, up to 100,000.")
    changed: int = Field(description="How many are not what they were; of a dry run none.")
    ids: list[str] = Field(description="Of those that were changed; of a dry run those of this batch that would be.")
    dry_run: bool
    next: str | None


@router.post("/bulk", status_code=201, response_model=CreatedSchedules, responses=also(402, 404))
@needs(Right.WRITE)
def create_many(body: NewSchedules, asked: Asked) -> Response:
    """Create up to 1,000 schedules in one transaction: all of them or, when one is refused, none."""
    several = [one.said() for one in INTERPRETER.politely(body.items)]
    return asked.write(lambda verbs: verbs.schedules.create_many(several), _shown_created, status=201)


@router.post("/pause", response_model=ShownBatch)
@needs(Right.WRITE)
def pause_many(body: SaidPauses, asked: Asked) -> Response:
    """Pause up to 1,000 of those that the filter names, by id, in one transaction.

    Those that are paused already keep their note and their end, unless the filter asks for `standing` paused.
    """
    options: dict[str, Any] = {"until": body.until, "by": asked.principal.user}
    return _batch(asked, body, lambda verbs, reach: verbs.bulk.pause(reach, body.note, **options))


@router.post("/resume", response_model=ShownBatch)
@needs(Right.WRITE)
def resume_many(body: SaidResumptions, asked: Asked) -> Response:
    """End the pauses of up to 1,000 of those that the filter names, by id, in one transaction."""
    return _batch(asked, body, lambda verbs, reach: verbs.bulk.resume(reach))


@router.post("/label", response_model=ShownBatch)
@needs(Right.WRITE)
def label_many(body: SaidLabelling, asked: Asked) -> Response:
    """Put labels on up to 1,000 of those that the filter names, or take some off, by id, in one transaction."""
    return _batch(asked, body, lambda verbs, reach: verbs.bulk.label(reach, body.set, body.remove))


def _batch(asked: Ask, body: SaidReach, act: Callable[[Verbs, Reach], Batch]) -> Response:
    place = place_of(body.after, str)
    reach = Reach(body.filter.meant(), body.all, None if place is None else tuple(place), body.limit, body.dry_run)

    def shown(batch: Batch) -> ShownBatch:
        rest = None if batch.rest is None else cursor_of(*batch.rest)
        ids = list(batch.changed)
        changed = 0 if body.dry_run else len(ids)
        return ShownBatch(found=batch.found, changed=changed, ids=ids, dry_run=body.dry_run, next=rest)

    if body.dry_run:
        return answered(shown(act(asked.verbs, reach)))
    return asked.write(lambda verbs: act(verbs, reach), shown)


def _shown_created(created: Sequence[Schedule]) -> CreatedSchedules:
    items = [
        CreatedSchedule.model_construct(id=one.id, name=one.name, token=one.token, grant=one.grant, next_at=one.next_at)
        for one in INTERPRETER.politely(created)
    ]
    return CreatedSchedules.model_construct(created=len(items), items=items)
