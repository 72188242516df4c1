"""Troubles: a schedule that the engine fails on is set aside for a while, longer each time, and others go on."""

from typing import NamedTuple

from foliot.domain.instants import MICROSECONDS

_FIRST = 20 * MICROSECONDS
"""Less than the grace: a failure that passes costs no slot."""
_LONGEST = 3600 * MICROSECONDS
_LONGEST_TEXT = 500


class Trouble(NamedTuple):
    """The engine has failed on a schedule so many times in a row, and leaves it alone until then."""

    times: int
    error: str
    since: int
    until: int


def trouble_after(before: Trouble | None, error: str, now: int) -> Trouble:
    """What the next failure makes of it. One that comes long after the last is a new one."""
    span = 0 if before is None else _span(before.times)
    if before is None or now > before.until + 2 * span:
        return Trouble(1, error[:_LONGEST_TEXT], now, now + _FIRST)
    times = before.times + 1
    return Trouble(times, error[:_LONGEST_TEXT], before.since, now + _span(times))


def _span(times: int) -> int:
    return min(_FIRST << min(times - 1, 10), _LONGEST)


def said_of(error: BaseException) -> str:
    """The error in a line. What a database adds on further lines may be what somebody has given a schedule."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
