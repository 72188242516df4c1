"""A story on the recording disk: the real store and engine at work, and after each commit what it has promised."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from sqlalchemy import URL, Engine, create_engine

import foliot.stores.database
from foliot import Context, Foliot
from foliot.domain.errors import Conflict, Refusal
from foliot.engine.settings import EngineSettings
from foliot.stores.database import SqliteDatabase
from foliot.testing import World, virtual
from tests.engine.timelines import START
from tests.power.disk import Operation, RecordingDisk
from tests.power.driver import Driver
from tests.stores.sharing import together

FILE = "story.db"
LENGTH = timedelta(minutes=40)
TABLES = ("schedules", "cursors", "runs", "gaps", "backfills", "workers", "targets")
NOTHING = "no schema"
_names = count(1)

SCHEDULES: dict[str, dict[str, Any]] = {
    "skips": {"every": "3m", "overlap": "skip", "catchup": "last"},
    "holds-one": {"every": "2m", "overlap": "buffer_one", "catchup": "all", "jitter": "90s"},
    "holds-all": {"every": "2m", "overlap": "buffer_all", "retry": 2, "catchup": "spread"},
    "cancels": {"every": "4m", "overlap": "cancel_other", "catchup": "all", "timeout": "9m"},
    "terminates": {"every": "4m", "overlap": "terminate_other", "pause_on_failure": True},
    "allows": {"every": "5m", "overlap": "allow_all", "catchup": "all", "retry": 2},
    "often": {"every": "30s", "catchup": "all"},
}


class Promise(NamedTuple):
    """A commit that was acknowledged: how many operations there had been by then, and what the books said."""

    operations: int
    state: str
    at: float
    """Seconds since the world's beginning."""


class Story(NamedTuple):
    operations: list[Operation]
    promises: list[Promise]
    """The first is that of a file which is not there yet: nothing."""


def an_app(begun: list[str] | None = None) -> Foliot:
    """Runs of 0 to 5 minutes, one in four of which fails: by its moment, not by chance. Noted when they begin."""
    app = Foliot("sqlite:///not-used.db", settings=EngineSettings(heartbeat=60_000_000, lease=600_000_000))

    @app.graph("job")
    async def work(input: Any, ctx: Context) -> int:
        if begun is not None:
            begun.append(ctx.run_id)
        dice = int(ctx.scheduled_for.timestamp()) // 30 * 7 + ctx.attempt * 3 + len(ctx.schedule)
        await asyncio.sleep(dice % 6 * 60 if ctx.schedule != "often" else 0)
        if dice % 4 == 0:
            raise RuntimeError("no")
        return dice

    return app


Ask = Callable[[str], Iterable[Any]]


def state_of(ask: Ask) -> str:
    """All that the books say, in short: two of them are equal only if every row of every table is."""
    found = {name for (name,) in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "runs" not in found:
        return NOTHING
    digest = hashlib.blake2b(digest_size=16)
    for table in TABLES:
        digest.update(repr([tuple(row) for row in ask(f"SELECT * FROM {table} ORDER BY ref")]).encode())
    return digest.hexdigest()


def tell(folder: Path, pragmas: Mapping[str, str]) -> Story:
    """Forty minutes of schedules, verbs and a worker that dies, on a fresh file in the folder."""
    disk = RecordingDisk(f"recording-{next(_names)}")
    promises = [Promise(0, NOTHING, 0.0)]
    try:
        with (
            _recorded(disk, promises, pragmas, str(folder)),
            virtual(an_app(), START, database=url_of(folder)) as world,
        ):
            _live(world)
    finally:
        disk.unregister()
    return Story(disk.operations, promises)


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / FILE}"


@contextmanager
def _recorded(disk: RecordingDisk, promises: list[Promise], pragmas: Mapping[str, str], place: str) -> Iterator[None]:
    """The store at that place on the disk, and a promise noted whenever it has acknowledged something."""
    driver = Driver(disk, pragmas)
    write, claim = SqliteDatabase.write, SqliteDatabase.claim_alone

    def connect(url: URL, **options: Any) -> Engine:
        # What else this process has open, such as a thread that another test has left behind, is no part of the story.
        return (
            create_engine(url, module=driver, **options)
            if place in str(url.database)
            else create_engine(url, **options)
        )

    def noted(database: SqliteDatabase) -> None:
        if place not in database.path:
            return
        operations = len(disk.operations)
        state = database.read(lambda tx: state_of(tx.cx.exec_driver_sql))
        promises.append(Promise(operations, state, (database.clock.now() - START.timestamp() * 1e6) / 1e6))

    def noted_write(database: SqliteDatabase, act: Any) -> Any:
        answer = write(database, act)
        noted(database)
        return answer

    def noted_claim(database: SqliteDatabase) -> None:
        claim(database)
        noted(database)

    with (
        patch.object(foliot.stores.database, "create_engine", connect),
        patch.object(SqliteDatabase, "write", noted_write),
        patch.object(SqliteDatabase, "claim_alone", noted_claim),
    ):
        yield


def _live(world: World) -> None:
    verbs = world.app.schedules
    for name, options in SCHEDULES.items():
        verbs.create(name, target="job", input={"note": name * 20}, **options)
    steps: list[Callable[[], Any]] = [
        lambda: verbs.pause("skips", until=world.now + timedelta(minutes=7)),
        lambda: verbs.trigger("holds-one"),
        lambda: verbs.patch("often", every="20s"),
        lambda: verbs.skip("holds-all", verbs.times("holds-all", count=3)[2]),
        lambda: _die_and_come_back(world),
        lambda: verbs.backfill("allows", world.now - timedelta(minutes=15), world.now, which="all"),
        lambda: verbs.patch("cancels", cron="*/3 * * * *"),
        lambda: verbs.resume("terminates"),
        lambda: verbs.delete("holds-one"),
        lambda: _all_at_once(world),
        lambda: world.app.runs.cancel(world.app.runs.list(status="running")[0].id),
    ]
    for step in steps:
        world.advance(LENGTH / len(steps))
        try:
            step()
        except Refusal:
            continue


def _all_at_once(world: World) -> None:
    """Writes that share a commit: all of them are on the disk, or none is, and none is acknowledged before."""
    verbs = world.app.schedules
    calls = [partial(verbs.create, f"at-once-{number}", target="job", every="7m") for number in range(3)]
    calls.append(partial(verbs.create, "often", target="job", every="7m"))
    *made, refused = together(world.app.parts.database, lambda _: None, calls)
    assert isinstance(refused.exception(), Conflict)
    assert [done.exception() for done in made] == [None] * 4


def _die_and_come_back(world: World) -> None:
    world.kill()
    world.restart()
