"""Old final runs are removed, and nothing that the future still rests on."""

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from foliot import Context, Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.rows import AnswerRow
from tests.engine.invariants import Books
from tests.engine.timelines import Job, a_world, at, clock

HOUR = 3600 * MICROSECONDS


def kept(world: Any) -> list[str]:
    return [clock(run.scheduled_for) for run in world.runs("job")]


def test_a_final_run_is_kept_for_so_long_and_while_there_are_no_more_than_so_many() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=3, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m") as world:
        world.advance_to(at("12:45"))
        assert len(kept(world)) == 4, "younger than an hour"
        world.advance_to(at("15:05"))
        assert kept(world) == ["14:00", "14:10", "14:20", "14:30", "14:40", "14:50", "15:00"]


def test_a_worker_that_never_has_a_quiet_moment_takes_one() -> None:
    turn = Engine._turn

    async def takes_a_minute(engine: Engine) -> None:
        await turn(engine)
        await asyncio.sleep(60)

    settings = EngineSettings(keep_for=HOUR, keep_runs=3, prune_every=HOUR // 4)
    with (
        patch.object(Engine, "_turn", takes_a_minute),
        patch.object(Engine, "_is_time", lambda _: True),
        a_world(Job(), settings=settings, every="10m") as world,
    ):
        world.advance_to(at("15:05"))
        # Half an hour after the last time, at the latest.
        assert kept(world)[0] >= "13:30"


def test_whichever_keeps_more_wins() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=100, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m") as world:
        world.advance_to(at("18:05"))
        assert len(kept(world)) == 36


def test_open_runs_and_what_is_remembered_are_kept_for_ever() -> None:
    results: list[Any] = []

    async def graph(input: Any, ctx: Context) -> str | None:
        results.append(ctx.last_result)
        if len(results) == 1:
            return "first"
        raise RuntimeError("no")

    settings = EngineSettings(keep_for=HOUR, keep_runs=1, prune_every=HOUR // 4)
    with a_world(graph, settings=settings, every="10m") as world:
        world.advance_to(at("20:05"))
        assert kept(world)[0] == "12:10", "its result is still handed on"
        assert set(results[1:]) == {"first"}


def test_a_mark_of_a_slot_to_come_is_kept_however_old_it_is() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=1, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m") as world:
        world.app.schedules.skip("job", at("22:00"))
        world.advance_to(at("22:05"))
        assert world.app.schedules.explain("job", at("22:00")).reason == "skipped_by_user"


def test_a_slot_whose_row_was_removed_never_fires_again_and_explain_says_that_it_is_not_known() -> None:
    job = Job()
    settings = EngineSettings(keep_for=HOUR, keep_runs=2, prune_every=HOUR // 4)
    with a_world(job, settings=settings, every="10m") as world:
        world.advance_to(at("18:05"))
        world.kill()
        world.restart()
        world.advance(minutes=1)
        assert len(job.deliveries) == len(set(job.deliveries)) == 36
        explained = world.app.schedules.explain("job", at("12:10"))
        assert (explained.verdict, explained.reason) == ("unknown", "pruned")


def test_a_backfill_before_what_is_known_is_refused_unless_it_wants_all() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=2, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m") as world:
        world.advance_to(at("18:05"))
        with pytest.raises(Invalid, match="is no longer known"):
            world.app.schedules.backfill("job", at("12:10"), at("12:20"))
        world.app.schedules.backfill("job", at("12:10"), at("12:20"), which="all")
        world.advance(seconds=1)
        assert len(world.runs("job", kind="backfill")) == 2


def test_old_gaps_go_with_the_rows_around_them() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=2, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="1m", covers=False) as world:
        world.kill()
        world.advance(hours=3)
        world.restart()
        assert len(Books(world).gaps) == 1
        world.advance(hours=3)
        assert Books(world).gaps == []


def test_workers_that_are_long_gone_are_forgotten() -> None:
    settings = EngineSettings(keep_for=HOUR, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m") as world:
        for _ in range(3):
            world.kill()
            world.restart()
        world.advance(hours=3)
        assert len(Books(world).workers) == 1


def test_answers_are_forgotten_after_a_day_and_however_many_there_are() -> None:
    settings = EngineSettings(prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="30m") as world:
        database = world.app.parts.database

        def left() -> int:
            return int(database.read(lambda tx: tx._all("SELECT count(*) FROM kept_answers"))[0][0])

        def keep(tx: Any) -> None:
            for number in range(2500):
                tx.keep_answer(AnswerRow("ann", f"{number}", "", 201, "{}", "{}", tx.now))

        database.write(keep)
        world.advance_to(at("12:00") + timedelta(hours=23))
        assert left() == 2500
        world.advance_to(at("12:00") + timedelta(hours=25))
        assert left() == 0


def test_what_a_spec_was_is_forgotten_with_the_rows_of_its_time() -> None:
    settings = EngineSettings(keep_for=HOUR, keep_runs=2, prune_every=HOUR // 4)
    with a_world(Job(), settings=settings, every="10m", covers=False) as world:
        ref = world.app.parts.database.read(lambda tx: tx.schedules(["job"]))[0].ref
        world.advance_to(at("12:15"))
        world.app.schedules.patch("job", every="5m")
        world.advance_to(at("12:45"))
        assert len(world.app.parts.database.read(lambda tx: tx.past_specs([ref]))[ref]) == 1
        world.advance_to(at("18:00"))
        assert world.app.parts.database.read(lambda tx: tx.past_specs([ref])) == {}
        explained = world.app.schedules.explain("job", at("12:10"))
        assert (explained.verdict, explained.reason) == ("unknown", "pruned")
