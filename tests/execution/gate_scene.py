"""A gate and workers that have no graph code, each a process of the real command, on one PostgreSQL database."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from foliot import Foliot
from foliot.domain.runs import FINAL
from tests.crash.nursery import wait_for
from tests.databases import PostgresqlServer

FOLIOT = Path(sys.executable).parent / "foliot"
EXECUTION_TABLES = ("execution_requests", "receipts", "postings", "accounts", "workflows", "node_states")
"""What is on the side of execution: requests, receipts and credits, and what workflows leave behind."""
PROGRAM = """
import json, os, time
from pathlib import Path

from foliot import Foliot

app = Foliot()
folder = Path(os.environ["SCENE"])


@app.graph("send")
def send(input, ctx):
    with (folder / "begun").open("a") as begun:
        begun.write(json.dumps({"run": ctx.run_id, "key": ctx.idempotency_key, "pid": os.getpid()}) + chr(10))
    if (folder / "pays-first").exists():
        ctx.report_usage("call", cost="0.001")
    while (folder / "hold").exists():
        ctx.heartbeat({"step": 1})
        time.sleep(0.02)
    ctx.report_usage("call", cost="0.001")
    return input


app.schedule("declared", manual=True)("python:send")
"""
_numbers = count(1)


class Command:
    """A process of `foliot`."""

    def __init__(self, folder: Path, arguments: list[str], environment: dict[str, str]) -> None:
        self.said = folder / f"said-{next(_numbers)}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FOLIOT_", "PYTHONPATH"))}
        with self.said.open("w") as said:
            self._process = subprocess.Popen(
                [FOLIOT, *arguments],
                env={**clean, "XDG_CONFIG_HOME": str(folder / "config"), **environment},
                cwd=folder,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def says(self, words: str) -> str:
        """The line that has these words, once it is there."""

        def look() -> str | None:
            assert self._process.poll() is None, self.said.read_text()
            return next((line for line in self.said.read_text().splitlines() if words in line), None)

        return wait_for(f"{words!r} of {self.said}", look, every=0.05)

    def last_words(self) -> str:
        """What it has said, once it has ended by itself, and not well."""
        assert self.exit_code() != 0
        return self.said.read_text()

    def exit_code(self) -> int:
        """Once it has ended by itself."""
        return self._process.wait(60)

    def end(self, number: int) -> int:
        """Its exit code, after that one signal."""
        self._process.send_signal(number)
        return self._process.wait(20)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(60)


class GateScene:
    """Runs are triggered by an office, which executes nothing; the gate is the only process that can."""

    def __init__(self, server: PostgresqlServer, folder: Path, gate_environment: dict[str, str]) -> None:
        self.folder = folder
        self.url = server.ready_database()
        self.worker_url = self._url_of_workers()
        self.office = Foliot(self.url)
        for name in ("gate", "worker"):
            (folder / name).mkdir()
        (folder / "gate" / "program.py").write_text(PROGRAM)
        self._gate_environment = {**gate_environment, "FOLIOT_DATABASE": self.url, "SCENE": str(folder)}
        self._port = "0"
        self._commands: list[Command] = []
        self.gate_url = ""
        self.gate = self.start_gate()
        self.office.schedules.create("digest", target="python:send", manual=True, user="ann")

    def _url_of_workers(self) -> str:
        """Of a user that may not even look at what is on the side of execution."""
        name = f"worker_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as cx:
            cx.execute(f"CREATE ROLE {name} LOGIN")
            cx.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}")
            cx.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {name}")
            cx.execute(f"REVOKE ALL ON {', '.join(EXECUTION_TABLES)} FROM {name}")
        return self.url.replace("postgres:@", f"{name}:@", 1)

    def start_gate(self) -> Command:
        arguments = ["serve", "program.py", "--no-worker", "--port", self._port]
        gate = self._started(Command(self.folder / "gate", arguments, self._gate_environment))
        self.gate_url = next(word for word in gate.says("http://").split() if word.startswith("http://")).rstrip("/.,")
        self._port = self.gate_url.rpartition(":")[2]
        return gate

    def start_worker(self, **environment: str) -> Command:
        arguments = ["worker", "--gate", self.gate_url, "--database", self.worker_url]
        worker = self._started(Command(self.folder / "worker", arguments, environment))
        worker.says("works for the gate")
        return worker

    def refused_worker(self, **environment: str) -> str:
        """What one says that ends by itself."""
        arguments = ["worker", "--gate", self.gate_url, "--database", self.worker_url]
        return Command(self.folder / "worker", arguments, environment).last_words()

    def _started(self, command: Command) -> Command:
        self._commands.append(command)
        return command

    def hold(self) -> None:
        """What begins does not end before `let_go`."""
        (self.folder / "hold").touch()

    def pay_first(self) -> None:
        """What begins reports what it uses before it is held."""
        (self.folder / "pays-first").touch()

    def let_go(self) -> None:
        (self.folder / "hold").unlink()

    def begun(self) -> list[dict[str, Any]]:
        """How often the graph's code was begun, and by whom."""
        path = self.folder / "begun"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def await_begun(self, times: int) -> None:
        wait_for(f"the graph to begin {times} times", lambda: len(self.begun()) >= times or None, every=0.05)

    def await_takeover(self, run_id: str) -> None:
        """Until another worker has the run of one that died."""

        def look() -> bool | None:
            found = self.office.runs.get(run_id)
            return (found.losses == 1 and found.status == "running") or None

        wait_for(f"{run_id} to be taken over", look, every=0.05)

    def await_status(self, run_id: str, status: str) -> Any:
        def look() -> Any:
            run = self.office.runs.get(run_id)
            return run if run.status == status else None

        return wait_for(f"{run_id} to be {status}", look, patience=120, every=0.05)

    def await_end(self, run_id: str) -> Any:
        def look() -> Any:
            run = self.office.runs.get(run_id)
            return run if run.status in FINAL else None

        return wait_for(f"{run_id} to end", look, patience=120, every=0.05)

    def await_charge(self, run_id: str) -> None:
        wait_for(f"{run_id} to be charged", lambda: self.office.runs.receipts(run_id) or None, every=0.05)

    def await_fates(self, schedule: str, last: list[str]) -> list[str]:
        """What became of the schedule's slots that found it free, the oldest first, once the last of them are so."""

        def look() -> list[str] | None:
            runs = reversed(self.office.runs.list(schedule))
            fates = [str(run.reason or run.status) for run in runs if run.status in FINAL and run.reason != "overlap"]
            return fates if fates[-len(last) :] == last else None

        return wait_for(f"{schedule} to end with {last}", look, every=0.05)

    def fate_of_a_trigger(self, schedule: str) -> str:
        run = self.await_end(self.office.schedules.trigger(schedule).id)
        return str(run.reason or run.status)

    def ask_gate(self, target: str, grant: str, name: str, secret: str) -> httpx2.Response:
        """As a service does that has something executed which no schedule knows."""
        return httpx2.post(
            f"{self.gate_url}/api/internal/graphs/{target}/runs",
            json={"executionGrantId": grant, "runId": name},
            headers={"Authorization": f"Bearer {secret}", "Idempotency-Key": name, "Foliot-Service": "other"},
            timeout=60,
        )

    def query(self, text: str) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as cx:
            cursor = cx.execute(text)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        (self.folder / "hold").unlink(missing_ok=True)
        for command in reversed(self._commands):
            command.stop()
        self.office.close()


@contextmanager
def a_gate_scene(server: PostgresqlServer, folder: Path, **gate_environment: str) -> Iterator[GateScene]:
    scene = GateScene(server, folder, gate_environment)
    try:
        yield scene
    finally:
        scene.close()
