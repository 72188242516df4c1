"""The verbs on runs."""

from collections.abc import Sequence
from typing import Any

from foliot.books.configurations import scheduled
from foliot.books.ending import end_of_row, post_end
from foliot.books.entries import Entries
from foliot.books.posting import applicant_of, post_applicants
from foliot.domain.errors import Conflict, Invalid, NotFound
from foliot.domain.generation import Gap as LedgerGap
from foliot.domain.grants import LOCAL
from foliot.domain.instants import instant_of, moment_of
from foliot.domain.policies import count_of, limit_of
from foliot.domain.questions import feedback_of, verdict_of
from foliot.domain.reports import Reported, report_of
from foliot.domain.runs import FINAL, OPEN, Hold, Kind, Order, Reason, Status
from foliot.domain.schedule import State, name_of, user_of
from foliot.domain.settlement import Outcome
from foliot.domain.slots import Slot, read_run_id, trace_id
from foliot.lines import RunPlace, RunSearch
from foliot.ports import Transaction
from foliot.rows import RunFilter, RunRow, ScheduleRow
from foliot.services.deciding import GivenDecision, decide, hear
from foliot.services.desk import Desk
from foliot.services.run_details import RunDetail, detail_of
from foliot.services.run_lists import RunSummary, list_runs
from foliot.services.schedules import Moment
from foliot.services.stretches import Stretch, stretch_of
from foliot.services.views import Gap, Question, Receipt, Run, question_view, receipt_view, run_view

Gaps = list[Gap]
Receipts = list[Receipt]
Questions = list[Question]


