"""The ledger, read from outside as plain tables, by somebody who cannot write."""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import psycopg

from tests.crash.evidence import Key
from tests.crash.plan import Planned

T = TypeVar("T")

SECOND = 1_000_000
OPEN = ("pending", "running", "waiting")


class Row(NamedTuple):
    """A run in the ledger."""

    ref: int
    schedule: str
    kind: str
    """That of a backfill has its number."""
    nominal_at: int
    attempt: int
    due_at: int
    status: str
    reason: str | None
    token: int
    losses: int
    ended_at: int | None
    worker: str | None

    @property
    def key(self) -> Key:
        return Key(self.schedule, self.kind, self.nominal_at, self.attempt)

    @property
    def pid(self) -> int | None:
        """The process whose worker recorded it last."""
        found = re.search(r":(\d+)/\d+$", self.worker or "")
        return None if found is None else int(found[1])


class Cursor(NamedTuple):
    schedule: str
    created_at: int
    spec_since: int
    swept_to: int
    running: int
    held: int
    pruned_before: int = 0
    deleted_at: int | None = None


class Gap(NamedTuple):
    schedule: str
    first_at: int
    last_at: int


class Filling(NamedTuple):
    """A backfill, from its first second to its last."""

    ref: int
    schedule: str
    first: int
    last: int
    running: int
    ended_at: int | None
    cancelled_at: int | None = None


class Posting(NamedTuple):
    account: int
    kind: str
    amount: int
    reference: str
    created_at: int


class Receipt(NamedTuple):
    reference: str
    """With its source, as its charge has it."""
    credits: int | None
    run: int = 0
    created_at: int = 0


class Ledger(NamedTuple):
    rows: list[Row]
    cursors: dict[str, Cursor]
    gaps: list[Gap]
    fillings: Sequence[Filling] = ()
    charged: Mapping[int, int] = {}
    """By run, how many receipts there are of the one call that it makes."""
    balances: Mapping[int, int] = {}
    """By account."""
    postings: Sequence[Posting] = ()
    receipts: Sequence[Receipt] = ()
    trail: Sequence[Sequence[Any]] = ()
    """Who changed what: each entry with the hash that binds it to the one before it at its end."""


NOTHING = Ledger([], {}, [])

_ROWS = """
    SELECT r.ref, s.id, CASE WHEN r.backfill = 0 THEN r.kind ELSE r.kind || ' ' || r.backfill END, r.nominal_at,
           r.attempt, r.due_at, r.status, r.reason, r.token, r.losses, r.ended_at, w.name
    FROM runs r JOIN schedules s ON s.ref = r.schedule_ref LEFT JOIN workers w ON w.ref = r.worker {} ORDER BY r.ref"""
_ONLY_OPEN = f"WHERE r.status IN {OPEN}"
_ENDED_SINCE = "WHERE r.ended_at >= {:d}"
_CURSORS = """
    SELECT s.id, s.created_at, s.spec_since, c.swept_to, c.running, c.held, s.pruned_before, s.deleted_at
    FROM schedules s JOIN cursors c ON c.ref = s.ref"""
_GAPS = "SELECT s.id, g.first_at, g.last_at FROM gaps g JOIN schedules s ON s.ref = g.schedule_ref"
_FILLINGS = """
    SELECT b.ref, s.id, b.first, b.last, b.running, b.ended_at, b.cancelled_at
    FROM backfills b JOIN schedules s ON s.ref = b.schedule_ref"""


_CHARGED = "SELECT run_ref, count(*) FROM receipts WHERE unit = 'call' GROUP BY run_ref"
_BALANCES = "SELECT ref, balance FROM accounts"
_POSTINGS = "SELECT account_ref, kind, amount, reference, created_at FROM postings ORDER BY ref"
_TRAIL = "SELECT ref, at, actor, action, subject, details, request_id, address, hash FROM trail ORDER BY ref"
_RECEIPTS = "SELECT source || ' ' || reference, credits, run_ref, created_at FROM receipts ORDER BY ref"


