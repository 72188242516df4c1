"""Ids that the shell completes, asked of the server: within the blink of an eye, and in silence when that fails."""

import http.client
import json
from typing import Any
from urllib.parse import quote, urlsplit

import typer

from foliot.cli.profile import api_key, read_profile, server_url
from foliot.clock import SystemClock

_PATIENCE = 0.15
"""Seconds: who presses a key does not wait longer."""
_MOST = 200


def complete_schedules(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Schedules whose id begins like that, with what each of them does."""
    found = _asked(ctx, f"/schedules?limit={_MOST}&q={quote(incomplete)}")
    return [(one["id"], one["spec"]["summary"]) for one in found if one["id"].startswith(incomplete)]


def complete_runs(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The newest runs, with how each stands."""
    schedule = incomplete.partition(":")[0] if ":" in incomplete else None
    found = _asked(ctx, "/runs?limit=50" + (f"&schedule={quote(schedule)}" if schedule else ""))
    return [(one["id"], one["status"]) for one in found if one["id"].startswith(incomplete)]


def complete_grants(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Grants, with whose each is."""
    found = _asked(ctx, f"/grants?limit={_MOST}")
    return [(one["id"], one["user"]) for one in found if one["id"].startswith(incomplete)]


def complete_workflows(ctx: typer.Context, incomplete: str) -> list[str]:
    """Workflows."""
    return [one["id"] for one in _asked(ctx, f"/workflows?limit={_MOST}") if one["id"].startswith(incomplete)]


def complete_webhooks(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Webhooks, with where each leads."""
    found = _asked(ctx, f"/webhooks?limit={_MOST}")
    return [(one["id"], one["url"]) for one in found if one["id"].startswith(incomplete)]


def _asked(ctx: typer.Context, path: str) -> list[dict[str, Any]]:
    """The items of a list; none when the server cannot be asked, says no, or takes its time."""
    try:
        profile = read_profile()
        where = server_url(ctx.params.get("url"), profile)
        key = api_key(ctx.params.get("key_file"), profile, where)
        url = urlsplit(where)
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        connection = kind(url.hostname or "", url.port, timeout=_PATIENCE)
        try:
            clock = SystemClock()
            until = clock.steady() + _PATIENCE
            connection.request("GET", f"{url.path}/api/v1{path}", headers={"Authorization": f"Bearer {key}"})
            connection.sock.settimeout(max(until - clock.steady(), 0.001))
            items: list[dict[str, Any]] = json.loads(connection.getresponse().read())["items"]
            return items
        finally:
            connection.close()
    except Exception:
        # Whatever it was: a word in the middle of what somebody types would be worse.
        return []
