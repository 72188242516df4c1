"""The workflows store over HTTP."""

from typing import Annotated, Any

from fastapi import Body, Path
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Json, Moment, such_as
from foliot.services.workflows import Deployed, Workflow, WorkflowSummary

router = routes("/workflows", "workflows")

WorkflowId = Annotated[str, Path(max_length=1000)]
_FLOW = {
    "workflow_id": "flow",
    "nodes": [
        {"id": "start", "type": "trigger", "data": {"kind": "manual"}},
        {"id": "send", "type": "action", "data": {"action": "send"}},
    ],
    "edges": [{"source": "start", "target": "send"}],
}


class ShownDeploy(Given):
    """What a deploy has changed: the ids of schedules."""

    model_config = such_as(workflow_id="flow", version=1, created=[], updated=[], unchanged=[], paused=[])

    workflow_id: str
    version: int
    created: list[str]
    updated: list[str]
    unchanged: list[str]
    paused: list[str]


class ShownWorkflowLine(Given):
    """A version of a workflow, without its document."""

    id: str
    owner: str
    version: int
    hash: str
    created_at: Moment
    created_by: str


class ShownWorkflow(Given):
    """A version of a workflow."""

    id: str
    version: int
    dag: Json
    hash: str
    created_at: Moment
    created_by: str


def _shown_deploy(deployed: Deployed) -> ShownDeploy:
    return ShownDeploy(**deployed._asdict())


def _shown_line(workflow: WorkflowSummary) -> ShownWorkflowLine:
    return ShownWorkflowLine.model_validate(workflow)


def _shown(workflow: Workflow) -> ShownWorkflow:
    return ShownWorkflow.model_validate(workflow)


@router.post("", status_code=201, response_model=ShownDeploy, responses=also(402, 404))
@needs(Right.WRITE)
def deploy(body: Annotated[dict[str, Any], Body(examples=[_FLOW])], asked: Asked) -> Response:
    """Keep a workflow as a new version, unless it is the latest already, and make its triggers schedules.

    All of it or nothing. It belongs to whoever deploys it first; its `user_id` says, for admins, for whom.
    """
    user = body.get("user_id")
    whose = user if isinstance(user, str) else None
    by = asked.principal.user
    return asked.write(lambda verbs: verbs.workflows.deploy(body, user=whose, by=by), _shown_deploy, status=201)


@router.get("", response_model=Listed[ShownWorkflowLine])
@needs(Right.READ)
def listing(asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """The latest version of each workflow, by id."""
    place = place_of(after, str)
    found = asked.verbs.workflows.page(after=place[0] if place else "", limit=limit)
    return answered(listed(ShownWorkflowLine, found, _shown_line))


@router.get("/{workflow_id}", response_model=ShownWorkflow)
@needs(Right.READ)
def get(workflow_id: WorkflowId, asked: Asked) -> Response:
    """The latest version of a workflow."""
    return answered(_shown(asked.verbs.workflows.get(workflow_id)))


@router.get("/{workflow_id}/versions", response_model=Listed[ShownWorkflowLine])
@needs(Right.READ)
def versions(workflow_id: WorkflowId, asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """All versions of a workflow, the newest first."""
    place = place_of(after, int)
    found = asked.verbs.workflows.version_page(workflow_id, before=place[0] if place else None, limit=limit)
    return answered(listed(ShownWorkflowLine, found, _shown_line))


@router.get("/{workflow_id}/versions/{version}", response_model=ShownWorkflow)
@needs(Right.READ)
def get_version(workflow_id: WorkflowId, version: Annotated[int, Path(ge=1, le=10**9)], asked: Asked) -> Response:
    """One version of a workflow."""
    return answered(_shown(asked.verbs.workflows.get(workflow_id, version)))
