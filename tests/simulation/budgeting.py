"""Budgets, stated once more: what a run may cost, what counts as spent, and whether that left any room."""

import json
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import FINAL, Reason, Status
from tests.simulation.audit import Change, Row
from tests.simulation.usage import FREE, PAID, USD_PER_TOKEN

if TYPE_CHECKING:
    from tests.simulation.judge import Judge
    from tests.simulation.reasons import Moment

_RECENT = 20
_SECONDS = {"hour": 3600, "day": 86_400, "30d": 30 * 86_400}
_CREDITS = 2 * 10_000_000
"""To a dollar, with what is added."""
_BEYOND_INPUT = 512 + 10_000
"""Tokens."""
_UNLISTED = Fraction("0.00002")
_UNKNOWN = -1
"""What a run has cost that has not been told what all of its calls do."""

Owner = tuple[str, int]


class Allowed(NamedTuple):
    """A budget as it is written."""

    credits: int
    per: str
    pauses: bool


class Books(NamedTuple):
    """What the budgets that a transaction is about looked like before it."""

    shares: dict[tuple[Owner, str], dict[int, int]]
    """By run, what it counts with."""
    budgets: dict[Owner, set[Allowed]]
    estimates: dict[tuple[int, str | None], set[int | None]]
    """By schedule, and by the run's own input."""
    paused: set[int]
    """The schedules that had paused for a budget."""


def _model_in(given: str | None) -> str | None:
    said = None if given is None else json.loads(given)
    return said.get("model") if isinstance(said, dict) else None


def estimate_of(given: str | None) -> int | None:
    """What a run with that input may cost; None when it names no model."""
    model = _model_in(given)
    if given is None or model is None:
        return None
    if model == FREE:
        return 0
    price = Fraction(USD_PER_TOKEN) if model == PAID else _UNLISTED
    return ceil((ceil(len(given) / 4) + _BEYOND_INPUT) * price * _CREDITS)


