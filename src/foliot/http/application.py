"""The application: routes, what surrounds every request, and what every error becomes."""

import logging
from collections.abc import Iterable
from itertools import islice

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foliot import chance
from foliot.domain.errors import DatabaseDown, Refusal, Unavailable
from foliot.domain.pace import Pace
from foliot.http import health, internal, registrar, v1, webhooks_in
from foliot.http.asking import GUARDS, PUBLIC, is_of_service, note_parameters, right_of
from foliot.http.errors import TITLES, problem, refused
from foliot.http.limits import BodyLimits, RateLimits
from foliot.http.misfits import misfits, unread
from foliot.http.routing import GuardedRoute
from foliot.http.service import Service
from foliot.http.streams import Streams
from foliot.http.traffic import Traffic, tell_request
from foliot.http.wording import for_services, over_http
from foliot.ports import Clock

log = logging.getLogger("foliot.http")

_CAREFUL = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer, unless it has its own."""
_CUT_OFF = 499
"""For what was never answered: whoever asked had left."""
_MOST_ERRORS = 20
"""That are told at once."""


def application(service: Service, clock: Clock, pace: Pace, routers: Iterable[APIRouter] = ()) -> FastAPI:
    """All routes over the service. ValueError when one of them has not declared what it needs."""
    app = FastAPI(
        title="Foliot",
        version="1",
        summary="Durable scheduling: schedules, their runs, and why each moment did or did not run.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.streams = Streams(service.watcher)
    app.state.limits = RateLimits(clock, pace)
    app.state.strangers = RateLimits(clock, pace)
    app.state.traffic = traffic = Traffic()
    for router in (health.router, *v1.ROUTERS, internal.router, registrar.router, webhooks_in.router, *routers):
        check_declared(router)
        # As they are: `include_router` would make each of them anew when it is first asked for, while slots wait.
        app.router.routes.extend(router.routes)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    app.add_middleware(BodyLimits)
    app.add_middleware(Surroundings, clock=clock, traffic=traffic)
    return app


def check_declared(router: APIRouter) -> None:
    """Deny by default: every route says what it needs, and one that is not public asks in that way who is there."""
    for route in router.routes:
        assert isinstance(route, GuardedRoute), route
        right = right_of(route.endpoint)
        if right is None:
            raise ValueError(f"{route.path} declares no right: say @needs(...) above its handler")
        if right == PUBLIC and route.guard is not None:
            raise ValueError(f"{route.path} is public and asks who is there: declare a right")
        if right != PUBLIC and (route.guard is None or not GUARDS[route.guard](right)):
            raise ValueError(
                f"{route.path} needs {right} and does not ask for it who is there: take an Ask of its kind"
            )
        note_parameters(route)


class Surroundings:
    """Every request has an id, and its answer too, with headers that keep browsers careful; and all are counted."""

    def __init__(self, app: ASGIApp, clock: Clock, traffic: Traffic) -> None:
        self._app = app
        self._clock = clock
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, began, status = chance.short(), self._clock.steady(), _CUT_OFF
        has_begun = False
        scope.setdefault("state", {})["request_id"] = request_id

        async def surrounded(message: Message) -> None:
            nonlocal status, has_begun
            if message["type"] == "http.response.start":
                status, has_begun = message["status"], True
                own = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
                names = {name for name, _ in own}
                message["headers"] = own + [header for header in _CAREFUL if header[0] not in names]
            await send(message)

        try:
            await self._app(scope, receive, surrounded)
        except Exception as error:
            # Here, and not by a handler: after one the server ends the connection, and the next request with it.
            if has_begun:
                raise
            await _crashed(request_id, error)(scope, receive, surrounded)
        finally:
            seconds = self._clock.steady() - began
            self._traffic.note(scope, status, seconds)
            tell_request(scope, status, seconds)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    request_id = request.state.request_id
    if isinstance(error, DatabaseDown):
        log.warning("request %s was not carried out: %s", request_id, error, extra={"request_id": request_id})
        error = Unavailable(f"the database cannot be used now: try again in a moment; the log has it as {request_id}")
    return refused(error, request_id, for_services if is_of_service(request) else over_http)


def _invalid(request: Request, error: Exception) -> Response:
    """What does not fit the schema: where it is, what is wrong, and never what was given."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    wrong = [*islice(misfits(found, error.body, request.headers.get("Content-Type")), _MOST_ERRORS)]
    is_unreadable = any(one["type"] == "json_invalid" for one in found)
    status, code = (400, "unreadable") if is_unreadable else (422, "invalid")
    said = [misfit._asdict() for misfit in wrong]
    return problem(status, code, str(wrong[0]), request.state.request_id, errors=said)


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        # What reads bodies says so of what it has no word for; why is the cause.
        wrong = unread(error.__cause__)
        return problem(400, "unreadable", str(wrong), request.state.request_id, errors=[wrong._asdict()])
    codes = {404: "not_found", 405: "not_allowed"}
    code = codes.get(error.status_code, "invalid" if error.status_code < 500 else "internal")
    detail = TITLES.get(error.status_code, str(error.detail))
    if error.status_code == 404:
        detail = f"there is no {request.url.path} here: /api/v1/openapi.json lists what there is"
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = allowed = ", ".join(_methods_of(request))
        detail = f"{request.url.path} takes {allowed} requests, got {request.method}"
    return problem(error.status_code, code, detail, request.state.request_id, headers=headers)


def _methods_of(request: Request) -> list[str]:
    """Those of all routes of this path: each has its own."""
    routes = [route for route in request.app.router.routes if isinstance(route, APIRoute)]
    found = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in found for method in route.methods or ()})


def _crashed(request_id: str, error: Exception) -> Response:
    log.error("request %s failed", request_id, exc_info=error)
    return problem(500, "internal", f"this is our fault: the log has it as {request_id}", request_id)
