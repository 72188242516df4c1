"""What the client has asked for: known to be done, known to be refused, or unknown."""

from collections import defaultdict
from typing import NamedTuple


class Wish(NamedTuple):
    """One verb: what, of which schedule or run, and when."""

    verb: str
    what: str
    steady: float


class Wishes:
    """All of them, by verb and what they were about; refused ones are forgotten."""

    def __init__(self) -> None:
        self._wished: dict[tuple[str, str], list[Wish]] = defaultdict(list)
        self.acknowledged: list[Wish] = []

    def ask(self, verb: str, what: str, steady: float) -> Wish:
        wish = Wish(verb, what, steady)
        self._wished[verb, what].append(wish)
        return wish

    def refused(self, wish: Wish) -> None:
        self._wished[wish.verb, wish.what].remove(wish)

    def done(self, wish: Wish) -> None:
        self.acknowledged.append(wish)

    def was_asked(self, verb: str, what: str) -> bool:
        """Whether it may have been done: it was asked for and not refused."""
        return bool(self._wished[verb, what])
