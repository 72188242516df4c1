"""Prices by which nothing could be charged are refused where they are given, not noticed when a run has to be paid."""

from decimal import Decimal
from typing import Any

import pytest

from foliot import Foliot, Invalid, Pricing
from foliot.domain.credits import Model
from foliot.settings import pricing_of

URL = "sqlite:///not-used.db"


@pytest.mark.parametrize(
    ("given", "markup"),
    [(1, 1), (3, 3), (1_000, 1_000), (Decimal("1.5"), Decimal("1.5")), ("2", 2), ("1.25", Decimal("1.25"))],
)
def test_a_markup_is_a_whole_number_a_decimal_or_text_and_is_made_exact(given: Any, markup: Any) -> None:
    pricing = Foliot(URL, pricing=Pricing(markup=given)).pricing
    assert (type(pricing.markup), pricing.markup) == (Decimal, markup)


@pytest.mark.parametrize(
    "wrong",
    [1.5, float("nan"), -1, 0, True, None, [], "", "much", "nan", "0.99", "1001", Decimal("1e400"), Decimal("sNaN")],
)
def test_a_markup_that_is_none_is_refused_with_its_name_and_rule(wrong: Any) -> None:
    with pytest.raises(Invalid, match=r"markup of a Pricing takes a number from 1 to 1,000, .* as in Decimal\('1.5'\)"):
        Foliot(URL, pricing=Pricing(markup=wrong))


@pytest.mark.parametrize("wrong", ["1e400", "1001", "0.5", "nan", "much"])
def test_the_environments_markup_has_the_same_bounds(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("FOLIOT_MARKUP", wrong)
    with pytest.raises(Invalid, match="FOLIOT_MARKUP takes a number from 1 to 1,000"):
        pricing_of()


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"confirm_slots": -1}, "confirm_slots of a Pricing takes a whole number of 0 or more, got -1"),
        ({"confirm_slots": "a"}, "confirm_slots of a Pricing takes"),
        ({"confirm_slots": True}, "confirm_slots of a Pricing takes"),
        ({"confirm_credits": -1}, "confirm_credits of a Pricing takes"),
        ({"confirm_credits": 1.5}, "confirm_credits of a Pricing takes"),
        ({"catalogue": 5}, "catalogue of a Pricing takes models by name"),
        ({"catalogue": None}, "catalogue of a Pricing takes models by name"),
        ({"catalogue": {5: Model("large", False)}}, "catalogue of a Pricing takes a Model by its name"),
        ({"catalogue": {"large": {"is_free": True}}}, "catalogue of a Pricing takes a Model by its name"),
        ({"catalogue": {"large": Model("large", "no")}}, "catalogue of a Pricing takes a Model by its name"),  # type: ignore[arg-type]
        ({"catalogue": {"large": Model("large", False, Decimal(-1))}}, "a cost takes an amount of USD"),
        ({"catalogue": {"large": Model("large", False, None)}}, "usd_per_token of 'large' takes"),  # type: ignore[arg-type]
    ],
)
def test_what_else_is_no_pricing_is_refused_with_its_name_and_rule(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(Invalid, match=rule):
        Foliot(URL, pricing=Pricing(**options))


@pytest.mark.parametrize("wrong", [5, 0, {}, (), "2"])
def test_what_is_no_pricing_at_all_is_refused(wrong: Any) -> None:
    with pytest.raises(Invalid, match=r"pricing takes a foliot\.Pricing"):
        Foliot(URL, pricing=wrong)


def test_a_price_that_is_a_float_is_made_exact() -> None:
    pricing = Pricing({"large": Model("large", False, 0.000002)})  # type: ignore[arg-type]
    assert Foliot(URL, pricing=pricing).pricing.catalogue["large"].usd_per_token == Decimal("0.000002")
