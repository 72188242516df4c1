"""Refusals are in the words of whoever asks: nothing of Python, and nothing of how requests are read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import foliot
from foliot.cli.client import COMMANDS
from foliot.cli.main import app as command_line
from foliot.http import v1
from foliot.http.wording import ROUTES, over_http
from tests.http.clients import People

SCHEDULE = {"name": "digest", "target": "python:digest"}


@pytest.mark.parametrize(
    ("said", "errors"),
    [
        ({"retry": {"first": 1}}, ["retry.attempts is missing", "retry.first is not known here"]),
        ({"retry": "often"}, ["retry takes a whole number or an object"]),
        ({"retry": {"attempts": 3, "backoff": 5}}, ["retry.backoff takes text"]),
        ({"every": 5}, ["every takes text, an object or a list"]),
        ({"every": ["1h", {"every": 5}]}, ["every.1.every takes text"]),
        ({"cron": ["0 9 * * *", 5]}, ["cron.1 takes text"]),
        ({"cron": "x" * 1001}, ["cron takes text of at most 1,000 characters"]),
        ({"calendars": [{"hour": "9"}, {"hour": []}]}, ["calendars.1.hour takes text or a whole number"]),
        ({"calendars": {"minut": 3}}, ["calendars.minut is not known here"]),
        ({"x" * 100_000: 1}, [f"{'x' * 100} is not known here"]),
        ({"exclude": 5}, ["exclude takes an object or a list"]),
        ({"at": [5]}, ["at.0 takes text"]),
        ({"jitter": 5, "overlap": []}, ["jitter takes text", "overlap takes text"]),
        ({"budget": {"credits": "x"}}, ["budget.credits takes a whole number"]),
        ({"labels": {"a": 1}}, ["labels.a takes text"]),
        ({"labels": {str(number): "x" for number in range(200)}}, ["labels takes at most 100 of them"]),
        ({"manual": "yes"}, ["manual takes true or false"]),
        ({"buffer": 10**20}, ["buffer takes 9,007,199,254,740,992 or less"]),
        ({"name": ""}, ["name takes text of 1 or more characters"]),
    ],
)
def test_what_does_not_fit_is_told_once_by_the_place_where_it_was_written(
    people: People, said: dict[str, Any], errors: list[str]
) -> None:
    answer = people.ann.post("/api/v1/schedules", json=SCHEDULE | said)
    told = [f"{error['where']} {error['what']}" for error in answer.json()["errors"]]
    assert answer.status_code == 422
    assert len(told) == len(errors)
    assert all(text.startswith(error) for text, error in zip(told, errors, strict=True)), told
    assert answer.json()["detail"] == told[0]


def test_a_place_in_a_list_or_a_query_is_told_as_it_was_written(people: People) -> None:
    many = people.ann.post("/api/v1/schedules/bulk", json={"items": [SCHEDULE | {"retry": "x"}]})
    assert many.json()["detail"] == "items.0.retry takes a whole number or an object"
    assert people.ann.get("/api/v1/schedules?limit=0").json()["detail"] == "limit takes 1 or more"
    assert people.ann.get("/api/v1/runs?kind=x").json()["detail"] == "kind takes 'slot', 'manual' or 'backfill'"


def test_a_body_that_is_no_json_is_refused_as_a_whole(people: People) -> None:
    broken = people.ann.post("/api/v1/schedules", content=b"{x", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["detail"]) == (400, "the body takes JSON, and is none from character 1")
    plain = people.ann.post("/api/v1/schedules", content=b"{}", headers={"Content-Type": "text/plain"})
    assert plain.json()["detail"] == "the body takes an object, as JSON under Content-Type: application/json"
    bare = people.ann.post("/api/v1/schedules", content=b"{}").json()
    said = "the header Content-Type is missing: send the body under Content-Type: application/json"
    assert (bare["detail"], len(bare["errors"])) == (said, 1)
    assert people.ann.post("/api/v1/schedules").json()["detail"] == "the body is missing: give it"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/v1/schedules", "GET, POST"),
        ("/api/v1/schedules/digest", "DELETE, GET, PATCH, PUT"),
        ("/api/v1/schedules/digest/pause", "POST"),
        ("/healthz", "GET"),
    ],
)
def test_a_method_that_a_path_does_not_take_is_told_with_all_that_it_does(
    people: People, path: str, methods: str
) -> None:
    answer = people.ann.request("TRACE", path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, methods)
    assert answer.json()["detail"] == f"{path} takes {methods} requests, got TRACE"


def test_a_refusal_names_the_request_that_helps(people: People) -> None:
    for path, helps in (
        ("schedules/absent", "GET /api/v1/schedules"),
        ("grants/grant-99", "GET /api/v1/grants"),
        ("workflows/absent", "GET /api/v1/workflows"),
        ("backfills/77", "GET /api/v1/schedules/{schedule_id}/backfills"),
    ):
        assert f"`{helps}`" in people.ann.get(f"/api/v1/{path}").json()["detail"]
    skipped = people.ann.post("/api/v1/schedules", json=SCHEDULE | {"manual": True})
    assert skipped.status_code == 201
    run = people.ann.post("/api/v1/schedules/digest/trigger").json()["id"]
    people.ann.post(f"/api/v1/runs/{run}/cancel")
    assert "`POST /api/v1/runs/{run_id}/retry`" in people.ann.get(f"/api/v1/runs/{run}").json()["sentence"]


def test_values_are_told_as_json_has_them(people: People) -> None:
    answer = people.ann.post("/api/v1/workflows", json={"workflow_id": "a", "nodes": None})
    assert "got null" in answer.json()["detail"]
    assert over_http("limit takes 1 to 9, got True") == "limit takes 1 to 9, got true"
    assert over_http("name takes text, got 'None'") == "name takes text, got 'None'"


def test_what_a_refusal_of_a_spec_asks_for_can_be_said_anywhere(people: People) -> None:
    for said in ({}, {"spec": {"timezone": None}}, {"manual": True, "cron": "0 9 * * *"}):
        detail = people.ann.post("/api/v1/schedules", json=SCHEDULE | said).json()["detail"]
        assert not re.search(r"=True|=False|=None|Error|\(\)", detail), detail


def test_no_message_speaks_python() -> None:
    spoken = [(where, text) for where, text in messages() if re.search(r"[a-z_]=(True|False|None|'|\[)", text)]
    assert [text for where, text in spoken if where not in OF_PROGRAMS] == []


def test_every_verb_that_a_message_names_is_a_request() -> None:
    named = {verb for _, text in messages() for verb in re.findall(r"`(\w+s\.\w+)(?:\([^`]*\))?`", text)}
    assert named - set(ROUTES) == set()
    routes: list[Any] = [route for router in v1.ROUTERS for route in router.routes]
    served = {f"{method} {route.path_format}" for route in routes for method in route.methods}
    assert {route.replace("/me", "/{user}") for route in ROUTES.values()} - served == set()


def test_every_request_that_a_command_makes_is_named_as_that_command() -> None:
    groups: Any = get_command(command_line)
    for command in COMMANDS.values():
        found = groups
        for word in command.split():
            found = found.get_command(None, word)
            assert found is not None, command


OF_PROGRAMS = ("app.py", "executors/endpoints.py", "executors/langgraph.py")
"""What they refuse is said in a program only."""


def messages() -> Iterator[tuple[str, str]]:
    """Texts of the product that are no docstrings."""
    root = Path(foliot.__file__).parent
    for path in sorted(root.rglob("*.py")):
        where = str(path.relative_to(root))
        if where.startswith(("stores/", "cli/")):
            continue
        tree = ast.parse(path.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield where, node.value
