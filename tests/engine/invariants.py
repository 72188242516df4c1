"""What must be true of the books at any moment, whatever happened before: checked at the end of every timeline."""

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from foliot.books.configurations import compiled
from foliot.books.decided import DecisionCounts, Fate
from foliot.domain.instants import MICROSECONDS, moment_of, rfc3339
from foliot.domain.runs import FINAL, Hold, Kind, Reason, Status, decision_of
from foliot.stores.transaction import SqlTransaction
from foliot.testing import World

Row = dict[str, Any]

_OPEN = (Status.RUNNING, Status.WAITING)
_HELD = (Hold.OVERLAP, Hold.PAUSED)
_LET_GO = (Status.SKIPPED, Status.CANCELLED)


class Books:
    """All rows, read at one moment."""

    def __init__(self, world: World) -> None:
        def read(tx: SqlTransaction) -> dict[str, list[Row]]:
            return {
                table: [dict(row) for row in tx.cx.exec_driver_sql(f"SELECT * FROM {table} ORDER BY ref").mappings()]
                for table in ("schedules", "cursors", "runs", "gaps", "backfills", "workers")
            }

        tables = world.app.parts.database.read(read)
        self.schedules = {row["ref"]: row for row in tables["schedules"]}
        self.cursors = {row["ref"]: row for row in tables["cursors"]}
        self.runs = tables["runs"]
        self.gaps = tables["gaps"]
        self.backfills = tables["backfills"]
        self.workers = tables["workers"]

    def runs_of(self, ref: int) -> list[Row]:
        return [run for run in self.runs if run["schedule_ref"] == ref]


def check_books(world: World, *, covers: bool = True, is_clock_steady: bool = True) -> None:
    """`covers`: whether every slot must have its row; not so after an edit, or once a limit was reached.

    Times of runs can be compared only while nobody sets the clock back.
    """
    books = Books(world)
    now = world.now
    for ref, schedule in books.schedules.items():
        cursor, runs = books.cursors[ref], books.runs_of(ref)
        _check_counts(schedule["id"], cursor, runs)
        _check_marks(schedule["id"], cursor, runs)
        if is_clock_steady:
            _check_one_at_a_time(schedule["id"], runs)
        if covers and schedule["spec_since"] == schedule["created_at"] and '"limit"' not in schedule["policies"]:
            gaps = [gap for gap in books.gaps if gap["schedule_ref"] == ref]
            _check_coverage(schedule, cursor, runs, gaps)
    audit = world.app.parts.verbs.audit.slots()
    assert audit.found == 0, audit.violations
    assert audit.slots == audit.rows + audit.in_gaps, "each row is that of a slot, each slot has one or lies in a gap"
    leases = {worker["ref"]: worker["lease_until"] for worker in books.workers}
    for run in books.runs:
        _check_row(run)
        if run["status"] == Status.RUNNING and run["worker"] is not None:
            assert leases[run["worker"]] is not None, f"nobody will ever take it from its worker: {run}"
    for backfill in books.backfills:
        open_ones = [run for run in books.runs if run["backfill"] == backfill["ref"] and run["status"] not in FINAL]
        assert backfill["running"] == len(open_ones), f"backfill {backfill} has {open_ones} at {now}"


def check_decision_counts(world: World, counts: Iterable[DecisionCounts]) -> None:
    """All of them together have counted what the ledger has rows and gaps of, as long as none was removed."""
    books = Books(world)
    ended: Counter[str] = Counter()
    decided: Counter[tuple[str, str]] = Counter()
    for each in counts:
        ended.update(each.ended)
        decided.update({key: count for key, count in each.decided.items() if key[0] != Fate.HOLD})
    assert +ended == Counter(run["status"] for run in books.runs if run["status"] in FINAL)
    owed = Counter(_why(run["status"], run["reason"]) for run in books.runs if run["status"] in _LET_GO)
    for gap in books.gaps:
        owed[_why(Status.SKIPPED, gap["reason"])] += gap["size"]
    assert decided == owed


def _why(status: str, reason: str) -> tuple[str, str]:
    return decision_of(Status(status), Reason(reason), None), reason


