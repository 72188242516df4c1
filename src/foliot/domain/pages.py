"""Pages of days: per day a pattern of seconds, shared by all days that look alike."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

PAGE_BITS = 7
PAGE_DAYS = 1 << PAGE_BITS

NOT_KNOWN = -1
NO_ROWS = bytes(PAGE_DAYS)

RegularDay = tuple[int, int, int, tuple[int, ...]]
"""What decides the seconds of a UTC day with one offset: how far into a wall-clock day it begins, the kinds of that day
and the next, and the first second of each period."""
DayKey = RegularDay | int
"""A regular day by what decides it, an irregular one by its own number."""


class DaySource(Protocol):
    """Who knows what happens on a day."""

    def seconds(self, day: DayKey) -> Sequence[int]: ...

    def count(self, day: DayKey) -> int: ...


class Numbering(dict[DayKey, int]):
    """Numbers the days of a page by what decides them; 0 is for days on which nothing can happen."""

    def __init__(self, known: dict[RegularDay, RegularDay]) -> None:
        self._known = known
        """The keys of other pages, to be shared: most are the same."""
        self.keys_by_number: list[DayKey] = [NOT_KNOWN]

    def __missing__(self, key: DayKey) -> int:
        if isinstance(key, int):
            self.keys_by_number.append(key)
        elif key[1] == key[2] == 0:
            self[key] = 0
            return 0
        else:
            self.keys_by_number.append(self._known.setdefault(key, key))
        number = self[key] = len(self.keys_by_number) - 1
        return number


class Page:
    """128 days: per day the number of its pattern, 0 for an empty one, and what comes after them.

    Patterns are worked out when first looked at. Several threads may do so at once: they find the same.
    """

    __slots__ = ("_keys", "_source", "_total", "beyond", "hops", "patterns", "rows")

    def __init__(self, rows: bytes, keys: tuple[DayKey, ...], source: DaySource) -> None:
        self.rows, self.hops = _with_hops(rows)
        self.patterns: list[Sequence[int] | None] = [(), *[None] * (len(keys) - 1)]
        """By number, those already worked out."""
        self.beyond: int | None = NOT_KNOWN
        """The first instant after the page, once somebody asked."""
        self._keys = keys
        self._source = source
        self._total = NOT_KNOWN

    def pattern(self, number: int) -> Sequence[int]:
        """The pattern of that number, worked out if need be; it may turn out to be empty."""
        pattern = self.patterns[number]
        if pattern is None:
            pattern = self.patterns[number] = self._source.seconds(self._keys[number])
        return pattern

    def count(self) -> int:
        if self._total == NOT_KNOWN:
            self._total = sum(self.count_of(number) * self.rows.count(number) for number in set(self.rows))
        return self._total

    def count_of(self, number: int) -> int:
        """How many seconds the pattern of that number has, without working it out."""
        pattern = self.patterns[number]
        return self._source.count(self._keys[number]) if pattern is None else len(pattern)

    def forget_empty_days(self) -> None:
        """Gives the number 0 to the days whose pattern has turned out to be empty."""
        known = [(number, self.patterns[number]) for number in set(self.rows) if number]
        empty = {number for number, pattern in known if pattern is not None and not pattern}
        if empty:
            rows = self.rows.translate(bytes(0 if number in empty else number for number in range(256)))
            self.rows, self.hops = _with_hops(rows)


@lru_cache(maxsize=4096)
def _with_hops(rows: bytes) -> tuple[bytes, bytes]:
    """The rows, and per day how many days later the next comes that is not empty, 0 when none does in this page.

    The pages of many specs look alike, and share both.
    """
    hops = bytearray(PAGE_DAYS)
    hop = 0
    for place in range(PAGE_DAYS - 1, -1, -1):
        hops[place] = hop
        hop = 1 if rows[place] else hop and hop + 1
    return rows, bytes(hops)
