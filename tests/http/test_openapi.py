"""The API's own description."""

import jsonschema_rs
import pytest

from foliot.domain.errors import Invalid
from foliot.domain.grants import scope_of
from foliot.http.paging import cursor_of, place_of
from tests.dags import a_dag, act, manual
from tests.http.clients import People


def test_every_operation_says_what_it_needs_what_may_go_wrong_and_that_writes_take_a_key(people: People) -> None:
    said = people.ann.get("/api/v1/openapi.json").json()
    operations = [(method, operation) for path in said["paths"].values() for method, operation in path.items()]
    assert {operation["operationId"] for _, operation in operations} >= {"schedules_create", "schedules_get"}
    for method, operation in operations:
        problems = {status for status in operation["responses"] if int(status) >= 400}
        assert {"401", "403", "429", "503"} <= problems, operation["operationId"]
        assert all("application/problem+json" in operation["responses"][status]["content"] for status in problems)
        keys = [one for one in operation.get("parameters", []) if one["name"] == "Idempotency-Key"]
        # A signed message brings its own id.
        assert bool(keys) is (method != "get" and operation["x-right"] != "signed"), operation["operationId"]
        assert operation["x-right"]
    assert "HTTPValidationError" not in said["components"]["schemas"]


def test_a_user_or_schedule_that_is_not_there_is_not_found_as_the_description_says(people: People) -> None:
    """The clients here take no answer that it does not declare."""
    flow = a_dag([manual(), act("send")], "start > send")
    grant = {"scopes": [scope_of("python:digest")], "user": "carl"}
    answers = [
        people.root.get("/api/v1/runs?schedule=absent"),
        people.root.post("/api/v1/keys", json={"name": "a", "user": "carl"}),
        people.root.post("/api/v1/grants", json=grant),
        people.root.post("/api/v1/workflows", json={**flow, "user_id": "carl"}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4


def test_every_body_has_an_example_beside_its_schema_that_the_schema_takes(people: People) -> None:
    said = people.ann.get("/api/v1/openapi.json").json()
    operations = [operation for path in said["paths"].values() for operation in path.values()]
    bodies = [
        (operation.get("operationId"), operation["requestBody"]["content"]["application/json"])
        for operation in operations
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    assert len(bodies) > 30
    assert [name for name, body in bodies if "example" not in body] == []
    for name, body in bodies:
        schema = {**body["schema"], "components": said["components"]}
        assert jsonschema_rs.is_valid(schema, body["example"]), name


def test_a_cursor_leads_back_to_its_place_and_no_other_text_does() -> None:
    assert place_of(cursor_of("digest", 5), str, int) == ["digest", 5]
    assert place_of(None, str) is None
    for text in ("", "x", "é", cursor_of("digest"), cursor_of("digest", 2**63), cursor_of("digest", "5")):
        with pytest.raises(Invalid, match="after takes"):
            place_of(text, str, int)
