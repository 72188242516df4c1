"""`foliot grant`, `account`, `decision`, `workflow` and `backfill`: asked of a real server."""

import json
from pathlib import Path

from tests.cli.conftest import CommandLine, Served
from tests.dags import a_dag, act, manual

EVERYTHING = "graph:execute:*"
DAILY = ("--target", "digest", "--cron", "0 9 * * *")
RANGE = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-03T23:00:00Z")


def test_a_grant_is_made_extended_and_revoked(foliot: CommandLine) -> None:
    foliot("user", "put", "ann")
    made = foliot.json("grant", "create", "--scope", "graph:execute:python:digest", "--user", "ann")
    grant = made["id"]
    assert (made["user"], made["expires_at"]) == ("ann", None)
    budget = ("--budget", '{"credits": 5}', "--expires", "2030-01-01T00:00:00Z")
    extended = foliot.json("grant", "extend", grant, *budget)
    assert (extended["budget"]["credits"], extended["expires_at"]) == (5, "2030-01-01T00:00:00Z")
    assert "say what is to change" in foliot.refused(2, "grant", "extend", grant)
    assert grant in foliot("grant", "list", "--user", "ann", "-o", "name")
    assert f"Revoke {grant} of ann" in foliot.refused(2, "grant", "revoke", grant)
    assert foliot.json("grant", "revoke", grant, "--stop", "--yes")["revoked_at"] is not None
    assert foliot.json("grant", "show", grant)["revoked_at"] is not None
    said = foliot.refused(4, "grant", "extend", grant, "--expires", "2031-01-01T00:00:00Z")
    assert f"{grant} was revoked at" in said
    assert "`foliot grant create` makes another" in said


def test_the_use_of_a_budget_is_shown_in_a_line_where_there_is_one(foliot: CommandLine, name: str) -> None:
    grant = foliot.json("grant", "create", "--scope", "graph:execute:python:digest")["id"]
    foliot("schedule", "create", name, *DAILY, "--grant", grant)
    for thing in (("schedule", name), ("grant", grant)):
        assert "budget_use" not in foliot.json(thing[0], "show", thing[1])
        told = foliot.run(thing[0], "show", thing[1], "--debug").stderr
        assert "/budget" not in told, "nothing is asked for that is not there"
    foliot("grant", "extend", grant, "--budget", '{"credits": 5000, "per": "30d"}')
    foliot("schedule", "edit", name, "--budget", '{"credits": 0}', "--yes")
    lines = foliot("grant", "show", grant).splitlines()
    words = "0 of 5,000 credits spent in the last 30 days, 0 reserved, 5,000 left; there is room"
    assert lines[-1].split(maxsplit=1) == ["budget_use:", words]
    words = "0 of 0 credits spent in the last day, 0 reserved, 0 left; nobody can say when there is room"
    assert ["budget_use:", words] in [line.split(maxsplit=1) for line in foliot("schedule", "show", name).splitlines()]
    use = {"spent": 0, "reserved": 0, "left": 5000, "has_room": True, "room_at": None}
    assert foliot.json("grant", "show", grant)["budget_use"] == {"credits": 5000, "per": "30d", **use}
    assert foliot.json("schedule", "show", name)["budget_use"]["has_room"] is False


def test_a_budget_without_room_says_from_when_there_is(foliot: CommandLine, served: Served, name: str) -> None:
    foliot("schedule", "create", name, *DAILY, "--budget", '{"credits": 300, "per": "hour"}')
    run = foliot.json("schedule", "trigger", name, "--wait", "--timeout", "30s")["id"]
    served.program.report_usage(run, "call", cost="0.00001")
    room_at = foliot.json("schedule", "show", name)["budget_use"]["room_at"]
    assert room_at is not None
    words = f"200 of 300 credits spent in the last hour, 0 reserved, 100 left; room from {room_at}"
    assert words in foliot("schedule", "show", name)


