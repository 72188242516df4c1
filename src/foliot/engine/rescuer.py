"""The rescuer: runs whose worker is gone, and runs that a worker does not know it holds."""

from collections.abc import Container
from typing import NamedTuple

from foliot.books.configurations import Configurations
from foliot.books.ending import end_of_row, post_end
from foliot.books.entries import Entries
from foliot.domain.runs import Order, Reason, Status
from foliot.domain.settlement import BY_ORDER, Outcome, is_given_up
from foliot.ports import Transaction
from foliot.rows import Leased, RunRow

_AT_ONCE = 500


class Rescue(NamedTuple):
    runs: int
    has_more: bool
    after: int | None = None
    """For so long the lease of those who are gone was over."""


NOBODY = Rescue(0, has_more=False)


def rescue(tx: Transaction, entries: Entries, known: Configurations, me: int) -> Rescue:
    """Take the runs of workers whose lease has run out, and make them ready for others; some at a time."""
    for worker in tx.expired(me):
        tx.stop(worker.ref)
        runs = entries.crew.chosen(tx.leased_runs(worker.ref, _AT_ONCE), _schedule_of)
        if runs:
            return Rescue(_take_away(tx, entries, known, runs, loss=1), has_more=True)
        # Its own last transaction may hold some of them still: they are looked at again.
        if not tx.leased(worker.ref):
            tx.forget_lease(worker.ref)
    return NOBODY


def _schedule_of(run: RunRow) -> int:
    return run.schedule_ref


def _take_away(tx: Transaction, entries: Entries, known: Configurations, runs: list[RunRow], loss: int) -> int:
    # Whoever holds the schedule may wait for these very runs: what is not free is left for the next time.
    states = {state.ref: state for state in tx.states_free({run.schedule_ref for run in runs})}
    configurations = known.of(tx, states.values())
    free = [run for run in runs if run.schedule_ref in states]
    tx.lose([(run.losses + loss, states[run.schedule_ref].target, tx.now, run.ref) for run in free])
    for run in free:
        state, outcome = states[run.schedule_ref], _last_word(run, loss)
        if outcome is not None:
            entries.end_run(configurations[state.ref].id, run, outcome.status, outcome.reason)
            states[state.ref] = post_end(tx, entries, configurations[state.ref], state, end_of_row(run, outcome))
    entries.write(tx)
    return len(free)


def _last_word(run: RunRow, loss: int) -> Outcome | None:
    """How a run ends that has no worker; None when it is delivered once more: not if somebody wants it to stop."""
    if run.orders is not None:
        return BY_ORDER[Order(run.orders)]
    return Outcome(Status.ERROR, Reason.LOST) if loss and is_given_up(run.losses + loss) else None


def hand_back(tx: Transaction, entries: Entries, known: Configurations, worker: int, held: Container[int]) -> bool:
    """Make ready for others what the ledger says this worker holds and it does not; whether that was all of it.

    They are left over when a commit succeeded and its answer was lost, or when the worker stops: no loss is counted.
    The worker must keep its lease for what is not free now: by that it is found.
    """
    runs = [run for run in tx.leased_runs(worker, 1_000_000) if run.ref not in held]
    runs = entries.crew.chosen(runs, _schedule_of)
    _take_away(tx, entries, known, runs, loss=0)
    return all(lease.ref in held for lease in tx.leased(worker))


class Recall(NamedTuple):
    """What a worker learns from the ledger about the runs that it holds."""

    gone: list[int]
    """No longer its own."""
    unknown: bool
    """Whether the ledger says that it holds others besides."""
    orders: dict[int, Order]


def recall(held: dict[int, int], leased: list[Leased]) -> Recall:
    """Compare what a worker holds, token by run, with what the ledger says."""
    by_ref = {lease.ref: lease for lease in leased}
    gone = [ref for ref, token in held.items() if ref not in by_ref or by_ref[ref].token != token]
    orders = {lease.ref: Order(lease.orders) for lease in leased if lease.orders is not None}
    return Recall(gone, any(ref not in held for ref in by_ref), orders)
