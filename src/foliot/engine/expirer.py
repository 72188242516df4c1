"""The expirer: questions that nobody has answered in time."""

from foliot.books.asking import post_expiry
from foliot.books.configurations import Configurations
from foliot.books.entries import Entries
from foliot.ports import Transaction

_AT_ONCE = 200


def expire(tx: Transaction, entries: Entries, known: Configurations) -> bool:
    """Let happen what such questions say for that case, some at a time; whether there may be more."""
    found = tx.unanswered(tx.now, _AT_ONCE)
    due = entries.crew.chosen(found, lambda question: question.schedule_ref)
    # What somebody else holds, perhaps to answer it this very moment, is left for the next time.
    states = {state.ref: state for state in tx.states_free({question.schedule_ref for question in due})}
    if not states:
        return False
    configurations = known.of(tx, states.values())
    # Read again under the lock: it may have been answered since.
    questions = tx.questions_of(question.run_ref for question in due if question.schedule_ref in states)
    unanswered = {q.run_ref: q for q in questions if q.closed_at is None and q.expires_at <= tx.now}
    for run in tx.runs(unanswered):
        ref = run.schedule_ref
        states[ref] = post_expiry(tx, entries, configurations[ref], states[ref], run, unanswered[run.ref])
    entries.write(tx)
    return len(found) == _AT_ONCE
