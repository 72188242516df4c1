"""More is due than can run at once: everything ends, in its turn, and what is new is not buried."""

from typing import Any

from foliot import Context
from foliot.engine.settings import EngineSettings
from foliot.testing import World
from tests.engine.timelines import Job, a_world, at, clock

SMALL = EngineSettings(max_running=50, smallest_batch=50, largest_batch=200)


def test_a_storm_of_slots_all_end_and_never_more_run_than_the_worker_holds() -> None:
    most = now = 0

    async def counts(input: Any, ctx: Context) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await Job(1 / 60)(input, ctx)
        now -= 1

    with a_world(counts, settings=SMALL) as world:
        world.app.schedules.create_many(
            {"name": f"s{number}", "target": "job", "cron": "5 12 * * *"} for number in range(1200)
        )
        world.advance_to(at("12:07"))
        runs = world.runs()
        assert [run.status for run in runs] == ["success"] * 1200
        assert most <= 50


def test_a_newly_due_slot_is_not_starved_by_a_storm() -> None:
    with a_world(Job(0.1), settings=SMALL) as world:
        world.app.schedules.create_many(
            {"name": f"s{number}", "target": "job", "cron": "5 12 * * *"} for number in range(1500)
        )
        world.app.schedules.create("late", target="job", at=[at("12:05:30")])
        world.advance_to(at("12:09"))
        (late,) = world.runs("late")
        assert late.started_at is not None
        assert late.started_at <= at("12:05:40"), "the storm lasts three minutes"
        assert [run.status for run in world.runs()] == ["success"] * 1501


def test_another_target_is_not_starved_by_a_storm_that_takes_all_the_room() -> None:
    with a_world(Job(0.1), settings=SMALL) as world:
        for number in range(20):
            world.app.graph("other" if number == 0 else f"idle-{number}")(Job())
        world.app.schedules.create_many(
            {"name": f"s{number}", "target": "job", "cron": "5 12 * * *"} for number in range(1500)
        )
        world.app.schedules.create("other", target="other", every="20s", start_at=at("12:05:30"), end_at=at("12:06:30"))
        world.advance_to(at("12:09"))
        others = world.runs("other")
        assert [run.status for run in others] == ["success"] * 3
        late = [run.started_at - run.scheduled_for for run in others if run.started_at]
        assert max(late).total_seconds() <= 15, "the storm lasts three minutes, and a run of it six seconds"


def test_slots_that_found_no_room_wait_in_the_ledger_and_are_not_missed() -> None:
    with a_world(Job(3), settings=EngineSettings(max_running=2)) as world:
        for number in range(6):
            world.app.schedules.create(f"s{number}", target="job", cron="5 12 * * *")
        world.advance_to(at("12:06"))
        assert sorted(run.status for run in world.runs()) == ["pending"] * 4 + ["running"] * 2
        world.advance_to(at("12:14"))
        started = sorted(clock(run.started_at) for run in world.runs() if run.started_at)
        assert started == ["12:05", "12:05", "12:08", "12:08", "12:11", "12:11"]
        assert {run.status for run in world.runs()} == {"success"}


def test_a_schedule_of_every_second_behind_by_an_hour_catches_up_in_order() -> None:
    with a_world(Job(), every="1s", catchup="all", overlap="allow_all", settings=SMALL, covers=False) as world:
        world.kill()
        world.advance(minutes=30)
        world.restart()
        world.advance(seconds=10)
        runs = world.runs("job")
        assert len(runs) == 30 * 60 + 10
        assert {run.status for run in runs} == {"success"}


class _SlowDisk:
    """A database whose next answers to starts take so many seconds, one after the other."""

    def __init__(self, world: World, *seconds: float) -> None:
        self._database: Any = world.app.parts.database
        self._world = world
        self._seconds = list(seconds)

    def write(self, act: Any) -> Any:
        result = self._database.write(act)
        if self._seconds and getattr(result, "launches", None):
            self._world._time.selector.time += self._seconds.pop(0)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def test_a_run_that_is_over_is_in_no_slots_way_though_the_worker_had_no_time_to_record_it() -> None:
    """The first slot starts almost a second late and is done at once; there are others to start before that is written,
    and then the next slot of the same schedule is due."""
    settings = EngineSettings(smallest_batch=1, largest_batch=1)
    with a_world(Job(), settings=settings) as world:
        for name in ("a", "b", "c"):
            world.app.schedules.create(name, target="job", every="1s")
        world.advance_to(at("12:00:59"))
        world.engine().database = _SlowDisk(world, 0.95, 0.06)
        world.advance(seconds=5)
        assert {run.status for run in world.runs("a")} == {"success"}
