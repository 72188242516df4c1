"""A SQLite file: one process writes it, anybody reads it, it is durable, and a URL that names none is refused."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from urllib.parse import quote

import pytest

from foliot.domain.errors import Conflict, Invalid, Unavailable
from foliot.rows import ScheduleFilter
from foliot.stores.database import open_database
from foliot.stores.transaction import SqlTransaction
from tests.stores.stage import HandClock, Stage

HOLD_THE_FILE = """
import sys
from tests.stores.stage import Stage
stage = Stage(sys.argv[1])
stage.schedule("theirs")
print("held", flush=True)
for line in sys.stdin:
    stage.schedule(line.strip())
    print("written", flush=True)
stage.close()
"""


class Holder:
    """Another process that holds the file."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD_THE_FILE, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "held"

    def schedule(self, name: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        assert self._answer() == "written"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@contextmanager
def a_holder(url: str) -> Iterator[Holder]:
    holder = Holder(url)
    try:
        yield holder
    finally:
        holder.kill()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'foliot.db'}"


def ids(stage: Stage) -> list[str]:
    return [row.id for row, _ in stage.read(lambda tx: tx.list_schedules(ScheduleFilter()))]


def test_while_one_process_holds_the_file_another_reads_but_is_told_who_writes(url: str) -> None:
    with a_holder(url) as holder:
        stage = Stage(url)

        assert ids(stage) == ["theirs"]
        with pytest.raises(Conflict, match=rf"foliot\.db is in use by process {holder.process.pid} on "):
            stage.schedule("mine")
        with pytest.raises(Conflict, match=f"process {holder.process.pid} "):
            stage.database.claim_alone()

        holder.schedule("later")
        assert ids(stage) == ["later", "theirs"]

        holder.kill()
        stage.schedule("mine")
        assert ids(stage) == ["later", "mine", "theirs"]
        stage.close()


def test_a_file_opened_twice_in_one_process_has_one_writer_too(url: str) -> None:
    first, second = Stage(url), Stage(url)
    first.schedule()

    with pytest.raises(Conflict, match=f"process {os.getpid()} "):
        second.schedule("other")

    first.close()
    assert second.schedule("other")
    second.close()


@pytest.mark.parametrize("use", [lambda stage, _: stage.refs(), Stage.schedule], ids=["read", "write"])
def test_threads_that_come_first_to_an_empty_file_all_succeed(url: str, use: Callable[[Stage, str], object]) -> None:
    """A second reader opened a second writer, and was told that its own process held the file."""
    stage = Stage(url)
    together = Barrier(4)

    def first(name: str) -> object:
        together.wait()
        return use(stage, name)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(first, "abcd"))
    stage.close()


def test_a_closed_database_may_be_used_again(url: str) -> None:
    stage = Stage(url)
    stage.schedule("before")
    stage.close()

    stage.schedule("after")

    assert ids(stage) == ["after", "before"]
    stage.close()


def test_a_write_is_synced_to_its_log_and_keeps_its_references(sqlite: Stage) -> None:
    names = ("journal_mode", "synchronous", "foreign_keys", "query_only")

    found = sqlite.write(lambda tx: [tx._all(f"PRAGMA {name}")[0][0] for name in names])

    assert found == ["wal", 2, 1, 0]


def test_a_reader_is_only_a_reader(sqlite: Stage) -> None:
    assert sqlite.read(lambda tx: tx._all("PRAGMA query_only")) == [(1,)]
    with pytest.raises(Unavailable, match="readonly"):
        sqlite.read(lambda tx: tx._do("DELETE FROM runs"))


def test_who_reads_waits_for_nobody_else_who_reads(sqlite: Stage) -> None:
    """With fifteen long ones under way a short one waited: on the loop of the server, and all of it stood still."""

    def among(others: int) -> Callable[[SqlTransaction], int]:
        return lambda _: 0 if not others else 1 + sqlite.database.snapshot(among(others - 1))

    assert sqlite.database.snapshot(among(40)) == 40


