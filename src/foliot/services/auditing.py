"""The slot audit as a verb: the ledger against what the specs named, a page of schedules at a time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from foliot.books.configurations import compiled
from foliot.domain.audit import (
    FOR_EVER,
    AuditedTime,
    Books,
    Fault,
    Finding,
    Reign,
    RunShape,
    audit_slots,
    unexplained,
    unjudged,
)
from foliot.domain.errors import Invalid
from foliot.domain.generation import Gap
from foliot.domain.instants import instant_of, moment_of
from foliot.domain.runs import OPEN, Kind, Reason
from foliot.domain.schedule import State
from foliot.domain.slots import SlotKey, run_id
from foliot.domain.tenures import Tenure
from foliot.ports import Transaction
from foliot.rows import RunName, ScheduleFilter, ScheduleRow
from foliot.services.desk import Desk

Moment = datetime | str
T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Told how many schedules are done, and how many there are."""

MOST_LISTED = 1000
"""Violations; all are counted."""
_AT_ONCE = 200
_ROWS_AT_ONCE = 500_000


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """Something that is wrong with the ledger, of one schedule, from its first moment to its last."""

    schedule: str
    fault: Fault
    first_at: datetime
    last_at: datetime
    slots: int
    """How many slots or runs it concerns."""
    run_id: str | None
    sentence: str


