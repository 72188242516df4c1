"""Executions that were asked for from outside, over HTTP."""

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.delivery import RequestStage
from foliot.domain.questions import Verdict
from foliot.domain.runs import Reason, Status
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Json, Moment, Taken, such_as
from foliot.services.views import ExecutionRequest

router = routes("/requests", "requests")

RequestKey = Annotated[str, Path(max_length=1000, description="The key that it was asked under.")]


class SaidVerdict(Taken):
    """Whether it is executed once more: approve or reject."""

    model_config = such_as(verdict="approve")

    verdict: Verdict


class ShownRequest(Given):
    """An execution that somebody outside has asked for."""

    key: str
    target: str
    caller: str
    grant: str
    run_id: str
    stage: RequestStage
    status: Status | None
    """What it came to, once it is done, and why, if not well; of a start by the launcher, how its run stands."""
    reason: Reason | None
    error: str | None
    verdict: Verdict | None
    """What a person has said about it, when it was held, and who."""
    decided_by: str | None
    created_at: Moment
    ended_at: Moment | None


class ShownRequestDetail(ShownRequest):
    """The same with what it came to."""

    result: Json


def _shown(request: ExecutionRequest) -> ShownRequest:
    said = {name: getattr(request, name) for name in ShownRequest.model_fields}
    return ShownRequest(**said | {"error": None if request.error is None else request.error[:200]})


def _shown_detail(request: ExecutionRequest) -> ShownRequestDetail:
    return ShownRequestDetail.model_validate(request)


@router.get("", response_model=Listed[ShownRequest])
@needs(Right.ADMIN)
def listing(asked: Asked, stage: RequestStage | None = None, after: After = None, limit: Limit = LISTED) -> Response:
    """Executions that were asked for from outside, the newest first; those that are held wait for an admin.

    With a stage a page may have fewer than `limit`, also none, while there is a `next`.
    """
    place = place_of(after, int)
    found = asked.verbs.requests.page(stage, before=place[0] if place else None, limit=limit)
    return answered(listed(ShownRequest, found, _shown))


@router.get("/{key:path}", response_model=ShownRequestDetail)
@needs(Right.ADMIN)
def get(key: RequestKey, asked: Asked) -> Response:
    """What became of an execution that was asked for under that key."""
    return answered(_shown_detail(asked.verbs.requests.get(key)))


@router.post("/{key:path}/decision", response_model=ShownRequestDetail)
@needs(Right.ADMIN)
def decide(key: RequestKey, body: SaidVerdict, asked: Asked) -> Response:
    """Say whether a request is executed once more of which nobody knows whether it was."""
    by = asked.principal.user
    return asked.write(lambda verbs: verbs.requests.decide(key, body.verdict, by=by), _shown_detail)
