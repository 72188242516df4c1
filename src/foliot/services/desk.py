"""What every verb needs: who asks, the database, and a way to tell the engines that something was written."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar, cast

from foliot.books.configurations import Scheduled, scheduled
from foliot.books.decided import DecidedSlot, DecisionCounts, is_told, tell
from foliot.books.entries import Crew, Entries
from foliot.books.permits import Permits
from foliot.domain.access import LOCAL_PRINCIPAL, Principal, Right, check_right
from foliot.domain.credits import Pricing
from foliot.domain.delivery import ANSWERS_KEPT, KeyReused
from foliot.domain.errors import Denied, NotFound, Refusal
from foliot.domain.schedule import State, slug_of, user_of
from foliot.domain.trail import Deed, SignedDeed
from foliot.joint import Joint
from foliot.ports import Carrier, Database, Transaction
from foliot.rows import AnswerRow, ScheduleRow

G = TypeVar("G")
R = TypeVar("R")
T = TypeVar("T")


class Found(NamedTuple):
    """A schedule that a verb works on: its cold half, its state, held for the transaction, and its configuration."""

    row: ScheduleRow
    state: State
    schedule: Scheduled


class Told(NamedTuple):
    """What is answered over the network."""

    status: int
    headers: Mapping[str, str]
    body: str


class Once(NamedTuple):
    """A write under a key: carried out once, and answered from memory after that."""

    scope: str
    """Who asks, and for what kind of thing: nobody is told what somebody else was."""
    key: str
    fingerprint: str
    """Of what is asked."""
    told: Callable[[Any], Told]
    """What is answered when it comes to that."""


class Caller(NamedTuple):
    """Who asks, and how."""

    principal: Principal = LOCAL_PRINCIPAL
    request_id: str | None = None
    address: str | None = None
    once: Once | None = None


class CarriedOut(NamedTuple):
    """What came of an act, and who has to know of it once it is committed."""

    result: Any
    recalls: bool
    look_at: int | None
    decided: Sequence[DecidedSlot]
    registered: int
    """How many of the program's targets are known to the database by then."""


class ToldBefore(Exception):
    """That was asked before, under the same key: nothing was done now."""

    def __init__(self, told: Told) -> None:
        super().__init__("answered from memory")
        self.told = told


class Shop:
    """What the desks of all callers share."""

    def __init__(
        self,
        database: Database,
        wake: Callable[[bool, int | None], None],
        pricing: Pricing,
        targets: Callable[[], Sequence[str]] = tuple,
        carrier: Carrier | None = None,
    ) -> None:
        self.database = database
        self.wake = wake
        self.pricing = pricing
        self.targets = targets
        self.carrier = carrier
        """Who takes letters to webhooks; None: nothing is sent from here."""
        self.registered = 0
        """How many of the program's targets are known to the database."""
        self.counts = DecisionCounts()
        """What the verbs of this process have decided."""
        # Verbs are carried out on many threads.
        self._counting = Lock()

    def tell(self, decided: Sequence[DecidedSlot]) -> None:
        """A verb that has decided this is committed: it is counted and written in the log."""
        with self._counting:
            self.counts.count(decided)
        if is_told():
            tell(decided)

    def carry_out(
        self,
        tx: Transaction,
        act: Callable[[Transaction, Entries], Any],
        signed: Callable[[Sequence[Deed]], Sequence[SignedDeed]],
    ) -> CarriedOut:
        """Do it in this transaction, and write its entries and who did it."""
        targets = self.targets()
        is_registered = len(targets) == self.registered
        if not is_registered:
            tx.register_targets(tx.unregistered(targets))
        entries = Entries(tx, Crew(), Permits(self.pricing))
        result = act(tx, entries)
        entries.write(tx)
        if entries.deeds:
            tx.append_deeds(signed(entries.deeds))
        tx.notify("recall" if entries.recalls else "look")
        look_at = entries.look_at if is_registered else 0
        return CarriedOut(result, entries.recalls, look_at, entries.decided, len(targets))


