"""Runs, driven at random through the store and through a plain dictionary, which must always agree.

Final rows are offered to everything that may come too late: an outcome, a loss, a note of progress.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from foliot.domain.runs import FINAL, OPEN, Hold, Order, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.rows import Finish, Leased, RunFilter, RunRow
from foliot.stores.transaction import SqlTransaction
from tests.builders import NOON, a_new_run, a_started_run
from tests.stores.stage import Stage

WORKERS = st.integers(1, 3)
HOLDS = st.sampled_from(Hold)
OUTCOMES = st.sampled_from(
    [
        Outcome(Status.SUCCESS),
        Outcome(Status.SUCCESS, result='{"said":"\\"it\'s\\" {done}"}'),
        Outcome(Status.ERROR, Reason.INTERNAL, error="broke,\n\\badly"),
        Outcome(Status.CANCELLED, Reason.CANCELLED_BY_USER),
    ]
)
DECISIONS = st.sampled_from(
    [
        (Status.SKIPPED, Reason.SUPERSEDED),
        (Status.CANCELLED, Reason.TERMINATED),
        (Status.ERROR, Reason.LOST),
    ]
)
PLACES = st.integers(0, 20)
OFF_BY = st.sampled_from([0, 0, 0, -1, 1])
TARGET = 9


class Known(NamedTuple):
    """What the dictionary holds of a run."""

    row: RunRow
    ready_for: int | None = None
    ready_at: int | None = None

    def with_row(self, **changes: Any) -> "Known":
        return self._replace(row=self.row._replace(**changes))

    def unready(self) -> "Known":
        return self._replace(ready_for=None, ready_at=None)


class _UndoError(Exception):
    pass


def _is_in_hand(known: Known) -> bool:
    """Whether a worker has it: one that was taken from its worker is nobody's to finish."""
    return known.row.status == Status.RUNNING and known.row.worker is not None


