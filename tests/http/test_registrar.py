"""The registrar over HTTP: its paths, its words, and what they come to."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.domain.policies import Overlap
from foliot.domain.service_tokens import ServiceAccess
from foliot.testing import World, virtual
from tests.dags import a_dag, act, manual, scheduled
from tests.http.service_clients import BY_SECRET, BY_TOKEN, SECRET, claims, client, token

NOON = "2026-11-15T12:00:00Z"
GIVEN = {
    "schedule_id": "invoices-daily",
    "workflow_id": "invoices",
    "version": 1,
    "user_id": "ann",
    "cron_expr": "*/5 * * * *",
    "timezone": "UTC",
}
WORDS = {
    "schedule_id",
    "workflow_id",
    "version",
    "user_id",
    "cron_expr",
    "timezone",
    "start_at",
    "end_at",
    "next_run_at",
    "paused",
    "jitter_ms",
    "overlap_policy",
    "catchup_policy",
    "updated_at",
}
"""The columns of its schedules."""


@pytest.fixture
def troubles() -> set[str]:
    """While there is one, what workflows do fails."""
    return set()


@pytest.fixture
def world(database_url: str, troubles: set[str]) -> Iterator[World]:
    app = Foliot(database_url)

    @app.action("do")
    def do(input: Any) -> Any:
        if troubles:
            raise ValueError("it was told to")
        return input

    app.graph("digest")(lambda: None)
    with virtual(app, NOON, database=database_url) as found:
        app.workflows.deploy(a_dag([manual(), act("a", "do")], "start > a", workflow_id="invoices"))
        yield found


@pytest.fixture
def service(world: World) -> TestClient:
    return client(world.app, BY_SECRET, SECRET)


Upsert = Callable[..., Any]


@pytest.fixture
def upsert(service: TestClient) -> Upsert:
    def ask(headers: dict[str, str] | None = None, **others: Any) -> Any:
        return service.post("/schedules/upsert", json={**GIVEN, **others}, headers=headers or {})

    return ask


def runs_of(service: TestClient, limit: int = 50) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.get(f"/schedules/invoices-daily/runs?limit={limit}").json()["schedule_runs"]
    return found


def test_a_registered_schedule_is_told_in_the_words_that_it_was_said_in(service: TestClient, upsert: Upsert) -> None:
    said = {"start_at": "2026-11-15T12:30:00Z", "jitter_ms": 1500, "overlap_policy": "queue"}
    answer = upsert(**said, catchup_policy="spread")
    assert (answer.status_code, answer.json()) == (
        200,
        {"schedule_id": "invoices-daily", "next_run_at": "2026-11-15T12:30:00Z"},
    )
    told = service.get("/schedules/invoices-daily").json()
    assert set(told) == WORDS | {"preview"}
    assert {key: told[key] for key in (*GIVEN, *said)} == {**GIVEN, **said}
    assert (told["catchup_policy"], told["end_at"], told["paused"]) == ("spread", None, False)
    assert (told["next_run_at"], told["updated_at"]) == ("2026-11-15T12:30:00Z", NOON)
    assert told["preview"] == [f"2026-11-15T12:{minute}:00Z" for minute in (30, 35, 40, 45, 50)]


def test_it_is_an_ordinary_schedule_of_its_user_pinned_to_the_version(world: World, upsert: Upsert) -> None:
    upsert(jitter_ms=1500)
    schedule = world.app.schedules.get("invoices-daily")
    assert (schedule.target, schedule.owner) == ("dag:invoices", "ann")
    assert schedule.input == {"version": 1, "trigger": "start"}
    assert world.app.grants.get(schedule.grant).user == "ann"
    assert (schedule.spec.jitter_mode, schedule.spec.jitter.total_seconds()) == ("around", 1.5)


def test_of_several_triggers_the_one_fires_that_has_the_same_cron(world: World, upsert: Upsert) -> None:
    nodes = [manual(), scheduled("hourly", "0 * * * *"), scheduled("often", "*/5 * * * *"), act("a", "do")]
    world.app.workflows.deploy(a_dag(nodes, "start > a", "hourly > a", "often > a", workflow_id="invoices"))
    fired = []
    for cron in ("*/5 * * * *", "7 * * * *"):
        upsert(version=2, cron_expr=cron)
        fired.append(world.app.schedules.get("invoices-daily").input["trigger"])
    assert fired == ["often", "hourly"]


def test_upserted_again_it_is_changed_and_not_doubled(world: World, service: TestClient, upsert: Upsert) -> None:
    upsert()
    before = world.app.schedules.get("invoices-daily").token
    upsert()
    assert world.app.schedules.get("invoices-daily").token == before
    upsert(cron_expr="0 9 * * *", timezone="America/New_York")
    told = service.get("/schedules/invoices-daily").json()
    assert (told["cron_expr"], told["next_run_at"]) == ("0 9 * * *", "2026-11-15T14:00:00Z")


def test_upserting_never_ends_a_pause(world: World, service: TestClient, upsert: Upsert) -> None:
    upsert()
    assert service.post("/schedules/pause", json={"schedule_id": "invoices-daily", "paused": True}).status_code == 204
    answer = upsert(cron_expr="*/10 * * * *")
    told = service.get("/schedules/invoices-daily").json()
    assert (told["paused"], told["next_run_at"]) == (True, answer.json()["next_run_at"])
    world.advance(minutes=30)
    assert runs_of(service) == []
    assert service.post("/schedules/pause", json={"schedule_id": "invoices-daily", "paused": False}).status_code == 204
    world.advance(minutes=10)
    assert runs_of(service)[0]["status"] == "SUCCESS"


def test_paused_once_more_a_persons_note_stays(world: World, service: TestClient, upsert: Upsert) -> None:
    upsert()
    world.app.schedules.pause("invoices-daily", "until the printer is back")
    service.post("/schedules/pause", json={"schedule_id": "invoices-daily", "paused": True})
    assert world.app.schedules.get("invoices-daily").note == "until the printer is back"


def test_paused_by_a_service_too_it_no_longer_ends_by_itself_and_is_still_the_persons(
    world: World, service: TestClient, upsert: Upsert
) -> None:
    upsert()
    world.app.schedules.pause("invoices-daily", "hands off", until="2026-11-15T13:00:00Z")
    by = world.app.schedules.get("invoices-daily").paused_by
    pause = {"schedule_id": "invoices-daily", "paused": True}
    assert service.post("/schedules/pause", json=pause).status_code == 204
    told = world.app.schedules.get("invoices-daily")
    assert (told.paused, told.paused_until, told.note, told.paused_by) == (True, None, "hands off", by)
    service.post("/schedules/pause", json=pause)
    assert world.app.schedules.get("invoices-daily").token == told.token


def test_upserted_again_it_keeps_what_there_is_no_word_for(world: World, service: TestClient, upsert: Upsert) -> None:
    upsert(jitter_ms=1500)
    operators: dict[str, Any] = {
        "budget": {"credits": 5},
        "max_credits": 7,
        "timeout": "5m",
        "retry": 3,
        "limit": 9,
        "pause_on_failure": True,
        "grace": "2m",
        "labels": {"team": "mail"},
        "memo": {"cron_expr": "*/5 * * * *", "runbook": "see the wall"},
        "input": {"version": 1, "trigger": "start", "inputs": {"to": "bob"}},
    }
    before = world.app.schedules.patch("invoices-daily", **operators)
    upsert(jitter_ms=1500)
    assert world.app.schedules.get("invoices-daily") == before
    upsert(cron_expr="0 9 * * *", overlap_policy="queue")
    after = world.app.schedules.get("invoices-daily")
    assert after.policies == replace(before.policies, overlap=Overlap.BUFFER_ALL)
    assert (after.labels, after.input) == (before.labels, before.input)
    assert after.memo == {"cron_expr": "0 9 * * *", "runbook": "see the wall"}
    told = service.get("/schedules/invoices-daily").json()
    assert (told["cron_expr"], told["jitter_ms"], told["overlap_policy"]) == ("0 9 * * *", 0, "queue")


def test_what_it_has_words_for_is_as_it_was_said_last_whatever_it_became_elsewhere(
    world: World, service: TestClient, upsert: Upsert
) -> None:
    upsert()
    world.app.schedules.patch(
        "invoices-daily", every="7m", overlap="buffer_one", catchup="last", input=None, memo="mine"
    )
    upsert()
    told = service.get("/schedules/invoices-daily").json()
    assert {name: told[name] for name in GIVEN} == GIVEN
    assert (told["overlap_policy"], told["catchup_policy"]) == ("skip", "none")


def test_registered_again_after_it_was_deleted_it_is_a_new_one(
    world: World, service: TestClient, upsert: Upsert
) -> None:
    upsert()
    world.app.schedules.patch("invoices-daily", max_credits=7, labels={"team": "mail"})
    service.delete("/schedules/invoices-daily")
    upsert()
    told = world.app.schedules.get("invoices-daily")
    assert (told.policies.max_credits, told.labels) == (None, {})


def test_without_an_id_it_is_given_one_and_under_one_key_one(service: TestClient, upsert: Upsert) -> None:
    key = {"Idempotency-Key": "deploy-7"}
    given = [upsert(key, schedule_id=None), upsert(key, schedule_id=None), upsert(schedule_id=None)]
    first, again, other = (answer.json()["schedule_id"] for answer in given)
    assert first == again != other
    assert given[1].headers["Idempotency-Replayed"] == "true"
    assert service.get(f"/schedules/{first}").json()["workflow_id"] == "invoices"


def test_what_is_not_said_is_as_the_environment_has_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "DEFAULT_OVERLAP_POLICY": "allow",
        "DEFAULT_CATCHUP_POLICY": "spread",
        "DEFAULT_JITTER_MS": "250",
        "LOOKAHEAD_MS": "5000",
        "MAX_CATCHUP_PER_TICK": "7",
        "TICK_MS": "250",
    }.items():
        monkeypatch.setenv(name, value)
    service = client(world.app, BY_SECRET, SECRET)
    service.post("/schedules/upsert", json=GIVEN)
    told = service.get("/schedules/invoices-daily").json()
    assert (told["overlap_policy"], told["catchup_policy"], told["jitter_ms"]) == ("allow", "spread", 250)
    policies = world.app.schedules.get("invoices-daily").policies
    assert (policies.lookahead, policies.cap) == (5_000_000, 7)


def test_the_last_runs_are_told_by_key_planned_time_and_word(world: World, service: TestClient, upsert: Upsert) -> None:
    upsert()
    world.advance(minutes=11)
    world.app.schedules.trigger("invoices-daily")
    world.advance(seconds=1)
    newest, oldest = runs_of(service)
    at = int(datetime(2026, 11, 15, 12, 10, tzinfo=UTC).timestamp())
    assert newest == {
        "idempotency_key": sha256(f"invoices-daily:{at}".encode()).hexdigest(),
        "schedule_id": "invoices-daily",
        "run_at": "2026-11-15T12:10:00Z",
        "status": "SUCCESS",
        "run_id": "invoices-daily:2026-11-15T12:10:00Z~1",
        "created_at": newest["created_at"],
        "updated_at": newest["updated_at"],
    }
    assert oldest["run_at"] == "2026-11-15T12:05:00Z"
    assert runs_of(service, limit=1) == [newest]


def test_of_several_attempts_the_last_is_told(
    world: World, service: TestClient, upsert: Upsert, troubles: set[str]
) -> None:
    upsert()
    troubles.add("no paper")
    world.app.schedules.patch("invoices-daily", retry={"attempts": 3, "backoff": 600})
    world.advance(minutes=6)
    assert [run["status"] for run in runs_of(service)] == ["ENQUEUED"]
    troubles.clear()
    world.advance(minutes=30)
    last = runs_of(service)[-1]
    assert (last["run_at"], last["status"]) == ("2026-11-15T12:05:00Z", "SUCCESS")
    assert last["run_id"].endswith("~2")


def test_a_deleted_schedule_is_gone_and_its_runs_are_still_told(
    world: World, service: TestClient, upsert: Upsert
) -> None:
    upsert()
    world.advance(minutes=6)
    assert service.delete("/schedules/invoices-daily").status_code == 204
    assert service.get("/schedules/invoices-daily").status_code == 404
    assert service.delete("/schedules/invoices-daily").status_code == 404
    assert [run["status"] for run in runs_of(service)] == ["SUCCESS"]


def test_what_is_not_there_is_told_with_a_remedy_that_a_service_has(service: TestClient) -> None:
    said = "there is no schedule 'none': `POST /schedules/upsert` registers one"
    pause = {"schedule_id": "none", "paused": True}
    answers = [service.get("/schedules/none"), service.delete("/schedules/none"), service.get("/schedules/none/runs")]
    answers += [service.post("/schedules/pause", json=pause)]
    assert [(answer.status_code, answer.json()["detail"]) for answer in answers] == [(404, said)] * 4


def test_what_was_changed_elsewhere_to_what_it_has_no_words_for_is_null(
    world: World, service: TestClient, upsert: Upsert
) -> None:
    upsert()
    world.app.schedules.patch("invoices-daily", every="7m", overlap="buffer_one", catchup="last", input=None)
    told = service.get("/schedules/invoices-daily").json()
    named = ("version", "cron_expr", "overlap_policy", "catchup_policy")
    assert [told[name] for name in named] == [None, None, None, None]


@pytest.mark.parametrize(
    ("others", "status", "words"),
    [
        ({"cron_expr": "61 * * * *"}, 422, "cron field 'minute' takes 0-59, got '61'"),
        ({"timezone": "Mars/Olympus"}, 422, "Mars/Olympus"),
        ({"version": 9}, 404, "there is no workflow 'invoices' in version 9: deploy it first"),
        ({"workflow_id": "receipts"}, 404, "there is no workflow 'receipts'"),
        ({"schedule_id": "Invoices Daily"}, 422, "such as 'invoices-daily', got 'Invoices Daily'"),
        ({"overlap_policy": "buffer_one"}, 422, "overlap_policy"),
        ({"paused": False}, 422, "paused"),
    ],
)
def test_what_cannot_be_registered_is_refused_as_a_problem(
    upsert: Upsert, others: dict[str, Any], status: int, words: str
) -> None:
    answer = upsert(**others)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]


def test_an_id_that_is_of_something_else_is_a_conflict(world: World, service: TestClient, upsert: Upsert) -> None:
    world.app.schedules.create("digest", manual=True)
    upsert()
    taken = [upsert(schedule_id="digest", user_id="local"), upsert(user_id="bob")]
    assert [(answer.status_code, answer.json()["code"]) for answer in taken] == [(409, "conflict")] * 2
    assert "of ann already, which runs dag:invoices: choose another schedule_id" in taken[1].json()["detail"]
    assert service.get("/schedules/digest").status_code == 404
    assert service.delete("/schedules/digest").status_code == 404
    service.delete("/schedules/invoices-daily")
    assert upsert(user_id="bob").status_code == 409
    assert world.app.schedules.get("digest").target == "python:digest"


def start(service: TestClient, **others: Any) -> Any:
    given = {
        "workflow_id": "invoices",
        "version": 1,
        "user_id": "ann",
        "scheduled_for": NOON,
        "idempotency_key": "invoices-daily:1",
    }
    return service.post("/run-launcher/start", json={**given, **others})


def test_a_workflow_of_one_user_is_not_there_for_another(world: World, service: TestClient, upsert: Upsert) -> None:
    bobs = a_dag([manual(), act("a", "do")], "start > a", workflow_id="bobs", user_id="bob")
    world.app.workflows.deploy(bobs, user="bob")
    assert upsert(schedule_id="of-bob", workflow_id="bobs").status_code == 404
    start = {"workflow_id": "bobs", "version": 1, "scheduled_for": NOON, "idempotency_key": "of bob"}
    assert service.post("/run-launcher/start", json={**start, "user_id": "ann"}).json() is False
    assert service.post("/run-launcher/start", json={**start, "user_id": "bob"}).json() is True


def test_a_start_is_true_and_one_run_under_its_key(world: World, service: TestClient) -> None:
    answers = [start(service), start(service)]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, True), (200, True)]
    world.advance(seconds=1)
    (run,) = world.app.runs.list()
    handed = {"source": "schedule", "user_id": "ann", "scheduled_for": NOON, "idempotency_key": "invoices-daily:1"}
    assert (run.status, run.input["inputs"]) == ("success", handed)


def test_a_start_is_shown_as_a_request_with_how_its_run_stands(world: World, service: TestClient) -> None:
    start(service)
    accepted = world.app.requests.get("invoices-daily:1")
    assert (accepted.stage, accepted.status, accepted.ended_at) == ("done", "pending", None)
    world.advance(seconds=1)
    (run,) = world.app.runs.list()
    for shown in (world.app.requests.get("invoices-daily:1"), *world.app.requests.list()):
        assert (shown.run_id, shown.status, shown.result) == (run.id, "success", run.result)
        assert shown.ended_at == run.ended_at


def test_what_there_is_not_to_start_is_false_and_what_is_wrong_a_problem(service: TestClient) -> None:
    assert [start(service, version=9).json(), start(service, workflow_id="receipts").json()] == [False, False]
    start(service)
    refused = [start(service, user_id="bob"), start(service, scheduled_for="soon")]
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
        (422, "key_reused"),
        (422, "invalid"),
    ]


ASKED: list[tuple[str, str, Any]] = [
    ("POST", "/schedules/upsert", GIVEN),
    ("POST", "/schedules/pause", {"schedule_id": "invoices-daily", "paused": True}),
    ("DELETE", "/schedules/invoices-daily", None),
    ("GET", "/schedules/invoices-daily", None),
    ("GET", "/schedules/invoices-daily/runs", None),
    ("POST", "/run-launcher/start", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), ASKED, ids=lambda given: str(given)[:30])
def test_only_services_are_let_in(world: World, upsert: Upsert, method: str, path: str, body: Any) -> None:
    upsert()
    key = world.app.parts.verbs.keys.create("test").secret
    strangers = [
        client(world.app, BY_SECRET),
        client(world.app, BY_SECRET, "nobody-knows-this-one"),
        client(world.app, BY_SECRET, key),
        client(world.app, BY_TOKEN, SECRET),
    ]
    for stranger in strangers:
        assert stranger.request(method, path, json=body).status_code == 401
    assert client(world.app, ServiceAccess(), SECRET).request(method, path, json=body).status_code == 503
    assert world.app.schedules.get("invoices-daily").paused is False


def test_a_token_lets_in_as_the_secret_does(database_url: str) -> None:
    app = Foliot(database_url)
    try:
        now = app.parts.clock.now() / 1_000_000
        found = TestClient(app.parts.http(Pace(1e6, 10**6), BY_TOKEN))
        found.headers["Authorization"] = f"Bearer {token(claims(now))}"
        assert found.get("/schedules/never").status_code == 404
    finally:
        app.close()


def test_who_registered_it_is_in_the_trail(world: World, upsert: Upsert) -> None:
    upsert({"Foliot-Service": "compiler"})
    (deed,) = world.app.parts.verbs.trail.newest(subject="schedule/invoices-daily").items
    assert (deed.actor, deed.action) == ("service:compiler", "schedule.create")


def test_its_routes_are_described_with_examples(service: TestClient, world: World) -> None:
    key = world.app.parts.verbs.keys.create("test").secret
    said = service.get("/api/v1/openapi.json", headers={"Authorization": f"Bearer {key}"}).json()
    for method, path, _ in ASKED:
        operation = said["paths"][path.replace("invoices-daily", "{schedule_id}")][method.lower()]
        assert operation["x-right"] == "service"
        assert operation["operationId"].startswith("registrar_")
    for name in ("SaidRegistration", "UpsertedSchedule", "ShownRegistered", "ShownScheduleRun", "WantedStart"):
        assert json.dumps(said["components"]["schemas"][name]["examples"])
