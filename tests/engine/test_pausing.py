"""A pause freezes the cursor; on resuming, catch-up judges what fell into it."""

from typing import Any

import pytest

from foliot import Context, Invalid
from tests.engine.invariants import Books
from tests.engine.timelines import Failing, Job, a_world, at, clock, timeline


def test_paused_three_hours_then_resumed_replays_nothing(database_url: str) -> None:
    with a_world(Job(), database=database_url, cron="30 * * * *") as world:
        world.app.schedules.pause("job", "holiday")
        world.advance(hours=3)
        assert world.runs("job") == []
        world.app.schedules.resume("job")
        world.advance_to(at("15:31"))
        assert timeline(world) == [
            "12:30 skipped paused",
            "13:30 skipped paused",
            "14:30 skipped paused",
            "15:30 success 15:30-15:30",
        ]


@pytest.mark.parametrize(
    ("catchup", "lines"),
    [
        ("none", ["12:30 skipped paused", "13:30 skipped paused", "14:30 skipped paused"]),
        ("last", ["12:30 skipped paused", "13:30 skipped paused", "14:30 success 15:00-15:00"]),
        ("all", ["12:30 success 15:00-15:00", "13:30 success 15:00-15:00", "14:30 success 15:00-15:00"]),
        ("spread", ["12:30 success 15:00-15:00", "13:30 success 15:00:20-15:00:20", "14:30 success 15:00:40-15:00:40"]),
    ],
)
def test_what_fell_into_a_pause_is_judged_by_each_mode_on_resuming(catchup: str, lines: list[str]) -> None:
    with a_world(Job(), cron="30 * * * *", catchup=catchup, overlap="buffer_all") as world:
        world.app.schedules.pause("job")
        world.advance(hours=3)
        world.app.schedules.resume("job")
        world.advance(seconds=59)
        assert timeline(world) == lines


def test_the_cursor_is_frozen_while_paused() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.pause("job")
        world.advance(hours=2)
        schedule = world.app.schedules.get("job")
        assert (clock(schedule.swept_to), schedule.standing, schedule.next_at) == ("12:05", "paused", None)


def test_grace_does_not_apply_inside_a_pause() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:04:50"))
        world.app.schedules.pause("job")
        world.advance_to(at("12:05:10"))
        world.app.schedules.resume("job")
        world.advance_to(at("12:10:01"))
        assert timeline(world) == ["12:05 skipped paused", "12:10 success 12:10-12:10"]


def test_a_long_pause_of_a_fast_schedule_is_one_gap_with_the_reason_paused() -> None:
    with a_world(Job(), every="1m") as world:
        world.app.schedules.pause("job")
        world.advance(hours=10)
        world.app.schedules.resume("job")
        world.advance(minutes=1)
        (gap,) = world.app.runs.gaps("job")
        assert (clock(gap.first), clock(gap.last), gap.size, gap.reason) == ("12:01", "21:59", 599, "paused")
        assert timeline(world) == ["22:00 success 22:00-22:00", "22:01 success 22:01-22:01"]


def test_a_pause_until_ends_by_itself_and_the_slot_exactly_then_is_on_time() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.pause("job", until=at("12:15"))
        assert world.app.schedules.get("job").paused_until == at("12:15")
        world.advance_to(at("12:16"))
        assert timeline(world) == ["12:05 skipped paused", "12:10 skipped paused", "12:15 success 12:15-12:15"]
        schedule = world.app.schedules.get("job")
        assert (schedule.standing, schedule.paused_until, schedule.note) == ("active", None, None)


def test_until_takes_a_moment_to_come() -> None:
    with a_world(Job(), every="5m") as world, pytest.raises(Invalid, match="until takes a moment to come"):
        world.app.schedules.pause("job", until=at("12:00"))


def test_a_pause_can_be_made_longer_and_ended_early() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.pause("job", until=at("12:07"))
        world.app.schedules.pause("job", "longer", until=at("12:22"))
        world.advance_to(at("12:16"))
        assert world.runs("job") == []
        world.app.schedules.resume("job")
        world.advance_to(at("12:20"))
        assert timeline(world)[-2:] == ["12:15 skipped paused", "12:20 success 12:20-12:20"]


def test_what_came_due_before_the_pause_is_judged_as_if_there_were_none() -> None:
    with a_world(Job(), cron="30 * * * *") as world:
        world.kill()
        world.advance_to(at("12:30:10"))
        world.app.schedules.pause("job")
        world.restart()
        assert timeline(world) == ["12:30 success 12:30:10-12:30:10"]


def test_downtime_and_pause_are_told_apart() -> None:
    with a_world(Job(), cron="30 * * * *") as world:
        world.kill()
        world.advance(hours=1)
        world.app.schedules.pause("job", until=at("15:00"))
        world.advance(hours=3)
        world.restart()
        assert timeline(world) == [
            "12:30 skipped missed",
            "13:30 skipped paused",
            "14:30 skipped paused",
            "15:30 skipped missed",
        ]


