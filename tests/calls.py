"""Cost, counted in calls: a clock would measure the machine."""

import sys
from collections.abc import Callable
from types import FrameType


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
