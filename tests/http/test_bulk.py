"""Many schedules at once over HTTP: created all or none, and paused, resumed and labelled by a filter."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot.testing import World
from tests.diet import on_both_every_day
from tests.http.clients import People
from tests.http.test_schedule_lists import URL, a_wish, ids, made

pytestmark = on_both_every_day

TEAM = {"filter": {"labels": {"team": "mail"}}}


def done(client: TestClient, verb: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = client.post(f"{URL}/{verb}", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def deeds(people: People, action: str) -> list[str]:
    trail = people.root.get("/api/v1/trail").json()["items"]
    return sorted(entry["subject"].partition("/")[2] for entry in trail if entry["action"] == action)


def test_many_are_created_at_once_and_the_answer_names_them_in_their_order(people: People) -> None:
    answer = people.ann.post(f"{URL}/bulk", json={"items": [a_wish(f"s{number}") for number in range(300)]})
    assert answer.status_code == 201
    created = answer.json()
    assert created["created"] == 300
    assert [one["id"] for one in created["items"][:3]] == ["s0", "s1", "s2"]
    whole = people.ann.get(f"{URL}/s7").json()
    assert created["items"][7] == {name: whole[name] for name in ("id", "name", "token", "grant", "next_at")}


@pytest.mark.parametrize(
    ("wrong", "status", "said"),
    [
        ({"name": "bad", "cron": "0 25 * * *"}, 422, "'bad': cron field 'hour' takes 0-23"),
        ({"name": "There"}, 409, "there is a schedule 'there' already"),
        ({"name": "s1"}, 422, "different names"),
        ({"name": "bad", "user": "bob"}, 403, "may not act for"),
        ({"name": "bad", "unknown": 1}, 422, "unknown"),
    ],
)
def test_one_that_is_refused_leaves_none(people: People, wrong: dict[str, Any], status: int, said: str) -> None:
    made(people.ann, a_wish("there"))
    answer = people.ann.post(f"{URL}/bulk", json={"items": [a_wish("s1"), a_wish("x") | wrong, a_wish("s2")]})
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert ids(people.ann) == ["there"]


def test_more_than_a_batch_or_none_is_refused(people: People) -> None:
    for count in (0, 1001):
        answer = people.ann.post(f"{URL}/bulk", json={"items": [a_wish(f"s{number}") for number in range(count)]})
        assert answer.status_code == 422


def test_under_one_key_they_are_created_once(people: People) -> None:
    body, key = {"items": [a_wish("a"), a_wish("b")]}, {"Idempotency-Key": "once"}
    first, again = (people.ann.post(f"{URL}/bulk", json=body, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code, again.headers["idempotency-replayed"]) == (201, 201, "true")
    assert again.json() == first.json()


@pytest.fixture
def team(world: World, people: People) -> People:
    mail = {"labels": {"team": "mail"}}
    made(people.ann, a_wish("a", **mail), a_wish("b", **mail), a_wish("c"), a_wish("d", **mail))
    made(people.bob, a_wish("bobs", **mail))
    return people


def test_those_of_a_label_are_paused_and_resumed_and_nobody_elses(team: People) -> None:
    until = "2027-01-01T00:00:00Z"
    paused = done(team.ann, "pause", {**TEAM, "note": "the printer burns", "until": until})
    assert paused == {"found": 3, "changed": 3, "ids": ["a", "b", "d"], "dry_run": False, "next": None}
    shown = team.ann.get(f"{URL}/b").json()
    assert (shown["standing"], shown["note"], shown["paused_by"]) == ("paused", "the printer burns", "ann")
    assert (shown["paused_until"], shown["token"]) == (until, 2)
    assert (ids(team.ann, standing="active"), ids(team.bob, standing="active")) == (["c"], ["bobs"])
    assert deeds(team, "schedule.pause") == ["a", "b", "d"]
    resumed = done(team.ann, "resume", TEAM)
    assert (resumed["changed"], resumed["ids"]) == (3, ["a", "b", "d"])
    shown = team.ann.get(f"{URL}/b").json()
    assert (shown["standing"], shown["note"], shown["token"]) == ("active", None, 3)
    assert deeds(team, "schedule.resume") == ["a", "b", "d"]
    assert done(team.ann, "resume", TEAM)["found"] == 0


def test_what_falls_into_a_pause_of_many_is_not_run_and_what_was_due_before_is(world: World, team: People) -> None:
    world.advance("1d")
    done(team.root, "pause", {"all": True})
    world.advance("2d")
    assert done(team.root, "resume", {"all": True})["changed"] == 5
    world.advance("1d")
    told = sorted((str(run.status), str(run.reason)) for run in world.runs("b"))
    assert told == [("skipped", "paused"), ("skipped", "paused"), ("success", "None"), ("success", "None")]


def test_one_that_is_paused_keeps_its_note_unless_paused_ones_are_asked_for(team: People) -> None:
    team.ann.post(f"{URL}/a/pause", json={"note": "mine"})
    assert done(team.ann, "pause", {**TEAM, "note": "all"})["ids"] == ["b", "d"]
    assert team.ann.get(f"{URL}/a").json()["note"] == "mine"
    anew = {"filter": {"labels": {"team": "mail"}, "standing": "paused"}, "note": "anew"}
    assert done(team.ann, "pause", anew)["ids"] == ["a", "b", "d"]
    assert team.ann.get(f"{URL}/a").json()["note"] == "anew"


def test_labels_are_put_on_and_taken_off_and_the_others_stay(team: People) -> None:
    body = {"filter": {"ids": ["a", "B", "c", "none", "bobs"]}, "set": {"env": "prod"}, "remove": ["team"]}
    assert done(team.ann, "label", body)["ids"] == ["a", "b", "c"]
    shown = team.ann.get(f"{URL}/a").json()
    assert (shown["labels"], shown["token"]) == ({"env": "prod"}, 2)
    assert done(team.ann, "label", body) == {"found": 3, "changed": 0, "ids": [], "dry_run": False, "next": None}
    assert (ids(team.ann, label="env=prod"), ids(team.root, label="team=mail")) == (["a", "b", "c"], ["bobs", "d"])
    assert deeds(team, "schedule.edit") == ["a", "b", "c"]


def test_a_dry_run_counts_all_names_those_of_a_batch_and_changes_nothing(team: People) -> None:
    counted = {"found": 3, "changed": 0, "ids": ["a", "b", "d"], "dry_run": True, "next": None}
    for verb, more in (("pause", {}), ("label", {"set": {"env": "prod"}})):
        dry = {**TEAM, "dry_run": True, **more}
        assert done(team.ann, verb, dry) == counted
        first = done(team.ann, verb, {**dry, "limit": 2})
        assert (first["found"], first["ids"]) == (3, ["a", "b"])
        assert done(team.ann, verb, {**dry, "limit": 2, "after": first["next"]}) == {**counted, "ids": ["d"]}
    assert done(team.ann, "resume", {**TEAM, "dry_run": True})["found"] == 0
    same = done(team.ann, "label", {**TEAM, "set": {"team": "mail"}, "dry_run": True})
    assert (same["found"], same["ids"]) == (3, []), "all of them have it"
    assert {one["token"] for one in team.ann.get(URL).json()["items"]} == {1}


def test_a_batch_says_where_the_next_begins(team: People) -> None:
    first = done(team.root, "pause", {**TEAM, "limit": 3})
    assert (first["ids"], first["next"] is None) == (["a", "b", "bobs"], False)
    rest = done(team.root, "pause", {**TEAM, "limit": 3, "after": first["next"]})
    assert (rest["ids"], rest["next"]) == (["d"], None)


def test_under_one_key_they_are_changed_once(team: People) -> None:
    first, again = (done(team.ann, "pause", TEAM, **{"Idempotency-Key": "once"}) for _ in range(2))
    assert first == again
    assert team.ann.get(f"{URL}/a").json()["token"] == 2


@pytest.mark.parametrize(
    ("verb", "body", "said"),
    [
        ("pause", {}, "every schedule"),
        ("resume", {"filter": {}}, "every schedule"),
        ("label", {"filter": {"labels": {}}, "set": {"a": "b"}}, "every schedule"),
        ("pause", {"filter": {"q": ""}}, "every schedule"),
        ("resume", {"filter": {"q": "", "labels": {}}, "dry_run": True}, "every schedule"),
        ("pause", {"filter": {"owner": "ann"}}, "every schedule"),
        ("label", TEAM, "say which labels"),
        ("label", {**TEAM, "set": {"a": "b"}, "remove": ["a"]}, "not both"),
        ("label", {**TEAM, "set": {"a b": "c"}}, "a label's name takes"),
        ("label", {**TEAM, "set": {f"l{number}": "x" for number in range(100)}}, "at most 100 labels"),
        ("pause", {**TEAM, "until": "2020-01-01T00:00:00Z"}, "a moment to come"),
        ("pause", {**TEAM, "after": "x"}, "after takes"),
        ("pause", {**TEAM, "limit": 1001}, "limit"),
        ("pause", {"filter": {"standing": "deleted"}}, "standing takes"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_in_words(team: People, verb: str, body: dict[str, Any], said: str) -> None:
    refused = team.ann.post(f"{URL}/{verb}", json=body)
    assert (refused.status_code, said in refused.text) == (422, True), refused.text


def test_a_list_of_no_ids_names_none(team: People) -> None:
    assert done(team.ann, "pause", {"filter": {"ids": []}})["found"] == 0


def test_who_may_only_look_changes_none(team: People) -> None:
    for verb in ("bulk", "pause", "resume", "label"):
        assert team.eve.post(f"{URL}/{verb}", json={"all": True}).status_code == 403


def test_schedules_may_be_called_like_what_is_done_to_many(people: People) -> None:
    for name in ("bulk", "pause", "resume", "label", "preview"):
        made(people.ann, a_wish(name))
        assert people.ann.get(f"{URL}/{name}").json()["id"] == name
        assert people.ann.post(f"{URL}/{name}/pause").json()["standing"] == "paused"
        assert people.ann.delete(f"{URL}/{name}").status_code == 204
