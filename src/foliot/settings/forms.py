"""Forms of values: what a setting takes, how its text is read, and how a default is written."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

from foliot.domain.addresses import Network, read_networks
from foliot.domain.credits import read_markup
from foliot.domain.durations import positive_span_of, span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS

T_co = TypeVar("T_co", covariant=True)

_SHORTEST_SECRET = 16
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class Form(Generic[T_co]):
    """What a setting takes. `read` is told the setting's name where it was found, and the text that is there."""

    takes: str
    read: Callable[[str, str], T_co]
    say: Callable[[Any], str] = str
    """How a value of it is written."""


def text(takes: str, *, containing: str = "") -> Form[str]:
    def read(name: str, given: str) -> str:
        if containing not in given:
            raise Invalid(f"{name} takes {takes}, got {given!r:.200}")
        return given

    return Form(takes, read)


def word(*words: str) -> Form[str]:
    takes = f"{', '.join(words[:-1])} or {words[-1]}"

    def read(name: str, given: str) -> str:
        if given not in words:
            raise Invalid(f"{name} takes {takes}, got {given!r:.80}")
        return given

    return Form(takes, read)


def words(takes: str) -> Form[tuple[str, ...]]:
    """Several, with commas between them."""

    def read(_: str, given: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in given.split(",") if part.strip())

    return Form(takes, read, ",".join)


def whole(least: int, most: int) -> Form[int]:
    takes = f"a whole number from {least:,} to {most:,}"

    def read(name: str, given: str) -> int:
        # No more digits than the largest has: Python refuses to read thousands of them, in its own words.
        is_number = given.isascii() and given.isdigit() and len(given) <= len(str(most))
        if not is_number or not least <= int(given) <= most:
            raise Invalid(f"{name} takes {takes}, got {given!r:.80}")
        return int(given)

    return Form(takes, read)


def number(least: float, most: float) -> Form[float]:
    takes = f"a number from {least:g} to {most:,.0f}"

    def read(name: str, given: str) -> float:
        try:
            value = float(given)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise Invalid(f"{name} takes {takes}, got {given!r:.80}")
        return value

    return Form(takes, read, lambda value: f"{value:g}")


def span(*, may_be_none: bool = False) -> Form[int]:
    """A length of time, in microseconds."""
    return Form("a duration such as 90s or 1h30m", span_of if may_be_none else positive_span_of, _said_span)


def _said_span(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, MICROSECONDS)
    if rest:
        return f"{microseconds // 1000}ms"
    unit, size = next((unit, size) for unit, size in _UNITS.items() if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _read_secret(name: str, given: str) -> str:
    if len(given) < _SHORTEST_SECRET:
        raise Invalid(f"{name} takes at least {_SHORTEST_SECRET} characters that nobody can guess, got {len(given)}")
    return given


SECRET: Form[str] = Form(f"text of at least {_SHORTEST_SECRET} characters", _read_secret)
MARKUP: Form[Decimal] = Form("a number from 1 to 1,000", read_markup)
NETWORKS: Form[tuple[Network, ...]] = Form(
    "networks and addresses, separated by commas", read_networks, lambda networks: ",".join(map(str, networks))
)
