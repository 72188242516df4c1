"""Users and keys: who may come in, and with what."""

import json
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from foliot import Foliot, Invalid
from foliot.domain.grants import scope_of
from foliot.domain.schedule import DONE_TO_USERS
from tests.dags import a_dag, act, manual
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day


def with_key(people: People, secret: str) -> TestClient:
    client = people.someone()
    client.headers["Authorization"] = f"Bearer {secret}"
    return client


def test_everybody_is_told_who_they_are_and_what_they_may(people: People) -> None:
    said = people.eve.get("/api/v1/me").json()
    assert (said["user"], said["role"], said["rights"]) == ("eve", "viewer", ["read"])


def test_users_are_the_admins_business(people: People) -> None:
    assert people.root.put("/api/v1/users/carl", json={"role": "viewer"}).json()["role"] == "viewer"
    assert people.root.get("/api/v1/users/carl").json()["disabled_at"] is None
    assert people.ann.get("/api/v1/users/carl").status_code == 403
    assert people.root.get("/api/v1/users/absent").status_code == 404
    assert people.root.post("/api/v1/users/absent/disable").status_code == 404
    assert people.root.put("/api/v1/users/carl", json={"role": "king"}).status_code == 422
    ids = []
    after = None
    while True:
        page = people.root.get("/api/v1/users", params={"limit": 1, **({"after": after} if after else {})}).json()
        ids += [user["id"] for user in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert ids == ["ann", "carl", "root"]


def test_a_user_whose_id_has_a_slash_is_found(people: People) -> None:
    assert people.root.put("/api/v1/users/team%2Fann", json={"role": "member"}).json()["id"] == "team/ann"
    assert people.root.post("/api/v1/users/team%2Fann/disable").json()["disabled_at"] is not None


@pytest.mark.parametrize("user", ["me", "acme/ledger", "acme/disable", "acme/../ann"])
def test_nobody_has_an_id_that_means_somebody_else_in_a_path(people: People, user: str) -> None:
    refused = [
        people.root.put(f"/api/v1/users/{quote(user, safe='')}", json={"role": "member"}),
        people.root.post("/api/v1/schedules", json={"name": "a", "cron": "0 8 * * *", "user": user}),
        people.root.post("/api/v1/grants", json={"scopes": [scope_of("python:digest")], "user": user}),
        people.root.post("/api/v1/keys", json={"name": "a", "user": user}),
        people.root.post("/api/v1/workflows", json={**a_dag([manual(), act("send")], "start > send"), "user_id": user}),
    ]
    said = [(answer.status_code, answer.json()["detail"]) for answer in refused]
    assert all(status == 422 and user in detail and "give" in detail for status, detail in said), said
    with pytest.raises(Invalid):
        people.program.schedules.create("a", target="digest", cron="0 8 * * *", user=user)


def test_what_may_stand_behind_a_user_in_a_path_ends_no_id(people: People) -> None:
    """Else the account of `acme/ledger` is the ledger of acme."""
    paths = people.root.get("/api/v1/openapi.json").json()["paths"]
    behind = {path.partition("{user}/")[2] for path in paths if "{user}/" in path}
    assert behind == set(DONE_TO_USERS)


def test_a_disabled_user_is_let_in_no_more_until_enabled(people: People) -> None:
    assert people.ann.get("/api/v1/me").status_code == 200
    people.root.post("/api/v1/users/ann/disable")
    assert people.ann.get("/api/v1/me").status_code == 401
    people.root.post("/api/v1/users/ann/enable")
    assert people.ann.get("/api/v1/me").status_code == 200


def test_a_new_role_holds_at_once(people: People) -> None:
    assert people.ann.get("/api/v1/users").status_code == 403
    people.root.put("/api/v1/users/ann", json={"role": "admin"})
    assert people.ann.get("/api/v1/users").status_code == 200


def test_nobody_locks_everybody_out(people: People) -> None:
    for user in ("local", "root"):
        assert people.root.put(f"/api/v1/users/{user}", json={"role": "member"}).status_code == 409
        assert people.root.post(f"/api/v1/users/{user}/disable").status_code == 409


def test_the_secret_of_a_key_is_told_once_and_kept_nowhere(people: People, program: Foliot) -> None:
    made = people.ann.post("/api/v1/keys", json={"name": "laptop"}, headers={"Idempotency-Key": "k"})
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert with_key(people, secret).get("/api/v1/me").json()["key"] == made.json()["id"]
    again = people.ann.post("/api/v1/keys", json={"name": "laptop"}, headers={"Idempotency-Key": "k"})
    assert again.json() == {**made.json(), "secret": None}
    shown = people.ann.get(f"/api/v1/keys/{made.json()['id']}")
    assert "secret" not in shown.json()
    kept = program.parts.database.read(
        lambda tx: [tx.answer("ann POST /api/v1/keys", "k"), *tx.newest_deeds(50, None, None, None)]
    )
    assert kept[0] is not None
    assert secret not in str(kept)


def test_a_key_is_for_somebody_who_is_known_and_has_the_right(people: People) -> None:
    assert people.client("eve").get("/api/v1/me").status_code == 200
    assert people.root.post("/api/v1/keys", json={"name": "k", "user": "nobody-we-know"}).status_code == 404
    assert people.root.post("/api/v1/keys", json={"name": "k", "user": "eve", "rights": ["write"]}).status_code == 422
    assert people.root.post("/api/v1/keys", json={"name": "k", "user": "eve", "rights": ["read"]}).status_code == 201


def test_a_key_for_somebody_lists_the_rights_that_their_role_has(people: People) -> None:
    assert people.client("eve").get("/api/v1/me").status_code == 200
    assert people.client("ann").get("/api/v1/me").status_code == 200
    for user, rights in (("eve", ["read"]), ("ann", ["decide", "read", "write"])):
        made = people.root.post("/api/v1/keys", json={"name": "k", "user": user}).json()
        assert made["rights"] == rights
        assert with_key(people, made["secret"]).get("/api/v1/me").json()["rights"] == rights
    people.root.put("/api/v1/users/ann", json={"role": "viewer"})
    listed = people.root.get("/api/v1/keys", params={"user": "ann"}).json()["items"]
    assert [key["rights"] for key in listed] == [["read"], ["read"]]


def test_a_key_is_its_owners_and_missing_to_others(people: People) -> None:
    made = people.ann.post("/api/v1/keys", json={"name": "laptop"}).json()
    assert people.bob.get(f"/api/v1/keys/{made['id']}").status_code == 404
    assert people.bob.delete(f"/api/v1/keys/{made['id']}").status_code == 404
    assert people.bob.post("/api/v1/keys", json={"name": "mine", "user": "ann"}).status_code == 403
    assert {key["user"] for key in people.bob.get("/api/v1/keys").json()["items"]} == {"bob"}
    assert {key["user"] for key in people.root.get("/api/v1/keys").json()["items"]} == {"ann", "bob", "root"}


def test_a_revoked_key_opens_nothing(people: People) -> None:
    made = people.ann.post("/api/v1/keys", json={"name": "laptop"}).json()
    laptop = with_key(people, made["secret"])
    assert laptop.get("/api/v1/me").status_code == 200
    assert people.ann.delete(f"/api/v1/keys/{made['id']}").json()["revoked_at"] is not None
    assert laptop.get("/api/v1/me").status_code == 401


def test_a_key_makes_no_key_that_may_more_or_lives_longer(people: People) -> None:
    few = people.ann.post(
        "/api/v1/keys", json={"name": "few", "rights": ["read", "write"], "expires_at": "2099-01-01T00:00:00Z"}
    ).json()
    client = with_key(people, few["secret"])
    made = client.post("/api/v1/keys", json={"name": "child"}).json()
    assert (made["rights"], made["expires_at"]) == (["read", "write"], "2099-01-01T00:00:00Z")
    assert client.post("/api/v1/keys", json={"name": "c", "rights": ["decide"]}).status_code == 422
    assert client.post("/api/v1/keys", json={"name": "c", "expires_at": "2199-01-01T00:00:00Z"}).status_code == 422
    assert client.post("/api/v1/keys", json={"name": "c", "expires_at": "2020-01-01T00:00:00Z"}).status_code == 422


@pytest.mark.parametrize("whose", ["root", "ann"])
def test_a_key_of_an_admin_makes_no_key_that_lives_longer_either(people: People, whose: str) -> None:
    people.client("ann")
    short = people.root.post("/api/v1/keys", json={"name": "short", "expires_at": "2099-01-01T00:00:00Z"}).json()
    client = with_key(people, short["secret"])
    made = client.post("/api/v1/keys", json={"name": "child", "user": whose})
    assert (made.status_code, made.json()["expires_at"]) == (201, "2099-01-01T00:00:00Z")
    longer = {"name": "c", "user": whose, "expires_at": "2199-01-01T00:00:00Z"}
    assert client.post("/api/v1/keys", json=longer).status_code == 422
    assert people.root.post("/api/v1/keys", json=longer).status_code == 201
    assert people.root.post("/api/v1/keys", json={"name": "d", "user": whose}).json()["expires_at"] is None


def test_an_admins_key_without_the_right_of_one_makes_and_revokes_no_keys_of_others(people: People) -> None:
    few = people.root.post("/api/v1/keys", json={"name": "few", "rights": ["read", "write"]}).json()
    theirs = people.ann.post("/api/v1/keys", json={"name": "laptop"}).json()
    client = with_key(people, few["secret"])
    assert client.post("/api/v1/keys", json={"name": "c", "user": "ann"}).status_code == 403
    assert client.delete(f"/api/v1/keys/{theirs['id']}").status_code == 403


def test_what_no_key_could_be_is_refused(people: People) -> None:
    for body in (
        {},
        {"name": ""},
        {"name": "\0"},
        {"name": "\ud800"},
        {"name": 1},
        {"name": "x" * 2000},
        {"name": "a", "rights": []},
        {"name": "a", "rights": ["fly"]},
        {"name": "a", "expires_at": 0},
        {"name": "a", "expires_at": "0001-01-01T00:00:00+23:59"},
        {"name": "a", "expires_at": "9999-12-31T23:59:59-23:59"},
        {"name": "a", "more": 1},
    ):
        headers = {"Content-Type": "application/json"}
        answer = people.ann.post("/api/v1/keys", content=json.dumps(body), headers=headers)
        assert answer.status_code == 422, body
