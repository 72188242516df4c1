"""The internal API, for services: what this process executes, and that it does so once under each key.

Its words are those of its callers: `executionGrantId`, `runId`, `traceId`, `errorCode`.
"""

import json
import logging
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from foliot.domain.errors import Invalid, Malformed, NotFound
from foliot.domain.events import ErrorCode
from foliot.domain.questions import Question
from foliot.domain.runs import FINAL, Status
from foliot.domain.schedule import name_of
from foliot.domain.settlement import Outcome
from foliot.domain.slots import read_run_id, trace_id
from foliot.execution.bounds import Bounds
from foliot.execution.requests import UnderWay
from foliot.execution.wanted import Wanted, wanted_of
from foliot.http.asking import SERVICE, Ask, AskedByService, answered, ask_service, needs
from foliot.http.misfits import misfits, unread
from foliot.http.openapi import also
from foliot.http.routing import GuardedBy, router_at
from foliot.http.schemas import such_as
from foliot.services.views import Run

log = logging.getLogger("foliot.http")

router = router_at("/api/internal", tags=["internal"])

WORKER_HEADER = "Foliot-Worker"
"""Which worker asks, by the name that it has in the ledger: what it holds is executed for nobody else."""
_WAIT = 10.0
"""Seconds until what is not done is answered with 202, when the caller has no preference,"""
_LONGEST_WAIT = 60.0
"""and at most."""

Asked = Annotated[Ask, GuardedBy(ask_service)]


class InternalTaken(BaseModel):
    """What services give us: nothing that we do not know."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, strict=True)


class InternalGiven(BaseModel):
    """What services are given."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class WantedExecution(InternalTaken):
    """What is to be executed. `runId` names a run of the ledger, or whatever the caller calls it."""

    model_config = such_as(executionGrantId="grant-7", input={"to": "ann"}, runId="digest:2026-11-15T09:00:00Z~1")

    execution_grant_id: str
    input: Any = None
    run_id: str | None = Field(None, min_length=1)
    redelivered: bool = False


