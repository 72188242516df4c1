"""The judge of money: balances and their postings, receipts and what the runs say they used, and who could pay."""

from collections import defaultdict
from fractions import Fraction
from math import ceil, inf
from typing import TYPE_CHECKING

from foliot.domain.runs import Status
from tests.simulation.audit import Change, Row
from tests.simulation.budgeting import Budgeting, estimate_of
from tests.simulation.story import Execution
from tests.simulation.usage import FREE, PAID, USD_PER_TOKEN, Call

if TYPE_CHECKING:
    from tests.simulation.judge import Judge

_TABLES = ("accounts", "postings", "receipts", "costs", "spendings")
_CREDITS = 2 * 10_000_000
"""To a dollar, with what is added."""


def price_of(call: Call) -> int | None:
    """What a call is charged with, in credits; None as long as nobody knows."""
    if call.model == FREE:
        return 0
    if call.cost is not None and (Fraction(call.cost) > 0 or call.model is None):
        return ceil(Fraction(call.cost) * _CREDITS)
    if call.model == PAID and call.tokens:
        return ceil(call.tokens * Fraction(USD_PER_TOKEN) * _CREDITS)
    return None


class Money:
    """A second set of books, kept from what was posted, beside what runs and people say."""

    def __init__(self, judge: "Judge") -> None:
        self.accounts: dict[int, Row] = {}
        self.receipts: dict[int, dict[str, Row]] = defaultdict(dict)
        """By run and unit."""
        self.postings: dict[tuple[int, str, str], Row] = {}
        """By account, kind and reference."""
        self.paid: dict[str, int] = {}
        """By reference, what somebody set out to pay."""
        self.budgeting = Budgeting(judge, self.receipts)
        self._judge = judge
        self._costs: dict[int, Row] = {}
        """By run."""
        self._posted: dict[int, int] = defaultdict(int)
        self._means: dict[int, list[tuple[float, int | None]]] = defaultdict(list)
        """By account, since when it has had so much; None: it needs nothing."""
        self._said: dict[tuple[int, str], list[Call]] = defaultdict(list)
        """By run and unit, what was reported."""
        self._billed_since: dict[int, float] = {}
        """By run, when it was charged first."""
        self._alive: set[int] = set()
        """The schedules that are not deleted."""

    def say(self, run: int, call: Call) -> None:
        """Somebody is about to report it: the run's own code, or a person."""
        self._judge.story.counts["reported again"] += (run, call.unit) in self._said
        self._said[run, call.unit].append(call)

    def open(self, now: int, changes: list[Change]) -> list[Change]:
        """Look at what a transaction did to the money; the other changes."""
        self.budgeting.open(now, changes)
        mine = [change for change in changes if change.table in _TABLES]
        receipts = [self._apply_receipt(change) for change in mine if change.table == "receipts"]
        for change in mine:
            if change.deed == "delete":
                self._accuse("the money adds up", f"{change.table} {change.row} was deleted")
            elif change.table == "accounts":
                self.accounts[change.row["ref"]] = change.row
            elif change.table == "postings":
                self._judge_posting(change)
            elif change.table == "costs":
                self._costs[change.row["run_ref"]] = change.row
        for run in {change.row["run_ref"] for change in mine if change.table in ("receipts", "costs")}:
            self._judge_cost(run)
        for account in {change.row["ref"] for change in mine if change.table == "accounts"}:
            row = self.accounts[account]
            self._means[account].append((self._judge.steady(), row["balance"] if row["is_limited"] else None))
            if row["balance"] != self._posted[account]:
                said = f"account {account} has {row['balance']}, and {self._posted[account]} was posted"
                self._accuse("the money adds up", said)
        for receipt in receipts:
            self._judge_receipt(receipt)
        return [change for change in changes if change.table not in _TABLES]

    def close(self, now: int, changes: list[Change]) -> None:
        """All that the transaction did is in the books by now."""
        self.budgeting.close(now, changes)
        for change in changes:
            if change.table == "schedules" and self._is_created(change):
                self._judge_creation(change.row)

    # Postings and receipts

    def _judge_posting(self, change: Change) -> None:
        row = change.row
        key = (row["account_ref"], row["kind"], row["reference"])
        if change.deed != "insert" or key in self.postings:
            self._accuse("each charge once", f"{row} was posted before")
        self.postings[key] = row
        self._posted[row["account_ref"]] += row["amount"]
        if row["balance_after"] != self._posted[row["account_ref"]]:
            self._accuse("the money adds up", f"{self._posted[row['account_ref']]} is there after {row}")
        if row["kind"] == "top_up":
            is_due = self.paid.get(row["reference"]) == row["amount"]
        else:
            amount = -row["amount"] if row["kind"] == "charge" else row["amount"]
            is_due = amount > 0 and amount in self._charged(row["account_ref"], row["reference"])
        if not is_due:
            self._accuse("no charge out of nothing", f"{row}")

    def _charged(self, account: int, reference: str) -> list[int]:
        return [
            receipt["credits"]
            for receipts in self.receipts.values()
            for receipt in receipts.values()
            if f"{receipt['source']} {receipt['reference']}" == reference and receipt["account_ref"] == account
        ]

    def _apply_receipt(self, change: Change) -> Row:
        row = change.row
        known = self.receipts[row["run_ref"]].get(row["unit"])
        if (change.deed == "insert") != (known is None):
            self._accuse("each charge once", f"{row} beside {known}")
        elif known is not None:
            self._judge.story.counts["cost completed later"] += 1
            if known["credits"] is not None or known["account_ref"] != row["account_ref"]:
                self._accuse("each charge once", f"{known} became {row}")
        self.receipts[row["run_ref"]][row["unit"]] = row
        self._billed_since.setdefault(row["run_ref"], self._judge.steady())
        return row

    def _judge_cost(self, run: int) -> None:
        """What the engine is told of what a run has cost is what its receipts say."""
        told = self._costs.get(run, {"credits": 0, "deferred": 0})
        amounts = [receipt["credits"] for receipt in self.receipts[run].values()]
        known = [amount for amount in amounts if amount is not None]
        if (told["credits"], told["deferred"]) != (sum(known), len(amounts) - len(known)):
            self._accuse("the money adds up", f"{told} is told of run {run}, and its receipts say {amounts}")

    def _judge_receipt(self, row: Row) -> None:
        """It is of a call that somebody made, at its price, and it was taken from who pays for the run."""
        said = self._said.get((row["run_ref"], row["unit"]), [])
        run = self._judge.shadow.run(row["run_ref"])
        if row["credits"] not in {price_of(call) for call in said}:
            self._accuse("no charge out of nothing", f"{row} of {self._judge.name_of(run)}, of which was said {said}")
        if row["account_ref"] not in self._payers(run["schedule_ref"]):
            self._accuse("who permits pays", f"{row} of {self._judge.name_of(run)}")
        posted = self.postings.get((row["account_ref"], "charge", f"{row['source']} {row['reference']}"))
        if bool(row["credits"]) != (posted is not None):
            self._accuse("the money adds up", f"{row} was posted as {posted}")

    def judge_success(self, run: Row, execution: Execution) -> None:
        """All that its code has reported is in the books, before anybody hears of its success."""
        receipts = self.receipts.get(run["ref"], {})
        for call in execution.calls:
            receipt = receipts.get(call.unit)
            # A call that was first told without its cost is still that call, whatever model a later delivery names.
            said = [*self._said.get((run["ref"], call.unit), []), call]
            is_known = all(price_of(one) is not None for one in said)
            if receipt is None or (receipt["credits"] is None and is_known):
                self._accuse("what was used is charged", f"{self._judge.name_of(run)} succeeded: {call} has {receipt}")
        exceeded = self._exceeded(run, execution)
        if exceeded:
            self._accuse("runs have limits", f"{self._judge.name_of(run)} succeeded with {exceeded}")

    def _exceeded(self, run: Row, execution: Execution) -> list[str]:
        return self._passed(run, [(call.tokens, price_of(call)) for call in execution.calls])

    def _passed(self, run: Row, calls: list[tuple[int | None, int | None]]) -> list[str]:
        """The limits that calls with so many tokens and credits pass."""
        policies = self._judge.shadow.policies(run["schedule_ref"], run["version"])
        used = {
            "calls": (len(calls), policies.max_calls),
            "tokens": (sum(tokens or 0 for tokens, _ in calls), policies.max_tokens),
            "credits": (sum(price or 0 for _, price in calls), policies.max_credits),
        }
        return [f"{number} {name}" for name, (number, most) in used.items() if most is not None and number > most]

    def _payers(self, schedule: int) -> set[int]:
        """The accounts of all who ever permitted it."""
        shadow = self._judge.shadow
        grants = {version["grant_ref"] for (ref, _), version in shadow.versions.items() if ref == schedule}
        return {shadow.grants[ref]["account_ref"] for ref in grants if ref in shadow.grants}

    # Who can pay

    def judge_begin(self, execution: Execution) -> None:
        """The code of a run begins: what is paid only on an account that could pay for it, as far as anybody knew."""
        run = self._judge.shadow.run(execution.ref)
        if run["token"] != execution.token or run["status"] != Status.RUNNING:
            return
        cost, means = estimate_of(self._input(run)), self._means_of(run)
        if not cost:
            poor = means[-1] is not None and means[-1] < 0
            self._judge.story.counts["free below nothing"] += poor and cost is not None
        elif any(balance is None or balance >= cost for balance in means):
            return
        elif run["ref"] in self._billed_since:
            self._judge.story.counts["let in again"] += 1
        else:
            name = self._judge.name_of(run)
            self._accuse("nothing paid without credits", f"{name} began, may cost {cost}, and there is {means}")

    def unexplained_poverty(self, row: Row) -> str | None:
        """What speaks against that its account could not pay for the run."""
        if (row["ref"], row["token"]) in self._judge.story.executions:
            return "its code ran"
        if self._billed_since.get(row["ref"], inf) < self._judge.launched[row["ref"], row["token"]]:
            return "it was charged before"
        cost, means = estimate_of(self._input(row)), self._means_of(row)
        if not cost:
            return "it names no paid model"
        is_poor = any(balance is not None and balance < cost for balance in means)
        return None if is_poor else f"it may cost {cost}, and there was {means}"

    def unexplained_limit(self, row: Row) -> str | None:
        """What speaks against that the run has used more than one may."""
        execution = self._judge.story.executions.get((row["ref"], row["token"]))
        receipts = self.receipts.get(row["ref"], {})
        used = {unit: (receipt["tokens"], receipt["credits"]) for unit, receipt in receipts.items()}
        for call in () if execution is None else execution.calls:
            if call.unit not in used or used[call.unit][1] is None:
                used[call.unit] = (call.tokens, price_of(call))
        return None if self._passed(row, list(used.values())) else f"it has used {used}"

    def _is_created(self, change: Change) -> bool:
        """Whether it is there from now on: for the first time, or again."""
        ref, was_there = change.row["ref"], change.row["ref"] in self._alive
        (self._alive.add if change.row["deleted_at"] is None else self._alive.discard)(ref)
        return ref in self._alive and not was_there

    def _judge_creation(self, row: Row) -> None:
        cost, account = estimate_of(row["input"]), self._judge.shadow.grants[row["grant_ref"]]["account_ref"]
        balance = self._means[account][-1][1] if self._means[account] else None
        if cost and balance is not None and balance <= 0:
            self._accuse("nothing paid without credits", f"{row['id']} was created with {balance} credits")

    def _input(self, run: Row) -> str | None:
        """Its own, else its schedule's as it was when it started."""
        own: str | None = run["input"]
        given: str | None = self._judge.shadow.versions[run["schedule_ref"], run["version"]]["input"]
        return given if own is None else own

    def _means_of(self, run: Row) -> list[int | None]:
        """What there was to pay with, from when a worker took the run until now."""
        shadow = self._judge.shadow
        grant = shadow.versions[run["schedule_ref"], run["version"]]["grant_ref"]
        since = self._judge.launched[run["ref"], run["token"]]
        history = self._means[shadow.grants[grant]["account_ref"]]
        later = [means for at, means in history if at >= since]
        return [means for at, means in history if at < since][-1:] + later

    # The end of the day

    def judge_the_end(self, accounts: list[Row]) -> None:
        if {row["ref"]: row for row in accounts} != self.accounts:
            self._accuse("the judge has seen it all", "the accounts are not what their changes say")

    def _accuse(self, law: str, what: str) -> None:
        self._judge.accuse(law, what)