def test_what_is_written_is_in_the_file_when_it_is_closed(url: str, tmp_path: Path) -> None:
    stage = Stage(url)
    stage.schedule()
    stage.refs()
    stage.close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["foliot.db", "foliot.db.lock"]


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "%20.db", "#1.db", "what?.db", "é🦉.db", "a&b=c;d.db", "'\".db"])
def test_any_file_name_is_written_and_read(tmp_path: Path, name: str) -> None:
    stage = Stage(f"sqlite:///{quote(str(tmp_path / name))}")

    stage.schedule()

    assert ids(stage) == ["digest"]
    assert (tmp_path / name).exists()
    stage.close()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file::memory:?cache=shared&uri=true",
        "sqlite:///file:foliot?mode=memory&uri=true",
    ],
)
def test_memory_is_refused_for_it_is_not_durable(url: str) -> None:
    with pytest.raises(Invalid, match="names a file"):
        open_database(url, HandClock())


@pytest.mark.parametrize("use", ["write", "read"])
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, use: str) -> None:
    (tmp_path / "a file").touch()
    # Not a folder without permission: to the superuser, who runs these tests in a container, there is none.
    for folder in (tmp_path / "missing", tmp_path / "a file", Path("/proc")):
        stage = Stage(f"sqlite:///{folder / 'foliot.db'}")

        with pytest.raises(Unavailable, match=r"foliot\.db cannot be opened for writing"):
            stage.write(lambda tx: tx.now) if use == "write" else stage.read(lambda tx: tx.now)


@pytest.mark.parametrize("use", ["write", "read"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, use: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("remember the milk\n" * 1000)
    stage = Stage(f"sqlite:///{file}")

    with pytest.raises(Invalid, match=r"notes\.txt is no SQLite database"):
        stage.write(lambda tx: tx.now) if use == "write" else stage.read(lambda tx: tx.now)

    assert file.read_text() == "remember the milk\n" * 1000
    stage.close()


def test_a_refused_file_is_not_held(tmp_path: Path) -> None:
    file = tmp_path / "foliot.db"
    file.write_text("remember the milk\n" * 1000)
    stage = Stage(f"sqlite:///{file}")
    with pytest.raises(Invalid):
        stage.schedule()
    file.unlink()

    assert stage.schedule()
    stage.close()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "",
        "://",
        "mysql://user:hunter2@host/name",
        "postgres//user:hunter2@host/name",
        "postgresql://user:hunter2@host:port/name",
        "user:hunter2@host",
        "user:hun@hunter2@host",
        "nonsense?password=hunter2",
        "mysql://host/name?password=hunter2&user=me@home",
    ],
)
def test_a_url_that_means_nothing_is_refused_and_keeps_its_password(url: str) -> None:
    with pytest.raises(Invalid, match=r"sqlite:///file\.db or postgresql://host/name") as refusal:
        open_database(url, HandClock())

    assert "hunter2" not in str(refusal.value)


def test_a_server_that_is_not_there_is_unavailable_and_keeps_its_password() -> None:
    database = open_database("postgresql://user:hunter2@127.0.0.1:1/name", HandClock())

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1/name cannot be used now") as refusal:
        database.write(lambda tx: tx.now)

    assert "hunter2" not in str(refusal.value)
    database.close()


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_umask")
def test_a_new_file_and_its_log_are_for_their_owner_alone(tmp_path: Path) -> None:
    stage = Stage(f"sqlite:///{tmp_path / 'foliot.db'}")
    stage.schedule("mine")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("foliot.db*") if path.suffix != ".lock"}
    assert modes == dict.fromkeys(("foliot.db", "foliot.db-shm", "foliot.db-wal"), 0o600)
    stage.close()


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (path := tmp_path / "foliot.db").touch()
    path.chmod(0o640)
    stage = Stage(f"sqlite:///{path}")
    stage.schedule("mine")
    assert path.stat().st_mode & 0o777 == 0o640
    stage.close()
