"""A database with its clock in hand, and short words for what most tests put on it."""

from collections.abc import Callable
from typing import Any, TypeVar

from foliot.domain.backfill import Direction, Which
from foliot.domain.runs import Kind, Status
from foliot.domain.schedule import State
from foliot.rows import RunFilter, RunRow
from foliot.stores.database import open_database
from foliot.stores.tables import metadata
from foliot.stores.transaction import SqlTransaction
from tests.builders import NOON, SECOND, a_new_cursor, a_new_run, a_new_schedule, a_started_run

T = TypeVar("T")


class HandClock:
    """It is noon until a test says otherwise."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> int:
        return self.at

    def steady(self) -> float:
        return self.at / SECOND


class Stage:
    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = HandClock()
        self.database = open_database(url, self.clock, is_virtual=True)

    def write(self, act: Callable[[SqlTransaction], T]) -> T:
        return self.database.write(act)

    def read(self, act: Callable[[SqlTransaction], T]) -> T:
        return self.database.read(act)

    def clear(self) -> None:
        """As it was when it was opened."""
        self.clock.at = NOON
        self.write(lambda tx: [tx._do(f"DELETE FROM {table}") for table in reversed(metadata.sorted_tables)])

    def another(self) -> "Stage":
        """The same database, opened once more."""
        return Stage(self.url)

    def close(self) -> None:
        self.database.close()

    def target(self, name: str = "python:digest") -> int:
        return self.write(lambda tx: tx.target_refs([name]))[name]

    def schedule(
        self, schedule_id: str = "digest", target: str = "python:digest", wake_at: int | None = None, **changes: Any
    ) -> int:
        target_ref = self.target(target)

        def act(tx: SqlTransaction) -> int:
            (ref,) = tx.new_schedule_refs(1)
            row = a_new_schedule(ref, target_ref, schedule_id, **changes)
            tx.insert_schedules([row], [a_new_cursor(ref, target_ref, wake_at=wake_at)])
            return ref

        return self.write(act)

    def recorded(self, schedule_ref: int, nominal_at: int = NOON, **changes: Any) -> int:
        """A run as `record` puts it down."""

        def act(tx: SqlTransaction) -> int:
            ref = tx.next_ref()
            tx.record([a_new_run(ref, schedule_ref, nominal_at, **changes)])
            return ref

        return self.write(act)

    def running(self, schedule_ref: int, nominal_at: int = NOON, worker: int = 1, **changes: Any) -> int:
        """A run that started as it was recorded, under token 1."""

        def act(tx: SqlTransaction) -> int:
            ref = tx.next_ref()
            tx.start_new([a_started_run(ref, schedule_ref, nominal_at, worker, **changes)])
            return ref

        return self.write(act)

    def ended(self, schedule_ref: int, nominal_at: int = NOON, status: Status = Status.SUCCESS, **changes: Any) -> int:
        return self.recorded(schedule_ref, nominal_at, status=status, **{"ended_at": NOON} | changes)

    def manual(self, schedule_ref: int, nominal_at: int, **changes: Any) -> int:
        return self.recorded(schedule_ref, nominal_at, kind=Kind.MANUAL, **changes)

    def backfill(self, schedule_ref: int, **changes: Any) -> int:
        """One over the first ten seconds of 1970, with nothing to start yet."""
        plain = {
            "schedule_ref": schedule_ref,
            "target": self.target(),
            "first": 1,
            "last": 10,
            "which": Which.ALL,
            "direction": Direction.OLDEST_FIRST,
            "concurrency": 1,
            "done_to": 0,
            "created_at": NOON,
        }
        return self.write(lambda tx: tx.insert_backfill(**plain | changes))

    def row(self, ref: int) -> RunRow:
        (row,) = [row for row in self.read(lambda tx: tx.list_runs(RunFilter(limit=100_000))) if row.ref == ref]
        return row

    def refs(self) -> set[int]:
        """Of all runs that there are."""
        return {row.ref for row in self.read(lambda tx: tx.list_runs(RunFilter(limit=100_000)))}

    def readiness(self, ref: int) -> tuple[int | None, int | None]:
        """The target that the run waits for, and since when it may start."""
        ((target, at),) = self.read(lambda tx: tx._all("SELECT ready_for, ready_at FROM runs WHERE ref = ?", ref))
        return target, at

    def state(self, ref: int) -> State:
        (state,) = self.read(lambda tx: tx.states_seen([ref]))
        return state
