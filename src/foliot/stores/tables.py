"""The schema, spelled so that SQLite and PostgreSQL read it alike: integer microseconds, checked words, JSON as text.

Cold configuration and the narrow cursor that moves with every slot are two tables. Rows have appending integer keys.
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Sequence,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from foliot.domain.access import Role
from foliot.domain.backfill import Direction, Which
from foliot.domain.budgets import Owner
from foliot.domain.credits import Posting
from foliot.domain.delivery import RequestStage
from foliot.domain.events import ErrorCode
from foliot.domain.node_states import NodeStatus
from foliot.domain.policies import Overlap
from foliot.domain.questions import AtExpiry, Verdict
from foliot.domain.runs import Hold, Kind, Order, Reason, Status
from foliot.domain.tenures import TenureEnd
from foliot.stores import service_tables
from foliot.stores.schema import Number, metadata, one_of

__all__ = ["metadata", "service_tables"]

targets = Table(
    "targets",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("registered_at", Number),
    sqlite_strict=True,
)

users = Table(
    "users",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False, server_default=text(f"'{Role.MEMBER}'")),
    # Whoever is, has no say any more; what is theirs stays.
    Column("disabled_at", Number),
    Column("created_at", Number, nullable=False),
    one_of("role", Role),
    sqlite_strict=True,
)

accounts = Table(
    "accounts",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("user_ref", Number, ForeignKey("users.ref"), nullable=False),
    Column("is_default", Number, nullable=False),
    Column("balance", Number, nullable=False, server_default=text("0")),
    Column("is_limited", Number, nullable=False),
    Column("created_at", Number, nullable=False),
    sqlite_strict=True,
)
_DEFAULT = text("is_default = 1")
Index("accounts_default", accounts.c.user_ref, unique=True, sqlite_where=_DEFAULT, postgresql_where=_DEFAULT)

postings = Table(
    "postings",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("account_ref", Number, ForeignKey("accounts.ref"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount", Number, nullable=False),
    Column("balance_after", Number, nullable=False),
    Column("reference", Text, nullable=False),
    Column("created_at", Number, nullable=False),
    UniqueConstraint("account_ref", "kind", "reference", name="postings_once"),
    one_of("kind", Posting),
    sqlite_strict=True,
)
Index("postings_account", postings.c.account_ref, postings.c.ref)

receipts = Table(
    "receipts",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("account_ref", Number, ForeignKey("accounts.ref"), nullable=False),
    Column("source", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("run_ref", Number, nullable=False),
    Column("unit", Text, nullable=False),
    Column("model", Text),
    Column("tokens", Number),
    Column("cost", Text),
    # None until somebody knows what it cost.
    Column("credits", Number),
    Column("created_at", Number, nullable=False),
    UniqueConstraint("source", "reference", name="receipts_once"),
    sqlite_strict=True,
)
Index("receipts_run", receipts.c.run_ref)

costs = Table(
    "costs",
    metadata,
    # As in receipts: of what was asked for from outside, the number of its request, negative.
    Column("run_ref", Number, primary_key=True, autoincrement=False),
    Column("credits", Number, nullable=False),
    Column("deferred", Number, nullable=False),
    sqlite_strict=True,
)

spendings = Table(
    "spendings",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("owner_ref", Number, nullable=False),
    Column("run_ref", Number, nullable=False),
    Column("at", Number, nullable=False),
    Column("reserved", Number, nullable=False),
    # None while the run is not over.
    Column("spent", Number),
    # Of what was asked for from outside, which has no run whose row would say so.
    Column("is_over", Number, nullable=False, server_default=text("0")),
    one_of("owner", Owner),
    sqlite_strict=True,
)
_RESERVED = text("spent IS NULL")
Index("spendings_window", spendings.c.owner, spendings.c.owner_ref, spendings.c.at)
Index("spendings_open", spendings.c.owner, spendings.c.owner_ref, sqlite_where=_RESERVED, postgresql_where=_RESERVED)
Index("spendings_run", spendings.c.run_ref)

grants = Table(
    "grants",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("user_ref", Number, ForeignKey("users.ref"), nullable=False),
    Column("account_ref", Number, ForeignKey("accounts.ref"), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("expires_at", Number),
    Column("revoked_at", Number),
    Column("budget", Text),
    Column("is_shared", Number, nullable=False),
    Column("created_at", Number, nullable=False),
    sqlite_strict=True,
)
Index("grants_user", grants.c.user_ref, grants.c.ref)

# Raised by whoever changes a grant, and held until its commit: who sees the same number has seen every change. That of
# the webhooks is how many there are.
revisions = Table(
    "revisions",
    metadata,
    Column("name", Text, primary_key=True),
    Column("number", Number, nullable=False),
    sqlite_strict=True,
)

schedules = Table(
    "schedules",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("app", Text),
    Column("target", Number, ForeignKey("targets.ref"), nullable=False),
    Column("spec", Text, nullable=False),
    Column("policies", Text, nullable=False),
    Column("input", Text),
    Column("labels", Text, nullable=False),
    Column("memo", Text),
    Column("version", Number, nullable=False),
    Column("created_at", Number, nullable=False),
    Column("updated_at", Number, nullable=False),
    Column("spec_since", Number, nullable=False),
    Column("deleted_at", Number),
    Column("pause_note", Text),
    Column("paused_by", Text),
    Column("pruned_before", Number, nullable=False, server_default=text("0")),
    # No foreign key: a schedule whose grant is not there is a case of its own, and skips its slots.
    Column("grant_ref", Number, nullable=False),
    # The user who sees and changes it.
    Column("owner", Text, nullable=False),
    # What its set said of it when it was applied last; none when it belongs to no set.
    Column("declared", Text),
    sqlite_strict=True,
)
Index("schedules_owner", schedules.c.owner, schedules.c.id)
Index("schedules_name", schedules.c.name, schedules.c.id)
Index("schedules_updated", schedules.c.updated_at)

# What a schedule's spec was before it was edited, and the stretch of time of which it said what was owed.
past_specs = Table(
    "past_specs",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("schedule_ref", Number, ForeignKey("schedules.ref"), nullable=False),
    Column("spec", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("until", Number, nullable=False),
    Column("ended_by", Text, nullable=False),
    one_of("ended_by", TenureEnd),
    sqlite_strict=True,
)
Index("past_specs_schedule", past_specs.c.schedule_ref, past_specs.c.until)

cursors = Table(
    "cursors",
    metadata,
    Column("ref", Number, ForeignKey("schedules.ref"), primary_key=True, autoincrement=False),
    Column("version", Number, nullable=False),
    Column("target", Number, nullable=False),
    Column("swept_to", Number, nullable=False),
    Column("wake_at", Number),
    Column("pause_from", Number),
    Column("pause_to", Number),
    Column("running", Number, nullable=False, server_default=text("0")),
    Column("held", Number, nullable=False, server_default=text("0")),
    Column("remaining", Number),
    Column("marks", Number, nullable=False, server_default=text("0")),
    Column("last_result", Number),
    Column("last_failure", Number),
    Column("refusals", Number, nullable=False, server_default=text("0")),
    sqlite_strict=True,
    # Each row changes with every run: with room beside it, the change stays on its page and off its indexes.
    postgresql_with={"fillfactor": 50},
)
Index("cursors_wake", cursors.c.target, cursors.c.wake_at, cursors.c.ref)
# For lists by what fires next, and then of all that has nothing to come. Whoever looks for what is due, paused or not,
# does not come this way.
_COMING = text("wake_at IS NOT NULL AND pause_from IS NULL")
_IDLE = text("wake_at IS NULL OR pause_from IS NOT NULL")
Index("cursors_coming", cursors.c.wake_at, cursors.c.ref, sqlite_where=_COMING, postgresql_where=_COMING)
Index("cursors_idle", cursors.c.ref, sqlite_where=_IDLE, postgresql_where=_IDLE)

# PostgreSQL draws the keys of runs in blocks; on SQLite the one process counts by itself.
run_refs = Sequence("run_refs", increment=1000, metadata=metadata)

runs = Table(
    "runs",
    metadata,
    Column("ref", Number, primary_key=True, autoincrement=False),
    # No foreign key: a row is written while its schedule's cursor is held, no schedule is ever removed, and PostgreSQL
    # would look the schedule up, and lock it, once more for every slot.
    Column("schedule_ref", Number, nullable=False),
    Column("nominal_at", Number, nullable=False),
    Column("due_at", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("backfill", Number, nullable=False, server_default=text("0")),
    Column("attempt", Number, nullable=False, server_default=text("1")),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("hold", Text),
    Column("occupies", Number, nullable=False, server_default=text("0")),
    Column("overlap", Text),
    Column("orders", Text),
    # By which it was last permitted to start: who pays for it, whoever has the schedule by now.
    Column("grant_ref", Number),
    Column("worker", Number),
    Column("token", Number, nullable=False, server_default=text("0")),
    Column("losses", Number, nullable=False, server_default=text("0")),
    # How often it was answered.
    Column("rounds", Number, nullable=False, server_default=text("0")),
    Column("ready_for", Number),
    Column("ready_at", Number),
    Column("retry_of", Number),
    Column("version", Number, nullable=False),
    Column("created_at", Number, nullable=False),
    Column("started_at", Number),
    Column("ended_at", Number),
    Column("input", Text),
    Column("result", Text),
    Column("error", Text),
    Column("progress", Text),
    UniqueConstraint("schedule_ref", "nominal_at", "kind", "backfill", "attempt", name="runs_slot"),
    one_of("status", Status, likeliest=Status.RUNNING),
    one_of("kind", Kind, likeliest=Kind.SLOT),
    CheckConstraint("reason IS NULL OR " + str(one_of("reason", Reason).sqltext), name="reason"),
    CheckConstraint("hold IS NULL OR " + str(one_of("hold", Hold).sqltext), name="hold"),
    CheckConstraint("overlap IS NULL OR " + str(one_of("overlap", Overlap).sqltext), name="overlap"),
    CheckConstraint("orders IS NULL OR " + str(one_of("orders", Order).sqltext), name="orders"),
    sqlite_strict=True,
)
_READY = text("ready_for IS NOT NULL")
_OPEN = text("status = 'running' OR status = 'pending' OR status = 'waiting'")
_RUNNING = text("status = 'running'")
Index("runs_ready", runs.c.ready_for, runs.c.ready_at, sqlite_where=_READY, postgresql_where=_READY)
Index("runs_open", runs.c.schedule_ref, sqlite_where=_OPEN, postgresql_where=_OPEN)
Index("runs_leased", runs.c.worker, sqlite_where=_RUNNING, postgresql_where=_RUNNING)

questions = Table(
    "questions",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("run_ref", Number, nullable=False),
    Column("schedule_ref", Number, nullable=False),
    Column("round", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text),
    Column("who", Text, nullable=False),
    Column("reference", Text),
    Column("asked_at", Number, nullable=False),
    Column("expires_at", Number, nullable=False),
    Column("at_expiry", Text, nullable=False),
    Column("decision", Text),
    Column("verdict", Text),
    Column("feedback", Text),
    Column("decided_by", Text),
    # None while the run waits.
    Column("closed_at", Number),
    UniqueConstraint("run_ref", "round", name="questions_once"),
    one_of("at_expiry", AtExpiry),
    CheckConstraint("verdict IS NULL OR " + str(one_of("verdict", Verdict).sqltext), name="verdict"),
    sqlite_strict=True,
)
_UNANSWERED = text("closed_at IS NULL")
Index("questions_open", questions.c.expires_at, sqlite_where=_UNANSWERED, postgresql_where=_UNANSWERED)

execution_requests = Table(
    "execution_requests",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("hash", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("grant_ref", Number, nullable=False),
    Column("run", Text, nullable=False),
    Column("attempt", Number, nullable=False),
    # The run's own row, where it has one here.
    Column("run_ref", Number),
    Column("stage", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("token", Number, nullable=False),
    Column("lease_until", Number, nullable=False),
    Column("verdict", Text),
    Column("decided_by", Text),
    Column("outcome", Text),
    Column("created_at", Number, nullable=False),
    Column("ended_at", Number),
    one_of("stage", RequestStage),
    CheckConstraint("verdict IS NULL OR " + str(one_of("verdict", Verdict).sqltext), name="verdict"),
    sqlite_strict=True,
    # Receipts name it by its key, and outlive it: no other may have that key.
    sqlite_autoincrement=True,
)
_OVER = text("ended_at IS NOT NULL")
Index("execution_requests_run", execution_requests.c.run)
Index("execution_requests_ended", execution_requests.c.ended_at, sqlite_where=_OVER, postgresql_where=_OVER)

gaps = Table(
    "gaps",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("schedule_ref", Number, ForeignKey("schedules.ref"), nullable=False),
    Column("first_at", Number, nullable=False),
    Column("last_at", Number, nullable=False),
    Column("size", Number, nullable=False),
    Column("reason", Text, nullable=False),
    Column("recorded_at", Number, nullable=False),
    one_of("reason", (Reason.MISSED, Reason.PAUSED)),
    sqlite_strict=True,
)
Index("gaps_slots", gaps.c.schedule_ref, gaps.c.first_at)

# What the engine could not work on: it is left alone until then, and others are not kept waiting for it.
troubles = Table(
    "troubles",
    metadata,
    Column("schedule_ref", Number, ForeignKey("schedules.ref"), primary_key=True, autoincrement=False),
    Column("times", Number, nullable=False),
    Column("error", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("until", Number, nullable=False),
    sqlite_strict=True,
)

backfills = Table(
    "backfills",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("schedule_ref", Number, ForeignKey("schedules.ref"), nullable=False),
    Column("target", Number, nullable=False),
    Column("first", Number, nullable=False),
    Column("last", Number, nullable=False),
    Column("which", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("concurrency", Number, nullable=False),
    Column("running", Number, nullable=False, server_default=text("0")),
    Column("started", Number, nullable=False, server_default=text("0")),
    Column("done_to", Number, nullable=False),
    Column("wake_at", Number),
    Column("input", Text),
    Column("created_at", Number, nullable=False),
    Column("ended_at", Number),
    Column("cancelled_at", Number),
    one_of("which", Which),
    one_of("direction", Direction),
    sqlite_strict=True,
)
_AWAKE = text("wake_at IS NOT NULL")
Index("backfills_wake", backfills.c.target, backfills.c.wake_at, sqlite_where=_AWAKE, postgresql_where=_AWAKE)
Index("backfills_schedule", backfills.c.schedule_ref)

workers = Table(
    "workers",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("started_at", Number, nullable=False),
    Column("seen_at", Number, nullable=False),
    Column("lease_until", Number),
    Column("stopped_at", Number),
    # What it takes up, as a list in JSON; it says so as soon as it has learned it.
    Column("targets", Text),
    sqlite_strict=True,
)
_LEASED = text("lease_until IS NOT NULL")
Index("workers_lease", workers.c.lease_until, sqlite_where=_LEASED, postgresql_where=_LEASED)

# Only ever added to: what a run was started with stays as it was.
workflows = Table(
    "workflows",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("id", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("version", Number, nullable=False),
    Column("dag", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created_at", Number, nullable=False),
    Column("created_by", Text, nullable=False),
    UniqueConstraint("id", "version", name="workflows_version"),
    sqlite_strict=True,
)
Index("workflows_owner", workflows.c.owner, workflows.c.id)

node_states = Table(
    "node_states",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("run", Text, nullable=False),
    Column("workflow_ref", Number, ForeignKey("workflows.ref"), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempt", Number, nullable=False),
    Column("input", Text),
    Column("output", Text),
    Column("vars", Text),
    Column("reason", Text),
    Column("error", Text),
    Column("usages", Text),
    Column("idempotency_key", Text),
    Column("started_at", Number, nullable=False),
    Column("ended_at", Number),
    UniqueConstraint("run", "node", "path", name="node_states_once"),
    one_of("status", NodeStatus),
    CheckConstraint("reason IS NULL OR " + str(one_of("reason", ErrorCode).sqltext), name="reason"),
    sqlite_strict=True,
)
_KEPT = text("idempotency_key IS NOT NULL AND status = 'DONE'")
Index("node_states_key", node_states.c.idempotency_key, sqlite_where=_KEPT, postgresql_where=_KEPT)
Index("node_states_age", node_states.c.started_at)
