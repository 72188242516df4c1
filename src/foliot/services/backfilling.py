"""What a backfill is made of, before it is started."""

from typing import NamedTuple

from foliot.books.configurations import compiled
from foliot.domain.backfill import Attempted, Backfill, Which, choose, swept
from foliot.domain.budgets import RECENT
from foliot.domain.credits import Pricing
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, moment_of, rfc3339
from foliot.ports import Transaction
from foliot.rows import ScheduleRow
from foliot.services import views

MOST_LISTED = 100_000


def check_range(tx: Transaction, row: ScheduleRow, first: int, last: int, which: Which) -> None:
    if last * MICROSECONDS > tx.now:
        raise Invalid(f"a backfill takes moments that are over, got an end of {rfc3339(last * MICROSECONDS)}")
    if which is not Which.ALL and first * MICROSECONDS < row.pruned_before:
        raise Invalid(
            f"what ran before {rfc3339(row.pruned_before)} is no longer known: "
            "begin the backfill there, or ask for all of them, run before or not"
        )


class Extent(NamedTuple):
    """The slots that a backfill would take up now."""

    listed: list[int]
    """The first of them, in its order."""
    total: int
    """How many there are, or may be: never fewer than there are."""
    is_counted: bool
    """Whether there are exactly so many."""

    @property
    def words(self) -> str:
        return f"{self.total:,} slots" if self.is_counted else f"up to {self.total:,} slots"


def extent_of(tx: Transaction, row: ScheduleRow, asked: Backfill) -> Extent:
    """Beyond what is listed, slots are counted by the spec alone: some may have run, and be left out when it comes."""

    def runs_between(first_at: int, last_at: int) -> list[Attempted]:
        return tx.attempted(row.ref, first_at, last_at)

    (state,) = tx.states_seen([row.ref])
    asked = swept(asked, state.swept_to)
    times = compiled(row.spec)
    slots: list[int] = []
    while len(slots) <= MOST_LISTED:
        chosen = choose(times, asked, MOST_LISTED, runs_between)
        slots += chosen.nominals
        if chosen.is_exhausted:
            return Extent(slots[:MOST_LISTED], len(slots), is_counted=True)
        asked = asked._replace(done_to=chosen.done_to)
    in_spec = times.count_roughly(asked.first, asked.last)
    is_counted = in_spec.is_exact and asked.which is Which.ALL
    return Extent(slots[:MOST_LISTED], in_spec.number, is_counted)


def check_meant(tx: Transaction, row: ScheduleRow, asked: Backfill, pricing: Pricing, own: str | None) -> None:
    """Invalid when so many slots, or so much money, were asked for that somebody must say that it is meant."""
    extent, each = extent_of(tx, row, asked), cost_each(tx, row, pricing, own)
    if pricing.needs_confirmation(extent.total, each):
        cost = "" if each is None else f" for about {extent.total * each:,} credits"
        raise Invalid(
            f"a backfill of {extent.words}{cost} is started only when that is meant: confirm it, or narrow it"
        )


def cost_each(tx: Transaction, row: ScheduleRow, pricing: Pricing, own: str | None = None) -> int | None:
    """What one run may cost, with an input of its own if it has one; as it is set aside when it starts.

    Where nothing is known but that the last ones cost nothing, that is told; budgets do not go by it: what has failed
    may have cost something.
    """
    costs = tx.recent_costs(row.ref, RECENT)
    model = pricing.model_in(row.input if own is None else own)
    if costs and not any(costs) and model is None:
        return 0
    return pricing.cost_each(costs, row.input, own)


def planned_backfill(
    tx: Transaction, row: ScheduleRow, asked: Backfill, pricing: Pricing, own: str | None
) -> views.Backfill:
    """What it would be."""
    extent = extent_of(tx, row, asked)
    each = cost_each(tx, row, pricing, own)
    return views.Backfill(
        id=None,
        schedule=row.id,
        start=moment_of(asked.first * MICROSECONDS),
        end=moment_of(asked.last * MICROSECONDS),
        which=asked.which,
        order=asked.direction,
        concurrency=asked.concurrency,
        slots=tuple(moment_of(nominal * MICROSECONDS) for nominal in extent.listed),
        total=extent.total,
        credits=None if each is None else each * extent.total,
        started=0,
        running=0,
        created_at=moment_of(tx.now),
        ended_at=None,
    )


def started_backfill(tx: Transaction, row: ScheduleRow, asked: Backfill, own_input: str | None) -> views.Backfill:
    ref = tx.insert_backfill(
        schedule_ref=row.ref,
        target=row.target,
        first=asked.first,
        last=asked.last,
        which=asked.which,
        direction=asked.direction,
        concurrency=asked.concurrency,
        done_to=asked.done_to,
        wake_at=tx.now,
        input=own_input,
        created_at=tx.now,
    )
    (created,) = tx.backfills([ref])
    return views.backfill_view(created, row.id)
