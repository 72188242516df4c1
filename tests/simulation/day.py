"""One virtual day: three workers, a client and a nemesis on one database; then calm, until all has come to rest."""

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from foliot import Context
from foliot.engine.settings import EngineSettings
from foliot.ports import Launch
from foliot.stores.database import SqliteDatabase, open_database
from foliot.stores.transaction import SqlTransaction
from tests.simulation import audit, weather
from tests.simulation.client import Client
from tests.simulation.conductor import MICROSECONDS, Conductor
from tests.simulation.judge import Judge
from tests.simulation.shaky import SLOW_COMMIT, Caller
from tests.simulation.story import Execution, Story
from tests.simulation.usage import Call
from tests.simulation.weather import Weather
from tests.simulation.wishes import Wishes
from tests.simulation.worker import LEASE, LOOK, SETTINGS, Worker

WORKERS = 3
START = 1_794_744_000 * MICROSECONDS
"""2026-11-15T12:00:00Z, a Sunday."""
BETWEEN_VERBS = 700.0
_REVOKED_AT_THE_GATE = 0.005
"""The share of runs that find the gate away and are no longer permitted when they come again."""
_LONGEST_REST = 48 * 3600.0
"""Dozens of runs that wait for each other take most of an hour each."""


Task = tuple[int, str | None]


class Day(NamedTuple):
    """What came of a seed."""

    seed: int
    problems: list[str]
    hash: str
    counts: Counter[str]
    lines: list[str]


