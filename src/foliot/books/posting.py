"""Posting: from decisions to entries. Each function takes a schedule's state, adds entries, returns its new state."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from foliot.books.configurations import Scheduled
from foliot.books.entries import Entries
from foliot.books.permits import Allowance
from foliot.books.telling import tell_generation, tell_skips
from foliot.domain.admission import Admission, Applicant, Stop, admit
from foliot.domain.budgets import Funds
from foliot.domain.generation import Generation, close_pause, generate, not_yet_due
from foliot.domain.grants import REFUSALS_UNTIL_ATTENTION, refusals_after
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import Overlap
from foliot.domain.runs import Hold, Kind, Order, Reason, Status
from foliot.domain.schedule import State
from foliot.ports import Transaction
from foliot.rows import RunRow

log = logging.getLogger("foliot.books")

SLOTS_A_SWEEP = 1000
"""So many slots of one schedule are admitted in one go at most; the others follow at once."""
_WAITING_AT_ONCE = 100
_BROKEN_FOR = 60 * MICROSECONDS
"""A schedule whose spec cannot be read is looked at again after this."""
_ALL_THAT_WAIT = 1_000_000
PAUSED_BY_BUDGET = "budget"


class Closing(NamedTuple):
    """A schedule whose old rules are settled."""

    state: State
    recorded_to: int
    """Every slot up to here that they named has its row: before now only where nothing was owed any more."""


def post_sweep(tx: Transaction, entries: Entries, schedule: Scheduled, state: State) -> State:
    """Record every slot that the schedule owes up to now, start those that may, and move its cursor."""
    if schedule.is_broken:
        state = state._replace(wake_at=tx.now + _BROKEN_FOR)
        entries.move(state)
        return state
    marked = tx.marked(state.ref, state.swept_to) if state.marks else ()
    generation = generate(schedule.timetable, schedule.policies, state, tx.now, SLOTS_A_SWEEP, marked)
    if generation.is_one and _is_free(schedule, state) and entries.permits.is_plain(tx, schedule):
        entries.start_slot(schedule, state, generation.due[0], occupies=True)
        state = state.moved(generation.swept_to, generation.wake_at, running=1)
        entries.advance(state)
        return state
    resumes = state.pause_from is not None and not state.is_paused(tx.now)
    state = state._replace(swept_to=generation.swept_to, wake_at=generation.wake_at)
    if marked:
        state = state._replace(marks=sum(mark > state.swept_to for mark in marked))
    _post_generation(entries, schedule, state, generation)
    if generation.due or (state.held and not state.is_paused(tx.now)):
        state = post_applicants(tx, entries, schedule, state, [Applicant(*slot) for slot in generation.due])
    # It may have paused anew just now, because its budget is spent.
    resumes = resumes and not state.is_paused(tx.now)
    if resumes and (state.wake_at is None or state.wake_at > tx.now):
        tx.wake_retries(state.ref, state.target)
        state = state._replace(pause_from=None, pause_to=None)
    if state.remaining == 0:
        state = state._replace(wake_at=None)
    entries.move(state)
    return state


def _is_free(schedule: Scheduled, state: State) -> bool:
    """Whether nothing at all can keep the schedule's next slot from starting: the case that must be fast."""
    return (
        state.running == 0
        and state.held == 0
        and state.remaining is None
        and state.pause_from is None
        and state.marks == 0
        and state.refusals == 0
        and schedule.policies.overlap is not Overlap.ALLOW_ALL
    )


def post_owed(tx: Transaction, entries: Entries, schedule: Scheduled, state: State) -> State:
    """Sweep until nothing that is due is left: before a pause or an edit, so that neither changes what was before."""
    state = post_sweep(tx, entries, schedule, state)
    while state.wake_at is not None and state.wake_at <= tx.now and not state.is_paused(tx.now):
        entries.write(tx)
        state = post_sweep(tx, entries, schedule, state)
    return state


