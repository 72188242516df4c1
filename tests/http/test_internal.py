"""The internal API: a graph is executed once under its key, and what it came to is told in its callers' words."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.access import Right
from foliot.domain.slots import trace_id
from foliot.execution import requests
from foliot.http.application import check_declared
from foliot.http.asking import needs
from tests.http.conformance import Described
from tests.http.service_clients import BY_SECRET, SECRET, client

GRAPHS = "/api/internal/graphs"
RUNS = f"{GRAPHS}/python:send/runs"


class Effects:
    """What the graph has done, and when it may end."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.may_end = threading.Event()
        self.may_end.set()

    async def __call__(self, input: Any, ctx: Any) -> Any:
        self.done.append(ctx.run_id)
        ctx.report_usage("call", cost="0.001")
        ctx.heartbeat({"step": 1})
        while not self.may_end.is_set():
            await asyncio.sleep(0.01)
        if input == {"fail": True}:
            raise ValueError("it was told to")
        return {"for": ctx.idempotency_key}


@pytest.fixture
def effects() -> Effects:
    return Effects()


@pytest.fixture
def program(database_url: str, effects: Effects) -> Iterator[Foliot]:
    app = Foliot(database_url)
    app.graph("send")(effects)
    yield app
    effects.may_end.set()
    app.close()


@pytest.fixture
def service(program: Foliot) -> TestClient:
    found = client(program, BY_SECRET, SECRET)
    found.headers["Foliot-Service"] = "tests"
    return found


@pytest.mark.parametrize("said", ["text/plain", "application/json", None])
def test_json_that_is_too_deep_is_not_executed_whatever_it_says_that_it_is(
    service: TestClient, effects: Effects, said: str | None
) -> None:
    deep = b'{"executionGrantId": "grant-1", "input": ' + b"[" * 100 + b"]" * 100 + b"}"
    headers = {"Idempotency-Key": "one", **({} if said is None else {"Content-Type": said})}
    answer = service.post(RUNS, content=deep, headers=headers)
    assert (answer.status_code, answer.json()["code"], effects.done) == (400, "too_deep", [])


@pytest.fixture
def grant(program: Foliot) -> str:
    return program.grants.create("graph:execute:python:send", user="ann").id


Post = Callable[..., Any]


@pytest.fixture
def post(service: TestClient, grant: str) -> Post:
    """Ask for the graph under a key, with a body that may be changed."""

    def ask(key: str | None = "k1", prefer: str | None = None, **body: Any) -> Any:
        headers = {"Idempotency-Key": key, "Prefer": prefer}
        said = {"executionGrantId": grant, "input": {"a": 1}, **body}
        return service.post(RUNS, json=said, headers={name: value for name, value in headers.items() if value})

    return ask


def test_a_graph_is_executed_once_under_its_key(post: Post, effects: Effects, program: Foliot) -> None:
    first, again = post(runId="nightly"), post(runId="nightly")
    assert first.status_code == 200
    assert first.json() == {
        "ok": True,
        "runId": "nightly",
        "traceId": trace_id("nightly"),
        "status": "success",
        "errorCode": None,
        "error": None,
        "result": {"for": "k1"},
        "question": None,
        "progress": None,
    }
    assert (again.status_code, again.json()) == (200, first.json())
    assert effects.done == ["nightly"]
    assert program.accounts.get("ann").balance == -20_000
    assert program.requests.get("k1").caller == "service:tests"


