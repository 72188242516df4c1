"""Credits: what usage costs in whole numbers, what makes a charge the same charge, and who may begin something paid."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid

CREDITS_PER_USD = 10_000_000
DEFAULT_MARKUP = Decimal(2)
_LEAST_MARKUP = Decimal(1)
_MOST_MARKUP = Decimal(1_000)

_CHARACTERS_A_TOKEN = 4
_ANSWER_TOKENS = 512
_OVERHEAD_TOKENS = 10_000
"""What a graph says to its model besides its input, until the schedule's own history knows better."""
_UNLISTED_PRICE = Decimal("0.00002")
"""USD a token of a model that the catalogue does not know."""
_LONGEST_NAME = 200
_MOST_USD = 1_000_000
_MOST_TOKENS = 10**12
_MOST_CHARGE = 10**16
_MOST_PAYMENT = 10**15
_MOST_BALANCE = 10**18


class Posting(StrEnum):
    """Why an account's balance changed."""

    TOP_UP = "top_up"
    CHARGE = "charge"
    REFUND = "refund"


class Model(NamedTuple):
    """A model of the catalogue: what a token costs, or nothing at all."""

    name: str
    is_free: bool
    usd_per_token: Decimal = _UNLISTED_PRICE


Catalogue = Mapping[str, Model]


class Usage(NamedTuple):
    """One billable call that a run made, as its executor reports it."""

    unit: str
    """What names the call, and stays the same however often it is reported."""
    source: str = "foliot"
    """The system that counted it."""
    model: str | None = None
    tokens: int | None = None
    cost: Decimal | None = None
    """In USD; None when it is not known yet."""


class Pricing(NamedTuple):
    """What models cost, how much is added to it, and from where on somebody must say that it is meant."""

    catalogue: Catalogue = MappingProxyType({})
    markup: Decimal = DEFAULT_MARKUP
    confirm_slots: int = 1_000
    """A backfill of more slots than this is started only when confirmed,"""
    confirm_credits: int = CREDITS_PER_USD
    """and so is one that may cost more than this."""

    def model_in(self, input: str | None) -> Model | None:
        """The model that an input, as JSON, names; None when it names none."""
        if input is None or '"model"' not in input:
            return None
        given = json.loads(input)
        name = given.get("model") if isinstance(given, dict) else None
        if name is None:
            return None
        if isinstance(name, str) and (name in self.catalogue or (name.strip() and name.isprintable())):
            return model_of(self.catalogue, name)
        # Whatever it is, nobody has said that it is free.
        return Model(f"the model {json.dumps(name)[:100]}", is_free=False)

    def estimate(self, input: str | None) -> int:
        """What a run with that input may cost, in credits."""
        return estimate_of(self.model_in(input), len(input or ""), self.markup)

    def cost_each(self, costs: Sequence[int], input: str | None, own: str | None = None) -> int | None:
        """What a run may cost: the median of what the last ones did, else an estimate for its model; None: unknown."""
        past = self.past_cost(costs, input, own)
        return self.guess(input if own is None else own) if past is None else past

    def past_cost(self, costs: Sequence[int], input: str | None, own: str | None = None) -> int | None:
        """The median of what the last runs cost; None when they say nothing about the next.

        None is known to cost nothing but by its model: where the last ones did, the next, or one that fails, may cost
        something. Of a run with an input of its own, which names another model than its schedule's, the past says
        nothing.
        """
        model = self.model_in(input if own is None else own)
        is_like_them = own is None or self.model_in(own) in (None, self.model_in(input))
        return max(1, round(median(costs))) if is_like_them and costs and (any(costs) or model is None) else None

    def guess(self, input: str | None) -> int | None:
        """What a run with that input may cost, as far as its model says; None when it names none."""
        return None if self.model_in(input) is None else self.estimate(input)

    def needs_confirmation(self, slots: int, cost_each: int | None) -> bool:
        return slots > self.confirm_slots or slots * (cost_each or 0) > self.confirm_credits

    def credits_for(self, usage: Usage) -> int | None:
        """What a call is charged with; None as long as nobody knows what it costs."""
        cost = cost_of(usage, self.catalogue)
        return None if cost is None else credits_of(cost, self.markup)


def read_pricing(given: object) -> Pricing:
    """The pricing that a program gives, with what it says made exact; Invalid when nothing could be charged by it."""
    if not isinstance(given, Pricing):
        raise Invalid(f"pricing takes a foliot.Pricing, got {given!r:.80}")
    if not isinstance(given.catalogue, Mapping):
        raise Invalid(
            f"catalogue of a Pricing takes models by name, as `read_catalogue` reads them, got {given[0]!r:.80}"
        )
    for option, most in (("confirm_slots", given.confirm_slots), ("confirm_credits", given.confirm_credits)):
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise Invalid(f"{option} of a Pricing takes a whole number of 0 or more, got {most!r:.80}")
    models = {name: _checked_model(name, model) for name, model in given.catalogue.items()}
    return given._replace(catalogue=models, markup=read_markup("markup of a Pricing", given.markup))


