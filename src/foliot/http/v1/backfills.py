"""Backfills over HTTP: how far one has come, and that nothing more of it starts."""

from typing import Annotated

from fastapi import Body, Path
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.durations import duration_text
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.schemas import Switch, Taken, such_as
from foliot.http.v1.shown import ShownBackfill, shown_backfill
from foliot.services.backfills import BackfillState

router = routes("/backfills", "backfills")

Number = Annotated[int, Path(ge=1, le=10**9, description="The number of a backfill.")]


class SaidCancel(Taken):
    """What becomes of its runs that are under way."""

    model_config = such_as(stop=True)

    stop: Switch = Field(False, description="Stop them too; else they may finish.")


class ShownProgress(ShownBackfill):
    """A backfill as it stands, and how far it has come: so many slots of its range, in the end of those it ran."""

    done: int
    time_left: str | None
    """How long the rest may take, such as 1h30m, if it takes as long as what is done did; null: nobody knows."""


def _shown(found: BackfillState) -> ShownProgress:
    said = shown_backfill(found.view).model_dump() | {"total": found.progress.total}
    # Whole seconds: nobody knows it better.
    left = None if found.progress.left is None else found.progress.left // 1_000_000 * 1_000_000
    return ShownProgress(
        **said, done=found.progress.done, time_left=None if left is None else duration_text(left) or "0s"
    )


@router.get("/{number}", response_model=ShownProgress)
@needs(Right.READ)
def get(number: Number, asked: Asked) -> Response:
    """A backfill and how far it has come; `started` and `running` are its runs."""
    return answered(_shown(asked.verbs.backfills.get(number)))


@router.post("/{number}/cancel", response_model=ShownProgress)
@needs(Right.WRITE)
def cancel(number: Number, asked: Asked, body: Annotated[SaidCancel | None, Body()] = None) -> Response:
    """Begin no more slots of a backfill. Runs that have begun may finish, retries too, unless `stop` says otherwise."""
    stop = body is not None and body.stop
    return asked.write(lambda verbs: verbs.backfills.cancel(number, stop=stop), _shown)