def test_a_failed_execution_is_an_answer_and_kept(post: Post, effects: Effects) -> None:
    answers = [post(input={"fail": True}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    told = answers[0].json()
    assert (told["ok"], told["status"], told["errorCode"]) == (False, "error", "internal")
    assert answers[1].json() == told
    assert len(effects.done) == 1


def test_what_is_wrong_with_a_request_is_looked_for_in_order(service: TestClient, grant: str, effects: Effects) -> None:
    """Who asks, then the graph, the key, the body; each is complained of before those that come after it."""
    body = {"executionGrantId": grant, "input": {}}
    key = {"Idempotency-Key": "k1"}
    stranger = {"Authorization": "Bearer nobody"}
    cases: list[tuple[int, str, dict[str, str], Any]] = [
        (401, "digest", stranger, None),
        (404, "digest", {}, None),
        (400, "python:send", {}, body),
        (400, "python:send", key, None),
        (400, "python:send", key, []),
        (400, "python:send", key, {"input": {}}),
        (400, "python:send", key, {**body, "executionGrantId": 7}),
        (400, "python:send", key, {**body, "executionGrantId": "ann's"}),
        (400, "python:send", key, {**body, "runId": ""}),
        (400, "python:send", key, {**body, "unknown": 1}),
        (400, "python:send", {"Idempotency-Key": "x" * 301}, body),
        (404, "python:nobody", key, body),
        (403, "python:send", key, {**body, "executionGrantId": "grant-999"}),
    ]
    for status, graph, headers, said in cases:
        answer = service.post(f"/api/internal/graphs/{graph}/runs", json=said, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), graph
    assert effects.done == []


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda app, grant: app.grants.revoke(grant), "grant_revoked"),
        (lambda app, grant: app.grants.rescope(grant, "graph:execute:python:other"), "grant_scope"),
    ],
    ids=["revoked", "scope"],
)
def test_a_grant_that_does_not_allow_it_is_refused_by_its_reason(
    program: Foliot, grant: str, post: Post, spoil: Callable[[Foliot, str], object], reason: str
) -> None:
    spoil(program, grant)
    answer = post()
    assert (answer.status_code, answer.json()["code"], answer.json()["reason"]) == (403, "denied", reason)
    assert program.requests.list() == []


def test_what_was_done_before_is_answered_though_its_grant_is_revoked(program: Foliot, grant: str, post: Post) -> None:
    first = post()
    program.grants.revoke(grant)
    assert post().json() == first.json()


def test_a_key_that_was_used_for_something_else_is_refused(post: Post, effects: Effects) -> None:
    post()
    answer = post(input={"a": 2})
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")
    assert len(effects.done) == 1


def test_what_takes_long_is_waited_for_in_turns(post: Post, service: TestClient, effects: Effects) -> None:
    effects.may_end.clear()
    begun = post(prefer="wait=0", runId="a/b c")
    assert (begun.status_code, begun.json()["status"], begun.json()["ok"]) == (202, "running", None)
    where = begun.headers["location"]
    assert where == "/api/internal/runs/a%2Fb%20c/outcome?key=k1"
    busy = post(prefer="wait=0", runId="a/b c")
    assert (busy.status_code, busy.json()["code"]) == (409, "in_progress")
    assert int(busy.headers["retry-after"]) > 0
    waiting = service.get(where, headers={"Prefer": "wait=0"})
    assert waiting.status_code == 202
    effects.may_end.set()
    done = service.get(where, headers={"Prefer": "respond-async, wait=30"})
    assert (done.status_code, done.json()["ok"], done.json()["result"]) == (200, True, {"for": "k1"})
    assert service.get(where.partition("?")[0]).json() == done.json() == post(runId="a/b c").json()
    assert effects.done == ["a/b c"]


def test_progress_is_told_while_it_goes_on(post: Post, service: TestClient, effects: Effects) -> None:
    effects.may_end.clear()
    where = post(prefer="wait=1").headers["location"]
    assert service.get(where, headers={"Prefer": "wait=0"}).json()["progress"] == {"step": 1}


def test_what_another_process_executes_is_waited_for_too(
    program: Foliot, post: Post, service: TestClient, effects: Effects
) -> None:
    """Whichever process is asked, the record says what came of it."""
    effects.may_end.clear()
    where = post(prefer="wait=0").headers["location"]
    program.parts.workroom._begun.clear()
    threading.Timer(0.2, effects.may_end.set).start()
    assert service.get(where, headers={"Prefer": "wait=30"}).json()["ok"]


