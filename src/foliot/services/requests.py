"""The verbs on requests from outside: what was asked for, and what a person decides about one that nobody knows of."""

from collections.abc import Sequence

from foliot.books.entries import Entries
from foliot.domain.access import Right
from foliot.domain.delivery import RequestStage
from foliot.domain.errors import Conflict, Invalid, NotFound
from foliot.domain.grants import LOCAL
from foliot.domain.policies import limit_of
from foliot.domain.questions import Verdict, verdict_of
from foliot.domain.runs import Reason, Status
from foliot.domain.schedule import name_of, user_of
from foliot.domain.settlement import Outcome, outcome_text
from foliot.ports import Transaction
from foliot.rows import RequestRow
from foliot.services.desk import Desk
from foliot.services.stretches import Stretch, stretch_of
from foliot.services.views import ExecutionRequest, request_view

Requests = list[ExecutionRequest]
_LOOKED_AT = 10_000
"""So many are looked at for one stretch at most, since no index leads to those of a stage."""


class RequestVerbs:
    """What may be asked of requests. A request is named by its key."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, key: str) -> ExecutionRequest:
        return self._desk.read(lambda tx: _shown(tx, self._find(tx, key)))

    def list(self, stage: str | None = None, limit: int = 100) -> Requests:
        """Requests, the newest first."""
        _check_stage(stage)
        limit_of(limit)
        sees = self._desk.principal.sees
        return self._desk.read(
            lambda tx: _all_shown(tx, [row for row in tx.list_requests(stage, limit) if sees(row.caller)])
        )

    def page(
        self, stage: str | None = None, *, before: int | None = None, limit: int = 100
    ) -> Stretch[ExecutionRequest]:
        """The same from the one before that, by number, and where the rest begins; for admins.

        With a stage it may have fewer than there is room for while there is a rest.
        """
        self._desk.check(Right.ADMIN)
        _check_stage(stage)
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[ExecutionRequest]:
            newest = tx.requests_before(None, before, 0, 1)
            if not newest:
                return Stretch([], None)
            since = 0 if stage is None else max(0, newest[0].ref - _LOOKED_AT)
            found = tx.requests_before(stage, before, since, limit + 1)
            rows, rest = stretch_of(found, limit, lambda row: row, lambda row: (row.ref,))
            return Stretch(_all_shown(tx, rows), (since,) if rest is None and since else rest)

        return self._desk.read(act)

    def _find(self, tx: Transaction, key: str) -> RequestRow:
        row = tx.request(name_of("key", key))
        if row is None or not self._desk.principal.sees(row.caller):
            raise NotFound(f"there is no request {key!r}: `requests.list()` shows those that there are")
        return row

    def decide(self, key: str, verdict: str, *, by: str = LOCAL) -> ExecutionRequest:
        """Whether a request is executed once more of which nobody knows whether it was: approve or reject, once."""
        said, who = verdict_of(verdict), user_of(by)
        if said is Verdict.REVISE:
            raise Invalid(
                "a request takes 'approve' or 'reject', got 'revise': ask with another key for something else"
            )

        def act(tx: Transaction, entries: Entries) -> ExecutionRequest:
            row = self._find(tx, key)
            if (row.verdict, row.decided_by) == (said, who):
                return _shown(tx, row)
            if row.stage != RequestStage.HELD:
                told = "" if row.verdict is None else f", {row.decided_by} decided to {row.verdict} it"
                raise Conflict(f"the request {key!r} is {row.stage}{told}: only one that is held takes a decision")
            tx.note_decision(row.ref, said, who)
            entries.note("request.decide", "request", row.key, verdict=said, by=who)
            if said is Verdict.APPROVE:
                tx.release_request(row.ref, row.token)
            else:
                tx.finish_request(row.ref, row.token, outcome_text(Outcome(Status.CANCELLED, Reason.REJECTED)))
            return _shown(tx, self._find(tx, key))

        return self._desk.write(act)


def _shown(tx: Transaction, row: RequestRow) -> ExecutionRequest:
    (view,) = _all_shown(tx, [row])
    return view


def _all_shown(tx: Transaction, rows: Sequence[RequestRow]) -> Requests:
    runs = {run.ref: run for run in tx.runs([row.run_ref for row in rows if row.run_ref is not None])}
    return [request_view(row, None if row.run_ref is None else runs.get(row.run_ref)) for row in rows]


def _check_stage(stage: str | None) -> None:
    if stage is not None and stage not in list(RequestStage):
        raise Invalid(f"stage takes {', '.join(map(repr, map(str, RequestStage)))}, got {stage!r}")
