"""Webhooks, what they are to be told, and how far that has come."""

from collections.abc import Collection, Iterable, Sequence

from foliot.domain.access import Role
from foliot.domain.grants import LOCAL
from foliot.rows import DeliveryRow, NoticeRow, Parcel, WebhookRow
from foliot.stores.dialect import InsertMany, Row, UpdateMany
from foliot.stores.part import Part

_WEBHOOK = ", ".join(WebhookRow._fields)
_NOTICE = ", ".join(NoticeRow._fields)
_ANNOUNCE = InsertMany("notices", "event:text schedule_ref run_ref at data:text")
_ADDRESS = InsertMany("deliveries", "notice_ref webhook_ref next_at")
_TAKE = UpdateMany("deliveries", "tries next_at", keys="ref")
_HOMES = {"webhook": "w.id", "schedule": "s.id", "owner": "s.owner"}
_OF_WEBHOOK = ("url", "secret_env", "deleted_at")
_OF_NOTICE = ("event", "at", "data")


def _column(name: str) -> str:
    table = "w" if name in _OF_WEBHOOK else "n" if name in _OF_NOTICE else "d"
    return _HOMES.get(name, f"{table}.{name}")


_JOINED = (
    "FROM deliveries d JOIN notices n ON n.ref = d.notice_ref JOIN schedules s ON s.ref = n.schedule_ref"
    " JOIN webhooks w ON w.ref = d.webhook_ref"
)
_SELECT_PARCELS = f"SELECT {', '.join(map(_column, Parcel._fields))} {_JOINED}"
_SELECT_DELIVERIES = f"SELECT {', '.join(map(_column, DeliveryRow._fields))} {_JOINED}"