def test_an_execution_whose_owner_is_gone_is_to_be_asked_for_again(
    program: Foliot, post: Post, service: TestClient, effects: Effects
) -> None:
    effects.may_end.clear()
    where = post(prefer="wait=0").headers["location"]
    while not effects.done:
        pass
    program.parts.database.write(lambda tx: tx.take_request(1, 2, "a process that died", 0))
    gone = service.get(where, headers={"Prefer": "wait=0"})
    assert (gone.status_code, gone.json()["code"]) == (409, "conflict")
    assert "ask for it again under that key" in gone.json()["detail"]
    effects.may_end.set()
    assert post().json()["ok"]
    assert service.get("/api/internal/runs/never/outcome").status_code == 404


def test_what_is_executed_here_is_listed(service: TestClient) -> None:
    shown = service.get("/api/internal/graphs").json()["graphs"]
    assert {"graphId": "python:send", "onUnknown": "redeliver", "room": None} in shown
    assert "dag:*" in [graph["graphId"] for graph in shown]


def test_a_run_of_the_ledger_is_its_workers_and_has_all_that_a_worker_hands_it(
    program: Foliot, service: TestClient
) -> None:
    seen: list[Any] = []

    @program.graph("look")
    def look(input: Any, ctx: Any) -> None:
        seen.append((input, ctx.labels, ctx.run_id, ctx.idempotency_key, ctx.schedule, ctx.due_at, ctx.decision))

    schedule = program.schedules.create("digest", target="look", manual=True, labels={"team": "mail"}, input=[1])
    run = program.schedules.trigger("digest")
    program.parts.database.write(lambda tx: tx.start([(tx.register("far away"), 1, 1, 1, tx.now, 1)]))
    said = {"executionGrantId": schedule.grant, "input": [1], "runId": run.id}
    url, headers = "/api/internal/graphs/python:look/runs", {"Idempotency-Key": f"{run.idempotency_key}#1"}
    assert service.post(url, json=said, headers=headers).status_code == 409
    told = service.post(url, json=said, headers={**headers, "Foliot-Worker": "far away"}).json()
    assert (told["ok"], told["runId"]) == (True, run.id)
    assert seen == [([1], {"team": "mail"}, run.id, run.idempotency_key, "digest", run.due_at, None)]


