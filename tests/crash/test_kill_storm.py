"""Storms: processes killed, stopped and cut off at random for twenty seconds, and then nothing is lost or doubled."""

import signal
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.crash.checker import SECOND, Disturbance, Ledger, Report, Story, check, read_ledger
from tests.crash.evidence import read_evidence
from tests.crash.nursery import UNAVAILABLE, Nursery, Process, wait_until_over
from tests.crash.plan import MANY
from tests.crash.program import LEASE, Job
from tests.databases import PostgresqlServer

_SECONDS = 20.0
_WORKERS = 3

pytestmark = pytest.mark.xdist_group("storm")


class _Storm:
    """Workers, and what is done to them: the choices are drawn from a seed, the moments are the machine's."""

    def __init__(self, nursery: Nursery, url: str, evidence: Path, workers: int, seed: int) -> None:
        self.nursery = nursery
        self.job = Job(url, str(evidence), plan="many")
        self.evidence = evidence
        self.random = Random(seed)
        self.workers = [nursery.start(self.job) for _ in range(workers)]
        self.disturbances: list[Disturbance] = []
        self.snapshots: list[Ledger] = []
        self.cut_connections = 0
        self.ended_by_themselves = 0
        self._stopped: tuple[Process, float] | None = None
        self._over = time.monotonic() + _SECONDS

    def blows(self) -> bool:
        """Whether it still blows; also wakes who has been stopped for longer than the lease."""
        if self._stopped is not None and time.monotonic() > self._stopped[1]:
            self._wake()
        return time.monotonic() < self._over

    def pause(self, shortest: float, longest: float) -> None:
        time.sleep(self.random.uniform(shortest, longest))

    def kill_one(self) -> None:
        """And start another in its place."""
        place = self.random.choice([place for place, worker in enumerate(self.workers) if not self._is_stopped(worker)])
        worker = self.workers[place]
        self._replace_if_over(place)
        if worker is self.workers[place]:
            worker.kill()
            self._disturbed("kill", worker)
            self.workers[place] = self.nursery.start(self.job)
        self.snapshots.append(read_ledger(self.job.url))

    def stop_one(self) -> None:
        """One that is at work freezes until its lease is over, and does not know it."""
        if self._stopped is not None:
            return
        at_work = {run.pid for run in read_evidence(self.evidence).executions if run.ended is None}
        victims = [worker for worker in self.workers if worker.pid in at_work]
        if victims:
            victim = self.random.choice(victims)
            victim.send(signal.SIGSTOP)
            self._disturbed("stop", victim)
            self._stopped = (victim, time.monotonic() + LEASE + self.random.uniform(0.5, 1.5))

    def cut_connection(self) -> None:
        """The server ends a connection, whatever it is doing."""
        with psycopg.connect(self.job.url, autocommit=True) as cx:
            found = cx.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            backends = [row[0] for row in found]
            if backends:
                cx.execute("SELECT pg_terminate_backend(%s)", (self.random.choice(backends),))
                self.cut_connections += 1
        for place in range(len(self.workers)):
            self._replace_if_over(place)

    def settle_down(self) -> Report:
        """The last blow hits all; then one unharmed worker brings everything to its end."""
        if self._stopped is not None:
            self._wake()
        for worker in self.workers:
            worker.kill()
            self._disturbed("kill", worker)
        self.snapshots.append(read_ledger(self.job.url))
        end = int(time.time()) + 2
        last = self.nursery.start(replace(self.job, end=datetime.fromtimestamp(end, UTC).isoformat()))
        wait_until_over(self.job.url, MANY, end)
        assert last.stop() == 0
        evidence, ledger = read_evidence(self.evidence), read_ledger(self.job.url)
        return check(Story(MANY, ledger, evidence, self.disturbances, end * SECOND, self.snapshots), least=200)

    def _wake(self) -> None:
        assert self._stopped is not None
        self._stopped[0].send(signal.SIGCONT)
        self._stopped = None

    def _is_stopped(self, worker: Process) -> bool:
        return self._stopped is not None and self._stopped[0] is worker

    def _replace_if_over(self, place: int) -> None:
        """A worker whose connection is cut before it has begun gives up, and says so; one at work does not."""
        worker = self.workers[place]
        code = worker.code()
        if code is not None:
            assert code == UNAVAILABLE, self.nursery.log()
            assert worker.pid not in {run.pid for run in read_evidence(self.evidence).executions}
            self._disturbed("end", worker)
            self.ended_by_themselves += 1
            self.workers[place] = self.nursery.start(self.job)

    def _disturbed(self, what: str, worker: Process) -> None:
        self.disturbances.append(Disturbance(what, worker.pid, time.time()))


def test_a_sqlite_process_killed_again_and_again_loses_nothing_and_doubles_nothing(
    nursery: Nursery, tmp_path: Path
) -> None:
    storm = _Storm(nursery, f"sqlite:///{tmp_path / 'storm.db'}", tmp_path / "evidence", workers=1, seed=1)
    while storm.blows():
        storm.pause(0.4, 1.6)
        storm.kill_one()
    report = storm.settle_down()
    print(report)
    assert storm.ended_by_themselves == 0
    assert report.problems == []
    assert report.figures["kills"] >= 10
    assert report.figures["redelivered"] > 0


def test_postgresql_workers_killed_frozen_and_cut_off_lose_nothing_and_double_nothing(
    nursery: Nursery, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    storm = _Storm(nursery, postgresql_server.new_database(), tmp_path / "evidence", workers=_WORKERS, seed=2)
    while storm.blows():
        storm.pause(0.2, 0.8)
        storm.random.choice([storm.kill_one, storm.kill_one, storm.stop_one, storm.cut_connection])()
    report = storm.settle_down()
    print(f"connections cut {storm.cut_connections}, ended by themselves {storm.ended_by_themselves}, {report}")
    assert report.problems == []
    assert report.figures["kills"] >= 10
    assert report.figures["stops"] >= 2
    assert report.figures["fenced after a freeze"] > 0
    assert report.figures["redelivered"] > 0
    assert storm.cut_connections > 0
