"""The trail of changes, and the answers that are kept for those who ask again."""

from collections.abc import Sequence

from foliot.domain.trail import BEGINNING, SignedDeed, TrailEntry, binding
from foliot.rows import AnswerRow
from foliot.stores.dialect import InsertMany
from foliot.stores.part import Part

_ENTRY = ", ".join(TrailEntry._fields)
_ANSWER = ", ".join(AnswerRow._fields)
_APPEND = InsertMany(
    "trail", "ref at actor:text action:text subject:text details:text request_id:text address:text hash:text"
)


class Trail(Part):
    def append_deeds(self, deeds: Sequence[SignedDeed]) -> None:
        """Write these down after all that were before; whoever else writes some waits until this is committed."""
        newest = self._raised(len(deeds))
        last = self._all("SELECT ref, hash FROM trail ORDER BY ref DESC LIMIT 1")
        found, previous = last[0] if last else (0, BEGINNING)
        # From what was counted: where the end was cut off, a gap shows it for good.
        ref = max(found, newest - len(deeds))
        if ref + len(deeds) != newest:
            self._do("UPDATE revisions SET number = ? WHERE name = 'trail'", ref + len(deeds))
        rows = []
        for (action, subject, details), actor, request_id, address in deeds:
            ref += 1
            entry = TrailEntry(ref, self.now, actor, action, subject, details, request_id, address, "")
            previous = binding(previous, entry)
            rows.append(entry._replace(hash=previous))
        self.dialect.insert(self.cursor, _APPEND, rows)

    def _raised(self, count: int) -> int:
        """So many more were ever written; whoever else raises it waits. It may be behind: it once counted otherwise."""
        text = (
            "INSERT INTO revisions (name, number) VALUES ('trail', ?)"
            " ON CONFLICT (name) DO UPDATE SET number = revisions.number + ? RETURNING number"
        )
        return int(self._all(text, count, count)[0][0])

    def newest_written(self) -> int:
        """The number of the newest entry that was ever written, whether it is there or not; 0: none was."""
        rows = self._all("SELECT number FROM revisions WHERE name = 'trail'")
        return int(rows[0][0]) if rows else 0

    def trail(self, after: int, limit: int, subject: str | None = None) -> list[TrailEntry]:
        """Entries in their order, from the one after that; of one subject, or of all."""
        condition, values = ("AND subject = ? ", [subject]) if subject is not None else ("", [])
        text = f"SELECT {_ENTRY} FROM trail WHERE ref > ? {condition}ORDER BY ref LIMIT ?"
        return [TrailEntry(*row) for row in self._all(text, after, *values, limit)]

    def newest_deeds(
        self, limit: int, before: int | None, subject: str | None, actor: str | None, since: int | None = None
    ) -> list[TrailEntry]:
        """The newest first, from the one before that, down to another."""
        conditions, values = ["1 = 1"], []
        for condition, value in (
            ("ref < ?", before),
            ("ref >= ?", since),
            ("subject = ?", subject),
            ("actor = ?", actor),
        ):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        text = f"SELECT {_ENTRY} FROM trail WHERE {' AND '.join(conditions)} ORDER BY ref DESC LIMIT ?"
        return [TrailEntry(*row) for row in self._all(text, *values, limit)]

    def answer(self, scope: str, key: str) -> AnswerRow | None:
        """What was answered to the request with that key."""
        rows = self._all(f"SELECT {_ANSWER} FROM kept_answers WHERE scope = ? AND key = ?", scope, key)
        return AnswerRow(*rows[0]) if rows else None

    def keep_answer(self, answer: AnswerRow) -> None:
        """Under a key that has none; of two at once the database refuses one, which is then run again."""
        values = ", ".join("?" * len(answer))
        self._do(f"INSERT INTO kept_answers ({_ANSWER}) VALUES ({values})", *answer)

    def remove_answer(self, scope: str, key: str) -> None:
        self._do("DELETE FROM kept_answers WHERE scope = ? AND key = ?", scope, key)

    def remove_answers(self, before: int, limit: int) -> int:
        """Delete those that were given before that moment, the oldest first, so many at most; how many they were."""
        old = "SELECT ref FROM kept_answers WHERE created_at < ? ORDER BY created_at LIMIT ?"
        return self._do(f"DELETE FROM kept_answers WHERE ref IN ({old})", before, limit)
