"""Grants over HTTP."""

from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.grants import EVERYTHING, scope_of
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Moment, SaidMoment, Switch, Taken, such_as
from foliot.http.v1.schedule_schemas import SaidBudget, ShownBudget, ShownBudgetUse
from foliot.services.views import Grant

router = routes("/grants", "grants")

_SCOPE = scope_of("python:digest")
_BUDGET = {"credits": 5000, "per": "day", "when_spent": "skip"}
Scopes = Annotated[
    list[Annotated[str, Field(max_length=300)]],
    Field(min_length=1, max_length=1000, examples=[[_SCOPE]]),
]
_EVERYTHING = f"Said besides the scope {EVERYTHING}, so that nobody permits everything by mistake."


class NewGrant(Taken):
    """A permission that is to be."""

    model_config = such_as(scopes=[_SCOPE], expires_at="2027-01-01T00:00:00Z", budget=_BUDGET)

    scopes: Scopes
    user: str | None = Field(None, max_length=100, description="For admins: whose it is.")
    expires_at: SaidMoment | None = None
    budget: SaidBudget | None = None
    everything: Switch = Field(False, description=_EVERYTHING)


class GrantChanges(Taken):
    """Only what is to change; null takes an end or a budget away."""

    model_config = such_as(expires_at=None, budget=_BUDGET)

    scopes: Scopes | None = None
    expires_at: SaidMoment | None = None
    budget: SaidBudget | None = None
    everything: Switch = Field(False, description=_EVERYTHING)


class SaidRevoke(Taken):
    """What becomes of what is under way by it."""

    model_config = such_as(stop=True)

    stop: Switch = Field(False, description="Stop what runs, and cancel what waits; else both may finish.")


class ShownGrant(Given):
    """A permission: whose it is, for what, and until when."""

    model_config = such_as(
        id="grant-7",
        user="ann",
        scopes=[_SCOPE],
        expires_at=None,
        revoked_at=None,
        budget=_BUDGET,
        created_at="2026-11-15T09:00:00Z",
    )

    id: str
    user: str
    scopes: list[str]
    expires_at: Moment | None
    revoked_at: Moment | None
    budget: ShownBudget | None
    created_at: Moment


def _shown(grant: Grant) -> ShownGrant:
    budget = grant.budget
    return ShownGrant(
        id=grant.id,
        user=grant.user,
        scopes=list(grant.scopes),
        expires_at=grant.expires_at,
        revoked_at=grant.revoked_at,
        budget=None
        if budget is None
        else ShownBudget(credits=budget.credits, per=budget.window, when_spent=budget.when_spent),
        created_at=grant.created_at,
    )


def _options(body: NewGrant | GrantChanges) -> dict[str, Any]:
    """What was said, and nothing that was not."""
    said = {name: getattr(body, name) for name in body.model_fields_set}
    if isinstance(said.get("budget"), SaidBudget):
        said["budget"] = said["budget"].model_dump()
    return said


@router.post("", status_code=201, response_model=ShownGrant, responses=also(404))
@needs(Right.WRITE)
def create(body: NewGrant, asked: Asked) -> Response:
    """Permit targets on your account, until then and within a budget if those are said."""
    options = _options(body)
    return asked.write(lambda verbs: verbs.grants.create(**options), _shown, status=201)


@router.get("", response_model=Listed[ShownGrant])
@needs(Right.READ)
def listing(
    asked: Asked,
    user: Annotated[str | None, Query(max_length=100, description="For admins: whose.")] = None,
    after: After = None,
    limit: Limit = LISTED,
) -> Response:
    """Your grants, for admins everybody's, the oldest first; also those that were made for one schedule each."""
    place = place_of(after, int)
    found = asked.verbs.grants.page(user, after=place[0] if place else 0, limit=limit)
    return answered(listed(ShownGrant, found, _shown))


@router.get("/{grant_id}", response_model=ShownGrant)
@needs(Right.READ)
def get(grant_id: str, asked: Asked) -> Response:
    """A grant as it stands."""
    return answered(_shown(asked.verbs.grants.get(grant_id)))


@router.get("/{grant_id}/budget", response_model=ShownBudgetUse)
@needs(Right.READ)
def budget(grant_id: str, asked: Asked) -> Response:
    """How much of its budget is used, and from when there is room for another run; 404 when it has none."""
    return answered(ShownBudgetUse.model_validate(asked.verbs.grants.budget(grant_id)))


@router.patch("/{grant_id}", response_model=ShownGrant)
@needs(Right.WRITE)
def change(grant_id: str, body: GrantChanges, asked: Asked) -> Response:
    """Change what a grant permits, until when, or within which budget; not of one that was revoked."""
    options = _options(body)
    return asked.write(lambda verbs: verbs.grants.change(grant_id, **options), _shown)


@router.post("/{grant_id}/revoke", response_model=ShownGrant)
@needs(Right.WRITE)
def revoke(grant_id: str, asked: Asked, body: Annotated[SaidRevoke | None, Body()] = None) -> Response:
    """Let nothing start by it any more. What is under way may finish, unless `stop` says otherwise."""
    stop = body is not None and body.stop
    return asked.write(lambda verbs: verbs.grants.revoke(grant_id, stop=stop), _shown)
