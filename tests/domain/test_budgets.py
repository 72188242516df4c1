"""Budgets: a window that moves along; what runs counts with what is reserved for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.budgets import (
    Budget,
    WhenSpent,
    Window,
    read_budget,
    starts_within,
    stored_budget,
)
from tests.builders import DAY, HOUR, NOON


@pytest.mark.parametrize(
    ("left", "estimate", "starts"),
    [(100, 30, 3), (29, 30, 0), (-5, 30, 0), (1, None, None), (0, None, 0), (-5, 0, None), (100, 0, None)],
)
def test_how_many_may_start(left: int, estimate: int | None, starts: int | None) -> None:
    assert starts_within(left, estimate) == starts


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(0, 300))
def test_reserved_one_by_one_a_budget_is_never_exceeded(estimates: list[int], allowed: int) -> None:
    left = allowed
    for estimate in estimates:
        if starts_within(left, estimate):
            left -= estimate
    assert left >= 0


@pytest.mark.parametrize(
    ("window", "length"), [(Window.HOUR, HOUR), (Window.DAY, DAY), (Window.MONTH, 30 * DAY)], ids=list(Window)
)
def test_the_windows(window: Window, length: int) -> None:
    assert Budget(1, window).begins_at(NOON) == NOON - length


def test_a_budget_as_people_write_it() -> None:
    assert read_budget({"credits": 5}) == Budget(5, Window.DAY, WhenSpent.SKIP)
    assert read_budget({"credits": 5, "per": "30d", "when_spent": "pause"}) == Budget(5, Window.MONTH, WhenSpent.PAUSE)


def test_a_budget_is_kept_as_it_is_written() -> None:
    budget = Budget(5, Window.MONTH, WhenSpent.PAUSE)
    assert read_budget(json.loads(stored_budget(budget) or "")) == budget
    assert stored_budget(None) is None


@pytest.mark.parametrize(
    "wrong",
    [5, {}, {"credits": -1}, {"credits": True}, {"credits": 5, "per": "week"}, {"credits": 5, "when_spent": "x"}],
)
def test_what_is_no_budget_is_refused(wrong: object) -> None:
    with pytest.raises(Invalid):
        read_budget(wrong)
