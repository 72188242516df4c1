"""Grants, and the accounts that pay, over the network."""

from typing import Any

from foliot import Foliot
from foliot.testing import World
from tests.http.clients import People

GRANTS, ACCOUNTS = "/api/v1/grants", "/api/v1/accounts"
SCOPE = "graph:execute:python:digest"


def test_a_grant_is_made_changed_and_revoked(people: People) -> None:
    said = {"scopes": [SCOPE], "expires_at": "2099-01-01T00:00:00Z", "budget": {"credits": 5, "per": "hour"}}
    made = people.ann.post(GRANTS, json=said)
    assert (made.status_code, made.json()["user"], made.json()["scopes"]) == (201, "ann", [SCOPE])
    assert made.json()["budget"] == {"credits": 5, "per": "hour", "when_spent": "skip"}
    path = f"{GRANTS}/{made.json()['id']}"
    changed = people.ann.patch(path, json={"expires_at": None}).json()
    assert changed == {**made.json(), "expires_at": None}
    changed = people.ann.patch(path, json={"budget": None, "scopes": ["graph:execute:http:*"]}).json()
    assert (changed["budget"], changed["scopes"]) == (None, ["graph:execute:http:*"])
    assert people.ann.patch(path, json={"scopes": ["graph:execute:*"]}).status_code == 422
    assert people.ann.patch(path, json={"scopes": ["graph:execute:*"], "everything": True}).status_code == 200
    assert people.ann.post(f"{path}/revoke").json()["revoked_at"] is not None
    assert people.ann.get(path).json()["revoked_at"] is not None


def test_a_grant_is_its_users_and_missing_to_others(people: People) -> None:
    made = people.ann.post(GRANTS, json={"scopes": [SCOPE]}).json()
    path = f"{GRANTS}/{made['id']}"
    for answer in (people.bob.get(path), people.bob.patch(path, json={}), people.bob.post(f"{path}/revoke")):
        assert answer.status_code == 404
    assert people.bob.post(GRANTS, json={"scopes": [SCOPE], "user": "ann"}).status_code == 403
    assert people.root.post(GRANTS, json={"scopes": [SCOPE], "user": "ann"}).json()["user"] == "ann"
    assert people.eve.post(GRANTS, json={"scopes": [SCOPE]}).status_code == 403


def test_grants_are_listed_page_by_page(people: People) -> None:
    mine = [people.ann.post(GRANTS, json={"scopes": [SCOPE]}).json()["id"] for _ in range(3)]
    people.bob.post(GRANTS, json={"scopes": [SCOPE]})
    first = people.ann.get(GRANTS, params={"limit": 2}).json()
    rest = people.ann.get(GRANTS, params={"limit": 2, "after": first["next"]}).json()
    assert [grant["id"] for grant in first["items"] + rest["items"]] == mine
    assert rest["next"] is None
    assert len(people.root.get(GRANTS).json()["items"]) == 4
    assert len(people.root.get(GRANTS, params={"user": "bob"}).json()["items"]) == 1
    assert people.bob.get(GRANTS, params={"user": "ann"}).status_code == 403


def test_what_no_grant_could_be_is_refused(people: People) -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"scopes": []},
        {"scopes": "graph:execute:python:digest"},
        {"scopes": ["fly"]},
        {"scopes": [SCOPE], "budget": {"credits": 2**60}},
        {"scopes": [SCOPE], "budget": {"credits": -1}},
        {"scopes": [SCOPE], "budget": {"credits": "5"}},
        {"scopes": [SCOPE], "budget": {"credits": 5, "per": "year"}},
        {"scopes": [SCOPE], "expires_at": "2020-01-01T00:00:00Z"},
        {"scopes": [SCOPE], "everything": "yes"},
    )
    for body in bodies:
        assert people.ann.post(GRANTS, json=body).status_code == 422, body
    for name in ("x", "grant-0x", "grant-99999999999999999999999", "%00"):
        assert people.ann.get(f"{GRANTS}/{name}").status_code in (404, 422)


BUDGET = {"credits": 500, "per": "hour"}


def test_how_much_of_a_budget_is_used_is_told_of_a_schedule_and_of_a_grant(world: World, people: People) -> None:
    grant = people.ann.post(GRANTS, json={"scopes": [SCOPE], "budget": {**BUDGET, "credits": 800}}).json()["id"]
    said = {"name": "digest", "target": "python:digest", "manual": True, "grant": grant, "budget": BUDGET}
    assert people.ann.post("/api/v1/schedules", json=said).status_code == 201
    url, granted = "/api/v1/schedules/digest/budget", f"{GRANTS}/{grant}/budget"
    fresh = {**BUDGET, "spent": 0, "reserved": 0, "left": 500, "has_room": True, "room_at": None}
    assert people.ann.get(url).json() == fresh
    for _ in range(2):
        run = people.ann.post("/api/v1/schedules/digest/trigger").json()["id"]
        world.advance(minutes=1)
        world.app.report_usage(run, "call", cost="0.00001")
    used = {"spent": 400, "left": 100, "has_room": False, "room_at": "2026-11-15T13:01:00Z"}
    assert people.ann.get(url).json() == fresh | used
    assert people.root.get(granted).json() == fresh | {"credits": 800, "spent": 400, "left": 400}
    world.advance_to("2026-11-15T13:01:00Z")
    assert people.ann.get(url).json() == fresh | {"spent": 200, "left": 300}


