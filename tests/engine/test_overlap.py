"""What becomes of a slot that is due while a run of its schedule is not over."""

import asyncio
from typing import Any

import pytest

from foliot import Context
from foliot.engine.settings import EngineSettings
from tests.engine.timelines import Job, a_world, at, timeline

POLICIES = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")


@pytest.mark.parametrize("overlap", POLICIES)
def test_nothing_running_every_policy_starts_the_slot_on_time(overlap: str) -> None:
    with a_world(Job(4), every="5m", overlap=overlap) as world:
        world.advance(minutes=14)
        assert timeline(world) == ["12:05 success 12:05-12:09", "12:10 success 12:10-12:14"]


@pytest.mark.parametrize(
    ("overlap", "lines"),
    [
        ("skip", ["12:05 success 12:05-12:12", "12:10 skipped overlap", "12:15 running 12:15-"]),
        ("buffer_one", ["12:05 success 12:05-12:12", "12:10 running 12:12-", "12:15 pending overlap"]),
        ("buffer_all", ["12:05 success 12:05-12:12", "12:10 running 12:12-", "12:15 pending overlap"]),
        (
            "cancel_other",
            [
                "12:05 cancelled cancelled_by_policy 12:05-12:10",
                "12:10 cancelled cancelled_by_policy 12:10-12:15",
                "12:15 running 12:15-",
            ],
        ),
        (
            "terminate_other",
            [
                "12:05 cancelled terminated 12:05-12:10",
                "12:10 cancelled terminated 12:10-12:15",
                "12:15 running 12:15-",
            ],
        ),
        ("allow_all", ["12:05 success 12:05-12:12", "12:10 success 12:10-12:17", "12:15 running 12:15-"]),
    ],
)
def test_a_run_of_seven_minutes_every_five_minutes(overlap: str, lines: list[str], database_url: str) -> None:
    with a_world(Job(7), database=database_url, every="5m", overlap=overlap) as world:
        world.advance(minutes=18)
        assert timeline(world) == lines


def test_buffer_one_keeps_the_latest_slot_while_a_run_of_22_minutes_lasts() -> None:
    """Temporal keeps the first (12:10) and skips the later ones; we keep the latest."""
    with a_world(Job(22, 1), every="5m", overlap="buffer_one") as world:
        for _ in range(4):
            world.advance(minutes=5)
            assert world.app.schedules.get("job").held <= 1
        world.advance_to(at("12:32"))
        assert timeline(world) == [
            "12:05 success 12:05-12:27",
            "12:10 skipped superseded",
            "12:15 skipped superseded",
            "12:20 skipped superseded",
            "12:25 success 12:27-12:28",
            "12:30 success 12:30-12:31",
        ]


def test_buffer_one_with_five_slots_at_once_on_a_free_schedule_starts_the_oldest_and_holds_the_newest() -> None:
    with a_world(Job(1), every="1m", overlap="buffer_one", catchup="all") as world:
        world.kill()
        world.advance(minutes=5)
        world.restart()
        assert timeline(world) == [
            "12:01 running 12:05-",
            "12:02 skipped superseded",
            "12:03 skipped superseded",
            "12:04 skipped superseded",
            "12:05 pending overlap",
        ]


def test_buffer_one_never_replaces_what_a_person_triggered() -> None:
    with a_world(Job(10), every="5m", overlap="buffer_one") as world:
        world.advance_to(at("12:06"))
        trigger = world.app.schedules.trigger("job")
        assert (trigger.status, trigger.hold) == ("pending", "overlap")
        world.advance_to(at("12:11"))
        assert timeline(world) == ["12:05 running 12:05-", "12:06 pending overlap", "12:10 skipped buffer_full"]


def test_a_trigger_takes_no_place_of_a_held_slot_under_buffer_one() -> None:
    with a_world(Job(10), every="5m", overlap="buffer_one") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.trigger("job")
        assert timeline(world) == ["12:05 running 12:05-", "12:10 skipped superseded", "12:11 pending overlap"]


