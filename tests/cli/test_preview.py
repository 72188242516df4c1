"""`foliot preview` as a person or a program runs it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLIOT = Path(sys.executable).parent / "foliot"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FOLIOT, "preview", *arguments], capture_output=True, text=True, check=False)


def shown(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def instants(*arguments: str) -> list[str]:
    return [time["nominal_at"] for time in shown(*arguments)["times"]]


BERLIN = ("--cron", "30 2 * * *", "--timezone", "Europe/Berlin")
AUTUMN = ("--from", "2026-10-24T12:00:00Z", "--count", "2")
SPRING = ("--from", "2026-03-28T12:00:00Z", "--count", "2")


def test_a_repeated_time_runs_once_at_the_first() -> None:
    answer = shown(*BERLIN, *AUTUMN)
    assert answer["summary"] == "At 02:30 every day (Europe/Berlin)"
    assert answer["timezone"] == "Europe/Berlin"
    assert answer["skipped"] == []
    assert answer["times"] == [
        {"nominal_at": "2026-10-25T00:30:00Z", "local": "2026-10-25T02:30:00+02:00", "dst": "first"},
        {"nominal_at": "2026-10-26T01:30:00Z", "local": "2026-10-26T02:30:00+01:00", "dst": None},
    ]
    assert {warning["code"] for warning in answer["warnings"]} == {"dst"}


def test_a_skipped_time_is_shifted() -> None:
    assert shown(*BERLIN, *SPRING)["times"] == [
        {"nominal_at": "2026-03-29T01:00:00Z", "local": "2026-03-29T03:00:00+02:00", "dst": "shifted"},
        {"nominal_at": "2026-03-30T00:30:00Z", "local": "2026-03-30T02:30:00+02:00", "dst": None},
    ]


def test_the_rules_can_be_chosen() -> None:
    assert instants(*BERLIN, *AUTUMN, "--fold", "both") == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    skipped = shown(*BERLIN, *SPRING, "--gap", "skip")
    assert skipped["times"][0]["nominal_at"] == "2026-03-30T00:30:00Z"
    assert skipped["skipped"] == ["2026-03-29T02:30:00"]


def test_moments_and_bounds_may_be_given_too_and_are_times_of_the_zone_without_an_offset() -> None:
    """Who would have created such a schedule could not look at it before."""
    zone = ("--timezone", "Europe/Berlin", "--from", "2026-10-01T00:00:00Z")
    moments = ("--at", "2026-10-26T09:00:00", "--at", "2026-10-24T09:00:00Z")
    assert instants(*moments, *zone) == ["2026-10-24T09:00:00Z", "2026-10-26T08:00:00Z"]
    bounds = ("--start-at", "2026-10-24T09:00", "--end-at", "2026-10-25T09:00")
    assert instants("--cron", "0 9 * * *", *bounds, *zone) == ["2026-10-24T07:00:00Z", "2026-10-25T08:00:00Z"]


def test_a_quarter_hour_is_never_lost_or_repeated() -> None:
    every_quarter = ("--cron", "*/15 * * * *", "--timezone", "Europe/Berlin", "--count", "100")
    for start in ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"):
        times = instants(*every_quarter, "--from", start)
        assert len(set(times)) == 100
        assert times[-1] == start.replace("T12:00", "T13:00").replace("-28", "-29").replace("-24", "-25")


def test_special_days_and_both_day_fields() -> None:
    november = ("--from", "2026-11-01T00:00:00Z", "--count", "3")
    assert instants("--cron", "0 0 13 * FRI", *november)[:3] == [
        "2026-11-06T00:00:00Z",
        "2026-11-13T00:00:00Z",
        "2026-11-20T00:00:00Z",
    ]
    assert instants("--cron", "0 0 * * 5#3", *november)[0] == "2026-11-20T00:00:00Z"
    assert instants("--cron", "0 0 L * *", *november)[:2] == ["2026-11-30T00:00:00Z", "2026-12-31T00:00:00Z"]


def test_sources_are_joined_and_exclusions_taken_out() -> None:
    assert instants(
        *("--cron", "0 9 * * *", "--cron", "0 10 * * *", "--every", "12h/30m"),
        *("--calendar", '{"hour": "11", "minute": 15}', "--exclude", '{"hour": "10"}'),
        *("--from", "2026-11-01T00:00:00Z", "--count", "4"),
    ) == ["2026-11-01T00:30:00Z", "2026-11-01T09:00:00Z", "2026-11-01T11:15:00Z", "2026-11-01T12:30:00Z"]


def test_people_get_a_table_with_marks_and_warnings() -> None:
    result = run(*BERLIN, *SPRING)
    assert result.returncode == 0
    assert result.stdout.splitlines()[:4] == [
        "At 02:30 every day (Europe/Berlin)",
        "",
        "LOCAL                           UTC                   RELATIVE     CLOCK CHANGE",
        "Sun 2026-03-29 03:00:00 +02:00  2026-03-29 01:00:00Z  in 13 h      shifted",
    ]
    assert "warning: On 2026-03-29 02:30 does not exist in Europe/Berlin: it runs at 03:00. [dst]" in result.stdout


def test_it_is_written_as_the_answers_of_other_commands_are() -> None:
    """There was no -o."""
    whole = shown(*BERLIN, *AUTUMN)
    assert json.loads(run(*BERLIN, *AUTUMN, "-o", "json").stdout) == whole
    assert yaml.safe_load(run(*BERLIN, *AUTUMN, "-o", "yaml").stdout) == whole
    lines = run(*BERLIN, *AUTUMN, "--output", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == whole["times"]
    names = run(*BERLIN, *AUTUMN, "-o", "name").stdout.split()
    assert names == [time["nominal_at"] for time in whole["times"]]


def test_people_are_told_of_skipped_times_and_of_none_left() -> None:
    assert "skipped: 2026-03-29 02:30:00 does not exist" in run(*BERLIN, *SPRING, "--gap", "skip").stdout
    over = run("--cron", "0 0 9 * * * 2020", "--from", "2026-01-01T00:00:00Z")
    assert "(no more times)" in over.stdout
    assert "[exhausted]" in over.stdout


def test_without_a_start_it_begins_now() -> None:
    assert run("--cron", "0 9 * * *").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cron", "0 25 * * *"], "cron field 'hour' takes 0-23, got '25'"),
        (["--cron", "* * * *"], "field 'day_of_week' (0-7 or SUN-SAT) is missing"),
        (["--cron", "60 * * * *"], "cron field 'minute' takes 0-59, got '60'"),
        (["--cron", "0 0 30 2 *"], "field 'day_of_month' takes 1-29"),
        (["--cron", "* * * * *", "--timezone", "Mars/Olympus"], "timezone takes an IANA name"),
        ([], "a spec takes cron, calendars, intervals or at, got none"),
        (["--every", "1w"], "--every takes a duration such as '90s' or '1h30m', got '1w'"),
        (["--every", "0s"], "takes 1 second or more"),
        (["--calendar", "{"], "--calendar takes a JSON object"),
        (["--calendar", "[]"], "--calendar takes a JSON object"),
        (["--calendar", '{"hours": "1"}'], "--calendar takes the keys second, minute, hour"),
        (["--exclude", '{"hour": true}'], "--exclude key 'hour' takes text"),
        (["--cron", "* * * * *", "--from", "yesterday"], "--from takes an RFC 3339 moment"),
        (["--cron", "* * * * *", "--from", "9999-12-31T23:59:59Z"], "--from takes a moment of the years 1970-2199"),
        (
            ["--cron", "* * * * *", "--from", "0001-01-01T00:00:00+14:00"],
            "--from takes a moment of the years 1970-2199",
        ),
        (["--at", "soon"], "--at takes a moment such as 2026-11-15T09:00:00Z, got 'soon'"),
        (["--cron", "* * * * *", "--end-at", "soon"], "--end-at takes a moment such as"),
        (["--calendar", "[" * 100_000], "--calendar takes a JSON object"),
        (
            ["--cron", "0 0 L * *", "--dialect", "temporal"],
            "cron field 'day_of_month' takes 1-31, lists, ranges or steps",
        ),
        (["--cron", "* * * * *", "--count", "0"], "count takes 1-10000, got 0"),
        (["--cron", "* * * * *", "--count", "many"], "Invalid value for '--count'"),
        (["--cron", "* * * * *", "--gap", "jump"], "gap takes 'auto', 'shift', 'skip'"),
        (["--cron", "* * * * *", "--fold", "none"], "fold takes"),
        (["--cron", "* * * * *", "--dialect", "quartz"], "dialect takes"),
    ],
)
def test_bad_input_exits_with_2_and_a_message_and_no_traceback(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = f"{FOLIOT} preview --cron '* * * * * *' --count 10000 | head -n 1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("Every second (UTC)\n", "")


def test_a_long_list_of_skipped_times_is_cut_for_people() -> None:
    lost = ("--cron", "* * * * *", "--timezone", "Pacific/Apia", "--from", "2011-12-30T09:59:00Z", "--count", "5")
    assert "skipped: 1430 more\n" in run(*lost).stdout
    assert len(shown(*lost)["skipped"]) == 1440


@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_an_answer_that_cannot_be_written_is_no_traceback(output: str) -> None:
    command = f"{FOLIOT} preview --cron '0 9 * * *' {output}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr


def test_it_starts_without_web_database_or_temporal_libraries() -> None:
    program = (
        "import sys; sys.argv = ['foliot', 'preview', '--cron', '0 9 * * *']\n"
        "from foliot.cli.main import main; main()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in result.stderr.split() if not name.startswith(("_", "tzdata"))}
    # What Debian's Python loads by itself is not ours; the rest is typer and what it needs.
    assert loaded <= {"foliot", "coverage", "sitecustomize", "typer", "annotated_doc", "shellingham"}