def test_a_budget_is_missing_where_there_is_none_and_to_whom_it_is_not_shown(people: People) -> None:
    grant = people.ann.post(GRANTS, json={"scopes": [SCOPE]}).json()["id"]
    said = {"name": "digest", "target": "python:digest", "manual": True, "grant": grant}
    people.ann.post("/api/v1/schedules", json=said)
    url, granted = "/api/v1/schedules/digest/budget", f"{GRANTS}/{grant}/budget"
    words = "'digest' has no budget of its own: `PATCH /api/v1/schedules/{schedule_id}` gives it one"
    answer = people.ann.get(url)
    assert (answer.status_code, answer.json()["detail"]) == (404, words)
    answer = people.ann.get(granted)
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"{grant} has no budget: `PATCH /api/v1/grants/{{grant_id}}` gives it one"
    people.ann.patch(f"{GRANTS}/{grant}", json={"budget": BUDGET})
    besides = f", and `GET /api/v1/grants/{{grant_id}}/budget` shows that of {grant}, by which it runs"
    assert people.ann.get(url).json()["detail"] == words + besides
    people.ann.patch("/api/v1/schedules/digest", json={"budget": BUDGET})
    for path in (url, granted):
        assert (people.ann.get(path).status_code, people.bob.get(path).status_code) == (200, 404)


def test_an_account_is_topped_up_once_for_each_reference(people: People) -> None:
    assert people.ann.get(f"{ACCOUNTS}/me").json() == {"user": "ann", "balance": 0, "limited": True}
    said = {"credits": 100, "reference": "invoice 7"}
    for _ in range(2):
        assert people.root.post(f"{ACCOUNTS}/ann/top-up", json=said).json()["balance"] == 100
    assert people.root.post(f"{ACCOUNTS}/ann/top-up", json={**said, "credits": 5}).status_code == 409
    people.root.post(f"{ACCOUNTS}/ann/top-up", json={"credits": 50, "reference": "invoice 8"})
    assert people.ann.get(f"{ACCOUNTS}/me").json()["balance"] == 150
    first = people.ann.get(f"{ACCOUNTS}/me/ledger", params={"limit": 1}).json()
    rest = people.root.get(f"{ACCOUNTS}/ann/ledger", params={"after": first["next"]}).json()
    assert [line["reference"] for line in first["items"] + rest["items"]] == ["invoice 8", "invoice 7"]
    assert rest["next"] is None
    assert people.root.post(f"{ACCOUNTS}/ann/limit", json={"limited": False}).json()["limited"] is False


def test_money_is_the_admins_business_and_an_account_its_users(people: People) -> None:
    for path, body in (
        ("ann/top-up", {"credits": 1, "reference": "x"}),
        ("me/top-up", {"credits": 1, "reference": "x"}),
        ("ann/limit", {"limited": False}),
        ("refund", {"source": "foliot", "reference": "x"}),
    ):
        assert people.ann.post(f"{ACCOUNTS}/{path}", json=body).status_code == 403
    for path in ("ann", "ann/ledger"):
        assert people.bob.get(f"{ACCOUNTS}/{path}").status_code == 404
        assert people.root.get(f"{ACCOUNTS}/{path}").status_code == 200


def test_what_no_payment_could_be_is_refused(people: People) -> None:
    for body in (
        {"credits": 0, "reference": "x"},
        {"credits": -5, "reference": "x"},
        {"credits": 2**70, "reference": "x"},
        {"credits": "5", "reference": "x"},
        {"credits": 5.5, "reference": "x"},
        {"credits": True, "reference": "x"},
        {"credits": 5, "reference": ""},
        {"credits": 5, "reference": "\0"},
        {"credits": 5},
    ):
        assert people.root.post(f"{ACCOUNTS}/ann/top-up", json=body).status_code == 422, body
    assert people.root.post(f"{ACCOUNTS}/refund", json={"source": "foliot", "reference": "none"}).status_code == 404


def test_a_charge_is_given_back_once(people: People, program: Foliot) -> None:
    schedule = {"name": "digest", "cron": "0 9 * * *", "target": "python:digest"}
    assert people.ann.post("/api/v1/schedules", json=schedule).status_code == 201
    run = program.schedules.trigger("digest").id
    program.report_usage(run, "call", cost="0.5")
    detail = people.ann.get(f"/api/v1/runs/{run}").json()
    (receipt,) = detail["receipts"]
    assert (detail["calls"], detail["credits"]) == (1, receipt["credits"])
    before = people.ann.get(f"{ACCOUNTS}/me").json()["balance"]
    given = {"source": receipt["source"], "reference": receipt["reference"]}
    for _ in range(2):
        after = people.root.post(f"{ACCOUNTS}/refund", json=given).json()
        assert after == {"user": "ann", "balance": before + receipt["credits"], "limited": True}
