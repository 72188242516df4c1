"""Databases of released schemas are brought up to date with runs in flight: nothing is lost, and each ends once."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import inspect

from foliot.clock import SystemClock
from foliot.stores.database import open_database
from foliot.stores.migration import NEWEST, alembic_config, version_of
from foliot.testing import World, virtual
from tests.databases import KINDS
from tests.engine.invariants import check_books
from tests.engine.mailbox import Mailbox
from tests.stores.baseline import dumps, story
from tests.stores.schemas import connected, description

Rows = dict[str, list[dict[str, Any]]]
NewUrl = Callable[[], str]

MEANT: dict[str, set[str]] = {}
"""By the schema that did it: the columns, as `table.column`, whose values a migration has changed on purpose."""

LARGEST = 300_000


@pytest.fixture(params=[path.name.partition(".")[0] for path in dumps.stored("sqlite")])
def baseline(request: pytest.FixtureRequest, database_kind: str) -> Path:
    """Each that is stored, of the kind of database that the test is run on."""
    return dumps.FOLDER / f"{request.param}.{database_kind}.sql"


@pytest.fixture
def database_url(new_database_url: NewUrl, baseline: Path) -> str:
    """The database that was stored."""
    url = new_database_url()
    dumps.load(baseline, url)
    return url


def rows_of(url: str) -> Rows:
    with connected(url) as cx:
        return {
            table: sorted(
                (dict(row) for row in cx.exec_driver_sql(f"SELECT * FROM {table}").mappings()),
                key=lambda row: str(next(iter(row.values()))),
            )
            for table in inspect(cx).get_table_names()
            if table != "alembic_version"
        }


def test_the_schema_of_a_baseline_is_what_its_migration_yields(baseline: Path, new_database_url: NewUrl) -> None:
    """One that was released is never edited: whoever has it would never get what was added."""
    stored, made = new_database_url(), new_database_url()
    dumps.load(baseline, stored)
    with connected(made) as cx:
        command.upgrade(alembic_config(cx), baseline.name.partition(".")[0])
        by_the_chain = description(cx)
    with connected(stored) as cx:
        assert version_of(cx) == baseline.name.partition(".")[0]
        assert description(cx) == by_the_chain, (
            f"{baseline.name} is of another schema: write a new migration for what is released; before its release, "
            "`python -m tests.stores.baseline` writes it anew"
        )


def test_baselines_are_small_and_name_no_machine_and_no_secret() -> None:
    paths = [path for kind in KINDS for path in dumps.stored(kind)]
    assert paths
    assert sum(path.stat().st_size for path in paths) < LARGEST * len(paths) / 2
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'File "|/home/|/tmp/|/root/|fol_[0-9a-f]{12}_', text), path


def test_a_baseline_has_something_of_everything(database_url: str) -> None:
    rows = rows_of(database_url)
    assert [table for table, found in rows.items() if not found] == []
    runs = {(run["kind"], run["status"], run["hold"]) for run in rows["runs"]}
    assert runs >= {
        ("slot", "running", None),
        ("slot", "waiting", None),
        ("slot", "pending", "overlap"),
        ("slot", "pending", "retry"),
        ("backfill", "running", None),
        ("manual", "success", None),
    }
    assert {request["stage"] for request in rows["execution_requests"]} == {"done", "in_progress"}
    assert any(delivery["arrived_at"] is None and delivery["next_at"] for delivery in rows["deliveries"])


def test_it_is_brought_up_to_date_and_nothing_that_was_there_is_lost_or_changed(
    database_url: str, baseline: Path
) -> None:
    before = rows_of(database_url)
    database = open_database(database_url, SystemClock())
    database.claim_alone()
    database.close()

    after = rows_of(database_url)
    with connected(database_url) as cx:
        assert version_of(cx) == NEWEST
    since = {column for schema, columns in MEANT.items() if schema > baseline.name for column in columns}
    for table, rows in before.items():
        kept = [column for column in rows[0] if f"{table}.{column}" not in since]
        assert [[row[column] for column in kept] for row in after[table]] == [
            [row[column] for column in kept] for row in rows
        ], table


@pytest.fixture
def graphs() -> story.Graphs:
    """Nothing takes long any more, and the printer has been put out."""
    found = story.Graphs()
    found.is_patient = False
    return found


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def world(database_url: str, graphs: story.Graphs, mailbox: Mailbox) -> Iterator[World]:
    """A minute after the worker has died, another one begins."""
    start = story.END.replace("18:00", "18:01")
    with virtual(graphs.program(), start, database=database_url, carrier=mailbox) as world:
        yield world


def test_runs_in_flight_end_each_once_and_the_ledger_is_right(
    world: World, graphs: story.Graphs, mailbox: Mailbox
) -> None:
    app = world.app
    open_before = [run for run in world.runs() if run.status in ("running", "waiting", "pending")]
    final_before = {run.id: run for run in world.runs() if run.ended_at is not None}
    (asking,) = [run for run in open_before if run.status == "waiting"]
    app.runs.decide(asking.id, "approve")
    again = world._loop.create_task(app.execute("long", {"order": 2}, key=story.UNDER_WAY))
    world.advance(hours=12)

    assert again.result().ok
    ended = {run.id: run for run in world.runs()}
    assert {ended[run.id].status for run in open_before} == {"success"}
    assert {graphs.begun[run.id] for run in open_before} == {1}
    assert {name: ended[name] for name in final_before} == final_before
    (backfill,) = app.schedules.backfills("filled")
    assert backfill.ended_at is not None
    assert {run.status for run in world.runs("filled", kind="backfill")} == {"success"}
    assert app.requests.get(story.UNDER_WAY).stage == "done"
    assert len(mailbox.events) > 10
    check_books(world, covers=False)
    assert app.parts.verbs.audit.slots().found == 0


def test_whoever_had_a_say_has_it_and_the_trail_holds(world: World) -> None:
    verbs = world.app.parts.verbs
    assert {(user.id, str(user.role), user.disabled_at is None) for user in verbs.users.list()} >= {
        ("ann", "member", True),
        ("eve", "viewer", True),
        ("old", "member", False),
    }
    assert verbs.trail.verify().breaks == []
    assert world.app.schedules.get("paused").standing == "paused"
    world.app.schedules.resume("paused")
    world.advance(minutes=30)
    assert verbs.audit.slots(schedule="paused").found == 0
