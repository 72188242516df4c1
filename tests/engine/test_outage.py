"""The database goes away for a while: what runs goes on, nothing is lost, and what ended meanwhile is recorded."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from foliot import Unavailable
from tests.databases import PostgresqlServer
from tests.engine.timelines import Job, a_world, at, timeline


@pytest.fixture
def name(postgresql_server: PostgresqlServer) -> str:
    return postgresql_server.new_database().partition("@/")[2].partition("?")[0]


@contextmanager
def an_outage(server: PostgresqlServer, name: str) -> Iterator[None]:
    """Nobody gets to the database, and who was connected is thrown out."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as cx:
        cx.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        cx.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        try:
            yield
        finally:
            cx.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


def test_a_run_that_ended_during_an_outage_is_recorded_after_it(postgresql_server: PostgresqlServer, name: str) -> None:
    job = Job(2)
    with a_world(job, database=postgresql_server.url(name), cron="5 * * * *") as world:
        world.advance_to(at("12:06"))
        with an_outage(postgresql_server, name):
            world.advance_to(at("12:09"))
            with pytest.raises(Unavailable):
                world.app.schedules.list()
        world.advance(seconds=10)
        assert timeline(world) == ["12:05 success 12:05-12:07"]
        assert len(job.seen) == 1
        assert world.engine().counters.outages > 0


def test_slots_that_came_due_during_an_outage_are_late_not_lost(postgresql_server: PostgresqlServer, name: str) -> None:
    with a_world(Job(), database=postgresql_server.url(name), every="1m", overlap="buffer_all") as world:
        world.advance_to(at("12:01:30"))
        with an_outage(postgresql_server, name):
            world.advance_to(at("12:03:30"))
        world.advance(seconds=10)
        assert [(run.status, run.reason) for run in world.runs("job")] == [
            ("success", None),
            ("skipped", "missed"),
            ("success", None),
        ]


def test_connections_that_broke_while_nobody_used_them_cost_one_try(
    postgresql_server: PostgresqlServer, name: str
) -> None:
    with a_world(Job(), database=postgresql_server.url(name), every="5m") as world:
        world.advance_to(at("12:06"))
        with an_outage(postgresql_server, name):
            pass
        world.advance_to(at("12:11"))
        assert [run.status for run in world.runs("job")] == ["success", "success"]


def test_a_worker_that_starts_during_an_outage_waits_for_the_database(
    postgresql_server: PostgresqlServer, name: str
) -> None:
    with a_world(Job(), database=postgresql_server.url(name), every="5m") as world:
        world.advance_to(at("12:01"))
        world.kill()
        with an_outage(postgresql_server, name), pytest.raises(Unavailable):
            world.restart()
        world.restart()
        world.advance_to(at("12:06"))
        assert timeline(world) == ["12:05 success 12:05-12:05"]
