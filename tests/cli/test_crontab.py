"""A crontab becomes a set of schedules, with a word on what means something else here."""

from pathlib import Path

import pytest
import yaml

from foliot.cli.crontab import read_crontab, schedules_of
from tests.cli.conftest import CommandLine

CRONTAB = r"""
SHELL=/bin/sh
MAILTO="me@example.com"
0 1 * * * early
CRON_TZ=Europe/Berlin
# the nightly backup
30 2 * * * /usr/local/bin/backup.sh --full
@daily  LANG=C /usr/bin/report | mail
@reboot /sbin/start
0 25 * * * wrong
*/5 * * * * date +\%F%one%two
0 4 * * * date
nonsense
"""
SHELL = {"": "python:shell"}


def test_entries_become_schedules_with_their_zone_and_comment() -> None:
    lines, _ = read_crontab(CRONTAB)
    schedules, _ = schedules_of(lines, {"backup.sh": "http:backup", **SHELL}, "America/New_York")
    assert schedules[1] == {
        "name": "backup",
        "target": "http:backup",
        "cron": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "input": {"command": "/usr/local/bin/backup.sh --full"},
        "memo": "the nightly backup",
    }
    assert [(one["name"], one["cron"], one["timezone"]) for one in schedules] == [
        ("early", "0 1 * * *", "America/New_York"),
        ("backup", "30 2 * * *", "Europe/Berlin"),
        ("report", "@daily", "Europe/Berlin"),
        ("date", "*/5 * * * *", "Europe/Berlin"),
        ("date-2", "0 4 * * *", "Europe/Berlin"),
    ]


def test_percent_signs_are_the_commands_input() -> None:
    lines, _ = read_crontab(r"* * * * * date +\%F%one%two")
    assert (lines[0].command, lines[0].stdin) == ("date +%F", "one\ntwo")


def test_what_means_nothing_here_is_said_with_its_line() -> None:
    lines, warnings = read_crontab(CRONTAB)
    _, more = schedules_of(lines, SHELL, "UTC")
    said = [str(warning) for warning in sorted([*warnings, *more])]
    assert [line.partition(":")[0] for line in said] == ["line 2", "line 3", "line 9", "line 10", "line 11", "line 13"]
    assert "nobody is mailed" in said[1]
    assert "@reboot" in said[2]
    assert "takes 0-23" in said[3]
    assert "input.stdin" in said[4]


def test_who_runs_an_entry_is_to_be_said() -> None:
    lines, _ = read_crontab("0 9 * * * backup.sh")
    schedules, (warning,) = schedules_of(lines, {"other": "python:other"}, "UTC")
    assert schedules == []
    assert "say what does, by --map or --target" in str(warning)


def test_a_system_crontab_names_users() -> None:
    lines, _ = read_crontab("0 9 * * * root run-parts /etc/cron.daily\n", is_system=True)
    assert lines[0].command == "run-parts /etc/cron.daily"


@pytest.mark.parametrize("command", ["'", "==", "a=b", "///", "ünïcode"])
def test_whatever_the_command_is_it_has_a_name(command: str) -> None:
    lines, _ = read_crontab(f"0 9 * * * {command}")
    (schedule,), _ = schedules_of(lines, SHELL, "UTC")
    assert schedule["name"]


def test_the_command_writes_a_file_that_apply_reads(foliot: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("30 2 * * * backup.sh\n@daily report\n")
    result = foliot.run("schedule", "import-crontab", str(tmp_path / "crontab"), "--target", "digest", "--set", "cron")
    assert result.exit_code == 0
    assert "2 of 2 entries became schedules" in result.stderr
    assert "taken for UTC" in result.stderr
    (tmp_path / "schedules.yaml").write_text(result.stdout)
    assert len(yaml.safe_load(result.stdout)["schedules"]) == 2
    assert "2 to create" in foliot("schedule", "plan", "-f", str(tmp_path / "schedules.yaml"))


def test_who_goes_by_the_exit_code_learns_that_an_entry_was_left_out(foliot: CommandLine, tmp_path: Path) -> None:
    """It was 0, also when nothing was left, and lines that could not be read were no entries."""
    (tmp_path / "crontab").write_text(CRONTAB)
    result = foliot.run("schedule", "import-crontab", str(tmp_path / "crontab"), "--target", "digest")
    assert result.exit_code == 2
    assert "5 of 8 entries became schedules: mend the others" in result.stderr
    assert len(yaml.safe_load(result.stdout)["schedules"]) == 5


@pytest.mark.parametrize(
    ("text", "said"), [(CRONTAB, "0 of 8 entries became schedules"), ("# nothing\nSHELL=/bin/sh\n", "no entry in")]
)
def test_no_set_without_schedules_is_written(foliot: CommandLine, tmp_path: Path, text: str, said: str) -> None:
    """To apply it would have paused all that the set had."""
    (tmp_path / "crontab").write_text(text)
    assert said in foliot.refused(2, "schedule", "import-crontab", str(tmp_path / "crontab"))


def test_a_mapping_that_is_none_and_a_zone_that_is_none_are_refused(foliot: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text(CRONTAB)
    wrong = ("schedule", "import-crontab", str(tmp_path / "crontab"))
    assert "--map takes text=target" in foliot.run(*wrong, "--map", "backup").stderr
    assert "IANA" in foliot.run(*wrong, "--target", "x", "--timezone", "Mars/Olympus").stderr
