"""Webhooks in: a decision about a run that waits, signed by whoever was asked elsewhere."""

from typing import Annotated, Any

from starlette.responses import Response

from foliot.domain.errors import Invalid
from foliot.http.asking import SIGNED, Ask, answered, ask_signed, needs
from foliot.http.routing import GuardedBy, router_at
from foliot.http.schemas import Given, Taken, such_as

router = router_at("/webhooks", tags=["webhooks in"])

Asked = Annotated[Ask, GuardedBy(ask_signed)]


class SignedDecision(Taken):
    """What was decided. The run is named inside too, where the signature covers it: sent to another it is refused."""

    model_config = such_as(run_id="digest:2026-11-15T09:00:00Z~1", verdict="approve", by="ann", id="ticket-7")

    run_id: str
    verdict: str
    by: str
    id: str
    feedback: Any = None


class DecidedRun(Given):
    """The run, once it was told."""

    id: str
    status: str


@router.post("/decisions/{run_id}", response_model=DecidedRun)
@needs(SIGNED)
def decide(run_id: str, body: SignedDecision, asked: Asked) -> Response:
    """Answer a run that waits. Told twice under one id, it is told once; told otherwise, it is a conflict."""
    if body.run_id != run_id:
        raise Invalid(
            f"run_id in the body is {body.run_id!r:.310}, and the path is that of {run_id!r:.310}: send it to the path"
            " of the run that it is about"
        )
    run = asked.verbs.runs.decide(run_id, body.verdict, feedback=body.feedback, by=body.by, id=body.id)
    return answered(DecidedRun(id=run.id, status=str(run.status)))
