"""Comparison: what an edit of a spec does to the times that were to come."""

from itertools import islice
from typing import NamedTuple

from foliot.domain.times import Times


class Comparison(NamedTuple):
    """The next times of a schedule as they are and as they would be, in epoch seconds."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    kept: int
    """So many of those before are times after, too,"""
    moved: int
    """and so many are not."""
    added: int
    """So many times after, no later than the last of those before, were none: those in place of the moved, too.

    Where counting them would take long, at most so many.
    """

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        count = len(self.before)
        if not count:
            return "nothing was to come" + (f", and {_times(len(self.after))} are now" if self.after else "")
        extra = f" and adds {self.added:,} between them" if self.added and not self.moved else ""
        if not self.after:
            return f"drops all of the {_next(count)}: nothing is to come any more"
        if not self.moved:
            return f"keeps {_all_of(count)}{extra}"
        return f"moves {self.moved:,} of the {_next(count)}"


def compare(before: Times, after: Times, since: int, count: int) -> Comparison:
    """The next `count` times strictly after `since` of both, and how many of the first are among the others."""
    old = tuple(islice(before.between(since + 1, before.almanac.last), count))
    new = tuple(islice(after.between(since + 1, after.almanac.last), count))
    kept = sum(after.matches(instant) for instant in old)
    until = old[-1] if old else since
    added = after.count_roughly(since + 1, until).number - kept if old else 0
    return Comparison(old, new, kept, len(old) - kept, added)


def _next(count: int) -> str:
    return f"next {_times(count)}"


def _all_of(count: int) -> str:
    return "the next time" if count == 1 else f"all of the next {_times(count)}"


def _times(count: int) -> str:
    return "1 time" if count == 1 else f"{count:,} times"
