"""Whether a worker lives: its loop goes round, and has not ended."""

from foliot.ports import Clock


class Vitals:
    """Written by the worker's loop, read by whoever wants to know."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen_at = clock.steady()
        self.beats = 0
        """How often it was seen;"""
        self.is_over = False
        """whether it has ended;"""
        self.failure: Exception | None = None
        """and of what, if something went wrong."""
        self.mishaps = 0
        """Turns in a row that have failed, and not for any schedule."""
        self.outages = 0
        """Turns in a row that the database did not take."""

    def beat(self) -> None:
        self.beats += 1
        self._seen_at = self._clock.steady()

    def silence(self) -> float:
        """For so many seconds its loop was not seen to go round."""
        return self._clock.steady() - self._seen_at
