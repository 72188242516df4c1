"""What people and programs are shown: schedules and runs with aware datetimes, words and parsed JSON."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from foliot.books.configurations import compiled, labels_in
from foliot.domain.backfill import Direction, Which
from foliot.domain.budgets import Budget, Window
from foliot.domain.delivery import RequestStage
from foliot.domain.errors import Invalid
from foliot.domain.generation import Timetable
from foliot.domain.grants import REFUSALS_UNTIL_ATTENTION, grant_id
from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.policies import Policies, read_policies
from foliot.domain.questions import AtExpiry, Verdict
from foliot.domain.runs import Hold, Kind, Reason, Status, decision_of
from foliot.domain.schedule import Standing, State
from foliot.domain.settlement import Outcome, read_outcome
from foliot.domain.slots import SlotKey, run_id, trace_id
from foliot.domain.spec import Spec
from foliot.rows import (
    AccountRow,
    BackfillRow,
    GrantRow,
    PostingRow,
    QuestionRow,
    ReceiptRow,
    RequestRow,
    RunRow,
    ScheduleRow,
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it stands."""

    id: str
    name: str
    app: str | None
    owner: str
    """The user who sees and changes it."""
    target: str
    canonical: str
    """Its spec in canonical form, as JSON."""
    policies: Policies
    input: Any
    labels: Mapping[str, str]
    memo: Any
    token: int
    """The conflict token: `replace` takes it, and every change raises it."""
    standing: Standing
    note: str | None
    """Why it is paused."""
    paused_by: str | None
    paused_until: datetime | None
    next_at: datetime | None
    """When its next slot is due that nobody has skipped; None when none is to come, or nobody knows."""
    swept_to: datetime
    running: int
    """Runs under way, of whatever kind."""
    held: int
    remaining: int | None
    grant: str
    """By whose permission it runs."""
    needs_attention: bool
    """It was not permitted to start, or had no budget left, three times in a row."""
    created_at: datetime
    updated_at: datetime

    @property
    def spec(self) -> Spec:
        return _spec(self.canonical)

    @property
    def paused(self) -> bool:
        return self.standing is Standing.PAUSED


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at a slot, a trigger or a slot of a backfill, and what became of it."""

    id: str
    schedule: str
    kind: Kind
    scheduled_for: datetime
    due_at: datetime
    attempt: int
    status: Status
    reason: Reason | None
    hold: Hold | None
    idempotency_key: str
    retry_of: str | None
    input: Any
    result: Any
    error: str | None
    progress: Any
    losses: int
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @property
    def trace_id(self) -> str:
        """Its trace, as W3C writes it."""
        return trace_id(self.id)

    @property
    def decision(self) -> str:
        """What was decided about it: start, hold, skip, miss or cancel."""
        return decision_of(self.status, self.reason, self.hold)


@dataclass(frozen=True, slots=True)
class Gap:
    """A long run of slots that nothing ran, and why."""

    first: datetime
    last: datetime
    size: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a schedule may cost within a span of time to come."""

    slots: int
    """No more than its limit leaves."""
    credits_each: int | None
    """The median of its last runs, else a guess for the model that its input names; None: nobody knows."""
    credits: int | None


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How much of a budget is used now: what is spent, reserved and left is all of it."""

    credits: int
    per: Window
    spent: int
    """What was charged within its span of time; to runs that are not over, whenever it was."""
    reserved: int
    """What is set aside besides, for runs that are not over, or of which the cost of a call is not known."""
    left: int
    """Below nothing when runs were charged with more than was set aside for them."""
    has_room: bool
    """Whether there is enough for a run that costs what the last ones did."""
    room_at: datetime | None
    """From when there is, if nothing else is spent; None when there is now, or when nobody can say."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission: whose it is, for what, and until when."""

    id: str
    user: str
    scopes: tuple[str, ...]
    expires_at: datetime | None
    revoked_at: datetime | None
    budget: Budget | None
    """How much what runs by it may cost."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays, and what there is."""

    user: str
    balance: int
    """Credits; what was used is charged whether it is there or not, so it may be below nothing."""
    limited: bool


