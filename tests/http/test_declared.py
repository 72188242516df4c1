"""Declared sets over HTTP: planned, applied, drifted, vanished and written down."""

from typing import Any

from starlette.testclient import TestClient

from tests.http.clients import People

DIGEST = {"name": "digest", "cron": "0 9 * * *", "timezone": "Europe/Berlin", "labels": {"team": "mail"}}
WEEKLY = {"name": "Weekly letter", "target": "python:digest", "cron": "0 8 * * MON"}


def planned(client: TestClient, *schedules: Any, **more: Any) -> dict[str, Any]:
    return _asked(client, "plan", schedules, more)


def applied(client: TestClient, *schedules: Any, **more: Any) -> dict[str, Any]:
    return _asked(client, "apply", schedules, more)


def _asked(client: TestClient, verb: str, schedules: tuple[Any, ...], more: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/api/v1/schedules/{verb}", json={"set": "mail", "schedules": list(schedules), **more})
    assert answer.status_code == 200, answer.json()
    assert answer.json()["applied"] is (verb == "apply")
    return {one["id"]: one for one in answer.json()["schedules"]}


def measures(found: dict[str, Any]) -> dict[str, str]:
    return {name: one["measure"] for name, one in found.items()}


def test_what_is_new_is_created_and_then_nothing_is_left_to_do(people: People) -> None:
    plan = planned(people.ann, DIGEST, WEEKLY)
    assert measures(plan) == {"digest": "create", "weekly-letter": "create"}
    assert people.ann.get("/api/v1/schedules/digest").status_code == 404
    assert len(plan["digest"]["next_wanted"]) == 3
    assert measures(applied(people.ann, DIGEST, WEEKLY)) == measures(plan)
    token = people.ann.get("/api/v1/schedules/digest").json()["token"]
    assert measures(applied(people.ann, DIGEST, WEEKLY)) == {"digest": "none", "weekly-letter": "none"}
    assert people.ann.get("/api/v1/schedules/digest").json()["token"] == token


def test_a_change_is_shown_field_by_field_with_the_times_that_it_moves(people: People) -> None:
    applied(people.ann, DIGEST)
    change = planned(people.ann, {**DIGEST, "cron": "0 10 * * *", "overlap": "allow_all"})["digest"]
    assert change["measure"] == "change"
    assert change["moved"] == 20
    assert [(one["field"], one["now"], one["wanted"]) for one in change["changes"]] == [
        ("spec", "At 09:00 every day (Europe/Berlin)", "At 10:00 every day (Europe/Berlin)"),
        ("overlap", None, "allow_all"),
    ]


def test_pauses_notes_and_budgets_survive(people: People) -> None:
    applied(people.ann, DIGEST)
    verbs = people.program.parts.verbs
    verbs.schedules.patch("digest", budget={"credits": 5})
    verbs.schedules.pause("digest", "the printer burns")
    found = applied(people.ann, {**DIGEST, "cron": "0 10 * * *"})["digest"]
    assert found["note"] == "it stays paused: the printer burns"
    schedule = verbs.schedules.get("digest")
    assert (schedule.paused, schedule.note) == (True, "the printer burns")
    assert schedule.policies.budget is not None
    assert "10" in schedule.spec.describe()


def test_what_vanished_is_paused_with_a_note_and_goes_on_when_it_is_back(people: People) -> None:
    applied(people.ann, DIGEST, WEEKLY)
    assert measures(applied(people.ann, DIGEST)) == {"digest": "none", "weekly-letter": "pause"}
    verbs = people.program.parts.verbs
    gone = verbs.schedules.get("weekly-letter")
    assert (gone.paused, gone.note) == (True, "no longer declared by mail")
    assert measures(planned(people.ann, DIGEST)) == {"digest": "none", "weekly-letter": "vanished"}
    assert measures(applied(people.ann, DIGEST, WEEKLY)) == {"digest": "none", "weekly-letter": "resume"}
    assert not verbs.schedules.get("weekly-letter").paused


def test_who_paused_it_by_hand_keeps_it_paused_when_it_is_back(people: People) -> None:
    applied(people.ann, DIGEST)
    verbs = people.program.parts.verbs
    verbs.schedules.pause("digest", "mine")
    assert measures(applied(people.ann)) == {"digest": "vanished"}
    assert measures(applied(people.ann, DIGEST)) == {"digest": "none"}
    assert verbs.schedules.get("digest").note == "mine"


def test_what_somebody_has_changed_of_what_vanished_is_theirs_also_when_it_is_back(people: People) -> None:
    applied(people.ann, DIGEST)
    verbs = people.program.parts.verbs
    verbs.schedules.patch("digest", timeout="5m")
    verbs.schedules.pause("digest", "mine")
    applied(people.ann)
    (item,) = people.ann.get("/api/v1/declared").json()["items"]
    assert (item["vanished"], "vanished" in item["options"]) == (True, False)
    (drift,) = applied(people.ann, DIGEST)["digest"]["changes"]
    assert (drift["field"], drift["drift"], drift["kept"]) == ("timeout", True, True)
    (item,) = people.ann.get("/api/v1/declared").json()["items"]
    assert not item["vanished"]


def test_who_lets_go_on_what_vanished_has_it_written_down_and_paused_when_the_set_is_applied_again(
    people: People,
) -> None:
    applied(people.ann, DIGEST)
    applied(people.ann)
    people.program.parts.verbs.schedules.resume("digest")
    (item,) = people.ann.get("/api/v1/declared").json()["items"]
    assert not item["vanished"]
    assert measures(applied(people.ann)) == {"digest": "pause"}


def test_drift_is_reported_kept_and_overwritten_only_on_request(people: People) -> None:
    applied(people.ann, DIGEST)
    verbs = people.program.parts.verbs
    verbs.schedules.patch("digest", timeout="5m")
    plan = planned(people.ann, DIGEST)["digest"]
    (drift,) = plan["changes"]
    assert drift == {"field": "timeout", "now": "5m", "wanted": None, "drift": True, "kept": True}
    assert plan["measure"] == "none"
    applied(people.ann, DIGEST)
    assert verbs.schedules.get("digest").policies.timeout is not None
    assert measures(planned(people.ann, DIGEST, overwrite=True)) == {"digest": "change"}
    applied(people.ann, DIGEST, overwrite=True)
    assert verbs.schedules.get("digest").policies.timeout is None
    assert planned(people.ann, DIGEST)["digest"]["changes"] == []


def test_what_was_made_by_hand_is_adopted_and_what_was_deleted_begins_anew(people: People) -> None:
    people.ann.post("/api/v1/schedules", json={"name": "digest", "cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    assert measures(applied(people.ann, DIGEST)) == {"digest": "adopt"}
    assert measures(planned(people.ann, DIGEST)) == {"digest": "none"}
    people.program.parts.verbs.schedules.delete("digest")
    found = applied(people.ann, DIGEST)["digest"]
    assert (found["measure"], found["note"]) == ("create", "it was deleted, and begins anew")
    assert measures(planned(people.ann, DIGEST)) == {"digest": "none"}


def test_a_set_is_applied_as_a_whole_or_not_at_all(people: People) -> None:
    people.bob.post("/api/v1/schedules", json={"name": "taken", "target": "digest", "cron": "0 9 * * *"})
    body = {"set": "mail", "schedules": [DIGEST, {"name": "taken", "target": "digest", "cron": "0 9 * * *"}]}
    answer = people.ann.post("/api/v1/schedules/apply", json=body)
    assert (answer.status_code, answer.json()["detail"]) == (409, "the name 'taken' is taken: choose another")
    assert people.ann.get("/api/v1/schedules/digest").status_code == 404


def test_what_a_program_declares_is_no_sets(people: People) -> None:
    people.program.parts.verbs.schedules.upsert("digest", app="mail", target="digest", cron="0 9 * * *")
    answer = people.root.post("/api/v1/schedules/plan", json={"set": "mail", "schedules": [DIGEST]})
    assert answer.status_code == 409
    assert "is declared by 'mail'" in answer.json()["detail"]
    assert people.root.get("/api/v1/declared").json()["items"] == []


def test_what_is_wrong_in_a_set_is_refused_by_name(people: People) -> None:
    for schedule, said in (
        ({"cron": "0 9 * * *"}, "takes a name"),
        ({"name": "digest", "crn": "0 9 * * *"}, "got crn"),
        ({"name": "digest", "cron": "0 25 * * *"}, "takes 0-23"),
    ):
        answer = people.ann.post("/api/v1/schedules/plan", json={"set": "mail", "schedules": [schedule]})
        assert (answer.status_code, said in answer.json()["detail"]) == (422, True), answer.json()
    twice = people.ann.post("/api/v1/schedules/plan", json={"set": "mail", "schedules": [DIGEST, DIGEST]})
    assert (twice.status_code, "take different names" in twice.json()["detail"]) == (422, True)


def test_who_may_only_look_may_plan_and_not_apply(people: People) -> None:
    assert measures(planned(people.eve, DIGEST)) == {"digest": "create"}
    answer = people.eve.post("/api/v1/schedules/apply", json={"set": "mail", "schedules": [DIGEST]})
    assert answer.status_code == 403


def test_an_admin_applies_a_set_for_somebody_else(people: People) -> None:
    people.client("ann")
    applied(people.root, DIGEST, user="ann")
    assert people.ann.get("/api/v1/schedules/digest").status_code == 200
    answer = people.ann.post("/api/v1/schedules/apply", json={"set": "mail", "schedules": [], "user": "bob"})
    assert answer.status_code == 403


def test_what_is_written_down_plans_nothing(people: People) -> None:
    applied(people.ann, DIGEST, WEEKLY)
    first = people.ann.get("/api/v1/declared?set=mail&limit=1").json()
    rest = people.ann.get("/api/v1/declared", params={"set": "mail", "after": first["next"]}).json()
    items = first["items"] + rest["items"]
    assert rest["next"] is None
    options = {k: v for k, v in DIGEST.items() if k != "name"}
    assert {"name": "digest", "set": "mail", "options": options, "vanished": False} in items
    again = [{"name": one["name"], **one["options"]} for one in items]
    assert measures(planned(people.ann, *again)) == {"digest": "none", "weekly-letter": "none"}


def test_what_drifted_is_written_down_as_it_is(people: People) -> None:
    applied(people.ann, DIGEST)
    people.program.parts.verbs.schedules.patch("digest", timeout="5m", budget={"credits": 7})
    (item,) = people.ann.get("/api/v1/declared").json()["items"]
    assert item["options"]["timeout"] == "5m"
    assert item["options"]["budget"]["credits"] == 7
    plan = planned(people.ann, {"name": item["name"], **item["options"]})
    assert plan["digest"]["changes"] == []


def test_who_applied_it_is_in_the_trail(people: People) -> None:
    applied(people.ann, DIGEST)
    deeds = people.program.parts.database.read(lambda tx: tx.newest_deeds(2, None, None, None))
    assert [(one.actor, one.action, one.subject) for one in deeds] == [
        ("ann", "set.apply", "set/mail"),
        ("ann", "schedule.create", "schedule/digest"),
    ]


def test_a_page_of_large_schedules_has_fewer_of_them_and_none_is_left_out(people: People) -> None:
    """Two hundred of them would have been one answer of as many megabytes."""
    names = [f"large-{number:02}" for number in range(25)]
    for name in names:
        body = {"name": name, "target": "python:digest", "manual": True, "input": "x" * 500_000}
        assert people.ann.post("/api/v1/schedules", json=body).status_code == 201
    found: list[str] = []
    after: dict[str, str] = {}
    sizes = []
    while True:
        answer = people.ann.get("/api/v1/declared", params={"limit": 200, **after})
        sizes.append(len(answer.content))
        found += [item["name"] for item in answer.json()["items"]]
        if answer.json()["next"] is None:
            break
        after = {"after": answer.json()["next"]}
    assert found == names
    assert len(sizes) == 3
    assert max(sizes) < 10_000_000
