"""Webhooks over the network: whose they are, what they may be, and what comes back when one is tried."""

from collections.abc import Iterator
from typing import Any

import pytest

from foliot.domain.signing import is_signed
from tests.executors.receiver import Receiver, Reply, a_receiver
from tests.http.clients import People

PATH = "/api/v1/webhooks"
SECRET_ENV, SECRET = "FOLIOT_WEBHOOK_ANN", "sixteen letters or more"


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.1/32")
    monkeypatch.setenv(SECRET_ENV, SECRET)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with a_receiver(Reply(204)) as receiver:
        yield receiver


def wanted(receiver: Receiver | None = None, **changes: Any) -> dict[str, Any]:
    url = "http://127.0.0.1:8420/hook" if receiver is None else receiver.url()
    return {"url": url, "events": ["run.failed", "run.waiting"], "secret_env": SECRET_ENV, **changes}


def made(people: People, user: str, **changes: Any) -> Any:
    answer = people.client(user).post(PATH, json=wanted(**changes))
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_webhook_is_made_shown_listed_and_deleted(people: People) -> None:
    webhook = made(people, "ann")
    assert webhook == {
        "id": webhook["id"],
        "owner": "ann",
        "url": "http://127.0.0.1:8420/hook",
        "events": ["run.failed", "run.waiting"],
        "secret_env": SECRET_ENV,
        "all_owners": False,
        "created_at": webhook["created_at"],
    }
    place = f"{PATH}/{webhook['id']}"
    assert people.ann.get(place).json() == webhook
    assert people.ann.get(PATH).json() == {"items": [webhook], "next": None}
    assert people.ann.delete(place).status_code == 204
    assert people.ann.get(place).status_code == 404
    assert people.ann.get(PATH).json()["items"] == []


def test_a_webhook_is_its_owners_and_missing_to_others(people: People) -> None:
    webhook = made(people, "ann")
    place = f"{PATH}/{webhook['id']}"
    for method, path in (("GET", place), ("DELETE", place), ("GET", f"{place}/deliveries"), ("POST", f"{place}/test")):
        foreign = people.bob.request(method, path)
        missing = people.bob.request(method, path.replace(webhook["id"], "absent"))
        assert (foreign.status_code, missing.status_code) == (404, 404)
        assert foreign.json()["detail"] == missing.json()["detail"].replace("absent", webhook["id"])
    assert people.bob.get(PATH).json()["items"] == []
    assert people.root.get(place).json() == webhook
    assert people.eve.post(PATH, json=wanted()).status_code == 403


def test_only_an_admin_is_told_of_everybodys_schedules(people: People) -> None:
    answer = people.ann.post(PATH, json=wanted(all_owners=True))
    assert (answer.status_code, answer.json()["code"]) == (403, "denied")
    assert made(people, "root", all_owners=True)["all_owners"]


def test_what_signs_for_one_owner_signs_for_no_other(people: People) -> None:
    """Else what is signed for one could be passed on to the other's receiver, as if it had come from here."""
    webhook = made(people, "ann")
    made(people, "ann")
    answer = people.bob.post(PATH, json=wanted())
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    people.ann.delete(f"{PATH}/{webhook['id']}")
    assert people.bob.post(PATH, json=wanted()).status_code == 409
    assert people.program.parts.database.read(lambda tx: tx.audience()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "http://example.com@127.0.0.1/"},
        {"url": "https://10.0.0.1/"},
        {"url": "https://169.254.169.254/latest"},
        {"url": "https://nowhere.invalid/"},
        {"url": "http://8.8.8.8/"},
        {"url": "file:///etc/passwd"},
        {"url": ""},
        {"events": []},
        {"events": ["run.started"]},
        {"secret_env": "HOME"},
        {"secret": "in plain text, which is kept nowhere"},
    ],
)
def test_what_may_not_be_called_or_is_not_known_is_refused(people: People, changes: dict[str, Any]) -> None:
    answer = people.ann.post(PATH, json=wanted(**changes))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_a_test_says_what_came_back(people: People, receiver: Receiver) -> None:
    webhook = made(people, "ann", url=receiver.url())
    answer = people.ann.post(f"{PATH}/{webhook['id']}/test")
    assert answer.status_code == 200
    assert (answer.json()["arrived"], answer.json()["status"], answer.json()["error"]) == (True, 204, None)
    (seen,) = receiver.seen
    assert seen.json["event"] == "test"
    assert seen.headers["foliot-delivery"] == seen.json["id"] == answer.json()["id"]
    signed_at = int(seen.headers["foliot-signature"].split(",")[0].removeprefix("t="))
    assert is_signed(seen.body, seen.headers["foliot-signature"], [SECRET], signed_at)
    receiver.replies = [Reply(500, "not today")]
    again = people.ann.post(f"{PATH}/{webhook['id']}/test").json()
    assert (again["arrived"], again["status"], again["error"]) == (False, 500, "it answered 500: not today")