@dataclass(frozen=True, slots=True)
class Posting:
    """A change of a balance."""

    kind: str
    amount: int
    balance_after: int
    reference: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """A billable call that a run made."""

    source: str
    reference: str
    unit: str
    model: str | None
    tokens: int | None
    cost: str | None
    """In USD, as it was reported."""
    credits: int | None
    """What was charged; None as long as nobody knows what it cost."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """What a run has asked, and what came of it."""

    kind: str
    data: Any
    who: tuple[str, ...]
    """Who may answer; empty: whoever can."""
    asked_at: datetime
    expires_at: datetime
    at_expiry: AtExpiry
    verdict: Verdict | None
    feedback: Any
    decided_by: str | None
    decision: str | None
    """The id of the decision."""
    closed_at: datetime | None
    """None while the run waits."""


@dataclass(frozen=True, slots=True)
class ExecutionRequest:
    """An execution that somebody outside has asked for."""

    key: str
    target: str
    caller: str
    grant: str
    run_id: str
    stage: RequestStage
    status: Status | None
    """What it came to, once it is done; of a start, how its run stands;"""
    reason: Reason | None
    """and why, if not well."""
    result: Any
    error: str | None
    verdict: Verdict | None
    """What a person has said about it, when it was held,"""
    decided_by: str | None
    """and who."""
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Backfill:
    """A backfill as it stands; a dry run has no number and lists its slots."""

    id: int | None
    schedule: str
    start: datetime
    end: datetime
    which: Which
    order: Direction
    concurrency: int
    slots: tuple[datetime, ...]
    """Of a dry run: what it would start now, the first 100,000 of it."""
    total: int | None
    """Of a dry run: how many that are; beyond 100,000 at most so many, since some may have run by then."""
    credits: int | None
    """Of a dry run: what they all may cost; None when nobody knows."""
    started: int
    running: int
    created_at: datetime
    ended_at: datetime | None
    """When all of its runs were over, or it was cancelled, or its schedule deleted: what had begun then may go on."""
    cancelled_at: datetime | None = None


def schedule_view(row: ScheduleRow, state: State, now: int, running: int, marked: Collection[int] = ()) -> Schedule:
    """A schedule with so many runs under way: its state counts only those that stand in the way of others.

    `marked` are the nominal times of slots to come that somebody has skipped.
    """
    standing = standing_of(row, state, now)
    is_paused = standing is Standing.PAUSED
    return Schedule(
        id=row.id,
        name=row.name,
        app=row.app,
        owner=row.owner,
        target=row.target_name,
        canonical=row.spec,
        policies=read_policies(row.policies),
        input=_parsed(row.input),
        labels=dict(labels_in(row.labels)),
        memo=_parsed(row.memo),
        token=row.version,
        standing=standing,
        note=row.pause_note if is_paused else None,
        paused_by=row.paused_by if is_paused else None,
        paused_until=_moment(state.pause_to) if is_paused else None,
        next_at=None if is_paused else _moment(_next_at(row, state, now, marked)),
        swept_to=moment_of(state.swept_to),
        running=running,
        held=state.held,
        remaining=state.remaining,
        grant=grant_id(row.grant_ref),
        needs_attention=state.refusals >= REFUSALS_UNTIL_ATTENTION,
        created_at=moment_of(row.created_at),
        updated_at=moment_of(row.updated_at),
    )


def grant_view(row: GrantRow) -> Grant:
    grant = row.grant
    return Grant(
        id=grant.id,
        user=grant.user,
        scopes=tuple(sorted(grant.scopes)),
        expires_at=_moment(grant.expires_at),
        revoked_at=_moment(grant.revoked_at),
        budget=grant.budget,
        created_at=moment_of(row.created_at),
    )


def account_view(row: AccountRow) -> Account:
    return Account(user=row.user, balance=row.balance, limited=bool(row.is_limited))


def posting_view(row: PostingRow) -> Posting:
    return Posting(row.kind, row.amount, row.balance_after, row.reference, moment_of(row.created_at))


def receipt_view(row: ReceiptRow) -> Receipt:
    named = (row.source, row.reference, row.unit, row.model, row.tokens, row.cost, row.credits)
    return Receipt(*named, moment_of(row.created_at))


def question_view(row: QuestionRow) -> Question:
    return Question(
        kind=row.kind,
        data=_parsed(row.data),
        who=row.who,
        asked_at=moment_of(row.asked_at),
        expires_at=moment_of(row.expires_at),
        at_expiry=AtExpiry(row.at_expiry),
        verdict=None if row.verdict is None else Verdict(row.verdict),
        feedback=_parsed(row.feedback),
        decided_by=row.decided_by,
        decision=row.decision,
        closed_at=_moment(row.closed_at),
    )


def request_view(row: RequestRow, run: RunRow | None) -> ExecutionRequest:
    """The request and what it came to. That of a start, which is done when it is accepted, its run says."""
    outcome = None if row.outcome is None else read_outcome(row.outcome)
    ended_at = row.ended_at
    if outcome is not None and outcome.status is Status.PENDING:
        outcome, ended_at = (None, None) if run is None else (_outcome_of(run), run.ended_at)
    return ExecutionRequest(
        key=row.key,
        target=row.target,
        caller=row.caller,
        grant=grant_id(row.grant_ref),
        run_id=row.run,
        stage=RequestStage(row.stage),
        status=None if outcome is None else outcome.status,
        reason=None if outcome is None else outcome.reason,
        result=None if outcome is None else _parsed(outcome.result),
        error=None if outcome is None else outcome.error,
        verdict=None if row.verdict is None else Verdict(row.verdict),
        decided_by=row.decided_by,
        created_at=moment_of(row.created_at),
        ended_at=_moment(ended_at),
    )


def _outcome_of(run: RunRow) -> Outcome:
    reason = None if run.reason is None else Reason(run.reason)
    return Outcome(Status(run.status), reason, run.result, run.error)


def standing_of(row: ScheduleRow, state: State, now: int) -> Standing:
    if row.deleted_at is not None:
        return Standing.DELETED
    if state.is_paused(now):
        return Standing.PAUSED
    is_over = state.remaining == 0 or (state.wake_at is None and not _is_manual(row.spec))
    return Standing.COMPLETED if is_over else Standing.ACTIVE


def _next_at(row: ScheduleRow, state: State, now: int, marked: Collection[int]) -> int | None:
    """When its next slot is due: when it is looked at next, unless that is now, or for one that is skipped."""
    wake_at = state.wake_at
    if wake_at is None or (wake_at > now and not marked):
        return wake_at
    try:
        timetable = Timetable(compiled(row.spec), row.id)
    except Invalid:
        # Its zone may be known elsewhere and not here.
        return wake_at
    after = state.swept_to if wake_at > now else now
    coming = timetable.walk(after // MICROSECONDS)
    return next((slot.due_at for slot in coming if slot.nominal_at not in marked), None)


def _is_manual(spec: str) -> bool:
    try:
        times = compiled(spec)
    except Invalid:
        # Its zone may be known elsewhere and not here.
        return bool(json.loads(spec)["manual"])
    return times.next_after(times.almanac.first - 1) is None


def run_view(row: RunRow, schedule_id: str, own_input: str | None) -> Run:
    key = SlotKey(schedule_id, Kind(row.kind), row.nominal_at, row.backfill)
    return Run(
        id=run_id(key, row.attempt),
        schedule=schedule_id,
        kind=Kind(row.kind),
        scheduled_for=moment_of(row.nominal_at),
        due_at=moment_of(row.due_at),
        attempt=row.attempt,
        status=Status(row.status),
        reason=None if row.reason is None else Reason(row.reason),
        hold=None if row.hold is None else Hold(row.hold),
        idempotency_key=str(key),
        retry_of=run_id(key, row.attempt - 1) if row.retry_of is not None else None,
        input=_parsed(row.input if row.input is not None else own_input),
        result=_parsed(row.result),
        error=row.error,
        progress=_parsed(row.progress),
        losses=row.losses,
        created_at=moment_of(row.created_at),
        started_at=_moment(row.started_at),
        ended_at=_moment(row.ended_at),
    )


def backfill_view(row: BackfillRow, schedule_id: str) -> Backfill:
    return Backfill(
        id=row.ref,
        schedule=schedule_id,
        start=moment_of(row.first * 1_000_000),
        end=moment_of(row.last * 1_000_000),
        which=Which(row.which),
        order=Direction(row.direction),
        concurrency=row.concurrency,
        slots=(),
        total=None,
        credits=None,
        started=row.started,
        running=row.running,
        created_at=moment_of(row.created_at),
        ended_at=_moment(row.ended_at),
        cancelled_at=_moment(row.cancelled_at),
    )


@lru_cache(maxsize=4096)
def _spec(text: str) -> Spec:
    return Spec.from_canonical(text)


def _moment(instant: int | None) -> datetime | None:
    return None if instant is None else moment_of(instant)


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)
