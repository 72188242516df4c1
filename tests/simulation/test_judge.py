"""The judge is tried: engines with a defect put in from outside must be found out, and by the law that they break."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from foliot.domain.errors import Unavailable
from foliot.engine.loop import Engine
from foliot.engine.turn import Shift
from foliot.execution.tab import Tab
from foliot.execution.till import Till
from foliot.executors.python import PythonExecutor
from foliot.ports import Launch, Row
from foliot.rows import Expired, Finish
from foliot.services.schedules import ScheduleVerbs
from foliot.services.views import Schedule
from foliot.stores.transaction import SqlTransaction
from tests.simulation.day import simulate

_DAYS = 4
"""So many are tried until one of them shows a defect."""


class Spoiled:
    """A transaction with a defect."""

    def __init__(self, tx: SqlTransaction) -> None:
        self.tx = tx

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tx, name)


class NoFence(Spoiled):
    """Nobody is ever told that he was declared gone, and outcomes are written whatever the token."""

    def renew(self, worker: int, lease_until: int | None) -> bool:
        self.tx.renew(worker, lease_until)
        return True

    def finish(self, reports: Sequence[Finish]) -> bool:
        standing = self.tx.standing([report.ref for report in reports])
        return self.tx.finish([report._replace(token=standing[report.ref][0]) for report in reports])


class LosesRows(Spoiled):
    """The cursor moves, and once in a while the row of the slot is not written."""

    def start_new(self, rows: Sequence[Row]) -> None:
        self.tx.start_new([row for row in rows if row[0] % 25])


class Impatient(Spoiled):
    """Leases of others are over before their time."""

    def expired(self, but: int) -> list[Expired]:
        found = self.tx._all("SELECT ref, name FROM workers WHERE lease_until IS NOT NULL AND ref <> ?", but)
        return [Expired(*row) for row in found]


class Blind(Spoiled):
    """Admission is told that nothing runs."""

    def due(self, target: int, until: int, limit: int) -> list[Any]:
        return [state._replace(running=0) for state in self.tx.due(target, until, limit)]


class Forgetful(Spoiled):
    """The pruner is told that all runs of a schedule but its newest have many newer ones."""

    def newest_runs_from(self, schedule_ref: int, offset: int) -> int | None:
        return self.tx.newest_runs_from(schedule_ref, 1)


class Spendthrift(Spoiled):
    """Of every budget nothing is spent yet."""

    def spent_since(self, owner: str, owner_ref: int, since: int) -> int:
        return 0


class Cashier(Spoiled):
    """What was charged for is taken from the balance, and not written down."""

    def post(self, account_ref: int, kind: str, amounts: Mapping[str, int]) -> int | None:
        if kind != "charge":
            return self.tx.post(account_ref, kind, amounts)
        text = "UPDATE accounts SET balance = balance + ? WHERE ref = ? RETURNING balance"
        return int(self.tx._all(text, sum(amounts.values()), account_ref)[0][0])


class Rash(Spoiled):
    """Runs that wait for their time are taken up before it."""

    def ready(self, target: int, until: int, limit: int) -> list[Any]:
        return self.tx.ready(target, until + 3_600_000_000, limit)

    def earliest(self, targets: Sequence[int]) -> list[Any]:
        return [first._replace(ready_at=first.ready_at and 0) for first in self.tx.earliest(targets)]


@pytest.mark.parametrize(
    ("defect", "seed", "law"),
    [
        (NoFence, 5, "no zombie commit"),
        (LosesRows, 2, "no slot lost"),
        (Impatient, 1, "leases are respected"),
        (Blind, 2, "no forbidden overlap"),
        (Rash, 1, "none early"),
        (Forgetful, 1, "nothing is forgotten"),
        (Spendthrift, 1, "budgets hold"),
        (Cashier, 1, "the money adds up"),
    ],
)
def test_a_defect_is_found_out(defect: Callable[[SqlTransaction], Any], seed: int, law: str) -> None:
    """On one of a few days: what a seed makes of a day changes with the engine, and some have no chance for a defect.

    The day of seed 1 once had no retry at all and one slot that waited for its due time, so nobody could be rash.
    """
    found = [simulate(seed, spoil=defect).problems]
    while len(found) < _DAYS and not _is_accused(found[-1], law):
        found.append(simulate(seed + len(found), spoil=defect).problems)
    assert _is_accused(found[-1], law), found


def _is_accused(problems: Sequence[str], law: str) -> bool:
    return any(problem.startswith(law) for problem in problems)


async def sleep_long(engine: Engine, error: Unavailable) -> None:
    """Minutes after every hiccup of the database, where seconds are promised."""
    engine.counters.outages += 1
    engine._recall_wanted = True
    engine._next_at = 0
    await engine._wait(480.0)


def know_nothing_to_come(*given: object) -> None:
    """A worker that never sleeps until the next slot: only its looks find it."""


def count_no_threads(executor: PythonExecutor, target: str) -> int | None:
    """There is always room for sync functions."""
    return executor._threads


def only_say_so(verbs: ScheduleVerbs, name: str) -> Schedule:
    """To resume does nothing, and says that it did."""
    return verbs.get(name)


async def let_everybody_in(till: Till, launch: Launch) -> bool:
    """Nobody is asked what he has."""
    return True


async def give_it_away(tab: Tab) -> None:
    """What was used is not charged."""


@pytest.mark.parametrize(
    ("owner", "part", "defect", "seed", "law"),
    [
        (Engine, "_survive", sleep_long, 3, "none late for no reason"),
        (Shift, "_next", know_nothing_to_come, 25, "none late for no reason"),
        (PythonExecutor, "room", count_no_threads, 1, "no run waits behind the threads"),
        (ScheduleVerbs, "resume", only_say_so, 1, "what was acknowledged holds"),
        (Till, "has_enough", let_everybody_in, 2, "nothing paid without credits"),
        (Tab, "_pay", give_it_away, 1, "what was used is charged"),
    ],
)
def test_a_defective_part_is_found_out(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, defect: Callable[..., Any], seed: int, law: str
) -> None:
    monkeypatch.setattr(owner, part, defect)
    problems = simulate(seed).problems
    assert any(problem.startswith(law) for problem in problems), problems
