"""Pace: how often somebody may ask, as a bucket that fills evenly and is drawn from with every request."""

from typing import NamedTuple


class Pace(NamedTuple):
    """So many requests each second in the long run, and so many at once."""

    per_second: float
    burst: int


class Bucket(NamedTuple):
    """What is left at a moment of a steady clock."""

    left: float
    at: float


class Drawn(NamedTuple):
    """What became of a wish to draw one."""

    bucket: Bucket
    is_granted: bool
    wait: float
    """Seconds until there is one, when there was none."""


def full(pace: Pace, now: float) -> Bucket:
    return Bucket(float(pace.burst), now)


def draw(bucket: Bucket, pace: Pace, now: float) -> Drawn:
    """Take one, if there is one."""
    left = min(float(pace.burst), bucket.left + max(0.0, now - bucket.at) * pace.per_second)
    if left >= 1:
        return Drawn(Bucket(left - 1, now), True, 0.0)
    return Drawn(Bucket(left, now), False, (1 - left) / pace.per_second)
