"""Declared sets of schedules over HTTP: plan, apply, and what is there in the words of a set."""

import json
from typing import Annotated, Any, NamedTuple

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.http.asking import Ask, Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, cursor_of, place_of
from foliot.http.schemas import Given, Json, Moment, Switch, Taken, such_as
from foliot.services.declaration import Measure
from foliot.services.declaring import MOST_DECLARED, Written
from foliot.services.declaring import DeclaredSet as AppliedSet

router = routes("", "declared")

_LARGEST_PAGE = 4_000_000
_AT_A_TIME = 10

_EXAMPLE = [{"name": "digest", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"}]
SetName = Annotated[str, Field(min_length=1, max_length=100, description="The name of the set.")]


class PlannedSet(Taken):
    """A set of schedules as it is to be; each takes a name and the options of a new schedule."""

    model_config = such_as(set="mail", schedules=_EXAMPLE)

    set: SetName
    schedules: Annotated[list[dict[str, Json]], Field(max_length=MOST_DECLARED, examples=[_EXAMPLE])]
    overwrite: Switch = False
    """Also what somebody has changed since the set was applied last."""


class SetToApply(PlannedSet):
    """A set that is to be applied."""

    user: str | None = None
    """For whom, when that is not the caller: admins only."""


class ShownFieldChange(Given):
    """A field that is not as its set says; a spec is said as a sentence."""

    field: str
    now: Json
    wanted: Json
    drift: bool
    kept: bool


class ShownDeclared(Given):
    """What applying a set does to one schedule."""

    id: str
    measure: Measure
    changes: list[ShownFieldChange]
    note: str | None
    next_now: list[Moment]
    next_wanted: list[Moment]
    moved: int
    """How many of the next 20 times are no longer among them."""


class ShownSet(Given):
    """What applying a set does, or did."""

    set: str
    schedules: list[ShownDeclared]
    applied: bool


class WrittenSchedule(Given):
    """A schedule in the words of a set: its name, and the options that make it again."""

    name: str
    set: str | None
    """The set that declares it."""
    options: dict[str, Json]
    vanished: bool
    """It is in its set no more, and paused, by `apply` or somebody before: to write it down is to declare it again."""


def _shown(applied: AppliedSet) -> ShownSet:
    return ShownSet.model_validate(applied)


@router.post("/schedules/plan", response_model=ShownSet)
@needs(Right.READ)
def plan(body: PlannedSet, asked: Asked) -> Response:
    """What applying the set would do, field by field, and how that moves the next times; nothing is changed."""
    return answered(_shown(asked.verbs.declarations.plan(body.set, body.schedules, overwrite=body.overwrite)))


@router.post("/schedules/apply", response_model=ShownSet, responses=also(402, 404))
@needs(Right.WRITE)
def apply(body: SetToApply, asked: Asked) -> Response:
    """Make the schedules what the set says, all or none.

    What vanished from the set is paused with a note, and resumed when it is back. What somebody has changed since
    stays, unless it is to be overwritten; pauses, notes and budgets always do.
    """
    options: dict[str, Any] = {"overwrite": body.overwrite, "user": body.user}
    return asked.write(lambda verbs: verbs.declarations.apply(body.set, body.schedules, **options), _shown)


class _Some(NamedTuple):
    items: list[Written]
    is_all: bool
    """Nothing comes after them."""


def _some(asked: Ask, set: str | None, after: str | None, most: int) -> _Some:
    """Fewer than that from there on, and not many letters more than a page may have: inputs are as long as requests."""
    found: list[Written] = []
    letters = 0
    while len(found) < most and letters < _LARGEST_PAGE:
        wanted = min(_AT_A_TIME, most - len(found))
        part = asked.verbs.declarations.written(set, after=found[-1].id if found else after, limit=wanted)
        found += part
        letters += sum(len(json.dumps(one.options)) for one in part)
        if len(part) < wanted:
            return _Some(found, is_all=True)
    # The last was only looked for: there is a next page, and something on it.
    return _Some(found[:-1], is_all=False)


@router.get("/declared", response_model=Listed[WrittenSchedule])
@needs(Right.READ)
def written(
    asked: Asked,
    set: Annotated[str | None, Query(max_length=100, description="Only those of this set.")] = None,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Schedules as `apply` takes them, by id: those of a set, or all that no program declares; fewer of large ones."""
    place = place_of(after, str)
    found = _some(asked, set, place[0] if place else None, limit + 1)
    items = [
        WrittenSchedule(
            name=one.options["name"],
            set=one.set,
            options={key: value for key, value in one.options.items() if key != "name"},
            vanished=one.is_vanished,
        )
        for one in found.items
    ]
    last = None if found.is_all else cursor_of(found.items[-1].id)
    return answered(Listed[WrittenSchedule](items=items, next=last))
