"""Credits: whole numbers, rounded up once; unknown is not nothing; what is free runs with any balance."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.credits import (
    CREDITS_PER_USD,
    DEFAULT_MARKUP,
    Meter,
    Model,
    Pricing,
    RunLimits,
    Usage,
    can_pay,
    charge_key,
    cost_of,
    credits_of,
    estimate_of,
    may_be_created,
    model_of,
    read_catalogue,
    read_cost,
    read_usages,
    usage_of,
    usages_text,
    was_let_in,
)

CATALOGUE = {"small": Model("small", is_free=True), "large": Model("large", False, Decimal("0.000003"))}
COSTS = st.decimals(min_value=0, max_value=10_000, places=12)


def test_a_dollar_is_ten_million_credits() -> None:
    assert credits_of(Decimal(1), Decimal(1)) == CREDITS_PER_USD == 10_000_000


@given(COSTS, st.decimals(min_value=1, max_value=5, places=4))
def test_a_cost_is_rounded_up_once_and_by_less_than_one_credit(cost: Decimal, markup: Decimal) -> None:
    exact = Fraction(cost) * Fraction(markup) * CREDITS_PER_USD
    assert 0 <= credits_of(cost, markup) - exact < 1


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage("u", model="large", cost=Decimal("0.5")), Decimal("0.5")),
        (Usage("u", model="large", tokens=1000), Decimal("0.003")),
        (Usage("u", model="large", cost=Decimal(0), tokens=1000), Decimal("0.003")),
        (Usage("u", model="large", cost=Decimal(0)), None),
        (Usage("u", model="large"), None),
        (Usage("u", model="unlisted", tokens=1000), None),
        (Usage("u", model="unlisted", cost=Decimal(2)), Decimal(2)),
        (Usage("u", model="small"), Decimal(0)),
        (Usage("u", model="small", cost=Decimal("0.5")), Decimal(0)),
        (Usage("u", cost=Decimal(0)), Decimal(0)),
        (Usage("u"), None),
    ],
)
def test_what_is_not_known_is_not_nothing(usage: Usage, cost: Decimal | None) -> None:
    assert cost_of(usage, CATALOGUE) == cost


def test_a_model_that_is_not_listed_is_paid() -> None:
    assert not model_of({}, "whatever").is_free
    assert estimate_of(model_of({}, "whatever"), 0, DEFAULT_MARKUP) > 0


def test_an_estimate_is_of_the_input_an_answer_and_what_a_graph_adds() -> None:
    paid = Model("paid", is_free=False)
    tokens = 3 + 512 + 10_000
    assert estimate_of(paid, 9, Decimal(2)) == credits_of(tokens * Decimal("0.00002"), Decimal(2)) == 4_206_000


@pytest.mark.parametrize("balance", [-5, 0, 1])
def test_what_is_free_is_created_and_run_with_any_balance(balance: int) -> None:
    for model in (None, CATALOGUE["small"]):
        assert may_be_created(model, balance)
        assert can_pay(balance, estimate_of(model, 1000, DEFAULT_MARKUP))


def test_what_is_paid_needs_a_balance() -> None:
    large = CATALOGUE["large"]
    estimate = estimate_of(large, 1000, DEFAULT_MARKUP)
    assert not may_be_created(large, 0)
    assert may_be_created(large, 1)
    assert not can_pay(estimate - 1, estimate)
    assert can_pay(estimate, estimate)


def test_a_charge_is_named_by_run_attempt_and_unit_alone() -> None:
    assert charge_key("digest:2026-11-15T12:00:00Z", 2, "call-7") == "digest:2026-11-15T12:00:00Z/2/call-7"


@pytest.mark.parametrize("wrong", ["x", "-1", "NaN", "Infinity", "1e400", True, -0.5])
def test_what_is_no_cost_is_refused(wrong: object) -> None:
    with pytest.raises(Invalid, match="a cost takes an amount of USD"):
        read_cost(wrong)


@pytest.mark.parametrize(
    "wrong", [{"unit": ""}, {"unit": "a\n"}, {"unit": "u", "tokens": -1}, {"unit": "u", "model": 5}]
)
def test_what_cannot_be_charged_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        usage_of(**wrong)  # type: ignore[arg-type]


def test_a_catalogue_is_read_from_what_a_file_says() -> None:
    assert read_catalogue({"small": {"is_free": True}, "large": {"usd_per_token": "0.000003"}}) == {
        **CATALOGUE,
        "small": CATALOGUE["small"]._replace(usd_per_token=Model("x", True).usd_per_token),
    }


@pytest.mark.parametrize("wrong", [[], {"m": 5}, {"m": {"price": 1}}, {"m": {"is_free": "yes"}}, {5: {}}])
def test_what_is_no_catalogue_is_refused(wrong: object) -> None:
    with pytest.raises(Invalid):
        read_catalogue(wrong)


def test_usages_are_read_as_they_were_written() -> None:
    usages = (usage_of("call", model="large", tokens=7), usage_of("other", source="proxy", cost="0.0042"))
    assert read_usages(usages_text(usages)) == usages
    assert usages_text(()) is None
    assert read_usages(None) == ()


@pytest.mark.parametrize(
    ("charged_at", "answered_at", "is_let_in"),
    [
        pytest.param([], None, False, id="nobody was charged: it is asked like the first time"),
        pytest.param([10], None, True, id="killed between its charge and its record"),
        pytest.param([10], 20, False, id="what it does after an answer is paid anew"),
        pytest.param([10, 30], 20, True, id="killed after it was answered and charged once more"),
        pytest.param([20], 20, False, id="charged, and answered in the same moment"),
    ],
)
def test_who_was_let_in_before_is_not_asked_again_whether_it_can_pay(
    charged_at: list[int], answered_at: int | None, is_let_in: bool
) -> None:
    assert was_let_in(charged_at, answered_at) is is_let_in


PRICES = Pricing(CATALOGUE)
SMALL, LARGE = '{"model":"small"}', '{"model":"large"}'


@pytest.mark.parametrize(
    ("costs", "input", "own", "cost"),
    [
        pytest.param([7, 9, 30], LARGE, None, 9, id="the past says it"),
        pytest.param([7, 9, 30], LARGE, '{"model":"large","more":1}', 9, id="its own input names the same model"),
        pytest.param([7, 9, 30], LARGE, "1", 9, id="its own input names no model"),
        pytest.param([7, 9, 30], LARGE, SMALL, 0, id="its own is free"),
        pytest.param([7, 9, 30], None, LARGE, PRICES.estimate(LARGE), id="its own is dearer"),
        pytest.param([0, 0], LARGE, None, PRICES.estimate(LARGE), id="nothing is known of the past"),
        pytest.param([], LARGE, "1", None, id="nobody knows"),
        pytest.param([0, 0], None, None, 1, id="what cost nothing may cost something yet"),
        pytest.param([0, 0], SMALL, None, 0, id="it is free"),
    ],
)
def test_what_a_run_may_cost(costs: list[int], input: str | None, own: str | None, cost: int | None) -> None:
    assert PRICES.cost_each(costs, input, own) == cost


def test_a_run_has_used_each_call_once_by_its_name_however_often_it_is_told() -> None:
    meter = Meter(RunLimits(2, 100, 300), Pricing(markup=Decimal(1)))
    call = Usage("one", tokens=50, cost=Decimal("0.00001"))
    assert [meter.add(call) for _ in range(5)] == [None] * 5
    assert meter.add(call._replace(source="another")) is None
    assert meter.add(call._replace(unit="two")) == "3 calls, and one run may take 2"


def test_a_cost_that_is_told_later_counts_from_then_on_and_only_once() -> None:
    meter = Meter(RunLimits(None, 90, 300), Pricing(markup=Decimal(1)))
    assert meter.add(Usage("one", tokens=50)) is None
    assert meter.add(Usage("one", tokens=80, cost=Decimal("0.00002"))) is None
    assert meter.add(Usage("one", tokens=80, cost=Decimal("0.00009"))) is None
    assert meter.add(Usage("two", cost=Decimal("0.00002"))) == "400 credits, and one run may take 300"
    assert meter.add(Usage("three", tokens=11)) == "91 tokens, and one run may take 90"


def test_a_run_that_begins_with_what_it_was_charged_before_may_have_passed_its_limits() -> None:
    meter = Meter(RunLimits(1, None, None), Pricing())
    meter.count("foliot", "one", None, 100)
    assert meter.add(Usage("one", cost=Decimal("0.00001"))) is None
    meter.count("foliot", "two", 7, None)
    assert meter.exceeded == "2 calls, and one run may take 1"


def test_no_charge_is_more_than_every_database_can_add_up() -> None:
    assert credits_of(Decimal(10**12), Decimal(1000)) == 10**16
