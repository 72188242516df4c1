"""Whether it lives, whether it is ready, and what it counts: told to machines without a key."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from foliot import Context, Foliot
from foliot.domain.pace import Pace
from foliot.ports import Database, Transaction
from foliot.stores.database import SqliteDatabase
from foliot.testing import World, virtual
from tests.databases import PostgresqlServer
from tests.faults.disks import pragma
from tests.http.clients import People
from tests.http.eventful import HOUR_OF_DECISIONS, an_eventful_hour

HERE, ELSEWHERE = ("127.0.0.1", 1), ("192.0.2.7", 1)


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A slot each minute, of which one in two finds the one before it in its way; the first costs something."""
    app = Foliot("sqlite:///not-used.db", name="shop")

    @app.graph("long")
    async def long(input: Any, ctx: Context) -> None:
        if ctx.scheduled_for.minute == 1:
            ctx.report_usage("call", cost="0.01")
        await asyncio.sleep(90)

    app.schedule("long", every="1m")(long)
    with virtual(app, "2026-11-15T12:00:00Z", database=database_url) as found:
        yield found


def client(world: World, address: tuple[str, int] = HERE) -> TestClient:
    return asked_of(world.app, address)


def asked_of(app: Foliot, address: tuple[str, int] = HERE) -> TestClient:
    return TestClient(app.parts.http(Pace(1e6, 10**6)), client=address, raise_server_exceptions=False)


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def test_a_process_that_answers_lives(world: World) -> None:
    answer = client(world).get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_it_is_ready_when_database_schema_and_worker_are_well_and_nothing_waits_for_long(world: World) -> None:
    world.advance(minutes=3)
    answer = client(world, ELSEWHERE).get("/readyz")

    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert {name: check["ok"] for name, check in answer.json()["checks"].items()} == dict.fromkeys(
        ("database", "schema", "engine", "backlog"), True
    )


@pytest.mark.poison
def test_it_is_not_ready_when_its_worker_has_failed(world: World) -> None:
    def broken(target: str) -> int | None:
        raise ZeroDivisionError(target)

    world.engine().gate.room = broken  # type: ignore[method-assign]
    with pytest.raises(Exception):  # noqa: B017, PT011
        world.advance(minutes=5)
    answer = client(world).get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["engine"] == {
        "ok": False,
        "what": "it has failed: the log says why, and its process must be started again",
    }


def test_it_is_not_ready_when_what_is_due_waits_for_long(world: World) -> None:
    world.advance(seconds=30)
    write: Any = world.app.parts.database.write
    write(lambda tx: tx._do("UPDATE cursors SET wake_at = wake_at - 150000000"))
    answer = client(world).get("/readyz")

    assert (answer.status_code, answer.json()["checks"]["backlog"]) == (
        503,
        {"ok": False, "what": "the first that waits is due for 120 s"},
    )


def test_it_is_not_ready_when_its_worker_s_loop_stands_still(world: World) -> None:
    engine = world.engine()
    engine.settings = replace(engine.settings, look=5_000_000)
    engine.vitals._seen_at -= 60
    answer = client(world).get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["engine"]["what"] == "its loop was not seen for 60 s: something holds it up"


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_while_nothing_can_be_written_it_is_not_ready_and_whoever_reads_is_answered(world: World) -> None:
    """It was called ready until something due had waited for a minute; and reads failed for the note of their key."""
    world.advance(seconds=30)
    people = People(world.app, lambda: client(world))
    ann, database = people.ann, world.app.parts.database
    assert isinstance(database, SqliteDatabase)
    pragma(database, "query_only=ON")
    world.advance(minutes=1)
    answer = client(world).get("/readyz")
    read = ann.get("/api/v1/schedules")
    pragma(database, "query_only=OFF")
    world.advance(minutes=1)

    assert (answer.status_code, answer.json()["checks"]["database"]["ok"]) == (503, True)
    assert "the database did not take its last" in answer.json()["checks"]["engine"]["what"]
    assert read.status_code == 200
    assert client(world).get("/readyz").status_code == 200


