"""One database, the processes that come and go on it, and the one that dies where it was told to."""

import signal
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tests.crash.checker import check
from tests.crash.doom import ONCE, PLACES, moments_of
from tests.crash.evidence import Reader
from tests.crash.ledger import OPEN, SECOND, Ledger, Memory, read_ledger
from tests.crash.nursery import Nursery, Process, wait_for, wait_until_over
from tests.crash.plan import PLANS
from tests.crash.program import Job
from tests.crash.story import Disturbance, Report, Story
from tests.crash.telling import read_telling, wrongly_told
from tests.executors.receiver import Receiver

_LEAST = 10
"""Runs that must succeed in each story. Mostly it is fifty."""
_LEAST_TOLD = 1
_KEEPS = 1.5


class Point(NamedTuple):
    """Where a process dies, on which side, and the how-manieth time that it comes there."""

    boundary: str
    moment: str
    hit: int = 1

    def __str__(self) -> str:
        return f"{self.moment} {self.boundary}, time {self.hit}"


def plan_for(boundary: str) -> str:
    """What is scheduled where a process is to come to that boundary."""
    if boundary in ("prune", "remove"):
        return "quiet"
    return "handled" if boundary in (*PLACES["handled"], *PLACES["telling"], "let go") else "few"


def points_of(about: str, hits: tuple[int, ...] = (1,)) -> list[Point]:
    return [
        Point(boundary, moment, hit) for boundary in PLACES[about] for moment in moments_of(boundary) for hit in hits
    ]


class Crash(NamedTuple):
    """What became of a crash: how the processes ended, and what the checker found in the end."""

    codes: list[int]
    report: Report

    @property
    def problems(self) -> list[str]:
        alive = [f"alive: a process ended with {code}" for code in self.codes if code != -signal.SIGKILL]
        return [*alive, *self.report.problems]


class Scene:
    def __init__(
        self, nursery: Nursery, url: str, evidence: Path, plan: str = "few", kinds: Path | None = None
    ) -> None:
        self.nursery = nursery
        self.job = Job(url, str(evidence), plan=plan, kinds=None if kinds is None else str(kinds))
        self.evidence = evidence
        self.disturbances: list[Disturbance] = []
        self.memory = Memory()
        self._receiver = Receiver()
        if any(planned.asks for planned in PLANS[plan]):
            self.job = replace(self.job, hook=self._receiver.url(""))
        self._reader = Reader(evidence)
        self._processes: list[Process] = []

    def crash(self, point: Point) -> Crash:
        """Die there, be cleaned up after, and come to the end of all schedules."""
        boundary, moment, hit = point
        if boundary == "remove":
            self.job = replace(self.job, keeps=_KEEPS)
        if boundary == "edit":
            self.work_and_stop()
        times = hit if boundary in ONCE else 1
        doomed = replace(self.job, boundary=boundary, moment=moment, hit=1 if boundary in ONCE else hit)
        if boundary == "edit":
            doomed = replace(doomed, end=_later(60))
        if boundary == "leave":
            doomed = replace(doomed, stop_grace=0.1)
        codes = []
        for _ in range(times):
            if boundary == "rescue":
                # There is something to rescue when another has died at work.
                codes.append(self.until_dead(replace(self.job, boundary="run")))
            codes.append(self.until_dead(doomed))
        self.work_and_stop()
        return Crash(codes, self.to_the_end())

    def until_dead(self, job: Job) -> int:
        process = self._start(job)
        if job.boundary == "leave":
            wait_for("a long run is at work", lambda: self._is_at_work(process, "long"))
            process.send(signal.SIGTERM)
        code = process.wait()
        self._disturbed("kill", process)
        return code

    def work_and_stop(self) -> None:
        """A process as it should be: it cleans up, works, and stops."""
        process = self._start(self.job)
        wait_for(f"process {process.pid} does its work", lambda: self._has_taken_over(process))
        assert process.stop() == 0, self.nursery.log()
        self._disturbed("leave", process)

    def to_the_end(self) -> Report:
        end = int(time.time()) + 2
        process = self._start(replace(self.job, end=_said(end)))
        plan = PLANS[self.job.plan]
        wait_until_over(self.job.url, plan, end)
        wait_for("an end of what is to be told", lambda: read_telling(self.job.url).is_over or None)
        assert process.stop() == 0, self.nursery.log()
        evidence = self._reader.evidence()
        story = Story(plan, self._ledger(), evidence, self.disturbances, end * SECOND, self.memory)
        # What is removed for its age is not counted.
        report = check(story, _LEAST if self.job.keeps is None else _LEAST // 2)
        return report._replace(problems=[*report.problems, *self._untold()])

    def _untold(self) -> list[str]:
        telling = read_telling(self.job.url)
        if self.job.hook is not None and len(telling.told) < _LEAST_TOLD:
            return [f"untold: {telling} is too little to prove anything"]
        return list(wrongly_told(telling, self._receiver.seen))

    def end(self) -> None:
        """Whatever went wrong, nobody is left behind."""
        for process in self._processes:
            process.kill()
        self._receiver.close()

    def _start(self, job: Job) -> Process:
        self._processes.append(self.nursery.start(job))
        return self._processes[-1]

    def _ledger(self) -> Ledger:
        return read_ledger(self.job.url)

    def _disturbed(self, what: str, process: Process) -> None:
        self.disturbances.append(Disturbance(what, process.pid, time.time()))
        self.memory.see_all(self._ledger())

    def _is_at_work(self, process: Process, schedule: str) -> bool | None:
        executions = self._reader.evidence().executions
        found = [run for run in executions if run.pid == process.pid and run.key.schedule == schedule]
        return any(run.ended is None for run in found) or None

    def _has_taken_over(self, process: Process) -> bool | None:
        """Whether it has done some runs, and nothing is left in the hands of others."""
        done = [run for run in self._reader.evidence().executions if run.pid == process.pid and run.ended]
        if len(done) < 5:
            return None
        held = [row for row in self._ledger().rows if row.status in OPEN and row.pid not in (None, process.pid)]
        return not held or None


def _said(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _later(seconds: int) -> str:
    return _said(int(time.time()) + seconds)
