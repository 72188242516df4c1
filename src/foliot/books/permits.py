"""Permits: whether a schedule's runs may start now, and how many its budgets let start.

Grants are read once and kept until one is changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foliot.books.configurations import Scheduled
from foliot.domain.budgets import RECENT, UNCOUNTED, Budget, Funds, Owner, WhenSpent, taken_to_cost
from foliot.domain.credits import Pricing
from foliot.domain.grants import Grant, grant_id, refusal_of
from foliot.domain.runs import Reason
from foliot.ports import Transaction
from foliot.rows import RunRow

_MOST_KEPT = 20_000


class Allowance(NamedTuple):
    """What its budgets leave to a schedule, and what says how much its runs may cost."""

    owners: tuple[tuple[Owner, int], ...]
    """Whose budgets they are,"""
    lefts: tuple[tuple[int, WhenSpent], ...]
    """what is left of each, and what it does when it is spent."""
    is_untouched: bool
    """Whether nothing of them is spent or set aside."""
    costs: Sequence[int]
    """Of the schedule's last runs."""
    input: str | None
    pricing: Pricing

    def cost_of(self, own: str | None) -> int | None:
        """What a run may cost that has that input instead of the schedule's, if any; None: nobody knows, or asks."""
        if not self.owners:
            return None
        past = self.pricing.past_cost(self.costs, self.input, own)
        guess = self.pricing.guess(self.input if own is None else own)
        return taken_to_cost(past, guess, min(left for left, _ in self.lefts), self.is_untouched)

    @property
    def note(self) -> str:
        """Whose budget is spent, once one has paused the schedule: of those that do, the one with the least left."""
        pausing = [
            (left, owner, ref)
            for (left, when_spent), (owner, ref) in zip(self.lefts, self.owners, strict=True)
            if when_spent is WhenSpent.PAUSE
        ]
        _, owner, ref = min(pausing, key=lambda budget: budget[0])
        return "its budget is spent" if owner is Owner.SCHEDULE else f"the budget of its {grant_id(ref)} is spent"

    def funds(self, rows: Iterable[RunRow] = ()) -> Funds:
        """What these runs, and slots that have no row yet, may start with."""
        if not self.owners:
            return UNCOUNTED
        own = {row.ref: self.cost_of(row.input) for row in rows if row.input is not None}
        return Funds(self.lefts, self.cost_of(None), own)


NO_BUDGET = Allowance((), (), False, (), None, Pricing())


class OwnedBudget(NamedTuple):
    """A budget, and whose it is."""

    owner: Owner
    ref: int
    budget: Budget


def budgets_over(schedule_ref: int, own: Budget | None, grant_ref: int, granted: Budget | None) -> list[OwnedBudget]:
    """Those that a schedule's runs start under: its own first."""
    both = ((Owner.SCHEDULE, schedule_ref, own), (Owner.GRANT, grant_ref, granted))
    return [OwnedBudget(owner, ref, budget) for owner, ref, budget in both if budget is not None]


def allowance_of(
    budgets: Sequence[OwnedBudget], spent: Sequence[int], costs: Sequence[int], input: str | None, pricing: Pricing
) -> Allowance:
    """What these leave when so much of each is spent or set aside."""
    owners = tuple((owner, ref) for owner, ref, _ in budgets)
    lefts = tuple(
        (budget.credits - taken, budget.when_spent) for (_, _, budget), taken in zip(budgets, spent, strict=True)
    )
    return Allowance(owners, lefts, not any(spent), costs, input, pricing)


class _Judged(NamedTuple):
    refusal: Reason | None
    since: int | None
    """The verdict holds from here on: when the grant has expired, by a clock that may be set back;"""
    until: int | None
    """and up to here: when it expires."""
    grant: Grant | None

    def holds(self, now: int) -> bool:
        return (self.since is None or self.since <= now) and (self.until is None or now < self.until)

    @property
    def budget(self) -> Budget | None:
        return None if self.grant is None else self.grant.budget


class Permits:
    """Verdicts by grant and target. `begin` is told how often grants were changed, and forgets what is no longer so."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing = pricing
        self.changes = -1
        """How often grants were changed when these verdicts were made."""
        self._judged: dict[tuple[int, str], _Judged] = {}

    def begin(self, changes: int) -> None:
        if changes != self.changes:
            self._judged.clear()
            self.changes = changes

    def prepare(self, tx: Transaction, schedules: Iterable[Scheduled]) -> None:
        """Look up what is not known of these, all in one go."""
        absent = {(schedule.grant_ref, schedule.target) for schedule in schedules} - self._judged.keys()
        if not absent:
            return
        if len(self._judged) + len(absent) > _MOST_KEPT:
            self._judged.clear()
        grants = {row.grant.ref: row.grant for row in tx.grants({ref for ref, _ in absent})}
        for ref, target in absent:
            self._judged[ref, target] = _judge(grants.get(ref), target, tx.now)

    def refusal(self, tx: Transaction, schedule: Scheduled) -> Reason | None:
        """Why nothing of the schedule may start; None when it may."""
        return self._look_up(tx, schedule).refusal

    def grant_of(self, schedule: Scheduled) -> Grant:
        """The grant by which something of the schedule was just permitted to start."""
        grant = self._judged[schedule.grant_ref, schedule.target].grant
        assert grant is not None, "nothing starts without a grant"
        return grant

    def is_plain(self, tx: Transaction, schedule: Scheduled) -> bool:
        """Whether it may start, and nothing is counted: the case that must be fast."""
        judged = self._look_up(tx, schedule)
        return judged.refusal is None and judged.budget is None and schedule.policies.budget is None

    def allowance(self, tx: Transaction, schedule: Scheduled, taken: Mapping[tuple[Owner, int], int]) -> Allowance:
        """What its own budget and its grant's leave to it now, besides what this transaction has taken of each."""
        granted = self._look_up(tx, schedule).budget
        budgets = budgets_over(schedule.ref, schedule.policies.budget, schedule.grant_ref, granted)
        if not budgets:
            return NO_BUDGET
        tx.hold_grant(schedule.grant_ref)
        spent = [
            tx.spent_since(owner, ref, budget.begins_at(tx.now)) + taken.get((owner, ref), 0)
            for owner, ref, budget in budgets
        ]
        return allowance_of(budgets, spent, tx.recent_costs(schedule.ref, RECENT), schedule.input, self.pricing)

    def _look_up(self, tx: Transaction, schedule: Scheduled) -> _Judged:
        key = (schedule.grant_ref, schedule.target)
        judged = self._judged.get(key)
        if judged is None or not judged.holds(tx.now):
            self._judged.pop(key, None)
            self.prepare(tx, [schedule])
            judged = self._judged[key]
        return judged


def _judge(grant: Grant | None, target: str, now: int) -> _Judged:
    refusal = refusal_of(grant, target, now)
    ends_at = None if grant is None else grant.expires_at
    since = ends_at if refusal is Reason.GRANT_EXPIRED else None
    return _Judged(refusal, since, ends_at if refusal is None else None, grant)
