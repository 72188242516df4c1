"""A worker that is asked to stop starts nothing more, gives its runs the grace, and hands back the rest."""

from pathlib import Path

import pytest

from foliot import Conflict, Foliot
from foliot.domain.instants import MICROSECONDS
from foliot.engine.settings import EngineSettings
from foliot.testing import virtual
from tests.databases import PostgresqlServer
from tests.engine.invariants import Books
from tests.engine.timelines import START, Job, a_world, at, timeline


def test_no_new_starts_after_a_stop_and_what_runs_may_end() -> None:
    settings = EngineSettings(stop_grace=600 * MICROSECONDS)
    with a_world(Job(7), every="5m", settings=settings, overlap="allow_all", settled=False) as world:
        world.advance_to(at("12:06"))
        world.stop()
        world.advance_to(at("12:13"))
        assert timeline(world) == ["12:05 success 12:05-12:12"]
        world.restart()
        assert timeline(world)[-1] == "12:10 skipped missed"


def test_what_does_not_end_within_the_grace_is_handed_back_and_run_by_the_next_worker() -> None:
    job = Job(7)
    with a_world(job, every="1h") as world:
        world.advance_to(at("13:01"))
        world.stop()
        world.advance(seconds=29)
        assert Books(world).runs[0]["worker"] is not None
        world.advance(seconds=2)
        assert Books(world).runs[0]["worker"] is None
        world.advance(minutes=1)
        world.restart()
        world.advance(minutes=8)
        assert job.deliveries == ["job:2026-11-15T13:00:00Z~1"] * 2
        (run,) = world.runs("job")
        assert (run.status, run.attempt, run.losses) == ("success", 1, 0)


def test_a_stop_with_nothing_in_hand_is_immediate_and_leaves_no_lease() -> None:
    with a_world(Job(), every="1h", settled=False) as world:
        world.stop()
        (worker,) = Books(world).workers
        assert (worker["lease_until"], worker["stopped_at"] is not None) == (None, True)


def test_another_worker_takes_what_a_stopped_one_handed_back(postgresql_server: PostgresqlServer) -> None:
    job = Job(7)
    with a_world(job, database=postgresql_server.new_database(), workers=2, every="1h") as world:
        world.advance_to(at("13:01"))
        number = 0 if world.engine(0).in_hand else 1
        world.stop(number)
        world.advance(seconds=36)
        assert world.engine(1 - number).in_hand == 1
        world.advance(minutes=8)
        assert job.deliveries == ["job:2026-11-15T13:00:00Z~1"] * 2
        assert [run.status for run in world.runs("job")] == ["success"]


def test_what_the_end_of_a_run_releases_during_a_stop_is_left_to_the_next_worker() -> None:
    settings = EngineSettings(stop_grace=600 * MICROSECONDS)
    with a_world(Job(7, 1), every="5m", settings=settings, overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        world.stop()
        world.advance_to(at("12:13"))
        assert timeline(world) == ["12:05 success 12:05-12:12", "12:10 pending"]
        world.restart()
        world.advance(minutes=1)
        assert timeline(world)[1] == "12:10 success 12:13-12:14"


def test_on_sqlite_a_second_process_is_refused_naming_the_holder(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'one.db'}"
    first, second = Foliot(database_url), Foliot(database_url)
    with virtual(first, START, database=database_url):
        second.graph("job")(Job())
        with pytest.raises(Conflict, match=r"is in use by process \d+"), virtual(second, START, database=database_url):
            pass
