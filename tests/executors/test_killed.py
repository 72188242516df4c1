"""A process that is killed between what an endpoint did and what the ledger knows of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foliot import Denied, Foliot
from tests.crash.nursery import PATIENCE, wait_for
from tests.diet import on_sqlite_every_day
from tests.executors.receiver import Receiver, Reply, a_receiver

PROGRAM = """\
import json, sys
from foliot import EngineSettings, Foliot

app = Foliot(sys.argv[1], settings=EngineSettings(lease=3_000_000, heartbeat=500_000, look=500_000))
app.endpoint("billing", sys.argv[2], secret="the secret of billing", timeout="60s", **json.loads(sys.argv[4]))
app.schedules.upsert("bills", target="http:billing", manual=True)
if sys.argv[3] == "trigger":
    app.schedules.trigger("bills")
app.run()
"""


@contextmanager
def a_process(database: str, receiver: Receiver, what: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", PROGRAM, database, receiver.url(), what, json.dumps(options)]
    environment = {**os.environ, "FOLIOT_HTTP_ALLOW": "127.0.0.0/8"}
    with subprocess.Popen(command, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_was_done_but_not_recorded_is_asked_for_again_with_the_same_key(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'ledger.db'}"
    usage = {"usage": [{"unit": "bill", "cost": "0.001"}]}
    with a_receiver(Reply(200, json.dumps({"bills": 3, "foliot_usage": usage}))) as receiver:
        receiver.hold()
        with a_process(database, receiver, "trigger"):
            assert receiver.wait_for_calls()
        receiver.go_on()
        with a_process(database, receiver, "go on") as process:
            assert receiver.wait_for_calls(2)
            process.terminate()
            assert process.wait(PATIENCE) == 0
        first, second = receiver.seen
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.headers["foliot-run-id"] == second.headers["foliot-run-id"]
    assert first.body == second.body
    app = Foliot(database)
    (run,) = app.runs.list()
    receipts = [(receipt.unit, receipt.credits) for receipt in app.runs.receipts(run.id)]
    postings = [posting.amount for posting in app.accounts.ledger()]
    app.close()
    assert (run.status, run.result, run.attempt, run.losses) == ("success", {"bills": 3}, 1, 1)
    assert (receipts, postings) == ([("bill", 20_000)], [-20_000])
    assert run.idempotency_key == first.headers["idempotency-key"]


@on_sqlite_every_day
def test_a_report_settles_what_nobody_knew_of_a_run_that_was_cut_off_at_its_call(database_url: str) -> None:
    options: dict[str, Any] = {"callback": True, "on_unknown": "hold"}
    app = Foliot(database_url)
    with a_receiver(Reply(202)) as receiver:
        receiver.hold()
        with a_process(database_url, receiver, "trigger", **options):
            assert receiver.wait_for_calls()
        with a_process(database_url, receiver, "go on", **options) as process:
            wait_for("the run to wait", lambda: app.runs.list(status="waiting") or None, every=0.05)
            process.terminate()
            assert process.wait(PATIENCE) == 0
        (seen,) = receiver.seen
    run_id, token = seen.json["run_id"], seen.json["callback"]["token"]
    # Here nobody knows the endpoint, nor its secret.
    with pytest.raises(Denied, match="that is not the token of"):
        app.runs.complete(run_id, token[::-1], result={"bills": 3})
    run = app.runs.complete(run_id, token, result={"bills": 3})
    assert (run.status, run.result) == ("success", {"bills": 3})
    assert app.runs.complete(run_id, token, result={"bills": 3}) == run
    (question,) = app.runs.questions(run_id)
    assert (question.kind, question.decided_by) == ("unknown_outcome", "callback")
    app.close()
