"""Pages of lists: how long one is, and where the next begins. A cursor is opaque to whoever is given it."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query

from foliot.domain.errors import Invalid
from foliot.http.schemas import Given
from foliot.services.stretches import Stretch

T = TypeVar("T")
R = TypeVar("R")

MOST_LISTED = 200
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many are wanted at most.")]
"""To be given a default of LISTED."""
LISTED = 50
After = Annotated[str | None, Query(max_length=2000, description="The `next` of the page before.")]


class Listed(Given, Generic[T]):
    """A page of a list, and where the next begins; null on the last."""

    items: list[T]
    next: str | None

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        return f"{params[0].__name__}List"


def is_plain(given: Mapping[str, Any], *wanted: str) -> bool:
    """Whether a page of the usual size is asked for, and nothing but these, and where it begins, is said of it."""
    said = {name for name, value in given.items() if value is not None}
    return given["limit"] <= LISTED and said <= {"asked", "limit", "after", "sort", *wanted}


def cursor_of(*place: str | int | None) -> str:
    """Where a page ends, as text for whoever asks for the next."""
    written = json.dumps(place, separators=(",", ":")).encode()
    return urlsafe_b64encode(written).decode().rstrip("=")


def place_of(after: str | None, *kinds: type) -> list[Any] | None:
    """What `cursor_of` was given, of these types; None for the first page. Invalid when it was not ours."""
    if after is None:
        return None
    try:
        place = json.loads(urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (ValueError, RecursionError):
        place = None
    if not isinstance(place, list) or [type(part) for part in place] != list(kinds) or not _is_small(place):
        raise Invalid("after takes the `next` of a page before, under the same filters and order")
    return place


def listed(kind: type[T], stretch: Stretch[R], shown: Callable[[R], T]) -> Listed[T]:
    """A page of what was found."""
    return Listed[kind](items=[shown(item) for item in stretch.items], next=_next(stretch))  # type: ignore[valid-type]


def written_list(stretch: Stretch[R], written: Callable[[R], str]) -> str:
    """The same as JSON, of items that are written already."""
    return f'{{"items":[{",".join(map(written, stretch.items))}],"next":{json.dumps(_next(stretch))}}}'


def _next(stretch: Stretch[R]) -> str | None:
    return None if stretch.rest is None else cursor_of(*stretch.rest)


def _is_small(place: list[Any]) -> bool:
    """A database takes no more than 64 bits."""
    return all(-(2**63) <= part < 2**63 for part in place if isinstance(part, int))