class RunVerbs:
    """What may be asked of runs. A run is named by its id, such as `digest:2026-11-15T09:00:00Z~1`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list(
        self,
        schedule: str | None = None,
        *,
        status: str | None = None,
        reason: str | None = None,
        kind: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        backfill: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Run]:
        """Runs, newest first; `since` and `until` bound the nominal time, both included."""
        _check_words(status, reason, kind)
        limit_of(limit, ": page on with offset")
        if isinstance(offset, bool) or offset != 0:
            count_of("offset", -1 if offset is None else offset)
        count_of("backfill", backfill)

        def act(tx: Transaction) -> list[Run]:
            wanted = RunFilter(
                None if schedule is None else self._desk.find_row(tx, schedule, deleted=True).ref,
                status,
                reason,
                kind,
                None if since is None else instant_of(since, "since"),
                None if until is None else instant_of(until, "until"),
                backfill,
                limit,
                offset,
                self._desk.principal.seen_owner,
            )
            rows = tx.list_runs(wanted)
            owners = {row.ref: row for row in tx.configurations({run.schedule_ref for run in rows})}
            return [run_view(run, owners[run.schedule_ref].id, owners[run.schedule_ref].input) for run in rows]

        return self._desk.read(act)

    def page(
        self,
        schedule: str | None = None,
        *,
        status: str | None = None,
        reason: str | None = None,
        kind: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        backfill: int | None = None,
        after: RunPlace | None = None,
        limit: int = 100,
    ) -> Stretch[RunSummary]:
        """The same without what runs were given and have come to, and where the rest begins.

        With filters it may have fewer than there is room for while there is a rest.
        """
        _check_words(status, reason, kind)
        limit_of(limit)
        count_of("backfill", backfill)
        wanted = RunSearch(
            status,
            reason,
            kind,
            backfill,
            None if since is None else instant_of(since, "since"),
            None if until is None else instant_of(until, "until"),
            self._desk.principal.seen_owner,
        )

        def act(tx: Transaction) -> Stretch[RunSummary]:
            ref = None if schedule is None else self._desk.find_row(tx, schedule, deleted=True).ref
            if backfill is not None and ref is None:
                of = tx.configurations(row.schedule_ref for row in tx.backfills_seen([backfill]))
                if not of or not self._desk.principal.sees(of[0].owner):
                    return Stretch([], None)
                ref = of[0].ref
            return list_runs(tx, wanted, ref, after, limit)

        return self._desk.read(act)

    def detail(self, run_id: str) -> RunDetail:
        """A run with its attempts, why it is as it is in words, and what it asked, used and did."""
        return self._desk.read(lambda tx: detail_of(tx, *self._find(tx, run_id)))

    def gaps(self, schedule: str, *, limit: int = 1000) -> Gaps:
        """The schedule's long runs of slots that nothing ran, oldest first."""
        return [*self.gaps_page(schedule, limit=limit).items]

    def gaps_page(self, schedule: str, *, after: tuple[int, int] = (0, 0), limit: int = 100) -> Stretch[Gap]:
        """The same from the one after that, by its beginning and number, and where the rest begins."""
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[Gap]:
            found = tx.gaps_of(self._desk.find_row(tx, schedule, deleted=True).ref, after, limit + 1)
            return stretch_of(found, limit, _gap_view, lambda row: (row[1].first_at, row[0]))

        return self._desk.read(act)

    def get(self, run_id: str) -> Run:
        def act(tx: Transaction) -> Run:
            row, run = self._find(tx, run_id)
            return run_view(run, row.id, row.input)

        return self._desk.read(act)

    def receipts(self, run_id: str) -> Receipts:
        """What the run used and was charged for, in the order in which it was reported; also of requests so named."""

        def act(tx: Transaction) -> list[Receipt]:
            return [receipt_view(row) for ref in self._payers(tx, run_id) for row in tx.receipts_of(ref)]

        return self._desk.read(act)

    def trace_id(self, run_id: str) -> str:
        """The trace of a run, or of requests from outside that are so named; NotFound when there is neither."""
        self._desk.read(lambda tx: self._payers(tx, run_id))
        return trace_id(run_id)

    def questions(self, run_id: str) -> Questions:
        """What the run has asked of people and what it was told, in the order in which it did."""

        def act(tx: Transaction) -> list[Question]:
            return [question_view(row) for row in tx.questions_of([self._find(tx, run_id)[1].ref])]

        return self._desk.read(act)

    def decide(self, run_id: str, verdict: str, *, feedback: Any = None, by: str = LOCAL, id: str | None = None) -> Run:
        """Answer a run that waits: approve, revise or reject. Told twice under one id, it is told once."""
        decision = GivenDecision(
            verdict_of(verdict), feedback_of(feedback), user_of(by), None if id is None else name_of("id", id)
        )

        def act(tx: Transaction, entries: Entries) -> Run:
            decide(tx, entries, *self._find_asked(tx, run_id), run_id, decision)
            entries.note("run.decide", "run", run_id, verdict=decision.verdict, by=decision.by)
            return self._after(tx, entries, run_id)

        return self._desk.write(act)

    def complete(
        self, run_id: str, token: str, *, result: Any = None, error: str | None = None, code: str = "internal"
    ) -> Run:
        """Report how a run ended that waits for its target to do so: well, with that result, or with an error.

        The token came with the call. Told twice, it is told once; Conflict when something else was told.
        """
        status = Reported.SUCCESS if error is None else Reported.ERROR
        return self.report(run_id, token, status, result=result, error=error, code=None if error is None else code)

    def report(
        self,
        run_id: str,
        token: str,
        status: str,
        *,
        result: Any = None,
        error: str | None = None,
        code: str | None = None,
        progress: Any = None,
    ) -> Run:
        """The same step by step: `running` with its progress, then `success` or `error`, which ends the run.

        A run only goes forward: Conflict for what comes too late.
        """
        if not isinstance(token, str):
            raise Invalid(f"token takes the text that came with the call, got {type(token).__name__}")
        said = report_of(status, result=result, error=error, code=code, progress=progress)

        def act(tx: Transaction, entries: Entries) -> Run:
            hear(tx, entries, *self._find_held(tx, run_id), run_id, token, said)
            if said.outcome is not None:
                entries.note("run.complete", "run", run_id, status=said.outcome.status)
            return self._after(tx, entries, run_id)

        return self._desk.write(act)

    def cancel(self, run_id: str) -> Run:
        """Ask it to stop; one that has not begun is over at once."""

        def act(tx: Transaction, entries: Entries) -> Run:
            row, run, state = self._find_open(tx, run_id)
            entries.note("run.cancel", "run", run_id)
            if run.status == Status.RUNNING and run.worker is not None:
                tx.tell([run.ref], Order.CANCEL_BY_USER)
                entries.recalls = True
            else:
                end_by_decision(tx, entries, row, run, state, Reason.CANCELLED_BY_USER)
            return self._after(tx, entries, run_id)

        return self._desk.write(act)

    def terminate(self, run_id: str) -> Run:
        """End it here and now, whatever its code still does: nothing of that counts any more."""

        def act(tx: Transaction, entries: Entries) -> Run:
            row, run, state = self._find_open(tx, run_id)
            entries.note("run.terminate", "run", run_id)
            end_by_decision(tx, entries, row, run, state, Reason.TERMINATED)
            entries.recalls = True
            return self._after(tx, entries, run_id)

        return self._desk.write(act)

    def retry(self, run_id: str) -> Run:
        """One more attempt at a slot whose last one is over and was no success, under the overlap policy."""

        def act(tx: Transaction, entries: Entries) -> Run:
            row, run = self._find(tx, run_id)
            (state,) = tx.states([row.ref])
            (row,) = tx.configurations([row.ref])
            attempts = [
                other
                for other in tx.runs_at(row.ref, run.nominal_at)
                if (other.kind, other.backfill) == (run.kind, run.backfill)
            ]
            last = max(attempts, key=lambda other: other.attempt)
            if last.status not in FINAL or last.status == Status.SUCCESS or row.deleted_at is not None:
                what = "deleted with its schedule" if row.deleted_at is not None else last.status
                raise Conflict(f"run {run_id} cannot be retried: its last attempt is {what}")
            if last.reason == Reason.SKIPPED_BY_USER and run.nominal_at > tx.now:
                raise Conflict(
                    f"run {run_id} cannot be retried: its time is still to come. `schedules.trigger` runs now"
                )
            entries.note("run.retry", "run", run_id, attempt=last.attempt + 1)
            _attempt_again(tx, entries, row, state, last)
            again = tx.run_at(row.ref, run.nominal_at, run.kind, run.backfill, last.attempt + 1)
            assert again is not None
            return run_view(again, row.id, row.input)

        return self._desk.write(act)

    def _find(self, tx: Transaction, run_id: str) -> tuple[ScheduleRow, RunRow]:
        key, attempt = read_run_id(run_id)
        row = tx.schedule(key.schedule_id)
        run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
        if row is None or run is None or not self._desk.principal.sees(row.owner):
            raise NotFound(f"there is no run {run_id!r}: `runs.list` shows those that there are")
        return row, run

    def _payers(self, tx: Transaction, run_id: str) -> Sequence[int]:
        """What the receipts of a run are found by, and of requests from outside that call theirs so."""
        asked = tx.requests_of_run(name_of("a run id", run_id))
        outside = [-row.ref for row in asked if row.run_ref is None and self._desk.principal.sees(row.caller)]
        try:
            return [*outside, self._find(tx, run_id)[1].ref]
        except (Invalid, NotFound):
            if not outside:
                raise
            return outside

    def _find_held(self, tx: Transaction, run_id: str) -> tuple[ScheduleRow, RunRow, State]:
        """The run and its schedule's state, held for this transaction."""
        row, _ = self._find(tx, run_id)
        (state,) = tx.states([row.ref])
        # Read again under the lock: what was read before it may have changed since.
        row, run = self._find(tx, run_id)
        return row, run, state

    def _find_asked(self, tx: Transaction, run_id: str) -> tuple[ScheduleRow, RunRow, State]:
        """The same, also for somebody who does not see it but is named among those who may answer."""
        try:
            return self._find_held(tx, run_id)
        except NotFound:
            key, attempt = read_run_id(run_id)
            row = tx.schedule(key.schedule_id)
            run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
            asked = [] if run is None else tx.questions_of([run.ref])[-1:]
            if row is None or run is None or not any(self._desk.principal.user in question.who for question in asked):
                raise
        (state,) = tx.states([row.ref])
        (row,) = tx.configurations([row.ref])
        (run,) = tx.runs([run.ref])
        return row, run, state

    def _after(self, tx: Transaction, entries: Entries, run_id: str) -> Run:
        """The run as it is once the entries are written."""
        entries.write(tx)
        key, attempt = read_run_id(run_id)
        row = tx.schedule(key.schedule_id)
        run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
        assert row is not None, "it was found before"
        assert run is not None, "it was found before"
        return run_view(run, row.id, row.input)

    def _find_open(self, tx: Transaction, run_id: str) -> tuple[ScheduleRow, RunRow, State]:
        row, run, state = self._find_held(tx, run_id)
        if run.status not in OPEN:
            raise Conflict(f"run {run_id} is over ({run.status}): only an open run can be stopped")
        return row, run, state


