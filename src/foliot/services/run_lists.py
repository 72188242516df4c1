"""Lists of runs, a stretch at a time. Each looks at so many rows at most, however long the ledger has become.

Who sees everything is shown runs in the order of recording. Everybody else, and whoever asks for one schedule, is shown
those of a few schedules by nominal time, which is how a schedule's runs are found without looking at those of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from foliot.domain.instants import moment_of
from foliot.domain.runs import OPEN, Hold, Kind, Reason, Status, decision_of
from foliot.domain.slots import SlotKey, run_id, trace_id
from foliot.domain.windows import window_of
from foliot.lines import RunLine, RunPlace, RunSearch
from foliot.ports import Transaction
from foliot.services.stretches import Place, Stretch, stretch_of

LOOKED_AT = 10_000
"""So many rows are looked at for one stretch, where a filter leaves out most."""
FEW = 1_000
"""Whoever has more schedules than that is shown their runs in the order of recording."""
_TRIES = 3
"""Windows that are looked into, while nothing is found."""
_LATEST = 2**62
_NEWEST = RunPlace(_LATEST, _LATEST, _LATEST, _LATEST)
_IN_ORDER = -1
"""In place of a nominal time: a place in the order of recording."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as lists show it: without what it was given and has come to."""

    id: str
    schedule: str
    kind: Kind
    scheduled_for: datetime
    due_at: datetime
    attempt: int
    status: Status
    reason: Reason | None
    hold: Hold | None
    decision: str
    idempotency_key: str
    retry_of: str | None
    error: str | None
    """How it begins."""
    losses: int
    trace_id: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def summary_of(line: RunLine) -> RunSummary:
    key = SlotKey(line.schedule_id, Kind(line.kind), line.nominal_at, line.backfill)
    status, named = Status(line.status), run_id(key, line.attempt)
    reason = None if line.reason is None else Reason(line.reason)
    hold = None if line.hold is None else Hold(line.hold)
    return RunSummary(
        id=named,
        schedule=line.schedule_id,
        kind=key.kind,
        scheduled_for=moment_of(line.nominal_at),
        due_at=moment_of(line.due_at),
        attempt=line.attempt,
        status=status,
        reason=reason,
        hold=hold,
        decision=decision_of(status, reason, hold),
        idempotency_key=str(key),
        retry_of=None if line.retry_of is None else run_id(key, line.attempt - 1),
        error=line.error,
        losses=line.losses,
        trace_id=trace_id(named),
        created_at=moment_of(line.created_at),
        started_at=None if line.started_at is None else moment_of(line.started_at),
        ended_at=None if line.ended_at is None else moment_of(line.ended_at),
    )


def list_runs(
    tx: Transaction, wanted: RunSearch, schedule_ref: int | None, after: RunPlace | None, limit: int
) -> Stretch[RunSummary]:
    """The next of what is wanted: of one schedule, of those of an owner, or of all."""
    if schedule_ref is not None:
        return _by_time(tx, wanted, [schedule_ref], after or _NEWEST, limit)
    if after is not None and after.nominal_at == _IN_ORDER:
        return _in_order(tx, wanted, after.ref, limit)
    if wanted.owner is not None:
        refs = tx.schedules_of(wanted.owner, FEW + 1)
        if len(refs) <= FEW:
            return _by_time(tx, wanted, refs, after or _NEWEST, limit)
    return _in_order(tx, wanted, None, limit)


def _in_order(tx: Transaction, wanted: RunSearch, before: int | None, limit: int) -> Stretch[RunSummary]:
    is_filtered = wanted != RunSearch() and wanted.status not in OPEN
    for _ in range(_TRIES):
        since = tx.ref_before(before, LOOKED_AT) if is_filtered else None
        found = tx.newest_lines(wanted, before, since or 0, limit + 1)
        stretch = stretch_of(found, limit, summary_of, lambda line: _order_place(line.ref))
        if stretch.rest is not None or since is None:
            return stretch
        stretch = stretch._replace(rest=_order_place(since))
        if stretch.items:
            break
        before = since
    return stretch


def _order_place(ref: int) -> Place:
    return (_IN_ORDER, 0, 0, ref)


def _by_time(
    tx: Transaction, wanted: RunSearch, refs: Sequence[int], after: RunPlace, limit: int
) -> Stretch[RunSummary]:
    earliest = wanted.since or 0
    if wanted.until is not None and wanted.until < after.nominal_at:
        after = _NEWEST._replace(nominal_at=wanted.until)
    if wanted.status in OPEN:
        return _stretch(tx.lines_of(refs, wanted, earliest, after, limit + 1), limit)
    is_filtered = wanted._replace(owner=None, since=None, until=None) != RunSearch()
    for _ in range(_TRIES):
        last_at = tx.newest_nominal(refs, after.nominal_at) if refs else None
        if last_at is None or last_at < earliest:
            return Stretch([], None)
        width = _width(tx, refs, earliest, last_at, LOOKED_AT // 2 if is_filtered else limit + 1)
        first_at = earliest if width is None else max(earliest, last_at - width)
        stretch = _stretch(tx.lines_of(refs, wanted, first_at, after, limit + 1), limit)
        if stretch.rest is not None or first_at == earliest:
            return stretch
        # All of the window was looked at: what is left is older.
        after = RunPlace(first_at, 0, 0, 0)
        if stretch.items:
            break
    return Stretch(stretch.items, after)


def _width(tx: Transaction, refs: Sequence[int], earliest: int, last_at: int, enough: int) -> int | None:
    def count(width: int | None) -> int:
        first_at = earliest if width is None else max(earliest, last_at - width)
        return tx.count_between(refs, first_at, last_at, LOOKED_AT + 1)

    return window_of(count, enough, LOOKED_AT)


def _stretch(found: Sequence[RunLine], limit: int) -> Stretch[RunSummary]:
    return stretch_of(
        found, limit, summary_of, lambda line: RunPlace(line.nominal_at, line.schedule_ref, line.created_at, line.ref)
    )
