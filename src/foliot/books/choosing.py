"""Which schedules a transaction works on, when it must not be all of them."""

from collections.abc import Callable, Container
from typing import TypeVar

T = TypeVar("T")


class Choice:
    """Only some schedules, or all but some; it remembers those that were worked on."""

    __slots__ = ("_but", "_only", "touched")

    def __init__(self, *, only: Container[int] | None = None, but: Container[int] = frozenset()) -> None:
        self._only = only
        self._but = but
        self.touched: set[int] = set()

    def takes(self, schedule_ref: int) -> bool:
        return schedule_ref not in self._but and (self._only is None or schedule_ref in self._only)

    def among(self, items: list[T], schedule_of: Callable[[T], int]) -> list[T]:
        """Those of the items that are worked on."""
        taken = [item for item in items if self.takes(schedule_of(item))]
        self.touched.update(map(schedule_of, taken))
        return taken
