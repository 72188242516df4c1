"""The verbs on many schedules at once, by the same filter as their list. Each call is one batch and one transaction.

Who has more than a batch goes on from where it ended: so nobody waits for long, neither for the answer nor behind it.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foliot.books.configurations import labels_in, scheduled
from foliot.books.entries import Entries
from foliot.domain.errors import Invalid
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.schedule import Ordering, Standing, State, labels_of, name_of, relabelled, text_of
from foliot.ports import Transaction
from foliot.rows import ScheduleRow
from foliot.services.desk import Desk, Found
from foliot.services.editing import post_pause, post_resume, schedule_views
from foliot.services.schedule_lists import Meant, filter_of, is_everything, list_lines, ordering_said
from foliot.services.schedules import Moment
from foliot.services.stretches import Place, Stretch
from foliot.services.views import Schedule

MOST_AT_ONCE = 1_000
"""Schedules that are created or changed in one transaction."""
MOST_COUNTED = 100_000
"""A dry run counts no further."""


class Reach(NamedTuple):
    """Which schedules are meant, and how many of them now."""

    meant: Meant
    everything: bool = False
    """Also when nothing is said that leaves any out."""
    after: Place | None = None
    """Where the batch before ended."""
    limit: int = MOST_AT_ONCE
    dry_run: bool = False
    """Only count them, all of them, and name those of this batch that would be changed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What was done to some schedules, or would be."""

    found: int
    """So many were meant: in this batch, or of a dry run in all, up to 100,000."""
    changed: tuple[str, ...]
    """The ids of those of this batch that are not what they were, or of a dry run would not be."""
    rest: Place | None
    """After which place there may be more; None: that was all."""


_Change = Callable[[Transaction, Entries, Sequence[Found]], None]
"""Does it to all of them."""
_IsChanged = Callable[[ScheduleRow, State, int], bool]
"""Whether it makes one, as it is now, what it was not."""


class BulkVerbs:
    """What may be asked of many schedules."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def page(self, meant: Meant, *, order: str = Ordering.ID, after: Place | None, limit: int) -> Stretch[Schedule]:
        """A stretch of those that are wanted, without their inputs and memos, which may be long."""
        asked, ordering = filter_of(self._desk, meant), ordering_said(order)

        def act(tx: Transaction) -> Stretch[Schedule]:
            found = list_lines(tx, asked, ordering, after, limit)
            return Stretch(schedule_views(tx, found.items), found.rest)

        return self._desk.read(act)

    def pause(self, reach: Reach, note: str | None = None, *, until: Moment | None = None, by: str = "user") -> Batch:
        """Start nothing of theirs until they are resumed; those that are paused keep their note, unless asked for."""
        until_at = None if until is None else instant_of(until, "until")
        note, by = text_of("note", note), name_of("by", by)

        def change(tx: Transaction, entries: Entries, several: Sequence[Found]) -> None:
            if until_at is not None and until_at <= tx.now:
                raise Invalid(f"until takes a moment to come, got {rfc3339(until_at)}")
            for found in several:
                post_pause(tx, entries, found, note, by, until_at)
            entries.write(tx)
            tx.note_pauses([(note, by, found.row.version + 1, tx.now, found.row.ref) for found in several])

        return self._each(reach, change, lambda *_: True, otherwise=(Standing.ACTIVE, Standing.COMPLETED))

    def resume(self, reach: Reach) -> Batch:
        """End the pauses of those that are paused: what fell into one is judged by catch-up."""

        def is_paused(_: ScheduleRow, state: State, now: int) -> bool:
            return state.is_paused(now)

        def change(tx: Transaction, entries: Entries, several: Sequence[Found]) -> None:
            for found in several:
                post_resume(tx, entries, found)
            entries.write(tx)
            tx.note_pauses([(None, None, found.row.version + 1, tx.now, found.row.ref) for found in several])

        return self._each(reach, change, is_paused, otherwise=(Standing.PAUSED,))

    def label(self, reach: Reach, put: Mapping[str, str], gone: Collection[str] = ()) -> Batch:
        """Put labels on them, and take others off; the rest of their labels stay."""
        put, gone = labels_of(put), frozenset(labels_of(dict.fromkeys(gone, "")))
        if not put and not gone:
            raise Invalid("say which labels are put on schedules, or which are removed")
        if both := sorted(gone & put.keys()):
            raise Invalid(f"a label is put there or removed, not both: {', '.join(both)}")

        def has_others(row: ScheduleRow, *_: object) -> bool:
            before = labels_in(row.labels)
            return relabelled(before, put, gone) != before

        def change(tx: Transaction, entries: Entries, several: Sequence[Found]) -> None:
            rows = []
            for found in several:
                labels, version = relabelled(labels_in(found.row.labels), put, gone), found.row.version + 1
                rows.append((json.dumps(labels, separators=(",", ":")), version, tx.now, found.row.ref))
                entries.note("schedule.edit", "schedule", found.row.id, changed=["labels"], token=version)
            tx.label(rows)

        return self._each(reach, change, has_others)

    def _each(
        self, reach: Reach, change: _Change, is_changed: _IsChanged, *, otherwise: tuple[Standing, ...] = ()
    ) -> Batch:
        """Change the next of those that are meant; `otherwise` is how they stand, when nobody says how."""
        wanted = filter_of(self._desk, reach.meant)
        if is_everything(self._desk, wanted) and not reach.everything:
            raise Invalid("that would be every schedule: say which, by label, target or app, or that all are meant")
        if not wanted.standings:
            wanted = wanted._replace(standings=otherwise)

        def act(tx: Transaction, entries: Entries) -> Batch:
            found = list_lines(tx, wanted, Ordering.ID, reach.after, reach.limit)
            refs = [row.ref for row, _ in found.items]
            states = {state.ref: state for state in tx.states(refs)}
            # Read again once they are held: what was read before may have changed since.
            held = [Found(row, states[row.ref], scheduled(row)) for row in tx.matching(wanted, refs)]
            chosen = [one for one in held if is_changed(one.row, one.state, tx.now)]
            change(tx, entries, chosen)
            return Batch(len(held), tuple(one.row.id for one in chosen), found.rest)

        def rehearse(tx: Transaction) -> Batch:
            found = list_lines(tx, wanted, Ordering.ID, reach.after, reach.limit)
            ids = tuple(row.id for row, state in found.items if is_changed(row, state, tx.now))
            return Batch(tx.count_matching(wanted, MOST_COUNTED), ids, found.rest)

        return self._desk.read(rehearse) if reach.dry_run else self._desk.write(act)
