"""The verbs on the trail of changes: who did what, and whether all of it is as it was written."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from foliot.domain.access import Right
from foliot.domain.policies import limit_of
from foliot.domain.schedule import name_of
from foliot.domain.trail import BEGINNING, Break, TrailEntry, breaks, cut_off
from foliot.ports import Transaction
from foliot.services.desk import Desk
from foliot.services.stretches import Stretch, stretch_of

LOOKED_AT = 10_000
"""So many entries are looked at for one stretch at most, where no index leads to those of somebody."""
CHECKED_AT_ONCE = 5_000
_BEFORE_ALL = -(2**62)
_MOST_TOLD = 100
"""Breaks of one stretch: where there are more, the first says enough."""


class ChainCheck(NamedTuple):
    """What came of checking a stretch of the chain."""

    checked: int
    breaks: Sequence[Break]
    last: int
    """The number of the last entry that was looked at,"""
    hash: str
    """and its hash: noted somewhere else, they show later that the end was not cut off."""
    is_end: bool
    """Whether there is no more after it."""


class TrailVerbs:
    """What may be asked of the trail, by admins."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def newest(
        self, *, subject: str | None = None, actor: str | None = None, before: int | None = None, limit: int = 100
    ) -> Stretch[TrailEntry]:
        """Entries, the newest first, from the one before that; with an actor perhaps fewer than there is room for."""
        self._desk.check(Right.ADMIN)
        limit_of(limit)
        about = None if subject is None else name_of("subject", subject)
        who = None if actor is None else name_of("actor", actor)

        def act(tx: Transaction) -> Stretch[TrailEntry]:
            newest = tx.newest_deeds(1, before, None, None)
            if not newest:
                return Stretch([], None)
            since = newest[0].ref - LOOKED_AT if who is not None else 0
            found = tx.newest_deeds(limit + 1, before, about, who, since)
            stretch = stretch_of(found, limit, lambda entry: entry, lambda entry: (entry.ref,))
            return stretch._replace(rest=(since,)) if stretch.rest is None and since > 1 else stretch

        return self._desk.read(act)

    def verify(self, after: int = 0, previous: str = BEGINNING, *, limit: int = CHECKED_AT_ONCE) -> ChainCheck:
        """Whether the entries after that one, whose hash it is, are as they were written, and all of them are there.

        Some thousand at once.
        """
        self._desk.check(Right.ADMIN)

        def act(tx: Transaction) -> tuple[int, list[TrailEntry], list[TrailEntry]]:
            # How many were written is read first: what is written meanwhile is not taken for missing.
            return tx.newest_written(), tx.trail(after, limit), [] if after else _before_first(tx)

        written, entries, before = self._desk.read(act)
        found = list(islice(breaks([*before, *entries], previous, after), _MOST_TOLD))
        last = entries[-1] if entries else None
        is_end = len(entries) < limit
        missing = cut_off(after if last is None else last.ref, written) if is_end else None
        return ChainCheck(
            checked=len(entries),
            breaks=found if missing is None else [*found, missing],
            last=after if last is None else last.ref,
            hash=previous if last is None else last.hash,
            is_end=is_end,
        )


def _before_first(tx: Transaction) -> list[TrailEntry]:
    """What somebody has put in where nobody ever writes."""
    return [entry for entry in tx.trail(_BEFORE_ALL, _MOST_TOLD) if entry.ref <= 0]
