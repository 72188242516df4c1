"""`foliot doctor`: each check with a verdict and a remedy."""

from pathlib import Path

import pytest

from foliot import Foliot
from foliot.cli.doctor import run_doctor
from foliot.clock import SystemClock
from foliot.domain.durations import DAY
from foliot.domain.instants import MICROSECONDS
from foliot.services.diagnosis import Health, disk, file_mode, sqlite_release, symptoms
from tests.cli.conftest import CommandLine


class WrongClock:
    """Of a machine whose clock is so many seconds ahead."""

    def __init__(self, ahead: float) -> None:
        self._ahead = round(ahead * MICROSECONDS)
        self._right = SystemClock()

    def now(self) -> int:
        return self._right.now() + self._ahead

    def steady(self) -> float:
        return self._right.steady()


def verdicts(url: str) -> dict[str, str]:
    return {symptom["name"]: symptom["verdict"] for symptom in run_doctor(url)}


def test_a_database_in_order_lacks_but_a_worker(database_url: str) -> None:
    app = Foliot(database_url)
    app.graph("digest")(lambda given, ctx: None)
    app.schedules.create("digest", target="digest", cron="0 9 * * *")
    found = verdicts(database_url)
    sqlite = {"sqlite": found.get("sqlite"), "file": "ok", "disk": found.get("disk")} if "file" in found else {}
    assert found == {
        **dict.fromkeys(("database", "clock", "tzdata", "leases", "overdue", "set aside", "targets", "trail"), "ok"),
        "workers": "warn",
        **sqlite,
    }
    app.close()


def test_what_is_overdue_orphaned_expired_or_changed_is_told_with_a_remedy(database_url: str) -> None:
    app = Foliot(database_url)
    app.schedules.create("digest", target="nobodys", cron="* * * * *")

    def break_it(tx: object) -> None:
        tx._do("UPDATE cursors SET wake_at = wake_at - 3600000000")  # type: ignore[attr-defined]
        tx._do("UPDATE trail SET actor = 'eve'")  # type: ignore[attr-defined]
        tx._do(  # type: ignore[attr-defined]
            "INSERT INTO workers (name, started_at, seen_at, lease_until) VALUES ('gone', 1, 1, 1)"
        )

    app.parts.database.write(break_it)
    found = {symptom["name"]: symptom for symptom in run_doctor(database_url)}
    assert [found[name]["verdict"] for name in ("overdue", "targets", "leases", "trail")] == [
        "fail",
        "warn",
        "fail",
        "fail",
    ]
    assert "digest" in found["overdue"]["what"]
    assert all(symptom["remedy"] for symptom in found.values() if symptom["verdict"] != "ok")
    app.close()


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert verdicts(f"sqlite:///{tmp_path / 'nothing.db'}") == {"database": "fail"}


@pytest.mark.parametrize("ahead", [60.0, -60.0])
def test_a_clock_that_is_wrong_is_told(database_url: str, ahead: float) -> None:
    app = Foliot(database_url)
    found = {one.name: one for one in symptoms(app.parts.verbs, WrongClock(ahead))}
    assert (found["clock"].verdict, found["clock"].remedy) == (Health.WARN, "let both machines be set by NTP")
    app.close()


def test_zone_files_that_are_years_old_are_told(database_url: str) -> None:
    app = Foliot(database_url)
    found = {one.name: one for one in symptoms(app.parts.verbs, WrongClock(5 * 366 * DAY))}
    assert found["tzdata"].verdict is Health.WARN
    assert "install a newer tzdata" in (found["tzdata"].remedy or "")
    app.close()


def test_a_worker_that_is_heard_of_is_in_order_and_a_schedule_that_is_set_aside_is_not(database_url: str) -> None:
    app = Foliot(database_url)
    app.schedules.create("digest", target="digest", manual=True)

    def live(tx: object) -> None:
        now = tx.now  # type: ignore[attr-defined]
        tx._do(  # type: ignore[attr-defined]
            "INSERT INTO workers (name, started_at, seen_at) VALUES ('here', ?, ?)", now, now
        )
        tx._do(  # type: ignore[attr-defined]
            "INSERT INTO troubles (schedule_ref, times, error, since, until)"
            " SELECT ref, 1, 'KeyError', ?, ? FROM schedules",
            now,
            now + 60 * MICROSECONDS,
        )

    app.parts.database.write(live)
    found = {symptom["name"]: symptom for symptom in run_doctor(database_url)}
    assert (found["workers"]["verdict"], found["set aside"]["verdict"]) == ("ok", "fail")
    assert found["set aside"]["what"] == "a worker fails on digest (KeyError)"
    app.close()


