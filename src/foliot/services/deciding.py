"""Decisions about runs that wait for a person: each is made once, by somebody who may."""

from typing import NamedTuple, assert_never

from foliot.books.asking import BY_EXPIRY, post_completion, post_decision
from foliot.books.configurations import scheduled
from foliot.books.entries import Entries
from foliot.domain.delivery import InProgress
from foliot.domain.errors import Conflict, Denied
from foliot.domain.instants import rfc3339
from foliot.domain.questions import CALLBACK, UNKNOWN_OUTCOME, Verdict
from foliot.domain.reports import Feedback, Hearing, Reported, hearing_of
from foliot.domain.runs import FINAL, Status
from foliot.domain.schedule import State
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

    def differs_in(self, question: QuestionRow) -> str:
        """What was decided otherwise, in words."""
        others = {
            "another verdict": question.verdict != self.verdict,
            "other feedback": question.feedback != self.feedback,
            "another person": question.decided_by != self.by,
        }
        return " and ".join(words for words, is_other in others.items() if is_other)


def decide(
    tx: Transaction, entries: Entries, row: ScheduleRow, run: RunRow, state: State, run_id: str, decision: GivenDecision
) -> None:
    """Deliver it, unless it was delivered before; Conflict when something else was decided, Denied to others."""
    questions = tx.questions_of([run.ref])
    if not questions:
        raise Conflict(f"run {run_id} has asked nothing: `runs.questions` shows what is asked")
    last = questions[-1]
    name = decision.id_for(last)
    for question in questions:
        if question.decision == name:
            if decision.is_what(question):
                return
            raise Conflict(
                f"decision {name!r} about {run_id} was to {question.verdict} by {question.decided_by}, and now has"
                f" {decision.differs_in(question)}: give another one another id"
            )
    _check(last, run, run_id, decision, tx.now)
    decided = last._replace(decision=name, verdict=decision.verdict, feedback=decision.feedback, decided_by=decision.by)
    post_decision(tx, entries, scheduled(row), state, run, decided)


def hear(
    tx: Transaction,
    entries: Entries,
    row: ScheduleRow,
    run: RunRow,
    state: State,
    run_id: str,
    token: str,
    report: Feedback,
) -> None:
    """What the target of a run says of it, which waits for that, or of which nobody else knows how it ended.

    Told twice, it is told once; Conflict when it comes too late, or something else was told before.
    """
    questions = tx.questions_of([run.ref])
    last = questions[-1] if questions else None
    is_end_reported = last is not None and last.decided_by == CALLBACK
    hearing = hearing_of(Status(run.status), report.status, is_end_reported=is_end_reported)
    if hearing is Hearing.EARLY:
        raise InProgress(f"run {run_id} is still being delivered: report again in a moment", _SOON)
    if last is None or last.kind not in (CALLBACK, UNKNOWN_OUTCOME) or last.reference is None:
        raise Conflict(f"run {run_id} waits for no report: it is {run.status}")
    if not is_token_of(token, last.reference):
        raise Denied(f"that is not the token of {run_id}: send the one that came with its call")
    match hearing:
        case Hearing.NOTE:
            tx.note_report(run.ref, report.progress)
        case Hearing.END:
            assert report.outcome is not None, "only what goes on has none"
            verdict = Verdict.APPROVE if report.status is Reported.SUCCESS else Verdict.REJECT
            tx.close_question(last._replace(verdict=verdict, decided_by=CALLBACK))
            post_completion(tx, entries, scheduled(row), state, run, report.outcome)
        case Hearing.REPEAT:
            if report.outcome is None or (run.status, run.reason, run.result, run.error) != report.outcome[:4]:
                raise Conflict(f"run {run_id} was reported as {run.status} before, with something else: that stands")
        case Hearing.LATE:
            raise Conflict(f"run {run_id} does not wait any more: it is {run.status}, and goes only forward")
        case _:
            assert_never(hearing)


def _check(question: QuestionRow, run: RunRow, run_id: str, decision: GivenDecision, now: int) -> None:
    if run.status != Status.WAITING or question.closed_at is not None:
        by = "" if question.decided_by is None else f", {question.verdict} by {question.decided_by}"
        raise Conflict(f"run {run_id} does not wait any more: it is {run.status}{by}{_expiry(question, run)}")
    if question.kind == CALLBACK:
        raise Conflict(f"run {run_id} waits for its target to report, not for a person: `runs.cancel` ends it")
    if question.who and decision.by not in question.who:
        raise Denied(f"{decision.by!r} may not decide about {run_id}: ask {', '.join(question.who)}")
    if now >= question.expires_at:
        raise Conflict(f"the question of {run_id} has expired: `runs.retry` makes another attempt")


def _expiry(question: QuestionRow, run: RunRow) -> str:
    """That nobody has answered in time, in words, and what can be done; nothing when somebody has."""
    is_answered = question.decided_by not in (None, BY_EXPIRY)
    if is_answered or question.closed_at is None or question.closed_at < question.expires_at:
        return ""
    can_retry = run.status in FINAL and run.status != Status.SUCCESS
    remedy = ". `runs.retry` makes another attempt" if can_retry else ""
    return f", for its question expired at {rfc3339(question.expires_at)}{remedy}"