def post_edit(tx: Transaction, entries: Entries, schedule: Scheduled, state: State) -> Closing:
    """Settle what the schedule owes under its old rules, so that new ones begin now and for the future only.

    What a pause has kept back is recorded as paused. A slot whose nominal time has come keeps its due time. Where the
    cursor leads now, by jitter or by a clock that was set back, it returns to now, and the rows beyond it are marks:
    so that the new rules lose no slot and fire none twice.
    """
    if not state.is_paused(tx.now):
        state = post_owed(tx, entries, schedule, state)
        entries.write(tx)
    marked = tx.marked(state.ref, state.swept_to) if state.marks else ()
    is_owed = state.remaining != 0 and not schedule.is_broken
    recorded_to = max(state.swept_to, tx.now) if is_owed else state.swept_to
    # It may have paused just now, because its budget is spent, before it came to the end of what it owed.
    if state.is_paused(tx.now):
        _post_generation(entries, schedule, state, close_pause(schedule.timetable, state, tx.now, marked))
        state = state._replace(pause_from=tx.now)
    elif is_owed:
        for slot in not_yet_due(schedule.timetable, state, tx.now):
            if slot.nominal_at not in marked:
                entries.record(
                    schedule, slot, Status.PENDING, hold=Hold.DUE, ready_for=state.target, ready_at=slot.due_at
                )
    entries.write(tx)
    marks = len(tx.marked(state.ref, tx.now)) if state.marks or state.swept_to > tx.now else 0
    state = state._replace(swept_to=tx.now, marks=marks)
    entries.move(state)
    return Closing(state, recorded_to)


def post_applicants(
    tx: Transaction,
    entries: Entries,
    schedule: Scheduled,
    state: State,
    applicants: Sequence[Applicant],
    rows: Sequence[RunRow] = (),
) -> State:
    """Judge what wants to start, after those that have waited longer. `rows` are those of applicants that have one."""
    waiting: list[RunRow] = []
    if state.held:
        concerned = _concerned(schedule, state, applicants)
        waiting = tx.waiting(state.ref, concerned) if concerned else []
    by_ref = {row.ref: row for row in (*waiting, *rows)}
    everybody = [*map(applicant_of, waiting), *applicants]
    refusal, allowance = entries.permits.refusal(tx, schedule), entries.allowance(tx, schedule)
    funds = allowance.funds(by_ref.values())
    verdicts = (tx.now, refusal, funds)
    admission = admit(state._replace(held=state.held - len(waiting)), schedule.policies, everybody, *verdicts)
    if admission.stop is not None:
        cleared = _clear_way(tx, entries, schedule, state, admission.stop)
        if cleared.running == 0:
            unhindered = cleared._replace(held=cleared.held - len(waiting))
            admission = admit(unhindered, schedule.policies, everybody, *verdicts)
        state = cleared
    state = _post_admission(entries, schedule, state, admission, by_ref, allowance, funds)
    entries.keep(state)
    return post_spent(tx, entries, state, allowance.note) if admission.pauses else state


def post_spent(tx: Transaction, entries: Entries, state: State, note: str) -> State:
    """Something of the schedule has found a budget spent, which wants to be asked before more is: it pauses."""
    if state.is_paused(tx.now):
        return state
    state = pause(tx, state, note, by=PAUSED_BY_BUDGET)
    entries.move(state)
    return state


def pause(tx: Transaction, state: State, note: str, by: str) -> State:
    """The schedule pauses by itself, until somebody resumes it."""
    version = state.version + 1
    tx.update_schedule(state.ref, pause_note=note, paused_by=by, version=version, updated_at=tx.now)
    tx.set_version(state.ref, version, state.target)
    return state._replace(version=version, pause_from=tx.now, pause_to=None, wake_at=None)


def _concerned(schedule: Scheduled, state: State, applicants: Sequence[Applicant]) -> int:
    """How many of those that wait may start or be superseded now; the others are only counted."""
    plain = (Overlap.SKIP, Overlap.BUFFER_ALL, Overlap.ALLOW_ALL)
    supersedes = any((applicant.overlap or schedule.policies.overlap) not in plain for applicant in applicants)
    if supersedes or state.pause_from is not None:
        return _ALL_THAT_WAIT
    return _WAITING_AT_ONCE if state.running == 0 else 0


