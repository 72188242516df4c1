"""What refusals and sentences call by its name in Python, by its name over HTTP."""

import re

ROUTES = {
    "accounts.get": "GET /api/v1/accounts/me",
    "accounts.top_up": "POST /api/v1/accounts/{user}/top-up",
    "grants.allow": "PATCH /api/v1/grants/{grant_id}",
    "grants.budget": "GET /api/v1/grants/{grant_id}/budget",
    "grants.create": "POST /api/v1/grants",
    "grants.extend": "PATCH /api/v1/grants/{grant_id}",
    "grants.list": "GET /api/v1/grants",
    "grants.rescope": "PATCH /api/v1/grants/{grant_id}",
    "keys.list": "GET /api/v1/keys",
    "requests.decide": "POST /api/v1/requests/{key}/decision",
    "requests.list": "GET /api/v1/requests",
    "runs.cancel": "POST /api/v1/runs/{run_id}/cancel",
    "runs.decide": "POST /api/v1/runs/{run_id}/decision",
    "runs.list": "GET /api/v1/runs",
    "runs.questions": "GET /api/v1/decisions",
    "runs.receipts": "GET /api/v1/runs/{run_id}",
    "runs.retry": "POST /api/v1/runs/{run_id}/retry",
    "schedules.backfills": "GET /api/v1/schedules/{schedule_id}/backfills",
    "schedules.list": "GET /api/v1/schedules",
    "schedules.patch": "PATCH /api/v1/schedules/{schedule_id}",
    "schedules.times": "GET /api/v1/schedules/{schedule_id}/times",
    "schedules.trigger": "POST /api/v1/schedules/{schedule_id}/trigger",
    "users.list": "GET /api/v1/users",
    "users.put": "PUT /api/v1/users/{user}",
    "webhooks.list": "GET /api/v1/webhooks",
    "workflows.list": "GET /api/v1/workflows",
}
"""By verb; all that a message names."""
_OF_SERVICES = {
    "`schedules.list()` shows those that there are": "`POST /schedules/upsert` registers one",
    "`runs.list` shows those that there are": "name it as it was named to you",
}
"""Remedies that are nobody's but a user's, and what helps those who may not make these requests."""
_VERB = re.compile(r"`(\w+\.\w+)(?:\([^`]*\))?`")
_VALUE = re.compile(r"\bgot (None|True|False)\b")
_VALUES = {"None": "null", "True": "true", "False": "false"}


def for_services(message: str) -> str:
    """The message for a service, or whoever signs what they send: to them `/api/v1` is closed."""
    for remedy, other in _OF_SERVICES.items():
        message = message.replace(remedy, other)
    return over_http(message)


def over_http(message: str) -> str:
    """The message for whoever asked over HTTP."""
    said = _VERB.sub(lambda verb: f"`{ROUTES[verb[1]]}`" if verb[1] in ROUTES else verb[0], message)
    return _VALUE.sub(lambda value: f"got {_VALUES[value[1]]}", said)