def test_a_test_that_is_asked_for_again_under_its_key_is_not_sent_again(people: People, receiver: Receiver) -> None:
    webhook = made(people, "ann", url=receiver.url())
    first, again = (
        people.ann.post(f"{PATH}/{webhook['id']}/test", headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert len(receiver.seen) == 1


def test_what_is_done_to_a_webhook_is_in_the_trail_without_its_path(people: People, receiver: Receiver) -> None:
    webhook = made(people, "ann", url=receiver.url("/hunter2"))
    people.ann.post(f"{PATH}/{webhook['id']}/test")
    people.ann.delete(f"{PATH}/{webhook['id']}")
    deeds = people.program.parts.database.read(lambda tx: tx.newest_deeds(3, None, f"webhook/{webhook['id']}", None))
    assert [deed.action for deed in deeds] == ["webhook.delete", "webhook.test", "webhook.create"]
    assert not any("hunter2" in str(deed.details) for deed in deeds)
    assert {deed.actor for deed in deeds} == {"ann"}


def test_lists_are_paged(people: People) -> None:
    ids = [made(people, "ann")["id"] for _ in range(3)]
    first = people.ann.get(PATH, params={"limit": 2}).json()
    rest = people.ann.get(PATH, params={"limit": 2, "after": first["next"]}).json()
    assert [webhook["id"] for webhook in first["items"] + rest["items"]] == ids
    assert rest["next"] is None
    assert people.ann.get(PATH, params={"limit": 3}).json()["next"] is None, "these are all, not one more page of none"


def test_what_it_was_told_is_listed_newest_first(people: People) -> None:
    webhook = made(people, "ann")
    place = f"{PATH}/{webhook['id']}/deliveries"
    people.ann.post("/api/v1/schedules", json={"name": "job", "target": "python:digest", "cron": "0 9 * * *"})

    def happen(tx: Any) -> None:
        (row,) = tx.schedules(["job"])
        tx.announce([("run.failed", row.ref, None, tx.now, '{"run":"job~1","reason":"timeout","error":null}')] * 3)
        notices = tx.unaddressed(10)
        (hook,) = tx.listening(["ann"])
        tx.address([notice.ref for notice in notices], [(notice.ref, hook.ref) for notice in notices])
        (first, second, _) = tx.deliveries_due([], 10)
        tx.take_deliveries([(1, tx.now + 1, first[0]), (1, tx.now + 1, second[0])])
        tx.note_arrival(first[0])
        tx.note_failure(second[0], 1, None, "it answered 410")

    people.program.parts.database.write(happen)
    found = people.ann.get(place).json()["items"]
    assert [(one["state"], one["tries"], one["error"]) for one in found] == [
        ("pending", 0, None),
        ("given_up", 1, "it answered 410"),
        ("arrived", 1, None),
    ]
    assert (found[0]["event"], found[0]["schedule"], found[0]["data"]["reason"]) == ("run.failed", "job", "timeout")
    page = people.ann.get(place, params={"limit": 2}).json()
    rest = people.ann.get(place, params={"limit": 2, "after": page["next"]}).json()
    assert [one["id"] for one in page["items"] + rest["items"]] == [one["id"] for one in found]
    assert people.ann.get(place, params={"limit": 3}).json()["next"] is None
