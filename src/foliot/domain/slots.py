"""Slots: one planned moment of one schedule, and how far from it jitter moves its start."""

from enum import StrEnum
from hashlib import blake2b

MICROSECONDS = 1_000_000


class JitterMode(StrEnum):
    """Where a jittered start may lie: after its nominal time, or on both sides of it."""

    AFTER = "after"
    AROUND = "around"


def jittered(
    key: str, nominal_at: int, span: int, mode: JitterMode, since_previous: int | None, until_next: int | None
) -> int:
    """The due time in microseconds of a slot nominal at that second, for the schedule of that key.

    The same on every machine and in every process. `after` stays in [0, min(span, until_next)); `around` within the
    span and half-way to each neighbour. So no two slots of a schedule change places or meet.
    """
    nominal = nominal_at * MICROSECONDS
    if span <= 0:
        return nominal
    if mode is JitterMode.AFTER:
        room = span if until_next is None else min(span, until_next * MICROSECONDS)
        return nominal + (_fraction(key, nominal_at) * room >> 64)
    before = span if since_previous is None else min(span, since_previous * MICROSECONDS // 2)
    after = span if until_next is None else min(span, until_next * MICROSECONDS // 2)
    return nominal - before + (_fraction(key, nominal_at) * (before + after) >> 64)


def _fraction(key: str, nominal_at: int) -> int:
    """A number below 2**64 that looks drawn at random and never changes."""
    return int.from_bytes(blake2b(f"{key}\n{nominal_at}".encode("utf-8", "surrogatepass"), digest_size=8).digest())
