"""The trail of changes over HTTP."""

import json
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.instants import moment_of
from foliot.domain.trail import TrailEntry
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.paging import LISTED, After, Limit, Listed, cursor_of, listed, place_of
from foliot.http.schemas import Given, Json, Moment, such_as
from foliot.services.trail import CHECKED_AT_ONCE

router = routes("/trail", "trail")

_HASH = "a3f1c0de" * 8


class ShownDeed(Given):
    """A change that somebody made."""

    model_config = such_as(
        number=17,
        at="2026-11-15T09:00:00Z",
        actor="ann",
        action="schedule.pause",
        subject="schedule/digest",
        details={"note": "on holiday"},
        request_id="9c1b7de4f2a0",
        address="127.0.0.1",
    )

    number: int
    at: Moment
    actor: str
    action: str
    subject: str
    details: Json
    request_id: str | None
    address: str | None


class ShownBreak(Given):
    """Where the chain does not hold."""

    number: int
    what: str


class ShownCheck(Given):
    """What came of checking a part of the chain."""

    model_config = such_as(checked=17, breaks=[], last=17, hash=_HASH, next=None)

    checked: int
    breaks: list[ShownBreak]
    last: int
    """The number of the last entry that was looked at, and its hash: noted elsewhere, both prove the end."""
    hash: str
    next: str | None
    """For `after`, to go on with the rest; null at the end."""


def _shown(entry: TrailEntry) -> ShownDeed:
    return ShownDeed(
        number=entry.ref,
        at=moment_of(entry.at),
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        details=None if entry.details is None else json.loads(entry.details),
        request_id=entry.request_id,
        address=entry.address,
    )


@router.get("", response_model=Listed[ShownDeed])
@needs(Right.ADMIN)
def listing(
    asked: Asked,
    subject: Annotated[str | None, Query(max_length=1000, examples=["schedule/digest"])] = None,
    actor: Annotated[str | None, Query(max_length=100)] = None,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Who changed what, the newest first. With an actor a page may have fewer than `limit` while there is a `next`."""
    place = place_of(after, int)
    before = place[0] if place else None
    return answered(
        listed(ShownDeed, asked.verbs.trail.newest(subject=subject, actor=actor, before=before, limit=limit), _shown)
    )


@router.get("/verify", response_model=ShownCheck)
@needs(Right.ADMIN)
def verify(
    asked: Asked, after: After = None, limit: Annotated[int, Query(ge=1, le=CHECKED_AT_ONCE)] = CHECKED_AT_ONCE
) -> Response:
    """Whether all entries are as they were written, some thousand at once from the first; go on with `next`."""
    place = place_of(after, int, str)
    found = asked.verbs.trail.verify(*place or (), limit=limit)
    return answered(
        ShownCheck(
            checked=found.checked,
            breaks=[ShownBreak(number=one.ref, what=one.what) for one in found.breaks],
            last=found.last,
            hash=found.hash,
            next=None if found.is_end else cursor_of(found.last, found.hash),
        )
    )
