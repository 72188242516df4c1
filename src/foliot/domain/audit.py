"""The slot audit: whether the ledger has each slot that the specs named, once, with its fate, and nothing besides.

Moments are counted by arithmetic where they can be; they are listed only where the ledger has rows to compare them to.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from foliot.domain.generation import Gap
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.runs import FINAL, Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.times import Times

FOR_EVER = 2**62
_LISTED_AT_ONCE = 10_000
"""Where more slots than this are to be compared and their number is wrong, they are halved first."""
_NOT_NAMED = "no spec of its time has named it"


class Fault(StrEnum):
    """What is wrong with the ledger."""

    MISSING = "missing"
    """A slot that was swept has no row and lies in no gap."""
    UNNAMED = "unnamed"
    """A row or a gap is there for a moment that the spec of its time did not name."""
    DOUBLED = "doubled"
    """A slot lies in two gaps."""
    MISCOUNTED = "miscounted"
    """A gap counts other slots than those that it spans and that have no row."""
    PREMATURE = "premature"
    """A row is there for a slot that nobody has looked at yet."""
    BROKEN_CHAIN = "broken_chain"
    """An attempt does not follow on one that failed."""
    UNEXPLAINED = "unexplained"
    """A run is over without a reason, or waits for what will not come."""
    UNREADABLE = "unreadable"
    """The spec cannot be read here: nothing is known of its slots."""


class Violation(NamedTuple):
    """Something that is wrong, from its first moment to its last."""

    fault: Fault
    first_at: int
    last_at: int
    slots: int
    """How many it concerns."""
    sentence: str


class Reign(NamedTuple):
    """A spec, and the stretch of time in which it said what was owed: after `since`, up to `until`."""

    times: Times
    since: int
    until: int


class Ahead(NamedTuple):
    """A row beyond the cursor."""

    nominal_at: int
    ref: int
    is_skipped: bool
    """Whether somebody skipped it by hand, which is how most of them come to be."""


class Books(NamedTuple):
    """What the ledger has of one schedule's slots."""

    reigns: Sequence[Reign]
    """In the order in which they ended; the last is the present one, which has no end."""
    state: State
    pruned_before: int
    rows: Sequence[int]
    """The moments that have rows, each once, ascending, at least those that the audit and the gaps span."""
    skipped: frozenset[int]
    """Those of them that somebody skipped by hand while they were still to come."""
    ahead: Sequence[Ahead]
    gaps: Sequence[Gap]
    """Those that touch the stretch which is audited, by their beginning."""


class AuditedTime(NamedTuple):
    """What is audited: moments from the first to the last."""

    first_at: int = 0
    last_at: int = FOR_EVER


class Finding(NamedTuple):
    """What came of it."""

    slots: int
    """Those that the specs named in the extent and that were swept, or have a row before that or for an older spec."""
    in_gaps: int
    """Those of them that lie in gaps."""
    violations: list[Violation]


