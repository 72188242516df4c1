"""Troubles: schedules that are set aside because the engine failed on them."""

from foliot.domain.grants import REFUSALS_UNTIL_ATTENTION
from foliot.domain.troubles import Trouble
from foliot.rows import TroubleRow
from foliot.stores.part import Part


class Troubles(Part):
    def trouble(self, schedule_ref: int) -> Trouble | None:
        """The last that there was with the schedule, over or not."""
        rows = self._all("SELECT times, error, since, until FROM troubles WHERE schedule_ref = ?", schedule_ref)
        return Trouble(*rows[0]) if rows else None

    def troubles(self, limit: int) -> list[TroubleRow]:
        """Those that last, the oldest first."""
        text = (
            "SELECT s.id, s.owner, t.times, t.error, t.since, t.until FROM troubles t JOIN schedules s"
            " ON s.ref = t.schedule_ref WHERE t.until > ? AND s.deleted_at IS NULL ORDER BY t.since, s.ref LIMIT ?"
        )
        return [
            TroubleRow(schedule, owner, Trouble(*row)) for schedule, owner, *row in self._all(text, self.now, limit)
        ]

    def set_aside(self, schedule_ref: int, trouble: Trouble) -> None:
        """Nothing of the schedule is looked at until then, and it needs somebody's attention."""
        until = trouble.until
        self._do(
            "INSERT INTO troubles (schedule_ref, times, error, since, until) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (schedule_ref) DO UPDATE SET times = excluded.times, error = excluded.error,"
            " since = excluded.since, until = excluded.until",
            schedule_ref,
            *trouble,
        )
        self._do("UPDATE cursors SET wake_at = ? WHERE ref = ? AND wake_at < ?", until, schedule_ref, until)
        attention = REFUSALS_UNTIL_ATTENTION
        self._do("UPDATE cursors SET refusals = ? WHERE ref = ? AND refusals < ?", attention, schedule_ref, attention)
        self._do(
            "UPDATE runs SET ready_at = ? WHERE schedule_ref = ? AND (status = 'running' OR status = 'pending'"
            " OR status = 'waiting') AND ready_for IS NOT NULL AND ready_at < ?",
            *(until, schedule_ref, until),
        )
        self._do("UPDATE backfills SET wake_at = ? WHERE schedule_ref = ? AND wake_at < ?", until, schedule_ref, until)
        self._do(
            "UPDATE questions SET expires_at = ? WHERE schedule_ref = ? AND closed_at IS NULL AND expires_at < ?",
            *(until, schedule_ref, until),
        )
