"""Storms: processes killed, frozen and cut off at random, servers restarted; and nothing is lost: `make storm`."""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import psycopg

from tests.crash import removal, servers
from tests.crash.checker import check
from tests.crash.evidence import Reader
from tests.crash.ledger import SECOND, Memory, read_ended_since, read_ledger
from tests.crash.nursery import UNAVAILABLE, Nursery, Process, wait_for, wait_until_over
from tests.crash.plan import LEASE, PLANS
from tests.crash.program import Job
from tests.crash.story import Disturbance, Report, Story
from tests.databases import KINDS, PostgresqlServer, a_postgresql_server
from tests.proof.findings import Finding, keep

KILLS, SEED = 1000, 1
WORKERS = {"sqlite": 1, "postgresql": 3}
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_DECLARE = 0.1
"""The share of processes that bring the schedules; the others only work."""
_PACE = {"sqlite": (0.2, 0.45), "postgresql": (0.08, 0.28)}
"""Seconds from one blow to the next: what is killed has had time to work."""
_ROUND, _CALM = 20.0, 12.0
"""Seconds: a long storm holds its breath now and then, so that it is seen how things go without it."""
_JUDGED = 0.2
"""The least share of windows to be judged: mostly it is a quarter, for there is the calm."""
_LINE_EVERY = 10.0
_STALLED = 0.5


class Storm:
    """Workers, and what is done to them: the choices are drawn from a seed, the moments are the machine's."""

    def __init__(self, nursery: Nursery, url: str, evidence: Path, *, plan: str, workers: int, seed: int) -> None:
        self.nursery = nursery
        self.job = Job(url, str(evidence), plan=plan)
        self.random = Random(seed)
        self.reader = Reader(evidence)
        self.disturbances: list[Disturbance] = []
        self.memory = Memory()
        self.kills = 0
        self.workers = [nursery.start(self.job) for _ in range(workers)]
        self._stopped: tuple[Process, float] | None = None
        self._looked_at = self._looked_at_all = self._went_on_at = time.time()

    def wait_until_declared(self) -> None:
        """Until there is something to disturb."""
        wait_for("the schedules are declared", lambda: self.reader.evidence().notes or None)
        self._went_on_at = time.time()

    def pause(self, shortest: float, longest: float) -> None:
        """Wait; and note when the machine itself took much longer for that, and for the blow before."""
        seconds = self.random.uniform(shortest, longest)
        time.sleep(seconds)
        since, self._went_on_at = self._went_on_at, time.time()
        if self._went_on_at - since > seconds + _STALLED:
            self.disturbances += [Disturbance("stall", 0, since), Disturbance("over", 0, self._went_on_at)]
        if self._stopped is not None and time.monotonic() > self._stopped[1]:
            self._wake()
        self._look()

    def hold_breath(self, seconds: float, meanwhile: Callable[[], None]) -> None:
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            self.pause(0.2, 0.2)
            self.replace_who_is_over()
            meanwhile()

    def kill_one(self) -> None:
        """And start another in its place."""
        place = self.random.choice([place for place, worker in enumerate(self.workers) if not self._is_stopped(worker)])
        worker = self.workers[place]
        self._replace_if_over(place)
        if worker is self.workers[place]:
            worker.kill()
            self._note("kill", worker.pid)
            self.kills += 1
            self.workers[place] = self._another()

    def stop_one(self) -> None:
        """One that is at work freezes until its lease is over, and does not know it."""
        if self._stopped is not None:
            return
        at_work = self.reader.at_work()
        victims = [worker for worker in self.workers if worker.pid in at_work]
        if victims:
            victim = self.random.choice(victims)
            victim.send(signal.SIGSTOP)
            self._note("stop", victim.pid)
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
                self._note("cut", 0)
        self.replace_who_is_over()

    def restart(self, server: PostgresqlServer) -> None:
        """The server stops, in order or at once, and is away for up to two seconds."""
        self._note("down", 0)
        servers.stop(server, self.random.choice(["fast", "immediate"]))
        time.sleep(self.random.uniform(0.0, 2.0))
        servers.start(server)
        self._note("up", 0)
        self.replace_who_is_over()

    def replace_who_is_over(self) -> None:
        for place in range(len(self.workers)):
            self._replace_if_over(place)

    def settle_down(self, least: int) -> Report:
        """The last blow hits all; then one unharmed worker brings everything to its end."""
        if self._stopped is not None:
            self._wake()
        for worker in self.workers:
            worker.kill()
            self._note("kill", worker.pid)
        self.memory.see_all(read_ledger(self.job.url))
        end = int(time.time()) + 2
        last = self.nursery.start(replace(self.job, end=datetime.fromtimestamp(end, UTC).isoformat()))
        plan = PLANS[self.job.plan]
        wait_until_over(self.job.url, plan, end)
        assert last.stop() == 0, self.nursery.log()[-20_000:]
        evidence, ledger = self.reader.evidence(), read_ledger(self.job.url)
        report = check(Story(plan, ledger, evidence, self.disturbances, end * SECOND, self.memory), least)
        return audited(report, self.job.url)

    def _another(self) -> Process:
        return self.nursery.start(replace(self.job, declares=self.random.random() < _DECLARE))

    def _look(self) -> None:
        """What is final is remembered: what has just ended, and the whole now and then."""
        now = time.time()
        with suppress(psycopg.OperationalError):
            if now - self._looked_at_all > _LINE_EVERY:
                self.memory.see_all(read_ledger(self.job.url))
                self._looked_at_all = now
            elif now - self._looked_at > 1.0:
                self.memory.see(read_ended_since(self.job.url, round((self._looked_at - 2.0) * SECOND)))
                self._looked_at = now

    def _wake(self) -> None:
        assert self._stopped is not None
        self._stopped[0].send(signal.SIGCONT)
        self._note("wake", self._stopped[0].pid)
        self._stopped = None

    def _is_stopped(self, worker: Process) -> bool:
        return self._stopped is not None and self._stopped[0] is worker

    def _replace_if_over(self, place: int) -> None:
        """A worker whose connection is cut before it has begun gives up, and says so; one at work does not."""
        worker = self.workers[place]
        code = worker.code()
        if code is not None:
            assert code == UNAVAILABLE, self.nursery.log()[-20_000:]
            self.reader.look()
            assert worker.pid not in self.reader.pids, self.nursery.log()[-20_000:]
            self._note("end", worker.pid)
            self.workers[place] = self._another()

    def _note(self, what: str, pid: int) -> None:
        self.disturbances.append(Disturbance(what, pid, time.time()))


