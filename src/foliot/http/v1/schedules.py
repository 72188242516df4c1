"""Schedules over HTTP: made, found, changed and deleted."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Header, Path, Query
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.errors import Invalid, NotFound
from foliot.domain.schedule import MOST_LABELS, Ordering, slug_of
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import ETAG, also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, is_plain, place_of, written_list
from foliot.http.routing import brief
from foliot.http.v1.schedule_schemas import (
    NewSchedule,
    SaidStanding,
    ScheduleChanges,
    ShownSchedule,
    ShownScheduleLine,
    WholeSchedule,
    etag,
    shown_schedule,
    written_schedule_line,
)
from foliot.services.schedule_lists import Meant
from foliot.services.verbs import Verbs
from foliot.services.views import Schedule

router = routes("/schedules", "schedules")

ScheduleId = Annotated[str, Path(min_length=1, max_length=300, description="Its id, or the name it was given.")]
IfMatch = Annotated[str | None, Header(max_length=100, description="The ETag that the schedule was read with.")]
_PLACES: dict[str, tuple[type, ...]] = {
    Ordering.ID: (str,),
    Ordering.NAME: (str, str),
    Ordering.NEXT: (int, int, int),
}
"""What a cursor is made of."""
_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"')


@router.post("", status_code=201, response_model=ShownSchedule, responses={201: ETAG, **also(402, 404)})
@needs(Right.WRITE)
def create(body: NewSchedule, asked: Asked) -> Response:
    """Create a schedule; its first slot is the first after now."""
    options = body.said()
    return asked.write(lambda verbs: verbs.schedules.create(**options), shown_schedule, status=201, headers=etag)


@router.get("", response_model=Listed[ShownScheduleLine])
@needs(Right.READ)
@brief(is_plain)
def listing(
    asked: Asked,
    q: Annotated[str | None, Query(max_length=300, description="In the id or in the name.")] = None,
    app: Annotated[str | None, Query(max_length=1000, description="The program, or the set, that declares it.")] = None,
    set: Annotated[str | None, Query(max_length=100, description="The set that declares it.")] = None,
    target: Annotated[str | None, Query(max_length=300, examples=["python:digest"])] = None,
    label: Annotated[
        list[str] | None,
        Query(max_length=MOST_LABELS, description="`name=value`, such as team=mail; all of them."),
    ] = None,
    standing: Annotated[SaidStanding | None, Query(description="What it does now.")] = None,
    needs_attention: Annotated[bool | None, Query(description="Whether it was refused several times in a row.")] = None,
    owner: Annotated[str | None, Query(max_length=100, description="Whose they are; for admins.")] = None,
    sort: Annotated[str, Query(json_schema_extra={"enum": [*Ordering]})] = Ordering.ID.value,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Schedules by id or name, or the one that fires next first and those that do not, or are paused, last.

    A page with a filter may have fewer than `limit`, also none, while there is a `next`.
    """
    meant = Meant(q, None, app, set, target, labels_said(label), standing, needs_attention, owner)
    place = place_of(after, *_PLACES.get(sort, ()))
    found = asked.verbs.bulk.page(meant, order=sort, after=None if place is None else tuple(place), limit=limit)
    return answered(written_list(found, written_schedule_line))


@router.get("/{schedule_id}", response_model=ShownSchedule, responses={200: ETAG})
@needs(Right.READ)
@brief()
def get(schedule_id: ScheduleId, asked: Asked) -> Response:
    """A schedule as it stands."""
    schedule = asked.verbs.schedules.get(schedule_id)
    return answered(shown_schedule(schedule), etag(schedule))


@router.put("/{schedule_id}", response_model=ShownSchedule, responses={200: ETAG, **also(402)})
@needs(Right.WRITE)
def put(
    schedule_id: ScheduleId,
    body: WholeSchedule,
    asked: Asked,
    if_match: IfMatch = None,
    upsert: Annotated[bool, Query(description="Create it when there is none; without If-Match.")] = False,
) -> Response:
    """Make it what is said as a whole: under If-Match the one that was read, or with `upsert` whatever is there."""
    options = body.said()
    name = options.pop("name", None)
    if name is not None and slug_of(name) != slug_of(schedule_id):
        raise Invalid(
            f"the name {name!r} is that of {slug_of(name)!r}, not of {schedule_id!r}: a schedule keeps its id"
        )
    if upsert and if_match is None:
        return asked.write(lambda verbs: _upserted(verbs, schedule_id, name, options), shown_schedule, headers=etag)
    token = _token(if_match)
    if token is None:
        raise Invalid("to replace a schedule send the ETag that it was read with as If-Match, or ask for upsert=true")
    if options.pop("user", None) is not None:
        raise Invalid("a schedule stays its owner's: leave user out")
    return asked.write(lambda verbs: _replaced(verbs, schedule_id, name, token, options), shown_schedule, headers=etag)


def _upserted(verbs: Verbs, schedule_id: str, name: str | None, options: dict[str, Any]) -> Schedule:
    _check_name(verbs, schedule_id, name)
    return verbs.schedules.upsert(name or schedule_id, **options)


def _replaced(verbs: Verbs, schedule_id: str, name: str | None, token: int, options: dict[str, Any]) -> Schedule:
    _check_name(verbs, schedule_id, name)
    return verbs.schedules.replace(schedule_id, token=token, **options)


def _check_name(verbs: Verbs, schedule_id: str, name: str | None) -> None:
    """Invalid when the schedule that there is has another name. What it is to find none, the verbs say."""
    if name is None:
        return
    with suppress(NotFound):
        called = verbs.schedules.get(schedule_id).name
        if called != name:
            raise Invalid(f"the schedule is called {called!r}, and keeps its name: leave name out, got {name!r}")


@router.patch("/{schedule_id}", response_model=ShownSchedule, responses={200: ETAG, **also(402)})
@needs(Right.WRITE)
def patch(schedule_id: ScheduleId, body: ScheduleChanges, asked: Asked, if_match: IfMatch = None) -> Response:
    """Change what is said and nothing else; null puts an option back to its default. If-Match is checked when sent."""
    changes, token = body.said(), _token(if_match)
    return asked.write(
        lambda verbs: verbs.schedules.patch(schedule_id, token=token, **changes), shown_schedule, headers=etag
    )


@router.delete("/{schedule_id}", status_code=204)
@needs(Right.WRITE)
def delete(schedule_id: ScheduleId, asked: Asked, if_match: IfMatch = None) -> Response:
    """Take it away: nothing of it starts any more, what runs may finish, and its ledger stays.

    If-Match is checked when sent.
    """
    token = _token(if_match)
    return asked.write(lambda verbs: verbs.schedules.delete(schedule_id, token=token), lambda _: None, status=204)


def labels_said(texts: Iterable[str] | None) -> dict[str, str] | None:
    """`name=value`, several times."""
    labels: dict[str, str] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign or labels.setdefault(name, value) != value:
            raise Invalid(f"label takes name=value, such as team=mail, each name once, got {text[:100]!r}")
    return labels or None


def _token(if_match: str | None) -> int | None:
    if if_match is None:
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise Invalid(f'If-Match takes one ETag of a schedule, such as "3", got {if_match!r}')
    return int(found[1])
