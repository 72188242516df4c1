"""The backfiller: starts the next slots of backfills, behind the live ones and in a lane of their own."""

from typing import TypedDict

from foliot.books.configurations import Configurations, Scheduled
from foliot.books.entries import Entries
from foliot.domain.backfill import Attempted, Backfill, Direction, Which, choose, swept
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from foliot.ports import Transaction
from foliot.rows import BackfillRow

_REFUSED_AT_ONCE = 1000
"""Slots that nothing starts for are recorded by the thousand."""


class Lane(TypedDict):
    kind: Kind
    backfill: int
    input: str | None


def feed(tx: Transaction, entries: Entries, known: Configurations, target: int, limit: int) -> bool:
    """Start what the target's backfills have room for; whether there is more to look at at once."""
    backfills = tx.due_backfills(target, tx.now, limit)
    if not backfills:
        return False
    states = {state.ref: state for state in tx.states_seen({backfill.schedule_ref for backfill in backfills})}
    configurations = known.of(tx, states.values())
    entries.permits.prepare(tx, configurations.values())
    for backfill in backfills:
        fed = _feed(tx, entries, configurations[backfill.schedule_ref], states[backfill.schedule_ref], backfill)
        tx.save_backfill(fed)
    entries.write(tx)
    return True


def _feed(tx: Transaction, entries: Entries, schedule: Scheduled, state: State, row: BackfillRow) -> BackfillRow:
    refusal, allowance = entries.permits.refusal(tx, schedule), entries.allowance(tx, schedule)
    room = row.concurrency - row.running
    if allowance.starts == 0:
        refusal = refusal or Reason.OVER_BUDGET
    if refusal is not None:
        room = _REFUSED_AT_ONCE
    elif allowance.starts is not None:
        # What is beyond it is judged when these are over.
        room = min(room, allowance.starts)

    def runs_between(first_at: int, last_at: int) -> list[Attempted]:
        return tx.attempted(schedule.ref, first_at, last_at)

    backfill = swept(backfill_of(row), state.swept_to)
    chosen = choose(schedule.timetable.times, backfill, room, runs_between)
    lane: Lane = {"kind": Kind.BACKFILL, "backfill": row.ref, "input": row.input}
    for nominal in chosen.nominals:
        slot = Slot(nominal * MICROSECONDS, tx.now)
        if refusal is None:
            entries.reserve(entries.start_slot(schedule, state, slot, occupies=False, **lane), allowance)
        else:
            entries.record(schedule, slot, Status.SKIPPED, reason=refusal, **lane)
    begun = len(chosen.nominals) if refusal is None else 0
    running = row.running + begun
    is_over = chosen.is_exhausted and running == 0
    return row._replace(
        running=running,
        started=row.started + begun,
        done_to=chosen.done_to,
        wake_at=tx.now if not chosen.is_exhausted and running < row.concurrency else None,
        ended_at=tx.now if is_over else None,
    )


def backfill_of(row: BackfillRow) -> Backfill:
    return Backfill(
        row.ref,
        row.first,
        row.last,
        Which(row.which),
        Direction(row.direction),
        row.concurrency,
        row.running,
        row.done_to,
    )