class RunMachine(RuleBasedStateMachine):
    stage: Stage

    def __init__(self) -> None:
        super().__init__()
        self.stage.clear()
        self.schedule = self.stage.schedule()
        self.known: dict[int, Known] = {}
        self.ended: dict[int, Known] = {}
        self.tokens: dict[int, int] = {}
        self.moment = NOON

    def tick(self) -> int:
        self.moment += 1
        return self.moment

    def chosen(self, place: int, suits: Callable[[Known], bool] = lambda _: True) -> int | None:
        refs = [ref for ref, known in self.known.items() if suits(known)]
        return refs[place % len(refs)] if refs else None

    def add(self, row: RunRow, ready_at: int | None = None) -> None:
        self.known[row.ref] = Known(row, None if ready_at is None else TARGET, ready_at)

    @rule(hold=st.none() | HOLDS, occupies=st.integers(0, 1), is_ready=st.booleans())
    def record(self, hold: Hold | None, occupies: int, is_ready: bool) -> None:
        at = self.tick()
        ready_at = at if is_ready else None

        def act(tx: SqlTransaction) -> int:
            ref = tx.next_ref()
            readiness = {"ready_for": TARGET, "ready_at": ready_at} if is_ready else {}
            tx.record([a_new_run(ref, self.schedule, at, hold=hold, occupies=occupies, **readiness)])
            return ref

        self.add(a_row(self.stage.write(act), self.schedule, at)._replace(hold=hold, occupies=occupies), ready_at)

    @rule(worker=WORKERS)
    def start_new(self, worker: int) -> None:
        at = self.tick()

        def act(tx: SqlTransaction) -> int:
            ref = tx.next_ref()
            tx.start_new([a_started_run(ref, self.schedule, at, worker)])
            return ref

        row = a_row(self.stage.write(act), self.schedule, at)
        self.add(row._replace(status=Status.RUNNING, occupies=1, grant_ref=1, worker=worker, token=1, started_at=NOON))

    @precondition(lambda self: self.known)
    @rule(place=PLACES, worker=WORKERS)
    def start(self, place: int, worker: int) -> None:
        ref = self.chosen(place, lambda known: known.row.status == Status.PENDING or known.ready_for is not None)
        if ref is None:
            return
        at = self.tick()
        self.stage.write(lambda tx: tx.start([(worker, 1, 1, 2, at, ref)]))
        before = self.known[ref]
        self.known[ref] = before.unready().with_row(
            status=Status.RUNNING,
            hold=None,
            worker=worker,
            occupies=1,
            grant_ref=1,
            version=2,
            started_at=at,
            token=before.row.token + 1,
        )

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def make_ready(self, place: int) -> None:
        ref = self.chosen(place, is_pending)
        if ref is not None:
            at = self.tick()
            self.stage.write(lambda tx: tx.make_ready([(TARGET, at, 0, ref)]))
            self.known[ref] = self.known[ref].with_row(hold=None, occupies=0)._replace(ready_for=TARGET, ready_at=at)

    @precondition(lambda self: self.known)
    @rule(place=PLACES, hold=HOLDS)
    def hold(self, place: int, hold: Hold) -> None:
        ref = self.chosen(place, is_pending)
        if ref is not None:
            self.stage.write(lambda tx: tx.hold([(hold, ref)]))
            self.known[ref] = self.known[ref].unready().with_row(hold=hold)

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def park(self, place: int) -> None:
        ref = self.chosen(place, lambda known: is_pending(known) and known.row.hold == Hold.RETRY)
        if ref is not None:
            self.stage.write(lambda tx: tx.park(ref))
            self.known[ref] = self.known[ref]._replace(ready_for=None)

    @rule()
    def wake_retries(self) -> None:
        self.stage.write(lambda tx: tx.wake_retries(self.schedule, TARGET))
        for ref, known in self.known.items():
            if is_pending(known) and known.row.hold == Hold.RETRY:
                self.known[ref] = known._replace(ready_for=TARGET)

    @precondition(lambda self: self.known)
    @rule(place=PLACES, decision=DECISIONS)
    def end(self, place: int, decision: tuple[Status, Reason]) -> None:
        ref = self.chosen(place, lambda known: known.row.status in OPEN)
        if ref is None:
            return
        at = self.tick()
        self.stage.write(lambda tx: tx.end([(*decision, at, ref)]))
        before = self.known[ref]
        self.known[ref] = before.unready().with_row(
            status=decision[0], reason=decision[1], hold=None, ended_at=at, token=before.row.token + 1
        )

    @precondition(lambda self: self.known)
    @rule(place=PLACES, off_by=OFF_BY, outcome=OUTCOMES)
    def finish(self, place: int, off_by: int, outcome: Outcome) -> None:
        ref = self.chosen(place)
        assert ref is not None
        at = self.tick()
        before = self.known[ref]
        report = Finish(ref, before.row.token + off_by, outcome, at)

        accepted = self.stage.write(lambda tx: tx.finish([report]))

        assert accepted == (off_by == 0 and _is_in_hand(before))
        if accepted:
            self.known[ref] = before.with_row(**recorded(outcome), ended_at=at)

    @precondition(lambda self: self.known)
    @rule(outcome=OUTCOMES)
    def finish_all_or_none(self, outcome: Outcome) -> None:
        """As the settler does: one stale token, and all of it is undone."""
        at = self.tick()
        reports = [Finish(ref, known.row.token, outcome, at) for ref, known in self.known.items()]
        should = all(_is_in_hand(known) for known in self.known.values())

        def act(tx: SqlTransaction) -> None:
            if not tx.finish(reports):
                raise _UndoError

        try:
            self.stage.write(act)
        except _UndoError:
            assert not should
        else:
            assert should
            for ref, known in self.known.items():
                self.known[ref] = known.with_row(**recorded(outcome), ended_at=at)

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def lose(self, place: int) -> None:
        ref = self.chosen(place)
        assert ref is not None
        at = self.tick()
        before = self.known[ref]
        row = before.row
        self.stage.write(lambda tx: tx.lose([(row.losses + 1, TARGET, at, ref)]))
        if row.status == Status.RUNNING:
            lost = before.with_row(losses=row.losses + 1, worker=None, token=row.token + 1)
            self.known[ref] = lost._replace(ready_for=TARGET, ready_at=at)

    @precondition(lambda self: self.known)
    @rule(place=PLACES, order=st.sampled_from(Order))
    def tell(self, place: int, order: Order) -> None:
        ref = self.chosen(place, lambda known: known.row.status in OPEN)
        if ref is not None:
            self.stage.write(lambda tx: tx.tell([ref], order))
            self.known[ref] = self.known[ref].with_row(orders=self.known[ref].row.orders or order)

    @precondition(lambda self: self.known)
    @rule(place=PLACES, off_by=OFF_BY)
    def note_progress(self, place: int, off_by: int) -> None:
        ref = self.chosen(place)
        assert ref is not None
        row = self.known[ref].row
        text = str(self.tick())
        self.stage.write(lambda tx: tx.note_progress([(text, ref, row.token + off_by)]))
        if off_by == 0 and row.status == Status.RUNNING:
            self.known[ref] = self.known[ref].with_row(progress=text)

    @invariant()
    def the_ledger_is_what_is_known(self) -> None:
        found = self.stage.read(_everything)

        assert found == self.known
        for ref, known in found.items():
            assert known.row.token >= self.tokens.get(ref, 0)
            self.tokens[ref] = known.row.token
            assert self.ended.get(ref, known) == known
            if known.row.status in FINAL:
                self.ended[ref] = known

    @invariant()
    def every_view_shows_those_that_it_names(self) -> None:
        rows = [known.row for known in self.known.values()]
        open_rows = sorted((row for row in rows if row.status in OPEN), key=lambda row: row.nominal_at)
        running = [row for row in rows if row.status == Status.RUNNING]

        def act(tx: SqlTransaction) -> None:
            assert tx.open_runs(self.schedule) == open_rows
            assert tx.waiting(self.schedule, 100) == [
                row for row in open_rows if row.hold in (Hold.OVERLAP, Hold.PAUSED)
            ]
            assert tx.occupants(self.schedule) == [
                row for row in open_rows if row.occupies and row.hold in (None, Hold.RETRY)
            ]
            for worker in (1, 2, 3):
                assert sorted(tx.leased(worker)) == [
                    Leased(row.ref, row.token, row.orders) for row in running if row.worker == worker
                ]
            assert {row.ref for row in tx.ready(TARGET, self.moment, 100)} == {
                ref for ref, known in self.known.items() if known.ready_for is not None and known.ready_at is not None
            }

        self.stage.write(act)


