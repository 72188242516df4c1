"""What would be, over HTTP: any spec, and an edit before it is made."""

from typing import Any

import pytest

from foliot.testing import World
from tests.http.clients import People

DIGEST = {"name": "digest", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "timeout": "5m", "retry": 3}
URL = "/api/v1/schedules/digest"


def test_a_spec_is_shown_in_words_with_its_times_there_and_in_utc(world: World, people: People) -> None:
    shown = people.eve.post(
        "/api/v1/preview", json={"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "count": 2}
    )
    assert shown.status_code == 200
    found = shown.json()
    assert found["summary"] == "At 09:00 on Monday to Friday (Europe/Berlin)"
    assert (found["timezone"], found["warnings"], found["skipped"]) == ("Europe/Berlin", [], [])
    assert found["times"] == [
        {"nominal_at": "2026-11-16T08:00:00Z", "local": "2026-11-16T09:00:00+01:00", "dst": None},
        {"nominal_at": "2026-11-17T08:00:00Z", "local": "2026-11-17T09:00:00+01:00", "dst": None},
    ]
    again = people.eve.post("/api/v1/preview", json={"spec": found["canonical"], "count": 2}).json()
    assert again["times"] == found["times"]


def test_what_clock_changes_do_is_marked_and_warned_about(people: People) -> None:
    body = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "since": "2027-03-27T12:00:00Z", "count": 1}
    (time,) = people.ann.post("/api/v1/preview", json=body).json()["times"]
    assert time == {"nominal_at": "2027-03-28T01:00:00Z", "local": "2027-03-28T03:00:00+02:00", "dst": "shifted"}
    skipped = people.ann.post("/api/v1/preview", json={**body, "gap": "skip", "count": 1}).json()
    assert skipped["skipped"] == ["2027-03-28T02:30:00"]
    odd = people.ann.post("/api/v1/preview", json={"cron": "*/45 * * * *"}).json()
    assert odd["warnings"][0]["code"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"cron": "0 25 * * *"},
        {"cron": "0 0 31 2 *"},
        {"cron": "0 9 * * *", "timezone": "Nowhere"},
        {"cron": "0 9 * * *", "count": 0},
        {"cron": "0 9 * * *", "count": 1001},
        {"cron": "0 9 * * *", "since": "noon"},
        {"cron": "0 9 * * *", "target": "digest"},
    ],
    ids=str,
)
def test_a_spec_that_means_nothing_is_refused_in_words(people: People, body: dict[str, Any]) -> None:
    refused = people.ann.post("/api/v1/preview", json=body)
    assert (refused.status_code, bool(refused.json()["detail"])) == (422, True)


def test_an_edit_shows_what_changes_and_how_many_times_it_moves(world: World, people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    changes = {"cron": "0 9 * * MON,WED", "timezone": "Europe/Berlin", "timeout": None, "labels": {"team": "mail"}}
    shown = people.ann.post(f"{URL}/preview", json=changes).json()
    assert (shown["id"], shown["token"]) == ("digest", 1)
    assert shown["changes"] == [
        {
            "field": "spec",
            "now": "At 09:00 on Monday to Friday (Europe/Berlin)",
            "wanted": "At 09:00 on Monday and Wednesday (Europe/Berlin)",
        },
        {"field": "timeout", "now": "5m", "wanted": None},
        {"field": "labels", "now": None, "wanted": {"team": "mail"}},
    ]
    assert shown["sentence"] == "moves 12 of the next 20 times"
    assert (shown["compared"], shown["kept"], shown["moved"], shown["added"]) == (20, 8, 12, 0)
    assert (len(shown["next_now"]), len(shown["next_wanted"])) == (20, 20)
    assert people.ann.get(URL).json()["token"] == 1, "nothing was changed"
    patched = people.ann.patch(URL, json=changes, headers={"If-Match": f'"{shown["token"]}"'}).json()
    assert patched["next_at"] == shown["next_wanted"][0]


def test_an_edit_of_anything_but_the_spec_moves_nothing(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    shown = people.ann.post(f"{URL}/preview", json={"retry": 5, "count": 3}).json()
    assert [(one["field"], one["wanted"]["attempts"]) for one in shown["changes"]] == [("retry", 5)]
    assert (shown["sentence"], shown["moved"], shown["warnings"]) == ("keeps all of the next 3 times", 0, [])
    assert people.ann.post(f"{URL}/preview", json={}).json()["changes"] == []


def test_an_edit_that_would_be_refused_is_refused(people: People) -> None:
    people.ann.post("/api/v1/schedules", json=DIGEST)
    assert people.ann.post(f"{URL}/preview", json={"cron": "0 25 * * *"}).status_code == 422
    assert people.bob.post(f"{URL}/preview", json={"retry": 5}).status_code == 404
