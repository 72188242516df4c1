"""What to say of many numbers, and of this process."""

import resource
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

TOO_LATE = 10.0
"""Seconds: what has not started by then is missed."""


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed; not a number when there is none."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else float("nan")


def middle(found: Sequence[T], value: Callable[[T], float]) -> T:
    """The round with the median value: all of its numbers belong together."""
    return sorted(found, key=value)[len(found) // 2]


def resident_mb() -> float:
    """What this process holds of memory now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6
    # Elsewhere only the most that it ever held is to be had.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3
