"""Somebody sets the wall clock: back, and nothing fires again; forward, and what was jumped over is judged."""

from datetime import timedelta

from tests.engine.timelines import Job, a_world, at, clock, timeline


def test_the_clock_steps_back_and_nothing_fires_again() -> None:
    job = Job()
    with a_world(job, every="5m") as world:
        world.advance_to(at("12:11"))
        world.step_clock(timedelta(minutes=-8))
        assert clock(world.now) == "12:03"
        world.advance_to(at("12:16"))
        assert [clock(ctx.scheduled_for) for ctx in job.seen] == ["12:05", "12:10", "12:15"]
        assert world.engine().counters.clock_steps == 1


def test_the_clock_steps_forward_and_catch_up_judges_what_was_jumped_over() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        world.step_clock(timedelta(minutes=15))
        assert timeline(world) == [
            "12:05 success 12:05-12:05",
            *(f"12:{m} skipped missed" for m in (10, 15)),
            on_time(20),
        ]
        assert world.engine().counters.clock_steps == 1


def on_time(minute: int) -> str:
    """The clock was set to 12:21, a minute after it: within grace."""
    return f"12:{minute} success 12:21-12:21"


def test_a_small_step_is_no_step() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        world.step_clock(timedelta(seconds=1))
        assert world.engine().counters.clock_steps == 0


def test_a_timeout_is_measured_by_time_that_passes_not_by_the_wall_clock() -> None:
    with a_world(Job(10), cron="5 12 * * *", timeout="3m") as world:
        world.advance_to(at("12:06"))
        world.step_clock(timedelta(hours=1))
        assert [run.status for run in world.runs("job")] == ["running"]
        world.advance(minutes=2)
        assert [run.reason for run in world.runs("job")] == ["timeout"]


def test_a_step_back_during_a_run_leaves_it_alone() -> None:
    with a_world(Job(10), every="30m") as world:
        world.advance_to(at("12:31"))
        world.step_clock(timedelta(hours=-2))
        world.advance(minutes=10)
        assert [run.status for run in world.runs("job")] == ["success"]


def test_a_pause_until_ends_by_the_wall_clock() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.pause("job", until=at("13:00"))
        world.step_clock(timedelta(hours=1))
        assert timeline(world)[-1] == "13:00 success 13:00-13:00"
