"""Requests from outside: each is executed once under its key, and answered from memory after that.

Where the worker executes a run itself, the run's row is the record; a request has a row of its own. What a record
means is decided in one place for both: `domain/delivery`.
"""

import asyncio
import json
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from foliot.domain.budgets import RECENT, Owner, set_aside, starts_within, taken_to_cost
from foliot.domain.credits import Pricing
from foliot.domain.delivery import (
    Delivery,
    InProgress,
    KeyReused,
    RequestStage,
    Stage,
    delivery_of,
    payload_hash,
    stage_of_request,
    stage_of_run,
)
from foliot.domain.errors import Conflict, Denied, Invalid, Unavailable
from foliot.domain.grants import LOCAL, Grant, grant_id, read_grant_id, refusal_of
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import count_of, read_policies
from foliot.domain.questions import question_shown
from foliot.domain.runs import Kind, OnUnknown, Reason, Status
from foliot.domain.schedule import json_text, target_of, text_of, user_of
from foliot.domain.settlement import STOPPED_ITSELF, Outcome, outcome_text, read_outcome
from foliot.domain.slots import SlotKey, read_run_id, trace_id
from foliot.execution.bounds import STOPS_WITHIN, Bounds, bounds_in, in_time
from foliot.execution.gate import LocalGate
from foliot.execution.records import Records
from foliot.execution.till import can_be_paid
from foliot.ports import Control, Launch, Outside, Transaction
from foliot.rows import RequestRow, RunRow

LEASE = 30.0
"""Seconds for which an execution is taken for alive without a word of it."""
_BEATS = 3
"""So often within a lease."""
_ASK_AGAIN = 1.0
_ASKS = Outcome(
    Status.ERROR,
    Reason.INVALID_REQUEST,
    error="it asks a person, and no run is there to wait for the answer: schedule or trigger it",
)
_LONGEST_KEY = 300


class Wanted(NamedTuple):
    """What somebody outside wants executed."""

    key: str
    target: str
    grant: int
    input: str | None
    run_id: str
    attempt: int
    caller: str
    bounds: Bounds = Bounds()
    is_local: bool = False
    """Nobody has said by which grant: it is the local one of now."""

    @property
    def hash(self) -> str:
        """The same for the same thing to execute, whoever asks and however long they would wait for it."""
        return payload_hash(self.target, str(self.grant), self.input, self.run_id, str(self.attempt))


@dataclass(frozen=True, slots=True)
class Executed:
    """What an execution came to."""

    ok: bool
    status: str
    error_code: str | None
    """Why, when it did not go well: one of the reasons."""
    run_id: str
    trace_id: str
    result: Any
    error: str | None
    """What went wrong, for people."""
    question: Any
    """What it has asked, when it waits for a person."""


class _Taken(NamedTuple):
    """A request that is ours to execute."""

    ref: int
    token: int
    launch: Launch


