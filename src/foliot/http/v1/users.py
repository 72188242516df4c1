"""Users over HTTP, and who it is that asks."""

from starlette.responses import Response

from foliot.domain.access import Right, Role
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Moment, Taken, such_as
from foliot.services.people import User

router = routes("/users", "users")
mine = routes("/me", "me")


class WantedUser(Taken):
    """What a user is to be."""

    model_config = such_as(role="member")

    role: Role


class ShownUser(Given):
    """Somebody who may come with a key."""

    model_config = such_as(id="ann", role="member", disabled_at=None, created_at="2026-11-15T09:00:00Z")

    id: str
    role: Role
    disabled_at: Moment | None
    created_at: Moment


class ShownSelf(Given):
    """Who asks, and what their key lets them do."""

    model_config = such_as(user="ann", role="member", rights=["decide", "read"], key="4f2a9c01b7de")

    user: str
    role: Role
    rights: list[Right]
    key: str | None
    """The id of the key that they came with."""


def shown(user: User) -> ShownUser:
    return ShownUser.model_validate(user)


@mine.get("", response_model=ShownSelf)
@needs(Right.READ)
def me(asked: Asked) -> Response:
    """Who you are, and what you may do with the key that you came with."""
    who = asked.principal
    return answered(ShownSelf(user=who.user, role=who.role, rights=sorted(who.rights), key=who.key))


@router.get("", response_model=Listed[ShownUser])
@needs(Right.ADMIN)
def listing(asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """Users, by id."""
    place = place_of(after, str)
    return answered(listed(ShownUser, asked.verbs.users.page(after=place[0] if place else "", limit=limit), shown))


@router.get("/{user:path}", response_model=ShownUser)
@needs(Right.ADMIN)
def get(user: str, asked: Asked) -> Response:
    """A user."""
    return answered(shown(asked.verbs.users.get(user)))


@router.put("/{user:path}", response_model=ShownUser)
@needs(Right.ADMIN)
def put(user: str, body: WantedUser, asked: Asked) -> Response:
    """Make a user one of that role, known or not.

    Who runs the service stays an admin, and nobody gives up being one.
    """
    return asked.changes_access(lambda verbs: verbs.users.put(user, body.role), shown)


@router.post("/{user:path}/disable", response_model=ShownUser)
@needs(Right.ADMIN)
def disable(user: str, asked: Asked) -> Response:
    """Let none of the user's keys be taken any more; what is theirs goes on."""
    return asked.changes_access(lambda verbs: verbs.users.disable(user), shown)


@router.post("/{user:path}/enable", response_model=ShownUser)
@needs(Right.ADMIN)
def enable(user: str, asked: Asked) -> Response:
    """Let the user's keys be taken again."""
    return asked.changes_access(lambda verbs: verbs.users.disable(user, disabled=False), shown)
