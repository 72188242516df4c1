"""The slot audit, asked for over the network."""

from foliot import Foliot
from tests.http.clients import People

DIGEST = {"name": "digest", "cron": "* * * * *", "target": "python:digest"}
_EARLIER = "UPDATE schedules SET spec_since = spec_since - 300000000"


def test_what_was_due_and_has_no_row_is_told_to_its_owner_and_to_admins(people: People, program: Foliot) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    assert people.ann.get("/api/v1/audit").json() == {
        "schedules": 1,
        **dict.fromkeys(("slots", "rows", "in_gaps", "attempts", "others", "open", "unjudged", "found"), 0),
        "violations": [],
    }
    # As if it had been there for five minutes.
    program.parts.database.write(lambda tx: tx._do(_EARLIER))
    for client in (people.ann, people.root):
        audit = client.get("/api/v1/audit", params={"schedule": "digest"}).json()
        assert (audit["slots"], audit["found"]) == (5, 5)
        (violation,) = audit["violations"]
        assert (violation["schedule"], violation["fault"], violation["slots"]) == ("digest", "missing", 5)


def test_nobody_is_told_of_what_is_somebody_elses(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    assert people.bob.get("/api/v1/audit").json()["schedules"] == 0
    foreign = people.bob.get("/api/v1/audit", params={"schedule": "digest"})
    missing = people.bob.get("/api/v1/audit", params={"schedule": "nothing"})
    assert (foreign.status_code, missing.status_code) == (404, 404)


def test_what_is_no_stretch_of_time_is_refused(people: People) -> None:
    assert people.eve.get("/api/v1/audit", params={"since": "yesterday"}).status_code == 422
    backwards = {"since": "2026-11-15T09:00:00Z", "until": "2026-11-14T09:00:00Z"}
    assert people.eve.get("/api/v1/audit", params=backwards).status_code == 422