def test_everything_is_permitted_when_that_is_said_besides(foliot: CommandLine) -> None:
    said = foliot.refused(2, "grant", "create", "--scope", EVERYTHING)
    assert "say --everything besides, or name targets" in said
    made = foliot.json("grant", "create", "--scope", EVERYTHING, "--everything")
    assert made["scopes"] == [EVERYTHING]
    narrow = foliot.json("grant", "create", "--scope", "graph:execute:python:digest")["id"]
    assert "goes with a --scope" in foliot.refused(2, "grant", "extend", narrow, "--everything")
    wide = foliot.json("grant", "extend", narrow, "--scope", EVERYTHING, "--everything")
    assert wide["scopes"] == [EVERYTHING]


def test_an_account_is_topped_up_once_for_each_reference(foliot: CommandLine) -> None:
    said = foliot.refused(3, "account", "top-up", "kim", "500", "--reference", "invoice-7")
    assert "there is no user 'kim': `foliot user list` shows those that there are, and `foliot user put` makes" in said
    assert "there is no user 'kim'" in foliot.refused(3, "account", "limit", "kim", "--unlimited")
    for verb in ("show", "ledger"):
        assert "there is no user 'kim'" in foliot.refused(3, "account", verb, "kim")
    assert "kim" not in foliot("user", "list", "-o", "name").split()
    foliot("user", "put", "kim")
    assert foliot.json("account", "show", "kim")["balance"] == 0
    for _ in range(2):
        account = foliot.json("account", "top-up", "kim", "500", "--reference", "invoice-7")
    assert (account["user"], account["balance"]) == ("kim", 500)
    assert [one["amount"] for one in foliot.json("account", "ledger", "kim")] == [500]
    assert foliot.json("account", "limit", "kim", "--unlimited")["limited"] is False
    assert foliot.json("account", "show", "kim")["balance"] == 500
    assert foliot.json("account", "show")["user"] == "local"


def test_nothing_is_made_for_a_user_whom_nobody_knows(foliot: CommandLine, tmp_path: Path) -> None:
    """A name that was mistyped became a user with a schedule, a grant or a workflow of their own."""
    written = tmp_path / "set.yaml"
    written.write_text("set: nightly\nschedules:\n- {name: theirs, target: digest, every: 1h}\n")
    workflow = tmp_path / "workflow.json"
    workflow.write_text(
        json.dumps(a_dag([manual(), act("send")], "start > send", workflow_id="theirs", user_id="nobody"))
    )
    for command in (
        ("schedule", "create", "theirs", "--target", "digest", "--every", "1h"),
        ("schedule", "apply", "-f", f"{written}", "--yes"),
        ("grant", "create", "--scope", "graph:execute:python:digest"),
    ):
        assert "there is no user 'nobody'" in foliot.refused(3, *command, "--user", "nobody")
    assert "there is no user 'nobody'" in foliot.refused(3, "workflow", "deploy", f"{workflow}")
    assert "nobody" not in foliot("user", "list", "-o", "name").split()


def test_what_waits_for_a_person_is_listed_and_answered(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, "--target", "asking", "--manual")
    run = json.loads(foliot("schedule", "trigger", name, "--wait", "--timeout", "2s", "-o", "json", code=7))["id"]
    assert run in foliot("decision", "list", "-o", "name")
    assert foliot.json("decision", "reject", run, "--feedback", '"no"')["run"] == run
    assert run not in foliot("decision", "list", "-o", "name")


def test_a_workflow_is_deployed_and_shown(foliot: CommandLine, tmp_path: Path, name: str) -> None:
    nodes = [
        {"id": "start", "type": "trigger", "data": {"kind": "manual"}},
        {"id": "send", "type": "action", "data": {"action": "send"}},
    ]
    flow = {"workflow_id": name, "nodes": nodes, "edges": [{"source": "start", "target": "send"}]}
    (tmp_path / "flow.json").write_text(json.dumps(flow))
    result = foliot.run("workflow", "deploy", str(tmp_path / "flow.json"), "-o", "json")
    assert result.exit_code == 0, result.output
    assert name in foliot("workflow", "list", "-o", "name", "--limit", "0")
    assert foliot.json("workflow", "show", name, "--version", "1")["version"] == 1


