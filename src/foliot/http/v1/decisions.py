"""Decisions over HTTP: what waits for a person, and what that person says."""

from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.questions import Verdict
from foliot.domain.runs import Reason, Status
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Json, Taken, such_as
from foliot.http.v1.runs import ShownQuestion
from foliot.services.decisions import WaitingDecision
from foliot.services.views import Run

router = routes("", "decisions")


class SaidDecision(Taken):
    """What is decided about a run that waits."""

    model_config = such_as(verdict="approve", feedback={"amount": 20})

    verdict: Verdict
    feedback: Json = None
    id: str | None = Field(None, max_length=1000, description="Told twice under one id, it is told once.")


class ShownWaiting(ShownQuestion):
    """A question that you may answer, and the run that has asked it."""

    run: str
    schedule: str


class ShownDecision(Given):
    """What became of a run by a decision."""

    model_config = such_as(
        run="digest:2026-11-15T09:00:00Z~1", schedule="digest", status="pending", reason=None, decided_by="ann"
    )

    run: str
    schedule: str
    status: Status
    reason: Reason | None
    decided_by: str


def _shown(found: WaitingDecision) -> ShownWaiting:
    question = ShownQuestion.model_validate(found.question)
    return ShownWaiting(**question.model_dump(), run=found.asker.id, schedule=found.asker.schedule)


@router.get("/decisions", response_model=Listed[ShownWaiting])
@needs(Right.READ)
def listing(asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """What waits for a person and you may answer, the first to expire first: your runs', or where you are named.

    A page may have fewer than `limit`, also none, while there is a `next`.
    """
    place = place_of(after, int, int)
    found = asked.verbs.decisions.page(after=None if place is None else (place[0], place[1]), limit=limit)
    return answered(listed(ShownWaiting, found, _shown))


@router.post("/runs/{run_id}/decision", response_model=ShownDecision)
@needs(Right.DECIDE)
def decide(run_id: str, body: SaidDecision, asked: Asked) -> Response:
    """Answer a run that waits: approve it, have it revised, or reject it."""

    def shown(run: Run) -> ShownDecision:
        # Whoever is named in a question need not see what the run was given.
        by = asked.principal.user
        return ShownDecision(run=run.id, schedule=run.schedule, status=run.status, reason=run.reason, decided_by=by)

    options = {"feedback": body.feedback, "id": body.id}
    return asked.write(lambda verbs: verbs.decisions.decide(run_id, body.verdict, **options), shown)
