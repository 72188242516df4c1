"""What the slot audit reads of the ledger: much of it, so it is counted and grouped where it lies."""

from collections.abc import Iterable, Iterator
from typing import Any

from foliot.domain.audit import Ahead, RunShape
from foliot.domain.generation import Gap
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.rows import RunName
from foliot.stores.part import Part

_SHAPE = {
    "kind": "r.kind",
    "status": "r.status",
    "reason": "r.reason",
    "hold": "r.hold",
    "is_retry": "CASE WHEN r.attempt > 1 THEN 1 ELSE 0 END",
    "has_ended": "CASE WHEN r.ended_at IS NOT NULL THEN 1 ELSE 0 END",
    "has_worker": "CASE WHEN r.worker IS NOT NULL THEN 1 ELSE 0 END",
    "is_ready": "CASE WHEN r.ready_for IS NOT NULL THEN 1 ELSE 0 END",
    "asks": "CASE WHEN r.status = 'waiting' AND EXISTS"
    " (SELECT 1 FROM questions q WHERE q.run_ref = r.ref AND q.closed_at IS NULL) THEN 1 ELSE 0 END",
}
_NAME = "r.schedule_ref, r.kind, r.nominal_at, r.backfill, r.attempt"
_MOMENTS_AT_ONCE = 50_000


class Audits(Part):
    def count_schedules(self, owner: str | None) -> int:
        """Deleted ones included."""
        if owner is None:
            return int(self._all("SELECT count(*) FROM schedules")[0][0])
        return int(self._all("SELECT count(*) FROM schedules WHERE owner = ?", owner)[0][0])

    def run_shapes(self, refs: Iterable[int], first_at: int, last_at: int) -> list[tuple[int, RunShape, int]]:
        """For each schedule how many runs there are of each shape; but for what is as old as what was removed."""
        shape = ", ".join(_SHAPE.values())
        groups = ", ".join(map(str, range(1, len(_SHAPE) + 2)))
        text = f"SELECT r.schedule_ref, {shape}, count(*) {self._audited()} GROUP BY {groups}"
        found = self._all(text, self.dialect.list_of(refs), first_at, last_at)
        return [(row[0], _shape_of(row[1:-1]), row[-1]) for row in found]

    def runs_of_shape(self, refs: Iterable[int], first_at: int, last_at: int, shape: RunShape) -> list[RunName]:
        """Those of one of these shapes."""
        conditions, values = [], []
        for name, value in shape._asdict().items():
            if value is None:
                conditions.append(f"{_SHAPE[name]} IS NULL")
            else:
                conditions.append(f"{_SHAPE[name]} = ?")
                values.append(int(value) if isinstance(value, bool) else str(value))
        text = f"SELECT {_NAME} {self._audited()} AND {' AND '.join(conditions)} ORDER BY r.ref"
        return [RunName(*row) for row in self._all(text, self.dialect.list_of(refs), first_at, last_at, *values)]

    def broken_chains(self, refs: Iterable[int], first_at: int, last_at: int) -> list[RunName]:
        """Attempts that do not follow on the one before them at the same slot, or follow on one that did not fail."""
        follows = (
            "SELECT 1 FROM runs b WHERE b.ref = r.retry_of AND b.attempt = r.attempt - 1"
            " AND b.schedule_ref = r.schedule_ref AND b.nominal_at = r.nominal_at AND b.kind = r.kind"
            " AND b.backfill = r.backfill AND b.status || '' IN ('error', 'skipped', 'cancelled')"
        )
        is_broken = f"(r.attempt > 1 AND NOT EXISTS ({follows}) OR r.attempt <= 1 AND r.retry_of IS NOT NULL)"
        text = f"SELECT {_NAME} {self._audited()} AND {is_broken} ORDER BY r.ref"
        return [RunName(*row) for row in self._all(text, self.dialect.list_of(refs), first_at, last_at)]

    def _audited(self) -> str:
        return (
            "FROM runs r JOIN schedules s ON s.ref = r.schedule_ref"
            f" WHERE {self.dialect.any_of('r.schedule_ref')} AND r.nominal_at BETWEEN ? AND ?"
            " AND r.nominal_at >= s.pruned_before"
        )

    def slot_moments(self, refs: Iterable[int], first_at: int, last_at: int) -> Iterator[tuple[int, int]]:
        """Schedule and nominal time of all slots that have rows, each once, in this order, as they are asked for."""
        text = (
            f"SELECT DISTINCT schedule_ref, nominal_at FROM runs WHERE {self.dialect.any_of('schedule_ref')}"
            " AND nominal_at BETWEEN ? AND ? AND kind = 'slot' ORDER BY schedule_ref, nominal_at"
        )
        self.cursor.execute(self.dialect.sql(text), (self.dialect.list_of(refs), first_at, last_at))
        while page := self.cursor.fetchmany(_MOMENTS_AT_ONCE):
            yield from ((row[0], row[1]) for row in page)

    def skipped_moments(self, refs: Iterable[int]) -> list[tuple[int, int]]:
        """The slots that somebody skipped by hand."""
        text = (
            f"SELECT schedule_ref, nominal_at FROM runs WHERE {self.dialect.any_of('schedule_ref')}"
            " AND kind = 'slot' AND reason = 'skipped_by_user'"
        )
        return [(row[0], row[1]) for row in self._all(text, self.dialect.list_of(refs))]

    def ahead_of_cursors(self, refs: Iterable[int]) -> list[tuple[int, Ahead]]:
        """The slots beyond the cursor of their schedule that have rows."""
        text = (
            "SELECT r.schedule_ref, r.nominal_at, r.ref, CASE WHEN r.reason = 'skipped_by_user' THEN 1 ELSE 0 END"
            " FROM cursors c JOIN runs r ON r.schedule_ref = c.ref AND r.nominal_at > c.swept_to"
            f" WHERE {self.dialect.any_of('c.ref')} AND r.kind = 'slot' AND r.attempt = 1 ORDER BY r.ref"
        )
        found = self._all(text, self.dialect.list_of(refs))
        return [(row[0], Ahead(row[1], row[2], bool(row[3]))) for row in found]

    def gaps_within(self, refs: Iterable[int], first_at: int, last_at: int) -> list[tuple[int, Gap]]:
        """The gaps that touch the stretch, by their beginning."""
        text = (
            "SELECT schedule_ref, first_at, last_at, size, reason FROM gaps"
            f" WHERE {self.dialect.any_of('schedule_ref')} AND last_at >= ? AND first_at <= ?"
            " ORDER BY first_at, ref"
        )
        found = self._all(text, self.dialect.list_of(refs), first_at, last_at)
        return [(row[0], Gap(row[1], row[2], row[3], Reason(row[4]))) for row in found]


def _shape_of(row: tuple[Any, ...]) -> RunShape:
    kind, status, reason, hold, is_retry, has_ended, has_worker, is_ready, asks = row
    return RunShape(
        Kind(kind),
        Status(status),
        None if reason is None else Reason(reason),
        None if hold is None else Hold(hold),
        bool(is_retry),
        bool(has_ended),
        bool(has_worker),
        bool(is_ready),
        bool(asks),
    )
