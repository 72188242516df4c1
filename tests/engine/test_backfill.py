"""Past slots that somebody wants run, or run again, in a lane of their own."""

from datetime import timedelta
from typing import Any

import pytest

from foliot import Context, Invalid
from foliot.engine.settings import EngineSettings
from foliot.testing import World
from tests.engine.timelines import Job, a_world, at, clock, timeline


def filled(world: World) -> list[str]:
    """The nominal times that the backfills ran, in the order in which they started."""
    runs = [run for run in world.runs("job", kind="backfill") if run.started_at is not None]
    return [clock(run.scheduled_for) for run in sorted(runs, key=lambda run: (run.started_at, run.created_at))]


def a_history(world: World) -> None:
    """Every five minutes: 12:05 success, 12:10 error, 12:15 and 12:20 missed, 12:25 success."""
    world.advance_to(at("12:11"))
    world.kill()
    world.advance_to(at("12:22"))
    world.restart()
    world.advance_to(at("12:26"))


async def fails_at_ten_past(input: Any, ctx: Context) -> None:
    if ctx.scheduled_for == at("12:10") and ":backfill:" not in ctx.run_id:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("which", "slots"),
    [
        ("missing", ["12:10", "12:15", "12:20"]),
        ("failed", ["12:10"]),
        ("all", ["12:05", "12:10", "12:15", "12:20", "12:25"]),
    ],
)
def test_each_kind_of_backfill_takes_its_slots_oldest_first(which: str, slots: list[str], database_url: str) -> None:
    with a_world(fails_at_ten_past, database=database_url, every="5m") as world:
        a_history(world)
        assert [run.status for run in world.runs("job")] == ["success", "error", "skipped", "skipped", "success"]
        backfill = world.app.schedules.backfill("job", at("12:05"), at("12:25"), which=which)
        world.advance(seconds=30)
        assert filled(world) == slots
        (over,) = world.app.schedules.backfills("job")
        assert (over.id, over.started, over.running, over.ended_at is not None) == (backfill.id, len(slots), 0, True)


def test_a_backfill_can_begin_with_the_newest() -> None:
    with a_world(Job(0.01), every="5m") as world:
        world.advance_to(at("12:21"))
        world.app.schedules.backfill("job", at("12:05"), at("12:20"), which="all", order="newest_first")
        world.advance(seconds=30)
        assert filled(world) == ["12:20", "12:15", "12:10", "12:05"]


def test_both_ends_of_the_range_are_included_and_nothing_beside_them() -> None:
    """Temporal's case: from a slot to itself is one run, half a second beside it none."""
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:21"))
        half = timedelta(seconds=0.5)
        for start, end, slots in (
            (at("12:10"), at("12:10"), 1),
            (at("12:10") + half, at("12:10") + half, 0),
            (at("12:05"), at("12:15"), 3),
        ):
            plan = world.app.schedules.backfill("job", start, end, which="all", dry_run=True)
            assert len(plan.slots) == slots


def test_a_dry_run_lists_the_slots_and_starts_nothing() -> None:
    with a_world(fails_at_ten_past, every="5m") as world:
        a_history(world)
        plan = world.app.schedules.backfill("job", at("12:01"), at("12:26"), dry_run=True)
        assert (plan.id, [clock(slot) for slot in plan.slots]) == (None, ["12:10", "12:15", "12:20"])
        world.advance(minutes=1)
        assert world.app.schedules.backfills("job") == []
        assert world.runs("job", kind="backfill") == []


def test_one_after_another_unless_more_are_asked_for() -> None:
    with a_world(Job(0, 0, 0, 0, 1), every="5m") as world:
        world.advance_to(at("12:21"))
        world.app.schedules.backfill("job", at("12:05"), at("12:20"), which="all")
        world.advance()
        assert [run.status for run in world.runs("job", kind="backfill")] == ["running"]
        world.app.schedules.backfill("job", at("12:05"), at("12:20"), which="all", concurrency=3)
        world.advance()
        assert [run.status for run in world.runs("job", kind="backfill")] == ["running"] * 4
        world.advance(minutes=4)
        assert [run.status for run in world.runs("job", kind="backfill")] == ["success"] * 8


def test_allow_all_opens_the_lane_wide_and_other_policies_are_refused() -> None:
    with a_world(Job(0, 0, 1), every="5m") as world:
        world.advance_to(at("12:11"))
        assert (
            world.app.schedules.backfill("job", at("12:05"), at("12:10"), which="all", overlap="allow_all").concurrency
            == 1000
        )
        world.advance()
        assert [run.status for run in world.runs("job", kind="backfill")] == ["running"] * 2
        with pytest.raises(Invalid, match="a backfill takes overlap 'buffer_all'"):
            world.app.schedules.backfill("job", at("12:05"), at("12:10"), overlap="skip")
        world.advance(minutes=1)


def test_a_backfill_neither_blocks_live_slots_nor_is_blocked_by_them() -> None:
    with a_world(Job(0, 7, 2), every="5m") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all")
        world.advance()
        assert timeline(world, status="running") == ["12:05 running 12:11-", "12:10 running 12:10-"]
        world.advance_to(at("12:22"))
        assert timeline(world, kind="slot") == [
            "12:05 success 12:05-12:05",
            "12:10 success 12:10-12:17",
            "12:15 skipped overlap",
            "12:20 success 12:20-12:22",
        ]


