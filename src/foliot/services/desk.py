"""What every verb needs: the database, and a way to tell the engines that something was written."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from foliot.books.configurations import Scheduled, scheduled
from foliot.books.entries import Crew, Entries
from foliot.books.permits import Permits
from foliot.domain.credits import Pricing
from foliot.domain.errors import NotFound
from foliot.domain.schedule import State, slug_of
from foliot.ports import Database, Transaction
from foliot.rows import ScheduleRow

T = TypeVar("T")


class Found(NamedTuple):
    """A schedule that a verb works on: its cold half, its state, held for the transaction, and its configuration."""

    row: ScheduleRow
    state: State
    schedule: Scheduled


class Desk:
    """Where verbs are carried out, each in one transaction. The first that writes registers the program's targets."""

    def __init__(
        self,
        database: Database,
        wake: Callable[[bool], None],
        pricing: Pricing,
        targets: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._database = database
        self._wake = wake
        self.pricing = pricing
        self._targets = targets
        self._registered = 0

    def write(self, act: Callable[[Transaction, Entries], T]) -> T:
        """Do it, write its entries, and wake whoever may have work now."""
        recalls = False
        targets = self._targets()

        def whole(tx: Transaction) -> T:
            nonlocal recalls
            if len(targets) != self._registered:
                tx.register_targets(tx.unregistered(targets))
            entries = Entries(tx, Crew(), Permits(self.pricing))
            result = act(tx, entries)
            entries.write(tx)
            recalls = entries.recalls
            tx.notify("recall" if recalls else "look")
            return result

        result = self._database.write(whole)
        self._registered = len(targets)
        self._wake(recalls)
        return result

    def read(self, act: Callable[[Transaction], T]) -> T:
        return self._database.read(act)


def find(tx: Transaction, name: str) -> Found:
    """The schedule of that id or name, held for this transaction; NotFound when there is none, or it is deleted."""
    row = find_row(tx, name)
    (state,) = tx.states([row.ref])
    # Read again under the lock: what was read before it may have changed since.
    (row,) = tx.configurations([row.ref])
    if row.deleted_at is not None:
        raise _no_schedule(name)
    return Found(row, state, scheduled(row))


def find_row(tx: Transaction, name: str, *, deleted: bool = False) -> ScheduleRow:
    """Its cold half alone; the ledger of a deleted schedule may still be asked for."""
    row = tx.schedule(slug_of(name))
    if row is None or (row.deleted_at is not None and not deleted):
        raise _no_schedule(name)
    return row


def _no_schedule(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}: `schedules.list()` shows those that there are")