@dataclass(slots=True)
class SlotAudit:
    """What an audit has looked at, and what it has found."""

    schedules: int = 0
    slots: int = 0
    """Those that the specs named and that were swept, or skipped before: each must have one row, or lie in one gap."""
    rows: int = 0
    """Slots that have one."""
    in_gaps: int = 0
    """Slots that lie in gaps."""
    attempts: int = 0
    """Further attempts at slots."""
    others: int = 0
    """Runs of triggers and backfills, with their attempts."""
    open: int = 0
    """Runs that are not over."""
    unjudged: int = 0
    """Slots whose moment has come and that are yet to be judged: in a pause that lasts, or not swept yet."""
    found: int = 0
    """How many slots and runs there is something wrong with."""
    violations: list[LedgerFault] = field(default_factory=list)
    """What is wrong, the first of it; slots in a row that are missing are one."""

    def add(self, other: "SlotAudit") -> None:
        for name in ("schedules", "slots", "rows", "in_gaps", "attempts", "others", "open", "unjudged", "found"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.violations += other.violations[: MOST_LISTED - len(self.violations)]

    def find(self, fault: LedgerFault) -> None:
        self.found += max(1, fault.slots)
        if len(self.violations) < MOST_LISTED:
            self.violations.append(fault)


class AuditVerbs:
    """What may be asked of the ledger as a whole."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def slots(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        schedule: str | None = None,
        progress: Progress | None = None,
    ) -> SlotAudit:
        """Whether every slot from then to then has one row and an explained fate, and no other row is there.

        Of that schedule, or of all that the caller sees, deleted ones included.
        """
        extent = AuditedTime(
            0 if since is None else instant_of(since, "since"),
            FOR_EVER if until is None else instant_of(until, "until"),
        )
        if extent.first_at > extent.last_at:
            raise Invalid(f"since takes a moment before until, got {since} and {until}")
        if schedule is not None:
            return self._desk.snapshot(partial(self._one, name=schedule, extent=extent))
        owner = self._desk.principal.seen_owner
        total = self._desk.read(lambda tx: tx.count_schedules(owner))
        audit, after = SlotAudit(), ""
        while True:
            wanted = ScheduleFilter(include_deleted=True, limit=_AT_ONCE, after_id=after, owner=owner)
            page, last = self._desk.snapshot(partial(_page, wanted=wanted, extent=extent))
            audit.add(page)
            if progress is not None:
                progress(audit.schedules, max(total, audit.schedules))
            if last is None:
                return audit
            after = last

    def _one(self, tx: Transaction, name: str, extent: AuditedTime) -> SlotAudit:
        row = self._desk.find_row(tx, name, deleted=True)
        (state,) = tx.states_seen([row.ref])
        return _audited(tx, [(row, state)], extent)


def _page(tx: Transaction, wanted: ScheduleFilter, extent: AuditedTime) -> tuple[SlotAudit, str | None]:
    """The audit of some schedules, and after which to go on."""
    schedules = tx.list_schedules(wanted)
    audit = _audited(tx, schedules, extent)
    return audit, schedules[-1][0].id if len(schedules) == wanted.limit else None


def _audited(tx: Transaction, schedules: Sequence[tuple[ScheduleRow, State]], extent: AuditedTime) -> SlotAudit:
    """All that is read is of one moment, so that nobody can move a cursor past the rows that were read."""
    audit = SlotAudit(schedules=len(schedules))
    ids = {row.ref: row.id for row, _ in schedules}
    shapes = tx.run_shapes(ids, *extent)
    _count_shapes(audit, shapes)
    for row, books in _books(tx, schedules, shapes, extent):
        if books is None:
            when, why = moment_of(row.spec_since), "its spec cannot be read here, so nothing is known of its slots"
            audit.find(LedgerFault(row.id, Fault.UNREADABLE, when, when, 0, None, why))
            continue
        _add_finding(audit, row.id, audit_slots(books, extent))
        if row.deleted_at is None and books.state.remaining != 0:
            audit.unjudged += unjudged(books, extent, tx.now)
    for shape in {shape for _, shape, _ in shapes}:
        if (wrong := unexplained(shape)) is not None:
            for run in tx.runs_of_shape(ids, *extent, shape):
                audit.find(_fault_of(run, ids, Fault.UNEXPLAINED, wrong))
    for run in tx.broken_chains(ids, *extent):
        audit.find(_fault_of(run, ids, Fault.BROKEN_CHAIN, f"is attempt {run.attempt}, and follows on no failure"))
    return audit


def _count_shapes(audit: SlotAudit, shapes: Iterable[tuple[int, RunShape, int]]) -> None:
    for _, shape, count in shapes:
        if shape.kind is not Kind.SLOT:
            audit.others += count
        elif shape.is_retry:
            audit.attempts += count
        else:
            audit.rows += count
        audit.open += count * (shape.status in OPEN)


def _add_finding(audit: SlotAudit, schedule_id: str, finding: Finding) -> None:
    audit.slots += finding.slots
    audit.in_gaps += finding.in_gaps
    for fault, first_at, last_at, slots, what in finding.violations:
        audit.find(LedgerFault(schedule_id, fault, moment_of(first_at), moment_of(last_at), slots, None, what))


def _fault_of(run: RunName, ids: dict[int, str], fault: Fault, what: str) -> LedgerFault:
    schedule_id = ids[run.schedule_ref]
    name = run_id(SlotKey(schedule_id, Kind(run.kind), run.nominal_at, run.backfill), run.attempt)
    at = moment_of(run.nominal_at)
    return LedgerFault(schedule_id, fault, at, at, 1, name, f"{name} {what}")


def _books(
    tx: Transaction,
    schedules: Sequence[tuple[ScheduleRow, State]],
    shapes: Sequence[tuple[int, RunShape, int]],
    extent: AuditedTime,
) -> Iterator[tuple[ScheduleRow, Books | None]]:
    """What there is of each schedule; None when its spec cannot be read."""
    refs = [row.ref for row, _ in schedules]
    past = tx.past_specs(refs)
    gaps = _by_schedule(tx.gaps_within(refs, *extent))
    ahead = _by_schedule(tx.ahead_of_cursors(refs))
    has_skips = any(shape.reason is Reason.SKIPPED_BY_USER for _, shape, _ in shapes)
    skipped = _by_schedule(tx.skipped_moments(refs) if has_skips else ())
    for row, state, rows in _with_rows(tx, schedules, shapes, _spanned(extent, gaps.values())):
        reigns = _reigns(row, past.get(row.ref, ()))
        if reigns is None:
            yield row, None
            continue
        skips = frozenset(skipped.get(row.ref, ()))
        yield row, Books(reigns, state, row.pruned_before, rows, skips, ahead.get(row.ref, ()), gaps.get(row.ref, ()))


def _with_rows(
    tx: Transaction,
    schedules: Sequence[tuple[ScheduleRow, State]],
    shapes: Sequence[tuple[int, RunShape, int]],
    extent: AuditedTime,
) -> Iterator[tuple[ScheduleRow, State, Sequence[int]]]:
    """Each schedule with the moments that have rows; of as many at once as have few."""
    counts: dict[int, int] = defaultdict(int)
    for ref, _, count in shapes:
        counts[ref] += count
    batch: list[tuple[ScheduleRow, State]] = []
    size = 0
    for place, schedule in enumerate(schedules, 1):
        batch.append(schedule)
        size += counts[schedule[0].ref]
        if size >= _ROWS_AT_ONCE or place == len(schedules):
            found = tx.slot_moments([row.ref for row, _ in batch], *extent)
            rows = {ref: [moment for _, moment in group] for ref, group in groupby(found, itemgetter(0))}
            yield from ((row, state, rows.get(row.ref, ())) for row, state in batch)
            batch, size = [], 0


def _spanned(extent: AuditedTime, gaps: Iterable[Sequence[Gap]]) -> AuditedTime:
    """As much of the ledger as must be read to know what is in the gaps too."""
    spans = [(gap.first_at, gap.last_at) for several in gaps for gap in several]
    return AuditedTime(
        min([extent.first_at, *(first for first, _ in spans)]), max([extent.last_at, *(last for _, last in spans)])
    )


def _reigns(row: ScheduleRow, past: Sequence[Tenure]) -> list[Reign] | None:
    try:
        reigns = [Reign(compiled(tenure.spec), tenure.since, tenure.until) for tenure in past]
        return [*reigns, Reign(compiled(row.spec), row.spec_since, FOR_EVER)]
    except Invalid:
        return None


def _by_schedule(found: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
    grouped: dict[int, list[T]] = defaultdict(list)
    for ref, one in found:
        grouped[ref].append(one)
    return grouped
