"""The verbs on decisions: what waits for a person, and what that person says."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from foliot.domain.access import may_answer
from foliot.domain.policies import limit_of
from foliot.domain.questions import CALLBACK
from foliot.lines import QuestionLine
from foliot.ports import Transaction
from foliot.services.desk import Desk
from foliot.services.run_lists import RunSummary, summary_of
from foliot.services.runs import RunVerbs
from foliot.services.stretches import Place, Stretch
from foliot.services.views import Question, Run, question_view

_LOOKED_AT = 2_000
"""So many questions are looked at for one stretch, also of others,"""
_TOLD_AT_ONCE = 1_000_000
"""and so much of what they ask is told, but one at least."""


@dataclass(frozen=True, slots=True)
class WaitingDecision:
    """A question that the caller may answer, and the run that has asked it."""

    asker: RunSummary
    question: Question


class DecisionVerbs:
    """What may be asked of decisions."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def page(self, *, after: Place | None = None, limit: int = 100) -> Stretch[WaitingDecision]:
        """What waits for a person and the caller may answer, the first to expire first.

        It may have fewer than there is room for while there is a rest.
        """
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[WaitingDecision]:
            expires_at, ref = (tx.now + 1, 0) if after is None else (max(int(after[0]), tx.now + 1), int(after[1]))
            lines = tx.open_question_lines(expires_at, ref, _LOOKED_AT)
            mine = [line for line in lines if self._is_mine(line)]
            chosen = mine[: _fitting(mine, limit)]
            rest = None
            if len(chosen) < len(mine):
                rest = _place(chosen[-1])
            elif len(lines) == _LOOKED_AT:
                rest = _place(lines[-1])
            return Stretch(_waiting(tx, chosen), rest)

        return self._desk.read(act)

    def _is_mine(self, line: QuestionLine) -> bool:
        return line.kind != CALLBACK and may_answer(self._desk.principal, line.owner, line.who)

    def decide(self, run_id: str, verdict: str, *, feedback: Any = None, id: str | None = None) -> Run:
        """Answer a run that waits, as the caller."""
        runs = RunVerbs(self._desk)
        return runs.decide(run_id, verdict, feedback=feedback, by=self._desk.principal.user, id=id)


def _fitting(lines: Sequence[QuestionLine], limit: int) -> int:
    """How many of them are told at once."""
    said = accumulate(line.length for line in lines[:limit])
    return max(1, sum(so_far <= _TOLD_AT_ONCE for so_far in said))


def _place(line: QuestionLine) -> Place:
    return (line.expires_at, line.ref)


def _waiting(tx: Transaction, chosen: Sequence[QuestionLine]) -> Sequence[WaitingDecision]:
    questions = {row.ref: row for row in tx.questions(line.ref for line in chosen)}
    askers = {line.ref: line for line in tx.lines({line.run_ref for line in chosen})}
    return [
        WaitingDecision(summary_of(askers[line.run_ref]), question_view(questions[line.ref]))
        for line in chosen
        if line.ref in questions and line.run_ref in askers
    ]
