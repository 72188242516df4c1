"""Workers: who holds leases, until when, and who is gone."""

from foliot.rows import Expired, News
from foliot.stores.part import Part


class Workers(Part):
    def register(self, name: str) -> int:
        """A new worker; its number is its own for ever."""
        text = "INSERT INTO workers (name, started_at, seen_at) VALUES (?, ?, ?) RETURNING ref"
        return int(self._all(text, name, self.now, self.now)[0][0])

    def worker_name(self, worker: int) -> str | None:
        rows = self._all("SELECT name FROM workers WHERE ref = ?", worker)
        return str(rows[0][0]) if rows else None

    def renew(self, worker: int, lease_until: int | None) -> bool:
        """Extend the worker's lease, or give it up when it holds nothing; False when it was declared gone."""
        text = "UPDATE workers SET lease_until = ?, seen_at = ? WHERE ref = ? AND stopped_at IS NULL"
        return self._do(text, lease_until, self.now, worker) == 1

    def expired(self, but: int) -> list[Expired]:
        """Other workers whose lease has run out, held."""
        text = "SELECT ref, name FROM workers WHERE lease_until < ? AND ref <> ? ORDER BY lease_until"
        return [Expired(*row) for row in self._all(text + self.dialect.lock_free, self.now, but)]

    def void_others(self, but: int) -> None:
        """Every other lease ends now: nobody else can be alive."""
        self._do("UPDATE workers SET lease_until = ? WHERE ref <> ? AND lease_until IS NOT NULL", self.now - 1, but)

    def stop(self, worker: int) -> None:
        """The worker is gone, and cannot come back under its number."""
        self._do("UPDATE workers SET stopped_at = ? WHERE ref = ? AND stopped_at IS NULL", self.now, worker)

    def forget_lease(self, worker: int) -> None:
        """Nothing is left of what the worker held."""
        self._do("UPDATE workers SET lease_until = NULL WHERE ref = ?", worker)

    def news(self, but: int) -> News:
        """When the first of the other workers' leases runs out, and what else anybody may have written meanwhile."""
        text = (
            "SELECT (SELECT lease_until FROM workers WHERE lease_until IS NOT NULL AND ref <> ?"
            " ORDER BY lease_until LIMIT 1), coalesce((SELECT number FROM revisions WHERE name = 'grants'), 0),"
            " (SELECT min(expires_at) FROM questions WHERE closed_at IS NULL),"
            " coalesce((SELECT number FROM revisions WHERE name = 'targets'), 0)"
        )
        return News(*self._all(text, but)[0])

    def remove_stopped(self, before: int) -> int:
        """Forget workers long gone; all but the newest, whose number SQLite would give to the next."""
        text = (
            "DELETE FROM workers WHERE lease_until IS NULL AND (stopped_at < ?"
            " OR (stopped_at IS NULL AND seen_at < ?)) AND ref < (SELECT max(ref) FROM workers)"
        )
        return self._do(text, before, before)
