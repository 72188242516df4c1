"""Feedback of executors over the internal API: how a run goes that has answered 202, only ever forward."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.slots import trace_id
from tests.crash.nursery import wait_for
from tests.executors.receiver import Reply, a_receiver
from tests.http.service_clients import BY_SECRET, SECRET, client


class Executor:
    """Has answered 202 to the call of a run, and reports of it."""

    def __init__(self, service: TestClient, run_id: str, token: str) -> None:
        self._service = service
        self.run_id = run_id
        self.token = token

    def report(self, status: str, **more: Any) -> Any:
        body = {"token": self.token, "status": status, **more}
        return self._service.post(f"/api/internal/runs/{self.run_id}/status", json=body)

    def told(self, status: str, **more: Any) -> tuple[int, Any]:
        """The status of the answer, and what it says of the run or why it was refused."""
        answer = self.report(status, **more)
        return answer.status_code, answer.json().get("status" if answer.status_code == 200 else "code")


@pytest.fixture
def program(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Foliot]:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.0/8")
    app = Foliot(database_url)
    yield app
    app.close()


@pytest.fixture
def service(program: Foliot) -> TestClient:
    return client(program, BY_SECRET, SECRET)


@pytest.fixture
def executor(program: Foliot, service: TestClient) -> Executor:
    """Of a run that waits for it."""

    async def deliver() -> str:
        async with program:
            run = program.schedules.trigger("bills")
            waits = lambda: program.runs.get(run.id).status == "waiting" or None  # noqa: E731
            await asyncio.to_thread(wait_for, "the run to wait", waits, every=0.02)
            return run.id

    with a_receiver(Reply(202)) as receiver:
        program.endpoint("billing", receiver.url(), secret="what both of them know", callback=True)
        program.schedules.create("bills", target="http:billing", manual=True)
        run_id = asyncio.run(deliver())
        return Executor(service, run_id, receiver.seen[0].json["callback"]["token"])


def test_an_executor_tells_how_far_it_is_and_then_the_end(program: Foliot, executor: Executor) -> None:
    going = executor.report("running", progress={"pages": 3})
    assert (going.status_code, going.json()) == (
        200,
        {
            "ok": None,
            "runId": executor.run_id,
            "traceId": trace_id(executor.run_id),
            "status": "running",
            "errorCode": None,
            "error": None,
            "result": None,
            "question": None,
            "progress": {"pages": 3},
        },
    )
    run = program.runs.get(executor.run_id)
    assert (run.status, run.progress) == ("waiting", {"pages": 3})
    ended = executor.report("success", result={"sent": 3}).json()
    assert (ended["ok"], ended["status"], ended["result"]) == (True, "success", {"sent": 3})
    run = program.runs.get(executor.run_id)
    assert (run.status, run.result) == ("success", {"sent": 3})


def test_a_failure_has_its_code_and_words(program: Foliot, executor: Executor) -> None:
    told = executor.report("error", errorCode="provider_unavailable", error="no paper").json()
    assert (told["ok"], told["status"], told["errorCode"], told["error"]) == (
        False,
        "error",
        "provider_unavailable",
        "no paper",
    )
    assert program.runs.get(executor.run_id).reason == "provider_unavailable"


def test_a_run_only_goes_forward(program: Foliot, executor: Executor) -> None:
    assert executor.told("running") == (200, "running")
    assert executor.told("success", result=1) == (200, "success")
    assert executor.told("running", progress=4) == (409, "conflict")
    assert executor.told("success", result=1) == (200, "success")
    assert executor.told("success", result=2) == (409, "conflict")
    assert executor.told("error", errorCode="timeout") == (409, "conflict")
    run = program.runs.get(executor.run_id)
    assert (run.status, run.result, run.progress) == ("success", 1, None)


def test_what_comes_after_a_person_has_ended_it_is_refused(program: Foliot, executor: Executor) -> None:
    program.runs.cancel(executor.run_id)
    answers = [executor.report("running"), executor.report("success")]
    assert [answer.status_code for answer in answers] == [409, 409]
    assert "does not wait any more: it is cancelled" in answers[1].json()["detail"]
    assert program.runs.get(executor.run_id).status == "cancelled"


def test_of_many_who_report_at_once_one_is_heard(program: Foliot, executor: Executor) -> None:
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda number: executor.told("success", result=number % 2), range(16)))
    kept = program.runs.get(executor.run_id).result
    assert told == [(200, "success") if number % 2 == kept else (409, "conflict") for number in range(16)]


def test_nobody_reports_without_the_token_of_the_call(program: Foliot, executor: Executor) -> None:
    good, executor.token = executor.token, "0" * 64
    assert [executor.told("running"), executor.told("success")] == [(403, "denied")] * 2
    assert program.runs.get(executor.run_id).status == "waiting"
    executor.token = good
    assert executor.told("success") == (200, "success")


def test_no_api_key_reports_and_no_stranger(program: Foliot, executor: Executor) -> None:
    key = program.parts.verbs.keys.create("test").secret
    for bearer in (None, "nobody-knows-this-one", key):
        stranger = Executor(client(program, BY_SECRET, bearer), executor.run_id, executor.token)
        assert stranger.told("success") == (401, "unidentified")


def test_a_run_that_another_executes_waits_for_no_report(program: Foliot, executor: Executor) -> None:
    """It is its worker's, which is fenced by its lease: until then there is nothing to hear, after it nothing waits."""
    program.graph("digest")(lambda: None)
    program.schedules.create("digest", manual=True)
    run = program.schedules.trigger("digest")
    executor.run_id = run.id
    assert executor.told("success") == (409, "conflict")
    program.parts.database.write(lambda tx: tx.start([(tx.register("far away"), 1, 1, 1, tx.now, _newest(program))]))
    busy = executor.report("success")
    assert (busy.json()["code"], busy.headers["retry-after"]) == ("in_progress", "1")


def _newest(program: Foliot) -> int:
    return int(program.parts.database.read(lambda tx: tx._all("SELECT max(ref) FROM runs"))[0][0])


@pytest.mark.parametrize(
    "body",
    [
        {"status": "skipped"},
        {"status": "success", "error": "no"},
        {"status": "running", "result": 1},
        {"status": "error", "errorCode": "bad_luck"},
        {"status": "success", "runId": "another"},
        {},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(executor: Executor, service: TestClient, body: dict[str, Any]) -> None:
    where = f"/api/internal/runs/{executor.run_id}/status"
    answer = service.post(where, json={"token": executor.token, **body})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_a_run_that_there_is_not_is_not_found(executor: Executor) -> None:
    executor.run_id = "never:2026-11-15T09:00:00Z~1"
    answer = executor.report("success")
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"there is no run {executor.run_id!r}: name it as it was named to you"


def test_an_error_code_that_there_is_not_is_told_by_the_name_that_it_was_given(executor: Executor) -> None:
    detail = executor.report("error", errorCode="zzz").json()["detail"]
    assert detail.startswith("errorCode takes 'invalid_request', ")
    assert "'timeout'" in detail
