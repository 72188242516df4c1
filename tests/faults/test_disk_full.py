"""The disk is full: verbs are refused in words, nothing is half-written, and work goes on when there is room again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Unavailable
from foliot.domain.runs import Status
from foliot.stores.database import SqliteDatabase
from foliot.testing import World
from tests.engine.timelines import Job, a_world, at
from tests.faults.conftest import Note
from tests.faults.disks import Disk, Quota, SmallDisk, a_small_disk

WAYS = ("quota", "small disk")


@pytest.fixture(params=WAYS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "quota":
        yield Quota(tmp_path)
        return
    with a_small_disk() as found:
        if found is None:
            pytest.skip("a disk may not be mounted here")
        yield found


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    with a_small_disk() as found:
        if found is None:
            pytest.skip("a disk may not be mounted here")
        yield found


def database_of(world: World) -> SqliteDatabase:
    database = world.app.parts.database
    assert isinstance(database, SqliteDatabase)
    return database


def seconds_until_recovered(world: World) -> int:
    """How much time passes until a turn succeeds, in whole seconds."""
    engine = world.engine()
    for seconds in range(1, 60):
        turns = engine.counters.turns
        world.advance(seconds=1)
        if engine.counters.turns > turns:
            return seconds
    raise AssertionError("it has not recovered within a minute")


def test_a_full_disk_is_survived_and_no_slot_is_lost(
    disk: Disk, request: pytest.FixtureRequest, note: Note, caplog: pytest.LogCaptureFixture
) -> None:
    file = disk.folder / "foliot.db"
    job = Job(0)
    options: dict[str, Any] = {"every": "10s", "overlap": "allow_all", "catchup": "all"}
    with a_world(job, database=f"sqlite:///{file}", **options) as world:
        world.advance_to(at("12:05"))
        database = database_of(world)
        disk.fill(database)
        world.advance_to(at("12:15"))
        said = []
        for name in ("one", "other"):
            with pytest.raises(Unavailable) as refusal:
                world.app.schedules.create(name, every="1h", target="job", input="x" * 20_000)
            said.append(str(refusal.value))
        assert set(said) == {f"the database {file} cannot be used now: database or disk is full: make room on its disk"}
        assert [schedule.id for schedule in world.app.schedules.list()] == ["job"]
        outages = world.engine().counters.outages
        assert 0 < outages <= 20 + 10 * 12
        assert len([record for record in caplog.records if "disk is full" in record.message]) <= outages
        disk.free(database)
        recovered = seconds_until_recovered(world)
        world.app.schedules.create("afterwards", every="1h", target="job")
        world.advance_to(at("12:20"))
        assert {run.status for run in world.runs("job")} == {Status.SUCCESS}
        assert [ctx.scheduled_for for ctx in job.seen] == [run.scheduled_for for run in world.runs("job")]
        assert len(job.seen) == 20 * 6
        assert recovered <= 6
    way = request.node.callspec.params["disk"]
    note(
        f"disk full ({way})", f"recovered in {recovered} s, 0 of {len(job.seen)} slots lost, {outages} tries meanwhile"
    )


def test_what_ended_while_the_disk_was_full_is_recorded_once_there_is_room(small_disk: SmallDisk) -> None:
    job = Job(2)
    with a_world(job, database=f"sqlite:///{small_disk.folder / 'foliot.db'}", cron="5 * * * *") as world:
        world.advance_to(at("12:06"))
        small_disk.fill()
        world.advance_to(at("12:09"))
        assert [run.status for run in world.runs("job")] == [Status.RUNNING]
        small_disk.free()
        world.advance(seconds=6)
        assert [(run.status, run.losses) for run in world.runs("job")] == [(Status.SUCCESS, 0)]
        assert len(job.seen) == 1


def test_a_program_that_starts_on_a_full_disk_is_told_and_can_try_again(small_disk: SmallDisk, note: Note) -> None:
    """The lock could not be signed: that came as an error of the system, and the lock was never let go of."""
    app = Foliot(f"sqlite:///{small_disk.folder / 'foliot.db'}")
    app.graph("job")(lambda: None)
    small_disk.fill()
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"foliot\.db cannot be used now: .* full: make room on its disk"):
            app.schedules.create("job", every="1h", target="job")
    small_disk.free()
    assert app.schedules.create("job", every="1h", target="job").id == "job"
    app.close()
    note("disk full at the start", "refused in words, and the next try succeeds")
