"""What runs have asked of people, and what they were told."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from foliot.lines import QuestionLine
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

    def recent_questions(self, run_ref: int, limit: int) -> list[QuestionRow]:
        """The last that the run has asked, in the order in which it did."""
        text = f"{_SELECT} WHERE run_ref = ? ORDER BY round DESC LIMIT ?"
        return self._questions(text, run_ref, limit)[::-1]

    def questions(self, refs: Iterable[int]) -> list[QuestionRow]:
        """These, by their own keys."""
        return self._questions(f"{_SELECT} WHERE {self.dialect.any_of('ref')}", self.dialect.list_of(refs))

    def open_question_lines(self, expires_at: int, ref: int, limit: int) -> list[QuestionLine]:
        """What nobody has answered yet, the first to expire first, from the one after that moment and key."""
        text = (
            "SELECT q.ref, q.run_ref, q.kind, q.who, q.expires_at, coalesce(length(q.data), 0), s.owner"
            " FROM questions q JOIN schedules s ON s.ref = q.schedule_ref"
            " WHERE q.closed_at IS NULL AND q.expires_at >= ? AND (q.expires_at > ? OR q.ref > ?)"
            " ORDER BY q.expires_at, q.ref LIMIT ?"
        )
        rows = [QuestionLine(*row) for row in self._all(text, expires_at, expires_at, ref, limit)]
        return [row._replace(who=tuple(json.loads(str(row.who)))) for row in rows]

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