def read_markup(name: str, given: object) -> Decimal:
    """What costs are multiplied with, as a whole number, a Decimal or text; Invalid when nobody should pay that."""
    try:
        markup = Decimal(given) if isinstance(given, int | str | Decimal) else Decimal("NaN")
    except InvalidOperation:
        markup = Decimal("NaN")
    if isinstance(given, bool) or not markup.is_finite() or not _LEAST_MARKUP <= markup <= _MOST_MARKUP:
        raise Invalid(
            f"{name} takes a number from {_LEAST_MARKUP} to {_MOST_MARKUP:,}, whole or exact as in Decimal('1.5') or"
            f" '1.5', got {given!r:.80}"
        )
    return markup


class RunLimits(NamedTuple):
    """How much one run may take; None: any amount."""

    calls: int | None
    tokens: int | None
    credits: int | None


class Meter:
    """Adds up what one run has used: each call once, by its name, however often and in however many deliveries."""

    __slots__ = ("_calls", "_limits", "_pricing", "_used")

    def __init__(self, limits: RunLimits, pricing: Pricing) -> None:
        self._limits = limits
        self._pricing = pricing
        self._calls: dict[tuple[str, str], tuple[int, int | None]] = {}
        """Its tokens and credits, by source and unit."""
        self._used = (0, 0, 0)

    def add(self, usage: Usage) -> str | None:
        """Count the call; what it has exceeded, in words, if anything."""
        self.count(usage.source, usage.unit, usage.tokens, self._pricing.credits_for(usage))
        return self.exceeded

    def count(self, source: str, unit: str, tokens: int | None, credits: int | None) -> None:
        """Count a call that was charged with so many credits; None while nobody knows, and then what is told first."""
        name = (source, unit)
        known = self._calls.get(name)
        if known is not None and (known[1] is not None or credits is None):
            return
        counted = known or (0, 0)
        call = self._calls[name] = (tokens or 0, credits)
        _, all_tokens, spent = self._used
        self._used = (len(self._calls), all_tokens + call[0] - counted[0], spent + (credits or 0))

    @property
    def exceeded(self) -> str | None:
        """The limit that is passed, in words, if one is."""
        for name, used, most in zip(RunLimits._fields, self._used, self._limits, strict=True):
            if most is not None and used > most:
                return f"{used:,} {name}, and one run may take {most:,}"
        return None


def credits_of(usd: Decimal, markup: Decimal) -> int:
    """A cost in credits, rounded up once, at the end; no more than every database can add up."""
    return min(math.ceil(usd * markup * CREDITS_PER_USD), _MOST_CHARGE)


def read_cost(given: object) -> Decimal | None:
    """A cost in USD as somebody reported it; None when it is not known. Invalid when it is no cost."""
    if given is None:
        return None
    try:
        cost = Decimal(str(given))
    except InvalidOperation:
        cost = Decimal("NaN")
    if isinstance(given, bool) or not cost.is_finite() or not 0 <= cost <= _MOST_USD:
        raise Invalid(
            f"a cost takes an amount of USD such as '0.0042', at most {_MOST_USD:,}, or none when it is not known,"
            f" got {given!r}"
        )
    return cost


def usage_of(
    unit: str, *, source: str = "foliot", model: str | None = None, tokens: int | None = None, cost: object = None
) -> Usage:
    """What somebody reports of a call; Invalid when it cannot be charged to anything."""
    for name, text in (("unit", unit), ("source", source)):
        if not isinstance(text, str) or not text or len(text) > _LONGEST_NAME or not text.isprintable():
            raise Invalid(f"{name} takes printable text of 1 to {_LONGEST_NAME} characters, got {text!r}")
    if model is not None and (
        not isinstance(model, str) or not 0 < len(model) <= _LONGEST_NAME or not model.isprintable()
    ):
        raise Invalid(f"model takes printable text of 1 to {_LONGEST_NAME} characters, got {model!r:.80}")
    if tokens is not None and (
        isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= _MOST_TOKENS
    ):
        raise Invalid(f"tokens takes a number from 0 to {_MOST_TOKENS:,}, got {tokens!r}")
    return Usage(unit, source, model, tokens, read_cost(cost))


def usages_text(usages: Sequence[Usage]) -> str | None:
    """These calls as they are kept, as JSON; None for none."""
    if not usages:
        return None
    rows = [(*usage[:4], None if usage.cost is None else str(usage.cost)) for usage in usages]
    return json.dumps(rows, separators=(",", ":"))