def test_buffer_all_runs_every_slot_one_after_another_in_order() -> None:
    with a_world(Job(12, 1), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:21"))
        assert timeline(world) == [
            "12:05 success 12:05-12:17",
            "12:10 success 12:17-12:18",
            "12:15 success 12:18-12:19",
            "12:20 success 12:20-12:21",
        ]


def test_buffer_all_beyond_its_bound_is_buffer_full() -> None:
    with a_world(Job(22, 0), every="5m", overlap="buffer_all", buffer=2) as world:
        world.advance_to(at("12:26"))
        assert timeline(world)[1:] == [
            "12:10 pending overlap",
            "12:15 pending overlap",
            "12:20 skipped buffer_full",
            "12:25 skipped buffer_full",
        ]


def test_held_slots_never_expire_by_themselves() -> None:
    calm = EngineSettings(heartbeat=3_600_000_000, lease=10_000_000_000)
    with a_world(Job(60 * 24 * 2, 1), settings=calm, every="12h", overlap="buffer_all", grace="1s") as world:
        world.advance_to(at("18T00:05"))
        assert timeline(world) == [
            "16T00:00 success 16T00:00-18T00:00",
            "16T12:00 success 18T00:00-18T00:01",
            "17T00:00 success 18T00:01-18T00:02",
            "17T12:00 success 18T00:02-18T00:03",
            "18T00:00 success 18T00:03-18T00:04",
        ]


def test_held_slots_older_than_an_explicit_catchup_window_are_missed() -> None:
    with a_world(Job(22, 1), every="5m", overlap="buffer_all", catchup_window="10m") as world:
        world.advance_to(at("12:29"))
        assert timeline(world) == [
            "12:05 success 12:05-12:27",
            "12:10 skipped missed",
            "12:15 skipped missed",
            "12:20 success 12:27-12:28",
            "12:25 success 12:28-12:29",
        ]


class Stubborn:
    """A graph that goes on for so long after it was asked to stop."""

    def __init__(self, minutes: float, then: float) -> None:
        self.minutes, self.then = minutes, then
        self.begun = 0

    async def __call__(self, input: Any, ctx: Context) -> None:
        self.begun += 1
        try:
            await asyncio.sleep(self.minutes * 60)
        except asyncio.CancelledError:
            await asyncio.sleep(self.then * 60)
            raise


def test_cancel_other_starts_nothing_until_a_run_that_is_slow_to_stop_has_ended_and_the_newest_wins() -> None:
    with a_world(Stubborn(60, 12), every="5m", overlap="cancel_other") as world:
        world.advance_to(at("12:23"))
        assert timeline(world) == [
            "12:05 cancelled cancelled_by_policy 12:05-12:22",
            "12:10 skipped superseded",
            "12:15 skipped superseded",
            "12:20 running 12:22-",
        ]


def test_cancel_other_against_a_run_that_ignores_it_waits_for_its_timeout() -> None:
    with a_world(Stubborn(60, 60), every="5m", overlap="cancel_other", timeout="14m") as world:
        world.advance_to(at("12:19:30"))
        assert timeline(world) == [
            "12:05 cancelled cancelled_by_policy 12:05-12:19",
            "12:10 skipped superseded",
            "12:15 running 12:19-",
        ]


def test_cancel_other_ends_a_start_that_no_worker_has_taken_at_once() -> None:
    with a_world(Job(1), every="5m", overlap="cancel_other", settled=False) as world:
        world.kill()
        world.app.schedules.trigger("job")
        again = world.app.schedules.trigger("job")
        assert again.decision == "start"
        assert [(run.status, run.reason) for run in world.runs("job")] == [
            ("cancelled", "cancelled_by_policy"),
            ("pending", None),
        ]


@pytest.mark.parametrize("overlap", ["cancel_other", "terminate_other"])
def test_replacing_policies_start_only_the_newest_of_several_at_once(overlap: str) -> None:
    with a_world(Job(1), every="1m", overlap=overlap, catchup="all") as world:
        world.kill()
        world.advance(minutes=3)
        world.restart()
        assert timeline(world) == ["12:01 skipped superseded", "12:02 skipped superseded", "12:03 running 12:03-"]


def test_terminate_other_fences_a_run_that_ignores_everything_and_starts_the_new_one_at_once() -> None:
    graph = Stubborn(7, 30)
    with a_world(graph, every="5m", overlap="terminate_other") as world:
        world.advance_to(at("12:12"))
        assert timeline(world) == ["12:05 cancelled terminated 12:05-12:10", "12:10 running 12:10-"]
        world.advance_to(at("12:14"))
        assert graph.begun == 2
        assert world.engine().counters.refused == 0


def test_allow_all_runs_neither_block_nor_are_blocked_and_are_shown() -> None:
    with a_world(Job(12), every="5m", overlap="allow_all") as world:
        world.advance_to(at("12:16"))
        assert timeline(world) == ["12:05 running 12:05-", "12:10 running 12:10-", "12:15 running 12:15-"]
        assert world.app.schedules.get("job").running == 3
        world.app.schedules.trigger("job", overlap="skip")
        world.advance()
        assert timeline(world)[-1] == "12:16 running 12:16-"


def test_a_run_whose_worker_died_occupies_until_it_is_rescued() -> None:
    with a_world(Job(20), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.advance_to(at("12:11"))
        world.restart()
        assert timeline(world) == ["12:05 running 12:05-", "12:10 pending overlap"]


def test_a_decided_start_that_no_worker_has_confirmed_occupies() -> None:
    with a_world(Job(1), every="5m", settled=False) as world:
        world.kill()
        first = world.app.schedules.trigger("job")
        assert (first.status, first.hold) == ("pending", None)
        second = world.app.schedules.trigger("job")
        assert (second.status, second.reason) == ("skipped", "overlap")


def test_a_run_that_awaits_its_retry_occupies() -> None:
    async def fails(input: Any, ctx: Context) -> None:
        raise RuntimeError("no")

    retry = {"attempts": 2, "backoff": "7m"}
    with a_world(fails, every="5m", retry=retry) as world:
        world.advance_to(at("12:11"))
        assert timeline(world) == [
            "12:05 error internal 12:05-12:05",
            "12:05 ~2 pending retry",
            "12:10 skipped overlap",
        ]


def test_a_run_that_awaits_its_retry_does_not_block_under_allow_all() -> None:
    async def fails(input: Any, ctx: Context) -> None:
        if ctx.scheduled_for == at("12:05"):
            raise RuntimeError("no")

    retry = {"attempts": 2, "backoff": "7m"}
    with a_world(fails, every="5m", overlap="allow_all", retry=retry) as world:
        world.advance_to(at("12:11"))
        assert timeline(world)[2] == "12:10 success 12:10-12:10"


def test_a_run_of_another_schedule_is_never_in_the_way() -> None:
    with a_world(Job(7), every="5m") as world:
        world.app.schedules.create("other", target="job", every="5m")
        world.advance_to(at("12:06"))
        assert [run.status for run in world.runs()] == ["running", "running"]


def test_a_slot_held_when_its_policy_is_edited_keeps_its_place() -> None:
    with a_world(Job(7, 1), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.patch("job", overlap="skip")
        world.advance_to(at("12:13"))
        assert timeline(world) == ["12:05 success 12:05-12:12", "12:10 success 12:12-12:13"]


def test_overlap_is_judged_when_the_slot_is_due_not_ahead_of_it() -> None:
    """Two slots of one minute, the run ends between them: the second is no overlap."""
    with a_world(Job(0.5), every="1m") as world:
        world.kill()
        world.advance(seconds=60)
        world.restart()
        world.advance(seconds=61)
        assert timeline(world) == ["12:01 success 12:01-12:01:30", "12:02 running 12:02-"]


def test_a_worker_without_room_leaves_the_decided_slots_waiting_and_they_occupy() -> None:
    with a_world(Job(3), settings=EngineSettings(max_running=1), every="10m", overlap="skip", settled=False) as world:
        world.app.schedules.create("other", target="job", every="10m", overlap="skip")
        world.advance_to(at("12:10:02"))
        assert sorted(run.status for run in world.runs()) == ["pending", "running"]
        world.advance_to(at("12:17"))
        assert [run.status for run in world.runs()] == ["success", "success"]
