"""`foliot audit`, `backup` and `migrate`, offline, beside whoever writes the file."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from foliot import Context, Foliot
from foliot.cli.main import app as command_line
from foliot.stores.transaction import SqlTransaction
from tests.cli.conftest import working
from tests.cli.serving import wait_for

_RUNNER = CliRunner()
_EARLIER = "UPDATE schedules SET spec_since = spec_since - 300000000"


def foliot(*words: str) -> Any:
    return _RUNNER.invoke(command_line, list(words))


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """At work on a file, with a schedule of every minute."""
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}")
    app.schedules.create("digest", target="digest", cron="* * * * *")
    yield app
    app.close()


def test_an_audit_reads_the_file_of_whoever_writes_it_and_fails_when_a_slot_is_missing(program: Foliot) -> None:
    fine = foliot("audit", "--database", program.url)
    assert (fine.exit_code, fine.output) == (
        0,
        "0 slots of 1 schedules: 0 rows, 0 in gaps, 0 yet to be judged, 0 violations\n",
    )

    def age(tx: SqlTransaction) -> None:
        tx._do(_EARLIER)

    program.parts.database.write(age)
    wrong = foliot("audit", "--database", program.url, "-o", "json")
    assert wrong.exit_code == 1
    found = json.loads(wrong.output)
    assert (found["found"], found["violations"][0]["fault"]) == (5, "missing")
    assert "have no row and lie in no gap" in foliot("audit", "--database", program.url).output


def test_the_trail_is_verified_and_an_entry_that_was_changed_is_found(program: Foliot) -> None:
    fine = foliot("audit", "--chain", "--database", program.url)
    assert (fine.exit_code, fine.output.split(";")[0]) == (0, "1 entries, 0 breaks")
    program.parts.database.write(lambda tx: tx._do("UPDATE trail SET actor = 'eve'"))
    wrong = foliot("audit", "--chain", "--database", program.url)
    assert (wrong.exit_code, wrong.output.split(";")[0]) == (1, "1 entries, 1 breaks")


def test_a_database_that_is_not_there_or_not_of_this_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    nothing, empty = tmp_path / "nothing.db", tmp_path / "empty.db"
    assert foliot("audit", "--database", f"sqlite:///{nothing}").exit_code == 3
    assert not nothing.exists()
    sqlite3.connect(empty).close()
    empty.touch()
    assert foliot("audit", "--database", f"sqlite:///{empty}").exit_code == 4
    assert foliot("migrate", "--check", "--database", f"sqlite:///{empty}").exit_code == 1
    assert foliot("migrate", "--database", f"sqlite:///{empty}").output == "no schema before, 0002 now\n"
    assert foliot("migrate", "--check", "--database", f"sqlite:///{empty}").output == "schema 0002, the newest\n"
    assert foliot("audit", "--database", f"sqlite:///{empty}").exit_code == 0


def test_a_backup_is_whole_private_and_overwrites_nothing(program: Foliot, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    said = foliot("backup", str(copy), "--database", program.url)
    assert said.exit_code == 0, said.output
    assert copy.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]
    program.schedules.create("later", target="digest", manual=True)
    restored = Foliot(f"sqlite:///{copy}")
    assert [schedule.id for schedule in restored.schedules.list()] == ["digest"]
    restored.close()
    again = foliot("backup", str(copy), "--database", program.url)
    assert (again.exit_code, "is there already" in again.output) == (4, True)


def test_a_backup_beside_a_worker_at_work_is_whole_and_its_ledger_right(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}")

    @app.graph("count")
    async def count(input: object, ctx: Context) -> int:
        return (ctx.last_result or 0) + 1

    for number in range(50):
        app.schedules.create(f"s{number}", target="count", every="1s", catchup="all")
    seen: list[int] = []
    with working(app):
        for number in range(3):
            wait_for("slots run meanwhile", lambda: len(app.runs.list(status="success", limit=500)) > 50 * len(seen))
            copy = tmp_path / f"copy{number}.db"
            assert foliot("backup", str(copy), "--database", app.url).exit_code == 0
            with closing(sqlite3.connect(copy)) as cx:
                assert cx.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                seen.append(cx.execute("SELECT count(*) FROM runs").fetchone()[0])
            for what in ([], ["--chain"]):
                proved = foliot("audit", *what, "--database", f"sqlite:///{copy}")
                assert proved.exit_code == 0, proved.output
    app.close()
    assert 0 < seen[0] < seen[1] < seen[2]
