"""A database for a simulation: what it is copied from, what is known of the past, and what came of it."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import Select, Table, delete, func, insert, select, update

from foliot.books.configurations import compiled
from foliot.domain.grants import EVERYTHING, covers
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import OPEN, Kind, Reason, Status
from foliot.domain.simulation import SimulatedRun
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.stores import tables
from foliot.stores.transaction import SqlTransaction

Rows = list[dict[str, Any]]
Plan = list[tuple[Table, Rows]]
"""All that decides what will run: schedules and where they stand, grants, accounts, and what is spent of budgets."""
_RUNS_AT_ONCE = 50_000
_ROWS_AT_ONCE = 500
_SHARED = "python:simulated"
_AS_THEY_ARE = (tables.users, tables.accounts, tables.grants, tables.targets)
_spendings, _schedules, _cursors, _runs = tables.spendings.c, tables.schedules.c, tables.cursors.c, tables.runs.c


def read_plan(tx: SqlTransaction, ids: Collection[str] | None, start: int) -> Plan:
    """What there is of these schedules, or of all, as it is to stand at the start: nothing is under way."""
    wanted = select(tables.schedules).where(_schedules.deleted_at.is_(None))
    schedules = [row for row in _read(tx, wanted) if ids is None or row["id"] in ids]
    refs = {row["ref"]: row["spec"] for row in schedules}
    by_hand = [row for row in _read(tx, _skipped_by_hand(start)) if _is_named(refs.get(row["schedule_ref"]), row)]
    # Below all keys that the simulation gives to runs of its own.
    skipped = [row | {"ref": -number} for number, row in enumerate(by_hand, 1)]
    cursors = [
        _at_rest(row, start, sum(run["schedule_ref"] == row["ref"] for run in skipped))
        for row in _read(tx, select(tables.cursors))
        if row["ref"] in refs
    ]
    spent = _read(tx, select(tables.spendings).where(_spendings.spent.is_not(None)))
    known = [(table, _read(tx, select(table))) for table in _AS_THEY_ARE]
    own = [(tables.schedules, schedules), (tables.cursors, cursors), (tables.runs, skipped), (tables.spendings, spent)]
    return [*known, *own]


def write_plan(tx: SqlTransaction, plan: Plan) -> None:
    """Into a database that has nothing in it."""
    for table, rows in plan:
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            tx.cx.execute(insert(table), rows[first : first + _ROWS_AT_ONCE])


def share_target(tx: SqlTransaction) -> None:
    """Schedules whose grants cover their targets have one target from now on: a turn takes longer for each there is.

    Whether a grant covers something does not change with time, so what it refuses for that it refuses as before.
    """
    by_grant: dict[int, list[ScheduleRow]] = {}
    for row, _ in tx.list_schedules(ScheduleFilter()):
        by_grant.setdefault(row.grant_ref, []).append(row)
    shared = tx.target_refs([_SHARED])[_SHARED]
    for found in tx.grants(by_grant):
        rows = by_grant[found.grant.ref]
        if all(covers(found.grant.scopes, row.target_name) for row in rows):
            tx.change_grant(found.grant._replace(scopes=frozenset({EVERYTHING})))
            for row in rows:
                tx.update_schedule(row.ref, target=shared)
                tx.cx.execute(update(tables.cursors).where(_cursors.ref == row.ref).values(target=shared))
    tx.cx.execute(delete(tables.targets).where(tables.targets.c.ref.not_in(select(_schedules.target))))


def recent_lengths(tx: SqlTransaction, schedule_ref: int, limit: int) -> list[int]:
    """How long the schedule's last successes took, in microseconds."""
    took = select(_runs.started_at, _runs.ended_at).where(
        _runs.schedule_ref == schedule_ref, _runs.status == str(Status.SUCCESS), _runs.started_at.is_not(None)
    )
    found = tx.cx.execute(took.order_by(_runs.nominal_at.desc()).limit(limit))
    return [ended_at - started_at for started_at, ended_at in found]


def read_runs(tx: SqlTransaction, until: int) -> Iterator[tuple[int, SimulatedRun]]:
    """By schedule what became of its slots up to then, as they are asked for."""
    columns = (_runs.due_at, _runs.started_at, _runs.ended_at, _runs.status, _runs.reason, _runs.attempt)
    wanted = select(_runs.schedule_ref, *columns).where(_runs.kind == str(Kind.SLOT), _runs.nominal_at <= until)
    found = tx.cx.execution_options(yield_per=_RUNS_AT_ONCE).execute(wanted.order_by(_runs.schedule_ref))
    for ref, due_at, started_at, ended_at, status, reason, attempt in found:
        why = None if reason is None else Reason(reason)
        yield ref, SimulatedRun(due_at, started_at, ended_at, Status(status), why, attempt)


def unrun(tx: SqlTransaction) -> Iterable[tuple[int, Reason, int]]:
    """By schedule and reason how many slots lie in gaps."""
    gaps = tables.gaps.c
    found = tx.cx.execute(
        select(gaps.schedule_ref, gaps.reason, func.sum(gaps.size)).group_by(gaps.schedule_ref, gaps.reason)
    )
    return [(ref, Reason(reason), int(size)) for ref, reason, size in found]


def _skipped_by_hand(start: int) -> Select[Any]:
    return select(tables.runs).where(
        _runs.reason == str(Reason.SKIPPED_BY_USER),
        _runs.kind == str(Kind.SLOT),
        _runs.nominal_at > start,
        _runs.status.not_in([str(status) for status in OPEN]),
    )


def _is_named(spec: str | None, run: dict[str, Any]) -> bool:
    """Whether an edit has left its slot to the schedule, if that is simulated at all."""
    return spec is not None and compiled(spec).matches(run["nominal_at"] // MICROSECONDS)


def _at_rest(cursor: dict[str, Any], start: int, marks: int) -> dict[str, Any]:
    """Nothing of it is under way, and it has been looked at up to the start; or up to where it was paused."""
    rest = {"running": 0, "held": 0, "last_result": None, "last_failure": None, "marks": marks}
    if cursor["wake_at"] is None and cursor["pause_from"] is None:
        return cursor | rest | {"swept_to": start}
    is_paused = cursor["pause_from"] is not None and (cursor["pause_to"] is None or cursor["pause_to"] > start)
    if is_paused:
        return cursor | rest | {"swept_to": min(cursor["swept_to"], start)}
    return cursor | rest | {"swept_to": start, "wake_at": start, "pause_from": None, "pause_to": None}


def _read(tx: SqlTransaction, wanted: Select[Any]) -> Rows:
    return [dict(row) for row in tx.cx.execute(wanted).mappings()]
