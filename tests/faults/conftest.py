"""What a fault test has seen is kept for the report."""

from collections.abc import Callable

import pytest

Note = Callable[[str, str], None]


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Note:
    """Keep, under the name of the fault, what was seen of it: it becomes a figure of the proof."""
    return record_property
