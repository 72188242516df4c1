"""The entries that a transaction is going to make, collected so that each kind is written in one batch."""

import json
from collections import Counter
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

from foliot.books.choosing import Choice
from foliot.books.configurations import Scheduled
from foliot.books.decided import DecidedSlot, fate_of
from foliot.books.permits import Allowance, Permits
from foliot.domain.admission import Applicant
from foliot.domain.budgets import Funds, Owner, set_aside
from foliot.domain.generation import Gap
from foliot.domain.notices import Notice
from foliot.domain.questions import Question
from foliot.domain.runs import Hold, Kind, OnUnknown, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.slots import Slot, SlotKey
from foliot.domain.trail import Deed, deed
from foliot.ports import Launch, Row, Transaction
from foliot.rows import RunRow

T = TypeVar("T")

_NOWHERE: Mapping[int, int] = {}

ReportDigest = Callable[[str, str], str | None]
"""Of a target and a run's id: by which the token is known of whoever reports later how it ended, if somebody does."""


def _nobody_reports(target: str, run_id: str) -> str | None:  # noqa: ARG001
    return None


class Crew:
    """Who would run what starts now: a worker with room for so many of each target, or nobody in particular."""

    __slots__ = ("_choice", "_holds", "_rooms", "_taken", "_unsettled", "report_digest", "waits", "worker")

    def __init__(
        self,
        worker: int = 0,
        rooms: Mapping[int, int] = _NOWHERE,
        holds: Container[int] = frozenset(),
        unsettled: Container[int] = frozenset(),
        report_digest: ReportDigest = _nobody_reports,
        choice: Choice | None = None,
    ) -> None:
        self.worker = worker
        self.report_digest = report_digest
        self.waits = False
        """Whether something was left until the worker has recorded what has ended."""
        self._holds = holds
        self._rooms = rooms
        self._taken = 0
        self._unsettled = unsettled
        self._choice = choice

    def room_for(self, target: int) -> int:
        """How many more runs of the target could start: none of one that the worker does not know."""
        return max(0, self._rooms.get(target, 0) - self._taken)

    def take(self) -> None:
        self._taken += 1

    def chosen(self, items: list[T], schedule_of: Callable[[T], int]) -> list[T]:
        """Those of the items that are worked on now: all of them, unless the engine has failed on one lately."""
        return items if self._choice is None else self._choice.among(items, schedule_of)

    def must_wait(self, state: State) -> bool:
        """Whether a run of the schedule is over and not recorded yet: nothing is in its way that is no more."""
        if not state.running or state.ref not in self._unsettled:
            return False
        self.waits = True
        return True

    def on_unknown(self, target: int) -> OnUnknown:
        """What the target wants done when nobody knows whether it was executed."""
        return OnUnknown.HOLD if target in self._holds else OnUnknown.REDELIVER


