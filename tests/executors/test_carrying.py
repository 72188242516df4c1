"""Letters to webhooks against real servers: signed with a secret that is read when it is sent."""

import asyncio
from ipaddress import ip_network
from pathlib import Path

import pytest

from foliot import Invalid
from foliot.domain.notices import Carried, Letter
from foliot.domain.signing import is_signed
from foliot.executors.carrying import LONGEST_ANSWER, LetterCarrier, guarded_caller
from tests.executors.receiver import Reply, a_free_port, a_receiver

SECRET_ENV, SECRET = "FOLIOT_WEBHOOK_TEST", "sixteen letters or more"
AT = 1_800_000_000
CARRIER = LetterCarrier(lambda: guarded_caller([ip_network("127.0.0.0/8")]))


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_ENV, SECRET)


def carried(url: str) -> Carried:
    return asyncio.run(CARRIER.carry(Letter(url, SECRET_ENV, "w-7", "run.failed", b'{"id":"w-7"}', AT)))


def test_a_letter_names_its_delivery_and_event_and_is_signed() -> None:
    with a_receiver(Reply(204)) as receiver:
        assert carried(receiver.url()) == Carried(204, None)
        (seen,) = receiver.seen
    assert (seen.method, seen.json) == ("POST", {"id": "w-7"})
    assert (seen.headers["foliot-delivery"], seen.headers["foliot-event"]) == ("w-7", "run.failed")
    assert seen.headers["content-type"] == "application/json"
    assert is_signed(seen.body, seen.headers["foliot-signature"], [SECRET], AT)
    assert not is_signed(seen.body, seen.headers["foliot-signature"], ["another secret, not ours"], AT)


def test_the_secret_may_be_in_a_file_and_is_read_each_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(SECRET_ENV)
    file = tmp_path / "secret"
    monkeypatch.setenv(f"{SECRET_ENV}_FILE", str(file))
    with a_receiver() as receiver:
        for secret in ("the first of the secrets", "the second of the secrets"):
            file.write_text(secret + "\n")
            assert carried(receiver.url()).error is None
            assert is_signed(receiver.seen[-1].body, receiver.seen[-1].headers["foliot-signature"], [secret], AT)
        file.unlink()
        assert "cannot be read" in str(carried(receiver.url()).error)


def test_nothing_is_sent_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_ENV)
    with a_receiver() as receiver:
        sent = carried(receiver.url())
        assert sent.error == f"the webhook takes its secret from {SECRET_ENV}, which the environment does not have"
        assert not receiver.seen


def test_what_is_answered_is_said_but_for_the_secret() -> None:
    with a_receiver(Reply(500, f"no: {SECRET} is wrong")) as receiver:
        assert carried(receiver.url()) == Carried(500, "it answered 500: no: *** is wrong")


def test_a_receiver_may_say_how_long_it_wants_to_be_left_alone() -> None:
    with a_receiver(Reply(429, "", {"Retry-After": "90"})) as receiver:
        assert carried(receiver.url()) == Carried(429, "it answered 429", 90.0)


def test_a_receiver_that_cannot_be_reached_is_no_error_here() -> None:
    sent = carried(f"http://127.0.0.1:{a_free_port()}/")
    assert sent.status is None
    assert "could not be carried out" in str(sent.error)


def test_no_more_of_an_answer_is_read_than_needed() -> None:
    with a_receiver(Reply(500, "x" * (LONGEST_ANSWER + 100_000))) as receiver:
        caller = guarded_caller([ip_network("127.0.0.0/8")])
        answer = asyncio.run(caller.call("POST", receiver.url(), {}, b"{}", 5.0))
        assert (len(answer.body), answer.is_cut) == (LONGEST_ANSWER, True)
        assert len(str(carried(receiver.url()).error)) < 300


def test_a_url_that_cannot_be_called_is_refused_before_it_is_kept() -> None:
    with pytest.raises(Invalid, match="which is private"):
        asyncio.run(CARRIER.check("https://10.0.0.1/"))
    assert asyncio.run(CARRIER.check("http://127.0.0.1:8420/x")) == "127.0.0.1"
