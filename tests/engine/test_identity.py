"""A slot is itself for ever: its key is its schedule and its nominal time, and it fires once, whatever is done."""

from datetime import UTC

import pytest

from foliot import Conflict, NotFound
from tests.engine.invariants import Books
from tests.engine.timelines import Failing, Job, a_world, at, clock, timeline


def test_a_runs_id_is_its_slot_and_attempt_and_its_key_the_slot_alone() -> None:
    job = Job()
    with a_world(job, every="5m") as world:
        world.advance_to(at("12:05"))
        (run,) = world.runs("job")
        assert (run.id, run.idempotency_key) == ("job:2026-11-15T12:05:00Z~1", "job:2026-11-15T12:05:00Z")
        assert job.seen[0].scheduled_for == at("12:05")
        assert job.seen[0].scheduled_for.tzinfo is UTC


def test_the_key_is_the_nominal_time_never_the_jittered_one() -> None:
    with a_world(Job(), cron="0 * * * *", jitter="30m") as world:
        world.advance_to(at("13:40"))
        (run,) = world.runs("job")
        assert run.id == "job:2026-11-15T13:00:00Z~1"
        assert run.due_at > at("13:00")


def test_keys_of_triggers_and_backfills_are_their_own() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:06"))
        trigger = world.app.schedules.trigger("job")
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all")
        world.advance()
        assert trigger.idempotency_key == "job:manual:2026-11-15T12:06:00Z"
        (filled,) = world.runs("job", kind="backfill")
        assert filled.idempotency_key == "job:backfill:1:2026-11-15T12:05:00Z"


def test_the_id_of_a_schedule_is_a_slug_of_its_name_and_unique() -> None:
    with a_world(Job()) as world:
        created = world.app.schedules.create("Täglicher Bericht!", target="job", every="5m")
        assert (created.id, created.name) == ("taglicher-bericht", "Täglicher Bericht!")
        assert world.app.schedules.get("Täglicher Bericht!").id == created.id
        with pytest.raises(Conflict, match="there is a schedule 'taglicher-bericht' already"):
            world.app.schedules.create("taglicher bericht", target="job", every="5m")


def test_delete_is_soft_and_creating_again_never_fires_a_slot_twice(database_url: str) -> None:
    job = Job()
    with a_world(job, database=database_url, every="5m") as world:
        world.advance_to(at("12:05"))
        world.app.schedules.delete("job")
        with pytest.raises(NotFound):
            world.app.schedules.get("job")
        world.app.schedules.create("job", every="5m", catchup="all", grace="1h")
        world.advance_to(at("12:11"))
        assert [clock(ctx.scheduled_for) for ctx in job.seen] == ["12:05", "12:10"]
        assert timeline(world) == ["12:05 success 12:05-12:05", "12:10 success 12:10-12:10"]


def test_a_schedule_created_again_continues_from_where_its_cursor_leads() -> None:
    """With jitter around, a slot may have run before its nominal time: it does not run again after it."""
    with a_world(Job(), cron="0 * * * *", jitter="29m", jitter_mode="around") as world:
        run = None
        while run is None or run.due_at >= run.scheduled_for:
            due = world.app.schedules.get("job").next_at
            assert due is not None
            world.advance_to(due)
            run = world.runs("job")[-1]
        world.app.schedules.delete("job")
        world.app.schedules.create("job", cron="0 * * * *")
        world.advance_to(run.scheduled_for)
        assert world.runs("job")[-1].id == run.id


def test_a_schedule_that_was_gone_for_a_while_begins_anew() -> None:
    with a_world(Job(), every="5m", catchup="all", overlap="buffer_all") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.delete("job")
        world.advance_to(at("12:31"))
        world.app.schedules.create("job", every="5m", catchup="all")
        world.advance_to(at("12:36"))
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["12:05", "12:35"]


def test_a_run_that_outlives_its_deleted_schedule_still_occupies_the_new_one() -> None:
    with a_world(Job(12, 1), every="5m") as world:
        world.advance_to(at("12:06"))
        world.app.schedules.delete("job")
        world.app.schedules.create("job", every="5m")
        world.advance_to(at("12:21"))
        assert timeline(world) == [
            "12:05 success 12:05-12:17",
            "12:10 skipped overlap",
            "12:15 skipped overlap",
            "12:20 success 12:20-12:21",
        ]


def test_a_slot_skipped_before_a_deletion_stays_skipped() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.skip("job", at("12:10"))
        world.app.schedules.delete("job")
        world.app.schedules.create("job", every="5m")
        world.advance_to(at("12:11"))
        assert timeline(world) == ["12:05 success 12:05-12:05", "12:10 skipped skipped_by_user"]


def test_a_slot_skipped_before_an_edit_stays_skipped_and_one_that_the_new_spec_lacks_does_no_harm() -> None:
    with a_world(Job(), every="5m") as world:
        world.app.schedules.skip("job", at("12:10"))
        world.app.schedules.skip("job", at("12:15"))
        world.app.schedules.patch("job", every="10m")
        world.advance_to(at("12:21"))
        assert timeline(world) == [
            "12:10 skipped skipped_by_user",
            "12:15 skipped skipped_by_user",
            "12:20 success 12:20-12:20",
        ]


def test_an_edit_back_and_forth_never_changes_a_slots_identity_nor_fires_it_again() -> None:
    job = Job()
    with a_world(job, every="5m") as world:
        world.advance_to(at("12:05"))
        for every in ("10m", "5m", "1m", "5m"):
            world.app.schedules.patch("job", every=every)
        world.advance_to(at("12:11"))
        assert job.deliveries == ["job:2026-11-15T12:05:00Z~1", "job:2026-11-15T12:10:00Z~1"]


def test_redelivery_keeps_run_and_attempt_and_raises_only_the_token_while_a_retry_is_a_new_attempt() -> None:
    graph = Failing(1)
    with a_world(graph, cron="5 12 * * *", retry=2) as world:
        world.advance_to(at("12:05"))
        first, second = Books(world).runs
        assert (first["attempt"], second["attempt"], second["retry_of"]) == (1, 2, first["ref"])
        world.advance(minutes=1)
        assert [ctx.attempt for ctx in graph.seen] == [1, 2]
