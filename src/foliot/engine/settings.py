"""How an engine is set: lengths of time in microseconds, as everywhere inside."""

from dataclasses import dataclass

from foliot.domain.durations import DAY
from foliot.domain.instants import MICROSECONDS


@dataclass(frozen=True, slots=True)
class EngineSettings:
    lease: int = 30 * MICROSECONDS
    heartbeat: int = 5 * MICROSECONDS
    look: int = 5 * MICROSECONDS
    """The longest time without a look at the database."""
    clock_check: int = 1 * MICROSECONDS
    """The longest time without a look at the wall clock."""
    nap_within: int = 2500
    """For so long before something is due an idle worker naps: the event loop wakes it a millisecond or two late."""
    max_running: int = 4000
    threads: int = 64
    """How many sync functions run at once."""
    smallest_batch: int = 200
    largest_batch: int = 1000
    keep_for: int = 90 * DAY * MICROSECONDS
    keep_runs: int = 100_000
    """A final run is kept for so long, and while its schedule has no more than so many: whichever keeps more."""
    prune_every: int = 3600 * MICROSECONDS
    prunes_executions: bool = True
    """Whether records of executions are its own to remove; those of a gate elsewhere are not."""
    stop_grace: int = 30 * MICROSECONDS
    inline: bool = True
    """Whether transactions run on the loop's own thread: fastest, but everything on the loop waits for the disk."""
