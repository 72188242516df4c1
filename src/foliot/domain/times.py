"""The instants of a compiled spec: next, previous, between, how many. Epoch seconds in, epoch seconds out."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from foliot.domain.almanac import LAST_PAGE, Almanac
from foliot.domain.durations import DAY
from foliot.domain.instants import MICROSECONDS
from foliot.domain.pages import NOT_KNOWN, PAGE_BITS, PAGE_DAYS, Page
from foliot.domain.slots import JitterMode, jittered

_LAST_DAY_OF_PAGE = PAGE_DAYS - 1


class Count(NamedTuple):
    """How many instants there are."""

    number: int
    is_exact: bool
    """Else there are no more than that."""


class Times:
    """An ascending set of whole-second UTC instants, from 1970 to 2199, never listed whole."""

    __slots__ = ("_jitter_mode", "_pages", "almanac", "jitter")

    def __init__(self, almanac: Almanac, jitter: int = 0, jitter_mode: JitterMode = JitterMode.AFTER) -> None:
        self.almanac = almanac
        self.jitter = jitter
        self._jitter_mode = jitter_mode
        self._pages: dict[int, Page] = {}

    def next_after(self, epoch_seconds: int) -> int | None:
        """The first instant strictly after this one, or None."""
        day = epoch_seconds // DAY
        try:
            page = self._pages[day >> PAGE_BITS]
        except KeyError:
            page = self._page(day >> PAGE_BITS)
        rows = page.rows
        place = day & _LAST_DAY_OF_PAGE
        midnight = day * DAY
        pattern = page.patterns[rows[place]]
        if pattern is None:
            pattern = page.pattern(rows[place])
        index = bisect_right(pattern, epoch_seconds - midnight)
        if index < len(pattern):
            return midnight + pattern[index]
        while hop := page.hops[place]:
            place += hop
            midnight += hop * DAY
            if pattern := page.patterns[page.rows[place]] or page.pattern(page.rows[place]):
                return midnight + pattern[0]
        return page.beyond if page.beyond != NOT_KNOWN else self._look_beyond(page, day >> PAGE_BITS)

    def previous_before(self, epoch_seconds: int) -> int | None:
        """The last instant strictly before this one, or None."""
        before = min(epoch_seconds - 1, self.almanac.last)
        day = before // DAY
        number, place = day >> PAGE_BITS, day & _LAST_DAY_OF_PAGE
        page = self._page(number)
        pattern = page.pattern(page.rows[place])
        if index := bisect_right(pattern, before - day * DAY):
            return day * DAY + pattern[index - 1]
        earlier = page.rows[:place]
        while earlier := earlier.rstrip(b"\0"):
            if pattern := page.pattern(earlier[-1]):
                return ((number << PAGE_BITS) + len(earlier) - 1) * DAY + pattern[-1]
            earlier = earlier[:-1]
        return self._last_before((number << PAGE_BITS) * DAY)

    def _last_before(self, end: int) -> int | None:
        """The last instant before `end`: by looking forward from ever farther back, then halving."""
        width = PAGE_DAYS * DAY
        found = self._first_within(end - width, end)
        while found is None:
            if end < self.almanac.first:
                return None
            end -= width
            width *= 2
            found = self._first_within(end - width, end)
        while end - found > 1:
            middle = (found + end) // 2
            later = self._first_within(middle, end)
            if later is None:
                end = middle
            else:
                found = later
        return found

    def _first_within(self, start: int, end: int) -> int | None:
        first = self.next_after(start - 1)
        return first if first is not None and first < end else None

    def between(self, start: int, end: int) -> Iterator[int]:
        """The instants from start to end, both included, ascending, found as they are asked for."""
        for number, page in self._live_pages(start, end):
            first = number << PAGE_BITS
            low, high = max(start // DAY - first, 0), end // DAY - first + 1
            for place, row in enumerate(page.rows[low:high], low):
                if row:
                    pattern = page.pattern(row)
                    base = (first + place) * DAY
                    if base < start or end < base + DAY:
                        pattern = pattern[bisect_left(pattern, start - base) : bisect_right(pattern, end - base)]
                    yield from map(base.__add__, pattern)

    def count_between(self, start: int, end: int) -> int:
        """How many instants there are from start to end, both included: day patterns counted, not walked."""
        if start > end:
            return 0
        count = 0
        for number, page in self._live_pages(start, end):
            first = (number << PAGE_BITS) * DAY
            count += page.count()
            if start > first:
                count -= _count_until(page, start - 1 - first)
            if end < first + PAGE_DAYS * DAY - 1:
                count -= page.count() - _count_until(page, end - first)
        return count

    def count_roughly(self, start: int, end: int) -> Count:
        """The same for who cannot wait: where that would take long it is told how many there may be at most."""
        most = self.almanac.rough_count(start, end)
        return Count(self.count_between(start, end), True) if most is None else Count(most, False)

    def matches(self, epoch_seconds: int) -> bool:
        """Whether this very instant is one of them."""
        return self.next_after(epoch_seconds - 1) == epoch_seconds

    def due_at(self, epoch_seconds: int, key: str) -> int:
        """In microseconds, when the slot of that nominal time is due for the schedule of that key."""
        if not self.jitter:
            return epoch_seconds * MICROSECONDS
        following = self.next_after(epoch_seconds)
        previous = self.previous_before(epoch_seconds) if self._jitter_mode is JitterMode.AROUND else None
        return jittered(
            key,
            epoch_seconds,
            self.jitter,
            self._jitter_mode,
            None if previous is None else epoch_seconds - previous,
            None if following is None else following - epoch_seconds,
        )

    def _page(self, number: int) -> Page:
        if not 0 <= number <= LAST_PAGE:
            return self.almanac.empty_page()
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = self.almanac.page(number)
        return page

    def _look_beyond(self, page: Page, number: int) -> int | None:
        page.forget_empty_days()
        page.beyond = self._first_beyond(number)
        return page.beyond

    def _first_beyond(self, number: int) -> int | None:
        for later, live in self._live_pages((number + 1 << PAGE_BITS) * DAY, self.almanac.last):
            rows = live.rows
            while rows := rows.lstrip(b"\0"):
                if pattern := live.pattern(rows[0]):
                    return ((later + 1 << PAGE_BITS) - len(rows)) * DAY + pattern[0]
                rows = rows[1:]
            live.forget_empty_days()
        return None

    def _live_pages(self, start: int, end: int) -> Iterator[tuple[int, Page]]:
        """The pages that touch [start, end] and may hold an instant."""
        number = self.almanac.next_live_page(max(start, 0) // DAY >> PAGE_BITS)
        while number is not None and (number << PAGE_BITS) * DAY <= end:
            yield number, self._page(number)
            number = self.almanac.next_live_page(number + 1)


def _count_until(page: Page, second: int) -> int:
    """How many instants the page has up to that second of it."""
    day, rest = divmod(second, DAY)
    whole = sum(page.count_of(row) for row in page.rows[:day])
    return whole + bisect_right(page.pattern(page.rows[day]), rest)