def audited(report: Report, url: str) -> Report:
    """With what the program's own audit of its ledger says, as it is and with a row removed by hand."""
    found = removal.audit(url).found
    figures = {**report.figures, "slots audited": found["slots"], "violations": found["found"]}
    return report._replace(problems=[*report.problems, *removal.problems_of(url)], figures=figures)


class Telling:
    """A line every ten seconds."""

    def __init__(self, title: str, storm: Storm, kills: int) -> None:
        self._title, self._storm, self._kills = title, storm, kills
        self._began = time.monotonic()
        self._next = _LINE_EVERY

    def tell(self) -> None:
        seconds = time.monotonic() - self._began
        if seconds >= self._next:
            self._next = seconds + _LINE_EVERY
            self._storm.reader.look()
            done = f"{self._storm.kills}/{self._kills} kills, {self._storm.reader.count} executions"
            print(f"{self._title} {seconds:5.0f} s  {done}, {len(self._storm.memory.changes)} changes", flush=True)


def blow_on_sqlite(storm: Storm, goes_on: Callable[[], bool], shortest: float, longest: float) -> None:
    """The one process is killed, and another takes its place."""
    while goes_on():
        storm.pause(shortest, longest)
        storm.kill_one()


def blow_on_postgresql(storm: Storm, goes_on: Callable[[], bool], shortest: float, longest: float) -> None:
    """Workers are killed, frozen beyond their lease, and cut off."""
    blows = [storm.kill_one] * 8 + [storm.stop_one, storm.cut_connection]
    while goes_on():
        storm.pause(shortest, longest)
        storm.random.choice(blows)()


