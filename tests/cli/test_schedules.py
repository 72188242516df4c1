"""`foliot schedule`: schedules made, looked at and changed from the command line."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import FOLIOT, CommandLine, Served

DIGEST = ("--target", "digest", "--cron", "0 9 * * *", "--timezone", "Europe/Berlin")


def test_a_schedule_is_created_with_all_that_can_be_said(foliot: CommandLine, name: str, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text('{"to": "ann"}')
    made = foliot.json(
        *("schedule", "create", name, "--target", "digest", "--cron", "0 9 * * *", "--every", "90m/5m"),
        *("--at", "2030-01-01T00:00:00Z", "--calendar", '{"hour": "11"}', "--exclude", '{"month": "12"}'),
        *("--timezone", "Europe/Berlin", "--jitter", "30s", "--overlap", "buffer_all", "--buffer", "7"),
        *("--catchup", "all", "--catchup-window", "1d", "--retry", "3", "--timeout", "5m", "--starts", "9"),
        *("--budget", '{"credits": 5}', "--max-calls", "2", "--pause-on-failure", "--memo", '"why"'),
        *("--input", f"@{tmp_path / 'input.json'}", "--label", "team=mail", "--label", "env=test"),
    )
    assert made["input"] == {"to": "ann"}
    assert made["labels"] == {"team": "mail", "env": "test"}
    policies = made["policies"]
    assert (policies["overlap"], policies["buffer"], policies["catchup_window"]) == ("buffer_all", 7, "1d")
    assert (policies["retry"]["attempts"], policies["timeout"], policies["limit"]) == (3, "5m", 9)
    assert (policies["max_calls"], policies["pause_on_failure"], made["memo"]) == (2, True, "why")
    assert len(made["spec"]["canonical"]["calendars"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cron", "0 25 * * *"), "takes 0-23"),
        (("--cron", "0 9 * * *", "--input", "{"), "--input takes JSON, or @file"),
        (("--cron", "0 9 * * *", "--input", "@absent.json"), "cannot be read"),
        (("--cron", "0 9 * * *", "--label", "team"), "--label takes name=value"),
        (("--cron", "0 9 * * *", "--buffer", "many"), "Invalid value for '--buffer'"),
        ((), "got none"),
    ],
)
def test_what_is_wrong_is_refused_in_words(
    foliot: CommandLine, name: str, arguments: tuple[str, ...], said: str
) -> None:
    assert said in foliot.refused(2, "schedule", "create", name, *arguments)


def test_a_target_that_nobody_has_registered_is_warned_about(foliot: CommandLine, name: str) -> None:
    made = foliot.run("schedule", "create", name, "--target", "diggest", "--cron", "0 9 * * *")
    assert made.exit_code == 0
    assert "warning: No program has registered 'python:diggest' yet" in made.stderr
    assert "warning" not in made.stdout
    assert "warning" not in foliot.run("schedule", "create", f"{name}-known", *DIGEST).stderr
    assert "not_registered" in foliot.run("schedule", "edit", f"{name}-known", "--target", "absent", "--dry-run").stderr
    assert foliot.run("schedule", "create", f"{name}-q", "--target", "diggest", "--manual", "-q").stderr == ""


@pytest.mark.parametrize(
    ("when", "code"),
    [
        (("--at", "2020-01-01T00:00:00Z"), "exhausted"),
        (("--cron", "0 9 29 2 *"), "rare"),
        (("--cron", "*/7 * * * *"), "uneven_step"),
    ],
)
def test_when_it_fires_is_warned_about_if_that_is_odd(
    foliot: CommandLine, name: str, when: tuple[str, ...], code: str
) -> None:
    """One that could never fire was made without a word."""
    made = foliot.run("schedule", "create", name, "--target", "digest", *when)
    assert made.exit_code == 0
    assert f"[{code}]" in made.stderr
    assert foliot.run("schedule", "create", f"{name}-q", "--target", "digest", *when, "-q").stderr == ""


def test_a_name_that_is_taken_is_a_conflict(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    assert "there is a schedule" in foliot.refused(4, "schedule", "create", name, *DIGEST)


def test_any_name_that_a_schedule_is_created_by_is_taken_by_every_command(foliot: CommandLine, name: str) -> None:
    """One with a slash led to a path that is not there."""
    called = f"{name}/Übersicht? 100%"
    schedule = f"{name}-ubersicht-100"
    assert foliot.json("schedule", "create", called, *DIGEST)["id"] == schedule
    past = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z")
    for command in (
        ("schedule", "show", called),
        ("schedule", "times", called),
        ("schedule", "explain", called, "2030-01-01T08:00:00Z"),
        ("schedule", "pause", called),
        ("schedule", "resume", called),
        ("schedule", "label", called, "--put", "team=mail"),
        ("schedule", "trigger", called),
        ("schedule", "skip", called, "2030-01-01T08:00:00Z"),
        ("schedule", "backfill", called, *past, "--dry-run"),
        ("schedule", "edit", called, "--timeout", "5m", "--yes"),
        ("schedule", "export", called),
        ("backfill", "list", called),
        ("run", "list", "--schedule", called),
        ("audit", "--schedule", called),
        ("schedule", "delete", called, "--yes"),
    ):
        foliot(*command)
    assert f"there is no schedule '{schedule}'" in foliot.refused(3, "schedule", "show", called)


def test_one_thing_is_shown_in_every_form(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    assert foliot("schedule", "show", name, "-o", "name") == f"{name}\n"
    shown = foliot.json("schedule", "show", name)
    assert json.loads(foliot("schedule", "show", name, "-o", "jsonl")) == shown
    assert yaml.safe_load(foliot("schedule", "show", name, "-o", "yaml"))["id"] == name
    people = foliot("schedule", "show", name).splitlines()
    assert people[0].split() == ["id:", name]
    assert people[2] == "when:            At 09:00 every day (Europe/Berlin)"
    assert ["overlap:", "skip"] in [line.split() for line in people]


def test_a_pause_has_a_note_and_a_resumption_ends_it(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    paused = foliot.json("schedule", "pause", name, "--note", "the printer burns", "--until", "2030-01-01T00:00:00Z")
    assert (paused["standing"], paused["note"]) == ("paused", "the printer burns")
    assert paused["paused_until"] == "2030-01-01T00:00:00Z"
    assert foliot.json("schedule", "resume", name)["standing"] == "active"


def test_times_and_why_one_runs_or_not(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    times = foliot("schedule", "times", name, "--from", "2030-01-01T00:00:00Z", "--count", "2")
    assert times == "TIME\n2030-01-01T08:00:00Z\n2030-01-02T08:00:00Z\n"
    only = ("schedule", "times", name, "--from", "2030-01-01T00:00:00Z", "--to", "2030-01-01T12:00:00Z", "-o", "name")
    assert foliot(*only) == "2030-01-01T08:00:00Z\n"
    assert foliot("schedule", "explain", name, "2030-01-01T08:00:00Z").strip()
    assert foliot.json("schedule", "explain", name, "2030-01-01T08:00:01Z")["run_id"] is None


@pytest.mark.parametrize("verb", ["explain", "skip"])
def test_a_moment_that_is_none_is_called_by_its_name_in_the_command(foliot: CommandLine, name: str, verb: str) -> None:
    """It was called instant, which nobody had given."""
    foliot("schedule", "create", name, *DIGEST)
    said = foliot.refused(2, "schedule", verb, name, "yesterday")
    assert said == "foliot: MOMENT takes a moment such as 2026-11-15T09:00:00Z, got 'yesterday'\n"


def test_a_slot_to_come_is_skipped(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    run = foliot.json("schedule", "skip", name, "2030-01-01T08:00:00Z")
    assert (run["status"], run["reason"]) == ("skipped", "skipped_by_user")


def test_a_trigger_is_a_run_at_once(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    run = foliot.json("schedule", "trigger", name, "--input", '{"n": 1}')
    assert (run["kind"], run["schedule"], run["input"]) == ("manual", name, {"n": 1})


def test_a_deletion_shows_what_and_is_meant(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    assert f"would delete {name}: At 09:00" in foliot.run("schedule", "delete", name, "--dry-run").stderr
    said = foliot.refused(2, "schedule", "delete", name)
    assert f"Delete {name}? There is nobody here to ask: say --yes" in said
    foliot("schedule", "delete", name, "--yes")
    foliot.refused(3, "schedule", "show", name)


def test_what_was_deleted_is_data_for_programs(foliot: CommandLine, name: str) -> None:
    """Nothing was printed, which is no JSON."""
    for output, read in (("json", json.loads), ("jsonl", json.loads), ("yaml", yaml.safe_load)):
        foliot("schedule", "create", name, *DIGEST)
        assert read(foliot("schedule", "delete", name, "--yes", "-o", output))["id"] == name
    foliot("schedule", "create", name, *DIGEST)
    assert foliot("schedule", "delete", name, "--yes") == ""


def test_an_edit_changes_what_is_given_and_shows_its_effect_first(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST, "--timeout", "5m", "--retry", "3")
    said = foliot.run("schedule", "edit", name, "--cron", "0 10 * * *", "--dry-run").stderr.splitlines()
    assert said[0] == "when  At 09:00 every day (Europe/Berlin) -> At 10:00 every day (Europe/Berlin)"
    assert said[1] == "moves 20 of the next 20 times"
    assert "Change" in foliot.refused(2, "schedule", "edit", name, "--cron", "0 10 * * *")
    edited = foliot.json("schedule", "edit", name, "--cron", "0 10 * * *", "--clear", "timeout", "--yes")
    assert edited["spec"]["said"] == {"cron": "0 10 * * *", "timezone": "Europe/Berlin"}
    assert (edited["policies"]["timeout"], edited["policies"]["retry"]["attempts"]) == (None, 3)
    zone = foliot.json("schedule", "edit", name, "--timezone", "UTC", "--label", "team=mail", "--yes")
    assert zone["spec"]["said"] == {"cron": "0 10 * * *", "timezone": "UTC"}
    assert zone["labels"] == {"team": "mail"}


def test_an_edit_that_changes_nothing_says_so(foliot: CommandLine, name: str) -> None:
    """Nothing was said, as if nothing had been looked at; nor of another grant, which is a change."""
    foliot("schedule", "create", name, *DIGEST)
    same = foliot.run("schedule", "edit", name, "--cron", "0 9 * * *", "--dry-run")
    assert (same.exit_code, same.stderr) == (0, f"foliot: nothing changes: {name} is like that already\n")
    grant = foliot.json("schedule", "show", name)["grant"]
    other = foliot.run("schedule", "edit", name, "--grant", "another", "--dry-run")
    assert other.stderr == f"grant  {grant} -> another\n"


def test_an_edit_of_nothing_or_of_what_is_cleared_too_is_refused(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    assert "say what is to change" in foliot.refused(2, "schedule", "edit", name)
    both = ("schedule", "edit", name, "--timeout", "5m", "--clear", "timeout")
    assert "given and cleared at once" in foliot.refused(2, *both)


def test_an_option_is_cleared_by_its_own_name_and_an_unknown_one_is_told_which_can_be(
    foliot: CommandLine, name: str
) -> None:
    """What is sent under another name, --starts as limit, could only be cleared by that."""
    foliot("schedule", "create", name, *DIGEST, "--starts", "3", "--label", "team=mail", "--max-calls", "9")
    clear = ("--clear", "starts", "--clear", "label", "--clear", "max-calls")
    edited = foliot.json("schedule", "edit", name, *clear, "--yes")
    assert (edited["policies"]["limit"], edited["policies"]["max_calls"], edited["labels"]) == (None, None, {})
    foliot("schedule", "edit", name, "--starts", "3", "--yes")
    assert foliot.json("schedule", "edit", name, "--clear", "limit", "--yes")["policies"]["limit"] is None
    said = foliot.refused(2, "schedule", "edit", name, "--clear", "colour")
    assert "--clear takes cron, every, at, calendar, " in said
    assert "timeout, starts, pause-on-failure, " in said
    assert "got 'colour'" in said
    both = ("schedule", "edit", name, "--starts", "5", "--clear", "starts")
    assert "starts cannot be given and cleared at once" in foliot.refused(2, *both)


def test_schedules_are_listed_by_what_is_said_of_them_and_in_every_order(foliot: CommandLine, name: str) -> None:
    for part, options in {
        "a": ("--label", f"in={name}"),
        "b": ("--label", f"in={name}", "--label", "env=x=y"),
        "c": (),
    }.items():
        foliot("schedule", "create", f"{name}-{part}", *DIGEST, *options)
    foliot("schedule", "pause", f"{name}-a")
    here = ("--search", f"{name}-")

    def listed(*options: str) -> list[str]:
        return foliot("schedule", "list", *options, "-o", "name").split()

    assert listed(*here) == [f"{name}-a", f"{name}-b", f"{name}-c"]
    assert listed(*here, "--sort", "name") == [f"{name}-a", f"{name}-b", f"{name}-c"]
    assert listed(*here, "--sort", "next") == [f"{name}-b", f"{name}-c", f"{name}-a"]
    assert listed("--label", f"in={name}", "--label", "env=x=y") == [f"{name}-b"]
    assert listed(*here, "--standing", "paused") == [f"{name}-a"]
    assert listed(*here, "--target", "digest", "--owner", "nobody") == []
    assert "standing takes" in foliot.refused(2, "schedule", "list", "--standing", "odd")
    result = foliot.run("schedule", "list", *here, "--limit", "2")
    assert "There are more than 2" in result.stderr
    assert result.stdout.splitlines()[0].split() == ["ID", "STANDING", "WHEN", "TARGET", "NEXT", "NOTE"]


def test_many_are_paused_resumed_and_labelled_once_that_is_meant(foliot: CommandLine, name: str) -> None:
    for part in "abc":
        foliot("schedule", "create", f"{name}-{part}", *DIGEST, "--label", f"in={name}")
    those = ("--label", f"in={name}")
    assert "would pause 3 schedules" in foliot.run("schedule", "pause", *those, "--dry-run").stderr
    assert "Pause 3 schedules? There is nobody here to ask" in foliot.refused(2, "schedule", "pause", *those)
    paused = foliot("schedule", "pause", *those, "--note", "the printer burns", "--yes", "-o", "name")
    assert paused.split() == [f"{name}-a", f"{name}-b", f"{name}-c"]
    shown = foliot.json("schedule", "show", f"{name}-b")
    assert (shown["standing"], shown["note"]) == ("paused", "the printer burns")
    result = foliot.run("schedule", "resume", *those, "--yes")
    assert (result.exit_code, "3 schedules changed" in result.stderr) == (0, True)
    assert "0 schedules changed" in foliot.run("schedule", "resume", *those).stderr
    foliot("schedule", "label", *those, "--put", "env=prod", "--remove", "in", "--yes")
    assert foliot.json("schedule", "show", f"{name}-c")["labels"] == {"env": "prod"}


def test_one_is_labelled_by_its_name(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST, "--label", "team=mail")
    assert foliot.json("schedule", "label", name, "--put", "env=prod")["labels"] == {"env": "prod", "team": "mail"}
    assert "there is no schedule" in foliot.refused(3, "schedule", "label", f"{name}-none", "--put", "env=prod")


def test_nothing_is_done_to_all_by_chance(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    for verb in ("pause", "resume", "label"):
        assert "say which" in foliot.refused(2, "schedule", verb)
        assert "say either" in foliot.refused(2, "schedule", verb, name, "--all")
    assert "--put takes name=value" in foliot.refused(2, "schedule", "label", name, "--put", "env")


def test_an_edit_that_is_odd_is_warned_about(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    said = foliot.run("schedule", "edit", name, "--cron", "*/45 * * * *", "--dry-run").stderr
    assert "warning: " in said
    assert said.splitlines()[-1].endswith("]")


def test_what_a_dry_run_shows_is_data_for_programs(foliot: CommandLine, name: str) -> None:
    """It was on standard error, whatever was asked for."""
    foliot("schedule", "create", name, *DIGEST, "--label", f"in={name}")
    for output, read in (("json", json.loads), ("jsonl", json.loads), ("yaml", yaml.safe_load)):
        dry = ("--dry-run", "-o", output)
        edit = foliot.run("schedule", "edit", name, "--cron", "0 10 * * *", *dry)
        shown = read(edit.stdout)
        assert (edit.stderr, shown["id"], len(shown["next_now"]), len(shown["next_wanted"])) == ("", name, 20, 20)
        assert [one["field"] for one in shown["changes"]] == ["spec"]
        delete = foliot.run("schedule", "delete", name, *dry)
        assert (delete.stderr, read(delete.stdout)["id"]) == ("", name)
        label = read(foliot("schedule", "label", name, "--put", "env=prod", "--remove", "in", *dry))
        assert label["labels"] == {"env": "prod"}
    span = ("--from", "2026-11-01T00:00:00Z", "--to", "2026-11-03T00:00:00Z", "--which", "all")
    assert foliot.json("schedule", "backfill", name, *span, "--dry-run")["total"] == 2
    assert foliot("schedule", "backfill", name, *span, "--dry-run", "-o", "name") == f"{name}\n"
    assert foliot.json("schedule", "show", name)["labels"] == {"in": name}


def test_a_dry_run_over_many_names_those_that_it_would_be_done_to(foliot: CommandLine, name: str) -> None:
    for part in "abc":
        foliot("schedule", "create", f"{name}-{part}", *DIGEST, "--label", f"in={name}")
    foliot("schedule", "pause", f"{name}-b")

    def meant(verb: str, *words: str) -> list[str]:
        found = foliot.json("schedule", verb, "--label", f"in={name}", "--dry-run", *words)
        return [one["id"].removeprefix(f"{name}-") for one in found]

    assert (meant("pause"), meant("resume")) == (["a", "c"], ["b"])
    assert (meant("pause", "--standing", "paused"), meant("label", "--put", "x=y")) == (["b"], ["a", "b", "c"])
    told = foliot.run("schedule", "pause", "--label", f"in={name}", "--dry-run").stderr
    assert told.splitlines() == ["foliot: would pause 2 schedules", f"  {name}-a", f"  {name}-c"]


def test_a_dry_run_names_no_more_than_twenty_to_people(foliot: CommandLine, served: Served, name: str) -> None:
    for number in range(22):
        served.program.schedules.create(f"{name}-{number:02}", target="digest", cron="0 9 * * *", labels={"in": name})
    told = foliot.run("schedule", "pause", "--label", f"in={name}", "--dry-run").stderr.splitlines()
    assert (told[0], told[20], told[21:]) == ("foliot: would pause 22 schedules", f"  {name}-19", ["  and 2 more"])


def test_who_leaves_a_question_open_has_changed_nothing_and_is_told_so(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DIGEST)
    terminal, keyboard = pty.openpty()
    os.write(terminal, b"\x04")
    command = [str(FOLIOT), "schedule", "delete", name]
    asked = subprocess.run(
        command, stdin=keyboard, capture_output=True, text=True, env={**os.environ, **foliot.environment}, check=False
    )
    os.close(terminal)
    os.close(keyboard)
    assert (asked.returncode, "foliot: nothing was changed" in asked.stderr) == (130, True)
    assert foliot.json("schedule", "show", name)["id"] == name