def test_a_schema_of_another_release_is_told_with_the_way_to_this_one_or_back(database_url: str) -> None:
    app = Foliot(database_url)
    app.schedules.list()
    app.parts.database.write(lambda tx: tx._do("UPDATE alembic_version SET version_num = '9999'"))
    (newer,) = run_doctor(database_url)
    assert (newer["name"], newer["verdict"]) == ("schema", "fail")
    assert newer["remedy"] == "install the release that wrote it, or a newer one"
    app.parts.database.write(lambda tx: tx._do("DELETE FROM alembic_version"))
    (older,) = run_doctor(database_url)
    assert (older["name"], older["remedy"]) == ("schema", "`foliot migrate` brings it to this release")
    app.parts.database.write(lambda tx: tx._do("INSERT INTO alembic_version VALUES ('9999')"))
    app.close()


def test_a_url_that_is_none_has_the_remedy_of_a_wrong_url() -> None:
    (found,) = run_doctor("mysql://x")
    assert (found["name"], found["verdict"]) == ("database", "fail")
    assert "sqlite:///file.db or postgresql://host/name" in found["what"]
    assert found["remedy"].startswith("write it so: by --database")


def test_where_the_default_is_not_there_it_is_asked_which_database_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FOLIOT_DATABASE", raising=False)
    foliot = CommandLine({})
    for command in (("migrate",), ("migrate", "--check"), ("backup", "copy.db")):
        said = foliot.refused(3, *command)
        assert "no database here by the name that is the default, sqlite:///foliot.db: say with --database" in said
    (found,) = run_doctor(None)
    assert found["remedy"].startswith("name it with --database")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "foliot.toml").write_text('database = "sqlite:///jobs.db"\n')
    assert "now" in foliot("migrate")
    assert (tmp_path / "jobs.db").exists()


def test_a_server_that_cannot_be_reached_is_told() -> None:
    (found,) = run_doctor("postgresql://localhost:1/nobody")
    assert (found["name"], found["verdict"]) == ("database", "fail")
    assert found["remedy"]


@pytest.mark.parametrize(
    ("version", "verdict"),
    [((3, 40, 1), "warn"), ((3, 51, 2), "warn"), ((3, 51, 3), "ok"), ((3, 52, 0), "warn"), ((3, 53, 0), "ok")],
)
def test_a_sqlite_that_can_damage_its_log_is_told(version: tuple[int, ...], verdict: str) -> None:
    found = sqlite_release(version)
    assert (found.verdict, found.remedy is None) == (verdict, verdict == "ok")


def test_a_file_that_others_may_write_or_read_and_a_disk_without_room_are_told(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}")
    app.schedules.list()
    (tmp_path / "foliot.db").chmod(0o666)
    found = {symptom["name"]: symptom for symptom in run_doctor(app.url)}
    assert (found["file"]["verdict"], found["file"]["remedy"]) == ("warn", f"chmod go-w {tmp_path / 'foliot.db'}")
    read = file_mode("foliot.db", 0o100640)
    assert (read.verdict, read.remedy) == (Health.WARN, "chmod go-r foliot.db*")
    assert file_mode("foliot.db", 0o100600).verdict is Health.OK
    assert (disk(1 << 20).verdict, disk(1 << 40).verdict) == (Health.WARN, Health.OK)
    app.close()


def test_the_command_exits_with_1_when_something_fails_and_not_for_a_warning(tmp_path: Path) -> None:
    foliot = CommandLine({})
    assert "database  fail" in foliot("doctor", "--database", f"sqlite:///{tmp_path / 'nothing.db'}", code=1)
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}")
    app.schedules.list()
    assert "workers" in foliot("doctor", "--database", app.url)
    app.close()
