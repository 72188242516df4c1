"""Asking: what a run writes that waits to be told something, and what an answer makes of it, or that none came."""

from foliot.books.configurations import Scheduled
from foliot.books.ending import end_of_row, post_end
from foliot.books.entries import Entries
from foliot.domain.questions import AtExpiry, Verdict
from foliot.domain.schedule import State
from foliot.domain.settlement import Outcome, answered, unanswered
from foliot.ports import Transaction
from foliot.rows import QuestionRow, RunRow

BY_EXPIRY = "expiry"
"""Who approves when nobody did in time, and the question says that this is approval."""


def post_decision(
    tx: Transaction, entries: Entries, schedule: Scheduled, state: State, run: RunRow, decided: QuestionRow
) -> State:
    """The run goes on, or is over: as the question says that it was decided."""
    assert decided.verdict is not None
    tx.close_question(decided)
    return _post(tx, entries, schedule, state, run, answered(Verdict(decided.verdict)))


def post_expiry(
    tx: Transaction, entries: Entries, schedule: Scheduled, state: State, run: RunRow, question: QuestionRow
) -> State:
    """What the question says that is to happen when nobody has answered in time."""
    outcome = unanswered(AtExpiry(question.at_expiry))
    if outcome is None:
        question = question._replace(verdict=Verdict.APPROVE, decided_by=BY_EXPIRY)
    tx.close_question(question)
    return _post(tx, entries, schedule, state, run, outcome)


def post_completion(
    tx: Transaction, entries: Entries, schedule: Scheduled, state: State, run: RunRow, outcome: Outcome
) -> State:
    """The run is over: what it waited for has come."""
    tx.conclude(run.ref, outcome)
    entries.decide(schedule.id, run, outcome.status, outcome.reason)
    return post_end(tx, entries, schedule, state, end_of_row(run, outcome))


def _post(
    tx: Transaction, entries: Entries, schedule: Scheduled, state: State, run: RunRow, outcome: Outcome | None
) -> State:
    if outcome is None:
        entries.resume_run(run.ref, state.target)
        return state
    return post_completion(tx, entries, schedule, state, run, outcome)
