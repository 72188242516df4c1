"""What the API was asked, counted by route: never by what was in the path or the query."""

import logging
from collections import Counter

from starlette.types import Scope

from foliot.engine.counters import Histogram

log = logging.getLogger("foliot.access")

_ASKED_BY_MACHINES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Again and again."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
UNKNOWN = "unknown"
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The template of the route that was found, such as /api/v1/runs/{run_id}."""
    path: str = getattr(scope.get("route"), "path", UNKNOWN)
    return path


def tell_request(scope: Scope, status: int, seconds: float) -> None:
    """Write a record of the request: its route, never its path, its query or what was sent along."""
    route = route_of(scope)
    level = logging.DEBUG if route in _ASKED_BY_MACHINES else logging.INFO
    if not log.isEnabledFor(level):
        return
    state = scope.get("state", {})
    said = {
        "request_id": state.get("request_id"),
        "method": _method_of(scope),
        "route": route,
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        "user": state.get("user"),
    }
    log.log(level, "request", extra=said)


def _method_of(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else UNKNOWN


class Traffic:
    """Requests that were answered: written by the server's loop, read by whoever wants to know."""

    def __init__(self) -> None:
        self.answered: Counter[tuple[str, str, int]] = Counter()
        """By method, route and status."""
        self.seconds: dict[str, Histogram] = {}
        """By route."""

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_of(scope)
        self.answered[_method_of(scope), route, status] += 1
        found = self.seconds.get(route)
        if found is None:
            found = self.seconds[route] = Histogram(_SECONDS)
        found.add(seconds)
