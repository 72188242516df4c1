"""The judge is tried: engines with a defect put in from outside must be found out, and by the law that they break."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from foliot.ports import Expired, Finish, Row
from foliot.stores.transaction import SqlTransaction
from tests.simulation.day import simulate


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


class Rash(Spoiled):
    """Runs that wait for their time are taken up before it."""

    def ready(self, target: int, until: int, limit: int) -> list[Any]:
        return self.tx.ready(target, until + 3_600_000_000, limit)

    def earliest(self, targets: Sequence[int]) -> list[Any]:
        return [first._replace(ready_at=first.ready_at and 0) for first in self.tx.earliest(targets)]


@pytest.mark.parametrize(
    ("defect", "seed", "law"),
    [
        (NoFence, 29, "no zombie commit"),
        (LosesRows, 1, "no slot lost"),
        (Impatient, 1, "leases are respected"),
        (Blind, 1, "no forbidden overlap"),
        (Rash, 1, "none early"),
    ],
)
def test_a_defect_is_found_out(defect: Callable[[SqlTransaction], Any], seed: int, law: str) -> None:
    problems = simulate(seed, spoil=defect).problems
    assert any(problem.startswith(law) for problem in problems), problems