def _gap_view(numbered: tuple[int, LedgerGap]) -> Gap:
    _, gap = numbered
    return Gap(moment_of(gap.first_at), moment_of(gap.last_at), gap.size, gap.reason)


def _check_words(status: str | None, reason: str | None, kind: str | None) -> None:
    for name, text, words in (("status", status, Status), ("reason", reason, Reason), ("kind", kind, Kind)):
        if text is not None and text not in list(words):
            raise Invalid(f"{name} takes {', '.join(map(repr, map(str, words)))}, got {text!r}")


def _attempt_again(tx: Transaction, entries: Entries, row: ScheduleRow, state: State, last: RunRow) -> None:
    schedule = scheduled(row)
    in_lane = last.kind == Kind.BACKFILL
    entries.record(
        schedule,
        Slot(last.nominal_at, tx.now),
        Status.PENDING,
        hold=Hold.RETRY if in_lane else Hold.DUE,
        kind=Kind(last.kind),
        backfill=last.backfill,
        attempt=last.attempt + 1,
        overlap=last.overlap,
        ready_for=state.target if in_lane else None,
        ready_at=tx.now if in_lane else None,
        retry_of=last.ref,
        input=last.input,
    )
    entries.write(tx)
    if in_lane:
        for backfill in tx.backfills([last.backfill]):
            tx.save_backfill(backfill._replace(running=backfill.running + 1))
        return
    again = tx.run_at(row.ref, last.nominal_at, last.kind, last.backfill, last.attempt + 1)
    assert again is not None
    post_applicants(tx, entries, schedule, state, [applicant_of(again)], [again])
    entries.write(tx)


def end_by_decision(
    tx: Transaction, entries: Entries, row: ScheduleRow, run: RunRow, state: State, reason: Reason
) -> None:
    """End an open run by decision, and let start what it stood in the way of."""
    entries.stop_run(row.id, run, reason)
    entries.write(tx)
    if run.status == Status.PENDING and run.hold in (Hold.OVERLAP, Hold.PAUSED, Hold.DUE):
        held = run.hold in (Hold.OVERLAP, Hold.PAUSED)
        entries.keep(state._replace(held=state.held - held))
        return
    post_end(tx, entries, scheduled(row), state, end_of_row(run, Outcome(Status.CANCELLED, reason)))


def stop_waiting(tx: Transaction, entries: Entries, state: State, grant_ref: int, reason: Reason) -> None:
    """End what waits for an answer of the schedule, which is held, and began or would go on by that grant."""
    (row,) = tx.configurations([state.ref])
    for run in tx.open_runs(row.ref):
        if run.status == Status.WAITING and grant_ref in (row.grant_ref, run.grant_ref):
            (state,) = tx.states([row.ref])
            end_by_decision(tx, entries, row, run, state, reason)
            entries.write(tx)
