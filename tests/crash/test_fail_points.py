"""A process that dies in the midst of a transaction, or right after its commit, loses nothing and doubles nothing."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crash.checker import OPEN, SECOND, Disturbance, Ledger, Report, Story, check, read_ledger
from tests.crash.evidence import read_evidence
from tests.crash.nursery import Nursery, Process, wait_for, wait_until_over
from tests.crash.plan import FEW
from tests.crash.program import Job

BEFORE, AMID, AFTER = "before", "amid", "after"
PLACES = {
    "beginning": ("migrate", "declare", "register", "learn targets", "prune"),
    "working": ("launch", "dispatch", "run", "settle", "heartbeat", "take up"),
    "other things": ("trigger", "rescue", "edit", "leave"),
}
"""The boundaries, by what the process is about."""
MOMENTS = {"run": (AMID,)}
_LEAST = 10
"""Runs that must succeed in each story. Mostly it is fifty."""


class Crash(NamedTuple):
    """What became of a crash: how the process ended, and what the checker found in the end."""

    code: int
    report: Report


class _Scene:
    """One database, and the processes that come and go on it."""

    def __init__(self, nursery: Nursery, url: str, evidence: Path) -> None:
        self.nursery = nursery
        self.job = Job(url, str(evidence))
        self.evidence = evidence
        self.disturbances: list[Disturbance] = []
        self.snapshots: list[Ledger] = []

    def crash(self, boundary: str, moment: str) -> Crash:
        doomed = replace(self.job, boundary=boundary, moment=moment)
        if boundary == "rescue":
            # There is something to rescue when another has died at work.
            self._until_dead(replace(self.job, boundary="run"))
        if boundary == "edit":
            self._work_and_stop()
            doomed = replace(doomed, end=_later(60))
        code = self._until_dead(replace(doomed, stop_grace=0.1) if boundary == "leave" else doomed)
        self._work_and_stop()
        return Crash(code, self._to_the_end())

    def _until_dead(self, job: Job) -> int:
        process = self.nursery.start(job)
        if job.boundary == "leave":
            wait_for("a long run is at work", lambda: self._is_at_work("long"))
            process.send(signal.SIGTERM)
        code = process.wait()
        self._disturbed("kill", process)
        return code

    def _work_and_stop(self) -> None:
        """A process as it should be: it cleans up, works, and stops."""
        process = self.nursery.start(self.job)
        wait_for(f"process {process.pid} does its work", lambda: self._has_taken_over(process))
        assert process.stop() == 0
        self._disturbed("leave", process)

    def _to_the_end(self) -> Report:
        end = int(time.time()) + 2
        process = self.nursery.start(replace(self.job, end=_said(end)))
        wait_until_over(self.job.url, FEW, end)
        assert process.stop() == 0
        evidence = read_evidence(self.evidence)
        story = Story(FEW, self._ledger(), evidence, self.disturbances, end * SECOND, self.snapshots)
        return check(story, _LEAST)

    def _ledger(self) -> Ledger:
        return read_ledger(self.job.url)

    def _disturbed(self, what: str, process: Process) -> None:
        self.disturbances.append(Disturbance(what, process.pid, time.time()))
        self.snapshots.append(self._ledger())

    def _is_at_work(self, schedule: str) -> bool | None:
        executions = read_evidence(self.evidence).executions
        return any(run.key.schedule == schedule and run.ended is None for run in executions) or None

    def _has_taken_over(self, process: Process) -> bool | None:
        """Whether it has done some runs, and nothing is left in the hands of others."""
        done = [run for run in read_evidence(self.evidence).executions if run.pid == process.pid and run.ended]
        if len(done) < 5:
            return None
        held = [row for row in self._ledger().rows if row.status in OPEN and row.pid not in (None, process.pid)]
        return not held or None


def _said(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _later(seconds: int) -> str:
    return _said(int(time.time()) + seconds)


@pytest.mark.parametrize("about", PLACES)
def test_a_crash_at_any_boundary_loses_nothing_and_doubles_nothing(
    about: str, new_database_url: Callable[[], str], nursery: Nursery, tmp_path: Path
) -> None:
    points = [(boundary, moment) for boundary in PLACES[about] for moment in MOMENTS.get(boundary, (BEFORE, AFTER))]

    def crash(boundary: str, moment: str) -> Crash:
        return _Scene(nursery, new_database_url(), tmp_path / f"{boundary} {moment}").crash(boundary, moment)

    # Each on a database of its own: they mostly wait, so they do it beside each other.
    with ThreadPoolExecutor(len(points)) as pool:
        crashes = dict(zip(points, pool.map(lambda point: crash(*point), points), strict=True))
    for point, (_, report) in crashes.items():
        print(*point, report)
    assert {point: crash.code for point, crash in crashes.items()} == dict.fromkeys(points, -signal.SIGKILL)
    assert {point: crash.report.problems for point, crash in crashes.items()} == {point: [] for point in points}
