"""Rows of marks: a stretch of days or of seconds as one byte each, 1 where something is named."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress

from foliot.domain.durations import DAY, HOUR, MINUTE


@lru_cache(maxsize=64)
def marked_seconds(hour: int, minute: int, second: int, grain: int) -> bytes:
    """A day in steps of `grain` seconds, 1 where hour, minute and second match."""
    if grain % MINUTE == 0:
        in_hour = bytes(minute >> m & second & 1 for m in range(0, 60, grain // MINUTE))
    else:
        in_minute = bytes(second >> s & 1 for s in range(0, 60, grain))
        in_hour = b"".join(in_minute if minute >> m & 1 else bytes(len(in_minute)) for m in range(60))
    assert len(in_hour) * grain == HOUR
    return b"".join(in_hour if hour >> h & 1 else bytes(len(in_hour)) for h in range(24))


def either(rows: list[bytes]) -> bytes:
    """Marked where any of the rows is."""
    if len(rows) == 1:
        return rows[0]
    union = 0
    for row in rows:
        union |= int.from_bytes(row)
    return union.to_bytes(len(rows[0]))


def both(row: bytes, other: bytes) -> bytes:
    """Marked where both rows are."""
    return (int.from_bytes(row) & int.from_bytes(other)).to_bytes(len(row))


def inverse(row: bytes) -> bytes:
    """Marked where the row is not."""
    return row.translate(_SWAP)


_SWAP = bytes((1, 0)) + bytes(254)


_MOST_IN_A_TUPLE = 1440


def seconds_of(row: bytes, grain: int) -> Sequence[int]:
    """The marked seconds of a day row, ascending, in the form that is quickest to search and small to keep."""
    if row.count(1) > _MOST_IN_A_TUPLE:
        return _many_seconds(row, grain)
    return _few_seconds(row, grain)


@lru_cache(maxsize=512)
def _few_seconds(row: bytes, grain: int) -> tuple[int, ...]:
    return tuple(compress(_steps(grain), row))


@lru_cache(maxsize=16)
def _steps(grain: int) -> Sequence[int]:
    # The integers of a tuple are shared by all that is picked from it; a per-second one would be too large to keep.
    return tuple(range(0, DAY, grain)) if grain >= MINUTE else range(0, DAY, grain)


def _many_seconds(row: bytes, grain: int) -> Sequence[int]:
    first = row.index(1)
    step = row.index(1, first + 1) - first
    count = row.count(1)
    if row[first : first + count * step : step].count(1) == count:
        return range(first * grain, (first + count * step) * grain, step * grain)
    return array("i", compress(range(0, DAY, grain), row))
