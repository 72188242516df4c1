"""Users, accounts, money and grants; schedules, cursors, runs, gaps, backfills, workers and workflows"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.supports_sequences:
        op.execute(sa.schema.CreateSequence(sa.Sequence("run_refs", increment=1000)))
    op.create_table(
        "execution_requests",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("grant_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("token", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_until", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ended_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "stage = 'done' OR stage = 'held' OR stage = 'in_progress' OR stage = 'released'",
            name=op.f("execution_requests_stage_check"),
        ),
        sa.CheckConstraint(
            "verdict IS NULL OR verdict = 'approve' OR verdict = 'reject' OR verdict = 'revise'",
            name=op.f("execution_requests_verdict_check"),
        ),
        sa.PrimaryKeyConstraint("ref", name=op.f("execution_requests_pkey")),
        sa.UniqueConstraint("key", name=op.f("execution_requests_key_key")),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    with op.batch_alter_table("execution_requests", schema=None) as batch_op:
        batch_op.create_index(
            "execution_requests_ended",
            ["ended_at"],
            unique=False,
            sqlite_where=sa.text("ended_at IS NOT NULL"),
            postgresql_where=sa.text("ended_at IS NOT NULL"),
        )
        batch_op.create_index("execution_requests_run", ["run"], unique=False)

    op.create_table(
        "kept_answers",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("headers", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("ref", name=op.f("kept_answers_pkey")),
        sa.UniqueConstraint("scope", "key", name="kept_answers_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("kept_answers", schema=None) as batch_op:
        batch_op.create_index("kept_answers_age", ["created_at"], unique=False)

    op.create_table(
        "questions",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("expires_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at_expiry", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("feedback", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("closed_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "at_expiry = 'approve' OR at_expiry = 'fail' OR at_expiry = 'reject'",
            name=op.f("questions_at_expiry_check"),
        ),
        sa.CheckConstraint(
            "verdict IS NULL OR verdict = 'approve' OR verdict = 'reject' OR verdict = 'revise'",
            name=op.f("questions_verdict_check"),
        ),
        sa.PrimaryKeyConstraint("ref", name=op.f("questions_pkey")),
        sa.UniqueConstraint("run_ref", "round", name="questions_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("questions", schema=None) as batch_op:
        batch_op.create_index(
            "questions_open",
            ["expires_at"],
            unique=False,
            sqlite_where=sa.text("closed_at IS NULL"),
            postgresql_where=sa.text("closed_at IS NULL"),
        )

    op.create_table(
        "revisions",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("revisions_pkey")),
        sqlite_strict=True,
    )
    op.create_table(
        "runs",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("nominal_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("due_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column(
            "backfill",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column(
            "attempt", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("1"), nullable=False
        ),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("hold", sa.Text(), nullable=True),
        sa.Column(
            "occupies",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column("overlap", sa.Text(), nullable=True),
        sa.Column("orders", sa.Text(), nullable=True),
        sa.Column("grant_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("worker", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "token", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "losses", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "rounds", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("ready_for", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("ready_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("retry_of", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("started_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("ended_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "hold IS NULL OR hold = 'due' OR hold = 'overlap' OR hold = 'paused' OR hold = 'retry'",
            name=op.f("runs_hold_check"),
        ),
        sa.CheckConstraint("kind = 'slot' OR kind = 'backfill' OR kind = 'manual'", name=op.f("runs_kind_check")),
        sa.CheckConstraint(
            "orders IS NULL OR orders = 'cancel_by_policy' OR orders = 'cancel_by_user'", name=op.f("runs_orders_check")
        ),
        sa.CheckConstraint(
            "overlap IS NULL OR overlap = 'allow_all' OR overlap = 'buffer_all' OR overlap = 'buffer_one' OR overlap = 'cancel_other' OR overlap = 'skip' OR overlap = 'terminate_other'",
            name=op.f("runs_overlap_check"),
        ),
        sa.CheckConstraint(
            "reason IS NULL OR reason = 'aborted' OR reason = 'buffer_full' OR reason = 'cancelled_by_policy' OR reason = 'cancelled_by_user' OR reason = 'decision_expired' OR reason = 'finalization_lost' OR reason = 'grant_expired' OR reason = 'grant_not_found' OR reason = 'grant_revoked' OR reason = 'grant_scope' OR reason = 'insufficient_credits' OR reason = 'internal' OR reason = 'invalid_request' OR reason = 'limit_reached' OR reason = 'lost' OR reason = 'missed' OR reason = 'not_found' OR reason = 'out_of_window' OR reason = 'over_budget' OR reason = 'overlap' OR reason = 'paused' OR reason = 'provider_unavailable' OR reason = 'rate_limit' OR reason = 'rejected' OR reason = 'run_limit' OR reason = 'schedule_deleted' OR reason = 'skipped_by_user' OR reason = 'superseded' OR reason = 'terminated' OR reason = 'timeout'",
            name=op.f("runs_reason_check"),
        ),
        sa.CheckConstraint(
            "status = 'running' OR status = 'cancelled' OR status = 'error' OR status = 'pending' OR status = 'skipped' OR status = 'success' OR status = 'waiting'",
            name=op.f("runs_status_check"),
        ),
        sa.PrimaryKeyConstraint("ref", name=op.f("runs_pkey")),
        sa.UniqueConstraint("schedule_ref", "nominal_at", "kind", "backfill", "attempt", name="runs_slot"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index(
            "runs_leased",
            ["worker"],
            unique=False,
            sqlite_where=sa.text("status = 'running'"),
            postgresql_where=sa.text("status = 'running'"),
        )
        batch_op.create_index(
            "runs_open",
            ["schedule_ref"],
            unique=False,
            sqlite_where=sa.text("status = 'running' OR status = 'pending' OR status = 'waiting'"),
            postgresql_where=sa.text("status = 'running' OR status = 'pending' OR status = 'waiting'"),
        )
        batch_op.create_index(
            "runs_ready",
            ["ready_for", "ready_at"],
            unique=False,
            sqlite_where=sa.text("ready_for IS NOT NULL"),
            postgresql_where=sa.text("ready_for IS NOT NULL"),
        )

    op.create_table(
        "costs",
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("credits", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deferred", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("run_ref", name=op.f("costs_pkey")),
        sqlite_strict=True,
    )
    op.create_table(
        "spendings",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("owner_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reserved", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("spent", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "is_over", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.CheckConstraint("owner = 'grant' OR owner = 'schedule'", name=op.f("spendings_owner_check")),
        sa.PrimaryKeyConstraint("ref", name=op.f("spendings_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("spendings", schema=None) as batch_op:
        batch_op.create_index(
            "spendings_open",
            ["owner", "owner_ref"],
            unique=False,
            sqlite_where=sa.text("spent IS NULL"),
            postgresql_where=sa.text("spent IS NULL"),
        )
        batch_op.create_index("spendings_run", ["run_ref"], unique=False)
        batch_op.create_index("spendings_window", ["owner", "owner_ref", "at"], unique=False)

    op.create_table(
        "targets",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("registered_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.PrimaryKeyConstraint("ref", name=op.f("targets_pkey")),
        sa.UniqueConstraint("name", name=op.f("targets_name_key")),
        sqlite_strict=True,
    )
    op.create_table(
        "trail",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ref", name=op.f("trail_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("trail", schema=None) as batch_op:
        batch_op.create_index("trail_subject", ["subject", "ref"], unique=False)

    op.create_table(
        "users",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), server_default=sa.text("'member'"), nullable=False),
        sa.Column("disabled_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.CheckConstraint("role = 'admin' OR role = 'member' OR role = 'viewer'", name=op.f("users_role_check")),
        sa.PrimaryKeyConstraint("ref", name=op.f("users_pkey")),
        sa.UniqueConstraint("id", name=op.f("users_id_key")),
        sqlite_strict=True,
    )
    op.create_table(
        "webhooks",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret_env", sa.Text(), nullable=False),
        sa.Column(
            "all_owners",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deleted_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.PrimaryKeyConstraint("ref", name=op.f("webhooks_pkey")),
        sa.UniqueConstraint("id", name=op.f("webhooks_id_key")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.create_index("webhooks_owner", ["owner"], unique=False)

    op.create_table(
        "workers",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seen_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_until", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("stopped_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("targets", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("ref", name=op.f("workers_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.create_index(
            "workers_lease",
            ["lease_until"],
            unique=False,
            sqlite_where=sa.text("lease_until IS NOT NULL"),
            postgresql_where=sa.text("lease_until IS NOT NULL"),
        )

    op.create_table(
        "workflows",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("dag", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ref", name=op.f("workflows_pkey")),
        sa.UniqueConstraint("id", "version", name="workflows_version"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("workflows", schema=None) as batch_op:
        batch_op.create_index("workflows_owner", ["owner", "id"], unique=False)

    op.create_table(
        "accounts",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("is_default", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "balance", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("is_limited", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["user_ref"], ["users.ref"], name=op.f("accounts_user_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("accounts_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("accounts", schema=None) as batch_op:
        batch_op.create_index(
            "accounts_default",
            ["user_ref"],
            unique=True,
            sqlite_where=sa.text("is_default = 1"),
            postgresql_where=sa.text("is_default = 1"),
        )

    op.create_table(
        "api_keys",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("rights", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("revoked_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("used_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["user_ref"], ["users.ref"], name=op.f("api_keys_user_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("api_keys_pkey")),
        sa.UniqueConstraint("digest", name=op.f("api_keys_digest_key")),
        sa.UniqueConstraint("id", name=op.f("api_keys_id_key")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.create_index("api_keys_user", ["user_ref"], unique=False)

    op.create_table(
        "node_states",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("workflow_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("vars", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("usages", sa.Text(), nullable=True),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("started_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ended_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "reason IS NULL OR reason = 'aborted' OR reason = 'insufficient_credits' OR reason = 'internal' OR reason = 'invalid_request' OR reason = 'not_found' OR reason = 'provider_unavailable' OR reason = 'rate_limit' OR reason = 'timeout'",
            name=op.f("node_states_reason_check"),
        ),
        sa.CheckConstraint(
            "status = 'DONE' OR status = 'ERROR' OR status = 'PENDING' OR status = 'RUNNING' OR status = 'SKIPPED'",
            name=op.f("node_states_status_check"),
        ),
        sa.ForeignKeyConstraint(["workflow_ref"], ["workflows.ref"], name=op.f("node_states_workflow_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("node_states_pkey")),
        sa.UniqueConstraint("run", "node", "path", name="node_states_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("node_states", schema=None) as batch_op:
        batch_op.create_index("node_states_age", ["started_at"], unique=False)
        batch_op.create_index(
            "node_states_key",
            ["idempotency_key"],
            unique=False,
            sqlite_where=sa.text("idempotency_key IS NOT NULL AND status = 'DONE'"),
            postgresql_where=sa.text("idempotency_key IS NOT NULL AND status = 'DONE'"),
        )

    op.create_table(
        "schedules",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=True),
        sa.Column("target", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("policies", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("memo", sa.Text(), nullable=True),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("updated_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("spec_since", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deleted_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("pause_note", sa.Text(), nullable=True),
        sa.Column("paused_by", sa.Text(), nullable=True),
        sa.Column(
            "pruned_before",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column("grant_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("declared", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["target"], ["targets.ref"], name=op.f("schedules_target_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("schedules_pkey")),
        sa.UniqueConstraint("id", name=op.f("schedules_id_key")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("schedules", schema=None) as batch_op:
        batch_op.create_index("schedules_name", ["name", "id"], unique=False)
        batch_op.create_index("schedules_owner", ["owner", "id"], unique=False)
        batch_op.create_index("schedules_updated", ["updated_at"], unique=False)

    op.create_table(
        "backfills",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("target", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("last", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("which", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("concurrency", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "running", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "started", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("done_to", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("wake_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ended_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("cancelled_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "direction = 'newest_first' OR direction = 'oldest_first'", name=op.f("backfills_direction_check")
        ),
        sa.CheckConstraint(
            "which = 'all' OR which = 'failed' OR which = 'missing'", name=op.f("backfills_which_check")
        ),
        sa.ForeignKeyConstraint(["schedule_ref"], ["schedules.ref"], name=op.f("backfills_schedule_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("backfills_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("backfills", schema=None) as batch_op:
        batch_op.create_index("backfills_schedule", ["schedule_ref"], unique=False)
        batch_op.create_index(
            "backfills_wake",
            ["target", "wake_at"],
            unique=False,
            sqlite_where=sa.text("wake_at IS NOT NULL"),
            postgresql_where=sa.text("wake_at IS NOT NULL"),
        )

    op.create_table(
        "cursors",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("target", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("swept_to", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("wake_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("pause_from", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("pause_to", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "running", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "held", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("remaining", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "marks", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("last_result", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("last_failure", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "refusals",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["ref"], ["schedules.ref"], name=op.f("cursors_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("cursors_pkey")),
        postgresql_with={"fillfactor": 50},
        sqlite_strict=True,
    )
    with op.batch_alter_table("cursors", schema=None) as batch_op:
        batch_op.create_index(
            "cursors_coming",
            ["wake_at", "ref"],
            unique=False,
            sqlite_where=sa.text("wake_at IS NOT NULL AND pause_from IS NULL"),
            postgresql_where=sa.text("wake_at IS NOT NULL AND pause_from IS NULL"),
        )
        batch_op.create_index(
            "cursors_idle",
            ["ref"],
            unique=False,
            sqlite_where=sa.text("wake_at IS NULL OR pause_from IS NOT NULL"),
            postgresql_where=sa.text("wake_at IS NULL OR pause_from IS NOT NULL"),
        )
        batch_op.create_index("cursors_wake", ["target", "wake_at", "ref"], unique=False)

    op.create_table(
        "gaps",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("last_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.CheckConstraint("reason = 'missed' OR reason = 'paused'", name=op.f("gaps_reason_check")),
        sa.ForeignKeyConstraint(["schedule_ref"], ["schedules.ref"], name=op.f("gaps_schedule_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("gaps_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("gaps", schema=None) as batch_op:
        batch_op.create_index("gaps_slots", ["schedule_ref", "first_at"], unique=False)

    op.create_table(
        "troubles",
        sa.Column(
            "schedule_ref",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("times", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("until", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["schedule_ref"], ["schedules.ref"], name=op.f("troubles_schedule_ref_fkey")),
        sa.PrimaryKeyConstraint("schedule_ref", name=op.f("troubles_pkey")),
        sqlite_strict=True,
    )

    op.create_table(
        "grants",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("revoked_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("budget", sa.Text(), nullable=True),
        sa.Column("is_shared", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["account_ref"], ["accounts.ref"], name=op.f("grants_account_ref_fkey")),
        sa.ForeignKeyConstraint(["user_ref"], ["users.ref"], name=op.f("grants_user_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("grants_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("grants", schema=None) as batch_op:
        batch_op.create_index("grants_user", ["user_ref", "ref"], unique=False)

    op.create_table(
        "notices",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("addressed_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "event = 'budget.reached' OR event = 'run.failed' OR event = 'run.missed' OR event = 'run.recovered' OR event = 'run.waiting'",
            name=op.f("notices_event_check"),
        ),
        sa.ForeignKeyConstraint(["schedule_ref"], ["schedules.ref"], name=op.f("notices_schedule_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("notices_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("notices", schema=None) as batch_op:
        batch_op.create_index("notices_age", ["at"], unique=False)
        batch_op.create_index(
            "notices_new",
            ["ref"],
            unique=False,
            sqlite_where=sa.text("addressed_at IS NULL"),
            postgresql_where=sa.text("addressed_at IS NULL"),
        )

    op.create_table(
        "past_specs",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("schedule_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("until", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "ended_by = 'deletion' OR ended_by = 'edit' OR ended_by = 'limit'",
            name=op.f("past_specs_ended_by_check"),
        ),
        sa.ForeignKeyConstraint(["schedule_ref"], ["schedules.ref"], name=op.f("past_specs_schedule_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("past_specs_pkey")),
        sqlite_strict=True,
    )
    with op.batch_alter_table("past_specs", schema=None) as batch_op:
        batch_op.create_index("past_specs_schedule", ["schedule_ref", "until"], unique=False)

    op.create_table(
        "postings",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("balance_after", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.CheckConstraint("kind = 'charge' OR kind = 'refund' OR kind = 'top_up'", name=op.f("postings_kind_check")),
        sa.ForeignKeyConstraint(["account_ref"], ["accounts.ref"], name=op.f("postings_account_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("postings_pkey")),
        sa.UniqueConstraint("account_ref", "kind", "reference", name="postings_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("postings", schema=None) as batch_op:
        batch_op.create_index("postings_account", ["account_ref", "ref"], unique=False)

    op.create_table(
        "receipts",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("tokens", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("cost", sa.Text(), nullable=True),
        sa.Column("credits", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["account_ref"], ["accounts.ref"], name=op.f("receipts_account_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("receipts_pkey")),
        sa.UniqueConstraint("source", "reference", name="receipts_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("receipts", schema=None) as batch_op:
        batch_op.create_index("receipts_run", ["run_ref"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("notice_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("webhook_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "tries", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("next_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("arrived_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["notice_ref"], ["notices.ref"], name=op.f("deliveries_notice_ref_fkey")),
        sa.ForeignKeyConstraint(["webhook_ref"], ["webhooks.ref"], name=op.f("deliveries_webhook_ref_fkey")),
        sa.PrimaryKeyConstraint("ref", name=op.f("deliveries_pkey")),
        sa.UniqueConstraint("notice_ref", "webhook_ref", name="deliveries_once"),
        sqlite_strict=True,
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "deliveries_due",
            ["next_at"],
            unique=False,
            sqlite_where=sa.text("next_at IS NOT NULL"),
            postgresql_where=sa.text("next_at IS NOT NULL"),
        )
        batch_op.create_index("deliveries_webhook", ["webhook_ref", "ref"], unique=False)
