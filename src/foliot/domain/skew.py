"""The database's clock as seen from here: how far ahead of this machine's it is, as far as that can be known."""

from typing import NamedTuple


class Skew(NamedTuple):
    """Bounds, in microseconds: the truth lies between them, both included."""

    least: int
    most: int

    @classmethod
    def measured(cls, theirs: int, before: int, after: int) -> "Skew":
        """Their clock was read at some moment between two readings of ours."""
        return cls(theirs - after, theirs - before)

    def narrowed(self, newer: "Skew") -> "Skew":
        """What both say; where they contradict each other a clock was set, or has drifted, and the newer one holds."""
        if newer.least > newer.most:
            # Our own clock was set back between its two readings: that says nothing.
            return self
        least, most = max(self.least, newer.least), min(self.most, newer.most)
        return Skew(least, most) if least <= most else newer

    @property
    def likely(self) -> int:
        return (self.least + self.most) // 2


NONE = Skew(0, 0)
UNKNOWN = Skew(-(10**18), 10**18)
