"""Budgets: a window that moves along; what runs counts with what is reserved for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.budgets import (
    Budget,
    Spending,
    WhenSpent,
    Window,
    left_of,
    read_budget,
    starts_within,
    stored_budget,
)
from tests.builders import DAY, HOUR, NOON

HOURLY = Budget(100, Window.HOUR)


def test_what_was_spent_before_the_window_no_longer_counts() -> None:
    spendings = [Spending(NOON - HOUR, 50, 50), Spending(NOON - HOUR + 1, 30, 20)]
    assert left_of(HOURLY, spendings, NOON) == 80


def test_what_runs_counts_with_its_reservation_however_long_ago_it_began() -> None:
    assert left_of(HOURLY, [Spending(NOON - DAY, 40, None)], NOON) == 60


def test_what_a_run_came_to_counts_instead_of_what_was_reserved() -> None:
    assert left_of(HOURLY, [Spending(NOON, 40, 130)], NOON) == -30


def test_two_that_are_admitted_at_the_same_instant_cannot_both_take_the_last() -> None:
    first = Spending(NOON, 100, None)
    assert starts_within(left_of(HOURLY, [], NOON), 100) == 1
    assert starts_within(left_of(HOURLY, [first], NOON), 1) == 0


@pytest.mark.parametrize(
    ("left", "estimate", "starts"),
    [(100, 30, 3), (29, 30, 0), (-5, 30, 0), (1, None, None), (0, None, 0), (-5, 0, None), (100, 0, None)],
)
def test_how_many_may_start(left: int, estimate: int | None, starts: int | None) -> None:
    assert starts_within(left, estimate) == starts


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(0, 300))
def test_reserved_one_by_one_a_budget_is_never_exceeded(estimates: list[int], credits: int) -> None:
    budget, taken = Budget(credits, Window.DAY), list[Spending]()
    for estimate in estimates:
        if starts_within(left_of(budget, taken, NOON), estimate):
            taken.append(Spending(NOON, estimate, None))
    assert sum(each.reserved for each in taken) <= credits


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
