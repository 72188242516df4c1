"""Schedules in rehearsal: the real engine on a virtual clock and a database of its own, days in seconds."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from foliot.books.configurations import compiled
from foliot.domain.budgets import RECENT
from foliot.domain.clock_changes import ClockChange
from foliot.domain.credits import Pricing
from foliot.domain.errors import Invalid, NotFound
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import Overlap, read_policies
from foliot.domain.runs import OnUnknown, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Outcome
from foliot.domain.simulation import (
    MOST_SLOTS,
    Forecast,
    Lengths,
    SimulatedRun,
    Stay,
    check_known,
    check_size,
    forecast,
    forecast_of_all,
    length_of,
    peak_of,
    stays_of,
    surprises_of,
)
from foliot.domain.times import Times
from foliot.engine.collector import calm_collector
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.execution.executing import Executor
from foliot.execution.gate import LocalGate
from foliot.executors.simulated import Behaviour, SimulatedExecutor
from foliot.ports import Control, Launch
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.services.backfilling import cost_each
from foliot.stores import simulated
from foliot.stores.transaction import SqlTransaction
from foliot.virtual_time import VirtualTime
from foliot.wiring import Parts

Told = Callable[[int, int], None]
"""Told how many hours have passed, and of how many."""

_NEVER = 10**16
_HOUR = 3600
_SETTINGS = EngineSettings(
    lease=_NEVER,
    heartbeat=_NEVER,
    look=_NEVER,
    clock_check=_NEVER,
    nap_within=0,
    max_running=10**9,
    keep_for=_NEVER,
    prune_every=_NEVER,
)
"""One worker that has room for everything, never dies, and need not say so."""
_SUCCESS = Outcome(Status.SUCCESS)


class PastRuns(NamedTuple):
    """What the past says of a schedule's runs."""

    lengths: Sequence[int] = ()
    """How long the last ones took, in microseconds."""
    cost: int | None = None
    """What one may cost, in credits."""


