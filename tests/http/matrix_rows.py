"""The rows of the authorisation matrix: one request for each operation, and how the things are made that it names.

A new operation takes a line in ROWS, a new kind of thing in a path one in THINGS.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.http.belongings import FLOW, Belongings, Make


class Thing(NamedTuple):
    """What a parameter of a path names: how one is made, and what none is called."""

    made: Make
    missing: str
    is_owned: bool = True
    """Whether it is somebody's: what is not is there for everybody who may ask."""


THINGS: dict[str, Thing] = {
    "schedule_id": Thing(Belongings.schedule, "absent"),
    "run_id": Thing(Belongings.pending_run, "absent:manual:2026-11-15T12:00:00Z~1"),
    "number": Thing(Belongings.backfill, "999999"),
    "grant_id": Thing(Belongings.grant, "grant-999999"),
    "user": Thing(Belongings.user, "absent"),
    "workflow_id": Thing(Belongings.workflow, "absent"),
    "version": Thing(lambda *_: "1", "1"),
    "key": Thing(Belongings.request, "absent"),
    "key_id": Thing(Belongings.key, "000000000000"),
    "webhook_id": Thing(Belongings.webhook, "000000000000"),
    "graph_id": Thing(lambda *_: "python:digest", "python:absent", is_owned=False),
}
NO_RUN = "absent:manual:2026-11-15T12:00:00Z~1"
FAILED, WAITING = Thing(Belongings.failed_run, NO_RUN), Thing(Belongings.waiting_run, NO_RUN)
PAUSED = Thing(Belongings.paused_schedule, "absent")
BUDGETED = Thing(Belongings.budgeted_schedule, "absent")
SOMEBODY = Thing(Belongings.new_user, "absent")
NOTHING: Mapping[str, Any] = {}


class Row(NamedTuple):
    """A request that is answered with success when it is by right, and about what is there."""

    body: Any = None
    """`{name}` in a text stands for a thing of the path, `{#}` for what no other request has."""
    query: Mapping[str, str] = NOTHING
    headers: Mapping[str, str] = NOTHING
    things: Mapping[str, Thing] = NOTHING
    """Instead of the usual ones; also for `{name}` in the query or the body, beside those of the path."""
    makes: bool = False
    """What is missing is made, or is there for whoever names it."""
    own: int | None = None
    """The status for one's own, where there is no success to be had."""
    is_silent: bool = False
    """It changes nothing here, and is in no trail."""
    missing: int = 404
    """The status for what is not there, as for what is somebody else's."""


CRON = {"target": "python:digest", "cron": "0 9 * * *"}
DAYS = {"start": "2026-11-01T00:00:00Z", "end": "2026-11-03T00:00:00Z"}
NOON = "2026-11-16T09:00:00Z"
SETS = {"set": "nightly", "schedules": [{"name": "set-{#}", **CRON}]}
HOOKED = {"url": "https://hook.test/in", "events": ["run.failed"], "secret_env": "FOLIOT_WEBHOOK_{who}"}
OF_SCHEDULE = {"schedule_id": THINGS["schedule_id"]}

NEWCOMER = {"user": Thing(Belongings.user, "newcomer")}
GRANTED = {"grant_id": THINGS["grant_id"]}
OF_WORKFLOW = {"workflow_id": THINGS["workflow_id"], "owner": Thing(lambda _, owner: owner, "ann")}
STARTED = {"workflow_id": "{workflow_id}", "version": 1, "user_id": "{owner}"}
REGISTERED = {"schedule_id": Thing(Belongings.registered, "absent")}

