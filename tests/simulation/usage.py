"""What the code of runs uses: models with and without a price, calls whose cost is known, comes late or is nothing."""

from random import Random
from typing import Any, NamedTuple

from foliot.domain.credits import Pricing, read_catalogue

USERS = ("ann", "bob")
PAID, FREE = "large", "small"
USD_PER_TOKEN = "0.000002"
PRICING = Pricing(read_catalogue({PAID: {"usd_per_token": USD_PER_TOKEN}, FREE: {"is_free": True}}))
INPUTS: tuple[Any, ...] = (None, None, {"model": FREE}, {"model": FREE}, {"model": PAID}, {"model": PAID})


class Call(NamedTuple):
    """A billable call, as it is reported."""

    unit: str
    model: str | None = None
    tokens: int | None = None
    cost: str | None = None
    """In USD."""


def calls_of(seed: int, run_id: str, given: Any) -> tuple[Call, ...]:
    """What a run with that input uses: the same whenever it is delivered again."""
    chance = Random(f"{seed} {run_id} calls")
    model = given.get("model") if isinstance(given, dict) else None
    number = chance.choice((0, 0, 1, 2) if model is None else (1, 1, 2, 3))
    return tuple(_call(chance, f"call {place}", model) for place in range(number))


def _call(chance: Random, unit: str, model: str | None) -> Call:
    tokens, usd = chance.randint(1, 12_000), f"0.{chance.randint(1, 150 if model is None else 4_000):05d}"
    match chance.choice(("cost", "cost", "cost", "tokens", "unknown", "nothing")):
        case "cost":
            return Call(unit, model, None, usd)
        case "tokens":
            return Call(unit, model, tokens)
        case "unknown":
            return Call(unit, model)
        case _:
            return Call(unit, model, None, "0")


def drawn_budget(chance: Random) -> dict[str, Any]:
    return {
        "credits": chance.choice((0, 10_000, 60_000, 500_000, 500_000, 2_000_000, 2_000_000)),
        "per": chance.choice(("hour", "hour", "day", "30d")),
        "when_spent": chance.choice(("skip", "skip", "pause")),
    }


def drawn_run_limits(chance: Random) -> dict[str, Any]:
    return chance.choice(({"max_calls": 1}, {"max_tokens": 9_000}, {"max_credits": chance.choice((9_000, 200_000))}))