@dataclass(frozen=True, slots=True)
class SimulatedSchedule:
    """What the stretch came to for one schedule."""

    id: str
    length: int
    """How long its runs were taken to take, in microseconds."""
    is_paused: bool
    """When the stretch was over."""
    forecast: Forecast
    surprises: Sequence[ClockChange]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a stretch of time came to."""

    start: int
    end: int
    schedules: Sequence[SimulatedSchedule]
    total: Forecast


class _Role(NamedTuple):
    """A schedule in rehearsal, and what its runs are taken to be like."""

    ref: int
    id: str
    target: str
    times: Times
    state: State
    length: int
    cost: int | None
    is_patient: bool
    """Nothing waits for the end of a run, whatever comes: what meets it is skipped, or runs beside it."""


class _RehearsalGate:
    """Through the real gate where somebody pays, and straight on where nobody does: most runs cost nothing."""

    def __init__(self, real: LocalGate, roles: Mapping[str, _Role]) -> None:
        self._real = real
        self._roles = roles
        self._targets = sorted({role.target for role in roles.values()})

    def targets(self) -> Sequence[str]:
        return self._targets

    def room(self, target: str) -> int | None:  # noqa: ARG002
        return None

    def on_unknown(self, target: str) -> OnUnknown:  # noqa: ARG002
        return OnUnknown.REDELIVER

    def report_digest(self, target: str, run_id: str) -> str | None:  # noqa: ARG002
        return None

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        role = self._roles[launch.schedule_id]
        if role.cost:
            return await self._real.execute(launch, control)
        control.is_begun = True
        control.is_patient = role.is_patient
        await asyncio.sleep(role.length / MICROSECONDS)
        return _SUCCESS


class Rehearsal:
    """A database that is gone afterwards, under a clock that stands at the start."""

    def __init__(self, folder: Path, start: int, pricing: Pricing) -> None:
        self.start = start
        self._time = VirtualTime(start)
        self._executors: dict[str, Executor] = {}
        self.parts = Parts(
            f"sqlite:///{folder / 'rehearsal.db'}", self._executors, self._time.clock, pricing, is_passing=True
        )

    def copy(self, source: Parts, only: Collection[str] | None) -> dict[str, PastRuns]:
        """Bring in the schedules of a database, those or all, as they stand there; and what is known of their past."""

        def read(tx: SqlTransaction) -> tuple[simulated.Plan, dict[str, PastRuns]]:
            plan = simulated.read_plan(tx, only, self.start)
            rows = [row for row, _ in tx.list_schedules(ScheduleFilter()) if only is None or row.id in only]
            past = {
                row.id: PastRuns(simulated.recent_lengths(tx, row.ref, RECENT), cost_each(tx, row, source.pricing))
                for row in rows
            }
            return plan, past

        plan, past = source.database.snapshot(read)
        if missing := sorted(set(only or ()) - set(past)):
            raise NotFound(f"there is no schedule {', '.join(missing)} in that database")
        self.parts.database.write(lambda tx: simulated.write_plan(tx, plan))
        return past

    def play(
        self, length: int, said: Lengths, past: Mapping[str, PastRuns], told: Told, most: int = MOST_SLOTS
    ) -> Simulated:
        """Let so much time pass, in microseconds, and see what came of it."""
        self.parts.database.write(simulated.share_target)
        roles = self.parts.database.read(lambda tx: self._roles(tx, said, past))
        check_known(said, roles)
        end = self.start + length
        check_size({role.id: _named(role, self.start, end) for role in roles.values()}, most)
        behaviours = {role.id: Behaviour(role.length / MICROSECONDS, role.cost or 0) for role in roles.values()}
        for provider in {role.target.partition(":")[0] for role in roles.values()}:
            targets = sorted({role.target for role in roles.values() if role.target.startswith(f"{provider}:")})
            self._executors[provider] = SimulatedExecutor(targets, behaviours, self.parts.pricing.markup)
        self._let_pass(length / MICROSECONDS, _RehearsalGate(self.parts.gate, roles), told)
        return self.parts.database.read(lambda tx: self._seen(tx, roles, end))

    def close(self) -> None:
        self.parts.close()
        self._time.loop.close()

    def _roles(self, tx: SqlTransaction, said: Lengths, past: Mapping[str, PastRuns]) -> dict[str, _Role]:
        roles = {}
        for row, state in tx.list_schedules(ScheduleFilter()):
            known = past.get(row.id) or PastRuns(cost=cost_each(tx, row, self.parts.pricing))
            length = length_of(row.id, said, known.lengths)
            is_patient = read_policies(row.policies).overlap in (Overlap.SKIP, Overlap.ALLOW_ALL)
            roles[row.id] = _Role(row.ref, row.id, row.target_name, _times(row), state, length, known.cost, is_patient)
        return roles

    def _let_pass(self, seconds: float, gate: _RehearsalGate, told: Told) -> None:
        engine = Engine(self.parts.database, gate, self._time.clock, "simulation", _SETTINGS, self.parts.pricing)
        self.parts.engines.append(engine)
        working = self._time.loop.create_task(engine.run())
        hours = -(-round(seconds) // _HOUR)
        step = max(1, hours // 200)
        with calm_collector():
            for hour in range(step, hours + step, step):
                self._time.pass_until(min(float(hour * _HOUR), seconds))
                if working.done():
                    working.result()
                told(min(hour, hours), hours)
        # What has ended and was to be recorded with the next slot, which lies beyond.
        engine.poke()
        self._time.pass_until(seconds)
        engine.kill()
        self._time.cut_off()

    def _seen(self, tx: SqlTransaction, roles: Mapping[str, _Role], end: int) -> Simulated:
        unrun: dict[int, dict[Reason, int]] = defaultdict(dict)
        for ref, reason, count in simulated.unrun(tx):
            unrun[ref][reason] = count
        states = {state.ref: state for state in tx.states_seen([role.ref for role in roles.values()])}
        by_schedule = groupby(simulated.read_runs(tx, end), itemgetter(0))
        found = {ref: [run for _, run in group] for ref, group in by_schedule}
        stays: list[Stay] = []
        schedules = []
        for role in roles.values():
            runs = found.pop(role.ref, [])
            stays += stays_of(runs, end)
            schedules.append(self._part(role, states[role.ref], runs, unrun[role.ref], end))
        total = forecast_of_all([one.forecast for one in schedules], peak_of(stays))
        return Simulated(self.start, end, schedules, total)

    def _part(
        self, role: _Role, state: State, runs: Sequence[SimulatedRun], unrun: dict[Reason, int], end: int
    ) -> SimulatedSchedule:
        is_paused = state.is_paused(end)
        if is_paused:
            since = max(state.swept_to, self.start)
            skipped = sum(run.reason is Reason.SKIPPED_BY_USER and run.due_at > since for run in runs)
            unrun[Reason.PAUSED] = unrun.get(Reason.PAUSED, 0) + _named(role, since, end) - skipped
        slots = sum(run.attempt == 1 for run in runs) + sum(unrun.values())
        surprises = surprises_of(role.times, self.start // MICROSECONDS, end // MICROSECONDS)
        return SimulatedSchedule(
            role.id, role.length, is_paused, forecast(slots, runs, unrun, end, role.cost), surprises
        )


@contextmanager
def a_rehearsal(start: int, pricing: Pricing) -> Iterator[Rehearsal]:
    """Somewhere to simulate, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="foliot-") as folder:
        rehearsal = Rehearsal(Path(folder), start, pricing)
        try:
            yield rehearsal
        finally:
            rehearsal.close()


def _times(row: ScheduleRow) -> Times:
    try:
        return compiled(row.spec)
    except Invalid as refusal:
        raise Invalid(f"the spec of {row.id!r} cannot be read here: {refusal}") from refusal


def _named(role: _Role, after: int, until: int) -> int:
    return role.times.count_between(after // MICROSECONDS + 1, until // MICROSECONDS)
