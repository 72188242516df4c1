"""Somebody changes one row of the ledger by hand, and the audit finds just that; then it is as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from foliot.books.configurations import compiled
from foliot.domain.audit import Fault
from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.runs import FINAL, Kind, Status
from foliot.services.auditing import SlotAudit
from foliot.stores.transaction import SqlTransaction
from foliot.testing import World
from tests.engine.invariants import Books, Row


def check_tampering(world: World, most: int = 2) -> int:
    """Do so to a few rows in each of several ways; how many ways were found."""
    books = Books(world)
    found = 0
    for run in _chosen([run for run in books.runs if _is_known(books, run)], most):
        for tamper in (_remove, _blur, _renumber, _copy, _move):
            found += tamper(world, books, run)
    for gap in _chosen(books.gaps, most):
        found += _tamper_with_gap(world, gap)
    return found


def _chosen(rows: list[Row], most: int) -> list[Row]:
    return rows[:: max(1, len(rows) // most)][:most]


def _is_known(books: Books, run: Row) -> bool:
    """Whether the present spec is answerable for it, and its slot has no other row that could stand in for it."""
    schedule, cursor = books.schedules[run["schedule_ref"]], books.cursors[run["schedule_ref"]]
    nominal_at = run["nominal_at"]
    second, rest = divmod(nominal_at, MICROSECONDS)
    return (
        run["kind"] == Kind.SLOT
        and max(schedule["spec_since"], schedule["pruned_before"]) < nominal_at <= cursor["swept_to"]
        and not rest
        and compiled(schedule["spec"]).matches(second)
        and not any(gap["first_at"] <= nominal_at <= gap["last_at"] for gap in _gaps_of(books, run))
    )


def _gaps_of(books: Books, run: Row) -> list[Row]:
    return [gap for gap in books.gaps if gap["schedule_ref"] == run["schedule_ref"]]


def _attempts(books: Books, run: Row) -> list[int]:
    return sorted(
        other["attempt"]
        for other in books.runs_of(run["schedule_ref"])
        if other["nominal_at"] == run["nominal_at"] and other["kind"] == Kind.SLOT
    )


def _remove(world: World, books: Books, run: Row) -> bool:
    """The last of several attempts leaves no trace: what is before it has failed, and that may be the end."""
    attempts = _attempts(books, run)
    if run["attempt"] == attempts[-1] and len(attempts) > 1:
        return False
    with _without(world, "runs", run):
        _expect(world, run, Fault.MISSING if len(attempts) == 1 else Fault.BROKEN_CHAIN)
    return True


def _blur(world: World, books: Books, run: Row) -> bool:
    """It is no longer said why, or that, it is over."""
    if run["status"] not in FINAL:
        return False
    column = "ended_at" if run["status"] == Status.SUCCESS else "reason"
    with _changed(world, "runs", run, {column: None}):
        _expect(world, run, Fault.UNEXPLAINED)
    return True


def _renumber(world: World, books: Books, run: Row) -> bool:
    """Only the last: those that follow on another would be broken too."""
    if run["attempt"] != _attempts(books, run)[-1]:
        return False
    with _changed(world, "runs", run, {"attempt": run["attempt"] + 5}):
        _expect(world, run, Fault.BROKEN_CHAIN)
    return True


def _copy(world: World, books: Books, run: Row) -> bool:
    """A second row for the slot, as if it had been tried again though nobody did."""
    again = {**run, "ref": 10**9, "attempt": _attempts(books, run)[-1] + 1}
    with _with(world, "runs", again):
        _expect(world, run, Fault.BROKEN_CHAIN)
    return True


def _move(world: World, books: Books, run: Row) -> bool:
    """Its slot is another one's, and there is none of that."""
    if len(_attempts(books, run)) > 1:
        return False
    with _changed(world, "runs", run, {"nominal_at": run["nominal_at"] + 1}):
        audit = _audit(world)
        assert sorted((one.fault, one.first_at) for one in audit.violations) == [
            (Fault.MISSING, moment_of(run["nominal_at"])),
            (Fault.UNNAMED, moment_of(run["nominal_at"] + 1)),
        ], audit.violations
        assert audit.found == 2
    return True


def _tamper_with_gap(world: World, gap: Row) -> int:
    with _changed(world, "gaps", gap, {"size": gap["size"] + 1}):
        _expect(world, gap, Fault.MISCOUNTED)
    with _with(world, "gaps", {**gap, "ref": 10**9}):
        assert {one.fault for one in _audit(world).violations} == {Fault.DOUBLED}
        assert _audit(world).found >= gap["size"]
    with _without(world, "gaps", gap):
        audit = _audit(world)
        assert {one.fault for one in audit.violations} == {Fault.MISSING}, audit.violations
        assert audit.found == gap["size"]
    return 3


def _audit(world: World) -> SlotAudit:
    return world.app.parts.verbs.audit.slots()


def _expect(world: World, row: Row, fault: Fault) -> None:
    audit = _audit(world)
    first_at = moment_of(row["nominal_at"] if "nominal_at" in row else row["first_at"])
    assert [(one.fault, one.first_at) for one in audit.violations] == [(fault, first_at)], (row, audit.violations)
    assert audit.found == 1


@contextmanager
def _changed(world: World, table: str, row: Row, changes: Row) -> Iterator[None]:
    def save(values: Row) -> None:
        text = f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in values)} WHERE ref = ?"
        _do(world, lambda tx: tx._do(text, *values.values(), row["ref"]))

    save(changes)
    try:
        yield
    finally:
        save({name: row[name] for name in changes})


@contextmanager
def _without(world: World, table: str, row: Row) -> Iterator[None]:
    _delete(world, table, row)
    try:
        yield
    finally:
        _insert(world, table, row)


@contextmanager
def _with(world: World, table: str, row: Row) -> Iterator[None]:
    _insert(world, table, row)
    try:
        yield
    finally:
        _delete(world, table, row)


def _delete(world: World, table: str, row: Row) -> None:
    _do(world, lambda tx: tx._do(f"DELETE FROM {table} WHERE ref = ?", row["ref"]))


def _insert(world: World, table: str, row: Row) -> None:
    text = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    _do(world, lambda tx: tx._do(text, *row.values()))


def _do(world: World, act: Callable[[SqlTransaction], Any]) -> None:
    world.app.parts.database.write(act)
