"""A decision that is sent in: signed, recent, about one run, and told once."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.instants import MICROSECONDS
from foliot.domain.signing import signature_of
from foliot.testing import virtual
from tests.http.service_clients import BY_SECRET, DECISION_SECRET, client


@pytest.fixture
def waiting() -> Iterator[tuple[Foliot, str]]:
    """A run that waits for an answer."""
    app = Foliot("sqlite:///not-used.db")

    @app.graph("ask")
    def ask(input: Any, ctx: Any) -> str:
        return ctx.ask("approval") if ctx.decision is None else str(ctx.decision.verdict)

    with virtual(app, "2026-11-15T09:00:00Z") as world:
        app.schedules.create("asking", target="ask", manual=True)
        run = app.schedules.trigger("asking")
        world.advance(seconds=1)
        yield app, run.id


def test_a_signed_decision_is_taken_once_and_anything_else_is_not(waiting: tuple[Foliot, str]) -> None:
    app, run_id = waiting
    asking, now = client(app, BY_SECRET), app.parts.clock.now() // MICROSECONDS

    def sent(secret: str = DECISION_SECRET, at: int = now, where: str = run_id, **changed: Any) -> Any:
        said = {"run_id": run_id, "verdict": "approve", "by": "ann", "id": "d1", **changed}
        body = json.dumps(said).encode()
        headers = {"Foliot-Signature": signature_of(body, secret, at), "Content-Type": "application/json"}
        return asking.post(f"/webhooks/decisions/{where}", content=body, headers=headers)

    def send(**said: Any) -> int:
        return int(sent(**said).status_code)

    strangers = [
        asking.post(f"/webhooks/decisions/{run_id}", json={}),
        sent(secret="somebody-elses"),
        sent(at=now - 301),
    ]
    assert len({answer.json()["detail"] for answer in strangers}) == 1
    for words in ("`Foliot-Signature: t=SECONDS,v1=HEX`", "at most 5 minutes from now", "HMAC-SHA256"):
        assert words in strangers[0].json()["detail"]
    assert send(secret="somebody-elses-secret") == 401
    assert (send(at=now - 301), send(at=now + 301)) == (401, 401)
    other = "other:manual:2026-11-15T09:00:00Z~1"
    absent = sent(where=other, run_id=other)
    said = f"there is no run {other!r}: name it as it was named to you"
    assert (absent.status_code, absent.json()["detail"]) == (404, said)
    elsewhere = sent(where=other)
    assert elsewhere.status_code == 422
    assert f"run_id in the body is {run_id!r}, and the path is that of {other!r}" in elsewhere.json()["detail"]
    assert send(where=other, secret="somebody-elses-secret") == 401
    assert app.runs.get(run_id).status == "waiting"
    assert (send(), send()) == (200, 200)
    assert send(verdict="reject") == 409
    assert app.runs.questions(run_id)[0].decided_by == "ann"


def test_a_signed_body_without_its_kind_is_told_which_header_is_missing(waiting: tuple[Foliot, str]) -> None:
    app, run_id = waiting
    body = json.dumps({"run_id": run_id, "verdict": "approve", "by": "ann", "id": "d1"}).encode()
    headers = {"Foliot-Signature": signature_of(body, DECISION_SECRET, app.parts.clock.now() // MICROSECONDS)}
    answer = client(app, BY_SECRET).post(f"/webhooks/decisions/{run_id}", content=body, headers=headers)
    said = "the header Content-Type is missing: send the body under Content-Type: application/json"
    assert (answer.status_code, answer.json()["detail"]) == (422, said)
