"""Decisions about runs that wait for a person: each is made once, by somebody who may."""

from typing import NamedTuple

from foliot.books.asking import post_completion, post_decision
from foliot.books.configurations import scheduled
from foliot.books.entries import Entries
from foliot.domain.delivery import InProgress
from foliot.domain.errors import Conflict, Denied
from foliot.domain.questions import CALLBACK, Verdict
from foliot.domain.runs import Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Outcome
from foliot.domain.signing import is_token_of
from foliot.ports import Transaction
from foliot.rows import QuestionRow, RunRow, ScheduleRow

_SOON = 1.0


class GivenDecision(NamedTuple):
    """What somebody wants done about a run that waits."""

    verdict: Verdict
    feedback: str | None
    by: str
    id: str | None
    """Who gives none may say the same once more about the same question."""

    def id_for(self, question: QuestionRow) -> str:
        return self.id or f"{question.round}:{self.verdict}:{self.by}:{self.feedback or ''}"

    def is_what(self, question: QuestionRow) -> bool:
        """Whether the question was decided just so."""
        return (question.verdict, question.feedback, question.decided_by) == (self.verdict, self.feedback, self.by)


def decide(
    tx: Transaction, entries: Entries, row: ScheduleRow, run: RunRow, state: State, run_id: str, decision: GivenDecision
) -> None:
    """Deliver it, unless it was delivered before; Conflict when something else was decided, Denied to others."""
    questions = tx.questions_of([run.ref])
    if not questions:
        raise Conflict(f"run {run_id} has asked nothing: `runs.list(status='waiting')` shows those that wait")
    last = questions[-1]
    name = decision.id_for(last)
    for question in questions:
        if question.decision == name:
            if decision.is_what(question):
                return
            raise Conflict(f"decision {name!r} about {run_id} was to {question.verdict}: give another one another id")
    _check(last, run, run_id, decision, tx.now)
    decided = last._replace(decision=name, verdict=decision.verdict, feedback=decision.feedback, decided_by=decision.by)
    post_decision(tx, entries, scheduled(row), state, run, decided)


def complete(
    tx: Transaction,
    entries: Entries,
    row: ScheduleRow,
    run: RunRow,
    state: State,
    run_id: str,
    token: str,
    outcome: Outcome,
) -> None:
    """End a run as its target reports that waits for it to do so; told twice, it is told once.

    Conflict when something else was told before.
    """
    questions = tx.questions_of([run.ref])
    if run.status == Status.RUNNING:
        raise InProgress(f"run {run_id} is still being delivered: report again in a moment", _SOON)
    last = questions[-1] if questions else None
    if last is None or last.kind != CALLBACK or last.reference is None:
        raise Conflict(f"run {run_id} waits for no report: it is {run.status}")
    if not is_token_of(token, last.reference):
        raise Denied(f"that is not the token of {run_id}: send the one that came with its call")
    if last.decided_by == CALLBACK:
        if (run.status, run.reason, run.result, run.error) != outcome[:4]:
            raise Conflict(f"run {run_id} was reported as {run.status} before, with something else: that stands")
        return
    if run.status != Status.WAITING:
        raise Conflict(f"run {run_id} does not wait any more: it is {run.status}")
    verdict = Verdict.APPROVE if outcome.status is Status.SUCCESS else Verdict.REJECT
    tx.close_question(last._replace(verdict=verdict, decided_by=CALLBACK))
    post_completion(tx, entries, scheduled(row), state, run, outcome)


def _check(question: QuestionRow, run: RunRow, run_id: str, decision: GivenDecision, now: int) -> None:
    if run.status != Status.WAITING or question.closed_at is not None:
        by = "" if question.decided_by is None else f", {question.verdict} by {question.decided_by}"
        raise Conflict(f"run {run_id} does not wait any more: it is {run.status}{by}")
    if question.kind == CALLBACK:
        raise Conflict(f"run {run_id} waits for its target to report, not for a person: `runs.cancel` ends it")
    if question.who and decision.by not in question.who:
        raise Denied(f"{decision.by!r} may not decide about {run_id}: ask {', '.join(question.who)}")
    if now >= question.expires_at:
        raise Conflict(f"the question of {run_id} has expired: `runs.retry` makes another attempt")