def wanted_of(
    target: str, given: Any, *, key: str, grant: str, run_id: str | None, attempt: int, caller: str, bounds: Bounds
) -> Wanted:
    """A request as callers make it; Invalid unless it could be carried out."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise Invalid(f"an idempotency key takes printable text of 1 to {_LONGEST_KEY} characters, got {key!r}")
    if count_of("attempt", attempt) is None:
        raise Invalid("attempt takes a whole number, got None")
    name = f"request-{payload_hash(key)[:16]}" if run_id is None else text_of("run_id", run_id)
    if not name:
        raise Invalid(f"run_id takes the name of a run, got {run_id!r}")
    return Wanted(
        key,
        target_of(target),
        read_grant_id(grant),
        json_text("input", given),
        name,
        attempt,
        user_of(caller, "caller"),
        bounds,
    )


def _is_same(tx: Transaction, row: RequestRow, wanted: Wanted) -> bool:
    """Whether that was asked for before; who names no grant may have had another local one then."""
    if row.hash == wanted.hash or not wanted.is_local:
        return row.hash == wanted.hash
    was_local = any(known.is_shared and known.grant.user == LOCAL for known in tx.grants([row.grant_ref]))
    return was_local and row.hash == wanted._replace(grant=row.grant_ref).hash


class Requests:
    """Executes what is asked for from outside, through the gate that everything goes through."""

    def __init__(self, records: Records, gate: LocalGate, pricing: Pricing, owner: str) -> None:
        self._records = records
        self._gate = gate
        self._pricing = pricing
        self._owner = owner
        """The process that executes them."""
        self._under_way: dict[asyncio.Task[Executed], Future[None]] = {}
        """On whatever loop, and what its end is told to others by."""

    async def execute(self, wanted: Wanted) -> Executed:
        """What it comes to, or has come to before. InProgress while somebody else is at it; Denied, NotFound and
        KeyReused leave no trace. Once begun it goes on, also when nobody waits for it any more.
        """
        task = asyncio.get_running_loop().create_task(self._execute(wanted))
        self._under_way[task] = Future()
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise Unavailable(f"{wanted.key!r} was cut off, for its program stops: ask again in a while") from None
            raise

    def _ended(self, task: asyncio.Task[Executed]) -> None:
        self._under_way.pop(task).set_result(None)

    async def finish(self, within: float) -> None:
        """Let what is under way end, on whatever loop, for so many seconds; the rest is cut off.

        That has its lease until it runs out: nobody knows before then that it will come to nothing.
        """
        await self._all_ended(within)
        for task in list(self._under_way):
            # Its loop may be no more.
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)
        await self._all_ended(STOPS_WITHIN)

    async def _all_ended(self, within: float) -> None:
        ends = [asyncio.wrap_future(end) for end in list(self._under_way.values())]
        if ends:
            await asyncio.wait(ends, timeout=within)

    async def _execute(self, wanted: Wanted) -> Executed:
        on_unknown = self._gate.find(wanted.target)
        taken = await self._records.write(lambda tx: self._take(tx, wanted, on_unknown))
        if isinstance(taken, Outcome):
            return _shown(wanted, taken)
        if taken is None:
            raise _held(wanted.key)
        return await self._perform(wanted, taken)

    def _take(self, tx: Transaction, wanted: Wanted, on_unknown: OnUnknown) -> _Taken | Outcome | None:
        """It is ours, or was done before, or is held for a person (None)."""
        told = self._of_its_run(tx, wanted)
        if told is not None:
            return told
        row = tx.request(wanted.key)
        stage = Stage.NEW if row is None else self._stage(row, tx.now)
        match delivery_of(stage, on_unknown, is_same=row is None or _is_same(tx, row, wanted)):
            case Delivery.REFUSE:
                raise KeyReused(f"the key {wanted.key!r} was used for something else: give this request its own")
            case Delivery.ANSWER:
                assert row is not None
                return read_outcome(row.outcome or "")
            case Delivery.WAIT:
                raise InProgress(f"{wanted.key!r} is being executed: ask again", _ASK_AGAIN)
            case Delivery.ASK:
                assert row is not None
                tx.hold_request(row.ref)
                return None
            case Delivery.EXECUTE | Delivery.REDELIVER:
                return self._begin(tx, wanted, row)

    def _of_its_run(self, tx: Transaction, wanted: Wanted) -> Outcome | None:
        """What the row of the run says that the request is about: it is the record, unless its worker is who asks."""
        slot, run = _run_of(tx, wanted)
        if slot is None or run is None:
            return None
        schedule = tx.schedule(slot.schedule_id)
        assert schedule is not None, "a run has a schedule"
        if (wanted.target, wanted.grant, wanted.attempt) != (schedule.target_name, schedule.grant_ref, run.attempt):
            theirs = f"{schedule.target_name} by {grant_id(schedule.grant_ref)}, attempt {run.attempt}"
            raise Denied(f"run {wanted.run_id} is {theirs}: ask for just that, or give the request a name of its own")
        stage = stage_of_run(Status(run.status), has_worker=run.worker is not None)
        if delivery_of(stage, OnUnknown.REDELIVER) is Delivery.ANSWER:
            reason = None if run.reason is None else Reason(run.reason)
            return Outcome(Status(run.status), reason, run.result, run.error)
        if run.worker is None or tx.worker_name(run.worker) != wanted.caller:
            raise InProgress(
                f"run {wanted.run_id} is its worker's to execute: ask again for what it came to", _ASK_AGAIN
            )
        return None

    def _stage(self, row: RequestRow, now: int) -> Stage:
        # On a database of one process, whoever else held a lease is gone.
        is_ours = row.owner == self._owner or not self._records.database.is_local
        return stage_of_request(RequestStage(row.stage), is_alive=row.lease_until > now and is_ours)

    def _begin(self, tx: Transaction, wanted: Wanted, row: RequestRow | None) -> _Taken:
        slot, run = _run_of(tx, wanted)
        run_ref = None if run is None else run.ref
        # What its receipts call it; one that is new has none.
        billed_as = run_ref or (0 if row is None else -row.ref)
        grant = self._permitted(tx, wanted, billed_as)
        if row is None and run is None:
            self._gate.check_request(tx, wanted.target, wanted.input)
        until = tx.now + round(LEASE * MICROSECONDS)
        if row is None:
            ref = tx.insert_request(self._row(wanted, run_ref, until, tx.now))
            if ref is None:
                raise InProgress(f"{wanted.key!r} has just been begun: ask again", _ASK_AGAIN)
            token = 1
        else:
            ref, token = row.ref, row.token + 1
            tx.take_request(ref, token, self._owner, until)
        if run_ref is None and row is None:
            self._reserve(tx, grant, wanted, -ref)
        return _Taken(ref, token, _launch(tx, wanted, grant, slot, -ref if run_ref is None else run_ref, token))

    def _row(self, wanted: Wanted, run_ref: int | None, until: int, now: int) -> RequestRow:
        return RequestRow(
            ref=0,
            key=wanted.key,
            hash=wanted.hash,
            target=wanted.target,
            caller=wanted.caller,
            grant_ref=wanted.grant,
            run=wanted.run_id,
            attempt=wanted.attempt,
            run_ref=run_ref,
            stage=RequestStage.IN_PROGRESS,
            owner=self._owner,
            token=1,
            lease_until=until,
            verdict=None,
            decided_by=None,
            outcome=None,
            created_at=now,
            ended_at=None,
        )

    def _permitted(self, tx: Transaction, wanted: Wanted, run_ref: int) -> Grant:
        rows = tx.grants([wanted.grant])
        refusal = refusal_of(rows[0].grant if rows else None, wanted.target, tx.now)
        if refusal is not None:
            words = f"{wanted.target} may not be executed by {grant_id(wanted.grant)}: {refusal}"
            raise Denied(f"{words}: `grants.create` makes one that allows it")
        grant = rows[0].grant
        account = tx.account(grant.account)
        estimate = self._pricing.estimate(wanted.input)
        if estimate and not can_be_paid(tx, account, run_ref, estimate):
            has = f"{account.user} has {account.balance:,} credits, and it may cost {estimate:,}"
            raise Denied(f"{wanted.target} cannot be paid for: {has}: {Reason.INSUFFICIENT_CREDITS}")
        return grant

    def _reserve(self, tx: Transaction, grant: Grant, wanted: Wanted, ref: int) -> None:
        """Set aside what it may cost of the grant's budget; Denied when that has nothing left."""
        if grant.budget is None:
            return
        tx.hold_grant(grant.ref)
        spent = tx.spent_since(Owner.GRANT, grant.ref, grant.budget.begins_at(tx.now))
        left = grant.budget.credits - spent
        past = self._pricing.past_cost(tx.recent_spendings(Owner.GRANT, grant.ref, RECENT), None, wanted.input)
        cost = taken_to_cost(past, self._pricing.guess(wanted.input), left, is_untouched=spent == 0)
        if starts_within(left, cost) == 0:
            raise Denied(f"the budget of {grant.id} has {left:,} credits left, not enough: {Reason.OVER_BUDGET}")
        tx.reserve([(Owner.GRANT, grant.ref, ref, tx.now, set_aside(left, cost))])

    async def _perform(self, wanted: Wanted, taken: _Taken) -> Executed:
        control = Control()
        try:
            outcome = await self._came_to(wanted, taken, control)
        except BaseException:
            if not control.is_begun:
                # Whoever asks next may have it.
                with suppress(Unavailable):
                    await self._records.write(lambda tx: tx.release_request(taken.ref, taken.token))
            raise
        if outcome.question is not None and taken.launch.outside is not None:
            outcome = _ASKS
        if not await self._finish(taken, outcome):
            raise _taken_over(wanted.key)
        return _shown(wanted, outcome)

    async def _came_to(self, wanted: Wanted, taken: _Taken, control: Control) -> Outcome:
        executing = asyncio.ensure_future(self._gate.execute(taken.launch, control))
        beating = asyncio.ensure_future(self._beat(taken, control, executing))
        try:
            return await in_time(executing, taken.launch.timeout, control)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                # What a thread of it does from here on does not count, and it may find out.
                control.fenced = True
                raise
            if control.fenced:
                raise _taken_over(wanted.key) from None
            return STOPPED_ITSELF
        finally:
            beating.cancel()

    async def _beat(self, taken: _Taken, control: Control, executing: asyncio.Future[Outcome]) -> None:
        """Stay alive in the eyes of others; stop when they have taken over."""
        while True:
            await asyncio.sleep(LEASE / _BEATS)
            with suppress(Unavailable):
                if not await self._records.write(lambda tx: self._renew(tx, taken)):
                    control.fenced = True
                    executing.cancel()
                    return

    def _renew(self, tx: Transaction, taken: _Taken) -> bool:
        return tx.renew_request(taken.ref, taken.token, tx.now + round(LEASE * MICROSECONDS))

    async def _finish(self, taken: _Taken, outcome: Outcome) -> bool:
        """Keep what it came to, however long the database is away; False when it is no longer ours to say."""
        written = outcome_text(outcome)
        return await self._records.write_surely(
            lambda tx: tx.finish_request(taken.ref, taken.token, written), f"the outcome of {taken.launch.target}"
        )


