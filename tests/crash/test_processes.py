"""The command line's processes, as people run them: killed, stopped, refused, and left without their database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from foliot import Foliot
from tests.crash import servers
from tests.crash.checker import check
from tests.crash.evidence import Execution, read_evidence
from tests.crash.ledger import SECOND, read_ledger
from tests.crash.nursery import PATIENCE, Nursery, Process, wait_for, wait_until_over
from tests.crash.plan import Planned
from tests.crash.program import Job
from tests.crash.story import Disturbance, Report, Story
from tests.databases import PostgresqlServer, a_postgresql_server

PROGRAM = """\
import asyncio, json, os, time
from foliot import Foliot
from foliot.engine.settings import EngineSettings

app = Foliot(settings=EngineSettings(lease=LEASE, heartbeat=500_000))
evidence = os.open("evidence", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(what, ctx, **facts):
    key = ctx.schedule, "slot", round(ctx.scheduled_for.timestamp() * 1e6), ctx.attempt
    facts |= {"what": what, "pid": os.getpid(), "at": time.time(), "execution": f"{os.getpid()} {ctx.run_id}"}
    os.write(evidence, (json.dumps(facts | {"keys": [key]}) + "\\n").encode())
async def work(input, ctx):
    note("start", ctx, tokens=[ctx._launch.token])
    await asyncio.sleep(input)
    note("end", ctx, outcome="done")
for number in range(8):
    options = {"overlap": "buffer_all", "input": LENGTH, "end_at": os.environ.get("END")}
    app.schedule(f"tick-{number}", every=1, jitter=0.9, **options)(work)
"""
PLAN = tuple(Planned(f"tick-{number}", 1, "buffer_all", jitter=0.9) for number in range(8))

Command = subprocess.Popen[bytes]


class Program:
    """The program in a folder of its own, on a database, and the commands that were given about it."""

    def __init__(self, folder: Path, url: str, length: float, lease: int) -> None:
        self.folder = folder
        self.url = url
        self.disturbances: list[Disturbance] = []
        self._commands: list[Command] = []
        (folder / "prog.py").write_text(PROGRAM.replace("LENGTH", str(length)).replace("LEASE", str(lease * SECOND)))

    def start(self, command: str, **environment: str) -> Command:
        with (self.folder / f"log-{len(self._commands)}").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", "from foliot.cli.main import main; main()", *command.split(), "prog:app"],
                cwd=self.folder,
                env={**os.environ, "FOLIOT_DATABASE": self.url, **environment},
                stdout=log,
                stderr=log,
            )
        self._commands.append(process)
        return process

    def said_by(self, process: Command) -> str:
        """What it has printed so far."""
        return (self.folder / f"log-{self._commands.index(process)}").read_text()

    def end_all(self) -> None:
        for process in self._commands:
            with process:
                process.kill()
            print(f"process {process.pid} said: {self.said_by(process)}")

    def kill(self, process: Command) -> None:
        process.kill()
        process.wait(PATIENCE)
        self.disturbances.append(Disturbance("kill", process.pid, time.time()))

    def executions(self, process: Command, since: float = 0.0) -> list[Execution]:
        executions = read_evidence(self.folder / "evidence").executions
        return [run for run in executions if run.pid == process.pid and run.started > since]

    def wait_until_at_work(self, *processes: Command, since: float = 0.0) -> None:
        for process in processes:
            what = f"process {process.pid} executes something"
            wait_for(what, partial(self._is_at_work, process, since))

    def _is_at_work(self, process: Command, since: float) -> bool | None:
        assert process.poll() is None, self.said_by(process)
        return bool(self.executions(process, since)) or None

    def end_schedules(self, seconds: int = 2) -> int:
        """Tell the running workers, through the database, that the schedules end soon: when."""
        end = int(time.time()) + seconds
        app = Foliot(self.url)
        for planned in PLAN:
            app.schedules.patch(planned.name, every=planned.every, jitter=planned.jitter, end_at=said(end))
        app.close()
        return end

    def check_at_the_end(self, end: int) -> Report:
        """What the checker finds when everything has come to its end."""
        wait_until_over(self.url, PLAN, end)
        evidence = read_evidence(self.folder / "evidence")
        report = check(Story(PLAN, read_ledger(self.url), evidence, self.disturbances, end * SECOND), least=20)
        print(report)
        assert report.figures["succeeded"] == report.figures["slots"]
        return report


def said(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


MakeProgram = Callable[..., Program]


@pytest.fixture
def a_program(tmp_path: Path) -> Iterator[MakeProgram]:
    made: list[Program] = []

    def make(url: str | None = None, length: float = 0.2, lease: int = 2) -> Program:
        made.append(Program(tmp_path, url or f"sqlite:///{tmp_path / 'foliot.db'}", length, lease))
        return made[-1]

    yield make
    for program in made:
        program.end_all()


def test_a_served_program_that_is_killed_and_started_again_loses_no_slot(a_program: MakeProgram) -> None:
    program = a_program()
    first = program.start("serve --no-api")
    program.wait_until_at_work(first)
    program.kill(first)
    end = int(time.time()) + 5
    second = program.start("serve --no-api", END=said(end))
    report = program.check_at_the_end(end)
    assert report.problems == []
    assert program.executions(second)


def test_a_second_process_on_a_sqlite_file_is_refused_and_told_who_holds_it(a_program: MakeProgram) -> None:
    program = a_program()
    first = program.start("serve --no-api")
    program.wait_until_at_work(first)
    second = program.start("serve --no-api")
    assert second.wait(PATIENCE) == 4
    assert f"is in use by process {first.pid} on " in program.said_by(second)
    assert first.poll() is None


def test_a_signal_lets_the_running_runs_finish(a_program: MakeProgram) -> None:
    program = a_program(length=1.5)
    process = program.start("serve --no-api")
    program.wait_until_at_work(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    ended = {run.key for run in program.executions(process) if run.ended is not None}
    assert ended == {run.key for run in program.executions(process)}
    assert ended == {row.key for row in read_ledger(program.url).rows if row.status == "success"}


def test_a_second_signal_stops_at_once_and_what_was_cut_off_is_run_again(a_program: MakeProgram) -> None:
    program = a_program(length=25)
    process = program.start("serve --no-api")
    program.wait_until_at_work(process)
    process.send_signal(signal.SIGTERM)
    wait_for("it has heard the first", lambda: "a second signal stops at once" in program.said_by(process) or None)
    process.send_signal(signal.SIGTERM)
    process.wait(5)
    (key,) = {run.key for run in program.executions(process)[:1]}
    assert {row.key: row.status for row in read_ledger(program.url).rows}[key] == "running"
    second = program.start("serve --no-api")
    wait_for("it is run again", lambda: [run for run in program.executions(second) if run.key == key] or None)


def test_workers_share_the_work_and_any_of_them_may_be_killed(
    a_program: MakeProgram, postgresql_server: PostgresqlServer
) -> None:
    program = a_program(postgresql_server.new_database())
    workers = [program.start("worker") for _ in range(3)]
    program.wait_until_at_work(*workers)
    while len(workers) > 1:
        program.kill(workers.pop(0))
        program.wait_until_at_work(*workers, since=time.time())
    report = program.check_at_the_end(program.end_schedules())
    assert report.problems == []
    assert workers[0].poll() is None


def test_workers_that_start_at_the_same_moment_agree_on_what_they_declare(
    nursery: Nursery, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    """One of them found a schedule that another had just created, and gave up with a conflict."""
    job = Job(postgresql_server.new_database(), str(tmp_path / "evidence"))
    workers = [nursery.start(job) for _ in range(6)]
    wait_for(
        "all have declared, or have ended", lambda: len(_declared(tmp_path) | _ended(workers)) == len(workers) or None
    )
    assert _ended(workers) == set(), nursery.log()
    assert [worker.kill() for worker in workers] == [-signal.SIGKILL] * len(workers)


def _declared(folder: Path) -> set[int]:
    return {note.pid for note in read_evidence(folder / "evidence").notes if note.what == "declared"}


def _ended(workers: list[Process]) -> set[int]:
    return {worker.pid for worker in workers if worker.code() is not None}


@pytest.mark.slow
def test_workers_survive_restarts_of_their_database_and_nothing_is_lost(a_program: MakeProgram) -> None:
    with a_postgresql_server() as server:
        program = a_program(server.new_database(), lease=30)
        workers = [program.start("worker") for _ in range(2)]
        program.wait_until_at_work(*workers)
        for mode in ("fast", "immediate"):
            servers.stop(server, mode)
            time.sleep(1.5)
            servers.start(server)
            program.wait_until_at_work(*workers, since=time.time())
        report = program.check_at_the_end(program.end_schedules())
        assert report.problems == []
        assert [worker.poll() for worker in workers] == [None, None]
        assert report.figures["redelivered"] == 0
        program.end_all()
