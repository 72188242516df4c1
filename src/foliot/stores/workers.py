"""Workers: who holds leases, until when, and who is gone."""

from collections.abc import Sequence
from json import dumps, loads

from foliot.domain.ledger import Taker
from foliot.lines import WorkerLine
from foliot.rows import Expired, News
from foliot.stores.part import Part


class Workers(Part):
    def register(self, name: str) -> int:
        """A new worker; its number is its own for ever."""
        text = "INSERT INTO workers (name, started_at, seen_at) VALUES (?, ?, ?) RETURNING ref"
        return int(self._all(text, name, self.now, self.now)[0][0])

    def note_targets(self, worker: int, targets: Sequence[str]) -> None:
        """What the worker takes up from now on."""
        self._do("UPDATE workers SET targets = ? WHERE ref = ?", dumps(sorted(targets)), worker)

    def takers(self) -> list[Taker]:
        """What those take up that have not left."""
        rows = self._all("SELECT targets, seen_at, lease_until FROM workers WHERE stopped_at IS NULL")
        return [Taker(None if row[0] is None else loads(row[0]), row[1], row[2]) for row in rows]

    def waits_for(self, run: int) -> tuple[str, int] | None:
        """The target that a run waits for and since when it may start; None when it may not yet."""
        text = "SELECT t.name, r.ready_at FROM runs r JOIN targets t ON t.ref = r.ready_for"
        rows = self._all(f"{text} WHERE r.ref = ? AND r.ready_at <= ?", run, self.now)
        return (str(rows[0][0]), int(rows[0][1])) if rows else None

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
            " coalesce((SELECT number FROM revisions WHERE name = 'targets'), 0),"
            " coalesce((SELECT number FROM revisions WHERE name = 'webhooks'), 0),"
            # Where there is no webhook, nobody looks for what it could be told.
            " (SELECT coalesce((SELECT 0 FROM notices WHERE addressed_at IS NULL LIMIT 1),"
            " (SELECT min(next_at) FROM deliveries WHERE next_at IS NOT NULL))"
            " FROM revisions WHERE name = 'webhooks' AND number > 0)"
        )
        return News(*self._all(text, but)[0])

    def worker_lines(self, limit: int) -> list[WorkerLine]:
        """Those that have not left, the last seen first."""
        running = "(SELECT count(*) FROM runs WHERE runs.worker = workers.ref AND runs.status = 'running')"
        text = f"SELECT name, started_at, seen_at, lease_until, {running} FROM workers WHERE stopped_at IS NULL"
        return [WorkerLine(*row) for row in self._all(f"{text} ORDER BY seen_at DESC, ref DESC LIMIT ?", limit)]

    def count_workers(self, since: int) -> tuple[int, int]:
        """How many that have not stopped were seen since then, and how many were not."""
        text = (
            "SELECT coalesce(sum(CASE WHEN seen_at >= ? THEN 1 ELSE 0 END), 0), count(*)"
            " FROM workers WHERE stopped_at IS NULL"
        )
        seen, known = self._all(text, since)[0]
        return int(seen), int(known) - int(seen)

    def count_expired(self, before: int) -> int:
        """How many leases ran out before then, and nobody has seen to it."""
        return int(self._all("SELECT count(*) FROM workers WHERE lease_until < ?", before)[0][0])

    def remove_stopped(self, before: int) -> int:
        """Forget workers long gone; all but the newest, whose number SQLite would give to the next."""
        text = (
            "DELETE FROM workers WHERE lease_until IS NULL AND (stopped_at < ?"
            " OR (stopped_at IS NULL AND seen_at < ?)) AND ref < (SELECT max(ref) FROM workers)"
        )
        return self._do(text, before, before)
