"""A long downtime costs next to nothing to judge: what was missed is counted by arithmetic, not slot by slot."""

import pytest

from foliot.domain.generation import generate
from foliot.domain.policies import CatchUp, Policies
from tests.builders import DAY, MINUTE, NOON, a_state, a_timetable
from tests.calls import calls


@pytest.mark.parametrize("catchup", [CatchUp.NONE, CatchUp.LAST, CatchUp.ALL])
def test_a_year_of_missed_minutes_is_judged_in_a_bounded_number_of_steps(catchup: CatchUp) -> None:
    timetable = a_timetable(MINUTE)
    policies, state = Policies(catchup=catchup), a_state(NOON)
    assert calls(lambda: generate(timetable, policies, state, NOON + 365 * DAY, 1000)) < 20_000
