"""The tables of the service: keys, the trail of changes, kept answers, and whom to tell what happened."""

from sqlalchemy import Column, ForeignKey, Index, Table, Text, UniqueConstraint, text

from foliot.domain.notices import Event
from foliot.stores.schema import Number, metadata, one_of

api_keys = Table(
    "api_keys",
    metadata,
    Column("ref", Number, primary_key=True),
    # The part of the key that may be shown; the rest is known by its digest only.
    Column("id", Text, nullable=False, unique=True),
    Column("user_ref", Number, ForeignKey("users.ref"), nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("rights", Text, nullable=False),
    Column("expires_at", Number),
    Column("revoked_at", Number),
    Column("used_at", Number),
    Column("created_at", Number, nullable=False),
    sqlite_strict=True,
)
Index("api_keys_user", api_keys.c.user_ref)

# Only ever added to, one after the other: each row is signed with the one before it.
trail = Table(
    "trail",
    metadata,
    Column("ref", Number, primary_key=True, autoincrement=False),
    Column("at", Number, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text),
    Column("request_id", Text),
    Column("address", Text),
    Column("hash", Text, nullable=False),
    sqlite_strict=True,
)
Index("trail_subject", trail.c.subject, trail.c.ref)

# What writes over the network were answered, each by its key: told again, they are answered from here.
kept_answers = Table(
    "kept_answers",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("status", Number, nullable=False),
    Column("headers", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", Number, nullable=False),
    UniqueConstraint("scope", "key", name="kept_answers_once"),
    sqlite_strict=True,
)
Index("kept_answers_age", kept_answers.c.created_at)

webhooks = Table(
    "webhooks",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("events", Text, nullable=False),
    # Where the secret is that signs what is sent; the secret itself is kept nowhere here.
    Column("secret_env", Text, nullable=False),
    # Whether an admin wants to be told of everybody's schedules.
    Column("all_owners", Number, nullable=False, server_default=text("0")),
    Column("created_at", Number, nullable=False),
    Column("deleted_at", Number),
    sqlite_strict=True,
)
Index("webhooks_owner", webhooks.c.owner)

# What happened that somebody wants to be told, written with what happened; only where there is a webhook.
notices = Table(
    "notices",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("event", Text, nullable=False),
    Column("schedule_ref", Number, ForeignKey("schedules.ref"), nullable=False),
    Column("run_ref", Number),
    Column("at", Number, nullable=False),
    Column("data", Text, nullable=False),
    # None until it is known to whom it goes.
    Column("addressed_at", Number),
    one_of("event", Event),
    sqlite_strict=True,
)
_UNADDRESSED = text("addressed_at IS NULL")
Index("notices_new", notices.c.ref, sqlite_where=_UNADDRESSED, postgresql_where=_UNADDRESSED)
Index("notices_age", notices.c.at)

deliveries = Table(
    "deliveries",
    metadata,
    Column("ref", Number, primary_key=True),
    Column("notice_ref", Number, ForeignKey("notices.ref"), nullable=False),
    Column("webhook_ref", Number, ForeignKey("webhooks.ref"), nullable=False),
    Column("tries", Number, nullable=False, server_default=text("0")),
    # When it is tried next, which while somebody tries is when they are taken to be gone; None when it has arrived, or
    # is given up.
    Column("next_at", Number),
    Column("arrived_at", Number),
    Column("error", Text),
    UniqueConstraint("notice_ref", "webhook_ref", name="deliveries_once"),
    sqlite_strict=True,
)
_DUE = text("next_at IS NOT NULL")
Index("deliveries_webhook", deliveries.c.webhook_ref, deliveries.c.ref)
Index("deliveries_due", deliveries.c.next_at, sqlite_where=_DUE, postgresql_where=_DUE)
