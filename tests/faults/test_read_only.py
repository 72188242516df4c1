"""What is to be written is read-only: said in words, with exit code 5, and work goes on when it is writable again."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from foliot import Unavailable
from foliot.domain.runs import Status
from foliot.stores.database import SqliteDatabase
from foliot.testing import World
from tests.databases import PostgresqlServer
from tests.engine.timelines import Job, a_world, at
from tests.faults.conftest import Note
from tests.faults.disks import pragma, unchangeable

PROGRAM = """
from foliot import Foliot
app = Foliot()
@app.schedule(every="1h")
async def job():
    pass
"""
PATIENCE = 60.0
_DROP_FROM_BOUNDS = 24
_CAP_DAC_OVERRIDE = 1
OPTIONS: dict[str, Any] = {"every": "10s", "overlap": "allow_all", "catchup": "all"}

Fault = Callable[[Path, World], AbstractContextManager[bool]]


def go_through(world: World, words: str) -> None:
    """Ten minutes in which nothing can be written."""
    turns = world.engine().counters.turns
    world.advance(minutes=10)
    assert world.engine().counters.turns == turns
    with pytest.raises(Unavailable, match=words):
        world.app.schedules.trigger("job")
    assert len(world.runs("job")) == 30


def check_nothing_was_lost(world: World, job: Job) -> int:
    """How many seconds it took until something was written again."""
    turns, seconds = world.engine().counters.turns, 0
    while world.engine().counters.turns == turns:
        world.advance(seconds=1)
        seconds += 1
        assert seconds < 60
    world.advance_to(at("12:20"))
    assert {run.status for run in world.runs("job")} == {Status.SUCCESS}
    assert len(job.seen) == len(world.runs("job")) == 20 * 6
    return seconds


@contextmanager
def a_writer_that_may_only_read(file: Path, world: World) -> Iterator[bool]:
    database = world.app.parts.database
    assert isinstance(database, SqliteDatabase)
    pragma(database, "query_only=ON")
    yield True
    pragma(database, "query_only=OFF")


@contextmanager
def a_log_that_cannot_be_changed(file: Path, world: World) -> Iterator[bool]:
    with unchangeable(file, Path(f"{file}-wal")) as done:
        yield done


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (a_writer_that_may_only_read, "attempt to write a readonly database: let this process write the file"),
        (a_log_that_cannot_be_changed, "disk I/O error: look at its disk, and whether this process may write the f"),
    ],
    ids=["writer", "log"],
)
def test_a_file_that_turns_read_only_is_survived_and_no_slot_is_lost(
    tmp_path: Path, fault: Fault, words: str, note: Note
) -> None:
    job, file = Job(0), tmp_path / "foliot.db"
    with a_world(job, database=f"sqlite:///{file}", **OPTIONS) as world:
        world.advance_to(at("12:05"))
        with fault(file, world) as done:
            if not done:
                pytest.skip("files cannot be made unchangeable here")
            go_through(world, rf"foliot\.db cannot be used now: {words}")
        seconds = check_nothing_was_lost(world, job)
    note(f"read-only ({words.partition(':')[0]})", f"recovered in {seconds} s, 0 of {len(job.seen)} slots lost")


def test_a_server_that_turns_read_only_is_survived_and_no_slot_is_lost(
    postgresql_server: PostgresqlServer, note: Note
) -> None:
    """A replica, or a server that protects its disk: the worker ended with the driver's error."""
    job, url = Job(0), postgresql_server.new_database()
    name = url.partition("@/")[2].partition("?")[0]

    def set_read_only(word: str) -> None:
        with psycopg.connect(postgresql_server.url("postgres"), autocommit=True) as cx:
            cx.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {word}".encode())

    with a_world(job, database=url, **OPTIONS) as world:
        world.advance_to(at("12:05"))
        set_read_only("on")
        world.app.parts.database.close()
        go_through(world, r"/test_\w+ takes no writes now: cannot execute .* in a read-only transaction: name its p")
        set_read_only("off")
        seconds = check_nothing_was_lost(world, job)
    note("read-only (server)", f"recovered in {seconds} s, 0 of {len(job.seen)} slots lost")


AS_ANYBODY = f"""
import ctypes, os, sys
if os.getuid() == 0:
    ctypes.CDLL(None).prctl({_DROP_FROM_BOUNDS}, {_CAP_DAC_OVERRIDE}, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", "from foliot.cli.main import main; main()", *sys.argv[1:]])
"""
"""The command line, as a process for which file modes count, the superuser's though it may be."""


class Served:
    """`foliot serve` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "said"
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", AS_ANYBODY, "serve", "--no-api", "prog:app"],
                cwd=folder,
                env={**os.environ, "FOLIOT_DATABASE": "sqlite:///data/foliot.db"},
                stdout=said,
                stderr=said,
            )

    def end(self) -> tuple[int, str]:
        with self._process:
            try:
                return self._process.wait(PATIENCE), self._said.read_text()
            finally:
                self._process.kill()

    def stop_once_at_work(self) -> tuple[int, str]:
        over = time.monotonic() + PATIENCE
        while "works on" not in self._said.read_text() and self._process.poll() is None and time.monotonic() < over:
            time.sleep(0.05)
        self._process.terminate()
        return self.end()


def test_a_program_that_may_not_write_is_told_at_its_start_and_starts_once_it_may(tmp_path: Path, note: Note) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM)
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o555)
    code, said = Served(tmp_path).end()
    assert (code, said.count("\n")) == (5, 1)
    assert "foliot.db cannot be opened for writing: Permission denied: look at its folder" in said
    data.chmod(0o755)
    code, said = Served(tmp_path).stop_once_at_work()
    assert code == 0, said
    file = data / "foliot.db"
    file.chmod(0o444)
    code, said = Served(tmp_path).end()
    assert (code, said.count("\n")) == (5, 1)
    assert "foliot.db may not be written: let this process write the file" in said
    file.chmod(0o644)
    code, said = Served(tmp_path).stop_once_at_work()
    assert code == 0, said
    note("read-only at the start", "exit code 5 and one line that says why, for folder and file; then it starts")
