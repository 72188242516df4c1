"""Requests from outside: each is executed once under its key, and answered from memory after that.

Where the worker executes a run itself, the run's row is the record; a request has a row of its own. What a record
means is decided in one place for both: `domain/delivery`.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from foliot.domain.credits import Pricing
from foliot.domain.delivery import (
    CutOff,
    Delivery,
    InProgress,
    KeyReused,
    RequestStage,
    Stage,
    delivery_of,
    gate_key,
    stage_of_request,
    stage_of_run,
)
from foliot.domain.errors import Conflict, Denied, NotFound, Unavailable
from foliot.domain.grants import grant_id
from foliot.domain.instants import MICROSECONDS
from foliot.domain.questions import about_unknown_outcome, question_shown
from foliot.domain.runs import FINAL, OnUnknown, Order, Reason, Status
from foliot.domain.settlement import BY_ORDER, STOPPED_ITSELF, Outcome, outcome_text, read_outcome
from foliot.domain.slots import run_id, trace_id
from foliot.execution.admittance import admitted, reserve
from foliot.execution.bounds import STOPS_WITHIN, in_time
from foliot.execution.context import slot_of
from foliot.execution.gate import LocalGate
from foliot.execution.launches import KnownRun, known_run, launch_of_request, launch_of_run
from foliot.execution.records import Records
from foliot.execution.wanted import Wanted, is_same
from foliot.ports import Control, Launch, Outside, Transaction
from foliot.rows import RequestRow

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


class UnderWay(NamedTuple):
    """What is told of an execution that has not come to anything yet."""

    progress: str | None
    """The latest that it reported, as JSON."""


class _AtWork(NamedTuple):
    """An execution in this process, and how to have it look at what the ledger says of its run."""

    control: Control
    loop: asyncio.AbstractEventLoop
    look: asyncio.Event


class _Taken(NamedTuple):
    """A request that is ours to execute."""

    ref: int
    token: int
    launch: Launch


class Requests:
    """Executes what is asked for from outside, through the gate that everything goes through."""

    def __init__(self, records: Records, gate: LocalGate, pricing: Pricing, owner: str) -> None:
        self._records = records
        self._gate = gate
        self._pricing = pricing
        self._owner = owner
        """The process that executes them."""
        self._under_way: dict[asyncio.Task[Outcome], Future[None]] = {}
        """On whatever loop, and what its end is told to others by."""
        self._at_work: dict[str, _AtWork] = {}
        """By key."""

    async def execute(self, wanted: Wanted) -> Executed:
        """What `carry_out` comes to, as callers are told."""
        return _shown(wanted, await self.carry_out(wanted))

    async def carry_out(self, wanted: Wanted, begun: Callable[[], None] | None = None) -> Outcome:
        """What it comes to, or has come to before. InProgress while somebody else is at it; Denied, NotFound and
        KeyReused leave no trace. Once begun it goes on, also when nobody waits for it any more.

        `begun` is called when it is on record that it is being executed.
        """
        task = asyncio.get_running_loop().create_task(self._carry_out(wanted, begun))
        self._under_way[task] = Future()
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise CutOff(f"{wanted.key!r} was cut off, for its program stops: ask again in a while") from None
            raise

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
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

    def recall(self) -> None:
        """Somebody was told to stop: see whether it is a run that is executed here. Safe from any thread."""
        for work in list(self._at_work.values()):
            with suppress(RuntimeError):
                work.loop.call_soon_threadsafe(work.look.set)

    def progress_of(self, key: str) -> str | None:
        """The latest that an execution in this process has reported, as JSON."""
        work = self._at_work.get(key)
        return None if work is None else work.control.progress

    async def look(self, run_id: str, key: str | None) -> Outcome | UnderWay:
        """What is known of an execution, without having anything executed: under that key, or the last of that run."""
        return await self._records.read(lambda tx: self._look(tx, run_id, key))

    def _look(self, tx: Transaction, run_id: str, key: str | None) -> Outcome | UnderWay:
        rows = [row for row in tx.requests_of_run(run_id) if key in (None, row.key)]
        outcome = read_outcome(rows[-1].outcome) if rows and rows[-1].outcome else None
        if outcome is not None and outcome.status is not Status.PENDING:
            return outcome
        if rows and outcome is None:
            if self._stage(rows[-1], tx.now) is not Stage.UNDER_WAY:
                raise Conflict(f"nobody is at {rows[-1].key!r} any more: ask for it again under that key")
            return UnderWay(self.progress_of(rows[-1].key))
        # What was only started here, or never asked for, is what its run came to.
        run = known_run(tx, run_id) if key is None or rows else None
        if run is None:
            raise NotFound(f"nobody has asked for {run_id!r}: ask for it to be executed first")
        return _outcome_of(run) if run.row.status in FINAL else UnderWay(run.row.progress)

    async def _carry_out(self, wanted: Wanted, begun: Callable[[], None] | None) -> Outcome:
        on_unknown = self._on_unknown(wanted.target)
        taken = await self._records.write(lambda tx: self._take(tx, wanted, on_unknown))
        if isinstance(taken, Outcome):
            return taken
        if taken is None:
            raise _held(wanted.key)
        if begun is not None:
            begun()
        return await self._perform(wanted, taken)

    def _on_unknown(self, target: str) -> OnUnknown | NotFound:
        """That nobody here runs it is no matter for what was done before."""
        try:
            return self._gate.find(target)
        except NotFound as refusal:
            return refusal

    def _take(self, tx: Transaction, wanted: Wanted, on_unknown: OnUnknown | NotFound) -> _Taken | Outcome | None:
        """It is ours, or was done before, or is held for a person (None)."""
        run = known_run(tx, wanted.run_id)
        told = None if run is None else _told_by(tx, wanted, run)
        if told is not None:
            return told
        row = tx.request(wanted.key)
        stage = self._stage_of(tx, wanted, row, run)
        policy = OnUnknown.REDELIVER if isinstance(on_unknown, NotFound) else on_unknown
        delivery = delivery_of(stage, policy, is_same=row is None or is_same(tx, row, wanted))
        if isinstance(on_unknown, NotFound) and delivery in (Delivery.EXECUTE, Delivery.REDELIVER):
            raise on_unknown
        if run is not None and run.row.orders is not None and delivery in (Delivery.EXECUTE, Delivery.REDELIVER):
            # Nobody is at it, and somebody wants it to stop.
            return BY_ORDER[Order(run.row.orders)]
        match delivery:
            case Delivery.REFUSE:
                raise KeyReused(f"the key {wanted.key!r} was used for something else: give this request its own")
            case Delivery.ANSWER:
                assert row is not None
                return read_outcome(row.outcome or "")
            case Delivery.WAIT:
                raise InProgress(f"{wanted.key!r} is being executed: ask again", _ASK_AGAIN)
            case Delivery.ASK:
                return self._ask(tx, wanted, row, run)
            case Delivery.EXECUTE | Delivery.REDELIVER:
                return self._begin(tx, wanted, row, run)

    def _stage_of(self, tx: Transaction, wanted: Wanted, row: RequestRow | None, run: KnownRun | None) -> Stage:
        if row is not None:
            return self._stage(row, tx.now)
        # A worker that executes by itself leaves no record here.
        return Stage.ABANDONED if run is not None and wanted.was_begun else Stage.NEW

    def _stage(self, row: RequestRow, now: int) -> Stage:
        # On a database of one process, whoever else held a lease is gone.
        is_ours = row.owner == self._owner or not self._records.database.is_local
        return stage_of_request(RequestStage(row.stage), is_alive=row.lease_until > now and is_ours)

    def _ask(self, tx: Transaction, wanted: Wanted, row: RequestRow | None, run: KnownRun | None) -> Outcome | None:
        """Nobody knows whether it was executed, and a person is asked: about a run by the run itself, which waits."""
        if run is None:
            assert row is not None, "what is new is not asked about"
            tx.hold_request(row.ref)
            return None
        if row is None:
            ref = tx.insert_request(self._row(wanted, run.row.ref, tx.now, tx.now))
            if ref is None:
                raise InProgress(f"{wanted.key!r} has just been begun: ask again", _ASK_AGAIN)
        else:
            ref = row.ref
        return self._asked(tx, ref, 1 if row is None else row.token, wanted.target, run)

    def _asked(self, tx: Transaction, ref: int, token: int, target: str, run: KnownRun) -> Outcome:
        """The run waits to be told whether it is delivered once more; whoever may still be at it is fenced."""
        digest = self._gate.report_digest(target, run_id(run.slot, run.row.attempt))
        outcome = Outcome(Status.WAITING, question=about_unknown_outcome(run.row.losses, digest))
        tx.take_request(ref, token + 1, self._owner, tx.now)
        tx.finish_request(ref, token + 1, outcome_text(outcome))
        return outcome

    def told_before(self, tx: Transaction, launch: Launch) -> Outcome | None:
        """What was recorded of a run that a worker of this process takes from one who had asked here; None: nothing.

        InProgress while it is executed; where its executor is gone too, a person is asked, or it is begun once more.
        """
        slot = slot_of(launch)
        row, run = tx.request(gate_key(str(slot), launch.attempt, launch.rounds)), None
        if row is not None:
            run = known_run(tx, run_id(slot, launch.attempt))
        if row is None or run is None:
            return None
        match delivery_of(self._stage(row, tx.now), self._gate.on_unknown(launch.target)):
            case Delivery.ANSWER:
                return read_outcome(row.outcome or "")
            case Delivery.WAIT:
                raise InProgress(f"{row.key!r} is being executed for another worker", _ASK_AGAIN)
            case Delivery.ASK:
                return self._asked(tx, row.ref, row.token, launch.target, run)
            case _:
                # Whoever may still be at it is fenced.
                tx.take_request(row.ref, row.token + 1, self._owner, tx.now)
                return None

    def _begin(self, tx: Transaction, wanted: Wanted, row: RequestRow | None, run: KnownRun | None) -> _Taken:
        run_ref = None if run is None else run.row.ref
        # What its receipts call it; one that is new has none.
        billed_as = run_ref or (0 if row is None else -row.ref)
        grant = admitted(tx, self._pricing, wanted.grant, wanted.target, wanted.input, billed_as)
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
            reserve(tx, self._pricing, grant, wanted.input, -ref)
        what = (wanted.target, wanted.input, grant, wanted.bounds)
        if run is not None:
            return _Taken(ref, token, launch_of_run(tx, run, *what, token))
        names = Outside(wanted.run_id, wanted.key)
        return _Taken(ref, token, launch_of_request(tx, names, *what, wanted.attempt, -ref, token))

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

    async def _perform(self, wanted: Wanted, taken: _Taken) -> Outcome:
        work = _AtWork(Control(), asyncio.get_running_loop(), asyncio.Event())
        control = work.control
        self._at_work[wanted.key] = work
        try:
            outcome = await self._came_to(wanted, taken, work)
        except BaseException:
            if not control.is_begun:
                # Whoever asks next may have it.
                with suppress(Unavailable):
                    await self._records.write(lambda tx: tx.release_request(taken.ref, taken.token))
            raise
        finally:
            if self._at_work.get(wanted.key) is work:
                del self._at_work[wanted.key]
        if outcome.question is not None and taken.launch.outside is not None:
            outcome = _ASKS
        if control.order is not None and outcome.status in (Status.ERROR, Status.WAITING):
            # It was asked to stop, and fell over in doing so, or would wait for somebody instead.
            outcome = BY_ORDER[control.order]._replace(error=outcome.error)
        if not await self._finish(taken, outcome):
            raise _taken_over(wanted.key)
        return outcome

    async def _came_to(self, wanted: Wanted, taken: _Taken, work: _AtWork) -> Outcome:
        control = work.control
        executing = asyncio.ensure_future(self._gate.execute(taken.launch, control))
        beating = asyncio.ensure_future(self._beat(taken, work, executing))
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
            return STOPPED_ITSELF if control.order is None else BY_ORDER[control.order]
        finally:
            beating.cancel()

    async def _beat(self, taken: _Taken, work: _AtWork, executing: asyncio.Future[Outcome]) -> None:
        """Stay alive in the eyes of others; stop when they have taken over, or somebody wants the run to stop."""
        control = work.control
        while True:
            # Not by `wait_for`: it loses that this task was cancelled when a look is wanted in the same moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(LEASE / _BEATS):
                    await work.look.wait()
            work.look.clear()
            with suppress(Unavailable):
                is_ours, order = await self._records.write(lambda tx: self._renew(tx, taken))
                if not is_ours:
                    control.fenced = True
                    executing.cancel()
                    return
                if order is not None and control.order is None:
                    control.order = order
                    if control.interruptible:
                        executing.cancel()

    def _renew(self, tx: Transaction, taken: _Taken) -> tuple[bool, Order | None]:
        """Whether it is still ours, and what its worker was told to do with it."""
        if not tx.renew_request(taken.ref, taken.token, tx.now + round(LEASE * MICROSECONDS)):
            return False, None
        runs = [] if taken.launch.outside is not None else tx.runs([taken.launch.ref])
        if any(run.status in FINAL for run in runs):
            return False, None
        return True, next((Order(run.orders) for run in runs if run.orders is not None), None)

    async def _finish(self, taken: _Taken, outcome: Outcome) -> bool:
        """Keep what it came to, however long the database is away; False when it is no longer ours to say."""
        written = outcome_text(outcome)
        return await self._records.write_surely(
            lambda tx: tx.finish_request(taken.ref, taken.token, written), f"the outcome of {taken.launch.target}"
        )


def _told_by(tx: Transaction, wanted: Wanted, run: KnownRun) -> Outcome | None:
    """What the row of the run says that the request is about: it is the record, unless its worker is who asks."""
    row, schedule = run.row, run.schedule
    is_by_worker = row.worker is not None and tx.worker_name(row.worker) == wanted.caller
    # A worker has what was so when it took the run, whatever its schedule became since.
    grants = (schedule.grant_ref, row.grant_ref) if is_by_worker else (schedule.grant_ref,)
    is_it = wanted.grant in grants and wanted.attempt == row.attempt
    if not is_it or not (is_by_worker or wanted.target == schedule.target_name):
        theirs = f"{schedule.target_name} by {grant_id(schedule.grant_ref)}, attempt {row.attempt}"
        raise Denied(f"run {wanted.run_id} is {theirs}: ask for just that, or give the request a name of its own")
    stage = stage_of_run(Status(row.status), has_worker=row.worker is not None)
    if delivery_of(stage, OnUnknown.REDELIVER) is Delivery.ANSWER:
        return _outcome_of(run)
    if not is_by_worker:
        raise InProgress(f"run {wanted.run_id} is its worker's to execute: ask again for what it came to", _ASK_AGAIN)
    return None


def _outcome_of(run: KnownRun) -> Outcome:
    """Of a run that is over."""
    row = run.row
    return Outcome(Status(row.status), None if row.reason is None else Reason(row.reason), row.result, row.error)


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