class DatabaseClock:
    """The clock that counts: the database's own. It may be set."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self.offset = 0

    def now(self) -> int:
        return self._conductor.real_now() + self.offset

    def steady(self) -> float:
        return self._conductor.time


def settings_of(weather: Weather) -> EngineSettings:
    return replace(
        SETTINGS,
        inline=weather.inline,
        max_running=weather.most_running,
        keep_for=round(weather.keep_for * MICROSECONDS),
        keep_runs=weather.keep_runs,
    )


class World:
    """Everything that a day is made of."""

    def __init__(self, seed: int, url: str, spoil: Callable[[SqlTransaction], Any] = lambda tx: tx) -> None:
        self.seed = seed
        self.spoil = spoil
        self.weather: Weather = weather.weather_of(seed)
        self.chance = Random(f"{seed} faults")
        self.conductor = Conductor(Random(f"{seed} order"), START)
        self.story = Story()
        self.wishes = Wishes()
        self.clock = DatabaseClock(self.conductor)
        self.database = open_database(url, self.clock, is_virtual=True)
        self.judge = Judge(self.story, self.wishes, self.conductor.complain, self.clock.steady)
        self.judge.db_times.append((0.0, START))
        self.punctuality = self.judge.punctuality
        self.story.suffer = self.punctuality.suffer
        self.settings = settings_of(self.weather)
        self.judge.settings = self.settings
        self.client = Client(
            self, self.story, self.wishes, Random(f"{seed} client"), lambda recalls, look_at: None, self.clock.now
        )
        self.client.steady = self.clock.steady
        self.client.acknowledged = self.judge.acknowledged
        self.client.purse.pays = self.judge.money.paid.__setitem__
        self.client.purse.says = self.judge.reported
        self.workers: list[Worker | None] = [None] * WORKERS
        self.is_resting = False
        self._started = 0
        self._cut_off: dict[str | None, float] = {}

    # What the shaky parts ask of their fate

    def is_cut_off(self, whom: str) -> bool:
        now = self.conductor.time
        return max(self._cut_off.get(whom, 0.0), self._cut_off.get(None, 0.0)) > now

    def mishap(self, whom: str) -> str | None:
        here = self.weather
        if not here.mishaps or self.chance.random() >= here.mishap_share:
            return None
        return self.chance.choice(here.mishaps)

    def choose(self, most: int) -> int:
        return self.chance.randrange(most)

    def strike(self, kind: str, caller: Caller) -> None:
        self.story.trouble(kind, self.conductor.time, whom=caller.name)

    def slowness(self, whom: str) -> float:
        if not self.weather.slow_share or self.chance.random() >= self.weather.slow_share:
            return 0.0
        seconds = self.chance.uniform(0, self.weather.slow_for)
        self.story.trouble(SLOW_COMMIT, self.conductor.time, seconds, whom)
        return seconds

    def dawdle(self, whom: str) -> None:
        """On one thread for everything, a commit that takes long keeps everybody: there is one writer."""
        if not self.weather.inline or self.chance.random() >= self.weather.slow_share:
            return
        seconds = self.chance.uniform(0, self.weather.slow_for)
        self.story.trouble(SLOW_COMMIT, self.conductor.time, seconds)
        self.conductor.time += seconds

    def committed(self, caller: Caller, now: int, changes: list[audit.Change]) -> None:
        self.judge.committed(caller, now, changes)

    def complain(self, problem: str) -> None:
        self.conductor.complain(problem)

    def hint(self, what: str, sender: str) -> None:
        for worker in self.workers:
            if worker is None or worker.is_over or worker.name == sender:
                continue
            if self.weather.lost_hint_share and self.chance.random() < self.weather.lost_hint_share:
                self.story.trouble(weather.LOST_HINT, self.conductor.time, LOOK, worker.name)
            else:
                worker.engine.poke(recall=what == "recall")
                self.punctuality.hear(worker.name, self.conductor.time)

    def is_gate_away(self, whom: str, launch: Launch) -> bool:
        if not self.weather.gate_away_share or self.chance.random() >= self.weather.gate_away_share:
            return False
        self.story.trouble(weather.GATE_AWAY, self.conductor.time, whom=whom)
        return True

    def is_gate_blind(self, whom: str) -> bool:
        if not self.weather.gate_away_share or self.chance.random() >= self.weather.gate_away_share:
            return False
        self.story.trouble(weather.GATE_BLIND, self.conductor.time, whom=whom)
        return True

    def turned_away(self, launch: Launch) -> None:
        self.story.unreached[launch.ref, launch.token] += 1
        if self.chance.random() < _REVOKED_AT_THE_GATE:
            self.conductor.after(0.5, lambda: self.client.revoke(launch.schedule_id))

    def began(self, execution: Execution, due_at: int) -> None:
        self.story.begin(execution)
        self.judge.began(execution, due_at)

    def looked(self, whom: str, at: float) -> None:
        self.punctuality.watches[whom].look(at, self.conductor.time)

    def in_thread(self, whom: str, context: Context, until: float) -> None:
        launch = context._launch
        self.punctuality.in_thread(whom, (launch.ref, launch.token), until)

    def used(self, execution: Execution, call: Call) -> None:
        execution.calls.append(call)
        self.judge.money.say(execution.ref, call)

    # Workers come and go

    def start(self, number: int) -> None:
        self._started += 1
        worker = Worker(self, f"worker {number}.{self._started}", self.settings)
        self.punctuality.begin(worker.name, self.conductor.time, self.settings.max_running, self.settings.threads)
        worker.skew = self.weather.skews[number] * MICROSECONDS
        self.workers[number] = worker
        self.conductor.processes.append(worker)
        self.story.tell(self.conductor.time, f"{worker.name} starts")

    def look_after(self) -> None:
        """Whoever is dead or has stopped is started again after a while; whoever fell over is a problem."""
        for number, worker in enumerate(self.workers):
            if worker is None:
                continue
            fell = worker.why_it_fell()
            if fell is not None:
                self.conductor.complain(f"the engine goes on: {worker.name} ended: {fell}")
            elif worker.is_over:
                self._bury(number, worker)
        self.conductor.after(10.0, self.look_after)

    def _bury(self, number: int, worker: Worker) -> None:
        self.story.tell(self.conductor.time, f"{worker.name} is over")
        self._count(worker)
        self.conductor.processes.remove(worker)
        worker.bury()
        self.workers[number] = None
        away = self.chance.choice((0.0, 20.0, 600.0))
        self.story.trouble("away", self.conductor.time - 10.0, away + 10.0, worker.name)
        self.conductor.after(away, lambda: self.start(number))

    def _count(self, worker: Worker) -> None:
        for name, count in vars(worker.engine.counters).items():
            # Those by kind, reason or size are not for the story.
            if isinstance(count, int):
                self.story.counts[f"engine: {name}"] += count

    def strike_a_blow(self) -> None:
        """The nemesis: one of the day's faults, now."""
        if not self.weather.blows:
            return
        kind = self.chance.choice(self.weather.blows)
        alive = [worker for worker in self.workers if worker is not None and not worker.is_over]
        if kind in (weather.OUTAGE, weather.CLOCK_STEP):
            self._strike_all(kind, alive)
        elif alive:
            self._strike_one(kind, self.chance.choice(alive))
        self.conductor.after(self.chance.expovariate(1 / self.weather.between), self.strike_a_blow)

    def _strike_all(self, kind: str, alive: list[Worker]) -> None:
        now = self.conductor.time
        if kind == weather.OUTAGE:
            seconds = self.chance.choice((3.0, 60.0, 400.0, 1500.0))
            whom = self.chance.choice((None, *(worker.name for worker in alive)))
            self._cut_off[whom] = now + seconds
            self.story.trouble(kind, now, seconds, whom)
        else:
            seconds = self.chance.choice((-1800, -120, -5, 5, 120, 1800))
            self.clock.offset += seconds * MICROSECONDS
            self.judge.db_times.append((now, START + self.clock.offset))
            self.story.trouble(kind, now, abs(seconds) + LOOK)

    def _strike_one(self, kind: str, worker: Worker) -> None:
        steps = self.chance.choice((0, 0, 1, 2, 3, 5, 8, 20))
        if kind == weather.KILL:
            worker.arrest(steps, lambda: self._kill(worker))
        elif kind == weather.FREEZE:
            worker.arrest(steps, lambda: self._freeze(worker))
        elif kind == weather.SKEW:
            seconds = self.chance.choice((-900, -30, 30, 900))
            worker.skew += seconds * MICROSECONDS
            self.story.trouble(kind, self.conductor.time, abs(seconds) + LOOK, worker.name)
        else:
            self.story.trouble(kind, self.conductor.time, 200.0, worker.name)
            worker.stop()

    def _kill(self, worker: Worker) -> None:
        self.story.trouble(weather.KILL, self.conductor.time, whom=worker.name)
        worker.die()

    def _freeze(self, worker: Worker) -> None:
        seconds = LEASE * self.chance.choice((0.3, 0.95, 1.1, 2.0, 3.0))
        self.story.trouble(weather.FREEZE, self.conductor.time, seconds, worker.name)
        worker.frozen_until = self.conductor.time + seconds

    def let_the_client_act(self) -> None:
        if self.is_resting:
            return
        self.client.act()
        self.conductor.after(self.chance.expovariate(1 / BETWEEN_VERBS), self.let_the_client_act)

    # The day

    def live(self, length: float) -> None:
        self.database.claim_alone()
        if isinstance(self.database, SqliteDatabase):
            _loosen(self.database)
        self.database.write(audit.install)
        self.client.settle_in()
        for number in range(WORKERS):
            self.start(number)
        self.look_after()
        self.let_the_client_act()
        self.strike_a_blow()
        self.conductor.run_until(length)
        if not self.conductor.problems:
            self.rest()

    def rest(self) -> None:
        """The faults are over: all that was begun comes to its end."""
        self.weather = weather.CALM._replace(inline=self.weather.inline, most_running=self.weather.most_running)
        self.story.trouble("the healing", self.conductor.time, LEASE)
        self._cut_off.clear()
        for worker in self.workers:
            if worker is not None:
                worker.frozen_until = 0.0
        self.conductor.run_until(self.conductor.time + 2 * LEASE)
        self.is_resting = True
        self.client.bring_to_rest()
        end = self.conductor.time + _LONGEST_REST
        while self.conductor.time < end and not self.conductor.problems and not self.judge.is_at_rest():
            self.conductor.run_until(self.conductor.time + 600.0)
        if not self.conductor.problems:
            self.judge.judge_the_end(self.database.read(audit.all_rows))

    def close(self) -> None:
        for worker in self.workers:
            if worker is not None:
                self._count(worker)
                worker.die()
        self.database.close()


