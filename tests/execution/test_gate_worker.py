"""A worker that has no graph code executes runs through the internal API only."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.serving import Server
from tests.databases import PostgresqlServer
from tests.http.service_clients import BY_SECRET, SECRET

WORKER = """
import sys
from foliot.cli.gate_worker import run_gate_worker
run_gate_worker(sys.argv[1], sys.argv[2])
"""


def test_a_worker_without_graph_code_has_its_runs_executed_by_the_gate(
    postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    url = postgresql_server.ready_database()
    app = Foliot(url)
    seen: list[Any] = []

    @app.graph("send")
    def send(input: Any, ctx: Any) -> Any:
        seen.append((input, ctx.run_id))
        ctx.report_usage("call", cost="0.001")
        return {"pid": os.getpid()}

    @app.graph("ask")
    def ask(input: Any, ctx: Any) -> Any:
        if ctx.decision is None:
            ctx.ask("approval")
        return str(ctx.decision.verdict)

    server = Server(app.parts.http(Pace(1e6, 10**6), BY_SECRET), "127.0.0.1", 0)
    server.start()
    app.schedules.create("digest", target="send", manual=True, input={"a": 1})
    app.schedules.create("asking", target="ask", manual=True)
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, server.url, url],
        env={**os.environ, "FOLIOT_INTERNAL_SECRET": SECRET},
        cwd=tmp_path,
    )
    try:
        sent, asked = app.schedules.trigger("digest"), app.schedules.trigger("asking")
        done = until(app, sent.id, "success")
        assert (done.result, seen) == ({"pid": os.getpid()}, [({"a": 1}, sent.id)])
        assert len(app.runs.receipts(sent.id)) == 1
        until(app, asked.id, "waiting")
        app.runs.decide(asked.id, "approve", by="ann")
        assert until(app, asked.id, "success").result == "approve"
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.wait(30)
        server.stop()
        app.close()


def until(app: Foliot, run_id: str, status: str) -> Any:
    over = time.monotonic() + 40
    while (run := app.runs.get(run_id)).status != status:
        assert time.monotonic() < over, run
        time.sleep(0.05)
    return run
