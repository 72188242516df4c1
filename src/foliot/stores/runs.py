"""The ledger's rows: recorded, started, finished, handed back. The statements here are the engine's daily bread."""

from collections.abc import Iterable, Sequence

from foliot.domain.backfill import Attempted
from foliot.domain.generation import Gap
from foliot.domain.runs import Order, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.rows import Finish, Leased, RunFilter, RunRow
from foliot.stores.dialect import InsertMany, Row, UpdateMany
from foliot.stores.part import Part

_RUN = ", ".join(f"r.{name}" for name in RunRow._fields)
_IS_RUNNING = "runs.status || '' = 'running'"
"""Of a run that is found by its key. Said so, it does not tempt PostgreSQL to walk an index of all that run instead."""

_START_NEW = InsertMany(
    "runs",
    "ref schedule_ref nominal_at due_at kind:text backfill occupies grant_ref worker version created_at started_at",
    constants="status='running' token=1",
)
_RECORD = InsertMany(
    "runs",
    "ref schedule_ref nominal_at due_at kind:text backfill attempt status:text reason:text hold:text occupies"
    " overlap:text ready_for ready_at retry_of version created_at ended_at input:text",
)
_GAP = InsertMany("gaps", "schedule_ref first_at last_at size reason:text recorded_at")
_START = UpdateMany(
    "runs",
    "worker occupies grant_ref version started_at",
    keys="ref",
    constants="status='running' hold=NULL ready_for=NULL ready_at=NULL token=runs.token+1",
)
_READY = UpdateMany("runs", "ready_for ready_at occupies", keys="ref", constants="hold=NULL")
_HOLD = UpdateMany("runs", "hold:text", keys="ref", constants="ready_for=NULL ready_at=NULL")
_END = UpdateMany(
    "runs",
    "status:text reason:text ended_at",
    keys="ref",
    constants="hold=NULL ready_for=NULL ready_at=NULL token=runs.token+1",
)
_FINISH = UpdateMany(
    "runs",
    "status:text reason:text result:text error:text ended_at",
    keys="ref token",
    # A run that was taken from its worker is nobody's to finish until another has it.
    also=f"{_IS_RUNNING} AND runs.ready_for IS NULL",
)
_WAIT = UpdateMany(
    "runs", "token", keys="ref", constants="status='waiting' hold=NULL ready_for=NULL ready_at=NULL worker=NULL"
)
_RESUME = UpdateMany("runs", "ready_for ready_at", keys="ref", constants="status='pending' rounds=runs.rounds+1")
_LOSE = UpdateMany(
    "runs",
    "losses ready_for ready_at",
    keys="ref",
    constants="worker=NULL token=runs.token+1",
    also=_IS_RUNNING,
)
_PROGRESS = UpdateMany("runs", "progress:text", keys="ref token", also=_IS_RUNNING)


