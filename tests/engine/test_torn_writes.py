"""A write goes wrong: it is refused, it breaks half-way, or its answer is lost. All of it counts, or nothing of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from foliot.domain.errors import Unavailable
from foliot.ports import Database, Transaction
from foliot.testing import World
from tests.engine.timelines import Job, a_world, at, timeline

T = TypeVar("T")

SLOT = "job:2026-11-15T12:05:00Z~1"


class FickleDatabase:
    """A database that undoes the next write, or does it and does not say so; then it is as good as ever."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_local = database.is_local
        self.read = database.read
        self.snapshot = database.snapshot
        self.claim_alone = database.claim_alone
        self.close = database.close
        self.to_refuse = 0
        self.to_lose = 0

    def write(self, act: Callable[[Transaction], T]) -> T:
        if self.to_refuse:
            self.to_refuse -= 1
            self._database.write(lambda tx: self._undo(act, tx))
        result = self._database.write(act)
        if self.to_lose:
            self.to_lose -= 1
            raise Unavailable("the answer was lost")
        return result

    def _undo(self, act: Callable[[Transaction], T], tx: Transaction) -> None:
        act(tx)
        raise Unavailable("the commit was refused")


def a_fickle_database(world: World) -> FickleDatabase:
    """Between the worker and its database, from now on."""
    engine = world.engine()
    engine.database = fickle = FickleDatabase(engine.database)
    return fickle


@contextmanager
def no_new_rows(world: World) -> Iterator[None]:
    """The database takes everything but new runs."""
    refusal = "CREATE TRIGGER no_new_rows BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no new rows'); END"
    database = world.app.parts.database
    database.write(lambda tx: tx.cx.exec_driver_sql(refusal).close())
    yield
    database.write(lambda tx: tx.cx.exec_driver_sql("DROP TRIGGER no_new_rows").close())


def test_a_run_whose_row_was_not_committed_is_not_begun() -> None:
    job = Job()
    with a_world(job, cron="5 12 * * *") as world:
        world.advance_to(at("12:04"))
        fickle = a_fickle_database(world)
        fickle.to_refuse = 1
        world.advance_to(at("12:05"))
        assert (fickle.to_refuse, world.runs("job"), job.deliveries) == (0, [], [])
        world.advance(seconds=10)
        assert job.deliveries == [SLOT]


def test_a_run_whose_commit_was_not_answered_is_delivered_once_and_not_lost() -> None:
    job = Job()
    with a_world(job, cron="5 12 * * *") as world:
        world.advance_to(at("12:04"))
        a_fickle_database(world).to_lose = 1
        world.advance_to(at("12:06"))
        assert [(run.status, run.losses) for run in world.runs("job")] == [("success", 0)]
        assert job.deliveries == [SLOT]


@pytest.mark.poison
def test_a_row_that_is_refused_is_tried_again_later_and_its_run_is_not_begun_before() -> None:
    job = Job()
    with a_world(job, cron="5 12 * * *") as world:
        with no_new_rows(world):
            world.advance_to(at("12:05:10"))
            assert (job.deliveries, world.engine().counters.set_aside) == ([], 1)
        world.advance_to(at("12:05:30"))
        assert job.deliveries == [SLOT]


@pytest.mark.poison
def test_a_worker_that_dies_between_its_cursor_and_its_rows_loses_no_slot() -> None:
    with a_world(Job(), cron="5 12 * * *") as world:
        with no_new_rows(world):
            world.advance_to(at("12:05:10"))
            world.kill()
        world.restart()
        world.advance_to(at("12:05:30"))
        assert timeline(world) == ["12:05 success 12:05:20-12:05:20"]


def test_outcomes_whose_commit_was_refused_are_recorded_with_the_next() -> None:
    job = Job(1)
    with a_world(job, cron="5 12 * * *") as world:
        world.advance_to(at("12:05:58"))
        a_fickle_database(world).to_refuse = 1
        world.advance_to(at("12:06:10"))
        assert timeline(world) == ["12:05 success 12:05-12:06"]
        assert job.deliveries == [SLOT]