def _run_of(tx: Transaction, wanted: Wanted) -> tuple[SlotKey | None, RunRow | None]:
    """The slot and the row of the run that the request is about, where this database has it."""
    try:
        key, attempt = read_run_id(wanted.run_id)
    except Invalid:
        return None, None
    row = tx.schedule(key.schedule_id)
    run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
    return (None, None) if run is None else (key, run)


def _launch(tx: Transaction, wanted: Wanted, grant: Grant, slot: SlotKey | None, ref: int, token: int) -> Launch:
    bounds = wanted.bounds if slot is None else wanted.bounds.within(_bounds_of_runs(tx, slot))
    return Launch(
        ref=ref,
        token=token,
        schedule_ref=0,
        schedule_id="" if slot is None else slot.schedule_id,
        target=wanted.target,
        kind=Kind.MANUAL if slot is None else slot.kind,
        nominal_at=tx.now if slot is None else slot.nominal_at,
        due_at=tx.now,
        attempt=wanted.attempt,
        backfill=0 if slot is None else slot.backfill,
        occupies=False,
        labels={},
        input=wanted.input,
        own_input=None,
        overlap=None,
        timeout=bounds.timeout,
        grant=grant,
        grants_seen=tx.news(0).grants,
        limits=bounds.limits,
        result_of=None,
        failure_of=None,
        outside=Outside(wanted.run_id, wanted.key) if slot is None else None,
    )


def _bounds_of_runs(tx: Transaction, slot: SlotKey) -> Bounds:
    schedule = tx.schedule(slot.schedule_id)
    assert schedule is not None, "a run has a schedule"
    return bounds_in(read_policies(schedule.policies))


def _shown(wanted: Wanted, outcome: Outcome) -> Executed:
    return Executed(
        ok=outcome.status == "success",
        status=str(outcome.status),
        error_code=None if outcome.reason is None else str(outcome.reason),
        run_id=wanted.run_id,
        trace_id=trace_id(wanted.run_id),
        result=None if outcome.result is None else json.loads(outcome.result),
        error=outcome.error,
        question=None if outcome.question is None else question_shown(outcome.question),
    )


def _held(key: str) -> Conflict:
    return Conflict(
        f"nobody knows whether {key!r} was executed before its owner was gone: `requests.decide` says what to do"
    )


def _taken_over(key: str) -> Conflict:
    return Conflict(f"the execution of {key!r} was taken over by another: ask again for what it came to")
