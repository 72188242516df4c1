"""`explain`: for every moment an answer to why it did, or did not, run."""

import asyncio
from typing import Any

from foliot import Calendar, Context, Spec
from foliot.engine.settings import EngineSettings
from foliot.testing import World
from tests.engine.timelines import Job, a_world, at, register_elsewhere


def explained(world: World, clock: str) -> tuple[str, str | None]:
    answer = world.app.schedules.explain("job", at(clock))
    assert answer.sentence.endswith(".")
    return answer.verdict, answer.reason


def test_what_ran_and_what_failed() -> None:
    async def graph(input: Any, ctx: Context) -> None:
        if ctx.scheduled_for == at("12:10"):
            raise RuntimeError("the reason why\nand more")

    with a_world(graph, every="5m") as world:
        world.advance_to(at("12:11"))
        assert explained(world, "12:05") == ("ran", None)
        assert explained(world, "12:10") == ("failed", "internal")
        answer = world.app.schedules.explain("job", at("12:10"))
        assert "RuntimeError: the reason why" in answer.sentence
        assert answer.run_id == "job:2026-11-15T12:10:00Z~1"


def test_overlap_superseded_held_and_running() -> None:
    with a_world(Job(17, 1), every="5m", overlap="buffer_one") as world:
        world.advance_to(at("12:16"))
        assert explained(world, "12:05") == ("running", None)
        assert explained(world, "12:10") == ("skipped", "superseded")
        assert explained(world, "12:15") == ("held", "overlap")
        world.app.schedules.patch("job", overlap="skip")
        world.advance_to(at("12:21"))
        assert explained(world, "12:20") == ("skipped", "overlap")


def test_missed_and_paused_as_rows_and_as_gaps() -> None:
    with a_world(Job(), every="1m") as world:
        world.kill()
        world.advance_to(at("12:05:30"))
        world.restart()
        assert explained(world, "12:02") == ("missed", "missed")
        world.app.schedules.pause("job")
        assert explained(world, "12:06") == ("future", "future")
        world.advance_to(at("15:00:30"))
        assert explained(world, "13:00") == ("held", "paused")
        world.app.schedules.resume("job")
        world.advance()
        assert explained(world, "13:00") == ("skipped", "paused")


def test_the_limit() -> None:
    with a_world(Job(), every="5m", limit=1, covers=False) as world:
        world.advance_to(at("12:11"))
        assert explained(world, "12:10") == ("never", "limit_reached")
        assert explained(world, "12:15") == ("never", "limit_reached")


def test_out_of_bounds_excluded_not_in_the_spec_to_come_and_before_the_creation() -> None:
    spec = Spec(
        cron="*/5 * * * *",
        exclude=Calendar(minute="30", hour="*"),
        start_at=at("11:00"),
        end_at=at("13:00"),
    )
    with a_world(Job(), spec=spec) as world:
        assert explained(world, "13:05") == ("never", "out_of_window")
        assert explained(world, "12:30") == ("never", "excluded")
        assert explained(world, "12:31") == ("never", "not_in_spec")
        assert explained(world, "12:05") == ("future", "future")
        assert explained(world, "11:05") == ("never", "before_creation")


def test_what_was_skipped_by_hand_and_what_lies_before_an_edit() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.skip("job", at("12:05"))
        assert explained(world, "12:05") == ("skipped", "skipped_by_user")
        world.advance_to(at("12:06"))
        world.app.schedules.patch("job", every="1m")
        assert explained(world, "12:04") == ("never", "before_edit")


def test_what_is_due_and_nobody_has_looked_at() -> None:
    with a_world(Job(), every="5m", settled=False) as world:
        world.kill()
        world.advance_to(at("12:05:59"))
        assert explained(world, "12:05") == ("due", "not_swept")
        world.advance_to(at("12:06"))
        assert explained(world, "12:05") == ("due", "no_worker"), "whoever had it would have looked by now"


def test_what_was_cancelled_and_what_a_deletion_left() -> None:
    async def long(input: Any, ctx: Context) -> None:
        await asyncio.sleep(3600)

    with a_world(long, every="5m", overlap="buffer_all") as world:
        world.advance_to(at("12:11"))
        world.app.runs.cancel("job:2026-11-15T12:05:00Z~1")
        world.advance()
        assert explained(world, "12:05") == ("cancelled", "cancelled_by_user")
        world.advance_to(at("12:16"))
        world.app.schedules.delete("job")
        assert explained(world, "12:15") == ("cancelled", "schedule_deleted")
        assert explained(world, "12:20") == ("never", "schedule_deleted")


def test_a_slot_that_failed_and_was_run_again_by_a_backfill_ran() -> None:
    failing = True

    async def graph(input: Any, ctx: Context) -> None:
        if failing:
            raise RuntimeError("no")

    with a_world(graph, every="5m") as world:
        world.advance_to(at("12:06"))
        failing = False
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="failed")
        world.advance(seconds=1)
        assert explained(world, "12:05") == ("ran", None)
        assert "by a backfill" in world.app.schedules.explain("job", at("12:05")).sentence


