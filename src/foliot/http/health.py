"""Whether it lives, whether it is ready, and its metrics: asked by machines that have no key."""

import asyncio
import hmac
import json
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from fastapi import Request
from starlette.responses import Response

from foliot.domain.errors import Unavailable, Unidentified
from foliot.domain.instants import MICROSECONDS
from foliot.engine.loop import Engine
from foliot.http.asking import PUBLIC, needs
from foliot.http.metrics import backlog_of, rendered
from foliot.http.routing import at_the_door, router_at
from foliot.http.service import Service
from foliot.services.desk import Caller

router = router_at(include_in_schema=False)

_PATIENCE = 5
"""Seconds that the database has to answer."""
_BEHIND = 60.0
"""Seconds that something may be due before the service is behind: as long as a slot is not missed."""
_LOOKS_MISSED = 3
"""A worker's loop may not be seen for so many times the longest time without a look."""
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Check(NamedTuple):
    """One thing that must be well, and what was found."""

    name: str
    ok: bool
    what: str


@router.get("/healthz")
@needs(PUBLIC)
async def alive() -> Response:
    """This process answers."""
    return Response('{"status":"alive"}', media_type="application/json")


@router.get("/readyz")
@needs(PUBLIC)
async def ready(request: Request) -> Response:
    """Whether all that the service needs is there, and it keeps up."""
    service: Service = request.app.state.service
    try:
        async with asyncio.timeout(_PATIENCE):
            checks = await at_the_door(lambda: list(checks_of(service)))
    except TimeoutError:
        # A server that stands still does not even say that it took too long.
        engines = service.engines()
        checks = [Check("database", False, f"it has not answered for {_PATIENCE} s")]
        checks += [_engine_check(engines)] if engines else []
    is_ready = all(check.ok for check in checks)
    shown = {check.name: {"ok": check.ok, "what": check.what} for check in checks}
    body = json.dumps({"status": "ready" if is_ready else "not ready", "checks": shown})
    return Response(body, 200 if is_ready else 503, media_type="application/json")


@router.get("/metrics")
@needs(PUBLIC)
def metrics(request: Request) -> Response:
    """What happened since the start: for those on this machine, or with the token."""
    service: Service = request.app.state.service
    _check_reader(request, service.metrics_token)
    return Response(rendered(service, request.app.state.traffic), media_type=_TEXT)


def _check_reader(request: Request, token: str | None) -> None:
    if token is not None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
            raise Unidentified("this needs the token of the metrics: send it as `Authorization: Bearer …`")
    elif not _is_local(request):
        raise Unidentified("metrics are for this machine alone: set FOLIOT_METRICS_TOKEN to read them from elsewhere")


def _is_local(request: Request) -> bool:
    """Whether whoever asks is on this machine, and does not ask for somebody else."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def checks_of(service: Service) -> Iterator[Check]:
    """Database, schema, workers, and whether they keep up."""
    try:
        found = service.verbs_for(Caller()).desk.read(lambda tx: tx.schema())
    except Unavailable:
        # Its words may name files and hosts, and anybody may read this.
        yield Check("database", False, "it does not answer: the log says why")
        return
    yield Check("database", True, "it answers")
    newest = service.made_of().schema
    yield Check("schema", found == newest, f"it is at {found}, and this release at {newest}")
    engines = service.engines()
    if engines:
        yield _engine_check(engines)
        backlog = backlog_of(service)
        age = 0.0 if backlog is None else backlog.age / MICROSECONDS
        yield Check("backlog", backlog is not None and age < _BEHIND, f"the first that waits is due for {age:.0f} s")


def _engine_check(engines: Sequence[Engine]) -> Check:
    for engine in engines:
        vitals = engine.vitals
        if vitals.failure is not None:
            return Check("engine", False, "it has failed: the log says why, and its process must be started again")
        if vitals.is_over:
            return Check("engine", False, "it has stopped")
        if vitals.mishaps:
            return Check("engine", False, f"{vitals.mishaps} turns in a row have failed: the log says why")
        if vitals.outages:
            return Check(
                "engine", False, f"the database did not take its last {vitals.outages} turns: the log says why"
            )
        silence = vitals.silence()
        if silence * MICROSECONDS > _LOOKS_MISSED * engine.settings.look:
            return Check("engine", False, f"its loop was not seen for {silence:.0f} s: something holds it up")
    return Check("engine", True, "it works")
