"""How far another clock is ahead: bounds that hold the truth, ever narrower, until a clock is set."""

from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.skew import NONE, UNKNOWN, Skew

delays = st.integers(0, 10**6)


@given(ahead=st.integers(-(10**12), 10**12), questions=st.lists(st.tuples(delays, delays, delays), min_size=1))
def test_the_truth_lies_within_the_bounds_and_they_never_widen(
    ahead: int, questions: list[tuple[int, int, int]]
) -> None:
    known, now = UNKNOWN, 10**15
    for quiet, there, back in questions:
        before = now + quiet
        theirs = before + there + ahead
        now = before + there + back
        narrower = known.narrowed(Skew.measured(theirs, before, now))
        assert known.least <= narrower.least <= ahead <= narrower.most <= known.most
        known = narrower


def test_a_quick_answer_says_more_than_any_number_of_slow_ones() -> None:
    slow, quick = (
        Skew.measured(theirs=1_000, before=0, after=5_000),
        Skew.measured(theirs=9_000, before=9_000, after=9_100),
    )
    known = UNKNOWN.narrowed(slow).narrowed(quick).narrowed(slow)
    assert known == Skew(-100, 0)
    assert known.likely == -50


def test_what_contradicts_is_believed_for_a_clock_was_set() -> None:
    known = Skew(-100, 100).narrowed(Skew.measured(theirs=3_600_000_000, before=0, after=500))
    assert known == Skew(3_599_999_500, 3_600_000_000)


def test_a_reading_across_which_our_own_clock_was_set_back_says_nothing() -> None:
    assert Skew(-100, 100).narrowed(Skew.measured(theirs=5_000, before=10_000, after=2_000)) == Skew(-100, 100)


def test_where_there_is_one_clock_nothing_is_ahead() -> None:
    assert NONE.likely == UNKNOWN.likely == 0
