"""What several want to write at the same time, done for all of them in as many statements as for one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from foliot.ports import Transaction

Item = TypeVar("Item")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Joint(Generic[Item, T]):
    """An act of one of them. Whoever carries it out may do others of its kind along with it."""

    kind: object
    """Equal for those that go together."""
    item: Item
    do: Callable[[Transaction, Sequence[Item]], Sequence[T]]
    """For the items of several what comes of each. Where it fails for one it fails for all: then each is alone."""

    def __call__(self, tx: Transaction) -> T:
        return self.do(tx, [self.item])[0]

    def goes_with(self, other: object) -> bool:
        return isinstance(other, Joint) and self.kind == other.kind
