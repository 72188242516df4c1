"""Errors on the wire: a refusal becomes a problem document with the status of its kind (RFC 9457)."""

import json
from collections.abc import Callable
from math import ceil
from typing import Any

from starlette.responses import Response

from foliot.domain.delivery import CutOff, InProgress, KeyReused
from foliot.domain.errors import (
    Conflict,
    Denied,
    Invalid,
    Malformed,
    NotFound,
    Refusal,
    TooMany,
    Unavailable,
    Unidentified,
    Unpaid,
)
from foliot.domain.grants import NotPermitted

PROBLEM = "application/problem+json"

_STATUSES: dict[type[Refusal], tuple[int, str]] = {
    KeyReused: (422, "key_reused"),
    InProgress: (409, "in_progress"),
    Unidentified: (401, "unidentified"),
    Unpaid: (402, "unpaid"),
    TooMany: (429, "too_many"),
    Malformed: (400, "malformed"),
    Invalid: (422, "invalid"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    Denied: (403, "denied"),
    CutOff: (503, "cut_off"),
    Unavailable: (503, "unavailable"),
}
"""The more special kinds first."""
TITLES = {
    400: "The request cannot be read",
    401: "Nobody knows who asks",
    402: "There is nothing to pay it with",
    403: "That is not allowed",
    404: "There is no such thing",
    405: "That cannot be done here",
    408: "The request took too long to arrive",
    409: "Things are not as the request assumes",
    413: "The request is too large",
    422: "The request is wrong",
    429: "Too many requests",
    500: "Something went wrong here",
    503: "Not now",
}


def status_of(refusal: Refusal) -> tuple[int, str]:
    """The HTTP status of a refusal, and the code that programs know it by."""
    return next(found for kind, found in _STATUSES.items() if isinstance(refusal, kind))


def refused(refusal: Refusal, request_id: str, worded: Callable[[str], str]) -> Response:
    """The problem that a refusal is, in the words of whoever asked."""
    status, code = status_of(refusal)
    headers = {}
    retry_after = getattr(refusal, "retry_after", None)
    if retry_after is not None:
        headers["Retry-After"] = str(max(1, ceil(retry_after)))
    elif isinstance(refusal, Unavailable):
        headers["Retry-After"] = "1"
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    more = {"reason": str(refusal.reason)} if isinstance(refusal, NotPermitted) else {}
    return problem(status, code, worded(str(refusal)), request_id, headers=headers, **more)


def problem(
    status: int,
    code: str,
    detail: str,
    request_id: str,
    *,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    body = {
        "type": f"urn:foliot:{code.replace('_', '-')}",
        "title": TITLES.get(status, "It could not be done"),
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": request_id,
        **more,
    }
    return Response(json.dumps(body), status, headers, media_type=PROBLEM)