ROWS: dict[str, Row] = {
    "GET /api/v1/openapi.json": Row(),
    "POST /api/v1/schedules/plan": Row(SETS),
    "POST /api/v1/schedules/apply": Row({**SETS, "set": "set-{#}"}),
    "GET /api/v1/declared": Row(),
    "POST /api/v1/schedules": Row({"name": "new-{#}", **CRON}),
    "POST /api/v1/schedules | by a grant": Row({"name": "new-{#}", **CRON, "grant": "{grant_id}"}, things=GRANTED),
    "POST /api/v1/schedules | for a user": Row(
        {"name": "new-{#}", **CRON, "user": "{user}"}, things=NEWCOMER, missing=403
    ),
    "GET /api/v1/schedules": Row(),
    "GET /api/v1/schedules | of an owner": Row(query={"owner": "{user}"}, things=NEWCOMER, makes=True, missing=403),
    "POST /api/v1/schedules/bulk": Row({"items": [{"name": "new-{#}", **CRON}]}),
    "POST /api/v1/schedules/bulk | by a grant": Row(
        {"items": [{"name": "new-{#}", **CRON, "grant": "{grant_id}"}]}, things=GRANTED
    ),
    "POST /api/v1/schedules/pause": Row({"all": True}),
    "POST /api/v1/schedules/resume": Row({"all": True}),
    "POST /api/v1/schedules/label": Row({"all": True, "set": {"team": "mail"}}),
    "POST /api/v1/preview": Row({"cron": "0 9 * * *"}),
    "POST /api/v1/schedules/{schedule_id}/preview": Row({"cron": "0 8 * * *"}),
    "GET /api/v1/schedules/{schedule_id}": Row(),
    "PUT /api/v1/schedules/{schedule_id}": Row({**CRON, "cron": "0 8 * * *"}, headers={"If-Match": '"1"'}),
    "PATCH /api/v1/schedules/{schedule_id}": Row({"cron": "0 8 * * *"}),
    "PATCH /api/v1/schedules/{schedule_id} | by a grant": Row({"grant": "{grant_id}"}, things=GRANTED),
    "DELETE /api/v1/schedules/{schedule_id}": Row(),
    "POST /api/v1/schedules/{schedule_id}/pause": Row({"note": "for a while"}),
    "POST /api/v1/schedules/{schedule_id}/resume": Row(things={"schedule_id": PAUSED}),
    "POST /api/v1/schedules/{schedule_id}/trigger": Row(),
    "POST /api/v1/schedules/{schedule_id}/skip": Row({"at": NOON}),
    "GET /api/v1/schedules/{schedule_id}/times": Row(),
    "GET /api/v1/schedules/{schedule_id}/explain": Row(query={"at": NOON}),
    "GET /api/v1/schedules/{schedule_id}/estimate": Row(),
    "GET /api/v1/schedules/{schedule_id}/budget": Row(things={"schedule_id": BUDGETED}),
    "GET /api/v1/schedules/{schedule_id}/gaps": Row(),
    "GET /api/v1/schedules/{schedule_id}/backfills": Row(),
    "POST /api/v1/schedules/{schedule_id}/backfills": Row(DAYS),
    "GET /api/v1/runs": Row(query={"schedule": "{schedule_id}"}, things=OF_SCHEDULE),
    "GET /api/v1/runs/{run_id}": Row(),
    "POST /api/v1/runs/{run_id}/cancel": Row(),
    "POST /api/v1/runs/{run_id}/terminate": Row(),
    "POST /api/v1/runs/{run_id}/retry": Row(things={"run_id": FAILED}),
    "GET /api/v1/backfills/{number}": Row(),
    "POST /api/v1/backfills/{number}/cancel": Row(),
    "GET /api/v1/decisions": Row(),
    "POST /api/v1/runs/{run_id}/decision": Row({"verdict": "approve"}, things={"run_id": WAITING}),
    "POST /api/v1/grants": Row({"scopes": ["graph:execute:python:digest"]}),
    "POST /api/v1/grants | for a user": Row(
        {"scopes": ["graph:execute:python:digest"], "user": "{user}"}, things=NEWCOMER, missing=403
    ),
    "GET /api/v1/grants": Row(),
    "GET /api/v1/grants | of a user": Row(query={"user": "{user}"}, things=NEWCOMER, makes=True, missing=403),
    "GET /api/v1/grants/{grant_id}": Row(),
    "GET /api/v1/grants/{grant_id}/budget": Row(things={"grant_id": Thing(Belongings.budgeted_grant, "grant-999999")}),
    "PATCH /api/v1/grants/{grant_id}": Row({"expires_at": "2030-01-01T00:00:00Z"}),
    "POST /api/v1/grants/{grant_id}/revoke": Row(),
    "GET /api/v1/accounts/{user}/ledger": Row(),
    "GET /api/v1/accounts/{user}": Row(),
    "POST /api/v1/accounts/refund": Row({"source": "foliot", "reference": "absent"}, own=404),
    "POST /api/v1/accounts/{user}/top-up": Row({"credits": 1, "reference": "{#}"}),
    "POST /api/v1/accounts/{user}/limit": Row({"limited": True}),
    "POST /api/v1/workflows": Row({"workflow_id": "flow-{#}", **FLOW}),
    "GET /api/v1/workflows": Row(),
    "GET /api/v1/workflows/{workflow_id}": Row(),
    "GET /api/v1/workflows/{workflow_id}/versions": Row(),
    "GET /api/v1/workflows/{workflow_id}/versions/{version}": Row(),
    "GET /api/v1/requests": Row(),
    "GET /api/v1/requests/{key}": Row(),
    "POST /api/v1/requests/{key}/decision": Row({"verdict": "approve"}, own=409),
    "GET /api/v1/me": Row(),
    "GET /api/v1/users": Row(),
    "GET /api/v1/users/{user}": Row(),
    "PUT /api/v1/users/{user}": Row({"role": "admin"}, things={"user": SOMEBODY._replace(missing="dora")}, makes=True),
    "POST /api/v1/users/{user}/disable": Row(things={"user": SOMEBODY}),
    "POST /api/v1/users/{user}/enable": Row(things={"user": Thing(Belongings.disabled_user, "absent")}),
    "POST /api/v1/keys": Row({"name": "laptop"}),
    "GET /api/v1/keys": Row(),
    "GET /api/v1/keys | of a user": Row(query={"user": "{user}"}, things=NEWCOMER, makes=True, missing=403),
    "GET /api/v1/keys/{key_id}": Row(),
    "DELETE /api/v1/keys/{key_id}": Row(),
    "GET /api/v1/trail": Row(),
    "GET /api/v1/trail/verify": Row(),
    "GET /api/v1/system": Row(),
    "GET /api/v1/events": Row(query={"seconds": "0"}),
    "GET /api/v1/audit": Row(query={"since": "2026-11-15T11:00:00Z"}),
    "POST /api/v1/webhooks": Row(HOOKED),
    "GET /api/v1/webhooks": Row(),
    "GET /api/v1/webhooks/{webhook_id}": Row(),
    "DELETE /api/v1/webhooks/{webhook_id}": Row(),
    "GET /api/v1/webhooks/{webhook_id}/deliveries": Row(),
    "POST /api/v1/webhooks/{webhook_id}/test": Row(),
    "GET /api/internal/graphs": Row(),
    "POST /api/internal/graphs/{graph_id}/runs": Row(
        {"executionGrantId": "{grant_id}"}, headers={"Idempotency-Key": "{#}"}, things=GRANTED, is_silent=True
    ),
    "GET /api/internal/runs/{run_id}/outcome": Row(things={"run_id": Thing(Belongings.request, "absent")}),
    "POST /api/internal/runs/{run_id}/status": Row(
        {"token": "made up", "status": "running"}, things={"run_id": WAITING}, own=409
    ),
    "POST /schedules/upsert": Row(
        {**STARTED, "schedule_id": "registered-{#}", "cron_expr": "0 9 * * *", "timezone": "UTC"}, things=OF_WORKFLOW
    ),
    "POST /schedules/pause": Row({"schedule_id": "{schedule_id}", "paused": True}, things=REGISTERED),
    "GET /schedules/{schedule_id}": Row(things=REGISTERED),
    "GET /schedules/{schedule_id}/runs": Row(things=REGISTERED),
    "DELETE /schedules/{schedule_id}": Row(things=REGISTERED),
    "POST /run-launcher/start": Row(
        {**STARTED, "scheduled_for": NOON, "idempotency_key": "{#}"}, things=OF_WORKFLOW, makes=True
    ),
    "POST /webhooks/decisions/{run_id}": Row(
        {"run_id": "{run_id}", "verdict": "approve", "by": "ann", "id": "{#}"}, things={"run_id": WAITING}
    ),
}