def test_of_a_run_whose_worker_and_executor_are_gone_a_person_is_asked_where_the_target_says_so(
    program: Foliot, service: TestClient
) -> None:
    times: list[str] = []

    @program.graph("careful", on_unknown="hold")
    def careful(input: Any, ctx: Any) -> None:
        times.append(ctx.run_id)

    schedule = program.schedules.create("digest", target="careful", manual=True)
    run = program.schedules.trigger("digest")
    program.parts.database.write(lambda tx: tx.start([(tx.register("far away"), 1, 1, 1, tx.now, 1)]))
    said = {"executionGrantId": schedule.grant, "input": None, "runId": run.id, "redelivered": True}
    headers = {"Idempotency-Key": f"{run.idempotency_key}#1", "Foliot-Worker": "far away"}
    asked = [service.post("/api/internal/graphs/python:careful/runs", json=said, headers=headers) for _ in range(2)]
    assert asked[0].json() == asked[1].json()
    told = asked[0].json()
    assert (told["ok"], told["status"], told["question"]["kind"]) == (False, "waiting", "unknown_outcome")
    assert times == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"input": 1}', "executionGrantId is missing: give it"),
        (b'{"executionGrantId": 7}', "executionGrantId takes text"),
        (b'{"executionGrantId": "grant-1", "runId": ""}', "runId takes text of 1 or more characters"),
        (
            b'{"executionGrantId": "grant-1", "x": 1}',
            "x is not known here: mend how it is spelt, or leave it out",
        ),
        (b'{"executionGrantId"', "the body takes JSON, and is none from character 19"),
        (b"", "the body takes an object, as JSON under Content-Type: application/json"),
        (b"[]", "the body takes an object, as JSON under Content-Type: application/json"),
        (b'"\xff"', "the body takes JSON in UTF-8, and is none from byte 1: encode its text as UTF-8"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_what_does_not_fit_is_said_in_the_words_of_the_rest_of_the_api(
    service: TestClient, body: bytes, detail: str
) -> None:
    answer = service.post(RUNS, content=body, headers={"Idempotency-Key": "k1"})
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (400, "malformed", detail)


def test_a_body_that_is_nested_too_deep_to_be_read_is_refused(service: TestClient) -> None:
    answer = service.post(RUNS, content=b"[" * 100_000, headers={"Idempotency-Key": "k1"})
    assert (answer.status_code, "send it flatter" in answer.json()["detail"]) == (400, True)


def test_a_parameter_that_is_not_known_is_told_with_the_path_as_it_is_described(service: TestClient) -> None:
    detail = service.get("/api/internal/runs/nightly/outcome?kee=k1").json()["detail"]
    assert detail == "'kee' is no parameter of GET /api/internal/runs/{run_id}/outcome: did you mean key?"


def test_every_answer_good_or_bad_is_as_the_description_says(
    program: Foliot, grant: str, post: Post, service: TestClient, effects: Effects
) -> None:
    key = program.parts.verbs.keys.create("test").secret
    document = service.get("/api/v1/openapi.json", headers={"Authorization": f"Bearer {key}"}).json()
    other = program.grants.create("graph:execute:python:other", user="ann").id
    revoked = program.grants.create("graph:execute:python:send", user="ann").id
    program.grants.revoke(revoked)
    answers = [post("done"), post("failed", input={"fail": True}), post("done", input=2), service.get(GRAPHS)]
    answers += [post("denied", executionGrantId=one) for one in ("grant-999", other, revoked)]
    answers += [post(None), post("wrong", unknown=1), post("wrong", executionGrantId=7), service.get(f"{GRAPHS}?x=1")]
    answers += [service.post("/api/internal/graphs/python:nobody/runs", json={"executionGrantId": grant})]
    effects.may_end.clear()
    answers += [post("slow", "wait=0"), post("slow", "wait=0")]
    answers += [service.get(answers[-2].headers["location"], headers={"Prefer": "wait=0"})]
    effects.may_end.set()
    answers += [service.get(answers[-1].request.url), service.get("/api/internal/runs/never/outcome")]
    where = "/api/internal/runs/never:2026-11-15T09:00:00Z~1/status"
    reports: list[Any] = [{"token": "x", "status": "running"}, {"errorCode": "zzz"}, {}, []]
    answers += [service.post(where, json=report) for report in reports]
    answers += [service.post(where, json={}, headers={"Authorization": "Bearer nobody"})]
    assert {answer.status_code for answer in answers} == {200, 202, 400, 401, 403, 404, 409, 422}
    for answer in answers:
        Described(document).check(answer)


def test_a_route_that_says_for_services_and_asks_for_people_stops_the_start() -> None:
    from foliot.http import internal  # noqa: PLC0415

    check_declared(internal.router)
    handler = internal.router.routes[0].endpoint  # type: ignore[attr-defined]
    for wrong in (Right.READ, "public", "signed"):
        try:
            needs(wrong)(handler)
            with pytest.raises(ValueError, match="/api/internal/graphs"):
                check_declared(internal.router)
        finally:
            needs("service")(handler)


def test_a_run_that_is_asked_to_stop_is_stopped_where_it_is_executed(
    program: Foliot, service: TestClient, effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LEASE", 600)
    effects.may_end.clear()
    schedule = program.schedules.create("digest", target="send", manual=True)
    run = program.schedules.trigger("digest")
    program.parts.database.write(lambda tx: tx.start([(tx.register("far away"), 1, 1, 1, tx.now, 1)]))
    said = {"executionGrantId": schedule.grant, "runId": run.id}
    headers = {"Idempotency-Key": f"{run.idempotency_key}#1", "Foliot-Worker": "far away", "Prefer": "wait=0"}
    begun = service.post(RUNS, json=said, headers=headers)
    while not effects.done:
        pass
    program.runs.cancel(run.id)
    told = service.get(begun.headers["location"]).json()
    assert (told.get("status"), told.get("errorCode")) == ("cancelled", "cancelled_by_user"), told
