"""What people do by hand: trigger, skip, cancel, terminate, retry, delete."""

import asyncio
from typing import Any

import pytest

from foliot import Cancelled, Conflict, Context, Invalid, NotFound
from tests.engine.timelines import Failing, Job, a_world, at, timeline

SLOT = "job:2026-11-15T12:05:00Z"


def test_several_triggers_in_one_second_are_several_runs() -> None:
    job = Job()
    with a_world(job, manual=True, overlap="allow_all") as world:
        ids = [world.app.schedules.trigger("job").id for _ in range(4)]
        world.advance()
        assert len(set(ids)) == 4
        assert sorted(job.deliveries) == sorted(ids)


def test_a_trigger_uses_the_schedules_overlap_policy_unless_it_brings_its_own() -> None:
    with a_world(Job(7), every="5m") as world:
        world.advance_to(at("12:06"))
        assert world.app.schedules.trigger("job").reason == "overlap"
        assert world.app.schedules.trigger("job", overlap="buffer_all").hold == "overlap"
        assert world.app.schedules.trigger("job", overlap="allow_all").decision == "start"
        world.advance()
        assert [run.status for run in world.runs("job")] == ["running", "skipped", "pending", "running"]


def test_a_trigger_brings_its_own_input_which_its_retry_gets_too() -> None:
    inputs = []

    async def graph(input: Any, ctx: Context) -> None:
        inputs.append(input)
        if len(inputs) == 1:
            raise RuntimeError("no")

    with a_world(graph, manual=True, input={"from": "schedule"}, retry=2) as world:
        world.app.schedules.trigger("job", input={"from": "me"})
        world.advance(minutes=1)
        world.app.schedules.trigger("job")
        world.advance(minutes=1)
        assert inputs == [{"from": "me"}, {"from": "me"}, {"from": "schedule"}]


def test_a_run_that_is_given_none_runs_with_none_and_not_with_the_schedules_own() -> None:
    inputs: list[Any] = []

    async def graph(input: Any, ctx: Context) -> None:
        inputs.append(input)
        if len(inputs) == 1:
            raise RuntimeError("no")

    with a_world(graph, every="5m", input="own", retry=2) as world:
        assert world.app.schedules.trigger("job", input=None).input is None
        world.advance(minutes=1)
        assert inputs == [None, None]
        world.advance_to(at("12:06"))
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all", input=None)
        world.advance(seconds=1)
        assert inputs == [None, None, "own", None]


def test_a_slot_to_come_can_be_skipped_and_keeps_its_row() -> None:
    with a_world(Job(), every="5m") as world:
        skipped = world.app.schedules.skip("job", at("12:10"))
        assert (skipped.status, skipped.reason) == ("skipped", "skipped_by_user")
        world.advance_to(at("12:16"))
        assert timeline(world) == [
            "12:05 success 12:05-12:05",
            "12:10 skipped skipped_by_user",
            "12:15 success 12:15-12:15",
        ]


def test_a_skipped_slot_inside_a_long_downtime_is_not_missed() -> None:
    with a_world(Job(), every="1m") as world:
        world.app.schedules.skip("job", at("13:00"))
        world.kill()
        world.advance(hours=3)
        world.restart()
        (gap,) = world.app.runs.gaps("job")
        assert world.app.schedules.explain("job", at("13:00")).reason == "skipped_by_user"
        assert gap.size + len(world.runs("job")) == 180


