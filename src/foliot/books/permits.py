"""Permits: whether a schedule's runs may start now, from grants that are read once and kept until one is changed."""

from typing import NamedTuple

from foliot.domain.grants import Grant, refusal_of
from foliot.domain.runs import Reason
from foliot.ports import Transaction


class _Judged(NamedTuple):
    refusal: Reason | None
    until: int | None
    """The verdict holds up to here: when the grant expires."""


class Permits:
    """Verdicts by grant and target. `begin` is told how often grants were changed, and forgets what is no longer so."""

    def __init__(self) -> None:
        self._changes = -1
        self._judged: dict[tuple[int, str], _Judged] = {}

    def begin(self, changes: int) -> None:
        if changes != self._changes:
            self._judged.clear()
            self._changes = changes

    def refusal(self, tx: Transaction, grant_ref: int, target: str) -> Reason | None:
        """Why nothing of the target may start under this grant; None when it may."""
        judged = self._judged.get((grant_ref, target))
        if judged is None or (judged.until is not None and judged.until <= tx.now):
            found = tx.grants([grant_ref])
            judged = _judge(found[0].grant if found else None, target, tx.now)
            self._judged[grant_ref, target] = judged
        return judged.refusal


def _judge(grant: Grant | None, target: str, now: int) -> _Judged:
    refusal = refusal_of(grant, target, now)
    return _Judged(refusal, grant.expires_at if grant is not None and refusal is None else None)
