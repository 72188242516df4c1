"""A process that is killed between what an endpoint did and what the ledger knows of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from foliot import Foliot
from tests.crash.nursery import PATIENCE
from tests.executors.receiver import Receiver, Reply, a_receiver

PROGRAM = """\
import sys
from foliot import Foliot

app = Foliot(sys.argv[1])
app.endpoint("billing", sys.argv[2], secret="the secret of billing", timeout="60s")
app.schedules.upsert("bills", target="http:billing", manual=True)
if sys.argv[3] == "trigger":
    app.schedules.trigger("bills")
app.run()
"""

pytestmark = pytest.mark.xdist_group("processes")


@contextmanager
def a_process(database: str, receiver: Receiver, what: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", PROGRAM, database, receiver.url(), what]
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
