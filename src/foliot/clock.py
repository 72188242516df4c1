"""The only module that reads the clock."""

import time


class SystemClock:
    """The wall clock and the steady clock of this machine."""

    def now(self) -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1000

    def steady(self) -> float:
        """Seconds that pass evenly, whatever is done to the wall clock."""
        return time.monotonic()
