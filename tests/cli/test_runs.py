"""`foliot run`, and waiting for what was asked for: exit codes by what came of it."""

import json
import os
import signal
from subprocess import PIPE, Popen

import pytest

from tests.cli.conftest import FOLIOT, CommandLine


@pytest.fixture
def schedule(foliot: CommandLine, name: str) -> str:
    foliot("schedule", "create", name, "--target", "digest", "--manual")
    return name


@pytest.fixture
def broken(foliot: CommandLine, name: str) -> str:
    foliot("schedule", "create", name, "--target", "broken", "--manual")
    return name


@pytest.fixture
def patient(foliot: CommandLine, name: str) -> str:
    foliot("schedule", "create", name, "--target", "patient", "--manual", "--overlap", "allow_all")
    return name


def test_who_waits_for_a_trigger_is_told_that_it_succeeded(foliot: CommandLine, schedule: str) -> None:
    run = foliot.json("schedule", "trigger", schedule, "--input", "7", "--wait", "--timeout", "30s")
    assert (run["status"], run["result"]) == ("success", 7)


def test_who_waits_for_a_failure_exits_with_1_and_sees_why(foliot: CommandLine, broken: str) -> None:
    shown = foliot("schedule", "trigger", broken, "--wait", "--timeout", "30s", code=1)
    assert "the printer burns" in shown


def test_who_waited_long_enough_exits_with_7_and_it_goes_on(foliot: CommandLine, patient: str) -> None:
    result = foliot.run("schedule", "trigger", patient, "--wait", "--timeout", "300ms", "-o", "json")
    assert result.exit_code == 7
    assert "was not over in time; it goes on" in result.stderr
    run = json.loads(result.stdout)["id"]
    foliot("run", "terminate", run, "--yes")


def test_a_timeout_without_waiting_means_nothing(foliot: CommandLine, schedule: str) -> None:
    assert "give both" in foliot.refused(2, "schedule", "trigger", schedule, "--timeout", "5s")


def test_a_timeout_that_is_no_span_is_refused_before_anything_is_begun(foliot: CommandLine, broken: str) -> None:
    """It was refused when the run had been made already, so that whoever mended it and asked again had two."""
    said = foliot.refused(2, "schedule", "trigger", broken, "--wait", "--timeout", "2")
    assert "--timeout takes a duration such as '90s'" in said
    assert foliot("run", "list", "--schedule", broken, "-o", "name") == ""
    foliot("schedule", "trigger", broken, "--wait", code=1)
    (run,) = foliot("run", "list", "--schedule", broken, "-o", "name").split()
    foliot.refused(2, "run", "retry", run, "--wait", "--timeout", "5")
    assert len(foliot.json("run", "show", run)["attempts"]) == 1
    foliot("schedule", "edit", broken, "--cron", "0 9 * * *", "--yes")
    past = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z")
    foliot.refused(2, "schedule", "backfill", broken, *past, "--yes", "--wait", "--timeout", "3")
    assert foliot("backfill", "list", broken, "-o", "name") == ""


def test_runs_are_listed_by_what_they_are(foliot: CommandLine, broken: str) -> None:
    foliot("schedule", "trigger", broken, "--wait", code=1)
    (run,) = foliot.json("run", "list", "--schedule", broken, "--status", "error", "--kind", "manual")
    assert foliot("run", "list", "--schedule", broken, "--status", "success", "-o", "name") == ""
    assert foliot("run", "list", "--schedule", broken, "-o", "name") == f"{run['id']}\n"
    table = foliot("run", "list", "--schedule", broken).splitlines()
    assert table[0].split() == ["ID", "STATUS", "REASON", "STARTED", "ENDED", "ERROR"]
    assert "the printer burns" in table[1]
    assert len(table[1].split()[3]) == len("2026-11-15T09:00:00Z")