def post_release(tx: Transaction, entries: Entries, schedule: Scheduled, state: State) -> State:
    """Let start what the end of a run, or of a pause, makes room for."""
    while state.held and state.running == 0:
        before = state.held
        state = post_applicants(tx, entries, schedule, state, ())
        if state.held == before or state.running:
            break
        entries.write(tx)
    return state


def _clear_way(tx: Transaction, entries: Entries, schedule: Scheduled, state: State, stop: Stop) -> State:
    """Deal with the runs that are in the way: those that no worker has yet are over at once, the others are told."""
    told = []
    gone = 0
    for run in tx.occupants(state.ref):
        if stop is Stop.TERMINATE:
            entries.stop_run(schedule.id, run, Reason.TERMINATED)
            gone += 1
        elif run.worker is None or run.status != Status.RUNNING:
            entries.stop_run(schedule.id, run, Reason.CANCELLED_BY_POLICY)
            gone += 1
        else:
            told.append(run.ref)
    if told:
        tx.tell(told, Order.CANCEL_BY_POLICY)
    entries.recalls = True
    return state._replace(running=state.running - gone)


def applicant_of(run: RunRow) -> Applicant:
    """A run that has its row and wants to start. Another attempt that is judged was asked for by a person."""
    return Applicant(
        run.nominal_at,
        run.due_at,
        Kind(run.kind) if run.attempt == 1 else Kind.MANUAL,
        None if run.overlap is None else Overlap(run.overlap),
        run.ref,
        is_held=run.hold in (Hold.OVERLAP, Hold.PAUSED),
        is_judged=run.hold == Hold.OVERLAP,
    )


def _post_generation(entries: Entries, schedule: Scheduled, state: State, generation: Generation) -> None:
    for missed in generation.missed:
        entries.record(schedule, missed.slot, Status.SKIPPED, reason=missed.reason)
    for gap in generation.gaps:
        entries.record_gap(schedule, gap)
    tell_generation(entries, schedule, generation)
    for slot in generation.later:
        entries.record(schedule, slot, Status.PENDING, hold=Hold.DUE, ready_for=state.target, ready_at=slot.due_at)


def _post_admission(
    entries: Entries,
    schedule: Scheduled,
    state: State,
    admission: Admission,
    rows: dict[int, RunRow],
    allowance: Allowance,
    funds: Funds,
) -> State:
    running, held, remaining = state.running, state.held, state.remaining
    tell_skips(entries, schedule, state.refusals, admission.skips)
    state = with_refusals(schedule, state, [reason for _, reason in admission.skips], bool(admission.starts))
    for applicant, occupies in admission.starts:
        if applicant.ref is None:
            ref = entries.start_slot(schedule, state, applicant, occupies=occupies)
        else:
            ref = applicant.ref
            entries.start_run(schedule, state, rows[ref], occupies=occupies)
        funds = entries.reserve(ref, allowance, funds, funds.cost_of(applicant.ref))
        running += occupies
        held -= applicant.is_held
        if remaining is not None and applicant.kind is Kind.SLOT:
            remaining -= 1
    for applicant, hold in admission.waits:
        if applicant.ref is None:
            entries.record(schedule, applicant, Status.PENDING, hold=hold)
        elif rows[applicant.ref].hold != hold:
            entries.hold_run(schedule.id, rows[applicant.ref], hold)
        held += not applicant.is_held
    for applicant, reason in admission.skips:
        if applicant.ref is None:
            entries.record(schedule, applicant, Status.SKIPPED, reason=reason)
        else:
            entries.end_run(schedule.id, rows[applicant.ref], Status.SKIPPED, reason)
        held -= applicant.is_held
    return state._replace(running=running, held=held, remaining=remaining)


def with_refusals(schedule: Scheduled, state: State, reasons: Sequence[Reason], has_started: bool) -> State:
    """The state, with what these skips and starts make of how often in a row the schedule was refused."""
    refusals = refusals_after(state.refusals, reasons, has_started)
    if refusals == state.refusals:
        return state
    if refusals >= REFUSALS_UNTIL_ATTENTION > state.refusals:
        log.warning(
            "%s needs attention: it was not permitted, or had no budget, to start %d times in a row",
            schedule.id,
            refusals,
        )
    return state._replace(refusals=refusals)
