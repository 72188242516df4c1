"""A long downtime costs next to nothing to judge: what was missed is counted by arithmetic, not slot by slot."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from foliot.domain.generation import generate
from foliot.domain.policies import CatchUp, Policies
from tests.builders import DAY, MINUTE, NOON, a_state, a_timetable


def calls(question: Callable[[], object]) -> int:
    """How many function calls, Python's and C's, it takes to answer."""
    count = 0

    def counter(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counter)
    try:
        question()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("catchup", [CatchUp.NONE, CatchUp.LAST, CatchUp.ALL])
def test_a_year_of_missed_minutes_is_judged_in_a_bounded_number_of_steps(catchup: CatchUp) -> None:
    timetable = a_timetable(MINUTE)
    policies, state = Policies(catchup=catchup), a_state(NOON)
    assert calls(lambda: generate(timetable, policies, state, NOON + 365 * DAY, 1000)) < 20_000
