"""Schedules over HTTP: made, found, changed, run and deleted."""

import json
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from foliot.testing import World
from tests.http.clients import People

DIGEST: dict[str, Any] = {"name": "digest", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"}
EVERYTHING: dict[str, Any] = {
    "name": "Everything",
    "target": "digest",
    "cron": ["0 9 * * *", "30 18 * * *"],
    "every": {"every": "2h", "offset": "5m", "anchor": "start"},
    "at": ["2027-01-01T00:00:00Z"],
    "calendars": [{"hour": "12", "minute": 15}],
    "exclude": {"month": 12, "day_of_month": "24-26"},
    "timezone": "Europe/Berlin",
    "gap": "skip",
    "fold": "both",
    "start_at": "2026-11-15T00:00:00Z",
    "end_at": "2030-01-01T00:00:00Z",
    "jitter": "30s",
    "jitter_mode": "around",
    "overlap": "buffer_all",
    "buffer": 5,
    "catchup": "last",
    "catchup_window": "2h",
    "catchup_cap": 7,
    "grace": "1m30s",
    "lookahead": "2m",
    "retry": {"attempts": 4, "backoff": "1s", "factor": 3, "longest": "1m", "reasons": ["timeout"]},
    "timeout": "1h30m",
    "limit": 1000,
    "pause_on_failure": True,
    "budget": {"credits": 50, "per": "hour", "when_spent": "pause"},
    "max_calls": 3,
    "max_tokens": 4,
    "max_credits": 5,
    "input": {"half": "\ud800", "deep": [1, {"x": None}]},
    "labels": {"team": "mail"},
    "memo": "why",
}


def sent(client: TestClient, method: str, url: str, body: object) -> Response:
    """With JSON that has escapes for whatever is not ASCII: halves of letters can be said in no other way."""
    headers = {"Content-Type": "application/json"}
    return client.request(method, url, content=json.dumps(body), headers=headers)


def test_a_schedule_is_shown_in_the_words_in_which_it_can_be_said_again(people: People) -> None:
    made = sent(people.ann, "POST", "/api/v1/schedules", EVERYTHING)
    assert made.status_code == 201, made.text
    shown = made.json()
    assert (shown["id"], shown["name"], shown["owner"]) == ("everything", "Everything", "ann")
    assert (shown["target"], shown["input"], shown["memo"]) == ("python:digest", EVERYTHING["input"], "why")
    policies = shown["policies"]
    assert {name: EVERYTHING[name] for name in policies} == policies
    assert shown["spec"]["said"] == {"spec": shown["spec"]["canonical"]}
    assert shown["next_at"] is not None
    again = {**policies, "spec": shown["spec"]["canonical"], "target": shown["target"]}
    again |= {name: shown[name] for name in ("input", "labels", "memo")}
    put = sent(people.ann, "PUT", "/api/v1/schedules/everything?upsert=true", again)
    assert (put.status_code, put.json()) == (200, shown)


def test_a_plain_schedule_is_shown_with_its_sentence_and_its_cron_text(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    answer = people.ann.get("/api/v1/schedules/Digest")
    spec = answer.json()["spec"]
    assert spec["summary"] == "At 09:00 on Monday to Friday (Europe/Berlin)"
    assert spec["said"] == {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    assert answer.headers["etag"] == '"1"'


def test_a_schedule_runs_by_a_grant_of_its_own_unless_one_is_named(people: People) -> None:
    for client, owner in ((people.ann, "ann"), (people.root, "root")):
        one = client.post("/api/v1/schedules", json={**DIGEST, "name": f"{owner}-one"}).json()
        two = client.post("/api/v1/schedules", json={**DIGEST, "name": f"{owner}-two"}).json()
        assert one["grant"] != two["grant"]
        assert one["owner"] == two["owner"] == owner
    shared = people.program.grants.create("graph:execute:python:digest", user="ann").id
    for name, client in (("anns", people.ann), ("roots", people.root)):
        made = client.post("/api/v1/schedules", json={**DIGEST, "name": name, "target": "digest", "grant": shared})
        assert (made.json()["grant"], made.json()["owner"]) == (shared, "ann")
    bobs = people.bob.post("/api/v1/schedules", json={**DIGEST, "name": "bobs", "target": "digest", "grant": shared})
    assert bobs.status_code == 404


def test_an_admin_makes_schedules_for_others_and_changes_them(people: People) -> None:
    ann = people.ann
    made = people.root.post("/api/v1/schedules", json={**DIGEST, "user": "ann"})
    assert made.json()["owner"] == "ann"
    put = people.root.put("/api/v1/schedules/digest?upsert=true", json={**DIGEST, "timeout": "5m"})
    assert (put.status_code, put.json()["owner"], put.json()["policies"]["timeout"]) == (200, "ann", "5m")
    assert ann.post("/api/v1/schedules", json={**DIGEST, "user": "bob"}).status_code == 403
    assert people.bob.put("/api/v1/schedules/digest?upsert=true", json=DIGEST).status_code == 409


def test_replacing_needs_the_etag_that_was_read(people: People) -> None:
    people.ann.post("/api/v1/schedules", json={**DIGEST, "timeout": "5m"})
    url, new = "/api/v1/schedules/digest", {"cron": "0 10 * * *"}
    assert people.ann.put(url, json=new).status_code == 422
    assert people.ann.put(url, json=new, headers={"If-Match": "one"}).status_code == 422
    replaced = people.ann.put(url, json=new, headers={"If-Match": '"1"'})
    assert (replaced.status_code, replaced.headers["etag"]) == (200, '"2"')
    assert replaced.json()["policies"]["timeout"] is None
    stale = people.ann.put(url, json=new, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    assert people.ann.put(f"{url}?upsert=true", json={**new, "name": "other"}).status_code == 422


def test_a_target_that_is_not_said_is_the_function_of_the_schedules_name(people: People) -> None:
    """By whichever of its names it is asked for: one was made python:my-job by its id."""
    new = {"cron": "0 1 * * *"}
    made = people.ann.post("/api/v1/schedules", json={**new, "name": "My_Job", "target": "other"})
    url = f"/api/v1/schedules/{made.json()['id']}"
    assert people.ann.put(f"{url}?upsert=true", json=new).json()["target"] == "python:My_Job"
    people.ann.patch(url, json={"target": "other"})
    assert people.ann.patch(url, json={"target": None}).json()["target"] == "python:My_Job"
    people.ann.patch(url, json={"target": "other"})
    etag = people.ann.get(url).headers["etag"]
    assert people.ann.put(url, json=new, headers={"If-Match": etag}).json()["target"] == "python:My_Job"


def test_a_target_that_is_not_said_is_asked_for_where_no_function_has_the_schedules_name(people: People) -> None:
    new, url = {"cron": "0 1 * * *"}, "/api/v1/schedules/my-job"
    people.ann.post("/api/v1/schedules", json={**new, "name": "My Job", "target": "other"})
    refused = [
        people.ann.put(url, json=new, headers={"If-Match": '"1"'}),
        people.ann.put(f"{url}?upsert=true", json=new),
        people.ann.put("/api/v1/schedules/My%20Job?upsert=true", json=new),
        people.ann.patch(url, json={"target": None}),
        people.ann.post("/api/v1/schedules", json={**new, "name": "No Target Here"}),
    ]
    said = [(answer.status_code, answer.json().get("detail")) for answer in refused]
    assert all(status == 422 and "give a target, such as 'python:digest'" in detail for status, detail in said), said


def test_a_schedule_keeps_its_name_and_a_replacement_that_has_another_is_refused(people: People) -> None:
    new, url = {"cron": "0 1 * * *", "target": "digest"}, "/api/v1/schedules/my-job"
    people.ann.post("/api/v1/schedules", json={**new, "name": "My Job"})
    for query, headers in (("", {"If-Match": '"1"'}), ("?upsert=true", {})):
        refused = people.ann.put(url + query, json={**new, "name": "MY JOB"}, headers=headers)
        assert (refused.status_code, "keeps its name: leave name out" in refused.text) == (422, True), refused.text
        assert people.ann.put(url + query, json={**new, "name": "My Job"}, headers=headers).status_code == 200


def test_a_patch_changes_what_it_says_and_null_is_the_default(people: People) -> None:
    people.ann.post("/api/v1/schedules", json={**DIGEST, "timeout": "5m", "retry": 3, "labels": {"team": "mail"}})
    url = "/api/v1/schedules/digest"
    patched = people.ann.patch(url, json={"timeout": None, "labels": {"team": "news"}}).json()
    assert (patched["policies"]["timeout"], patched["policies"]["retry"]["attempts"]) == (None, 3)
    assert (patched["labels"], patched["token"]) == ({"team": "news"}, 2)
    assert people.ann.patch(url, json={"labels": None}).json()["labels"] == {}
    assert people.ann.patch(url, json={"target": None}).json()["target"] == "python:digest"
    assert people.ann.patch(url, json={"memo": 1}, headers={"If-Match": '"1"'}).status_code == 409


def test_a_stale_etag_deletes_nothing(people: People) -> None:
    url = f"/api/v1/schedules/{people.ann.post('/api/v1/schedules', json=DIGEST).json()['id']}"
    people.ann.patch(url, json={"memo": 1})
    assert people.ann.delete(url, headers={"If-Match": '"1"'}).status_code == 409
    assert people.ann.delete(url, headers={"If-Match": '"2"'}).status_code == 204


def test_the_times_of_a_range_say_where_the_rest_begins(people: People) -> None:
    url = f"/api/v1/schedules/{people.ann.post('/api/v1/schedules', json=DIGEST).json()['id']}/times"
    span = {"start": "2027-01-04T00:00:00Z", "end": "2027-01-08T00:00:00Z"}
    first = people.ann.get(url, params={**span, "count": 3}).json()
    assert first["next"] is not None
    rest = people.ann.get(url, params={**span, "start": first["next"], "count": 3}).json()
    assert rest["next"] is None
    assert first["items"] + rest["items"] == people.ann.get(url, params=span).json()["items"]
    assert people.ann.get(url, params={"start": span["end"], "end": span["start"]}).status_code == 422


def test_a_schedule_that_is_resumed_says_when_it_fires_next(people: People) -> None:
    made = people.ann.post("/api/v1/schedules", json=DIGEST).json()
    people.ann.post(f"/api/v1/schedules/{made['id']}/pause", json={})
    assert people.ann.post(f"/api/v1/schedules/{made['id']}/resume").json()["next_at"] == made["next_at"]


def test_null_is_an_input_too_instead_of_the_schedules_own(world: World, people: People) -> None:
    people.ann.post("/api/v1/schedules", json={**DIGEST, "cron": "0 * * * *", "input": {"to": "all"}})
    url = "/api/v1/schedules/digest"
    inputs = [people.ann.post(f"{url}/trigger", json=said).json()["input"] for said in ({"input": None}, {}, None)]
    assert inputs == [None, {"to": "all"}, {"to": "all"}]
    world.advance(hours=1)
    span = {"start": "2026-11-15T13:00:00Z", "end": "2026-11-15T13:00:00Z", "which": "all"}
    assert people.ann.post(f"{url}/backfills", json={**span, "input": None}).status_code == 201
    world.advance(seconds=1)
    (run,) = people.ann.get("/api/v1/runs?kind=backfill").json()["items"]
    assert people.ann.get(f"/api/v1/runs/{run['id']}").json()["input"] is None


def test_it_is_paused_resumed_triggered_and_skipped(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    url = "/api/v1/schedules/digest"
    paused = people.ann.post(f"{url}/pause", json={"note": "holidays", "until": "2199-01-01T00:00:00Z"}).json()
    assert (paused["standing"], paused["note"], paused["paused_by"]) == ("paused", "holidays", "ann")
    assert paused["paused_until"] == "2199-01-01T00:00:00Z"
    assert people.ann.post(f"{url}/pause").json()["paused_until"] is None
    assert people.ann.post(f"{url}/resume").json()["standing"] == "active"
    run = people.ann.post(f"{url}/trigger", json={"input": {"one": 1}})
    assert (run.status_code, run.json()["kind"], run.json()["input"]) == (201, "manual", {"one": 1})
    assert people.ann.post(f"{url}/trigger").status_code == 201
    at = people.ann.get(f"{url}/times?count=2").json()["items"][1]
    skipped = people.ann.post(f"{url}/skip", json={"at": at}).json()
    assert (skipped["status"], skipped["reason"], skipped["scheduled_for"]) == ("skipped", "skipped_by_user", at)
    told = people.ann.get(f"{url}/explain", params={"at": at}).json()
    assert (told["verdict"], told["run_id"]) == ("skipped", skipped["id"])


def test_a_moment_that_is_none_is_called_by_the_name_of_its_parameter(people: People) -> None:
    """It was called instant, which nobody had given."""
    people.ann.post("/api/v1/schedules", json=DIGEST)
    url, at = "/api/v1/schedules/digest", "99999-01-01T00:00:00Z"
    for answer in (
        people.ann.get(f"{url}/explain", params={"at": at}),
        people.ann.post(f"{url}/skip", json={"at": at}),
    ):
        assert answer.status_code == 422
        assert "at takes a moment such as 2026-11-15T09:00:00Z" in answer.json()["detail"]
        assert "instant" not in answer.json()["detail"]


def test_a_slot_that_was_skipped_ahead_is_not_what_fires_next(world: World, people: People) -> None:
    for name, jitter in (("digest", "0"), ("jittered", "10m")):
        people.ann.post("/api/v1/schedules", json={"name": name, "cron": "0 9 * * *", "jitter": jitter})
        url = f"/api/v1/schedules/{name}"
        before = people.ann.get(url).json()["next_at"]
        first, second, third = people.ann.get(f"{url}/times?count=3").json()["items"]
        people.ann.post(f"{url}/skip", json={"at": second})
        assert people.ann.get(url).json()["next_at"] == before
        people.ann.post(f"{url}/skip", json={"at": first})
        shown = people.ann.get(url).json()
        assert shown["next_at"][:14] == third[:14]
        (listed,) = people.ann.get("/api/v1/schedules", params={"q": name}).json()["items"]
        assert listed["next_at"] == shown["next_at"]
    world.advance("2d")
    assert people.ann.get("/api/v1/schedules/digest").json()["next_at"] == third


def test_what_it_may_cost_what_it_missed_and_its_backfills_are_told(people: People) -> None:
    people.ann.post("/api/v1/schedules", json={**DIGEST, "cron": "0 9 * * *"})
    url = "/api/v1/schedules/digest"
    assert people.ann.get(f"{url}/estimate?days=10").json()["slots"] == 10
    assert people.ann.get(f"{url}/gaps").json() == {"items": [], "next": None}
    span = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-10T12:00:00Z"}
    dry = people.ann.post(f"{url}/backfills", json={**span, "dry_run": True})
    assert (dry.status_code, dry.json()["id"], dry.json()["total"]) == (200, None, 10)
    assert dry.json()["slots"][0] == "2026-01-01T08:00:00Z"
    made = people.ann.post(f"{url}/backfills", json=span)
    assert made.status_code == 201
    assert [one["id"] for one in people.ann.get(f"{url}/backfills").json()["items"]] == [made.json()["id"]]


def test_a_deleted_schedule_is_missing_and_still_explained(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    gone = people.ann.delete("/api/v1/schedules/digest")
    assert (gone.status_code, gone.content) == (204, b"")
    assert people.ann.get("/api/v1/schedules/digest").status_code == 404
    told = people.ann.get("/api/v1/schedules/digest/explain?at=2020-01-01T08:00:00Z")
    assert told.json()["reason"] == "before_creation"


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("POST", "/schedules", {**DIGEST, "user": "bob"}),
        ("POST", "/schedules", DIGEST),
        ("POST", "/schedules/bulk", {"items": [{**DIGEST, "user": "bob"}]}),
        ("PUT", "/schedules/digest?upsert=true", {**DIGEST, "user": "bob"}),
        ("POST", "/schedules/apply", {"set": "mail", "user": "bob", "schedules": [DIGEST]}),
    ],
)
def test_a_deleted_schedule_never_lives_again_as_somebody_elses_whose_its_runs_are_not(
    people: People, method: str, path: str, said: dict[str, Any]
) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    run = people.ann.post("/api/v1/schedules/digest/trigger").json()["id"]
    people.ann.delete("/api/v1/schedules/digest")
    people.client("bob")
    refused = people.root.request(method, f"/api/v1{path}", json=said)
    assert refused.status_code == 409, refused.text
    assert "'digest' is that of a deleted schedule of ann" in refused.json()["detail"]
    assert "choose another" in refused.json()["detail"]
    assert people.bob.get(f"/api/v1/runs/{run}").status_code == 404
    assert people.ann.get(f"/api/v1/runs/{run}").status_code == 200


def test_whoever_wants_the_name_of_somebody_elses_deleted_schedule_is_told_only_that_it_is_taken(
    people: People,
) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    people.ann.delete("/api/v1/schedules/digest")
    for refused in (
        people.bob.post("/api/v1/schedules", json=DIGEST),
        people.bob.post("/api/v1/schedules/apply", json={"set": "mail", "schedules": [DIGEST]}),
    ):
        assert (refused.status_code, refused.json()["detail"]) == (409, "the name 'digest' is taken: choose another")


def test_an_admin_brings_a_deleted_schedule_back_for_whose_it_was(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    people.ann.delete("/api/v1/schedules/digest")
    assert people.root.post("/api/v1/schedules", json={**DIGEST, "user": "ann"}).status_code == 201
    assert people.ann.get("/api/v1/schedules/digest").status_code == 200


ODD: list[dict[str, Any]] = [
    {"name": "x" * 400},
    {"name": "a\x00"},
    {"name": "\ud800"},
    {"timeout": "9" * 60},
    {"limit": 10**30},
    {"limit": True},
    {"manual": "yes"},
    {"at": "0001-01-01T00:00:00+14:00", "cron": None},
    {"at": "9999-12-31T23:59:59-14:00", "cron": None},
    {"labels": {"a b": "c"}},
    {"labels": {"a": "\x00"}},
    {"target": "\x00:x"},
    {"spec": {}},
    {"spec": {"calendars": 5}, "cron": None, "timezone": None},
    {"grant": "grant-99999999999999999999"},
    {"unknown": 1},
    {"timezone": "../etc/passwd"},
    {"input": float("nan")},
]


def test_what_is_wrong_is_refused_in_words(people: People) -> None:
    for odd in ODD:
        answer = sent(people.ann, "POST", "/api/v1/schedules", {**DIGEST, **odd})
        assert answer.status_code in (404, 422), (odd, answer.text)
        assert answer.json()["detail"]
