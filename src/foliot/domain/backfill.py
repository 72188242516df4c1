"""Backfill: past moments of a schedule that somebody wants run, or run again."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.policies import Overlap
from foliot.domain.runs import OPEN, Status
from foliot.domain.times import Times


class Which(StrEnum):
    """Which slots of the range a backfill takes up."""

    MISSING = "missing"
    """Without success, and with nothing open."""
    FAILED = "failed"
    """Whose last outcome is an error."""
    ALL = "all"


class Direction(StrEnum):
    """Which end of the range comes first."""

    OLDEST_FIRST = "oldest_first"
    NEWEST_FIRST = "newest_first"


class Attempted(NamedTuple):
    """One run at a nominal time, of whatever kind, in the order they were recorded."""

    nominal_at: int
    status: Status


class Backfill(NamedTuple):
    """A request for the slots of a range, both ends included, and how far it has come."""

    ref: int
    first: int
    """Seconds, as `Times` counts."""
    last: int
    which: Which
    direction: Direction
    concurrency: int
    running: int
    done_to: int
    """The second up to which, in its direction, every slot was started or passed over."""


class Chosen(NamedTuple):
    """The next slots to start, and how far the backfill has come with them."""

    nominals: list[int]
    done_to: int
    is_exhausted: bool


def swept(backfill: Backfill, swept_to: int) -> Backfill:
    """The backfill without slots that the schedule itself has yet to judge: `all` asks for those too."""
    if backfill.which is Which.ALL or backfill.last <= swept_to // MICROSECONDS:
        return backfill
    last = swept_to // MICROSECONDS
    return backfill._replace(last=last, done_to=min(backfill.done_to, last + 1))


def wants(which: Which, attempts: list[Status]) -> bool:
    """Whether a slot with those runs, oldest first, is one that the backfill takes up."""
    if which is Which.ALL:
        return True
    if any(status in OPEN for status in attempts):
        return False
    if which is Which.FAILED:
        return bool(attempts) and attempts[-1] is Status.ERROR
    return Status.SUCCESS not in attempts


def choose(
    times: Times, backfill: Backfill, room: int, runs_between: Callable[[int, int], list[Attempted]], look: int = 1000
) -> Chosen:
    """The next slots of the backfill, at most `room`, having looked at no more than `look` of them."""
    nominals: list[int] = []
    done_to = backfill.done_to
    seconds = _next_seconds(times, backfill, look)
    known: dict[int, list[Status]] = {}
    if seconds and backfill.which is not Which.ALL:
        for run in runs_between(min(seconds) * MICROSECONDS, max(seconds) * MICROSECONDS):
            known.setdefault(run.nominal_at, []).append(run.status)
    for second in seconds:
        if len(nominals) >= room:
            return Chosen(nominals, done_to, is_exhausted=False)
        done_to = second
        if wants(backfill.which, known.get(second * MICROSECONDS, [])):
            nominals.append(second)
    return Chosen(nominals, done_to, is_exhausted=len(seconds) < look)


def _next_seconds(times: Times, backfill: Backfill, look: int) -> list[int]:
    seconds: list[int] = []
    forward = backfill.direction is Direction.OLDEST_FIRST
    at: int | None = backfill.done_to
    while at is not None and len(seconds) < look:
        at = times.next_after(at) if forward else times.previous_before(at)
        if at is None or not backfill.first <= at <= backfill.last:
            break
        seconds.append(at)
    return seconds


class Progress(NamedTuple):
    """How far a backfill has come with the slots of its range."""

    total: int
    done: int
    """Those that were passed over, or whose runs have ended."""
    left: int | None
    """How long the others may take, in microseconds, if they take as long as those did; None: nobody knows."""


def progress_of(times: Times, backfill: Backfill, elapsed: int) -> Progress:
    """What has come of it since so many microseconds, by the spec as it is now; roughly, where counting takes long."""
    total, is_exact = times.count_roughly(backfill.first, backfill.last)
    if backfill.direction is Direction.OLDEST_FIRST:
        passed_over = backfill.first, min(backfill.done_to, backfill.last)
    else:
        passed_over = max(backfill.done_to, backfill.first), backfill.last
    if is_exact:
        passed = times.count_between(*passed_over)
    else:
        passed = total * max(0, passed_over[1] - passed_over[0] + 1) // (backfill.last - backfill.first + 1)
    done = max(0, passed - backfill.running)
    return Progress(total, done, (total - done) * elapsed // done if done and elapsed > 0 else None)


def range_of(start: int, end: int) -> tuple[int, int]:
    """The whole seconds of [start, end], in microseconds, both ends included; Invalid when it runs backwards."""
    if end < start:
        raise Invalid(f"a backfill takes an end not before its start, got {rfc3339(start)} to {rfc3339(end)}")
    return -(-start // MICROSECONDS), end // MICROSECONDS


def lane_width(overlap: Overlap | None, concurrency: int | None) -> int:
    """How many of its runs may be open at once: one after another, or as many as asked for."""
    if overlap not in (None, Overlap.BUFFER_ALL, Overlap.ALLOW_ALL):
        raise Invalid(
            f"a backfill takes overlap 'buffer_all' (one after another) or 'allow_all', got {str(overlap)!r}: "
            "any other would leave out slots that were asked for"
        )
    if concurrency is None:
        return 1 if overlap is not Overlap.ALLOW_ALL else 1000
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or not 1 <= concurrency <= 1000:
        raise Invalid(f"concurrency takes 1 to 1000, got {concurrency!r}")
    return concurrency