class Desk:
    """Where the verbs of one caller are carried out, each in one transaction.

    The first that writes registers the program's targets.
    """

    def __init__(self, shop: Shop, caller: Caller | None = None) -> None:
        self._shop = shop
        self.caller = caller or Caller()

    @property
    def principal(self) -> Principal:
        return self.caller.principal

    @property
    def pricing(self) -> Pricing:
        return self._shop.pricing

    @property
    def carrier(self) -> Carrier | None:
        return self._shop.carrier

    def check_new(self) -> None:
        """ToldBefore when this was done under the caller's key already."""
        once = self.caller.once
        if once is not None:
            self.read(lambda tx: _stale_answer(tx, once))

    def write(self, act: Callable[[Transaction, Entries], T]) -> T:
        """Do it, write its entries and who did it, and wake whoever may have work now.

        ToldBefore when it was done under the caller's key already.
        """
        once = self.caller.once

        def whole(tx: Transaction) -> CarriedOut:
            if once is not None:
                _check_new(tx, once)
            written = self._shop.carry_out(tx, act, lambda deeds: [self.signed(deed) for deed in deeds])
            if once is not None:
                _keep(tx, once, written.result)
            return written

        return cast(T, self._committed(whole))

    def write_shown(self, act: Callable[[Transaction, Entries], R], shown: Callable[[R], T]) -> T:
        """The same, with more to make of what was written: nobody else who writes waits for that.

        Only what is told again under the caller's key is made in the transaction that keeps it.
        """
        if self.caller.once is None:
            return shown(self.write(act))
        return self.write(lambda tx, entries: shown(act(tx, entries)))

    def write_along(self, act: "ForAll[G, R]", given: G, shown: Callable[[R], T]) -> T:
        """The same, in fewer statements where others want the like at the same time. It notes one deed for each."""
        commission = Commission(self, given)
        if self.caller.once is not None:
            return self.write_shown(lambda tx, entries: act(tx, entries, [commission])[0], shown)

        def for_all(tx: Transaction, commissions: Sequence[Commission[G]]) -> list[CarriedOut]:
            written = self._shop.carry_out(
                tx, lambda tx, entries: act(tx, entries, commissions), partial(_each_signed, commissions)
            )
            rest = written._replace(decided=())
            return [(rest if number else written)._replace(result=one) for number, one in enumerate(written.result)]

        return shown(self._committed(Joint((act, self._shop), commission, for_all)))

    def signed(self, deed: Deed) -> SignedDeed:
        """As the caller's."""
        return SignedDeed(deed, self.principal.user, self.caller.request_id, self.caller.address)

    def _committed(self, act: Callable[[Transaction], CarriedOut]) -> Any:
        try:
            written = self._shop.database.write(act)
        except Refusal:
            # Perhaps because it has just been done, by who told the same under the same key at the same time.
            self.check_new()
            raise
        if written.decided:
            self._shop.tell(written.decided)
        self._shop.registered = written.registered
        self._shop.wake(written.recalls, written.look_at)
        return written.result

    def read(self, act: Callable[[Transaction], T]) -> T:
        return self._shop.database.read(act)

    def snapshot(self, act: Callable[[Transaction], T]) -> T:
        """Read what was there at one moment, perhaps for minutes."""
        return self._shop.database.snapshot(act)

    def check(self, right: Right) -> None:
        """Denied unless the caller has the right."""
        check_right(self.principal, right)

    def user(self, user: str | None) -> str:
        """For whom something is done: the caller, or for admins whom they name."""
        if user is None:
            return self.principal.user
        if not self.principal.sees(user_of(user)):
            raise Denied(f"{self.principal.user} may not act for {user!r}: leave the user out, or ask an admin")
        return user

    def check_known(self, tx: Transaction, user: str) -> None:
        """NotFound when there is no such user, and whoever asks over the network may only have mistyped one."""
        if self.principal.key is not None and user != self.principal.user and tx.user(user) is None:
            raise NotFound(
                f"there is no user {user!r}: `users.list()` shows those that there are, and `users.put()` makes one"
            )

    def find(self, tx: Transaction, name: str) -> Found:
        """The schedule of that id or name, held for this transaction; NotFound when there is none for the caller."""
        row = self.find_row(tx, name)
        (state,) = tx.states([row.ref])
        # Read again under the lock: what was read before it may have changed since.
        (row,) = tx.configurations([row.ref])
        if row.deleted_at is not None:
            raise _no_schedule(name)
        return Found(row, state, scheduled(row))

    def find_row(self, tx: Transaction, name: str, *, deleted: bool = False) -> ScheduleRow:
        """Its cold half alone; the ledger of a deleted schedule may still be asked for."""
        row = tx.schedule(slug_of(name))
        if row is None or (row.deleted_at is not None and not deleted) or not self.principal.sees(row.owner):
            raise _no_schedule(name)
        return row


class Commission(NamedTuple, Generic[G]):
    """What somebody wants who may be served along with others."""

    desk: Desk
    given: G


ForAll = Callable[[Transaction, Entries, Sequence[Commission[G]]], Sequence[R]]
"""Does what several want, and says what came of each."""


def _each_signed(commissions: Sequence[Commission[Any]], deeds: Sequence[Deed]) -> list[SignedDeed]:
    """The deed of each, by who wanted it."""
    return [commission.desk.signed(deed) for commission, deed in zip(commissions, deeds, strict=True)]


def _check_new(tx: Transaction, once: Once) -> None:
    if _stale_answer(tx, once) is not None:
        tx.remove_answer(once.scope, once.key)


def _stale_answer(tx: Transaction, once: Once) -> AnswerRow | None:
    """What was answered under that key so long ago that it no longer counts, if anything was."""
    known = tx.answer(once.scope, once.key)
    if known is None or known.created_at <= tx.now - ANSWERS_KEPT:
        return known
    if known.fingerprint != once.fingerprint:
        raise KeyReused(f"the key {once.key!r} was used for something else: give this request its own")
    raise ToldBefore(Told(known.status, json.loads(known.headers), known.body))


def _keep(tx: Transaction, once: Once, result: Any) -> None:
    told = once.told(result)
    headers = json.dumps(dict(told.headers))
    tx.keep_answer(AnswerRow(once.scope, once.key, once.fingerprint, told.status, headers, told.body, tx.now))


def _no_schedule(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}: `schedules.list()` shows those that there are")