class _Piece(NamedTuple):
    """A stretch in which one spec is answerable: after `after`, up to `until`."""

    times: Times
    after: int
    until: int

    def named(self, first_at: int, last_at: int) -> int:
        first, last = self._seconds(first_at, last_at)
        return self.times.count_between(first, last)

    def listed(self, first_at: int, last_at: int) -> list[int]:
        first, last = self._seconds(first_at, last_at)
        return list(map(MICROSECONDS.__mul__, self.times.between(first, last)))

    def _seconds(self, first_at: int, last_at: int) -> tuple[int, int]:
        return -(-max(first_at, self.after + 1) // MICROSECONDS), min(last_at, self.until) // MICROSECONDS

    def ends(self, first_at: int, last_at: int) -> tuple[int, int]:
        """The first and the last that it names there, of which there is at least one."""
        first, last = self._seconds(first_at, last_at)
        begin, end = self.times.next_after(first - 1), self.times.previous_before(last + 1)
        assert begin is not None, "there is one"
        assert end is not None, "there is one"
        return begin * MICROSECONDS, end * MICROSECONDS


def audit_slots(books: Books, extent: AuditedTime) -> Finding:
    """Every slot of the extent that was swept, against what is in the books."""
    return _Audit(books, extent).finding()


def unjudged(books: Books, extent: AuditedTime, now: int) -> int:
    """The slots whose moment has come and that nobody has judged: in a pause that lasts, or not looked at yet."""
    piece = _Piece(books.reigns[-1].times, books.state.swept_to, min(now, extent.last_at))
    marked = {row.nominal_at for row in books.ahead if row.nominal_at <= piece.until}
    return piece.named(extent.first_at, piece.until) - sum(piece.named(moment, moment) for moment in marked)


class _Audit:
    def __init__(self, books: Books, extent: AuditedTime) -> None:
        self._books = books
        self._first = max(extent.first_at, books.pruned_before)
        self._last = extent.last_at
        self._pieces = list(_pieces(books))
        self._violations: list[Violation] = []
        self._run: list[int] | None = None
        """Slots in a row that are missing: the first, the last, how many."""
        self._slots = 0
        self._in_gaps = 0
        self._extra: list[int] = []

    def finding(self) -> Finding:
        outside = self._first
        for piece in self._pieces:
            first, last = max(piece.after + 1, self._first), min(piece.until, self._last)
            if first <= last:
                self._extra += self._rows(outside, first - 1)
                self._check(piece, first, last)
                outside = last + 1
        self._close()
        self._extra += self._rows(outside, min(self._books.state.swept_to, self._last))
        self._check_extra()
        self._check_gaps()
        self._check_ahead()
        self._violations.sort(key=lambda violation: (violation.first_at, violation.last_at))
        return Finding(self._slots, self._in_gaps, self._violations)

    def _rows(self, first: int, last: int) -> Sequence[int]:
        rows = self._books.rows
        return rows[bisect_left(rows, first) : bisect_right(rows, last)]

    def _check(self, piece: _Piece, first: int, last: int) -> None:
        """Between gaps each slot has a row; in them those have one that were skipped before."""
        at = first
        for gap in self._books.gaps:
            if gap.last_at < at or gap.first_at > last:
                continue
            if gap.first_at > at:
                self._compare(piece, at, gap.first_at - 1)
            self._pass_gap(piece, max(gap.first_at, at), min(gap.last_at, last))
            at = gap.last_at + 1
        if at <= last:
            self._compare(piece, at, last)

    def _pass_gap(self, piece: _Piece, first: int, last: int) -> None:
        rows, named = self._rows(first, last), piece.named(first, last)
        inside = [row for row in rows if _names(piece.times, row)]
        self._extra += [row for row in rows if not _names(piece.times, row)]
        self._slots += named
        self._in_gaps += named - len(inside)
        self._close()

    def _compare(self, piece: _Piece, first: int, last: int) -> None:
        rows, count = self._rows(first, last), piece.named(first, last)
        if not rows:
            self._slots += count
            if count:
                self._miss(*piece.ends(first, last), count)
            return
        if count != len(rows) and count > _LISTED_AT_ONCE:
            middle = (first + last) // 2
            self._compare(piece, first, middle)
            self._compare(piece, middle + 1, last)
            return
        self._slots += count
        named = piece.listed(first, last)
        if named == list(rows):
            self._close()
            return
        there = set(rows)
        self._extra += sorted(there.difference(named))
        for moment in named:
            if moment in there:
                self._close()
            else:
                self._miss(moment, moment, 1)

    def _miss(self, first: int, last: int, count: int) -> None:
        if self._run is None:
            self._run = [first, last, count]
        else:
            self._run[1:] = last, self._run[2] + count

    def _close(self) -> None:
        """A slot that is there ends a run of missing ones."""
        if self._run is not None:
            first, last, count = self._run
            what = "has no row and lies in no gap" if count == 1 else "have no row and lie in no gap"
            self._find(Fault.MISSING, first, last, count, f"{_slots_said(first, last, count)} {what}")
            self._run = None

    def _find(self, fault: Fault, first: int, last: int, slots: int, sentence: str) -> None:
        self._violations.append(Violation(fault, first, last, slots, sentence))

    def _find_row(self, fault: Fault, moment: int, what: str) -> None:
        self._find(fault, moment, moment, 1, f"{rfc3339(moment)} has a row, and {what}")

    def _check_extra(self) -> None:
        """Rows that the spec which is answerable does not name: another did, before an edit, or they are wrong."""
        for row in self._extra:
            if self._was_named(row):
                self._slots += 1
            else:
                self._find_row(Fault.UNNAMED, row, _NOT_NAMED)

    def _was_named(self, row: int) -> bool:
        is_skipped = row in self._books.skipped
        return any(
            (is_skipped or reign.since < row <= reign.until) and _names(reign.times, row)
            for reign in self._books.reigns
        )

    def _check_gaps(self) -> None:
        for before, after in pairwise(self._books.gaps):
            if after.first_at <= before.last_at:
                first, last = after.first_at, min(before.last_at, after.last_at)
                if slots := self._named(first, last):
                    what = "lies in two gaps" if slots == 1 else "lie in two gaps"
                    self._find(Fault.DOUBLED, first, last, slots, f"{_slots_said(first, last, slots)} {what}")
        for gap in self._books.gaps:
            if gap.first_at >= self._books.pruned_before:
                self._check_gap(gap)

    def _check_gap(self, gap: Gap) -> None:
        said = f"the gap of {gap.size:,} from {rfc3339(gap.first_at)} to {rfc3339(gap.last_at)}"
        named = self._named(gap.first_at, gap.last_at)
        if not named:
            self._find(
                Fault.UNNAMED,
                gap.first_at,
                gap.last_at,
                gap.size,
                f"{said} is where no spec of its time named anything",
            )
            return
        rows = self._rows(gap.first_at, gap.last_at)
        without = named - sum(self._named(row, row) for row in rows)
        if gap.size != without:
            sentence = f"{said} spans {without:,} that have no row"
            self._find(Fault.MISCOUNTED, gap.first_at, gap.last_at, abs(gap.size - without), sentence)
        elif not all(self._named(end, end) and end not in rows for end in (gap.first_at, gap.last_at)):
            sentence = f"{said} does not begin and end with slots of its own"
            self._find(Fault.MISCOUNTED, gap.first_at, gap.last_at, 1, sentence)

    def _named(self, first: int, last: int) -> int:
        return sum(piece.named(first, last) for piece in self._pieces if piece.after < last and first <= piece.until)

    def _check_ahead(self) -> None:
        """Beyond the cursor there are slots that were skipped, and what an edit left there: the cursor counts both."""
        ahead = [row for row in self._books.ahead if self._first <= row.nominal_at <= self._last]
        wrong = {row.nominal_at for row in ahead if not self._was_named(row.nominal_at)}
        for moment in sorted(wrong):
            self._find_row(Fault.UNNAMED, moment, _NOT_NAMED)
        rest = {row.nominal_at: row for row in self._books.ahead if row.nominal_at not in wrong}
        surplus = len(rest) - self._books.state.marks
        suspects = sorted((row for row in rest.values() if not row.is_skipped), key=lambda row: row.ref)
        premature = {row.nominal_at for row in suspects[max(0, len(suspects) - surplus) :]} if surplus > 0 else set()
        within = [moment for moment in rest if self._first <= moment <= self._last]
        for moment in within:
            if moment in premature:
                self._find_row(Fault.PREMATURE, moment, "nobody has come to it yet")
        # One that a spec before an edit was answerable for was counted with the others of its time.
        self._slots += sum(moment not in premature and not self._named(moment, moment) for moment in within)


def _slots_said(first: int, last: int, count: int) -> str:
    if count == 1:
        return rfc3339(first)
    return f"{count:,} slots from {rfc3339(first)} to {rfc3339(last)}"


def _names(times: Times, moment: int) -> bool:
    second, rest = divmod(moment, MICROSECONDS)
    return not rest and times.matches(second)


def _pieces(books: Books) -> Iterator[_Piece]:
    """Who is answerable for which stretch, in order of time: of several, who came last."""
    present = books.reigns[-1]
    taken = [(present.since, FOR_EVER)]
    found = [_Piece(present.times, present.since, books.state.swept_to)]
    for reign in reversed(books.reigns[:-1]):
        free = _without((reign.since, reign.until), taken)
        found += [_Piece(reign.times, after, until) for after, until in free]
        taken += free
    return iter(sorted(found, key=lambda piece: piece.after))


def _without(stretch: tuple[int, int], taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    left = [stretch]
    for begin, end in taken:
        parts = [part for after, until in left for part in ((after, min(until, begin)), (max(after, end), until))]
        left = [(after, until) for after, until in parts if after < until]
    return left


class RunShape(NamedTuple):
    """What a run's row says of its fate, without its times and names: there are few."""

    kind: Kind
    status: Status
    reason: Reason | None
    hold: Hold | None
    is_retry: bool
    has_ended: bool
    has_worker: bool
    is_ready: bool
    """Whether a worker that looks for work finds it."""
    asks: bool
    """Whether it has a question that is open."""


def unexplained(shape: RunShape) -> str | None:
    """What is wrong with the fate of a run, if something is."""
    if shape.status in FINAL:
        return _wrong_end(shape)
    if shape.has_ended:
        return f"is {shape.status}, and has ended"
    if shape.reason is not None:
        return f"is {shape.status}, and has a reason why not"
    match shape.status:
        case Status.RUNNING:
            return None if shape.has_worker or shape.is_ready else "is running, and no worker has it"
        case Status.WAITING:
            return None if shape.asks else "waits for an answer, and asks nothing"
        case _:
            waits = shape.hold in (Hold.OVERLAP, Hold.PAUSED, Hold.RETRY)
            return None if waits or shape.is_ready else "is pending, and waits for nothing that will come"


def _wrong_end(shape: RunShape) -> str | None:
    if not shape.has_ended:
        return f"is {shape.status}, and has not ended"
    if shape.status is Status.SUCCESS:
        return "is success, and has a reason why not" if shape.reason is not None else None
    if shape.reason is None:
        return f"is {shape.status} for no reason"
    return f"is {shape.status}, and still waits" if shape.hold is not None or shape.is_ready else None