def long_storm(kind: str, kills: int, nursery: Nursery, folder: Path, seed: int) -> Report:
    """Until so many are dead: twenty seconds of storm, then a breath, and so on. What is left is in the folder."""
    with ExitStack() as stack:
        server = None
        url = f"sqlite:///{folder / 'storm.db'}"
        if kind == "postgresql":
            server = stack.enter_context(a_postgresql_server())
            server.hurry()
            url = server.new_database()
        evidence = folder / f"evidence-{kind}"
        storm = Storm(nursery, url, evidence, plan="hundred", workers=WORKERS[kind], seed=seed)
        storm.wait_until_declared()
        telling = Telling(NAMES[kind], storm, kills)

        def for_seconds(seconds: float) -> Callable[[], bool]:
            over = time.monotonic() + seconds

            def goes_on() -> bool:
                telling.tell()
                return storm.kills < kills and time.monotonic() < over

            return goes_on

        while storm.kills < kills:
            if server is None:
                blow_on_sqlite(storm, for_seconds(_ROUND), *_PACE[kind])
            else:
                before = storm.random.uniform(0.2, 0.8) * _ROUND
                blow_on_postgresql(storm, for_seconds(before), *_PACE[kind])
                storm.restart(server)
                blow_on_postgresql(storm, for_seconds(_ROUND - before), *_PACE[kind])
            storm.hold_breath(_CALM, telling.tell)
        report = storm.settle_down(least=0)
        if server is not None:
            servers.dump(server, url, folder / "storm.sql")
        return report._replace(problems=[*report.problems, *too_little(kind, report, kills)])


def one_storm(kind: str, kills: int, folder: Path, seed: int) -> Report:
    nursery = Nursery(folder / f"log-{kind}")
    try:
        return long_storm(kind, kills, nursery, folder, seed)
    finally:
        nursery.close()


def outlived_by_others(figures: Mapping[str, int]) -> int:
    """The runs that a frozen worker had in hand when it woke up and that were others' by then: told so, or in vain."""
    return figures["fenced after a freeze"] + figures["done in vain after a freeze"]


def too_little(kind: str, report: Report, kills: int) -> list[str]:
    """Why the storm proves nothing, if so: too few blows, or too little work between them."""
    figures = report.figures
    least = {"kills": kills, "succeeded": figures["slots"] // 2, "redelivered": 1, "met": figures["windows"] // 2}
    least |= {"short of credits": 1, "not permitted": 1, "paid for": 1}
    least["judged"] = round(_JUDGED * figures["windows"])
    if kind == "postgresql":
        least |= {"stops": kills // 100, "restarts": 1, "connections cut": kills // 100}
    problems = [
        f"idle: {name} {figures[name]}, less than {number}: this proves nothing"
        for name, number in least.items()
        if figures[name] < number
    ]
    if kind == "postgresql" and not outlived_by_others(figures):
        problems.append("idle: no frozen worker was too late for what it had in hand: this proves nothing")
    explained = figures["slots executed"] + figures["slots skipped"]
    if explained < 0.95 * figures["slots"]:
        problems.append(f"idle: only {explained} of {figures['slots']} slots were executed or say why not")
    if figures["given up"] > 0.05 * figures["slots"]:
        problems.append(f"idle: {figures['given up']} of {figures['slots']} slots were given up")
    return problems


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="storm-") as name:
        yield Path(name)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.storm", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="processes to be killed on each database")
    parser.add_argument("--database", choices=KINDS, help="one of them only")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave storm.db, storm.sql and the evidence there")
    options = parser.parse_args(words)
    began = time.monotonic()
    figures: dict[str, int | float | str] = {}
    problems: list[str] = []
    kinds = KINDS if options.database is None else (options.database,)
    with _folder(options.keep) as folder, ThreadPoolExecutor(len(kinds)) as pool:
        reports = pool.map(lambda kind: one_storm(kind, options.kills, folder, options.seed), kinds)
        for kind, report in zip(kinds, reports, strict=True):
            print(f"{NAMES[kind]}: {report}", flush=True)
            figures |= {f"{NAMES[kind]}: {what}": number for what, number in report.figures.items()}
            problems += [f"{NAMES[kind]}: {problem}" for problem in report.problems]
    if options.database is None and options.kills >= KILLS and options.seed == SEED:
        seconds = round(time.monotonic() - began, 1)
        keep(Finding("storm", f"make storm KILLS={options.kills}", seconds, figures, problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