def simulate(
    seed: int,
    url: str | None = None,
    *,
    hours: float = 24.0,
    spoil: Callable[[SqlTransaction], Any] = lambda tx: tx,
) -> Day:
    """Live through the day of that seed, on a fresh SQLite file or on the empty database given."""
    with _quiet(), _a_folder() as folder:
        world = World(seed, url or f"sqlite:///{folder / 'day.db'}", spoil)
        try:
            world.live(hours * 3600.0)
        finally:
            world.close()
        story = world.story
        return Day(seed, world.conductor.problems + story.doubles, story.hash, story.counts, list(story.lines))


def lived(task: Task) -> tuple[Day, str]:
    """A seed and where to live through it; with the name of that place, for other processes to call."""
    seed, url = task
    return simulate(seed, url), "sqlite" if url is None else "postgresql"


@contextmanager
def _quiet() -> Iterator[None]:
    """The engine's warnings are what a day of faults is full of."""
    log = logging.getLogger("foliot")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _a_folder() -> Iterator[Path]:
    """In memory, where there is such a place: what a power failure does is proved elsewhere."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="simulation-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def _loosen(database: SqliteDatabase) -> None:
    """Triggers may call functions; and no disk is waited for, because what a power failure does is proved elsewhere."""
    assert database._writer is not None
    connection = database._writer.connection.dbapi_connection
    assert connection is not None
    for pragma in ("trusted_schema=ON", "synchronous=OFF"):
        connection.cursor().execute(f"PRAGMA {pragma}")