def test_it_is_not_ready_when_it_has_stopped(world: World) -> None:
    world.stop()
    assert client(world).get("/readyz").json()["checks"]["engine"] == {"ok": False, "what": "it has stopped"}


def test_it_is_not_ready_when_its_schema_is_another_s(world: World) -> None:
    write: Any = world.app.parts.database.write
    write(lambda tx: tx._do("UPDATE alembic_version SET version_num = '9999'"))
    answer = client(world).get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["schema"]["ok"]) == (503, False)


def test_a_run_that_waits_for_a_person_is_not_counted_among_those_that_ended(world: World) -> None:
    @world.app.graph("asking")
    def asking(input: Any, ctx: Context) -> Any:
        return ctx.ask("approval") if ctx.decision is None else None

    world.app.schedules.create("asking", target="asking", manual=True)
    world.app.schedules.trigger("asking")
    world.advance(seconds=5)
    assert [run.status for run in world.app.runs.list(schedule="asking")] == ["waiting"]
    assert 'foliot_runs_ended_total{status="waiting"}' not in client(world).get("/metrics").text


def test_metrics_say_what_was_decided_and_how_late(world: World) -> None:
    world.advance(minutes=4, seconds=5)
    asked = client(world)
    asked.get("/api/v1/runs/nobody-s-secret")
    asked.get("/nowhere/secret")
    text = asked.get("/metrics").text
    found = values(text)

    def value(name: str, **labels: str) -> float:
        return found[name, tuple(sorted(labels.items()))]

    # Those of 12:02 and 12:04 found the one before in their way.
    assert value("runs_emitted") == 2
    assert value("runs_skipped_overlap") == 2
    assert value("runs_failed_launch") == 0
    assert value("schedules_due") == 0
    assert value("scheduling_drift_seconds_count") == 2
    assert value("scheduling_drift_seconds_bucket", le="1.0") == 2
    assert value("foliot_lateness_seconds_count", engine="native") == 2
    assert value("foliot_runs_started_total", kind="slot") == 2
    assert value("foliot_runs_ended_total", status="success") == 1
    assert value("foliot_slots_decided_total", fate="skip", reason="overlap") == 2
    assert value("foliot_credits_charged_total") == 200_000
    assert value("foliot_in_hand") == 1
    assert value("foliot_database_up") == 1
    assert value("foliot_queue_age_seconds") == 0
    assert value("foliot_batch_size_count", engine="native") == 3
    assert value("foliot_http_requests_total", method="GET", route="/api/v1/runs/{run_id}", status="401") == 1
    assert value("foliot_http_requests_total", method="GET", route="unknown", status="404") == 1
    assert "secret" not in text


def test_metrics_say_what_was_missed_rescued_and_delivered_again(world: World) -> None:
    world.advance(minutes=1, seconds=30)
    world.kill()
    world.advance(minutes=4)
    world.restart()
    world.advance(seconds=40)
    found = values(client(world).get("/metrics").text)

    def value(name: str, **labels: str) -> float:
        return found[name, tuple(sorted(labels.items()))]

    # The run of 12:01 was cut off and is begun again; it is in the way of 12:05 and 12:06, and what is older is late.
    assert value("foliot_redeliveries_total") == 1
    assert value("foliot_rescued_total") == 1
    assert value("foliot_slots_decided_total", fate="miss", reason="missed") == 3
    assert value("runs_skipped_overlap") == 2
    assert value("foliot_rescue_seconds_count", engine="native") == 1


def counted(world: World, name: str) -> dict[tuple[str, ...], float]:
    """By the labels of that metric, what was counted."""
    found = values(client(world).get("/metrics").text).items()
    return {tuple(said for _, said in labels): value for (of, labels), value in found if of == name and value}