def check_nothing_is_stuck(world: World) -> None:
    """A worker with room has looked: what may start has started, what is due is swept, what is over has ended."""
    books = Books(world)
    now = int(world.now.timestamp() * MICROSECONDS)
    for ref, cursor in books.cursors.items():
        name = books.schedules[ref]["id"]
        paused = cursor["pause_from"] is not None and (cursor["pause_to"] is None or now < cursor["pause_to"])
        assert not cursor["held"] or cursor["running"] or paused, f"{name} holds {cursor['held']} for nothing"
        assert cursor["wake_at"] is None or cursor["wake_at"] > now, f"{name} is due and was not swept: {cursor}"
    for run in books.runs:
        assert run["ready_for"] is None or run["ready_at"] > now, f"ready and not taken: {run}"
    for backfill in books.backfills:
        idle = backfill["ended_at"] is None and backfill["running"] == 0
        assert not idle, f"a backfill that is neither over nor at work: {backfill}"


def _check_counts(name: str, cursor: Row, runs: list[Row]) -> None:
    occupying = [
        run
        for run in runs
        if run["occupies"]
        and (run["status"] in _OPEN or (run["status"] == Status.PENDING and run["hold"] in (None, Hold.RETRY)))
    ]
    held = [run for run in runs if run["status"] == Status.PENDING and run["hold"] in _HELD]
    assert cursor["running"] == len(occupying), f"{name} counts {cursor['running']} running: {occupying}"
    assert cursor["held"] == len(held), f"{name} counts {cursor['held']} held: {held}"
    assert cursor["remaining"] is None or cursor["remaining"] >= 0


def _check_marks(name: str, cursor: Row, runs: list[Row]) -> None:
    firsts = [run for run in runs if run["kind"] == Kind.SLOT and run["attempt"] == 1]
    ahead = [run for run in firsts if run["nominal_at"] > cursor["swept_to"]]
    # Skipped by hand, or left ahead of the cursor by an edit that returned it to now: all known as marks.
    assert cursor["marks"] >= len(ahead), f"{name} counts {cursor['marks']} marks: {ahead}"


def _check_one_at_a_time(name: str, runs: list[Row]) -> None:
    began = [run for run in runs if run["occupies"] and run["started_at"] is not None]
    began.sort(key=lambda run: (run["started_at"], run["ended_at"] or 2**62))
    for before, after in itertools.pairwise(began):
        over = before["ended_at"]
        assert over is not None, f"{name} started {_said(after)} while {_said(before)} ran"
        assert over <= after["started_at"], f"{name} started {_said(after)} while {_said(before)} ran"


def _check_coverage(schedule: Row, cursor: Row, runs: list[Row], gaps: list[Row]) -> None:
    """Every slot from the creation up to the cursor has exactly one first attempt, or lies in exactly one gap."""
    since = max(schedule["created_at"], schedule["pruned_before"] - 1)
    times = compiled(schedule["spec"])
    named = [
        second * MICROSECONDS
        for second in times.between(since // MICROSECONDS + 1, cursor["swept_to"] // MICROSECONDS)
        if since < second * MICROSECONDS <= cursor["swept_to"]
    ]
    rows = Counter(run["nominal_at"] for run in runs if run["kind"] == Kind.SLOT and run["attempt"] == 1)
    in_gaps: Counter[int] = Counter()
    for nominal in named:
        around = [gap["ref"] for gap in gaps if gap["first_at"] <= nominal <= gap["last_at"]]
        assert rows[nominal] <= 1
        assert rows[nominal] or len(around) == 1, f"{schedule['id']} has no row of {rfc3339(nominal)}, and {around}"
        if not rows[nominal]:
            in_gaps[around[0]] += 1
    for gap in gaps:
        assert gap["first_at"] <= since or in_gaps[gap["ref"]] == gap["size"], f"{gap} holds {in_gaps[gap['ref']]}"


def _check_row(run: Row) -> None:
    is_final = run["status"] in FINAL
    assert is_final == (run["ended_at"] is not None), run
    assert not is_final or (run["status"] == Status.SUCCESS) == (run["reason"] is None), run
    assert run["hold"] is None or run["status"] == Status.PENDING, run
    assert run["ready_for"] is None or not is_final, run
    assert (run["attempt"] == 1) == (run["retry_of"] is None), run
    if run["status"] == Status.RUNNING:
        assert run["worker"] is not None or run["ready_for"] is not None, run


def _said(run: Row) -> str:
    return f"{rfc3339(run['nominal_at'])}~{run['attempt']} from {moment_of(run['started_at'])} to {run['ended_at']}"
