"""The dispatcher: takes up runs that wait for nothing but a worker."""

from itertools import groupby
from typing import NamedTuple

from foliot.books.configurations import Configurations, Scheduled
from foliot.books.ending import end_of_row, post_end
from foliot.books.entries import Entries
from foliot.books.posting import applicant_of, post_applicants, post_spent
from foliot.books.telling import tell_question
from foliot.domain.delivery import Delivery, delivery_of, gate_key, stage_of_run
from foliot.domain.questions import Question, about_unknown_outcome
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Outcome
from foliot.domain.slots import SlotKey, run_id
from foliot.ports import Transaction
from foliot.rows import RunRow


def take_up(tx: Transaction, entries: Entries, known: Configurations, target: int, limit: int) -> bool:
    """Lease ready runs of the target, at most `limit`; whether there are more."""
    found = tx.ready(target, tx.now, limit)
    if not found:
        return False
    ready = entries.crew.chosen(found, lambda run: run.schedule_ref)
    states = {state.ref: state for state in tx.states_free({run.schedule_ref for run in ready})}
    configurations = known.of(tx, states.values())
    entries.permits.prepare(tx, configurations.values())
    ready.sort(key=lambda run: (run.schedule_ref, run.nominal_at, run.ref))
    for schedule_ref, runs in groupby(ready, key=lambda run: run.schedule_ref):
        if schedule_ref in states:
            _take_up(tx, entries, configurations[schedule_ref], states[schedule_ref], list(runs))
    entries.write(tx)
    return len(found) == limit or entries.crew.waits


def _take_up(tx: Transaction, entries: Entries, schedule: Scheduled, state: State, runs: list[RunRow]) -> None:
    judged = [run for run in runs if run.hold == Hold.DUE]
    for run in runs:
        if run.hold == Hold.RETRY and run.kind == Kind.SLOT and state.is_paused(tx.now):
            tx.park(run.ref)
        elif _delivery(entries, state, run) is Delivery.ASK and not _has_request(tx, schedule, run):
            question = _unknown(entries, schedule, run)
            entries.ask(schedule.id, run, run.token + 1, question)
            tell_question(entries, schedule, run, question)
        elif run.hold == Hold.DUE or not entries.crew.room_for(state.target):
            continue
        elif (refused := _refused(tx, entries, schedule, run)) is not None:
            outcome = Outcome(Status.SKIPPED, refused.reason)
            entries.end_run(schedule.id, run, outcome.status, outcome.reason)
            if refused.pauses:
                # Before its end: what waits for that keeps its place, and is not skipped with it.
                state = post_spent(tx, entries, state, entries.allowance(tx, schedule).note)
            state = post_end(tx, entries, schedule, state, end_of_row(run, outcome))
        else:
            # Admitted before, or taken from a worker that died: it has its place already.
            entries.start_run(schedule, state, run, occupies=bool(run.occupies))
    if judged and not entries.crew.must_wait(state):
        post_applicants(tx, entries, schedule, state, [applicant_of(run) for run in judged], judged)


def _delivery(entries: Entries, state: State, run: RunRow) -> Delivery:
    """Its row is the record of its execution."""
    stage = stage_of_run(Status(run.status), has_worker=run.worker is not None)
    return delivery_of(stage, entries.crew.on_unknown(state.target))


def _has_request(tx: Transaction, schedule: Scheduled, run: RunRow) -> bool:
    """Whether it was executed by request, for a worker that is gone: then the gate knows more of it, or asks itself."""
    slot = SlotKey(schedule.id, Kind(run.kind), run.nominal_at, run.backfill)
    key = gate_key(str(slot), run.attempt, run.rounds)
    return any(request.key == key for request in tx.requests_of_run(run_id(slot, run.attempt)))


def _unknown(entries: Entries, schedule: Scheduled, run: RunRow) -> Question:
    """What is asked when nobody knows whether a run's code has done its work before its worker was gone.

    A target that reports later how its runs end may say so before anybody else does.
    """
    slot = SlotKey(schedule.id, Kind(run.kind), run.nominal_at, run.backfill)
    digest = entries.crew.report_digest(schedule.target, run_id(slot, run.attempt))
    return about_unknown_outcome(run.losses, digest)


class _Refused(NamedTuple):
    """Why a run may not start, and whether its schedule pauses for it."""

    reason: Reason
    pauses: bool = False


def _refused(tx: Transaction, entries: Entries, schedule: Scheduled, run: RunRow) -> _Refused | None:
    """Whether a run that was admitted before may start now. A retry may cost anew, and has nothing set aside yet."""
    refusal = entries.permits.refusal(tx, schedule)
    if refusal is not None:
        return _Refused(refusal)
    if run.hold != Hold.RETRY:
        return None
    allowance = entries.allowance(tx, schedule)
    funds, cost = allowance.funds(), allowance.cost_of(run.input)
    if funds.starts(cost) == 0:
        return _Refused(Reason.OVER_BUDGET, funds.pauses(cost))
    entries.reserve(run.ref, allowance, funds, cost)
    return None
