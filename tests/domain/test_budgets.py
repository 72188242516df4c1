"""Budgets: a window that moves along; what runs counts with what is reserved for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.budgets import (
    Budget,
    Counted,
    Funds,
    WhenSpent,
    Window,
    lacking,
    read_budget,
    set_aside,
    starts_within,
    stored_budget,
    wanted_back,
)
from tests.builders import DAY, HOUR, NOON


@pytest.mark.parametrize(
    ("left", "estimate", "starts"),
    [(100, 30, 3), (29, 30, 0), (-5, 30, 0), (1, None, 1), (100, None, 1), (0, None, 0), (-5, 0, None), (100, 0, None)],
)
def test_how_many_may_start(left: int, estimate: int | None, starts: int | None) -> None:
    assert starts_within(left, estimate) == starts


@given(st.integers(-300, 300), st.none() | st.integers(0, 300))
def test_what_is_lacking_is_just_enough_for_a_run_to_start(left: int, cost: int | None) -> None:
    lack = lacking(left, cost)
    assert starts_within(left + lack, cost) != 0
    assert lack == 0 or starts_within(left + lack - 1, cost) == 0


@pytest.mark.parametrize(
    ("counted", "cost", "wanted"),
    [
        pytest.param(Counted(70, 0, 0), 30, 0, id="there is room"),
        pytest.param(Counted(80, 10, 10), 30, 20, id="enough will leave the window"),
        pytest.param(Counted(90, 0, 75), 30, None, id="runs under way have too much of it"),
        pytest.param(Counted(100, 0, 0), None, 1, id="anything left is room for what nobody knows"),
        pytest.param(Counted(10, 0, 0), 101, None, id="it costs more than all of it"),
        pytest.param(Counted(100, 20, 120), 0, 0, id="it is free"),
    ],
)
def test_how_much_must_no_longer_count_before_another_run_may_start(
    counted: Counted, cost: int | None, wanted: int | None
) -> None:
    found = wanted_back([(Budget(100, Window.DAY), counted)], cost, cost)
    assert found == (None if wanted is None else [wanted])


def test_what_a_guess_says_too_much_of_starts_when_nothing_of_its_budgets_counts() -> None:
    own, granted = Budget(100, Window.DAY), Budget(900, Window.MONTH)
    drawn = [(own, Counted(10, 0, 0)), (granted, Counted(40, 5, 0))]
    assert wanted_back(drawn, 500, None) == [10, 45]
    assert wanted_back([drawn[0], (granted, Counted(40, 5, 1))], 500, None) is None, "a run under way has some of it"
    assert wanted_back([(own._replace(credits=0), Counted(0, 0, 0))], 500, None) is None, "there is none"


@given(st.lists(st.none() | st.integers(1, 60), max_size=40), st.integers(0, 300))
def test_reserved_one_by_one_a_budget_is_never_exceeded(estimates: list[int | None], allowed: int) -> None:
    left = allowed
    for estimate in estimates:
        if starts_within(left, estimate):
            left -= set_aside(left, estimate)
            assert left >= 0
            assert left == 0 or estimate is not None, "what may cost anything leaves nothing to others"


@pytest.mark.parametrize(
    ("window", "length"), [(Window.HOUR, HOUR), (Window.DAY, DAY), (Window.MONTH, 30 * DAY)], ids=list(Window)
)
def test_the_windows(window: Window, length: int) -> None:
    assert Budget(1, window).begins_at(NOON) == NOON - length
    assert Budget(1, window).begins_at(Budget(1, window).forgets_at(NOON)) == NOON


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


SKIPS, PAUSES = WhenSpent.SKIP, WhenSpent.PAUSE


@pytest.mark.parametrize(
    ("lefts", "cost", "starts", "pauses"),
    [
        pytest.param((), 30, None, False, id="nothing is counted"),
        pytest.param(((100, SKIPS), (50, PAUSES)), 30, 1, False, id="the least decides"),
        pytest.param(((100, SKIPS), (29, PAUSES)), 30, 0, True, id="the one that is spent pauses"),
        pytest.param(((29, SKIPS), (100, PAUSES)), 30, 0, False, id="the one that is spent only skips"),
        pytest.param(((0, SKIPS), (-5, PAUSES)), None, 0, True, id="both are spent"),
        pytest.param(((-5, PAUSES),), 0, None, False, id="what costs nothing"),
    ],
)
def test_what_is_left_of_several_budgets(
    lefts: tuple[tuple[int, WhenSpent], ...], cost: int | None, starts: int | None, pauses: bool
) -> None:
    funds = Funds(lefts)
    assert (funds.starts(cost), funds.pauses(cost)) == (starts, pauses)


def test_each_run_takes_what_it_may_cost_itself() -> None:
    funds = Funds(((100, SKIPS), (80, PAUSES)), each=30, own={7: 50, 8: None})
    assert [funds.cost_of(row) for row in (None, 6, 7, 8)] == [30, 30, 50, None]
    assert funds.less(50).lefts == ((50, SKIPS), (30, PAUSES))
    assert funds.less(None).lefts == ((0, SKIPS), (0, PAUSES))