class Budgeting:
    """Judges every start that something is set aside for, and every skip for want of it."""

    def __init__(self, judge: "Judge", receipts: dict[int, dict[str, Row]]) -> None:
        self._judge = judge
        self._receipts = receipts
        self._spendings: dict[Owner, list[Row]] = defaultdict(list)
        self._before = Books({}, {}, {}, set())
        self._reserved: list[Row] = []
        self._charged_at: dict[int, int] = {}
        """By run, when it was charged last."""

    def open(self, now: int, changes: list[Change]) -> None:
        """A transaction is in the books, and none of it has been looked at yet."""
        self._reserved = [change.row for change in changes if (change.table, change.deed) == ("spendings", "insert")]
        runs = {change.row["ref"]: change.row for change in changes if change.table == "runs"}
        judged = [row for row in runs.values() if row["reason"] == Reason.OVER_BUDGET]
        judged += [self._run(row["run_ref"], runs) for row in self._reserved]
        owners = {owner for row in judged for owner in self._owners(row["schedule_ref"])}
        owners |= {(row["owner"], row["owner_ref"]) for row in self._reserved}
        self._before = Books(
            {(owner, per): self._shares(owner, now, per) for owner in owners for per in _SECONDS},
            {owner: self._budgets(owner) for owner in owners},
            {(row["schedule_ref"], row["input"]): self._estimates(row) for row in judged},
            {ref for ref, row in self._judge.shadow.schedules.items() if row["paused_by"] == "budget"},
        )
        for row in self._reserved:
            self._spendings[row["owner"], row["owner_ref"]].append(row)
        charged = [change.row for change in changes if change.table == "receipts" and change.row["credits"]]
        self._charged_at |= {row["run_ref"]: now for row in charged}

    def close(self, now: int, changes: Iterable[Change]) -> None:
        """All of it was looked at: what has started had room, and has it now."""
        for row in self._reserved:
            self._judge_reservation(now, row)
        kept = {(row["owner"], row["owner_ref"], row["run_ref"]) for row in self._reserved}
        for change in changes:
            row = change.row
            if (change.table, change.deed, row.get("status")) == ("runs", "insert", Status.RUNNING):
                budget = self._judge.shadow.policies(row["schedule_ref"], row["version"]).budget
                if budget is not None and ("schedule", row["schedule_ref"], row["ref"]) not in kept:
                    self._accuse("budgets hold", f"{self._judge.name_of(row)} started, and nothing was set aside")
            elif change.table == "schedules" and row["paused_by"] == "budget" and row["ref"] not in self._before.paused:
                self._judge_pause(row, changes)

    def unexplained(self, moment: "Moment", row: Row) -> str | None:
        """What speaks against that there was no room for the run."""
        schedule, now = row["schedule_ref"], moment.now
        estimates = self._before.estimates[schedule, row["input"]] | self._estimates(row)
        wanted = max(1 if estimate is None else estimate for estimate in estimates)
        if wanted == 0:
            return "it is known to cost nothing"
        spent = {owner: self._most_spent(owner, now) for owner in self._owners(schedule)}
        full = [
            allowed
            for owner, by_span in spent.items()
            for allowed in self._budgets(owner) | self._before.budgets.get(owner, set())
            if allowed.credits - by_span[allowed.per] < wanted
        ]
        if not full:
            return f"there was room for {wanted}: {spent} of {[self._budgets(owner) for owner in spent]}"
        cursor = self._judge.shadow.cursors[schedule]
        if all(allowed.pauses for allowed in full) and cursor["pause_from"] is None:
            return "its schedule has not paused"
        return None

    def _judge_reservation(self, now: int, row: Row) -> None:
        run = self._judge.shadow.run(row["run_ref"])
        owner, name = (row["owner"], row["owner_ref"]), self._judge.name_of(run)
        estimates = self._before.estimates[run["schedule_ref"], run["input"]] | self._estimates(run)
        # Of what nobody knows the cost of, all that is left is set aside; so it is for a guess above a whole budget.
        is_unknown = None in estimates or self._is_above_all(run["schedule_ref"], estimates, now)
        if row["reserved"] not in estimates and (not is_unknown or row["reserved"] < 1):
            self._accuse("budgets hold", f"{name} has {row['reserved']} set aside, and may cost {estimates}")
        if 0 in estimates:
            return
        allowed = self._budgets(owner) | self._before.budgets[owner]
        new = sum(other["reserved"] for other in self._reserved if (other["owner"], other["owner_ref"]) == owner)
        spent = self._least_spent(owner, now)
        if not any(spent[each.per] + max(new, 1) <= each.credits for each in allowed):
            self._accuse("budgets hold", f"{name} started with {row['reserved']}: {owner} has {spent} of {allowed}")

    def _is_above_all(self, schedule: int, estimates: set[int | None], now: int) -> bool:
        """Whether one of the estimates is above a budget, of those that nothing was taken of."""
        owners = self._owners(schedule)
        allowed = [(owner, each) for owner in owners for each in self._before.budgets.get(owner, set())]
        is_untouched = not any(self._least_spent(owner, now)[each.per] for owner, each in allowed)
        return is_untouched and any((estimate or 0) > each.credits for estimate in estimates for _, each in allowed)

    def _least_spent(self, owner: Owner, now: int) -> dict[str, int]:
        """Before what has just started: what was already running counts with what is set aside for it, until it is
        over, in the same breath perhaps.
        """
        new = sum(other["reserved"] for other in self._reserved if (other["owner"], other["owner_ref"]) == owner)
        before = {per: sum(self._before.shares[owner, per].values()) for per in _SECONDS}
        return {per: min(before[per], sum(self._shares(owner, now, per).values()) - new) for per in _SECONDS}

    def _judge_pause(self, row: Row, changes: Iterable[Change]) -> None:
        self._judge.story.counts["paused by budget"] += 1
        skipped = [
            change.row for change in changes if change.table == "runs" and change.row["reason"] == Reason.OVER_BUDGET
        ]
        if not any(run["schedule_ref"] == row["ref"] for run in skipped):
            self._accuse("budgets hold", f"{row['id']} paused for its budget, and no slot had found it spent")

    def _accuse(self, law: str, what: str) -> None:
        self._judge.accuse(law, what)

    def _run(self, ref: int, runs: dict[int, Row]) -> Row:
        return runs[ref] if ref in runs else self._judge.shadow.run(ref)

    def _owners(self, schedule: int) -> list[Owner]:
        """Whose budgets its runs are under, as far as is known now."""
        row = self._judge.shadow.schedules.get(schedule)
        grant = [] if row is None else [("grant", row["grant_ref"])]
        return [("schedule", schedule), *grant]

    def _budgets(self, owner: Owner) -> set[Allowed]:
        """At most one."""
        kind, ref = owner
        shadow = self._judge.shadow
        rows = shadow.schedules if kind == "schedule" else shadow.grants
        if ref not in rows:
            return set()
        text = rows[ref]["policies" if kind == "schedule" else "budget"]
        said = None if text is None else json.loads(text)
        said = said.get("budget") if kind == "schedule" and said is not None else said
        return set() if said is None else {Allowed(said["credits"], said["per"], said["when_spent"] == "pause")}

    def _shares(self, owner: Owner, now: int, per: str) -> dict[int, int]:
        """What each of the runs that were charged within the span has cost.

        Those that are not over, or that nobody knows the cost of, at least what is set aside.
        """
        shares: dict[int, int] = defaultdict(int)
        for row in self._spendings[owner]:
            run = self._judge.shadow.runs.get(row["run_ref"])
            cost = self._cost_of(row["run_ref"])
            if run is not None and run["status"] not in FINAL:
                shares[row["run_ref"]] += max(row["reserved"], cost)
                continue
            at = self._charged_at.get(row["run_ref"]) or row["at"]
            if at > now - _SECONDS[per] * MICROSECONDS:
                shares[row["run_ref"]] += max(row["reserved"], cost) if self._is_unknown(row["run_ref"]) else cost
        return shares

    def _most_spent(self, owner: Owner, now: int) -> dict[str, int]:
        """One run may have ended after another began, both within this transaction: each counts with its most."""
        most = {}
        for per in _SECONDS:
            before, after = self._before.shares.get((owner, per), {}), self._shares(owner, now, per)
            most[per] = sum(max(before.get(run, 0), after.get(run, 0)) for run in {*before, *after})
        return most

    def _cost_of(self, run: int) -> int:
        return sum(receipt["credits"] or 0 for receipt in self._receipts.get(run, {}).values())

    def _is_unknown(self, run: int) -> bool:
        return any(receipt["credits"] is None for receipt in self._receipts.get(run, {}).values())

    def _estimates(self, run: Row) -> set[int | None]:
        """What the run may cost, by the last successes or its model; of runs of one time any may be the last."""
        schedule, own = run["schedule_ref"], run["input"]
        row = self._judge.shadow.schedules.get(schedule)
        if row is None:
            return set()
        if _model_in(own) not in (None, _model_in(row["input"])):
            self._judge.story.counts["by another model"] += 1
            return {estimate_of(own)}
        done = [
            (-run["nominal_at"], _UNKNOWN if self._is_unknown(run["ref"]) else self._cost_of(run["ref"]))
            for run in self._judge.shadow.runs.values()
            if run["schedule_ref"] == schedule and run["status"] == Status.SUCCESS
        ]
        found: set[int | None] = set()
        for sign in (1, -1):
            last = sorted(done, key=lambda each: (each[0], sign * each[1]))[:_RECENT]
            costs = [cost for _, cost in last if cost != _UNKNOWN]
            if any(costs) or (costs and _model_in(row["input"] if own is None else own) is None):
                # What has cost nothing so far may cost something yet.
                found |= {max(1, round_it(median(costs))) for round_it in (floor, ceil)}
            else:
                found.add(estimate_of(row["input"] if own is None else own))
        return found
