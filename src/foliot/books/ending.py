"""Ending: what the end of a run writes besides its own row."""

from typing import NamedTuple

from foliot.books.configurations import Scheduled
from foliot.books.entries import Entries
from foliot.books.posting import pause, post_release, with_refusals
from foliot.books.telling import tell_end, tell_unpaid
from foliot.domain.runs import Hold, Kind, Order, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Ended, Memory, Outcome, settle
from foliot.domain.slots import Slot, SlotKey, run_id
from foliot.ports import Transaction
from foliot.rows import RunRow

PAUSED_BY_FAILURE = "pause_on_failure"


class RunEnd(NamedTuple):
    """A run that ended, and how."""

    ref: int
    schedule_ref: int
    kind: Kind
    backfill: int
    nominal_at: int
    attempt: int
    occupies: bool
    order: Order | None
    input: str | None
    overlap: str | None
    outcome: Outcome
    was_delivered: bool
    """Before the delivery that ended, if any."""


def end_of_row(run: RunRow, outcome: Outcome) -> RunEnd:
    """The end of a run that is known by its row alone."""
    return RunEnd(
        ref=run.ref,
        schedule_ref=run.schedule_ref,
        kind=Kind(run.kind),
        backfill=run.backfill,
        nominal_at=run.nominal_at,
        attempt=run.attempt,
        occupies=bool(run.occupies),
        order=None if run.orders is None else Order(run.orders),
        input=run.input,
        overlap=run.overlap,
        outcome=outcome,
        was_delivered=run.token > 0,
    )


def post_end(tx: Transaction, entries: Entries, schedule: Scheduled, state: State, end: RunEnd) -> State:
    """Its retry, or the end of its chain: what is remembered, who may start, whether the schedule pauses."""
    key = SlotKey(schedule.id, end.kind, end.nominal_at, end.backfill)
    ended = Ended(str(key), end.kind, end.attempt, end.occupies, end.order, end.was_delivered)
    settlement = settle(ended, end.outcome, schedule.policies, tx.now)
    if settlement.retry_at is not None:
        entries.record(
            schedule,
            Slot(end.nominal_at, settlement.retry_at),
            Status.PENDING,
            hold=Hold.RETRY,
            kind=end.kind,
            backfill=end.backfill,
            attempt=end.attempt + 1,
            occupies=end.occupies,
            overlap=end.overlap,
            ready_for=state.target,
            ready_at=settlement.retry_at,
            retry_of=end.ref,
            input=end.input,
        )
        return state
    had_failed, run = state.last_failure is not None, (end.ref, end.attempt)
    tell_end(entries, schedule, key, run, end.outcome, settlement.memory, had_failed=had_failed)
    if end.kind is Kind.BACKFILL:
        entries.end_of_backfill_run(end.backfill)
        return state
    state = _remembered(state, settlement.memory, end)
    if end.occupies:
        state = state._replace(running=state.running - 1)
    if settlement.gives_back and state.remaining is not None:
        state = state._replace(remaining=state.remaining + 1, wake_at=tx.now)
        entries.move(state)
    if settlement.pauses and not state.is_paused(tx.now):
        note = f"{run_id(key, end.attempt)} failed: {end.outcome.reason}"
        state = pause(tx, state, note, by=PAUSED_BY_FAILURE)
        entries.move(state)
    if end.outcome.status is Status.SKIPPED and end.outcome.reason is not None:
        if end.outcome.reason is Reason.OVER_BUDGET:
            tell_unpaid(entries, schedule, state.refusals, [end.nominal_at])
        state = with_refusals(schedule, state, [end.outcome.reason], has_started=False)
    entries.keep(state)
    return post_release(tx, entries, schedule, state)


def _remembered(state: State, memory: Memory, end: RunEnd) -> State:
    match memory:
        case Memory.RESULT:
            return state._replace(last_result=end.ref if end.outcome.result is not None else None, last_failure=None)
        case Memory.FAILURE:
            return state._replace(last_failure=end.ref)
        case Memory.NOTHING:
            return state