def test_counters_agree_with_the_ledger_whoever_has_decided(database_url: str) -> None:
    """What verbs decided was not counted: skipped triggers and slots, and runs that were terminated or rejected."""
    with an_eventful_hour(database_url) as world:
        runs = world.runs("job")
        ended, decided = (counted(world, f"foliot_{name}_total") for name in ("runs_ended", "slots_decided"))
        skipped = counted(world, "runs_skipped_overlap")

    assert ended == Counter((str(run.status),) for run in runs)
    never_began = Counter((run.decision, str(run.reason)) for run in runs if run.decision != "start")
    assert decided == {**never_began, ("hold", "overlap"): 1}
    assert skipped[()] == never_began["skip", "overlap"] == 2
    assert decided == Counter((fate, why) for fate, _, why in HOUR_OF_DECISIONS if fate not in ("start", "ask", "end"))


class Undone(Exception):
    pass


class Hesitant:
    """A database by which every transaction is undone once and then done again, as when somebody else was first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def write(self, act: Callable[[Transaction], Any]) -> Any:
        def undone(tx: Transaction) -> None:
            act(tx)
            raise Undone

        with pytest.raises(Undone):
            self._database.write(undone)
        return self._database.write(act)


def test_a_process_without_a_worker_counts_what_its_verbs_decide_once_however_often_they_are_tried(
    database_url: str,
) -> None:
    app = Foliot(database_url, name="shop")
    app.graph("job")(lambda: None)
    app.schedules.create("job", target="job", manual=True)
    app.parts.shop.database = Hesitant(app.parts.database)
    first = app.schedules.trigger("job")
    app.schedules.trigger("job")
    app.runs.terminate(first.id)
    found = values(asked_of(app).get("/metrics").text)
    app.close()

    def value(name: str, **labels: str) -> float:
        return found[name, tuple(sorted(labels.items()))]

    assert value("runs_skipped_overlap") == 1
    assert value("foliot_slots_decided_total", fate="skip", reason="overlap") == 1
    assert value("foliot_slots_decided_total", fate="cancel", reason="terminated") == 1
    assert ("foliot_slots_decided_total", (("fate", "hold"), ("reason", "due"))) not in found
    assert (value("foliot_runs_ended_total", status="skipped"), value("foliot_engines_working")) == (1, 0)


@pytest.mark.parametrize(
    "name",
    [
        "schedules_due",
        "runs_emitted",
        "runs_skipped_overlap",
        "runs_failed_launch",
        "scheduling_drift_seconds",
        "foliot_lateness_seconds",
        "foliot_slots_decided",
        "foliot_redeliveries",
        "foliot_refused_reports",
        "foliot_fenced",
        "foliot_rescue_seconds",
        "foliot_queue_age_seconds",
        "foliot_batch_size",
        "foliot_credits_charged",
    ],
)
def test_dashboards_find_each_metric_by_its_name_from_the_start(world: World, name: str) -> None:
    families = {family.name: family for family in text_string_to_metric_families(client(world).get("/metrics").text)}
    assert families[name].documentation


def test_metrics_are_for_this_machine_alone(world: World) -> None:
    assert client(world).get("/metrics").status_code == 200
    assert client(world, ("::1", 1)).get("/metrics").status_code == 200
    forwarded = {"X-Forwarded-For": "192.0.2.7"}
    for answer in (client(world, ELSEWHERE).get("/metrics"), client(world).get("/metrics", headers=forwarded)):
        assert (answer.status_code, answer.json()["code"]) == (401, "unidentified")


def test_with_a_token_metrics_are_for_whoever_shows_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "FOLIOT_METRICS_TOKEN", "correct horse battery staple")
    asked = client(world, ELSEWHERE)
    assert asked.get("/metrics").status_code == 401
    assert asked.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    right = {"Authorization": "Bearer correct horse battery staple"}
    assert asked.get("/metrics", headers=right).status_code == 200


def test_a_database_that_stands_still_is_not_waited_for(postgresql_server: PostgresqlServer) -> None:
    """Who asked waited for a minute and longer, and took the process for well meanwhile."""
    app = Foliot(postgresql_server.ready_database(), name="shop")
    client = TestClient(app.parts.http(Pace(1e6, 10**6)))
    assert client.get("/readyz").status_code == 200
    with psycopg.connect(app.url) as holding:
        holding.execute("LOCK TABLE alembic_version")
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["database"]["what"]) == (503, "it has not answered for 5 s")
    app.close()
