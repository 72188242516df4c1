"""API keys over HTTP."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Moment, SaidMoment, Taken, such_as
from foliot.services.people import ApiKey

router = routes("/keys", "keys")

_KEY: dict[str, Any] = {
    "id": "4f2a9c01b7de",
    "user": "ann",
    "name": "laptop",
    "rights": ["read", "write"],
    "expires_at": "2027-01-01T00:00:00Z",
    "revoked_at": None,
    "used_at": None,
    "created_at": "2026-11-15T09:00:00Z",
}


class WantedKey(Taken):
    """A key that is to be: the caller's own, with all rights that they have, unless it says otherwise."""

    model_config = such_as(name="laptop", rights=["read", "write"], expires_at="2027-01-01T00:00:00Z")

    name: str = Field(max_length=1000)
    user: str | None = Field(None, max_length=100, description="For admins: whose it is.")
    rights: list[Right] | None = Field(None, min_length=1, max_length=20)
    expires_at: SaidMoment | None = None


class ShownKey(Given):
    """A key, without what is secret of it."""

    model_config = such_as(**_KEY)

    id: str
    user: str
    name: str
    rights: list[Right]
    expires_at: Moment | None
    revoked_at: Moment | None
    used_at: Moment | None
    """To the minute."""
    created_at: Moment


class MadeKey(ShownKey):
    """A key that was just made."""

    model_config = such_as(**_KEY | {"secret": "fol_4f2a9c01b7de_…"})

    secret: str | None
    """The key itself, told this once; null when the same is asked again under its Idempotency-Key."""


def shown(key: ApiKey) -> ShownKey:
    return ShownKey(**{name: getattr(key, name) for name in ShownKey.model_fields})


def _made(key: ApiKey) -> MadeKey:
    return MadeKey(**shown(key).model_dump(), secret=key.secret)


def _made_before(key: ApiKey) -> MadeKey:
    return MadeKey(**shown(key).model_dump(), secret=None)


@router.post("", status_code=201, response_model=MadeKey, responses=also(404))
@needs(Right.WRITE)
def create(body: WantedKey, asked: Asked) -> Response:
    """Make a key. Its secret is told in this answer and nowhere else; it never has more rights than its maker."""
    options = body.model_dump(exclude_unset=True)
    return asked.write(lambda verbs: verbs.keys.create(**options), _made, status=201, kept=_made_before)


@router.get("", response_model=Listed[ShownKey])
@needs(Right.WRITE)
def listing(
    asked: Asked,
    user: Annotated[str | None, Query(max_length=100, description="For admins: whose.")] = None,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Your keys, for admins everybody's, the oldest first."""
    place = place_of(after, int)
    found = asked.verbs.keys.page(user, after=place[0] if place else 0, limit=limit)
    return answered(listed(ShownKey, found, shown))


@router.get("/{key_id}", response_model=ShownKey)
@needs(Right.WRITE)
def get(key_id: str, asked: Asked) -> Response:
    """A key."""
    return answered(shown(asked.verbs.keys.get(key_id)))


@router.delete("/{key_id}", response_model=ShownKey)
@needs(Right.WRITE)
def revoke(key_id: str, asked: Asked) -> Response:
    """Let a key open nothing any more."""
    return asked.changes_access(lambda verbs: verbs.keys.revoke(key_id), shown)
