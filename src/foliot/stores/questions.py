"""What runs have asked of people, and what they were told."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from foliot.rows import QuestionRow
from foliot.stores.dialect import InsertMany, Row
from foliot.stores.part import Part

_ASK = InsertMany(
    "questions",
    "run_ref schedule_ref round kind:text data:text who:text reference:text asked_at expires_at at_expiry:text",
)
_SELECT = f"SELECT {', '.join(QuestionRow._fields)} FROM questions"


class Questions(Part):
    def ask(self, rows: Sequence[Row]) -> None:
        self.dialect.insert(self.cursor, _ASK, rows)

    def questions_of(self, run_refs: Iterable[int]) -> list[QuestionRow]:
        """What these runs have asked, in the order in which they did."""
        text = f"{_SELECT} WHERE {self.dialect.any_of('run_ref')} ORDER BY run_ref, round"
        return self._questions(text, self.dialect.list_of(run_refs))

    def unanswered(self, until: int, limit: int) -> list[QuestionRow]:
        """Questions that nobody has answered and that expire until then, the first to expire first."""
        return self._questions(
            f"{_SELECT} WHERE closed_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?", until, limit
        )

    def close_question(self, question: QuestionRow) -> None:
        """Write down what was decided, and by whom."""
        self._do(
            "UPDATE questions SET decision = ?, verdict = ?, feedback = ?, decided_by = ?, closed_at = ? WHERE ref = ?",
            question.decision,
            question.verdict,
            question.feedback,
            question.decided_by,
            self.now,
            question.ref,
        )

    def close_questions_of(self, run_refs: Iterable[int]) -> None:
        """Nobody needs to answer these any more: their runs are over."""
        text = f"UPDATE questions SET closed_at = ? WHERE {self.dialect.any_of('run_ref')} AND closed_at IS NULL"
        self._do(text, self.now, self.dialect.list_of(run_refs))

    def _questions(self, text: str, *values: Any) -> list[QuestionRow]:
        rows = [QuestionRow(*row) for row in self._all(text, *values)]
        return [row._replace(who=tuple(json.loads(str(row.who)))) for row in rows]
