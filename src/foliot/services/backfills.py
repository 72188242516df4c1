"""The verbs on backfills: how far one has come, and that nothing more of it starts."""

from typing import NamedTuple

from foliot.books.configurations import compiled
from foliot.books.entries import Entries
from foliot.domain.backfill import Backfill as BackfillRequest
from foliot.domain.backfill import Direction, Progress, Which, progress_of
from foliot.domain.errors import Conflict, NotFound
from foliot.domain.policies import count_of, switch_of
from foliot.domain.runs import Order, Reason, Status
from foliot.ports import Transaction
from foliot.rows import BackfillRow, ScheduleRow
from foliot.services.desk import Desk
from foliot.services.runs import end_by_decision
from foliot.services.views import Backfill, backfill_view


class BackfillState(NamedTuple):
    """A backfill as it stands, and how far it has come."""

    view: Backfill
    progress: Progress


class BackfillVerbs:
    """What may be asked of backfills. One is named by its number."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, number: int) -> BackfillState:
        return self._desk.read(lambda tx: _state(tx, *self._find(tx, number)))

    def cancel(self, number: int, *, stop: bool = False) -> BackfillState:
        """Begin no more of its slots. Those that have begun may finish, retries too; `stop` ends them as well."""
        stops = switch_of("stop", stop)

        def act(tx: Transaction, entries: Entries) -> BackfillState:
            row, _ = self._find(tx, number)
            # The schedule before the backfill, as everybody takes them.
            tx.states([row.ref])
            (backfill,) = tx.backfills([number])
            if backfill.ended_at is not None and not backfill.running:
                raise Conflict(f"backfill {number} is over: only one that is under way can be cancelled")
            entries.note("backfill.cancel", "schedule", row.id, backfill=number, stop=stops)
            over = backfill.ended_at or tx.now
            tx.save_backfill(backfill._replace(wake_at=None, ended_at=over, cancelled_at=backfill.cancelled_at or over))
            if stops:
                _stop(tx, entries, row, number)
            return _state(tx, *self._find(tx, number))

        return self._desk.write(act)

    def _find(self, tx: Transaction, number: int) -> tuple[ScheduleRow, BackfillRow]:
        known = count_of("a backfill", number)
        rows = [] if known is None else tx.backfills_seen([known])
        of = tx.configurations(row.schedule_ref for row in rows)
        if not of or not self._desk.principal.sees(of[0].owner):
            raise NotFound(f"there is no backfill {number}: `schedules.backfills(name)` shows those of a schedule")
        return of[0], rows[0]


def _stop(tx: Transaction, entries: Entries, row: ScheduleRow, number: int) -> None:
    running = []
    for run in tx.open_of_backfill(row.ref, number):
        if run.status == Status.RUNNING and run.worker is not None:
            running.append(run.ref)
            continue
        (state,) = tx.states([row.ref])
        end_by_decision(tx, entries, row, run, state, Reason.CANCELLED_BY_USER)
        entries.write(tx)
    tx.tell(running, Order.CANCEL_BY_USER)
    entries.recalls = True


def _state(tx: Transaction, row: ScheduleRow, backfill: BackfillRow) -> BackfillState:
    asked = BackfillRequest(
        backfill.ref,
        backfill.first,
        backfill.last,
        Which(backfill.which),
        Direction(backfill.direction),
        backfill.concurrency,
        backfill.running,
        backfill.done_to,
    )
    progress = progress_of(compiled(row.spec), asked, tx.now - backfill.created_at)
    if backfill.cancelled_at is not None:
        progress = progress._replace(left=None)
    elif backfill.ended_at is not None:
        # What it passed over had run before, and was never its own.
        progress = Progress(backfill.started, max(0, backfill.started - backfill.running), None)
    return BackfillState(backfill_view(backfill, row.id), progress)
