"""A worker wakes by itself: when no hint reaches it, when its clock is set, and when its clock was never right."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from foliot import Context
from foliot.engine.settings import EngineSettings
from foliot.ports import Clock
from foliot.testing import World
from foliot.wiring import Parts
from tests.databases import PostgresqlServer
from tests.engine.timelines import Job, a_world, at, timeline


class WrongClock:
    """A clock that is off by so much, and goes as fast as the right one."""

    def __init__(self, clock: Clock, off: timedelta) -> None:
        self._clock = clock
        self._off = off // timedelta(microseconds=1)
        self.steady = clock.steady

    def now(self) -> int:
        return self._clock.now() + self._off


def work_in_earnest(world: World, settings: EngineSettings) -> None:
    """A worker that looks at the clock as often as one outside of a virtual world."""
    world.kill()
    engine = world._parts.engine("in earnest", settings)
    world._working[0] = (engine, world._loop.create_task(engine.run()))
    world.advance()


def restart_with_clock(world: World, worker: int, clock: Any) -> None:
    world._parts.clock = clock
    world.restart(worker)
    world._parts.clock = world._clock


def test_what_another_process_wrote_is_found_though_no_hint_of_it_arrived(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    with a_world(Job(), database=url, workers=2, manual=True) as world:
        world.advance(minutes=1)
        other = Parts(url, world.app.executors, world._clock)
        other.verbs.schedules.trigger("job")
        other.close()
        world.advance(seconds=10)
        assert [run.status for run in world.runs("job")] == ["success"]


def test_a_slot_that_the_clock_was_set_to_starts_within_a_second() -> None:
    with a_world(Job(), every="1h") as world:
        work_in_earnest(world, EngineSettings(nap_within=0))
        world.advance_to(at("12:30"))
        world._clock.start += timedelta(minutes=30) // timedelta(microseconds=1)
        world.advance(seconds=1)
        assert timeline(world) == ["13:00 success 13:00:01-13:00:01"]
        assert world.engine().counters.clock_steps == 1


def test_a_worker_whose_clock_is_an_hour_behind_keeps_its_run(postgresql_server: PostgresqlServer) -> None:
    job = Job(7)
    with a_world(job, database=postgresql_server.new_database(), workers=2, cron="5 12 * * *") as world:
        world.kill(1)
        world.kill(0)
        restart_with_clock(world, 0, WrongClock(world._clock, timedelta(hours=-1)))
        world.advance_to(at("12:06"))
        world.restart(1)
        world.advance_to(at("12:20"))
        assert job.deliveries == ["job:2026-11-15T12:05:00Z~1"]
        assert timeline(world) == ["12:05 success 12:05-12:12"]


def test_a_dead_worker_whose_clock_was_an_hour_ahead_is_rescued_as_soon_as_any(
    postgresql_server: PostgresqlServer,
) -> None:
    job = Job(7)
    with a_world(job, database=postgresql_server.new_database(), workers=2, cron="5 12 * * *") as world:
        world.kill(1)
        world.kill(0)
        restart_with_clock(world, 0, WrongClock(world._clock, timedelta(hours=1)))
        world.advance_to(at("12:06"))
        world.kill(0)
        world.restart(1)
        world.advance_to(at("12:07"))
        assert job.deliveries == ["job:2026-11-15T12:05:00Z~1"] * 2


def test_a_schedule_that_is_due_later_than_the_next_look_costs_no_turn_when_it_is_created() -> None:
    """Each of hundreds a second cost one, and what was due meanwhile waited for them."""
    with a_world(Job(), every="1m") as world:
        world.advance(seconds=90)
        before = world.engine().counters.turns
        for number in range(5):
            world.app.schedules.create(f"later-{number}", target="job", every="1h")
        world.app.schedules.create("never", target="job", manual=True)
        world.advance()
        assert world.engine().counters.turns == before


def test_a_schedule_that_is_due_before_the_next_look_starts_on_time() -> None:
    with a_world(Job(), every="1h") as world:
        world.advance(minutes=5)
        world.app.schedules.create("soon", target="job", cron="6 12 * * *")
        world.advance(minutes=2)
        assert timeline(world, "soon") == ["12:06 success 12:06-12:06"]


def test_turns_that_others_had_to_wait_for_leave_them_time_and_are_fewer() -> None:
    """Slots that are due all through a second took a turn each, and requests beside them what was left."""

    def turns(*, is_beset: bool) -> int:
        async def job(input: Any, ctx: Context) -> None:
            if is_beset:
                asking = threading.Thread(target=world.engine()._courtesy.let_pass)
                asking.start()
                asking.join()

        spread = {"target": "job", "every": "1s", "jitter": "950ms"}
        with a_world(job, manual=True) as world:
            world.app.schedules.create_many({"name": f"s{number}", **spread} for number in range(250))
            world.advance(seconds=2)
            return world.engine().counters.turns

    assert turns(is_beset=True) <= 0.8 * turns(is_beset=False)


def test_nobody_wakes_a_worker_for_what_it_finds_by_itself_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_world(Job(), every="1h") as world:
        world.advance(minutes=1)
        waked: list[object] = []
        wake = world._loop.call_soon_threadsafe

        def noted(*args: Any) -> object:
            waked.append(args)
            return wake(*args)

        monkeypatch.setattr(world._loop, "call_soon_threadsafe", noted)
        world.app.schedules.create("later", target="job", every="1h")
        assert waked == []
        world.app.schedules.create("sooner", target="job", every="20m")
        assert len(waked) == 1
        world.advance_to(at("13:00"))
        started = [(run.schedule, run.started_at) for run in world.runs() if run.schedule != "job"]
        times = [("sooner", "12:20"), ("sooner", "12:40"), ("later", "13:00"), ("sooner", "13:00")]
        assert sorted(started) == sorted((schedule, at(time)) for schedule, time in times)