def test_a_run_is_shown_with_its_attempts(foliot: CommandLine, broken: str) -> None:
    foliot("schedule", "trigger", broken, "--wait", code=1)
    (run,) = foliot("run", "list", "--schedule", broken, "-o", "name").split()
    again = foliot.run("run", "retry", run, "--wait", "-o", "json")
    assert again.exit_code == 1
    shown = foliot.json("run", "show", json.loads(again.stdout)["id"])
    assert [attempt["attempt"] for attempt in shown["attempts"]] == [1, 2]
    people = foliot("run", "show", run).splitlines()
    header = next(line for line in people if "ATTEMPT" in line)
    assert header.split() == ["ATTEMPT", "STATUS", "REASON", "STARTED", "ENDED", "ERROR"]
    assert max(map(len, people)) < 160


def test_a_run_is_stopped_when_that_is_meant(foliot: CommandLine, patient: str) -> None:
    run = foliot.json("schedule", "trigger", patient)["id"]
    assert f"Cancel {run}, which is " in foliot.refused(2, "run", "cancel", run)
    foliot("run", "cancel", run, "--yes")
    assert foliot.json("run", "show", run)["status"] in ("running", "cancelled")
    foliot("run", "watch", run, "--timeout", "30s", code=1)
    assert foliot.json("run", "show", run)["status"] == "cancelled"


def test_whoever_watches_sees_runs_change_and_not_what_was_over_before(foliot: CommandLine, patient: str) -> None:
    for _ in range(2):
        foliot("run", "terminate", foliot.json("schedule", "trigger", patient)["id"], "--yes")
    run = foliot.json("schedule", "trigger", patient)["id"]
    command = [str(FOLIOT), "run", "watch", "--schedule", patient, "-o", "jsonl"]
    with Popen(command, stdout=PIPE, text=True, env={**os.environ, **foliot.environment}) as watching:
        lines = iter(watching.stdout or ())
        assert json.loads(next(lines))["status"] in ("pending", "running")
        foliot("run", "terminate", run, "--yes")
        assert "cancelled" in (json.loads(line)["status"] for line in lines)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 130


def test_what_has_no_end_is_not_written_as_one_whole(foliot: CommandLine) -> None:
    """Lines came where JSON was asked for, and a list after the other."""
    for command in (("run", "watch", "--timeout", "1s"), ("schedule", "list", "--watch")):
        for output in ("json", "yaml"):
            said = foliot.refused(2, *command, "-o", output)
            assert f"takes -o jsonl, a line for each, got -o {output}" in said


@pytest.mark.parametrize("nothing", ["", ".", ".."])
def test_an_id_to_which_no_path_leads_is_refused_in_words(foliot: CommandLine, nothing: str) -> None:
    """Dots led to the list, or to what is done to many schedules at once."""
    for command in (
        ("run", "show"),
        ("run", "watch"),
        ("schedule", "show"),
        ("schedule", "pause"),
        ("schedule", "delete", "--yes"),
        ("schedule", "edit", "--timeout", "5m"),
        ("grant", "show"),
    ):
        said = foliot.refused(2, *command, nothing)
        assert f"an id takes at least one character, and is neither . nor .., got {nothing!r}" in said, command


def test_a_run_that_is_not_there_is_not_found(foliot: CommandLine) -> None:
    assert "no run" in foliot.refused(3, "run", "show", "absent:2026-11-15T09:00:00Z~1")


def test_who_stops_waiting_is_told_that_the_run_goes_on_and_how_to_stop_it(foliot: CommandLine, patient: str) -> None:
    run = foliot.json("schedule", "trigger", patient)["id"]
    command = [str(FOLIOT), "run", "watch", run]
    with Popen(command, stderr=PIPE, text=True, env={**os.environ, **foliot.environment}) as watching:
        said = iter(watching.stderr or ())
        assert run in next(said)
        watching.send_signal(signal.SIGINT)
        assert f"foliot: {run} goes on; `foliot run cancel {run}` stops it" in "".join(said)
        assert watching.wait(10) == 130
    foliot("run", "terminate", run, "--yes")
