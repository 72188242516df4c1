"""What the client does about money: it pays in, asks for some of it back, and completes costs that nobody knew."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from foliot.domain.credits import usage_of
from foliot.execution.till import Till
from foliot.services.accounts import AccountVerbs
from foliot.services.desk import Desk
from tests.simulation.usage import USERS, Call, drawn_budget

if TYPE_CHECKING:
    from tests.simulation.client import Client

_TRIES = 3
_LOOKED_AT = 8


class Purse:
    """The client's hand at the till."""

    def __init__(self, client: "Client", desk: Desk, till: Till, chance: Random) -> None:
        self.pays: Callable[[str, int], None] = lambda reference, amount: None
        """Who must know what is about to be paid,"""
        self.says: Callable[[str, Call], None] = lambda run, call: None
        """and what is about to be reported of a run."""
        self._accounts = AccountVerbs(desk)
        self._client = client
        self._till = till
        self._chance = chance
        self._payments = 0

    def deeds(self) -> list[tuple[int, Callable[[str], None]]]:
        return [(8, self._pay), (6, self._complete), (1, self._take_back), (1, self._limit), (2, self._allow)]

    def settle_in(self) -> None:
        """Everybody has something to begin with."""
        for user in USERS:
            self._top_up(user, 3_000_000)

    def _pay(self, _: str) -> None:
        self._top_up(self._chance.choice(USERS), self._chance.choice((300_000, 2_000_000, 8_000_000)))

    def _top_up(self, user: str, credits: int) -> None:
        """Who was not told that it is done pays again, under the same reference."""
        self._payments += 1
        reference = f"{user} pays {self._payments}"
        self.pays(reference, credits)
        for _ in range(_TRIES):
            if self._client.do("top up", reference, lambda: self._accounts.top_up(user, credits, reference)):
                return

    def _complete(self, _: str) -> None:
        """A cost that nobody knew is known now; and is said twice, for good measure."""
        for run in self._some_runs():
            for receipt in self._client.runs.receipts(run):
                if receipt.credits is None:
                    call = Call(receipt.unit, receipt.model, None, f"0.{self._chance.randint(1, 150):05d}")
                    self._report(run, call)
                    self._report(run, call)
                    return

    def _report(self, run: str, call: Call) -> None:
        self.says(run, call)
        usage = usage_of(call.unit, model=call.model, tokens=call.tokens, cost=call.cost)
        self._client.do("report", f"{run} {call.unit}", partial(self._till.report, run, usage))

    def _take_back(self, _: str) -> None:
        for run in self._some_runs():
            for receipt in self._client.runs.receipts(run):
                if receipt.credits:
                    refund = partial(self._accounts.refund, receipt.source, receipt.reference)
                    self._client.do("refund", receipt.reference, refund)
                    return

    def _some_runs(self) -> list[str]:
        found = self._client.runs.list(status=self._chance.choice(("success", "success", "error", "cancelled")))
        return [run.id for run in self._chance.sample(found, min(_LOOKED_AT, len(found)))]

    def _limit(self, _: str) -> None:
        user, limited = self._chance.choice(USERS), self._chance.random() < 0.8
        self._client.do("limit", user, lambda: self._accounts.limit(user, limited))

    def _allow(self, name: str) -> None:
        grant = self._client.schedules.get(name).grant
        budget = self._chance.choice((None, drawn_budget(self._chance), drawn_budget(self._chance)))
        self._client.do("allow", grant, lambda: self._client.grants.allow(grant, budget))
