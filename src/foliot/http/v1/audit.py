"""The slot audit over HTTP."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.audit import Fault
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.schemas import Given, Moment, SaidMoment, such_as

router = routes("/audit", "audit")


class ShownFault(Given):
    """Something that is wrong with the ledger of one schedule, from its first moment to its last."""

    model_config = such_as(
        schedule="digest",
        fault="missing",
        first_at="2026-11-15T09:00:00Z",
        last_at="2026-11-15T09:00:00Z",
        slots=1,
        run_id=None,
        sentence="2026-11-15T09:00:00Z has no row and lies in no gap",
    )

    schedule: str
    fault: Fault
    first_at: Moment
    last_at: Moment
    slots: int
    run_id: str | None
    sentence: str


class ShownAudit(Given):
    """What an audit has looked at and found: of `slots` each has one of `rows`, or is one `in_gaps`."""

    model_config = such_as(
        schedules=3,
        slots=1440,
        rows=1340,
        in_gaps=100,
        attempts=4,
        others=2,
        open=1,
        unjudged=0,
        found=0,
        violations=[],
    )

    schedules: int
    slots: int
    rows: int
    in_gaps: int
    attempts: int
    """Further attempts at slots, beside their `rows`."""
    others: int
    """Runs of triggers and backfills."""
    open: int
    """Runs that are not over."""
    unjudged: int
    """Slots whose moment has come and that are yet to be judged: in a pause that lasts, or not swept yet."""
    found: int
    """How many slots and runs there is something wrong with; the first thousand entries are listed."""
    violations: list[ShownFault]


@router.get("", response_model=ShownAudit, responses=also(404))
@needs(Right.READ)
def slots(
    asked: Asked,
    since: Annotated[SaidMoment | None, Query(examples=["2026-11-01T00:00:00Z"])] = None,
    until: Annotated[SaidMoment | None, Query(examples=["2026-11-30T23:59:59Z"])] = None,
    schedule: Annotated[str | None, Query(max_length=1000, examples=["digest"])] = None,
) -> Response:
    """Whether the ledger has every slot that was due from then to then, once and with its fate, and nothing else."""
    found = asked.verbs.audit.slots(since=since, until=until, schedule=schedule)
    return answered(ShownAudit.model_validate(found))
