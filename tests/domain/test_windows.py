"""How far back to look."""

from bisect import bisect_right
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.windows import NARROWEST, window_of
from tests.builders import DAY, HOUR, MINUTE, SECOND


def counting(ages: list[int]) -> Callable[[int | None], int]:
    """How many are not older than that."""
    return lambda width: len(ages) if width is None else bisect_right(ages, width)


def test_a_sparse_past_is_looked_at_as_a_whole() -> None:
    assert window_of(counting([0, DAY, 100 * DAY, 1000 * DAY]), enough=50, most=10_000) is None


def test_a_dense_past_is_looked_at_as_far_as_there_is_enough() -> None:
    width = window_of(counting([number * SECOND for number in range(1_000_000)]), enough=50, most=10_000)
    assert width == MINUTE


def test_a_window_that_would_show_too_much_is_made_narrower() -> None:
    ages = [HOUR * 7 + number for number in range(9_000)] + [HOUR * 20 + number for number in range(900_000)]
    width = window_of(counting(ages), enough=50, most=10_000)
    assert width is not None
    assert 50 <= counting(ages)(width) <= 10_000


def test_where_a_moment_has_too_many_it_is_looked_at_alone() -> None:
    assert window_of(counting([0] * 20_000), enough=50, most=10_000) == NARROWEST


@given(st.lists(st.integers(0, 1000 * DAY), max_size=300), st.integers(1, 20), st.integers(20, 60))
def test_a_window_never_shows_more_than_too_much_unless_it_cannot_be_narrower(
    ages: list[int], enough: int, most: int
) -> None:
    ages = sorted(ages)
    width = window_of(counting(ages), enough, most)
    assert width == NARROWEST or counting(ages)(width) <= most
