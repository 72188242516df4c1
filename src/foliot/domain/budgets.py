"""Budgets: how much may be spent within a span of time that moves along, and what happens when it is spent."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS


class Window(StrEnum):
    """How far back spending counts."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "30d"


_LENGTH = {Window.HOUR: 3600, Window.DAY: 86_400, Window.MONTH: 30 * 86_400}


class Owner(StrEnum):
    """Whose budget it is."""

    SCHEDULE = "schedule"
    GRANT = "grant"


RECENT = 20
"""So many of the last runs say what the next may cost."""


class WhenSpent(StrEnum):
    """What becomes of a start that the budget has no credits for: of a slot, a trigger, a retry, or in a backfill."""

    SKIP = "skip"
    PAUSE = "pause"
    """It is skipped, and its schedule pauses with a note."""


_MOST_CREDITS = 10**15
"""That every database can add up."""


class Budget(NamedTuple):
    """So many credits within the window."""

    credits: int
    window: Window
    when_spent: WhenSpent = WhenSpent.SKIP

    def begins_at(self, now: int) -> int:
        """What was spent before this no longer counts."""
        return now - _LENGTH[self.window] * MICROSECONDS

    def forgets_at(self, at: int) -> int:
        """From this moment on, what was spent then no longer counts."""
        return at + _LENGTH[self.window] * MICROSECONDS

    def as_written(self) -> dict[str, int | str]:
        return {"credits": self.credits, "per": str(self.window), "when_spent": str(self.when_spent)}


def read_budget(given: Any) -> Budget:
    """A budget as people write it: `{"credits": 5000, "per": "day", "when_spent": "pause"}`."""
    if not isinstance(given, Mapping) or set(given) - {"credits", "per", "when_spent"}:
        raise Invalid(f"a budget takes credits, per and when_spent, got {given!r}")
    allowed = given.get("credits")
    if isinstance(allowed, bool) or not isinstance(allowed, int) or not 0 <= allowed <= _MOST_CREDITS:
        raise Invalid(f"credits of a budget takes a whole number from 0 to {_MOST_CREDITS:,}, got {allowed!r:.80}")
    window, when_spent = given.get("per", Window.DAY), given.get("when_spent", WhenSpent.SKIP)
    if window not in list(Window):
        raise Invalid(f"per of a budget takes {', '.join(Window)}, got {window!r}")
    if when_spent not in list(WhenSpent):
        raise Invalid(f"when_spent of a budget takes {', '.join(WhenSpent)}, got {when_spent!r}")
    return Budget(allowed, Window(window), WhenSpent(when_spent))


def stored_budget(budget: Budget | None) -> str | None:
    """As it is kept, which is as people write it."""
    return None if budget is None else json.dumps(budget.as_written(), separators=(",", ":"))


def starts_within(left: int, estimate: int | None) -> int | None:
    """How many runs may start with so much left, when each may cost so much; None: as many as there are.

    What is known to cost nothing always may. While nobody knows what a run costs, one may as long as anything is left.
    """
    if estimate == 0:
        return None
    if estimate is None:
        return 1 if left > 0 else 0
    return max(0, left // estimate)


def set_aside(left: int, estimate: int | None) -> int:
    """What a run that starts takes of what is left: what it may cost; all of it, while nobody knows what that is."""
    return max(0, left) if estimate is None else estimate


def taken_to_cost(past: int | None, guess: int | None, left: int, is_untouched: bool) -> int | None:
    """What a run is taken to cost under a budget with so much left: what the last ones did, else a guess.

    None: nobody knows. A guess above a whole budget says nothing: else nothing could ever start that would show what it
    really costs.
    """
    if past is not None:
        return past
    return None if guess is not None and is_untouched and guess > left else guess


class Counted(NamedTuple):
    """What counts against a budget."""

    spent: int
    """What was charged."""
    reserved: int
    """What is set aside besides, for runs that are not over, or of which the cost of a call is not known."""
    held: int
    """Of both, what runs have that are not over: it counts as long as they are not."""

    @property
    def total(self) -> int:
        return self.spent + self.reserved

    @property
    def passing(self) -> int:
        """What no longer counts once enough time has passed."""
        return self.total - self.held


def lacking(left: int, cost: int | None) -> int:
    """How much more must be left before a run may start that may cost so much; 0: one may now."""
    if starts_within(left, cost) != 0:
        return 0
    return (1 if cost is None else cost) - left


def wanted_back(
    budgets: Sequence[tuple[Budget, Counted]], cost: int | None, cost_of_whole: int | None
) -> list[int] | None:
    """Of each budget, how much must no longer count before a run may start under the first; None: nobody can say.

    `cost_of_whole` is what the run is taken to cost once nothing of any of them counts.
    """
    budget, counted = budgets[0]
    lack = lacking(budget.credits - counted.total, cost)
    if lack <= counted.passing:
        return [lack, *(0 for _ in budgets[1:])]
    if any(counted.held for _, counted in budgets) or lacking(budget.credits, cost_of_whole):
        return None
    return [counted.passing for _, counted in budgets]


class Funds(NamedTuple):
    """What is left of the budgets that a schedule's runs start under, and what each of these may cost."""

    lefts: tuple[tuple[int, WhenSpent], ...] = ()
    """Of each budget, and what it does when it is spent; without any, nothing is counted."""
    each: int | None = None
    """What a run may cost; None: nobody knows."""
    own: Mapping[int, int | None] = MappingProxyType({})
    """By its row, what one may that has an input of its own."""

    def cost_of(self, row: int | None) -> int | None:
        """What the run of that row may cost, or a slot that has none yet."""
        return self.each if row is None else self.own.get(row, self.each)

    def starts(self, cost: int | None) -> int | None:
        """How many runs may start that may cost so much; None: as many as there are."""
        within = [starts_within(left, cost) for left, _ in self.lefts]
        return min((starts for starts in within if starts is not None), default=None)

    def pauses(self, cost: int | None) -> bool:
        """Whether one of the budgets that have nothing left for such a run wants its schedule to pause."""
        return any(when is WhenSpent.PAUSE and starts_within(left, cost) == 0 for left, when in self.lefts)

    def less(self, cost: int | None) -> "Funds":
        """What is left once a run has started that may cost so much."""
        return self._replace(lefts=tuple((left - set_aside(left, cost), when) for left, when in self.lefts))


UNCOUNTED = Funds()
