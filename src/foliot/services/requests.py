"""The verbs on requests from outside: what was asked for, and what a person decides about one that nobody knows of."""

from foliot.books.entries import Entries
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
from foliot.services.views import ExecutionRequest, request_view

Requests = list[ExecutionRequest]


class RequestVerbs:
    """What may be asked of requests. A request is named by its key."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, key: str) -> ExecutionRequest:
        return self._desk.read(lambda tx: request_view(_find(tx, key)))

    def list(self, stage: str | None = None, limit: int = 100) -> Requests:
        """Requests, the newest first."""
        if stage is not None and stage not in list(RequestStage):
            raise Invalid(f"stage takes {', '.join(map(repr, map(str, RequestStage)))}, got {stage!r}")
        limit_of(limit)
        return self._desk.read(lambda tx: [request_view(row) for row in tx.list_requests(stage, limit)])

    def decide(self, key: str, verdict: str, *, by: str = LOCAL) -> ExecutionRequest:
        """Whether a request is executed once more of which nobody knows whether it was: approve or reject, once."""
        said, who = verdict_of(verdict), user_of(by)
        if said is Verdict.REVISE:
            raise Invalid(
                "a request takes 'approve' or 'reject', got 'revise': ask with another key for something else"
            )

        def act(tx: Transaction, _: Entries) -> ExecutionRequest:
            row = _find(tx, key)
            if (row.verdict, row.decided_by) == (said, who):
                return request_view(row)
            if row.stage != RequestStage.HELD:
                told = "" if row.verdict is None else f", {row.decided_by} decided to {row.verdict} it"
                raise Conflict(f"the request {key!r} is {row.stage}{told}: only one that is held takes a decision")
            tx.note_decision(row.ref, said, who)
            if said is Verdict.APPROVE:
                tx.release_request(row.ref, row.token)
            else:
                tx.finish_request(row.ref, row.token, outcome_text(Outcome(Status.CANCELLED, Reason.REJECTED)))
            return request_view(_find(tx, key))

        return self._desk.write(act)


def _find(tx: Transaction, key: str) -> RequestRow:
    row = tx.request(name_of("key", key))
    if row is None:
        raise NotFound(f"there is no request {key!r}: `requests.list()` shows those that there are")
    return row