def test_a_backfill_is_shown_first_and_waited_for(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DAILY)
    shown = foliot("schedule", "backfill", name, *RANGE, "--which", "all", "--dry-run")
    assert shown.splitlines()[:2] == [f"{name}: 3 slots, nobody knows what they cost", "  2026-01-01T09:00:00Z"]
    assert "Run 3 slots" in foliot.refused(2, "schedule", "backfill", name, *RANGE)
    done = foliot.json("schedule", "backfill", name, *RANGE, "--yes", "--wait", "--timeout", "60s")
    assert (done["started"], done["running"]) == (3, 0)
    assert foliot("backfill", "list", name, "-o", "name") == f"{done['id']}\n"
    assert foliot.json("backfill", "show", str(done["id"]))["done"] == 3


def test_what_is_refused_is_called_as_it_was_typed(foliot: CommandLine, name: str) -> None:
    """By the names that it has over HTTP: start, end, scopes, expires_at."""
    foliot("schedule", "create", name, *DAILY)
    backwards = ("--from", "2026-11-03T00:00:00Z", "--to", "2026-11-01T00:00:00Z")
    for words, said in (
        (("schedule", "times", name, "--from", "2026-10-23"), "--from takes a moment"),
        (("schedule", "times", name, "--to", "soon"), "--to takes a moment"),
        (("schedule", "times", name, *backwards), "--to takes a moment not before --from"),
        (("schedule", "backfill", name, *backwards), "--to takes a moment not before --from"),
        (("simulate", "--days", "-3"), "--days takes more than 0 and at most 84,180, got -3"),
        (("grant", "create"), "--scope, such as graph:execute:python:digest"),
        (("grant", "create", "--scope", "graph:execute:*"), "say --everything besides"),
        (("grant", "extend", "grant-1", "--scope", "graph:execute:*"), "say --everything besides"),
        (("grant", "extend", "grant-1", "--expires", "soon"), "--expires takes a moment"),
        (("key", "create", "mine", "--expires", "soon"), "--expires takes a moment"),
    ):
        assert said in foliot.refused(2, *words), words


def test_a_backfill_of_nothing_is_said_to_be_none_and_not_begun(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, *DAILY)
    foliot("schedule", "backfill", name, *RANGE, "--yes", "--wait", "--timeout", "60s")
    again = foliot.run("schedule", "backfill", name, *RANGE, "--wait")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "there is nothing to run" in again.stderr
    assert foliot.json("schedule", "backfill", name, *RANGE, "--yes")["total"] == 0
    assert foliot("schedule", "backfill", name, *RANGE, "--yes", "-o", "name") == ""
    assert len(foliot("backfill", "list", name, "-o", "name").split()) == 1


def test_a_backfill_whose_runs_fail_exits_with_1(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, "--target", "broken", "--cron", "0 9 * * *")
    result = foliot.run("schedule", "backfill", name, *RANGE, "--yes", "--wait", "--timeout", "60s")
    assert result.exit_code == 1, result.output
    assert "3 of 3 did not end well" in result.stderr


def test_who_watches_a_backfill_that_was_cancelled_is_told_by_exit_code_1(foliot: CommandLine, name: str) -> None:
    """It was 0, as if all of it had succeeded."""
    foliot("schedule", "create", name, "--target", "digest", "--cron", "* * * * *")
    backfill = str(foliot.json("schedule", "backfill", name, *RANGE, "--yes")["id"])
    foliot("backfill", "cancel", backfill, "--yes")
    watched = foliot.run("backfill", "watch", backfill, "--timeout", "60s")
    assert watched.exit_code == 1, watched.output
    assert f"backfill {backfill} was cancelled" in watched.stderr
