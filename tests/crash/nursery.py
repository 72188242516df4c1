"""A nursery of processes: it has imported everything, so that a child is at work, and can be killed, at once.

A child is forked from a process without threads and without connections: to the system it is a process like another.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from foliot import Unavailable
from tests.crash.ledger import OPEN, is_over, read_ledger
from tests.crash.plan import Planned
from tests.crash.program import Job, main

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds after which something that was waited for will not come; a busy machine is slow."""
UNAVAILABLE = 5
"""What a process ends with that could not reach its database when it began, as the command line's do."""
_LOOK_EVERY = 0.15
_DEAD_WITHIN = 0.005


def wait_for(what: str, ask: Callable[[], T | None], patience: float = PATIENCE, every: float = _LOOK_EVERY) -> T:
    """What `ask` answers, once it does; a failure of the test when it never does."""
    over = time.monotonic() + patience
    while (answer := ask()) is None:
        if time.monotonic() > over:
            raise AssertionError(f"waited {patience:.0f} s in vain: {what}")
        time.sleep(every)
    return answer


def wait_until_over(url: str, plan: Sequence[Planned], end: int) -> None:
    """Until the schedules have come to their end and nothing is open; else a failure that says what is."""
    try:
        wait_for("an end without anything open", lambda: is_over(url, plan, end) or None)
    except AssertionError as error:
        ledger = read_ledger(url)
        left = [*(row for row in ledger.rows if row.status in OPEN), *ledger.fillings, *ledger.cursors.values()]
        raise AssertionError("\n".join([str(error), *map(str, left)])) from None


class Process:
    """A child of the nursery."""

    def __init__(self, nursery: "Nursery", pid: int) -> None:
        self.pid = pid
        self._nursery = nursery
        self._code: int | None = None

    def code(self) -> int | None:
        """Its exit code, negative when a signal ended it; None while it lives."""
        if self._code is None:
            self._code = self._nursery.ask(poll=self.pid)["code"]
        return self._code

    def send(self, number: signal.Signals) -> None:
        """A signal, to this process and to no later one that has its number."""
        if self.code() is None:
            os.kill(self.pid, number)

    def wait(self, patience: float = PATIENCE) -> int:
        return wait_for(f"the end of process {self.pid}", self.code, patience)

    def kill(self) -> int:
        self.send(signal.SIGKILL)
        return wait_for(f"the death of process {self.pid}", self.code, every=_DEAD_WITHIN)

    def stop(self) -> int:
        """Gracefully."""
        self.send(signal.SIGTERM)
        return self.wait()


class Nursery:
    """From the side of the tests. Whatever it has started is over when it is closed."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._asking = threading.Lock()
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def start(self, job: Job) -> Process:
        return Process(self, self.ask(start=job.as_json(), log=str(self._log))["pid"])

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with self._asking:
            print(json.dumps(request), file=self._server.stdin, flush=True)
            answer: dict[str, Any] = json.loads(self._server.stdout.readline())
            return answer

    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def close(self) -> None:
        with self._server:
            assert self._server.stdin is not None
            self._server.stdin.close()
            self._server.wait(PATIENCE)


def _serve() -> None:
    """Answer requests until there are no more, then end every child that is left."""
    codes: dict[int, int | None] = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "start" in request:
            pid = os.fork()
            if pid == 0:
                _live(Job(**request["start"]), request["log"])
            codes[pid] = None
            answer["pid"] = pid
        else:
            answer["code"] = _poll(request["poll"], codes)
        print(json.dumps(answer), flush=True)
    for pid in codes:
        if _poll(pid, codes) is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _poll(pid: int, codes: dict[int, int | None]) -> int | None:
    if codes[pid] is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        codes[pid] = os.waitstatus_to_exitcode(status) if ended else None
    return codes[pid]


def _live(job: Job, log: str) -> None:
    """What a child does, from its first breath to its last."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        log_file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.dup2(nothing, 0)
        os.dup2(log_file, 1)
        os.dup2(log_file, 2)
        main(job)
        code = 0
    except Unavailable:
        code = UNAVAILABLE
    except BaseException:  # Whatever it was, it ends here and not in the nursery's own loop.
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    # What a process imports on its first start, brought in beforehand.
    for name in ("alembic.command", "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite.pysqlite"):
        import_module(name)
    _serve()
