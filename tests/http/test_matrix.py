"""Every operation, asked for by everybody: it is done by right only, and what is foreign looks as if it was missing."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from foliot import Foliot
from foliot.http.openapi import document
from tests.diet import on_sqlite_every_day
from tests.http.clients import People
from tests.http.matrix import a_matrix, unmatched
from tests.http.matrix_rows import ROWS

FOR_MACHINES = {"/healthz", "/readyz", "/metrics"}
"""All that is open without a key, and in no description."""


@on_sqlite_every_day
def test_everything_is_done_by_right_only_and_what_is_foreign_looks_missing(database_url: str) -> None:
    with a_matrix(database_url) as matrix:
        matrix.run()
    assert matrix.problems == []
    assert matrix.counts["requests"] > 2000


def test_an_operation_without_a_row_and_a_row_without_an_operation_are_found() -> None:
    operations = {name.partition(" | ")[0] for name in ROWS}
    assert unmatched(operations) == []
    assert unmatched({*operations, "GET /api/v1/new"}) == [
        "GET /api/v1/new has no row in tests/http/matrix_rows.py: add one"
    ]
    (vanished,) = unmatched(operations - {"GET /api/v1/me"})
    assert vanished.startswith("GET /api/v1/me has a row")


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_nothing_can_be_asked_for_that_is_not_described_but_for_machines(people: People) -> None:
    app: Any = people.someone().app
    found = {
        context.path_format
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute)
    }
    assert found - set(document(app)["paths"]) == FOR_MACHINES


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_name_that_somebody_else_has_is_taken_and_that_is_all_that_is_told(people: People, program: Foliot) -> None:
    said = {"cron": "0 9 * * *", "target": "python:digest"}
    assert people.bob.post("/api/v1/schedules", json={"name": "digest", **said}).status_code == 201
    before = program.schedules.get("digest")
    asked: list[Callable[[], Any]] = [
        lambda: people.ann.post("/api/v1/schedules", json={"name": "digest", **said}),
        lambda: people.ann.put("/api/v1/schedules/digest?upsert=true", json=said),
    ]
    for ask in asked:
        answer = ask()
        assert (answer.status_code, answer.json()["detail"]) == (409, "the name 'digest' is taken: choose another")
    assert program.schedules.get("digest") == before


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_key_is_known_by_its_whole_text_and_by_the_scheme_that_it_is_sent_with(people: People) -> None:
    key = people.ann.headers["Authorization"].removeprefix("Bearer ")
    altered = [key[:-1], key + "x", key.upper(), key.replace("fol_", "foo_"), f"{key},{key}", f"{key}\0", ""]
    for header in (*(f"Bearer {one}" for one in altered), key, f"Basic {key}", f"Token {key}", f"Bearer: {key}"):
        answer = people.nobody.get("/api/v1/me", headers={"Authorization": header})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), header
    for query in (f"?api_key={key}", f"?access_token={key}", f"?authorization=Bearer+{key}"):
        assert people.nobody.get(f"/api/v1/me{query}").status_code == 401
    assert people.nobody.get("/api/v1/me", headers={"Cookie": f"authorization={key}"}).status_code == 401