def recorded(outcome: Outcome) -> dict[str, Any]:
    """What the row has of it."""
    return {name: value for name, value in outcome._asdict().items() if name != "question"}


def is_pending(known: Known) -> bool:
    return known.row.status == Status.PENDING


def a_row(ref: int, schedule: int, at: int) -> RunRow:
    """A pending run that just was recorded."""
    new = a_new_run(ref, schedule, at)._asdict()
    given = {name: value for name, value in new.items() if name in RunRow._fields}
    nothing: dict[str, Any] = dict.fromkeys(RunRow._fields)
    return RunRow(**nothing | given | {"token": 0, "losses": 0, "rounds": 0})


def _everything(tx: SqlTransaction) -> dict[int, Known]:
    readiness = {ref: ready for ref, *ready in tx._all("SELECT ref, ready_for, ready_at FROM runs")}
    return {row.ref: Known(row, *readiness[row.ref]) for row in tx.list_runs(RunFilter(limit=10_000))}


def drive(stage: Stage, examples: int, steps: int) -> None:
    machine = type("RunMachine", (RunMachine,), {"stage": stage})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=steps))


def test_whatever_happens_to_runs_on_sqlite_the_ledger_is_what_a_dictionary_says(shared_sqlite: Stage) -> None:
    drive(shared_sqlite, examples=30, steps=40)


def test_whatever_happens_to_runs_on_postgresql_the_ledger_is_what_a_dictionary_says(
    shared_postgresql: Stage,
) -> None:
    drive(shared_postgresql, examples=8, steps=40)
