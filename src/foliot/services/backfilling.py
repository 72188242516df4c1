"""What a backfill is made of, before it is started."""

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
            "begin the backfill there, or ask for which='all'"
        )


def all_slots(tx: Transaction, row: ScheduleRow, asked: Backfill) -> list[int]:
    def runs_between(first_at: int, last_at: int) -> list[Attempted]:
        return tx.attempted(row.ref, first_at, last_at)

    (state,) = tx.states_seen([row.ref])
    asked = swept(asked, state.swept_to)
    slots: list[int] = []
    chosen = choose(compiled(row.spec), asked, MOST_LISTED, runs_between)
    while True:
        slots += chosen.nominals
        if chosen.is_exhausted or len(slots) >= MOST_LISTED:
            return slots[:MOST_LISTED]
        asked = asked._replace(done_to=chosen.done_to)
        chosen = choose(compiled(row.spec), asked, MOST_LISTED, runs_between)


def check_meant(tx: Transaction, row: ScheduleRow, asked: Backfill, pricing: Pricing, own: str | None) -> None:
    """Invalid when so many slots, or so much money, were asked for that somebody must say that it is meant."""
    slots, each = len(all_slots(tx, row, asked)), cost_each(tx, row, pricing, own)
    if pricing.needs_confirmation(slots, each):
        cost = "" if each is None else f" for about {slots * each:,} credits"
        raise Invalid(
            f"a backfill of {slots:,} slots{cost} is started only when that is meant: say confirm=True, or narrow it"
        )


def cost_each(tx: Transaction, row: ScheduleRow, pricing: Pricing, own: str | None = None) -> int | None:
    """What one run may cost, with an input of its own if it has one; as it is set aside when it starts."""
    return pricing.cost_each(tx.recent_costs(row.ref, RECENT), row.input, own)


def planned_backfill(
    tx: Transaction, row: ScheduleRow, asked: Backfill, pricing: Pricing, own: str | None
) -> views.Backfill:
    """What it would be."""
    slots = tuple(moment_of(nominal * MICROSECONDS) for nominal in all_slots(tx, row, asked))
    each = cost_each(tx, row, pricing, own)
    return views.Backfill(
        id=None,
        schedule=row.id,
        start=moment_of(asked.first * MICROSECONDS),
        end=moment_of(asked.last * MICROSECONDS),
        which=asked.which,
        order=asked.direction,
        concurrency=asked.concurrency,
        slots=slots,
        credits=None if each is None else each * len(slots),
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
