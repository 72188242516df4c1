"""Windows: how far back to look, where nobody knows how dense the past is, so as to see enough and not too much."""

from collections.abc import Callable
from math import isqrt

from foliot.domain.durations import DAY, HOUR, MINUTE
from foliot.domain.instants import MICROSECONDS

NARROWEST = MICROSECONDS
_WIDTHS = tuple(seconds * MICROSECONDS for seconds in (MINUTE, HOUR, DAY, 30 * DAY, 365 * DAY))
_EVER = 400 * 365 * DAY * MICROSECONDS
_HALVINGS = 12


def window_of(count: Callable[[int | None], int], enough: int, most: int) -> int | None:
    """A width in which `count` finds at least `enough` and at most `most`; None: everything, for it has no more.

    Where not even the narrowest has so few, that one; where it jumps past both, the last before the jump.
    """
    below = NARROWEST
    for width in (*_WIDTHS, None):
        found = count(width)
        if found > most:
            return _between(below, width or _EVER, count, enough, most)
        if found >= enough and width is not None:
            return width
        below = width or _EVER
    return None


def _between(below: int, above: int, count: Callable[[int | None], int], enough: int, most: int) -> int:
    """Between a width with too few and one with too many."""
    for _ in range(_HALVINGS):
        width = isqrt(below * above)
        found = count(width)
        if enough <= found <= most:
            return width
        if found > most:
            above = width
        else:
            below = width
    return below