def read_ledger(url: str) -> Ledger:
    """What is committed; an empty ledger where there is none yet."""
    return read_with(url, _ledger, NOTHING)


def read_ended_since(url: str, since: int) -> list[Row]:
    """The final rows that ended then or later."""
    return read_with(url, lambda cx: _rows(cx, _ENDED_SINCE.format(since)), [])


def is_over(url: str, plan: Sequence[Planned], end: int) -> bool:
    """Whether every schedule has come to its end, in seconds since 1970, and nothing is open any more."""
    if time.time() < end:
        return False
    ledger = read_with(url, lambda cx: _ledger(cx, _ONLY_OPEN), NOTHING)
    if ledger.rows or any(filling.ended_at is None for filling in ledger.fillings):
        return False
    if any(planned.name not in ledger.cursors for planned in plan):
        return False
    named = {planned.name: named_slots(planned, ledger.cursors[planned.name], end * SECOND) for planned in plan}
    return all(not slots or ledger.cursors[name].swept_to >= slots[-1] for name, slots in named.items())


def named_slots(planned: Planned, cursor: Cursor, end: int) -> range:
    """What the spec names: every so many seconds since 1970, after the schedule was created, up to its end.

    Until the schedule was told of its end it had none. What was removed for its age is not asked for.
    """
    step, offset = planned.every * SECOND, planned.offset * SECOND
    since = max(cursor.created_at, cursor.pruned_before - 1) - offset
    return range(since - since % step + step + offset, max(end, cursor.spec_since) + 1, step)


def read_with(url: str, read: Callable[[Any], T], nothing: T) -> T:
    """What is read in one transaction; `nothing` where there are no tables yet."""
    if url.startswith("sqlite:///"):
        return _read_sqlite(url.removeprefix("sqlite:///"), read, nothing)
    with psycopg.connect(url, options="-c default_transaction_read_only=on") as cx:
        cx.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            return read(cx)
        except psycopg.errors.UndefinedTable:
            return nothing


def _read_sqlite(path: str, read: Callable[[Any], T], nothing: T) -> T:
    if not os.path.exists(path):
        return nothing
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as cx:
        cx.execute("BEGIN")
        try:
            return read(cx)
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return nothing


def _rows(cx: Any, where: str = "") -> list[Row]:
    return [Row(*row) for row in cx.execute(_ROWS.format(where))]


def _ledger(cx: Any, where: str = "") -> Ledger:
    return Ledger(
        _rows(cx, where),
        {row[0]: Cursor(*row) for row in cx.execute(_CURSORS)},
        [Gap(*row) for row in cx.execute(_GAPS)],
        [Filling(*row) for row in cx.execute(_FILLINGS)],
        dict(cx.execute(_CHARGED).fetchall()),
        dict(cx.execute(_BALANCES).fetchall()),
        [Posting(*row) for row in cx.execute(_POSTINGS)],
        [Receipt(*row) for row in cx.execute(_RECEIPTS)],
        [tuple(row) for row in cx.execute(_TRAIL)],
    )


class Memory:
    """What was final once is final for ever: it remembers what it saw, and notes what became of it otherwise."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self._finals: dict[int, Row] = {}

    def see(self, rows: Iterable[Row]) -> None:
        for row in rows:
            known = self._finals.get(row.ref)
            # A worker that is long gone is forgotten, not what it did.
            if known is not None and row not in (known, known._replace(worker=None)):
                self.changes.append(f"changed: {known} was final, and became {row}")
            elif known is None and row.status not in OPEN:
                self._finals[row.ref] = row

    def see_all(self, ledger: Ledger) -> None:
        """The whole of it: what is missing has gone, unless it was removed for its age."""
        self.see(ledger.rows)
        there = {row.ref for row in ledger.rows}
        for ref in [ref for ref in self._finals if ref not in there]:
            row = self._finals.pop(ref)
            cursor = ledger.cursors.get(row.schedule)
            if cursor is None or row.nominal_at >= cursor.pruned_before:
                self.changes.append(f"changed: {row} was final, and is gone")