class Entries:
    """What is to be written, and what is to be launched once it is."""

    def __init__(self, tx: Transaction, crew: Crew, permits: Permits, audience: int | None = None) -> None:
        self.now = tx.now
        self.crew = crew
        self.permits = permits
        self.launches: list[Launch] = []
        self.recalls = False
        """Whether a worker, this one or another, must look again at the runs that it holds."""
        self.deeds: list[Deed] = []
        """What people and programs have asked for, and is done here."""
        self.look_at: int | None = 0
        """When workers have to look at what is written here: now, unless somebody knows better; None: never."""
        self.has_told = False
        """Whether something was written down for those who want to be told."""
        self._audience = audience
        """How many they are; None: it is asked when there is something to tell."""
        self._ask_audience = tx.audience
        self._verdicts: dict[int, DecidedSlot] = {}
        """By run, the last of them: what was only thought of before it is not told."""
        self._decided_gaps: list[DecidedSlot] = []
        self._next_ref = tx.next_ref
        self._started_new: list[Row] = []
        self._recorded: list[Row] = []
        self._gaps: list[Row] = []
        self._started: list[Row] = []
        self._ready: list[Row] = []
        self._held: list[Row] = []
        self._ended: list[Row] = []
        self._asked: list[Row] = []
        self._waits: list[Row] = []
        self._resumed: list[Row] = []
        self._withdrawn: list[int] = []
        self.decide_at: int | None = None
        """When the first of the questions that are asked here expires."""
        self._told: list[Row] = []
        self._reserved: list[Row] = []
        self._taken: Counter[tuple[Owner, int]] = Counter()
        self._moved: dict[int, State] = {}
        self._advanced: dict[int, State] = {}
        self._kept: dict[int, State] = {}
        self._freed: dict[int, State] = {}
        self._backfill_ends: Counter[int] = Counter()

    def note(self, action: str, kind: str, subject: str, **details: Any) -> None:
        """Somebody has done that to the subject: it is kept in the trail, with what is written here."""
        self.deeds.append(deed(action, kind, subject, details))

    @property
    def decided(self) -> list[DecidedSlot]:
        """What becomes of each run that does not start here, and why: told when all this is committed."""
        return [*self._decided_gaps, *self._verdicts.values()]

    @property
    def has_audience(self) -> bool:
        """Whether there is anybody who could want to be told something."""
        if self._audience is None:
            self._audience = self._ask_audience()
        return self._audience > 0

    def tell(self, schedule_ref: int, run_ref: int | None, notice: Notice | None) -> None:
        """Something happened to the schedule, or to that run of it, that may be told."""
        if notice is not None:
            data = json.dumps(notice.data, separators=(",", ":"))
            self._told.append((notice.event, schedule_ref, run_ref, self.now, data))

    def __len__(self) -> int:
        """Rows of the ledger that are to be inserted."""
        return len(self._started_new) + len(self._recorded)

    def write(self, tx: Transaction) -> None:
        """Write all of it, and be empty again but for the launches."""
        tx.start_new(self._started_new)
        tx.record(self._recorded)
        tx.record_gaps(self._gaps)
        tx.start(self._started)
        tx.make_ready(self._ready)
        tx.hold(self._held)
        tx.end(self._ended)
        tx.ask(self._asked)
        tx.wait(self._waits)
        tx.resume(self._resumed)
        if self._told:
            tx.announce(self._told)
            self.has_told = True
        if self._withdrawn:
            tx.close_questions_of(self._withdrawn)
        if self._reserved:
            tx.reserve(self._reserved)
            self._taken.clear()
        tx.move(self._moved.values())
        tx.advance(self._advanced.values())
        tx.keep(self._kept.values())
        tx.free(self._freed.values())
        for rows in (
            self._started_new,
            self._recorded,
            self._gaps,
            self._started,
            self._ready,
            self._held,
            self._ended,
            self._asked,
            self._waits,
            self._resumed,
            self._withdrawn,
            self._told,
            self._reserved,
        ):
            rows.clear()
        for states in (self._moved, self._advanced, self._kept, self._freed):
            states.clear()
        if self._backfill_ends:
            _note_ends(tx, self._backfill_ends)
            self._backfill_ends.clear()

    def start_slot(
        self,
        schedule: Scheduled,
        state: State,
        slot: Slot | Applicant,
        *,
        occupies: bool,
        kind: Kind = Kind.SLOT,
        backfill: int = 0,
        input: str | None = None,
    ) -> int:
        """A slot that starts as it is recorded; it waits for a worker when the crew has no room, or it has an input."""
        if input is not None or not self.crew.room_for(state.target):
            return self.record(
                schedule,
                slot,
                Status.PENDING,
                kind=kind,
                backfill=backfill,
                occupies=occupies,
                ready_for=state.target,
                ready_at=self.now,
                input=input,
            )
        self.crew.take()
        ref, now = self._next_ref(), self.now
        nominal_at, due_at = slot.nominal_at, slot.due_at
        counts = 1 if occupies else 0
        self._started_new.append(
            (
                ref,
                schedule.ref,
                nominal_at,
                due_at,
                kind,
                backfill,
                counts,
                schedule.grant_ref,
                self.crew.worker,
                schedule.version,
                now,
                now,
            )
        )
        self._launch(schedule, state, (ref, 1), kind, slot, (1, backfill), occupies, (None, None))
        return ref

    def allowance(self, tx: Transaction, schedule: Scheduled) -> Allowance:
        """What its budgets leave to the schedule, besides what is going to be written."""
        return self.permits.allowance(tx, schedule, self._taken)

    def reserve(self, ref: int, allowance: Allowance, funds: Funds, cost: int | None) -> Funds:
        """Set aside what the run may cost of each of the budgets that it is under; what is left of them then."""
        for owner, (left, _) in zip(allowance.owners, funds.lefts, strict=True):
            share = set_aside(left, cost)
            self._reserved.append((*owner, ref, self.now, share))
            self._taken[owner] += share
        return funds.less(cost)

    def start_run(self, schedule: Scheduled, state: State, run: RunRow, *, occupies: bool) -> None:
        """A run that has its row starts, or goes on, under a new token; or as soon as a worker has room."""
        self._verdicts.pop(run.ref, None)
        if not self.crew.room_for(state.target):
            self._ready.append((state.target, self.now, 1 if occupies else 0, run.ref))
            return
        self.crew.take()
        started_at = run.started_at if run.started_at is not None else self.now
        permitted = (schedule.grant_ref, schedule.version, started_at)
        self._started.append((self.crew.worker, 1 if occupies else 0, *permitted, run.ref))
        key, own = (run.attempt, run.backfill), (run.input, run.overlap)
        self._launch(schedule, state, (run.ref, run.token + 1), run.kind, run, key, occupies, own)
        was_begun = run.status == Status.RUNNING
        if run.rounds or was_begun:
            self.launches[-1] = self.launches[-1]._replace(rounds=run.rounds, was_begun=was_begun)

    def _launch(
        self,
        schedule: Scheduled,
        state: State,
        lease: tuple[int, int],
        kind: str,
        slot: Slot | Applicant | RunRow,
        key: tuple[int, int],
        occupies: bool,
        own: tuple[str | None, str | None],
    ) -> None:
        self.launches.append(
            Launch(
                *lease,
                schedule.ref,
                schedule.id,
                schedule.target,
                kind,
                slot.nominal_at,
                slot.due_at,
                *key,
                occupies,
                schedule.labels,
                schedule.input if own[0] is None else own[0],
                *own,
                schedule.policies.timeout,
                self.permits.grant_of(schedule),
                self.permits.changes,
                schedule.limits,
                state.last_result,
                state.last_failure,
            )
        )

    def record(
        self,
        schedule: Scheduled,
        slot: Slot | Applicant,
        status: Status,
        *,
        reason: Reason | None = None,
        hold: Hold | None = None,
        kind: Kind = Kind.SLOT,
        backfill: int = 0,
        attempt: int = 1,
        occupies: bool = False,
        overlap: str | None = None,
        ready_for: int | None = None,
        ready_at: int | None = None,
        retry_of: int | None = None,
        input: str | None = None,
    ) -> int:
        """A slot that does not start now, and why; or that waits for nothing but a worker."""
        ref = self._next_ref()
        ended_at = None if status is Status.PENDING else self.now
        if ready_at is None or ready_at > self.now:
            key = SlotKey(schedule.id, kind, slot.nominal_at, backfill)
            self._verdicts[ref] = DecidedSlot(fate_of(status, reason), key, attempt, status, reason or hold)
        self._recorded.append(
            (
                ref,
                schedule.ref,
                slot.nominal_at,
                slot.due_at,
                kind,
                backfill,
                attempt,
                status,
                reason,
                hold,
                1 if occupies else 0,
                overlap,
                ready_for,
                ready_at,
                retry_of,
                schedule.version,
                self.now,
                ended_at,
                input,
            )
        )
        return ref

    def record_gap(self, schedule: Scheduled, gap: Gap) -> None:
        self._gaps.append((schedule.ref, *gap, self.now))
        key = SlotKey(schedule.id, Kind.SLOT, gap.first_at, 0)
        fate = fate_of(Status.SKIPPED, gap.reason)
        self._decided_gaps.append(DecidedSlot(fate, key, 1, Status.SKIPPED, gap.reason, gap.size))

    def hold_run(self, schedule_id: str, run: RunRow, hold: Hold) -> None:
        self._held.append((hold, run.ref))
        self.decide(schedule_id, run, Status.PENDING, hold)

    def end_run(self, schedule_id: str, run: RunRow, status: Status, reason: Reason | None) -> None:
        """A run that is over by decision."""
        self._ended.append((status, reason, self.now, run.ref))
        self.decide(schedule_id, run, status, reason)

    def decide(self, schedule_id: str, run: Launch | RunRow, status: Status, why: Reason | Hold | None = None) -> None:
        """What becomes of a run that has its row: told when all this is committed, unless something else follows."""
        key = SlotKey(schedule_id, Kind(run.kind), run.nominal_at, run.backfill)
        self._verdicts[run.ref] = DecidedSlot(fate_of(status, why), key, run.attempt, status, why)

    def stop_run(self, schedule_id: str, run: RunRow, reason: Reason) -> None:
        """An open run that is cancelled by decision: whatever it has asked needs no answer any more."""
        self.end_run(schedule_id, run, Status.CANCELLED, reason)
        if run.status == Status.WAITING:
            self._withdrawn.append(run.ref)

    def ask(self, schedule_id: str, run: Launch | RunRow, token: int, question: Question) -> None:
        """The run waits to be told something; under that token nobody holds it."""
        self.decide(schedule_id, run, Status.WAITING)
        expires_at = self.now + question.expires_in
        self.decide_at = expires_at if self.decide_at is None else min(self.decide_at, expires_at)
        who = json.dumps(question.who)
        written = (question.kind, question.data, who, question.reference, self.now, expires_at, question.at_expiry)
        self._asked.append((run.ref, run.schedule_ref, run.rounds + 1, *written))
        self._waits.append((token, run.ref))

    def resume_run(self, ref: int, target: int) -> None:
        """A run that was answered: it keeps its place, and waits for nothing but a worker."""
        self._resumed.append((target, self.now, ref))

    def end_of_backfill_run(self, backfill: int) -> None:
        """The last attempt at one of its slots is over: the next may start."""
        self._backfill_ends[backfill] += 1

    def move(self, state: State) -> None:
        """The schedule's cursor, pause or wake-up has changed."""
        ref = state.ref
        for less in (self._advanced, self._kept, self._freed):
            less.pop(ref, None)
        self._moved[ref] = state

    def advance(self, state: State) -> None:
        """One slot has started, nothing else has changed: cursor, wake-up and number of runs."""
        ref = state.ref
        if ref in self._moved or ref in self._kept or ref in self._freed:
            self.move(state)
        else:
            self._advanced[ref] = state

    def keep(self, state: State) -> None:
        """Only the schedule's counts have changed."""
        ref = state.ref
        if ref in self._moved or ref in self._advanced:
            self.move(state)
        else:
            self._freed.pop(ref, None)
            self._kept[ref] = state

    def free(self, state: State) -> None:
        """Only the number of its runs has changed."""
        ref = state.ref
        if ref in self._moved or ref in self._advanced or ref in self._kept:
            self.keep(state)
        else:
            self._freed[ref] = state


def _note_ends(tx: Transaction, ends: Counter[int]) -> None:
    for backfill in tx.backfills(ends):
        running = backfill.running - ends[backfill.ref]
        wake_at = tx.now if backfill.ended_at is None else None
        tx.save_backfill(backfill._replace(running=running, wake_at=wake_at))
