"""Messages: what an endpoint is sent for a run."""

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.signing import SIGNATURE_HEADER, signature_of
from foliot.execution.context import Context

_NOT_IN_A_HEADER = re.compile(r"[^ -~]|%(?=[0-9A-Fa-f]{2})|^ +| +\Z")


def body_of(context: Context, input: str | None, token: str | None) -> bytes:
    """The run and its input, as JSON: the same bytes for every delivery of the attempt."""
    told: dict[str, Any] = {
        "run_id": context.run_id,
        "schedule": context.schedule,
        "scheduled_for": rfc3339(instant_of(context.scheduled_for, "scheduled_for")),
        "due_at": rfc3339(instant_of(context.due_at, "due_at")),
        "attempt": context.attempt,
        "idempotency_key": context.idempotency_key,
        "trace_id": context.trace_id,
        "input": None if input is None else json.loads(input),
        "labels": dict(context.labels),
    }
    if token is not None:
        told["callback"] = {"token": token}
    return json.dumps(told, separators=(",", ":")).encode()


def headers_for(context: Context, call: int) -> dict[str, str]:
    """What tells the run to who does not read the body; `call` counts the calls of one delivery."""
    return {
        "Content-Type": "application/json",
        "User-Agent": agent(),
        "Idempotency-Key": in_a_header(context.idempotency_key),
        "Foliot-Run-Id": in_a_header(context.run_id),
        "Foliot-Attempt": str(context.attempt),
        "traceparent": traceparent_of(context.trace_id, call),
    }


def in_a_header(text: str) -> str:
    """Any text as a header takes it, another for another: what is not printable ASCII as the `%XX` of its UTF-8.

    A `%` that could be taken for the beginning of one is written so too, and so are spaces around the text.
    """
    return _NOT_IN_A_HEADER.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def signed(headers: Mapping[str, str], body: bytes, secret: str | None, at: int) -> dict[str, str]:
    """The headers, with the signature of the body at that second where there is a secret."""
    if secret is None:
        return dict(headers)
    return {**headers, SIGNATURE_HEADER: signature_of(body, secret, at)}


def traceparent_of(trace_id: str, call: int) -> str:
    """The run's trace as W3C hands it on, with a span for each call."""
    span = blake2b(f"{trace_id}/{call}".encode(), digest_size=8).hexdigest()
    return f"00-{trace_id}-{span}-01"


@cache
def agent() -> str:
    """Who we say that we are."""
    try:
        return f"foliot/{version('foliot')}"
    except PackageNotFoundError:
        return "foliot"