class Runs(Part):
    def start_new(self, rows: Sequence[Row]) -> None:
        """Runs that start with their slot: recorded and leased at once."""
        self.dialect.insert(self.cursor, _START_NEW, rows)

    def record(self, rows: Sequence[Row]) -> None:
        """Runs that wait, or never will run."""
        self.dialect.insert(self.cursor, _RECORD, rows)

    def record_gaps(self, rows: Sequence[Row]) -> None:
        self.dialect.insert(self.cursor, _GAP, rows)

    def start(self, rows: Sequence[Row]) -> None:
        """Waiting runs that a worker takes: a new token, and its lease."""
        self.dialect.update(self.cursor, _START, rows)

    def make_ready(self, rows: Sequence[Row]) -> None:
        """Waiting runs that may start as soon as a worker has room."""
        self.dialect.update(self.cursor, _READY, rows)

    def hold(self, rows: Sequence[Row]) -> None:
        self.dialect.update(self.cursor, _HOLD, rows)

    def end(self, rows: Sequence[Row]) -> None:
        """Runs that are over by decision: whoever still works on them is fenced."""
        self.dialect.update(self.cursor, _END, rows)

    def finish(self, reports: Sequence[Finish]) -> bool:
        """Record outcomes, each under its token; False when a token was stale, and the transaction must be undone."""
        rows = [(*report.outcome[:4], report.ended_at, report.ref, report.token) for report in reports]
        return self.dialect.update(self.cursor, _FINISH, rows) == len(rows)

    def conclude(self, ref: int, outcome: Outcome) -> None:
        """Record the outcome of a run that no worker has."""
        text = "UPDATE runs SET status = ?, reason = ?, result = ?, error = ?, ended_at = ? WHERE ref = ?"
        reason = None if outcome.reason is None else str(outcome.reason)
        self._do(text, str(outcome.status), reason, outcome.result, outcome.error, self.now, ref)

    def wait(self, rows: Sequence[Row]) -> None:
        """Runs that wait for a person: no worker has them."""
        self.dialect.update(self.cursor, _WAIT, rows)

    def resume(self, rows: Sequence[Row]) -> None:
        """Runs that were answered: they go on as soon as a worker has room."""
        self.dialect.update(self.cursor, _RESUME, rows)

    def orders_of(self, refs: Iterable[int]) -> dict[int, Order]:
        """What the workers of these runs were told, by run."""
        text = f"SELECT ref, orders FROM runs WHERE {self.dialect.any_of('ref')} AND orders IS NOT NULL"
        return {row[0]: Order(row[1]) for row in self._all(text, self.dialect.list_of(refs))}

    def standing(self, refs: Iterable[int]) -> dict[int, tuple[int, Status]]:
        """Token and status of these runs."""
        text = f"SELECT ref, token, status FROM runs WHERE {self.dialect.any_of('ref')}"
        return {row[0]: (row[1], Status(row[2])) for row in self._all(text, self.dialect.list_of(refs))}

    def note_progress(self, rows: Sequence[Row]) -> None:
        self.dialect.update(self.cursor, _PROGRESS, rows)

    def note_report(self, ref: int, progress: str | None) -> None:
        """What its target says of a run that waits for it; None: that it is at it, and nothing more."""
        if progress is not None:
            self._do("UPDATE runs SET progress = ? WHERE ref = ? AND status = 'waiting'", progress, ref)

    def ready(self, target: int, until: int, limit: int) -> list[RunRow]:
        """Runs of the target that wait for nothing but a worker, the longest waiting first, held."""
        text = f"SELECT {_RUN} FROM runs r WHERE ready_for = ? AND ready_at <= ? ORDER BY ready_at, ref LIMIT ?"
        return [RunRow(*row) for row in self._all(text + self.dialect.lock_free, target, until, limit)]

    def waiting(self, schedule_ref: int, limit: int) -> list[RunRow]:
        """The schedule's runs that wait for another to end or for a pause to be over, oldest first."""
        return self._open(schedule_ref, "hold IN ('overlap', 'paused')", limit)

    def occupants(self, schedule_ref: int) -> list[RunRow]:
        """The schedule's runs that stand in the way of others."""
        return self._open(schedule_ref, "occupies = 1 AND (hold IS NULL OR hold = 'retry')", 1_000_000)

    def open_runs(self, schedule_ref: int) -> list[RunRow]:
        return self._open(schedule_ref, "1 = 1", 1_000_000)

    def open_of_backfill(self, schedule_ref: int, backfill: int) -> list[RunRow]:
        return self._open(schedule_ref, f"backfill = {backfill}", 1_000_000)

    def _open(self, schedule_ref: int, condition: str, limit: int) -> list[RunRow]:
        # The sign keeps SQLite from walking the whole past of the schedule, which lies in this order, for its few.
        text = (
            f"SELECT {_RUN} FROM runs r WHERE schedule_ref = ? AND (status = 'running' OR status = 'pending'"
            f" OR status = 'waiting') AND {condition} ORDER BY +nominal_at, kind, ref LIMIT ?"
        )
        return [RunRow(*row) for row in self._all(text, schedule_ref, limit)]

    def wake_retries(self, schedule_ref: int, target: int) -> None:
        """Retries that a pause kept back may go on."""
        self._do(
            "UPDATE runs SET ready_for = ? WHERE schedule_ref = ? AND status = 'pending' AND hold = 'retry'"
            " AND ready_for IS NULL",
            target,
            schedule_ref,
        )

    def park(self, ref: int) -> None:
        """A retry that waits for the end of a pause."""
        self._do("UPDATE runs SET ready_for = NULL WHERE ref = ?", ref)

    def retarget(self, schedule_ref: int, target: int) -> None:
        """What waits for a worker waits for one that knows the new target."""
        self._do(
            "UPDATE runs SET ready_for = ? WHERE schedule_ref = ? AND ready_for IS NOT NULL"
            " AND (status = 'pending' OR status = 'running')",
            target,
            schedule_ref,
        )

    def tell(self, refs: Iterable[int], order: Order) -> None:
        """Tell whoever runs them; an order once given stands."""
        text = f"UPDATE runs SET orders = ? WHERE {self.dialect.any_of('ref')} AND orders IS NULL"
        self._do(text, str(order), self.dialect.list_of(refs))

    def running_counts(self, schedule_refs: Iterable[int]) -> dict[int, int]:
        """By schedule, how many of its runs are under way, of whatever kind; none is not listed."""
        text = (
            f"SELECT schedule_ref, count(*) FROM runs WHERE {self.dialect.any_of('schedule_ref')}"
            " AND (status = 'running' OR status = 'pending' OR status = 'waiting') AND status <> 'pending'"
            " GROUP BY schedule_ref"
        )
        return {row[0]: row[1] for row in self._all(text, self.dialect.list_of(schedule_refs))}

    def leased(self, worker: int) -> list[Leased]:
        """What the worker holds, by the ledger."""
        text = "SELECT ref, token, orders FROM runs WHERE worker = ? AND status = 'running'"
        return [Leased(*row) for row in self._all(text, worker)]

    def leased_runs(self, worker: int, limit: int) -> list[RunRow]:
        text = f"SELECT {_RUN} FROM runs r WHERE worker = ? AND status = 'running' ORDER BY ref LIMIT ?"
        return [RunRow(*row) for row in self._all(text + self.dialect.lock_free, worker, limit)]

    def lose(self, rows: Sequence[Row]) -> None:
        """Take running runs from their worker: fenced, and ready for another."""
        self.dialect.update(self.cursor, _LOSE, rows)

    def marked(self, schedule_ref: int, after: int) -> list[int]:
        """Nominal times later than `after` that have their row already."""
        text = "SELECT nominal_at FROM runs WHERE schedule_ref = ? AND nominal_at > ? AND kind = 'slot'"
        return [row[0] for row in self._all(text, schedule_ref, after)]

    def last_manual(self, schedule_ref: int, since: int) -> int | None:
        """The latest trigger of the schedule at that instant or later."""
        text = "SELECT max(nominal_at) FROM runs WHERE schedule_ref = ? AND nominal_at >= ? AND kind = 'manual'"
        found = self._all(text, schedule_ref, since)[0][0]
        return None if found is None else int(found)

    def endings(self, refs: Iterable[int]) -> dict[int, tuple[str | None, str | None]]:
        """Result and error of these runs."""
        text = f"SELECT ref, result, error FROM runs WHERE {self.dialect.any_of('ref')}"
        return {row[0]: (row[1], row[2]) for row in self._all(text, self.dialect.list_of(refs))}

    def runs(self, refs: Iterable[int]) -> list[RunRow]:
        text = f"SELECT {_RUN} FROM runs r WHERE {self.dialect.any_of('r.ref')} ORDER BY r.ref"
        return [RunRow(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def run_at(self, schedule_ref: int, nominal_at: int, kind: str, backfill: int, attempt: int) -> RunRow | None:
        text = (
            f"SELECT {_RUN} FROM runs r WHERE schedule_ref = ? AND nominal_at = ? AND kind = ? AND backfill = ?"
            " AND attempt = ?"
        )
        rows = self._all(text, schedule_ref, nominal_at, kind, backfill, attempt)
        return RunRow(*rows[0]) if rows else None

    def runs_at(self, schedule_ref: int, nominal_at: int) -> list[RunRow]:
        """All runs at a nominal time, in the order they were recorded."""
        text = f"SELECT {_RUN} FROM runs r WHERE schedule_ref = ? AND nominal_at = ? ORDER BY created_at, ref"
        return [RunRow(*row) for row in self._all(text, schedule_ref, nominal_at)]

    def attempted(self, schedule_ref: int, first_at: int, last_at: int) -> list[Attempted]:
        """The runs at nominal times of the range, in the order they were recorded."""
        text = (
            "SELECT nominal_at, status FROM runs WHERE schedule_ref = ? AND nominal_at BETWEEN ? AND ?"
            " ORDER BY created_at, ref"
        )
        return [Attempted(row[0], Status(row[1])) for row in self._all(text, schedule_ref, first_at, last_at)]

    def gap_at(self, schedule_ref: int, nominal_at: int) -> Gap | None:
        text = (
            "SELECT first_at, last_at, size, reason FROM gaps WHERE schedule_ref = ? AND first_at <= ? AND last_at >= ?"
            " ORDER BY first_at DESC LIMIT 1"
        )
        rows = self._all(text, schedule_ref, nominal_at, nominal_at)
        return Gap(rows[0][0], rows[0][1], rows[0][2], Reason(rows[0][3])) if rows else None

    def gaps_of(self, schedule_ref: int, after: tuple[int, int], limit: int) -> list[tuple[int, Gap]]:
        """So many of its gaps by their beginning, each with its number, after one that began then and has that."""
        text = (
            "SELECT ref, first_at, last_at, size, reason FROM gaps WHERE schedule_ref = ? AND (first_at, ref) > (?, ?)"
            " ORDER BY first_at, ref LIMIT ?"
        )
        rows = self._all(text, schedule_ref, *after, limit)
        return [(row[0], Gap(row[1], row[2], row[3], Reason(row[4]))) for row in rows]

    def list_runs(self, wanted: RunFilter) -> list[RunRow]:
        """Runs, newest first: of one schedule by nominal time, of all by the order of recording."""
        conditions, values = ["1 = 1"], []
        order = "r.ref DESC"
        for condition, value in (
            ("schedule_ref = ?", wanted.schedule_ref),
            ("status = ?", wanted.status),
            ("reason = ?", wanted.reason),
            ("kind = ?", wanted.kind),
            ("nominal_at >= ?", wanted.since),
            ("nominal_at <= ?", wanted.until),
            ("backfill = ?", wanted.backfill),
        ):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if wanted.owner is not None:
            conditions.append("r.schedule_ref IN (SELECT ref FROM schedules WHERE owner = ?)")
            values.append(wanted.owner)
        if wanted.schedule_ref is not None:
            order = "r.nominal_at DESC, r.created_at DESC, r.ref DESC"
        text = f"SELECT {_RUN} FROM runs r WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ? OFFSET ?"
        return [RunRow(*row) for row in self._all(text, *values, wanted.limit, wanted.offset)]

    def prunable(self, after: int, before: int, limit: int) -> list[tuple[int, int, int, str, int | None]]:
        """Rows in the order of their key: ref, schedule, nominal time, status and end of each."""
        text = (
            "SELECT ref, schedule_ref, nominal_at, status, ended_at FROM runs WHERE ref > ? AND created_at < ?"
            " ORDER BY ref LIMIT ?"
        )
        return [(row[0], row[1], row[2], row[3], row[4]) for row in self._all(text, after, before, limit)]

    def newest_runs_from(self, schedule_ref: int, offset: int) -> int | None:
        """The nominal time of the schedule's run with exactly that many newer ones."""
        text = "SELECT nominal_at FROM runs WHERE schedule_ref = ? ORDER BY nominal_at DESC LIMIT 1 OFFSET ?"
        rows = self._all(text, schedule_ref, offset)
        return int(rows[0][0]) if rows else None

    def remove(self, refs: Iterable[int]) -> int:
        """Delete final runs, and what they have asked."""
        self._do(f"DELETE FROM questions WHERE {self.dialect.any_of('run_ref')}", self.dialect.list_of(refs))
        return self._do(f"DELETE FROM runs WHERE {self.dialect.any_of('ref')}", self.dialect.list_of(refs))

    def remove_gaps(self, schedule_ref: int, before: int) -> int:
        return self._do("DELETE FROM gaps WHERE schedule_ref = ? AND last_at < ?", schedule_ref, before)