class Webhooks(Part):
    def audience(self) -> int:
        """How many webhooks there are."""
        rows = self._all("SELECT number FROM revisions WHERE name = 'webhooks'")
        return int(rows[0][0]) if rows else 0

    def insert_webhook(
        self, webhook_id: str, owner: str, url: str, events: str, secret_env: str, all_owners: int
    ) -> WebhookRow:
        text = (
            "INSERT INTO webhooks (id, owner, url, events, secret_env, all_owners, created_at)"
            f" VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING {_WEBHOOK}"
        )
        self._tell("webhooks")
        return WebhookRow(*self._all(text, webhook_id, owner, url, events, secret_env, all_owners, self.now)[0])

    def webhook(self, webhook_id: str) -> WebhookRow | None:
        rows = self._all(f"SELECT {_WEBHOOK} FROM webhooks WHERE id = ? AND deleted_at IS NULL", webhook_id)
        return WebhookRow(*rows[0]) if rows else None

    def list_webhooks(self, owner: str | None, after: int, limit: int) -> list[WebhookRow]:
        """Of that owner, or of everybody, in the order in which they were made, from the one after that."""
        condition, values = ("AND owner = ? ", [owner]) if owner is not None else ("", [])
        text = f"SELECT {_WEBHOOK} FROM webhooks WHERE deleted_at IS NULL AND ref > ? {condition}ORDER BY ref LIMIT ?"
        return [WebhookRow(*row) for row in self._all(text, after, *values, limit)]

    def secret_users(self, secret_env: str) -> list[str]:
        """Whose webhooks name that secret, or did."""
        rows = self._all("SELECT DISTINCT owner FROM webhooks WHERE secret_env = ? ORDER BY owner", secret_env)
        return [str(row[0]) for row in rows]

    def delete_webhook(self, ref: int) -> None:
        """Nothing more is sent to it, and what was on its way is given up."""
        self._do("UPDATE webhooks SET deleted_at = ? WHERE ref = ?", self.now, ref)
        self._do("UPDATE revisions SET number = number - 1 WHERE name = 'webhooks'")
        text = (
            "UPDATE deliveries SET next_at = NULL, error = 'its webhook was deleted'"
            " WHERE webhook_ref = ? AND next_at IS NOT NULL"
        )
        self._do(text, ref)

    def announce(self, rows: Sequence[Row]) -> None:
        """Write down what happened, for whoever wants to be told."""
        self.dialect.insert(self.cursor, _ANNOUNCE, rows)

    def unaddressed(self, limit: int) -> list[NoticeRow]:
        """Notices of which it is not known yet to whom they go, the oldest first, held for this transaction."""
        text = f"SELECT {_NOTICE} FROM notices WHERE addressed_at IS NULL ORDER BY ref LIMIT ?"
        return [NoticeRow(*row) for row in self._all(text + self.dialect.lock_free, limit)]

    def listening(self, owners: Iterable[str]) -> list[WebhookRow]:
        """The webhooks of these owners, and those of admins who want to be told of everybody's schedules."""
        text = (
            f"SELECT {_WEBHOOK} FROM webhooks WHERE deleted_at IS NULL"
            f" AND ({self.dialect.any_text_of('owner')} OR (all_owners = 1 AND (owner = ? OR owner IN"
            " (SELECT id FROM users WHERE role = ?)))) ORDER BY ref"
        )
        return [WebhookRow(*row) for row in self._all(text, self.dialect.list_of_texts(owners), LOCAL, Role.ADMIN)]

    def address(self, notices: Iterable[int], deliveries: Sequence[tuple[int, int]]) -> None:
        """It is known to whom these notices go: each by its number, and that of a webhook."""
        self.dialect.insert(self.cursor, _ADDRESS, [(*pair, self.now) for pair in deliveries])
        text = f"UPDATE notices SET addressed_at = ? WHERE {self.dialect.any_of('ref')}"
        self._do(text, self.now, self.dialect.list_of(notices))

    def deliveries_due(self, but: Collection[int], limit: int) -> list[tuple[int, int, int]]:
        """What is to be sent now, the longest due first, held for this transaction: its number, its webhook, and how
        often it was tried. Those to some webhooks are left out."""
        text = (
            "SELECT ref, webhook_ref, tries FROM deliveries WHERE next_at <= ?"
            f" AND NOT ({self.dialect.any_of('webhook_ref')}) ORDER BY next_at, ref LIMIT ?"
        )
        rows = self._all(text + self.dialect.lock_free, self.now, self.dialect.list_of(but), limit)
        return [(int(ref), int(webhook), int(tries)) for ref, webhook, tries in rows]

    def take_deliveries(self, rows: Sequence[Row]) -> list[Parcel]:
        """Try these, each counted so often by now, and nobody else until that moment: all that is to be known of it."""
        self.dialect.update(self.cursor, _TAKE, rows)
        text = f"{_SELECT_PARCELS} WHERE {self.dialect.any_of('d.ref')} ORDER BY d.ref"
        return [Parcel(*row) for row in self._all(text, self.dialect.list_of(int(row[-1]) for row in rows))]

    def note_arrival(self, ref: int) -> None:
        """It has arrived: once, and for good, whoever tries it meanwhile."""
        text = "UPDATE deliveries SET arrived_at = ?, next_at = NULL, error = NULL WHERE ref = ? AND arrived_at IS NULL"
        self._do(text, self.now, ref)

    def note_failure(self, ref: int, tries: int, next_at: int | None, error: str) -> None:
        """That try was in vain; unless somebody else has begun another since, or it is over."""
        text = "UPDATE deliveries SET next_at = ?, error = ? WHERE ref = ? AND tries = ? AND next_at IS NOT NULL"
        self._do(text, next_at, error, ref, tries)

    def next_delivery_at(self) -> int | None:
        """When, after now, the next is to be sent, or somebody is taken to be gone who sends it."""
        rows = self._all("SELECT min(next_at) FROM deliveries WHERE next_at > ?", self.now)
        return None if rows[0][0] is None else int(rows[0][0])

    def deliveries_of(self, webhook_ref: int, before: int | None, limit: int) -> list[DeliveryRow]:
        """What it was told, or is to be, the newest first, from the one before that."""
        condition, values = ("AND d.ref < ? ", [before]) if before is not None else ("", [])
        text = f"{_SELECT_DELIVERIES} WHERE d.webhook_ref = ? {condition}ORDER BY d.ref DESC LIMIT ?"
        return [DeliveryRow(*row) for row in self._all(text, webhook_ref, *values, limit)]

    def remove_notices(self, before: int) -> int:
        """Forget what happened before that and is told or given up; all but the newest, whose number SQLite would give
        to the next, and with it the name of its deliveries."""
        old = "SELECT ref FROM notices WHERE at < ?"
        self._do(f"DELETE FROM deliveries WHERE next_at IS NULL AND notice_ref IN ({old})", before)
        text = (
            "DELETE FROM notices WHERE at < ? AND ref < (SELECT max(ref) FROM notices)"
            " AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notice_ref = notices.ref)"
        )
        removed = self._do(text, before)
        text = (
            "DELETE FROM webhooks WHERE deleted_at < ?"
            " AND NOT EXISTS (SELECT 1 FROM deliveries WHERE webhook_ref = webhooks.ref)"
        )
        self._do(text, before)
        return removed
