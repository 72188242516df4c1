"""What a request has executed: a run of the ledger, with all that a worker would hand it, or one that has no row."""

from typing import NamedTuple

from foliot.books.configurations import labels_in
from foliot.books.memories import with_memories
from foliot.domain.errors import Invalid
from foliot.domain.grants import Grant
from foliot.domain.policies import read_policies
from foliot.domain.runs import Kind
from foliot.domain.slots import SlotKey, read_run_id
from foliot.execution.bounds import Bounds, bounds_in
from foliot.ports import Launch, Outside, Transaction
from foliot.rows import RunRow, ScheduleRow


class KnownRun(NamedTuple):
    """A run that the ledger has."""

    slot: SlotKey
    row: RunRow
    schedule: ScheduleRow


def known_run(tx: Transaction, run_id: str) -> KnownRun | None:
    """The run of that id; None when this database has none."""
    try:
        slot, attempt = read_run_id(run_id)
    except Invalid:
        return None
    schedule = tx.schedule(slot.schedule_id)
    if schedule is None:
        return None
    row = tx.run_at(schedule.ref, slot.nominal_at, slot.kind, slot.backfill, attempt)
    return None if row is None else KnownRun(slot, row, schedule)


def launch_of_run(
    tx: Transaction, run: KnownRun, target: str, input: str | None, grant: Grant, bounds: Bounds, token: int
) -> Launch:
    """The run as its worker would have it executed here: it is the worker who says what, and the ledger the rest."""
    row, schedule = run.row, run.schedule
    (state,) = tx.states_seen([schedule.ref])
    within = bounds.within(bounds_in(read_policies(schedule.policies)))
    launch = Launch(
        ref=row.ref,
        token=max(token, row.token),
        schedule_ref=schedule.ref,
        schedule_id=schedule.id,
        target=target,
        kind=row.kind,
        nominal_at=row.nominal_at,
        due_at=row.due_at,
        attempt=row.attempt,
        backfill=row.backfill,
        occupies=bool(row.occupies),
        labels=labels_in(schedule.labels),
        input=input,
        own_input=row.input,
        overlap=row.overlap,
        timeout=within.timeout,
        grant=grant,
        grants_seen=tx.news(0).grants,
        limits=within.limits,
        result_of=state.last_result,
        failure_of=state.last_failure,
        rounds=row.rounds,
    )
    return with_memories(tx, [launch])[0]


def launch_of_request(
    tx: Transaction,
    names: Outside,
    target: str,
    input: str | None,
    grant: Grant,
    bounds: Bounds,
    attempt: int,
    ref: int,
    token: int,
) -> Launch:
    """An execution that belongs to no schedule."""
    return Launch(
        ref=ref,
        token=token,
        schedule_ref=0,
        schedule_id="",
        target=target,
        kind=Kind.MANUAL,
        nominal_at=tx.now,
        due_at=tx.now,
        attempt=attempt,
        backfill=0,
        occupies=False,
        labels={},
        input=input,
        own_input=None,
        overlap=None,
        timeout=bounds.timeout,
        grant=grant,
        grants_seen=tx.news(0).grants,
        limits=bounds.limits,
        result_of=None,
        failure_of=None,
        outside=names,
    )
