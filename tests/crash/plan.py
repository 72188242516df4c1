"""What the crash tests schedule: known to the program that runs it and to the checker, and to both from here."""

from typing import NamedTuple

from foliot.domain.credits import Pricing, read_catalogue

STRICT = ("skip", "buffer_one", "buffer_all", "cancel_other")
"""Overlap policies under which two runs of a schedule are never at work at the same time."""
POLICIES = (*STRICT, "terminate_other", "allow_all")
ATTEMPTS = 3
BACKOFF = 0.2
DECIDED_WITHIN = 1.5
"""Seconds for which a run waits for people."""
LEASE = 2.0
"""Seconds for which a worker holds its runs without a word."""
SEASON = 4.0
"""Seconds: so often somebody pays, and grants are revoked and given back."""
FIRST_PAYMENT, PAYMENT = "to begin with", "season"
"""What is paid for runs is paid under these names; people pay somebody else, under others."""
PAID, FREE = "large", "small"
PRICING = Pricing(read_catalogue({PAID: {"usd_per_token": "0.0000001"}, FREE: {"is_free": True}}))
ESTIMATE = (21_000, 21_300)
"""Credits: what a run of the paid model may cost, at least and at most, by its input of one to two hundred letters."""
USD, COST = "0.001", 20_000
"""What it does cost; the same in credits."""


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
    is_handled: bool = False
    """Processes pause and resume it, and skip, cancel, end and try again what it runs."""
    is_charged: bool = False
    """Its runs report a billable call."""
    asks: bool = False
    """Its runs ask before they do their work, and go on when somebody approves, or when nobody does for a while."""
    is_answered: bool = False
    model: str | None = None
    """What it calls for that."""
    is_revoked: bool = False
    """Processes revoke its grant, and give it another."""
    is_filled: bool = False
    """Processes ask for what it did not run in the past."""
    offset: int = 0
    by_time: bool = False
    """Judged by the wall times of its runs alone, besides: they are short and wait for nothing but their time."""


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
    Planned("charged", 1, longest=0.2, is_charged=True),
)
"""One of each: for a crash at one place."""

HANDLED = (
    Planned("skipping", 1),
    Planned("retrying", 1, fails=True),
    Planned("triggered", 2, "buffer_all", longest=0.1, is_triggered=True),
    Planned("handled", 1, "buffer_all", longest=0.2, is_handled=True),
    Planned("asking", 2, longest=0.1, asks=True, is_answered=True),
    Planned("unanswered", 2, longest=0.1, asks=True),
    Planned("filled", 1, longest=0.1, is_filled=True),
    Planned("charged", 1, longest=0.1, is_charged=True),
)
"""With people at it: for a crash in a verb, or in what follows from one."""

QUIET = (
    Planned("skipping", 1, longest=0.1),
    Planned("retrying", 1, longest=0.1, fails=True),
    *(Planned(f"allowing-{number}", 1, "allow_all", longest=0.1) for number in range(4)),
)
"""With moments of leisure: for what a process does when it has nothing better to do."""

MANY = (
    *FEW,
    *(
        Planned(f"{overlap.replace('_', '-')}-{number}", every, overlap, jitter=0.8 * (number % 2))
        for overlap in POLICIES
        for number, every in enumerate((1, 1, 2, 2))
    ),
    *(Planned(f"by-time-{number}", 2, "allow_all", longest=0.05, by_time=True) for number in range(4)),
    *(Planned(f"paid-{number}", 1, longest=0.1, is_charged=True, model=PAID) for number in range(3)),
    Planned("free", 1, longest=0.1, is_charged=True, model=FREE),
    Planned("revoked", 1, "allow_all", longest=0.1, is_revoked=True),
)
"""For a short storm."""


def _of_a_hundred(number: int) -> Planned:
    """Mostly short runs, half of them at odd seconds; policies, jitter, retries and threads in every combination.

    A tenth of them must be paid for, another has grants that are revoked.
    """
    offset = number % 2
    if number < 20:
        overlap = ("allow_all", "skip")[number // 2 % 2]
        return Planned(f"by-time-{number}", 2, overlap, longest=0.03, offset=offset, by_time=True)
    return Planned(
        f"one-{number}",
        2,
        POLICIES[number % len(POLICIES)],
        longest=0.3 if number % 20 == 0 else 0.06,
        fails=number % 7 == 0,
        jitter=0.8 * (number % 3 == 0),
        in_thread=number % 11 == 0,
        is_triggered=number in (33, 66, 99),
        is_charged=number % 10 in (4, 5),
        model={4: FREE, 5: PAID}.get(number % 10),
        is_revoked=number % 10 == 8,
        offset=offset,
    )


HUNDRED = tuple(map(_of_a_hundred, range(100)))
"""For a long storm: fifty slots a second."""

PLANS = {"few": FEW, "handled": HANDLED, "quiet": QUIET, "many": MANY, "hundred": HUNDRED}
