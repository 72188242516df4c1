"""What changes, told as it happens: server-sent events for runs and schedules."""

from typing import Annotated, Any

from fastapi import Header, Query, Request
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.errors import Invalid
from foliot.domain.schedule import slug_of
from foliot.http.asking import Asked, needs
from foliot.http.openapi import also, routes
from foliot.http.routing import at_the_door, in_thread
from foliot.http.streams import EventStream, StreamReader

router = routes("/events", "events")

_KINDS = frozenset({"runs", "schedules"})
_SAID: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events."}
}


@router.get("", response_class=Response, responses={**_SAID, **also(404)})
@needs(Right.READ)
async def listen(
    request: Request,
    asked: Asked,
    schedule: Annotated[str | None, Query(max_length=1000, description="Of this one only.")] = None,
    kinds: Annotated[str, Query(max_length=100, description="runs, schedules, or both.")] = "runs,schedules",
    seconds: Annotated[int | None, Query(ge=0, le=86_400, description="End after so long.")] = None,
    last_event_id: Annotated[str | None, Header(max_length=8000, description="Go on after this event.")] = None,
) -> Response:
    """Runs and schedules that change, as `run` and `schedule` events. `reset`: too much was missed, read anew."""
    wanted = frozenset(kinds.split(","))
    if not wanted <= _KINDS:
        raise Invalid(f"kinds takes runs, schedules or both, with a comma between them, got {kinds!r:.80}")
    if schedule is not None:
        # NotFound unless it is there for them, deleted or not: nobody waits for what cannot come.
        await in_thread(asked.verbs.runs.page, schedule, limit=1)
    streams = request.app.state.streams
    key = request.headers["authorization"].partition(" ")[2].strip()

    async def is_let_in() -> bool:
        known = asked.service.doorkeeper.known(key)
        return (await at_the_door(known) if callable(known) else known) == asked.principal

    listener = StreamReader(asked.principal, None if schedule is None else slug_of(schedule), wanted, last_event_id)
    streams.join(listener)
    return EventStream(streams, listener, is_let_in, seconds)