def test_a_held_slot_can_be_skipped() -> None:
    with a_world(Job(7, 1), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.skip("job", at("12:10"))
        world.advance_to(at("12:14"))
        assert timeline(world) == ["12:05 success 12:05-12:12", "12:10 skipped skipped_by_user"]


def test_a_slot_that_awaits_its_retry_can_be_skipped_and_what_waits_starts() -> None:
    graph = Failing(1)
    with a_world(graph, every="5m", overlap="buffer_all", retry={"attempts": 2, "backoff": "30m"}) as world:
        world.advance_to(at("12:11"))
        skipped = world.app.schedules.skip("job", at("12:05"))
        assert (skipped.attempt, skipped.status) == (2, "skipped")
        world.advance()
        assert timeline(world)[1:] == ["12:05 ~2 skipped skipped_by_user", "12:10 success 12:11-12:11"]


def test_a_past_slot_a_running_one_and_no_slot_at_all_cannot_be_skipped() -> None:
    with a_world(Job(7), every="5m") as world:
        world.advance_to(at("12:06"))
        with pytest.raises(Conflict, match="is running: only a slot that is to come or is held"):
            world.app.schedules.skip("job", at("12:05"))
        with pytest.raises(Conflict, match="is over: only a slot to come"):
            world.app.schedules.skip("job", at("12:00"))
        with pytest.raises(Invalid, match="has no slot at 2026-11-15T12:06:00Z"):
            world.app.schedules.skip("job", at("12:06"))


def test_cancel_asks_a_running_run_to_stop_and_ends_a_waiting_one_at_once() -> None:
    with a_world(Job(7), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        waiting, running = world.runs("job")[1].id, world.runs("job")[0].id
        assert world.app.runs.cancel(waiting).status == "cancelled"
        assert world.app.runs.cancel(running).status == "running"
        world.advance()
        assert timeline(world) == [
            "12:05 cancelled cancelled_by_user 12:05-12:11",
            "12:10 cancelled cancelled_by_user",
        ]


def test_a_cancelled_run_is_not_retried_and_lets_start_what_waits() -> None:
    with a_world(Job(7, 1), every="5m", overlap="buffer_all", retry=3) as world:
        world.advance_to(at("12:11"))
        world.app.runs.cancel(world.runs("job")[0].id)
        world.advance(minutes=2)
        assert timeline(world) == ["12:05 cancelled cancelled_by_user 12:05-12:11", "12:10 success 12:11-12:12"]


def test_a_sync_function_finds_out_by_its_heartbeat_that_it_was_asked_to_stop() -> None:
    async def looks(input: Any, ctx: Context) -> None:
        while True:
            ctx.heartbeat({"at": 1})
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                assert ctx.cancelled
                with pytest.raises(Cancelled):
                    ctx.heartbeat()
                raise

    with a_world(looks, cron="5 12 * * *") as world:
        world.advance_to(at("12:06:30"))
        (run,) = world.runs("job")
        assert run.progress == {"at": 1}
        world.app.runs.cancel(run.id)
        world.advance()
        assert world.runs("job")[0].reason == "cancelled_by_user"


def test_terminate_ends_a_run_here_and_now_whatever_its_code_does() -> None:
    async def ignores(input: Any, ctx: Context) -> str:
        for _ in range(10):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue
        return "never counted"

    with a_world(ignores, cron="5 12 * * *", covers=False) as world:
        world.advance_to(at("12:06"))
        run = world.app.runs.terminate(f"{SLOT}~1")
        assert (run.status, run.reason) == ("cancelled", "terminated")
        world.advance(minutes=20)
        assert world.app.runs.get(f"{SLOT}~1").result is None
        with pytest.raises(Conflict, match="is over"):
            world.app.runs.terminate(f"{SLOT}~1")


def test_retry_by_hand_is_one_more_attempt_of_the_same_slot_under_the_overlap_policy() -> None:
    graph = Failing(1)
    with a_world(graph, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        again = world.app.runs.retry(f"{SLOT}~1")
        assert (again.id, again.retry_of, again.decision) == (f"{SLOT}~2", f"{SLOT}~1", "start")
        world.advance()
        assert [run.status for run in world.runs("job")] == ["error", "success"]
        with pytest.raises(Conflict, match="its last attempt is success"):
            world.app.runs.retry(f"{SLOT}~1")


def test_a_retry_by_hand_that_had_to_wait_is_still_free_and_is_never_superseded() -> None:
    async def graph(input: Any, ctx: Context) -> None:
        if ctx.scheduled_for == at("12:05") and ctx.attempt == 1:
            raise RuntimeError("no")
        await asyncio.sleep(7 * 60)

    with a_world(graph, every="5m", overlap="buffer_one", limit=2, covers=False) as world:
        world.advance_to(at("12:11"))
        held = world.app.runs.retry(f"{SLOT}~1")
        assert held.hold == "overlap"
        world.advance_to(at("12:25"))
        assert [run.status for run in world.runs("job", since=at("12:05"), until=at("12:05"))] == ["error", "success"]


def test_a_run_that_is_over_cannot_be_cancelled_and_one_that_is_not_there_not_found() -> None:
    with a_world(Job(), cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        with pytest.raises(Conflict, match="only an open run can be stopped"):
            world.app.runs.cancel(f"{SLOT}~1")
        with pytest.raises(NotFound, match="there is no run"):
            world.app.runs.cancel(f"{SLOT}~2")
        with pytest.raises(Invalid, match="a run id looks like"):
            world.app.runs.get("job")


def test_deleting_a_schedule_lets_its_run_end_and_nothing_follow_from_it() -> None:
    async def fails_late(input: Any, ctx: Context) -> None:
        await asyncio.sleep(120)
        raise RuntimeError("no")

    with a_world(fails_late, every="1m", overlap="buffer_all", retry=3) as world:
        world.advance(seconds=130)
        world.app.schedules.delete("job")
        world.advance(hours=1)
        assert timeline(world) == ["12:01 error internal 12:01-12:03", "12:02 cancelled schedule_deleted"]
