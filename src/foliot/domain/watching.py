"""Watching: where somebody who is told what changes has come to, as a token that any process goes on from."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import NamedTuple

MOST_OLD = 300
"""Runs that a token names one by one."""
_LONGEST = 8000


class Watched(NamedTuple):
    """All that changed before is told: what comes after is found from here."""

    at: int
    floor: int
    """Runs with a larger key are looked at again,"""
    olds: tuple[int, ...]
    """and these, which were open then."""


def watched(at: int, floor: int, open_refs: Iterable[int]) -> Watched:
    """So far somebody has come who was told of all runs up to that key; of more open ones than fit, from the oldest."""
    olds = sorted(ref for ref in open_refs if ref <= floor)
    if len(olds) > MOST_OLD:
        floor = olds[MOST_OLD] - 1
    return Watched(at, floor, tuple(olds[:MOST_OLD]))


def token_of(place: Watched) -> str:
    written = json.dumps([place.at, place.floor, *place.olds], separators=(",", ":")).encode()
    return urlsafe_b64encode(written).decode().rstrip("=")


def read_token(text: str) -> Watched | None:
    """What the token says; None when it is none of ours."""
    try:
        said = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4))) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, list) or not 2 <= len(said) <= 2 + MOST_OLD:
        return None
    if not all(type(number) is int and 0 <= number < 2**63 for number in said):
        return None
    return Watched(said[0], said[1], tuple(said[2:]))


def frame_of(event: str | None, data: str | None, token: str | None = None) -> str:
    """An event as it is sent: whatever is in the data stays in it."""
    lines = [] if event is None else [f"event: {event}"]
    lines += [f"data: {line}" for line in _lines(data)] if data is not None else []
    lines += [] if token is None else [f"id: {token}"]
    return "\n".join(lines) + "\n\n"


def _lines(data: str) -> list[str]:
    return data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
