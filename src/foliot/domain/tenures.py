"""Tenures: which spec of a schedule was in force when, and why it ceased to be."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class TenureEnd(StrEnum):
    """Why a spec was in force no longer."""

    EDIT = "edit"
    """Another took its place, at once."""
    LIMIT = "limit"
    """The schedule had no starts left, and owed nothing until it was edited."""
    DELETION = "deletion"
    """The schedule was deleted, and owed nothing until it was created again."""


class Tenure(NamedTuple):
    """The stretch of time in which a spec said what was owed: from `since`, which is not in it, up to `until`."""

    spec: str
    """In canonical form, as text."""
    since: int
    until: int
    ended_by: TenureEnd


def tenure_at(past: Sequence[Tenure], instant: int) -> Tenure | None:
    """The one that the instant falls into; of several, which only a clock set back leaves, the one that ended last."""
    return next((tenure for tenure in reversed(past) if tenure.since < instant <= tenure.until), None)


def tenure_before(past: Sequence[Tenure], instant: int) -> Tenure | None:
    """The last that was over at the instant."""
    return max((tenure for tenure in past if tenure.until < instant), key=lambda tenure: tenure.until, default=None)