def test_before_an_edit_the_spec_of_then_answers_also_when_it_was_paused() -> None:
    with a_world(Job(), every="5m", covers=False) as world:
        world.advance_to(at("12:06"))
        world.app.schedules.patch("job", every="1m")
        world.app.schedules.pause("job")
        world.advance_to(at("12:10:30"))
        world.app.schedules.patch("job", every="7m")
        world.app.schedules.resume("job")
        world.advance_to(at("12:20"))
        assert explained(world, "12:03") == ("never", "not_in_spec")
        assert explained(world, "12:04:30") == ("never", "not_in_spec")
        assert explained(world, "12:05") == ("ran", None)
        assert explained(world, "12:08") == ("skipped", "paused")
        assert "as it was then" in world.app.schedules.explain("job", at("12:09:30")).sentence
        assert explained(world, "12:14") == ("ran", None)


def test_a_slot_that_came_due_by_jitter_after_an_edit_is_told_by_its_row() -> None:
    with a_world(Job(), every="10m", jitter="9m", covers=False) as world:
        world.advance_to(at("12:10:01"))
        world.app.schedules.patch("job", cron="7 * * * *", jitter=None)
        world.advance_to(at("12:30"))
        assert explained(world, "12:10") == ("ran", None)
        assert explained(world, "12:20") == ("never", "not_in_spec")


def test_what_was_not_owed_after_the_limit_is_told_also_once_it_was_raised() -> None:
    with a_world(Job(), every="5m", limit=1, covers=False) as world:
        world.advance_to(at("12:21"))
        world.app.schedules.patch("job", limit=5)
        world.advance_to(at("12:26"))
        assert explained(world, "12:05") == ("ran", None)
        assert explained(world, "12:15") == ("never", "limit_reached")
        assert explained(world, "12:25") == ("ran", None)


def test_a_deleted_schedule_is_explained_also_when_it_lives_again() -> None:
    with a_world(Job(), every="5m", covers=False) as world:
        world.advance_to(at("12:06"))
        world.app.schedules.delete("job")
        assert explained(world, "12:05") == ("ran", None)
        assert explained(world, "12:06") == ("never", "not_in_spec")
        assert explained(world, "12:10") == ("never", "schedule_deleted")
        world.advance_to(at("12:16"))
        world.app.schedules.create("job", target="job", every="1m")
        world.advance_to(at("12:18"))
        assert explained(world, "12:05") == ("ran", None)
        assert explained(world, "12:04") == ("never", "before_edit")
        assert explained(world, "12:15") == ("never", "schedule_deleted")
        assert explained(world, "12:17") == ("ran", None)


REMEDY = (
    "no living worker has its target 'python:report'; start a program that registers it, or give the schedule another"
    " with `schedules.patch(..., target=...)`."
)


def test_what_nobody_takes_up_any_more_says_so_and_names_the_target() -> None:
    """It was said to wait for a worker with room, while the only program that had its target was gone."""
    with a_world(Job(), covers=False, settled=False) as world:
        register_elsewhere(world, "python:report")
        world.app.schedules.create("job", target="report", every="5m")
        world.app.schedules.trigger("job")
        world.advance_to(at("12:06"))
        assert explained(world, "12:05") == ("due", "no_worker")
        assert world.app.schedules.explain("job", at("12:05")).sentence == f"2026-11-15T12:05:00Z is due: {REMEDY}"
        (run,) = world.runs("job")
        (detail, told) = world.app.parts.verbs.runs.detail(run.id), world.app.schedules.explain("job", at("12:00"))
        assert detail.sentence == told.sentence == f"2026-11-15T12:00:00Z waits by hand: {REMEDY}"
        assert (told.verdict, told.reason) == ("held", "no_worker")
        world.app.schedules.patch("job", target="job")
        world.advance(minutes=1)
        assert explained(world, "12:00") == ("ran", None), "as the remedy says"


def test_a_slot_that_waits_for_room_says_so_while_a_worker_has_its_target() -> None:
    settings = EngineSettings(max_running=1)
    with a_world(Job(60), settings=settings, every="5m", overlap="allow_all", settled=False) as world:
        world.advance_to(at("12:30"))
        assert explained(world, "12:05") == ("running", None)
        assert explained(world, "12:10") == ("held", None)
        assert "waits for a worker with room" in world.app.schedules.explain("job", at("12:10")).sentence


def test_a_worker_that_lost_its_lease_says_anew_what_it_takes_up() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        world.app.parts.database.write(lambda tx: tx._do("UPDATE workers SET stopped_at = 1"))
        world.advance_to(at("12:11"))
        (taker,) = world.app.parts.database.read(lambda tx: tx.takers())
        assert taker.targets == ["dag:*", "python:job"]
