"""What the crash tests schedule: known to the program that runs it and to the checker, and to both from here."""

from typing import NamedTuple

STRICT = ("skip", "buffer_one", "buffer_all", "cancel_other")
"""Overlap policies under which two runs of a schedule are never at work at the same time."""
ATTEMPTS = 3
BACKOFF = 0.2


class Planned(NamedTuple):
    """A schedule: every so many seconds, and what its runs are like."""

    name: str
    every: int
    overlap: str = "skip"
    shortest: float = 0.0
    longest: float = 0.3
    """Seconds that its runs take."""
    fails: bool = False
    """Its first attempts fail; there are more."""
    jitter: float = 0.0
    in_thread: bool = False
    is_triggered: bool = False
    """Processes trigger it besides, every now and then."""


FEW = (
    Planned("skipping", 1),
    Planned("long", 2, shortest=1.0, longest=1.3),
    Planned("buffering-one", 1, "buffer_one", longest=1.4),
    Planned("buffering-all", 1, "buffer_all", longest=0.8),
    Planned("cancelling", 1, "cancel_other", longest=1.4),
    Planned("terminating", 1, "terminate_other", longest=1.4),
    Planned("allowing", 1, "allow_all", longest=1.4),
    Planned("retrying", 1, fails=True),
    Planned("jittered", 1, jitter=0.6),
    Planned("threaded", 1, in_thread=True),
    Planned("triggered", 2, "buffer_all", longest=0.1, is_triggered=True),
)
"""One of each: for a crash at one place."""

MANY = (
    *FEW,
    *(
        Planned(f"{overlap.replace('_', '-')}-{number}", every, overlap, jitter=0.8 * (number % 2))
        for overlap in (*STRICT, "terminate_other", "allow_all")
        for number, every in enumerate((1, 1, 2, 2))
    ),
)
"""For a storm."""

PLANS = {"few": FEW, "many": MANY}
