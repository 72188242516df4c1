"""Stretches of lists: some of what there is, in its order, and where the rest begins."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Place = tuple[int | str, ...]
"""Of something in a list, by what the list is ordered by: what comes after it is found without counting."""


class Stretch(NamedTuple, Generic[T]):
    """Some of a list, in its order."""

    items: Sequence[T]
    rest: Place | None
    """After which place the list goes on; None: this was the last of it."""


def stretch_of(
    found: Sequence[R], limit: int, view: Callable[[R], T], place: Callable[[R], tuple[int | str, ...]]
) -> Stretch[T]:
    """So many of what was found; one more was looked for, so as to know whether there is a rest."""
    wanted = found[:limit]
    return Stretch([view(row) for row in wanted], place(wanted[-1]) if len(found) > limit else None)
