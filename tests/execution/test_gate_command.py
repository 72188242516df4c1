"""`foliot worker --gate`: processes of the real command, without graph code, have runs executed by the gate alone."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from foliot.cli.gate_worker import run_gate_worker
from foliot.domain.errors import Invalid
from tests.databases import PostgresqlServer
from tests.execution.gate_scene import EXECUTION_TABLES, Command, a_gate_scene
from tests.http.service_clients import OURS, SECRET, claims, token

BY_SECRET = {"FOLIOT_INTERNAL_SECRET": SECRET}
QUICK = {"FOLIOT_LEASE": "2s", "FOLIOT_HEARTBEAT": "500ms", **BY_SECRET}
"""A worker that was not heard of for two seconds is taken for dead."""
COST = 20_000
"""Of a run, in credits."""


def test_runs_are_executed_by_the_gate_for_a_worker_that_may_not_look_at_what_is_on_the_side_of_execution(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        with psycopg.connect(scene.worker_url, autocommit=True) as cx:
            for table in EXECUTION_TABLES:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    cx.execute(f"SELECT 1 FROM {table}")
        worker = scene.start_worker(**BY_SECRET)
        # The worker has no code that could declare it.
        assert scene.office.schedules.get("declared").target == "python:send"
        runs = [scene.office.schedules.trigger("digest", input={"n": n}, overlap="allow_all") for n in range(20)]
        assert [scene.await_status(run.id, "success").result for run in runs] == [{"n": n} for n in range(20)]
        assert sorted(begun["run"] for begun in scene.begun()) == sorted(run.id for run in runs)
        (name,) = {request.caller for request in scene.office.requests.list()}
        assert name.startswith("gate ")
        assert scene.office.accounts.get("ann").balance == 20 * -COST
        assert "permission denied" not in worker.said.read_text()


def test_a_worker_that_is_killed_in_the_midst_costs_nothing_and_the_run_ends_once(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        scene.hold()
        worker = scene.start_worker(**QUICK)
        run = scene.office.schedules.trigger("digest", input=7)
        scene.await_begun(1)
        worker.kill()
        scene.start_worker(**QUICK)
        scene.await_takeover(run.id)
        scene.let_go()
        ended = scene.await_status(run.id, "success")
        assert (ended.result, ended.losses, ended.attempt) == (7, 1, 1)
        assert len(scene.begun()) == 1, "the gate went on with it, whoever asks for it next"
        assert len(scene.office.runs.receipts(run.id)) == 1
        assert len(scene.office.runs.list("digest")) == 1


def test_a_gate_that_is_killed_in_the_midst_is_asked_again_and_the_run_ends_once(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        scene.hold()
        scene.start_worker(**BY_SECRET)
        run = scene.office.schedules.trigger("digest", input=7)
        scene.await_begun(1)
        scene.gate.kill()
        scene.start_gate()
        # As if it had been away for longer than its word for the execution holds.
        scene.query("UPDATE execution_requests SET lease_until = 0")
        scene.await_begun(2)
        scene.let_go()
        ended = scene.await_status(run.id, "success")
        assert (ended.result, ended.losses, ended.attempt) == (7, 0, 1)
        first, second = scene.begun()
        assert (first["key"], first["run"]) == (second["key"], second["run"])
        assert first["pid"] != second["pid"]
        assert len(scene.office.runs.receipts(run.id)) == 1
        assert len(scene.office.runs.list("digest")) == 1


@pytest.mark.slow
def test_a_token_that_its_issuer_renews_lets_a_worker_in(postgresql_server: PostgresqlServer, tmp_path: Path) -> None:
    by_token = {
        "FOLIOT_JWT_ALGORITHM": "EdDSA",
        "FOLIOT_JWT_KEY": OURS.public,
        "FOLIOT_JWT_ISSUER": "https://issuer",
        "FOLIOT_JWT_AUDIENCE": "foliot-test",
    }
    shown = tmp_path / "token"

    def issue(name: str) -> None:
        renewed = tmp_path / "renewed"
        renewed.write_text(token(claims(time.time(), jti=name), kid=None))
        renewed.rename(shown)

    with a_gate_scene(postgresql_server, tmp_path, **by_token) as scene:
        issue("one")
        scene.start_worker(FOLIOT_GATE_TOKEN_FILE=str(shown))
        first = scene.office.schedules.trigger("digest", input=1)
        assert scene.await_status(first.id, "success").result == 1
        issue("another")
        second = scene.office.schedules.trigger("digest", input=2)
        assert scene.await_status(second.id, "success").result == 2


@pytest.mark.slow
def test_without_anything_to_show_a_worker_says_what_to_set(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        for environment, words in (
            ({}, "set FOLIOT_INTERNAL_SECRET, or for a token FOLIOT_GATE_TOKEN_FILE"),
            ({"FOLIOT_INTERNAL_SECRET": "somebody-elses-secret"}, "answered 401"),
        ):
            assert words in scene.refused_worker(**environment)


@pytest.mark.slow
def test_a_budget_is_kept_by_a_worker_that_may_not_look_at_what_was_charged(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        worker = scene.start_worker(**BY_SECRET)
        budget = {"credits": 2 * COST, "per": "day"}
        scene.office.schedules.create("bounded", target="python:send", every="1s", user="bob", budget=budget)
        fates = scene.await_fates("bounded", ["success", "over_budget", "over_budget", "over_budget"])
        assert fates.count("success") == 2
        assert scene.office.accounts.get("bob").balance == -2 * COST
        assert scene.query("SELECT sum(spent) FROM spendings WHERE owner = 'schedule'") == [(2 * COST,)]
        assert "permission denied" not in worker.said.read_text()


@pytest.mark.slow
def test_a_worker_counts_what_requests_from_outside_and_late_costs_take_of_the_budget_of_a_grant(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        worker = scene.start_worker(**BY_SECRET)
        grant = scene.office.grants.create("graph:execute:python:send", user="bob").id
        scene.office.schedules.create("bounded", target="python:send", manual=True, user="bob", grant=grant)
        # What it costs is known before there is a budget.
        assert scene.fate_of_a_trigger("bounded") == "success"
        scene.office.grants.allow(grant, {"credits": 3 * COST, "per": "day"})
        asked = scene.ask_gate("python:send", grant, "from-outside", SECRET)
        assert asked.status_code == 200, asked.text
        assert scene.fate_of_a_trigger("bounded") == "success"
        scene.office.report_usage("from-outside", "late", cost="0.001")
        assert scene.fate_of_a_trigger("bounded") == "over_budget"
        scene.office.grants.allow(grant, {"credits": 4 * COST, "per": "day"})
        assert scene.fate_of_a_trigger("bounded") == "success"
        assert scene.fate_of_a_trigger("bounded") == "over_budget"
        assert scene.office.accounts.get("bob").balance == -5 * COST
        assert "permission denied" not in worker.said.read_text()


@pytest.mark.slow
def test_what_a_run_was_charged_counts_when_the_gate_and_then_the_worker_die_before_they_tell_of_its_end(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    with a_gate_scene(postgresql_server, tmp_path, **BY_SECRET) as scene:
        scene.pay_first()
        scene.hold()
        worker = scene.start_worker(**QUICK)
        budget = {"credits": 2 * COST, "per": "day"}
        scene.office.schedules.create("bounded", target="python:send", manual=True, user="bob", budget=budget)
        run = scene.office.schedules.trigger("bounded")
        scene.await_charge(run.id)
        scene.gate.kill()
        worker.kill()
        scene.start_gate()
        scene.query("UPDATE execution_requests SET lease_until = 0")
        again = scene.start_worker(**QUICK)
        scene.await_begun(2)
        scene.let_go()
        assert scene.await_end(run.id).status == "success"
        assert len(scene.office.runs.receipts(run.id)) == 1
        assert scene.query("SELECT credits, deferred FROM costs") == [(COST, 0)]
        assert [scene.fate_of_a_trigger("bounded") for _ in range(2)] == ["success", "over_budget"]
        assert "permission denied" not in again.said.read_text()


@contextmanager
def nobody() -> Iterator[str]:
    """Where nobody answers: a port that is taken, and not listened on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_ends_a_worker_that_has_not_found_its_gate_yet(
    postgresql_server: PostgresqlServer, tmp_path: Path, number: int
) -> None:
    with nobody() as gate:
        arguments = ["worker", "--gate", gate, "--database", postgresql_server.ready_database()]
        worker = Command(tmp_path, arguments, BY_SECRET)
        worker.says("trying again")
        assert worker.end(number) == 0, "it went on asking, and only kill -9 ended it"
        assert worker.said.read_text().endswith("foliot: stopped\n")


@pytest.mark.parametrize(
    "gate", ["ftp://10.0.0.5", "10.0.0.5:8420", "http://", "http://10.0.0.5:99999", "http://10.0.0.5?a=1"]
)
def test_what_is_no_address_of_a_gate_is_refused_at_once(gate: str) -> None:
    with pytest.raises(Invalid, match=r"^--gate takes the URL of a gate, such as http://10.0.0.5:8420"):
        run_gate_worker(gate, "postgresql://nobody.invalid/jobs")


def test_a_worker_that_is_given_no_address_of_a_gate_ends_with_2(tmp_path: Path) -> None:
    arguments = ["worker", "--gate", "ftp://x", "--database", "postgresql://nobody.invalid/jobs"]
    worker = Command(tmp_path, arguments, BY_SECRET)
    assert worker.exit_code() == 2, "it tried again for ever"
    assert "got 'ftp' before its colon" in worker.said.read_text()
