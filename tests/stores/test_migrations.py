"""Migrations: the chain yields the schema of `tables.py`, whoever walks it, and never walks backwards."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from foliot.domain.errors import Conflict
from foliot.stores.migration import _KNOWN, NEWEST, alembic_config, version_of
from foliot.stores.tables import metadata
from tests.stores.schemas import connected, description
from tests.stores.stage import Stage

NewUrl = Callable[[], str]


@pytest.fixture
def database_url(new_database_url: NewUrl) -> str:
    """One that has no schema yet."""
    return new_database_url()


def migrated(url: str) -> str:
    stage = Stage(url)
    stage.database.claim_alone()
    stage.close()
    return url


def test_alembic_finds_no_difference_between_the_chain_and_the_tables(database_url: str) -> None:
    with connected(migrated(database_url)) as cx:
        options = {"compare_type": True, "compare_server_default": True}
        differences = compare_metadata(MigrationContext.configure(cx, opts=options), metadata)

    assert differences == []


def test_the_chain_yields_what_the_tables_yield_checks_and_partial_indexes_included(new_database_url: NewUrl) -> None:
    with connected(migrated(new_database_url())) as cx:
        by_the_chain = description(cx)
    with connected(new_database_url()) as cx:
        metadata.create_all(cx)
        by_the_tables = description(cx)

    by_the_chain.pop("alembic_version")
    assert by_the_chain == by_the_tables
    assert len(by_the_chain["runs"]["checks"]) == 6
    assert {index[0] for index in by_the_chain["runs"]["indexes"]} >= {"runs_leased", "runs_open", "runs_ready"}


def test_on_postgresql_keys_of_runs_are_drawn_in_blocks_of_a_thousand(postgresql: Stage) -> None:
    text = "SELECT increment_by, cycle FROM pg_sequences WHERE sequencename = 'run_refs'"

    assert postgresql.read(lambda tx: tx._all(text)) == [(1000, False)]


def test_every_table_on_sqlite_is_strict(sqlite: Stage) -> None:
    text = "SELECT name FROM pragma_table_list WHERE strict = 1"

    assert {row[0] for row in sqlite.read(lambda tx: tx._all(text))} == set(metadata.tables)


def test_the_newest_schema_is_the_head_of_the_chain_and_all_before_it_are_known(sqlite: Stage) -> None:
    chain = sqlite.read(lambda tx: ScriptDirectory.from_config(alembic_config(tx.cx)))

    assert chain.get_heads() == [NEWEST]
    assert {script.revision for script in chain.walk_revisions()} == set(_KNOWN)
    assert sqlite.read(lambda tx: version_of(tx.cx)) == NEWEST


def test_an_empty_database_has_no_version(database_url: str) -> None:
    with connected(database_url) as cx:
        assert version_of(cx) is None


@pytest.mark.parametrize("use", ["write", "read", "claim"])
def test_a_newer_schema_is_refused_and_both_are_named(database_url: str, use: str) -> None:
    with connected(migrated(database_url)) as cx:
        cx.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    stage = Stage(database_url)
    uses: dict[str, Callable[[], object]] = {
        "write": lambda: stage.write(lambda tx: tx.now),
        "read": lambda: stage.read(lambda tx: tx.now),
        "claim": stage.database.claim_alone,
    }

    with pytest.raises(Conflict, match=rf"9999.*{NEWEST}"):
        uses[use]()

    stage.close()
    with connected(database_url) as cx:
        assert version_of(cx) == "9999"


def test_an_empty_file_is_migrated_when_it_is_first_written(tmp_path: Path) -> None:
    file = tmp_path / "foliot.db"
    file.touch()
    stage = Stage(f"sqlite:///{file}")

    assert stage.schedule() == 1
    assert stage.read(lambda tx: version_of(tx.cx)) == NEWEST
    stage.close()


def test_a_database_that_nobody_wrote_is_migrated_when_it_is_first_read(database_url: str) -> None:
    stage = Stage(database_url)

    assert stage.refs() == set()
    assert stage.read(lambda tx: version_of(tx.cx)) == NEWEST
    stage.close()


def test_a_schema_that_is_there_is_left_as_it_is(database_url: str) -> None:
    stage = Stage(migrated(database_url))
    schedule = stage.schedule()
    stage.close()

    again = stage.another()
    assert again.state(schedule).ref == schedule
    again.close()


def test_a_chain_that_breaks_leaves_nothing_and_can_be_walked_again(database_url: str) -> None:
    with connected(database_url) as cx:
        cx.exec_driver_sql("CREATE TABLE runs (in_the_way INTEGER)")
    stage = Stage(database_url)
    with pytest.raises(Exception, match="already exists"):
        stage.database.claim_alone()
    with connected(database_url) as cx:
        assert inspect(cx).get_table_names() == ["runs"]
        cx.exec_driver_sql("DROP TABLE runs")

    assert stage.schedule()
    stage.close()


def test_threads_that_migrate_one_empty_server_at_once_all_succeed(postgresql_server: Any) -> None:
    url = postgresql_server.new_database()
    together = Barrier(4)

    def start(number: int) -> int:
        stage = Stage(url)
        together.wait()
        try:
            return stage.schedule(f"s{number}", f"python:{number}")
        finally:
            stage.close()

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(start, range(4)))) == 4


def test_threads_that_migrate_a_database_each_at_once_all_succeed(new_database_url: NewUrl) -> None:
    """Alembic works on globals: two at once took each other's connection."""
    together = Barrier(3)

    def start(url: str) -> int:
        stage = Stage(url)
        together.wait()
        try:
            return stage.schedule()
        finally:
            stage.close()

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(start, [new_database_url() for _ in range(3)])) == [1, 1, 1]


def test_processes_that_migrate_one_empty_server_at_once_all_succeed(postgresql_server: Any) -> None:
    url = postgresql_server.new_database()
    program = "import sys; from tests.stores.stage import Stage; print(Stage(sys.argv[1]).schedule(sys.argv[2]))"

    def start(name: str) -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, "-c", program, url, name], stdout=subprocess.PIPE, text=True)

    processes = [start("one"), start("other")]
    answers = [process.communicate(timeout=60)[0].strip() for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(answers) == ["1", "2"]
