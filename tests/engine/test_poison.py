"""A schedule that the engine fails on is set aside and looked at again later; all others go on meanwhile."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foliot import Context, Foliot
from foliot.engine.triage import Bewildered
from foliot.testing import World, virtual
from tests.engine.timelines import START, at

pytestmark = pytest.mark.poison

NAMES = [f"s{number}" for number in range(9)]
OTHERS = [name for name in NAMES if name != "s4"]


@contextmanager
def a_world(database: str) -> Iterator[World]:
    """Nine schedules that run each minute for twenty seconds; what was begun is in `begun`."""
    app = Foliot("sqlite:///not-used.db")

    @app.graph("job")
    async def job(input: Any, ctx: Context) -> str:
        await asyncio.sleep(20)
        return "done"

    for name in NAMES:
        app.schedule(name, every="1m")(job)
    with virtual(app, START, database=database) as world:
        yield world


def spoil(world: World, name: str, policies: str = "no JSON") -> None:
    """Nobody can read any more what the schedule says."""

    def act(tx: Any) -> None:
        tx._do("UPDATE schedules SET policies = ?, version = version + 1 WHERE id = ?", policies, name)
        tx._do("UPDATE cursors SET version = version + 1 WHERE ref = (SELECT ref FROM schedules WHERE id = ?)", name)

    world.app.parts.database.write(act)


def mend(world: World, name: str) -> None:
    read: Any = lambda tx: tx._all("SELECT policies FROM schedules WHERE id = 's0'")  # noqa: E731
    spoil(world, name, world.app.parts.database.read(read)[0][0])


def ran(world: World, name: str) -> list[str]:
    return [f"{run.scheduled_for:%H:%M}" for run in world.runs(name) if run.status == "success"]


def test_one_that_cannot_be_swept_keeps_nobody_else_waiting(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with a_world(database_url) as world:
        spoil(world, "s4")
        world.advance_to(at("12:03:30"))

        assert [ran(world, name) for name in OTHERS] == [["12:01", "12:02", "12:03"]] * 8
        assert ran(world, "s4") == []
        assert world.engine().counters.set_aside == 4
    told = [record for record in caplog.records if "s4 needs attention" in record.getMessage()]
    assert [record.levelno for record in told] == [logging.ERROR] * 4


def test_it_is_looked_at_again_later_each_time_and_goes_on_when_it_is_mended(database_url: str) -> None:
    with a_world(database_url) as world:
        spoil(world, "s4")
        world.advance_to(at("12:04:30"))
        (trouble,) = world.app.parts.database.read(lambda tx: tx.troubles(10))
        # It failed at 12:01:00, 12:01:20, 12:02:00 and 12:03:20.
        assert (trouble.schedule, trouble.trouble.times) == ("s4", 4)
        assert trouble.trouble.until == int(at("12:06:00").timestamp() * 1e6)

        mend(world, "s4")
        assert world.app.schedules.get("s4").needs_attention
        world.advance_to(at("12:07:30"))

        # 12:05 was in the way of 12:06.
        assert ran(world, "s4") == ["12:05", "12:07"]
        assert not world.app.schedules.get("s4").needs_attention
        assert world.app.parts.database.read(lambda tx: tx.troubles(10)) == []


def test_explain_says_that_it_is_set_aside_and_why(database_url: str) -> None:
    with a_world(database_url) as world:
        spoil(world, "s4")
        world.advance_to(at("12:01:10"))

        found = world.app.schedules.explain("s4", at("12:01"))

    assert (found.verdict, found.reason) == ("due", "set_aside")
    assert found.sentence.startswith(
        "2026-11-15T12:01:00Z is set aside with its schedule until 2026-11-15T12:01:20Z: the engine has failed on it"
        " since 2026-11-15T12:01:00Z (JSONDecodeError: Expecting value"
    )


def test_several_are_found_one_by_one(database_url: str) -> None:
    with a_world(database_url) as world:
        for name in ("s0", "s3", "s4", "s8"):
            spoil(world, name)
        world.advance_to(at("12:01:40"))

        assert [name for name in NAMES if ran(world, name)] == ["s1", "s2", "s5", "s6", "s7"]
        assert world.engine().counters.set_aside == 8


def test_an_outcome_that_cannot_be_recorded_stays_in_hand_until_it_can(database_url: str) -> None:
    with a_world(database_url) as world:
        world.advance_to(at("12:01:10"))
        spoil(world, "s4")
        world.advance_to(at("12:01:30"))

        assert [name for name in NAMES if ran(world, name)] == OTHERS
        assert world.engine().in_hand == 1

        mend(world, "s4")
        world.advance_to(at("12:01:45"))
        (run,) = world.runs("s4")
        assert (run.status, run.result, run.losses) == ("success", "done", 0)
        assert world.engine().in_hand == 0


def test_one_that_cannot_be_taken_up_keeps_nobody_else_waiting(database_url: str) -> None:
    with a_world(database_url) as world:
        for name in NAMES:
            world.app.schedules.trigger(name)
        spoil(world, "s4")
        world.advance(seconds=30)
        assert [name for name in NAMES if ran(world, name)] == OTHERS

        mend(world, "s4")
        world.advance_to(at("12:01:30"))
        assert ran(world, "s4") == ["12:00"]


def test_one_that_cannot_be_rescued_keeps_nobody_else_waiting(database_url: str) -> None:
    with a_world(database_url) as world:
        world.advance_to(at("12:01:10"))
        world.kill()
        world.restart()
        spoil(world, "s4")
        world.advance_to(at("12:02:40"))
        assert [name for name in NAMES if "12:01" in ran(world, name)] == OTHERS

        mend(world, "s4")
        world.advance_to(at("12:04:40"))
        assert ran(world, "s4")[0] == "12:01"


def test_a_worker_that_fails_again_and_again_for_no_schedule_ends_with_an_error(database_url: str) -> None:
    def broken(target: str) -> int | None:
        raise ZeroDivisionError(target)

    with a_world(database_url) as world:
        world.engine().gate.room = broken  # type: ignore[method-assign]
        with pytest.raises(Bewildered) as found:
            world.advance(minutes=5)

        assert isinstance(found.value.__cause__, ZeroDivisionError)


def test_a_worker_that_fails_for_a_moment_goes_on(database_url: str) -> None:
    with a_world(database_url) as world:
        room = world.engine().gate.room
        failures = iter([ZeroDivisionError()] * 7)

        def shaky(target: str) -> int | None:
            for failure in failures:
                raise failure
            return room(target)

        world.engine().gate.room = shaky  # type: ignore[method-assign]
        world.advance_to(at("12:01:30"))
        assert [name for name in NAMES if ran(world, name)] == NAMES


def test_one_that_is_set_aside_stays_so_when_the_worker_dies(tmp_path: Path) -> None:
    refused = (
        "CREATE TRIGGER refused BEFORE INSERT ON runs WHEN NEW.schedule_ref = (SELECT ref FROM schedules"
        " WHERE id = 's4') BEGIN SELECT RAISE(ABORT, 'refused'); END"
    )
    with a_world(f"sqlite:///{tmp_path / 'foliot.db'}") as world:
        write: Any = world.app.parts.database.write
        write(lambda tx: tx.cx.exec_driver_sql(refused).close())
        world.advance_to(at("12:01:10"))
        world.kill()
        world.restart()
        write(lambda tx: tx.cx.exec_driver_sql("DROP TRIGGER refused").close())
        world.advance_to(at("12:01:19"))
        assert world.runs("s4") == []

        world.advance_to(at("12:01:45"))
        assert ran(world, "s4") == ["12:01"]