def test_live_slots_come_before_those_of_a_backfill() -> None:
    with a_world(Job(1), settings=EngineSettings(max_running=1), every="5m") as world:
        world.advance_to(at("12:21"))
        world.app.schedules.backfill("job", at("12:05"), at("12:20"), which="all")
        world.advance_to(at("12:24:30"))
        world.app.schedules.trigger("job")
        world.advance_to(at("12:27"))
        manual = world.runs("job", kind="manual")[0]
        assert manual.started_at is not None
        assert clock(manual.started_at) in ("12:24:30", "12:25")


def test_a_failed_slot_of_a_backfill_is_retried_in_its_lane_and_the_next_waits_for_it() -> None:
    tries: list[str] = []

    async def graph(input: Any, ctx: Context) -> None:
        if ":backfill:" in ctx.run_id:
            tries.append(clock(ctx.scheduled_for))
            if len(tries) == 1:
                raise RuntimeError("no")

    with a_world(graph, every="5m", retry=2) as world:
        world.advance_to(at("12:11"))
        world.app.schedules.backfill("job", at("12:05"), at("12:10"), which="all")
        world.advance(minutes=1)
        assert tries == ["12:05", "12:05", "12:10"]


def test_a_backfill_goes_on_after_a_kill() -> None:
    job = Job(0, 0, 0, 1)
    with a_world(job, every="5m") as world:
        world.advance_to(at("12:16"))
        world.app.schedules.backfill("job", at("12:05"), at("12:15"), which="all")
        world.advance(seconds=30)
        world.kill()
        world.restart()
        world.advance(minutes=4)
        assert [run.status for run in world.runs("job", kind="backfill")] == ["success"] * 3
        assert world.app.schedules.backfills("job")[0].ended_at is not None


def test_a_cancelled_slot_of_a_backfill_makes_room_for_the_next() -> None:
    with a_world(Job(0, 0, 7), every="5m") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.backfill("job", at("12:05"), at("12:10"), which="all")
        world.advance()
        world.app.runs.cancel(world.runs("job", kind="backfill")[0].id)
        world.advance()
        assert [run.status for run in world.runs("job", kind="backfill")] == ["cancelled", "running"]


def test_a_backfill_brings_its_own_input() -> None:
    job = Job()
    with a_world(job, every="5m", input="live") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all", input="again")
        world.advance(seconds=1)
        assert job.inputs == ["live", "again"]


def test_a_backfill_works_while_the_schedule_is_paused() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.pause("job")
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all")
        world.advance(seconds=1)
        assert filled(world) == ["12:05"]


def test_slots_in_a_gap_are_missing_too() -> None:
    with a_world(Job(), every="1m") as world:
        world.kill()
        world.advance(hours=3)
        world.restart()
        assert world.app.runs.gaps("job")[0].size > 100
        world.app.schedules.backfill("job", at("12:30"), at("12:34"))
        world.advance(seconds=30)
        assert filled(world) == ["12:30", "12:31", "12:32", "12:33", "12:34"]
        assert world.app.schedules.explain("job", at("12:32")).verdict == "ran"


def test_what_a_backfill_has_run_is_not_missing_any_more() -> None:
    with a_world(fails_at_ten_past, every="5m") as world:
        a_history(world)
        for count in (3, 0):
            backfill = world.app.schedules.backfill("job", at("12:05"), at("12:25"))
            world.advance(seconds=30)
            (over,) = [each for each in world.app.schedules.backfills("job") if each.id == backfill.id]
            assert (over.started, over.ended_at is not None) == (count, True)


def test_a_slot_that_is_open_is_neither_missing_nor_failed() -> None:
    with a_world(Job(0, 7), every="5m") as world:
        world.advance_to(at("12:11"))
        assert world.app.schedules.backfill("job", at("12:05"), at("12:10"), dry_run=True).slots == ()


def test_deleting_a_schedule_ends_its_backfills() -> None:
    with a_world(Job(0, 0, 7), every="5m") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.backfill("job", at("12:05"), at("12:10"), which="all")
        world.advance()
        world.app.schedules.delete("job")
        world.advance(minutes=20)
        assert [run.status for run in world.runs("job", kind="backfill")] == ["success"]


def test_deleting_a_schedule_ends_a_slot_of_its_backfill_that_awaits_its_retry() -> None:
    async def fails(input: Any, ctx: Context) -> None:
        raise RuntimeError("no")

    with a_world(fails, every="1h", retry={"attempts": 2, "backoff": "30m"}) as world:
        world.app.schedules.backfill("job", at("10:00"), at("11:00"), which="all")
        world.advance(seconds=1)
        world.app.schedules.delete("job")
        world.advance(hours=1)
        assert [run.reason for run in world.runs("job", kind="backfill")] == ["internal", "schedule_deleted"]


@pytest.mark.parametrize(
    ("start", "end", "options", "words"),
    [
        ("12:10", "12:05", {}, "an end not before its start"),
        ("12:05", "14:00", {}, "moments that are over"),
        ("12:05", "12:10", {"which": "some"}, "which takes 'missing', 'failed', 'all', got 'some'"),
        ("12:05", "12:10", {"order": "random"}, "order takes 'oldest_first', 'newest_first', got 'random'"),
        ("12:05", "12:10", {"concurrency": 0}, "concurrency takes 1 to 1000, got 0"),
    ],
)
def test_a_wrong_backfill_is_refused_in_words(start: str, end: str, options: dict[str, Any], words: str) -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:11"))
        with pytest.raises(Invalid, match=words):
            world.app.schedules.backfill("job", at(start), at(end), **options)
