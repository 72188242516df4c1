"""How a schedule is described, and how that is stored."""

import pytest

from foliot import Invalid
from foliot.services.configuration import stored_of


def test_what_reads_the_same_is_stored_the_same() -> None:
    hourly = {"target": "python:digest", "every": "1h", "retry": 2}
    assert stored_of("one", hourly) == stored_of("other", dict(hourly))
    assert stored_of("one", hourly) != stored_of("one", {**hourly, "every": "2h"})
    assert stored_of("one", hourly) != stored_of("one", {**hourly, "retry": 3})


def test_what_was_read_once_vouches_for_nothing_that_only_equals_it() -> None:
    assert stored_of("one", {"target": "python:digest", "every": "1h", "buffer": 1}).policies == '{"buffer":1}'
    with pytest.raises(Invalid, match="buffer takes a whole number"):
        stored_of("one", {"target": "python:digest", "every": "1h", "buffer": True})
