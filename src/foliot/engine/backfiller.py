"""The backfiller: starts the next slots of backfills, behind the live ones and in a lane of their own."""

from typing import TypedDict

from foliot.books.configurations import Configurations, Scheduled
from foliot.books.entries import Entries
from foliot.books.posting import post_spent
from foliot.books.telling import tell_unpaid
from foliot.domain.backfill import Attempted, Backfill, Chosen, Direction, Which, choose, swept
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from foliot.ports import Transaction
from foliot.rows import BackfillRow

_REFUSED_AT_ONCE = 1000
"""Slots that nothing starts for are recorded by the thousand."""
_LATER = MICROSECONDS // 10
"""A backfill whose schedule must pause, and is held by somebody else, is looked at again after this."""


class Lane(TypedDict):
    kind: Kind
    backfill: int
    input: str | None


def feed(tx: Transaction, entries: Entries, known: Configurations, target: int, limit: int) -> bool:
    """Start what the target's backfills have room for; whether there is more to look at at once."""
    backfills = tx.due_backfills(target, tx.now, limit)
    if not backfills:
        return False
    backfills = entries.crew.chosen(backfills, lambda backfill: backfill.schedule_ref)
    states = {state.ref: state for state in tx.states_seen({backfill.schedule_ref for backfill in backfills})}
    configurations = known.of(tx, states.values())
    entries.permits.prepare(tx, configurations.values())
    for backfill in backfills:
        tx.save_backfill(_feed(tx, entries, configurations[backfill.schedule_ref], states, backfill))
    entries.write(tx)
    return True


def _feed(
    tx: Transaction, entries: Entries, schedule: Scheduled, states: dict[int, State], row: BackfillRow
) -> BackfillRow:
    refusal, allowance = entries.permits.refusal(tx, schedule), entries.allowance(tx, schedule)
    funds, cost = allowance.funds(), allowance.cost_of(row.input)
    starts, room = funds.starts(cost), row.concurrency - row.running
    if refusal is None and starts == 0:
        if row.running:
            # What is set aside for its own runs may be there again when they are over.
            return row._replace(wake_at=None)
        refusal = Reason.OVER_BUDGET
    if refusal is not None:
        room = _REFUSED_AT_ONCE
    elif starts is not None:
        room = min(room, starts)
    state = states[schedule.ref]
    chosen = _choose(tx, schedule, state, row, room)
    if refusal is Reason.OVER_BUDGET and funds.pauses(cost) and chosen.nominals:
        paused = _paused(tx, entries, state, allowance.note)
        if paused is None:
            return row._replace(wake_at=tx.now + _LATER)
        states[schedule.ref] = paused
    lane: Lane = {"kind": Kind.BACKFILL, "backfill": row.ref, "input": row.input}
    for nominal in chosen.nominals:
        slot = Slot(nominal * MICROSECONDS, tx.now)
        if refusal is None:
            ref = entries.start_slot(schedule, state, slot, occupies=False, **lane)
            funds = entries.reserve(ref, allowance, funds, cost)
        else:
            entries.record(schedule, slot, Status.SKIPPED, reason=refusal, **lane)
    if refusal is Reason.OVER_BUDGET:
        # What it refuses is not counted with the schedule's own: each look at it that does is told.
        tell_unpaid(entries, schedule, 0, [nominal * MICROSECONDS for nominal in chosen.nominals])
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


def _choose(tx: Transaction, schedule: Scheduled, state: State, row: BackfillRow, room: int) -> Chosen:
    def runs_between(first_at: int, last_at: int) -> list[Attempted]:
        return tx.attempted(schedule.ref, first_at, last_at)

    return choose(schedule.timetable.times, swept(backfill_of(row), state.swept_to), room, runs_between)


def _paused(tx: Transaction, entries: Entries, state: State, note: str) -> State | None:
    """The schedule, paused because a budget is spent; None when somebody else holds it now.

    Who has found the budget spent holds the grant, for which who holds a schedule may wait: nobody waits here.
    """
    if state.is_paused(tx.now):
        return state
    free = tx.states_free([state.ref])
    return post_spent(tx, entries, free[0], note) if free else None


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
