"""Actions of workflows that are calls over HTTP: a real engine, a real clock and a real server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.runs import FINAL
from foliot.services.views import Run
from tests.crash.nursery import wait_for
from tests.dags import Json, a_dag, manual, node
from tests.executors.receiver import Reply, a_receiver


@pytest.fixture(autouse=True)
def _loopback_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.0/8")


def calling(url: str) -> Json:
    call = {
        "url": url + "{{ inputs.n }}",
        "headers": {"X-N": "n{{ inputs.n }}"},
        "body_template": {"n": "{{ inputs.n }}"},
    }
    action = node("a", "action", http=call, retry={"retries": 1, "delay_ms": 1}, output_vars={"said": "output.body"})
    return a_dag([manual(), action], "start > a")


def receipts_in(folder: Path, run: Run) -> list[tuple[str, int | None]]:
    app = Foliot(f"sqlite:///{folder / 'ledger.db'}")
    found = [(receipt.unit, receipt.credits) for receipt in app.runs.receipts(run.id)]
    app.close()
    return found


def ran(folder: Path, dag: Json, inputs: Any) -> Run:
    app = Foliot(f"sqlite:///{folder / 'ledger.db'}")

    async def program() -> Run:
        async with app:
            target = f"dag:{app.workflows.deploy(dag).workflow_id}"
            app.schedules.create("once", target=target, manual=True)
            run_id = app.schedules.trigger("once", input={"inputs": inputs}).id
            is_over = lambda: app.runs.get(run_id).status in FINAL or None  # noqa: E731
            await asyncio.to_thread(wait_for, "the end of the run", is_over, every=0.02)
            return app.runs.get(run_id)

    run = asyncio.run(program())
    app.close()
    return run


def test_an_action_may_be_a_call_over_http(tmp_path: Path) -> None:
    with a_receiver(Reply(503), Reply(200, json.dumps({"ok": True}))) as receiver:
        run = ran(tmp_path, calling(receiver.url()), {"n": 3})
        first, again = receiver.seen
    assert (run.status, run.result["outputs"]) == ("success", {"said": {"ok": True}})
    assert (first.method, first.path[-1], first.headers["x-n"], first.json) == ("POST", "3", "n3", {"n": 3})
    assert first.headers["idempotency-key"] == again.headers["idempotency-key"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "invalid_request"), (404, "not_found"), (429, "rate_limit"), (500, "provider_unavailable")],
)
def test_the_answer_of_a_call_says_what_it_failed_of(tmp_path: Path, status: int, reason: str) -> None:
    with a_receiver(Reply(status, "no")) as receiver:
        assert ran(tmp_path, calling(receiver.url()), {"n": 3}).reason == reason


def test_a_call_goes_only_where_calls_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOLIOT_HTTP_ALLOW")
    with a_receiver() as receiver:
        run = ran(tmp_path, calling(receiver.url()), {"n": 3})
        assert receiver.seen == []
    assert run.reason == "invalid_request"


def using(unit: str, **more: Any) -> str:
    return json.dumps({**more, "foliot_usage": {"usage": [{"unit": unit, "cost": "0.001"}]}})


def test_what_an_answer_says_was_used_is_charged_and_is_no_part_of_the_output(tmp_path: Path) -> None:
    with a_receiver(Reply(503, using("first")), Reply(200, using("second", ok=True))) as receiver:
        run = ran(tmp_path, calling(receiver.url()), {"n": 3})
    assert (run.status, run.result["outputs"]) == ("success", {"said": {"ok": True}})
    assert receipts_in(tmp_path, run) == [("a/first", 20_000), ("a/second", 20_000)]


def test_a_unit_that_every_answer_reports_is_charged_once(tmp_path: Path) -> None:
    with a_receiver(Reply(503, using("one")), Reply(200, using("one"))) as receiver:
        run = ran(tmp_path, calling(receiver.url()), {"n": 3})
    assert receipts_in(tmp_path, run) == [("a/one", 20_000)]


@pytest.mark.parametrize("unit", ["", "x" * 199])
def test_usage_that_cannot_be_charged_makes_no_failure_of_a_call(
    tmp_path: Path, unit: str, caplog: pytest.LogCaptureFixture
) -> None:
    with a_receiver(Reply(200, using(unit, ok=True))) as receiver:
        run = ran(tmp_path, calling(receiver.url()), {"n": 3})
    assert (run.status, run.result["outputs"]) == ("success", {"said": {"ok": True}})
    assert receipts_in(tmp_path, run) == []
    assert "what it used was not charged: unit takes printable text" in caplog.text


def test_a_key_that_is_not_ascii_goes_along_with_a_call(tmp_path: Path) -> None:
    action = node("a", "action", http={"url": "{{ inputs.url }}"}, idempotency_key="schlüssel-{{ inputs.n }}")
    with a_receiver() as receiver:
        run = ran(tmp_path, a_dag([manual(), action], "start > a"), {"n": 3, "url": receiver.url()})
        (seen,) = receiver.seen
    assert (run.status, seen.headers["idempotency-key"]) == ("success", "schl%C3%BCssel-3")
