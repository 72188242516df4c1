"""Runs over the network: found, explained, stopped and tried again."""

from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.runs import Kind, Reason, Status
from foliot.services import run_lists
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, MINUTE, NOON, a_new_run
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day

RUNS = "/api/v1/runs"


def schedule(people: People, who: str, name: str) -> None:
    body = {"name": name, "cron": "0 9 * * *", "timezone": "UTC", "target": "python:digest"}
    assert people.client(who).post("/api/v1/schedules", json=body).status_code == 201


def record(program: Foliot, name: str, *nominals: int, **changes: Any) -> None:
    def act(tx: SqlTransaction) -> None:
        row = tx.schedule(name)
        assert row is not None
        said: dict[str, Any] = {"status": Status.SUCCESS, "ended_at": NOON, **changes}
        tx.record([a_new_run(tx.next_ref(), row.ref, nominal, **said) for nominal in nominals])

    program.parts.database.write(act)


def listed(people: People, who: str, **params: Any) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    while True:
        answer = people.client(who).get(RUNS, params=params)
        assert answer.status_code == 200, answer.text
        found += [run["id"] for run in answer.json()["items"]]
        if answer.json()["next"] is None:
            return found
        params["after"] = answer.json()["next"]


@pytest.fixture
def ledger(people: People, program: Foliot) -> People:
    """Ann has two schedules, Bob one; Ann's have some minutes in common."""
    for who, name in (("ann", "a"), ("ann", "b"), ("bob", "c")):
        schedule(people, who, name)
    record(program, "a", *(NOON + number * MINUTE for number in range(5)))
    record(program, "c", *(NOON + number * MINUTE for number in range(5)))
    record(program, "b", NOON, NOON + MINUTE, NOON + 5 * HOUR)
    record(program, "b", NOON + 2 * MINUTE, status=Status.ERROR, reason=Reason.INTERNAL, kind=Kind.MANUAL)
    return people


def test_somebodys_runs_are_listed_by_time_the_newest_first_page_by_page(ledger: People) -> None:
    expected = ["b 17:00", "a 12:04", "a 12:03", "b 12:02", "a 12:02", "b 12:01", "a 12:01", "b 12:00", "a 12:00"]
    for limit in (1, 2, 3, 50):
        found = listed(ledger, "ann", limit=limit)
        assert [f"{name[0]} {name[name.index('T') + 1 :][:5]}" for name in found] == expected


def test_nobody_is_shown_the_runs_of_others(ledger: People) -> None:
    assert {name[0] for name in listed(ledger, "bob")} == {"c"}
    assert ledger.bob.get(RUNS, params={"schedule": "a"}).status_code == 404
    assert listed(ledger, "eve") == []
    mine = ledger.ann.get(RUNS, params={"limit": 1}).json()["next"]
    assert {name[0] for name in listed(ledger, "bob", after=mine)} == {"c"}
    admins = ledger.root.get(RUNS, params={"limit": 1}).json()["next"]
    assert {name[0] for name in listed(ledger, "bob", after=admins)} <= {"c"}


def test_admins_are_shown_all_runs_in_the_order_of_recording(ledger: People) -> None:
    for limit in (1, 4, 50):
        found = listed(ledger, "root", limit=limit)
        assert (len(found), len(set(found)), found[0][0], found[-1][0]) == (14, 14, "b", "a")


def test_runs_are_found_by_what_is_said_of_them(ledger: People) -> None:
    for who in ("ann", "root"):
        assert listed(ledger, who, status="error") == ["b:manual:2026-11-15T12:02:00Z~1"]
        assert listed(ledger, who, reason="internal", kind="manual", limit=1) == ["b:manual:2026-11-15T12:02:00Z~1"]
        assert listed(ledger, who, schedule="b", since="2026-11-15T12:03:00Z") == ["b:2026-11-15T17:00:00Z~1"]
        until = {"schedule": "a", "since": "2026-11-15T12:01:00Z", "until": "2026-11-15T12:02:00Z", "limit": 1}
        assert listed(ledger, who, **until) == ["a:2026-11-15T12:02:00Z~1", "a:2026-11-15T12:01:00Z~1"]
        assert listed(ledger, who, status="running") == []
        assert listed(ledger, who, backfill=7) == []


def test_however_little_is_looked_at_for_a_page_nothing_is_left_out(
    ledger: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lists, "LOOKED_AT", 2)
    for few in (1000, 1):
        monkeypatch.setattr(run_lists, "FEW", few)
        assert len(listed(ledger, "ann")) == 9
        assert listed(ledger, "ann", status="error") == ["b:manual:2026-11-15T12:02:00Z~1"]
        assert listed(ledger, "root", status="error") == ["b:manual:2026-11-15T12:02:00Z~1"]


def test_a_run_says_what_became_of_it_and_why(people: People) -> None:
    schedule(people, "ann", "digest")
    name = people.program.schedules.trigger("digest").id
    detail = people.ann.get(f"{RUNS}/{name}").json()
    assert (detail["status"], detail["decision"]) == ("pending", "start")
    assert "waits by hand: no living worker has its target 'python:digest'" in detail["sentence"]
    assert [attempt["id"] for attempt in detail["attempts"]] == [name]
    assert (detail["questions"], detail["receipts"], detail["nodes"], detail["credits"]) == ([], [], [], 0)
    assert (detail["trace_url"], len(detail["trace_id"])) == (None, 32)
    cancelled = people.ann.post(f"{RUNS}/{name}/cancel").json()
    assert (cancelled["status"], cancelled["reason"]) == ("cancelled", "cancelled_by_user")
    again = people.ann.post(f"{RUNS}/{name}/retry")
    assert (again.status_code, again.json()["attempt"], again.json()["retry_of"]) == (201, 2, name)
    attempts = people.ann.get(f"{RUNS}/{name}").json()["attempts"]
    assert [(attempt["attempt"], attempt["status"]) for attempt in attempts] == [(1, "cancelled"), (2, "pending")]
    assert people.ann.post(f"{RUNS}/{name}/cancel").status_code == 409
    ended = people.ann.post(f"{RUNS}/{again.json()['id']}/terminate").json()
    assert (ended["status"], ended["reason"]) == ("cancelled", "terminated")


def test_a_run_of_somebody_else_is_missing(ledger: People) -> None:
    name = "a:2026-11-15T12:00:00Z~1"
    for path, ask in (
        (name, "get"),
        (f"{name}/cancel", "post"),
        (f"{name}/terminate", "post"),
        (f"{name}/retry", "post"),
    ):
        foreign = getattr(ledger.bob, ask)(f"{RUNS}/{path}")
        missing = getattr(ledger.bob, ask)(f"{RUNS}/{path.replace('a:', 'x:')}")
        assert (foreign.status_code, missing.status_code) == (404, 404)
        assert foreign.json()["detail"].replace("'a:", "'x:") == missing.json()["detail"]


def test_what_no_run_could_be_called_is_refused(people: People) -> None:
    odd = (
        "x",
        "%00",
        "a:2026-11-15T12:00:00Z~999999999999999999999",
        "a:0001-01-01T00:00:00Z~1",
        "a:9999-12-31T23:59Z~1",
    )
    for name in odd:
        assert people.ann.get(f"{RUNS}/{name}").status_code == 422
    for params in (
        {"status": "flying"},
        {"backfill": 2**70},
        {"since": "0001-01-01T00:00:00+23:59"},
        {"since": "\0"},
        {"limit": 0},
        {"limit": 201},
        {"after": "x"},
        {"schedule": "\0"},
    ):
        assert people.ann.get(RUNS, params=params).status_code == 422, params
