"""Who may ask for what, and what is answered when it is asked again."""

from collections.abc import Callable
from typing import Any

import pytest

from foliot.clock import SystemClock
from foliot.domain.access import Right
from foliot.domain.pace import Pace
from foliot.http.application import application
from foliot.http.asking import PUBLIC, Asked, needs
from foliot.http.routing import router_at
from tests.http.clients import People

DIGEST = {"name": "digest", "cron": "0 9 * * *", "timezone": "Europe/Berlin"}


def test_whoever_has_no_key_is_asked_for_one(people: People) -> None:
    answer = people.nobody.get("/api/v1/schedules/digest")
    assert (answer.status_code, answer.json()["code"]) == (401, "unidentified")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


def test_a_schedule_is_its_owners_and_missing_to_others(people: People) -> None:
    made = people.ann.post("/api/v1/schedules", json=DIGEST)
    assert (made.status_code, made.json()["id"]) == (201, "digest")
    assert people.ann.get("/api/v1/schedules/digest").json() == made.json()
    foreign, missing = people.bob.get("/api/v1/schedules/digest"), people.bob.get("/api/v1/schedules/absent")
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.json()["detail"] == missing.json()["detail"].replace("absent", "digest")
    assert people.root.get("/api/v1/schedules/digest").status_code == 200


def test_a_viewer_changes_nothing(people: People) -> None:
    answer = people.eve.post("/api/v1/schedules", json=DIGEST)
    assert (answer.status_code, answer.json()["code"]) == (403, "denied")


def test_what_is_asked_again_under_its_key_is_answered_from_memory(people: People) -> None:
    first = people.ann.post("/api/v1/schedules", json=DIGEST, headers={"Idempotency-Key": "one"})
    again = people.ann.post("/api/v1/schedules", json=DIGEST, headers={"Idempotency-Key": "one"})
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["etag"] == first.headers["etag"]
    other = people.ann.post("/api/v1/schedules", json={**DIGEST, "name": "other"}, headers={"Idempotency-Key": "one"})
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_who_did_what_is_in_the_trail(people: People) -> None:
    made = people.ann.post("/api/v1/schedules", json=DIGEST)
    with_deed = people.program.parts.database.read(lambda tx: tx.newest_deeds(1, None, None, None))[0]
    assert (with_deed.actor, with_deed.action, with_deed.subject) == ("ann", "schedule.create", "schedule/digest")
    assert with_deed.request_id == made.headers["x-request-id"]


def undeclared() -> None:
    """A handler that has not said what it needs."""


@needs(Right.READ)
def unasking() -> None:
    """A handler that says what it needs, and does not ask who is there."""


@needs(PUBLIC)
def public_and_asking(asked: Asked) -> None:
    """A handler for everybody that wants to know who is there."""


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (undeclared, "/new declares no right"),
        (unasking, "/new needs read and does not ask"),
        (public_and_asking, "/new is public and asks"),
    ],
)
def test_a_route_that_does_not_say_what_it_needs_and_ask_for_it_stops_the_start(
    people: People, handler: Callable[..., None], words: str
) -> None:
    app: Any = people.someone().app
    router = router_at()
    router.add_api_route("/new", handler)
    with pytest.raises(ValueError, match=words):
        application(app.state.service, SystemClock(), Pace(1, 1), [router])


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("schedules?limt=5", "'limt' is no parameter of GET /api/v1/schedules: did you mean limit?"),
        ("schedules?limit=5&colour=red", "it takes q, app, set, target, label"),
        ("me?verbose=1", "'verbose' is no parameter of GET /api/v1/me: it takes none"),
        ("schedules/absent?verbose=1", "it takes none"),
    ],
)
def test_a_parameter_that_is_not_known_is_refused_with_the_one_that_was_meant(
    people: People, path: str, remedy: str
) -> None:
    answer = people.ann.get(f"/api/v1/{path}")
    assert (answer.status_code, remedy in answer.json()["detail"]) == (422, True)
    assert people.nobody.get(f"/api/v1/{path}").status_code == 401


def test_a_write_with_a_parameter_that_is_not_known_is_not_carried_out(people: People) -> None:
    answer = people.ann.put(
        "/api/v1/schedules/digest?upsrt=true", json={"cron": "0 9 * * *", "target": "python:digest"}
    )
    assert (answer.status_code, "did you mean upsert?" in answer.json()["detail"]) == (422, True)
    assert people.ann.get("/api/v1/schedules/digest").status_code == 404


def test_who_looks_whether_it_lives_may_say_anything(people: People) -> None:
    assert people.nobody.get("/healthz?probe=1").status_code == 200


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs?status=success&status=error", "status"),
        ("schedules?limit=5&limit=5", "limit"),
        ("schedules?label=team=mail&sort=id&sort=next", "sort"),
    ],
)
def test_what_is_taken_once_is_not_taken_twice(people: People, path: str, name: str) -> None:
    """The last one was taken, and who had asked for both was told of one."""
    answer = people.ann.get(f"/api/v1/{path}")
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"{name} is taken once, and was given 2 times: ask for one after the other"


def test_what_takes_several_is_given_several_times(people: People) -> None:
    assert people.ann.get("/api/v1/schedules?label=team=mail&label=stage=live").status_code == 200


@pytest.mark.parametrize("name", ["Authorization", "Idempotency-Key", "If-Match"])
def test_a_header_that_says_who_asks_or_for_what_comes_once(people: People, name: str) -> None:
    """The first was taken; whoever stands in between may have judged the last."""
    both = [("Authorization", people.ann.headers["authorization"]), (name, "one"), (name, "two")]
    answer = people.nobody.post("/api/v1/preview", headers=both, json={"every": "1h"})
    assert answer.status_code == 400
    assert f"the header {name} is taken once" in answer.json()["detail"]


def test_a_plus_that_a_url_made_a_space_is_told_how_to_be_written(people: People) -> None:
    answer = people.ann.get("/api/v1/runs?since=2026-03-28T00:00:00+01:00")
    assert (answer.status_code, "in a URL write + as %2B" in answer.json()["detail"]) == (422, True)