def test_held_slots_wait_for_the_end_of_a_pause() -> None:
    with a_world(Job(7, 1), every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        world.app.schedules.pause("job")
        world.advance_to(at("12:20:30"))
        assert timeline(world) == ["12:05 success 12:05-12:12", "12:10 pending paused"]
        world.app.schedules.resume("job")
        world.advance(minutes=2)
        assert timeline(world) == [
            "12:05 success 12:05-12:12",
            "12:10 success 12:20:30-12:21:30",
            "12:15 skipped paused",
            "12:20 skipped paused",
        ]


def test_a_pending_retry_waits_for_the_end_of_a_pause() -> None:
    graph = Failing(1)
    with a_world(graph, cron="5 12 * * *", retry={"attempts": 2, "backoff": "1m"}) as world:
        world.advance_to(at("12:05:30"))
        world.app.schedules.pause("job")
        world.advance_to(at("12:20"))
        assert timeline(world)[-1] == "12:05 ~2 pending retry"
        world.app.schedules.resume("job")
        world.advance(seconds=1)
        assert timeline(world)[-1] == "12:05 ~2 success 12:20-12:20"


def test_a_slot_of_a_spread_backlog_that_is_due_in_a_pause_waits_for_its_end() -> None:
    with a_world(Job(), cron="30 * * * *", catchup="spread", lookahead="6m", overlap="buffer_all") as world:
        world.kill()
        world.advance(hours=2)
        world.restart()
        world.advance(minutes=1)
        world.app.schedules.pause("job")
        world.advance(minutes=10)
        assert timeline(world)[-1] == "13:30 pending paused"
        world.app.schedules.resume("job")
        world.advance()
        assert timeline(world)[-1] == "13:30 success 14:11-14:11"


def test_a_run_in_hand_is_left_alone_by_a_pause() -> None:
    with a_world(Job(7), every="5m") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.pause("job")
        world.advance_to(at("12:13"))
        assert timeline(world) == ["12:05 success 12:05-12:12"]


def test_a_spec_edit_while_paused_closes_the_frozen_stretch_as_paused() -> None:
    with a_world(Job(), cron="30 * * * *", catchup="all", overlap="buffer_all") as world:
        world.app.schedules.pause("job")
        world.advance(hours=2)
        world.app.schedules.patch("job", cron="45 * * * *")
        assert timeline(world) == ["12:30 skipped paused", "13:30 skipped paused"]
        world.advance(hours=1)
        assert world.app.schedules.get("job").paused
        world.app.schedules.resume("job")
        world.advance_to(at("15:46"))
        assert timeline(world)[2:] == ["14:45 success 15:00-15:00", "15:45 success 15:45-15:45"]


def test_an_edit_while_paused_until_still_wakes_up_then() -> None:
    with a_world(Job(), cron="30 * * * *") as world:
        world.app.schedules.pause("job", until=at("14:00"))
        world.advance(hours=1)
        world.app.schedules.patch("job", cron="45 * * * *")
        world.advance_to(at("14:46"))
        assert timeline(world) == ["12:30 skipped paused", "13:45 skipped paused", "14:45 success 14:45-14:45"]


def test_an_edit_does_not_end_a_pause() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.pause("job", "by hand")
        world.app.schedules.patch("job", every="7m", overlap="allow_all", input=1)
        schedule = world.app.schedules.get("job")
        assert (schedule.paused, schedule.note, schedule.paused_by) == (True, "by hand", "user")


def test_resuming_what_is_not_paused_changes_nothing() -> None:
    with a_world(Job(), every="5m") as world:
        before = world.app.schedules.get("job")
        assert world.app.schedules.resume("job") == before


def test_a_trigger_runs_while_paused_and_leaves_the_pause() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.pause("job")
        world.advance_to(at("12:06"))
        world.app.schedules.trigger("job")
        world.advance_to(at("12:11"))
        assert timeline(world) == ["12:06 success 12:06-12:06"]
        assert world.app.schedules.get("job").paused


def test_pause_on_failure_writes_who_and_why(database_url: str) -> None:
    with a_world(Failing(), database=database_url, every="5m", pause_on_failure=True) as world:
        before = world.app.schedules.get("job").token
        world.advance_to(at("12:21"))
        schedule = world.app.schedules.get("job")
        assert timeline(world) == ["12:05 error internal 12:05-12:05"]
        assert (schedule.paused, schedule.paused_by) == (True, "pause_on_failure")
        assert schedule.note == "job:2026-11-15T12:05:00Z~1 failed: internal"
        assert schedule.token > before


def test_pause_on_failure_holds_what_waits_behind_the_failed_run() -> None:
    async def fails_late(input: Any, ctx: Context) -> None:
        await Job(7)(input, ctx)
        raise RuntimeError("no")

    with a_world(fails_late, every="5m", overlap="buffer_all", pause_on_failure=True) as world:
        world.advance_to(at("12:21"))
        assert timeline(world) == ["12:05 error internal 12:05-12:12", "12:10 pending paused"]


def test_a_resume_that_no_worker_has_seen_is_still_a_pause_that_ended() -> None:
    with a_world(Job(), cron="30 * * * *") as world:
        world.app.schedules.pause("job")
        world.kill()
        world.advance(hours=1)
        world.app.schedules.resume("job")
        world.advance(hours=1)
        world.app.schedules.pause("job")
        world.advance(hours=1)
        world.app.schedules.resume("job")
        world.restart()
        assert timeline(world) == ["12:30 skipped paused", "13:30 skipped missed", "14:30 skipped paused"]
        (cursor,) = Books(world).cursors.values()
        assert (cursor["pause_from"], cursor["pause_to"]) == (None, None)


@pytest.mark.parametrize(("overlap", "reason"), [("allow_all", None), ("skip", "overlap")])
def test_more_slots_than_are_judged_at_once_that_waited_for_a_pause_are_all_judged_when_it_ends(
    overlap: str, reason: str | None
) -> None:
    with a_world(Job(30), every="1m", catchup="spread", lookahead="10m", overlap=overlap) as world:
        world.kill()
        world.advance(minutes=150)
        world.restart()
        world.app.schedules.pause("job")
        world.advance(minutes=11)
        waited = {run.id for run in world.runs("job", status="pending") if run.hold == "paused"}
        assert len(waited) > 100
        world.app.schedules.resume("job")
        world.advance(seconds=1)
        judged = [run for run in world.runs("job") if run.id in waited]
        assert {(run.reason, run.hold) for run in judged} == {(reason, None)}
