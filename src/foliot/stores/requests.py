"""Requests from outside: the record of each execution under its key."""

from collections.abc import Iterable
from typing import Any

from foliot.domain.delivery import RequestStage
from foliot.rows import RequestRow
from foliot.stores.part import Part

_SELECT = f"SELECT {', '.join(RequestRow._fields)} FROM execution_requests"


class KeptRequests(Part):
    def request(self, key: str) -> RequestRow | None:
        """The record under that key, held."""
        return self._one(f"{_SELECT} WHERE key = ?{self.dialect.lock}", key)

    def requests_of_run(self, run: str) -> list[RequestRow]:
        """The requests about that run, the oldest first."""
        return [RequestRow(*row) for row in self._all(f"{_SELECT} WHERE run = ? ORDER BY ref", run)]

    def list_requests(self, stage: str | None, limit: int) -> list[RequestRow]:
        """Requests, the newest first."""
        if stage is None:
            rows = self._all(f"{_SELECT} ORDER BY ref DESC LIMIT ?", limit)
        else:
            rows = self._all(f"{_SELECT} WHERE stage = ? ORDER BY ref DESC LIMIT ?", stage, limit)
        return [RequestRow(*row) for row in rows]

    def requests_before(self, stage: str | None, before: int | None, since: int, limit: int) -> list[RequestRow]:
        """The same from the key before that down to another."""
        conditions, values = ["ref > ?"], [since]
        for condition, value in (("ref < ?", before), ("stage = ?", stage)):
            if value is not None:
                conditions.append(condition)
                values.append(value)  # type: ignore[arg-type]
        text = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY ref DESC LIMIT ?"
        return [RequestRow(*row) for row in self._all(text, *values, limit)]

    def insert_request(self, request: RequestRow) -> int | None:
        """A request that its owner begins; None when somebody else has just begun one under the key."""
        names, values = RequestRow._fields[1:], request[1:]
        text = f"INSERT INTO execution_requests ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        rows = self._all(f"{text} ON CONFLICT (key) DO NOTHING RETURNING ref", *values)
        return int(rows[0][0]) if rows else None

    def take_request(self, ref: int, token: int, owner: str, lease_until: int) -> None:
        """It has a new owner, and a token that fences the one before."""
        self._do(
            f"UPDATE execution_requests SET stage = '{RequestStage.IN_PROGRESS}', token = ?, owner = ?, lease_until = ?"
            " WHERE ref = ?",
            *(token, owner, lease_until, ref),
        )

    def renew_request(self, ref: int, token: int, lease_until: int) -> bool:
        """False when it is another's now."""
        text = "UPDATE execution_requests SET lease_until = ? WHERE ref = ? AND token = ?"
        return self._do(text, lease_until, ref, token) == 1

    def hold_request(self, ref: int) -> None:
        """It waits for a person; whoever still works on it is fenced."""
        self._do(
            f"UPDATE execution_requests SET stage = '{RequestStage.HELD}', token = token + 1, verdict = NULL,"
            " decided_by = NULL WHERE ref = ?",
            ref,
        )

    def note_decision(self, ref: int, verdict: str, by: str) -> None:
        """Write down what a person has said about it."""
        self._do("UPDATE execution_requests SET verdict = ?, decided_by = ? WHERE ref = ?", verdict, by, ref)

    def release_request(self, ref: int, token: int) -> None:
        """Whoever asks next may begin it."""
        text = f"UPDATE execution_requests SET stage = '{RequestStage.RELEASED}' WHERE ref = ? AND token = ?"
        self._do(text, ref, token)

    def finish_request(self, ref: int, token: int, outcome: str) -> bool:
        """Keep what it came to; False when it is another's now."""
        text = (
            f"UPDATE execution_requests SET stage = '{RequestStage.DONE}', outcome = ?, ended_at = ?"
            f" WHERE ref = ? AND token = ? AND stage <> '{RequestStage.DONE}' RETURNING ref, run_ref"
        )
        done = self._all(text, outcome, self.now, ref, token)
        self._tell_budgets(done)
        return len(done) == 1

    def stop_requests(self, grant_ref: int, outcome: str) -> None:
        """What is executed by the grant has ended so: whoever is at it is fenced."""
        text = (
            f"UPDATE execution_requests SET stage = '{RequestStage.DONE}', token = token + 1, outcome = ?, ended_at = ?"
            f" WHERE grant_ref = ? AND stage = '{RequestStage.IN_PROGRESS}' RETURNING ref, run_ref"
        )
        self._tell_budgets(self._all(text, outcome, self.now, grant_ref))

    def _tell_budgets(self, done: Iterable[tuple[int, int | None]]) -> None:
        """These are over. Budgets do not look at requests; of one that is about a run, they look at the run."""
        refs = [-ref for ref, run_ref in done if run_ref is None]
        if refs:
            text = f"UPDATE spendings SET is_over = 1 WHERE {self.dialect.any_of('run_ref')}"
            self._do(text, self.dialect.list_of(refs))

    def remove_requests(self, before: int) -> int:
        """Forget what was done long ago."""
        return self._do("DELETE FROM execution_requests WHERE ended_at < ?", before)

    def _one(self, text: str, *values: Any) -> RequestRow | None:
        rows = self._all(text, *values)
        return RequestRow(*rows[0]) if rows else None