class SaidStatus(InternalTaken):
    """What the executor of a run says of it: that it goes on and how far it has come, or how it ended."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"token": "b1946ac92492d2347c6235b4d2611184", "status": "running", "progress": {"pages": 3}},
                {"token": "b1946ac92492d2347c6235b4d2611184", "status": "success", "result": {"sent": 3}},
                {"token": "b1946ac92492d2347c6235b4d2611184", "status": "error", "errorCode": "timeout"},
            ]
        }
    )

    status: Literal["running", "success", "error"]
    token: str = Field(max_length=1000, description="What came with the call, as `callback.token`.")
    error_code: Annotated[ErrorCode, Strict(False)] | None = None
    error: str | None = Field(None, description="What went wrong, for people.")
    result: Any = None
    progress: Any = None


class AskedPerson(InternalGiven):
    """What a run waits to be told."""

    kind: str
    data: Any
    who: list[str]
    expires_in: int
    at_expiry: str
    reference: str | None


class ShownExecution(InternalGiven):
    """What an execution came to; `ok` is null while it goes on."""

    ok: bool | None = None
    run_id: str
    trace_id: str
    status: str
    error_code: str | None = None
    error: str | None = None
    result: Any = None
    question: AskedPerson | None = None
    progress: Any = None


class ShownGraph(InternalGiven):
    """What can be executed here."""

    graph_id: str
    on_unknown: str
    room: int | None
    """How many more could begin at once; null: any number."""


class ShownGraphs(InternalGiven):
    graphs: list[ShownGraph]


@router.get("/graphs", response_model=ShownGraphs)
@needs(SERVICE)
def graphs(asked: Asked) -> Response:
    """What this process executes; `provider:*` is whatever that provider has."""
    gate = asked.service.gate
    shown = [
        ShownGraph(graph_id=target, on_unknown=str(gate.on_unknown(target)), room=gate.room(target))
        for target in gate.targets()
    ]
    return answered(ShownGraphs(graphs=shown))


@router.post(
    "/graphs/{graph_id:path}/runs",
    response_model=ShownExecution,
    responses={202: {"model": ShownExecution, "description": "It goes on: ask where Location says."}, **also(402)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": WantedExecution.model_json_schema()}},
        },
        "parameters": [
            {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string"}},
            {"name": "Prefer", "in": "header", "schema": {"type": "string"}, "example": "wait=30"},
            {"name": WORKER_HEADER, "in": "header", "schema": {"type": "string"}},
        ],
    },
)
@needs(SERVICE)
async def execute(graph_id: str, request: Request, asked: Asked) -> Response:
    """Execute a graph once under the key; told again, it is answered from memory.

    A failed execution is an answer with `ok` false. What is not done within the wait is answered with 202.
    """
    if ":" not in graph_id:
        raise NotFound(f"there is no graph {graph_id[:100]!r}: one is named provider:name, such as 'python:digest'")
    wanted = await _wanted(graph_id, request, asked)
    log.info(
        "%s asks for %s under %s", asked.principal.user, graph_id, wanted.key, extra={"request_id": asked.request_id}
    )
    came_to = await asked.service.workroom.begin(wanted, _wait(request))
    return _told(wanted.run_id, wanted.key, came_to)


@router.get(
    "/runs/{run_id:path}/outcome",
    response_model=ShownExecution,
    responses={202: {"model": ShownExecution, "description": "It goes on."}, **also(409)},
)
@needs(SERVICE)
async def outcome(run_id: str, request: Request, asked: Asked, key: str | None = None) -> Response:
    """Wait for what an execution comes to, under that key, or the last of that run."""
    name = name_of("a run id", run_id)
    return _told(name, key, await asked.service.workroom.await_end(name, key, _wait(request)))


@router.post("/runs/{run_id:path}/status", response_model=ShownExecution)
@needs(SERVICE)
def status(run_id: str, body: SaidStatus, asked: AskedByService) -> Response:
    """Hear from the executor of a run that has answered 202 to its call: `running`, then `success` or `error`.

    A run only goes forward: the same once more is no news, and what comes too late is a conflict.
    """

    def shown(run: Run) -> ShownExecution:
        is_over = run.status in FINAL
        return ShownExecution(
            run_id=run.id,
            trace_id=run.trace_id,
            ok=run.status is Status.SUCCESS if is_over else None,
            # For its executor it runs, though here it waits for a word of it.
            status=str(run.status) if is_over else "running",
            error_code=None if run.reason is None else str(run.reason),
            error=run.error,
            result=run.result,
            progress=None if is_over else run.progress,
        )

    said = {"result": body.result, "error": body.error, "code": body.error_code, "progress": body.progress}
    return asked.write(lambda verbs: verbs.runs.report(run_id, body.token, body.status, **said), shown)


async def _wanted(graph_id: str, request: Request, asked: Ask) -> Wanted:
    """What the request wants; Malformed when it lacks a part, or has one that nothing could be made of."""
    key = request.headers.get("idempotency-key")
    if not key:
        raise Malformed("an execution takes an Idempotency-Key: send a header with a key of its own")
    body = _read_body(await request.body())
    try:
        return wanted_of(
            graph_id,
            body.input,
            key=key,
            grant=body.execution_grant_id,
            run_id=body.run_id,
            attempt=_attempt(body.run_id),
            caller=request.headers.get(WORKER_HEADER.lower(), asked.principal.user),
            bounds=Bounds(),
        )._replace(was_begun=body.redelivered)
    except Invalid as refusal:
        raise Malformed(str(refusal)) from None


def _read_body(raw: bytes) -> WantedExecution:
    """What is wanted. It is read here, and not before the key is looked at; what does not fit is said as anywhere."""
    try:
        said = json.loads(raw) if raw else None
    except ValueError as why:
        raise Malformed(str(unread(why))) from None
    try:
        return WantedExecution.model_validate(said)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise Malformed(str(next(misfits(found, said, None)))) from None


def _attempt(run_id: str | None) -> int:
    """Which attempt it is, when it is a run of the ledger."""
    try:
        return 1 if run_id is None else read_run_id(run_id)[1]
    except Invalid:
        return 1


def _wait(request: Request) -> float:
    """How long the caller would wait (RFC 7240), within bounds."""
    for preference in request.headers.get("prefer", "").split(","):
        name, _, value = preference.partition("=")
        digits = value.strip()
        if name.strip().lower() == "wait" and digits.isascii() and digits.isdigit() and len(digits) < 10:
            return min(float(digits), _LONGEST_WAIT)
    return _WAIT


def _told(run_id: str, key: str | None, came_to: Outcome | UnderWay) -> Response:
    if isinstance(came_to, UnderWay):
        progress = _read(came_to.progress)
        shown = ShownExecution(run_id=run_id, trace_id=trace_id(run_id), status="running", progress=progress)
        where = f"/api/internal/runs/{quote(run_id, safe='')}/outcome"
        location = where if key is None else f"{where}?key={quote(key, safe='')}"
        return answered(shown, {"Location": location}, status=202)
    shown = ShownExecution(
        run_id=run_id,
        trace_id=trace_id(run_id),
        ok=str(came_to.status) == "success",
        status=str(came_to.status),
        error_code=None if came_to.reason is None else str(came_to.reason),
        error=came_to.error,
        result=_read(came_to.result),
        question=None if came_to.question is None else _question(came_to.question),
    )
    return answered(shown)


def _question(question: Question) -> AskedPerson:
    return AskedPerson(
        kind=question.kind,
        data=_read(question.data),
        who=list(question.who),
        expires_in=question.expires_in,
        at_expiry=str(question.at_expiry),
        reference=question.reference,
    )


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