def read_usages(text: str | None) -> tuple[Usage, ...]:
    """What `usages_text` wrote."""
    rows = json.loads(text or "[]")
    return tuple(Usage(unit, source, model, tokens, read_cost(cost)) for unit, source, model, tokens, cost in rows)


def payment_of(credits: int) -> int:
    """What is paid into an account at once; Invalid when that is nothing, or more than anybody pays."""
    if isinstance(credits, bool) or not isinstance(credits, int) or not 0 < credits <= _MOST_PAYMENT:
        raise Invalid(f"credits takes a whole number above 0 and up to {_MOST_PAYMENT:,}, got {credits!r:.80}")
    return credits


def check_balance(user: str, balance: int) -> None:
    """Invalid when a payment would make it more than an account can have."""
    if balance > _MOST_BALANCE:
        raise Invalid(
            f"an account takes up to {_MOST_BALANCE:,} credits, and {user}'s would have {balance:,}: pay less"
        )


def charge_key(run_id: str, attempt: int, unit: str) -> str:
    """What makes a charge the same charge, however often it is reported: no clock and no chance is in it."""
    return f"{run_id}/{attempt}/{unit}"


def virtual_key(account: int) -> str:
    """The default key of an account: it follows from the account, so no grant has to keep it."""
    return f"foliot-account-{account}"


def model_of(catalogue: Catalogue, name: str) -> Model:
    """The model of that name; one that is not listed is paid."""
    return catalogue.get(name) or Model(name, is_free=False)


def cost_of(usage: Usage, catalogue: Catalogue) -> Decimal | None:
    """What a call costs in USD; None as long as nobody knows.

    A paid model whose cost is reported as nothing has not been counted yet: that is not the same as free.
    """
    model = None if usage.model is None else model_of(catalogue, usage.model)
    if model is not None and model.is_free:
        return Decimal(0)
    if usage.cost is not None and (usage.cost > 0 or model is None):
        return usage.cost
    if model is not None and usage.model in catalogue and usage.tokens:
        return usage.tokens * model.usd_per_token
    return None


def completed(later: Usage, model: str | None, tokens: int | None) -> Usage:
    """A call whose cost is told later: it was of the model that it was of, else what is told now."""
    return later._replace(model=model or later.model, tokens=tokens if later.tokens is None else later.tokens)


def estimate_of(model: Model | None, characters: int, markup: Decimal) -> int:
    """What a run whose input is so long may cost, in credits, before anything is known of it."""
    if model is None or model.is_free:
        return 0
    tokens = -(-characters // _CHARACTERS_A_TOKEN) + _ANSWER_TOKENS + _OVERHEAD_TOKENS
    return credits_of(tokens * model.usd_per_token, markup)


def can_pay(balance: int, estimate: int) -> bool:
    """Whether a run may start. What costs nothing starts with any balance, also with one below nothing."""
    return estimate == 0 or balance >= estimate


def was_let_in(charged_at: Iterable[int], answered_at: int | None) -> bool:
    """Whether a run that is delivered once more has been let in before: it was charged, since it was last answered.

    What it used is owed by now and never charged twice, so nobody asks again whether it can be paid.
    """
    return any(answered_at is None or at > answered_at for at in charged_at)


def may_be_created(model: Model | None, balance: int) -> bool:
    """Whether a schedule of that model may be made: nobody is let in who could not pay for anything."""
    return model is None or model.is_free or balance > 0


def read_catalogue(given: object) -> Catalogue:
    """The catalogue as a file says it: by model, `{"is_free": true}` or `{"usd_per_token": "0.000002"}`."""
    if not isinstance(given, Mapping):
        raise Invalid(f"a catalogue takes models by name, got {given!r}")
    return {name: _read_model(name, said) for name, said in given.items()}


def _read_model(name: object, said: Any) -> Model:
    if not isinstance(name, str) or not isinstance(said, Mapping) or set(said) - {"is_free", "usd_per_token"}:
        raise Invalid(f"a model of the catalogue takes is_free or usd_per_token, got {name!r}: {said!r}")
    is_free = said.get("is_free", False)
    if not isinstance(is_free, bool):
        raise Invalid(f"is_free of {name!r} takes true or false, got {is_free!r}")
    price = read_cost(said.get("usd_per_token"))
    return Model(name, is_free, _UNLISTED_PRICE if price is None else price)


def _checked_model(name: object, model: Any) -> Model:
    if not isinstance(name, str) or not isinstance(model, Model) or not isinstance(model.is_free, bool):
        raise Invalid(
            "catalogue of a Pricing takes a Model by its name, as `read_catalogue` reads them,"
            f" got {name!r}: {model!r:.80}"
        )
    price = read_cost(model.usd_per_token)
    if price is None:
        raise Invalid(f"usd_per_token of {name!r} takes an amount of USD such as '0.000002', got None")
    return model._replace(usd_per_token=price)
