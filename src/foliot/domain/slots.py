"""Slots: one planned moment of one schedule, its identity, and how far from it jitter moves its start."""

from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, instant_of, rfc3339
from foliot.domain.runs import Kind

_MOST_DIGITS = 18
"""Of a number that every database takes."""


class JitterMode(StrEnum):
    """Where a jittered start may lie: after its nominal time, or on both sides of it."""

    AFTER = "after"
    AROUND = "around"


class Slot(NamedTuple):
    """One planned moment: what the spec said, and when its start is due."""

    nominal_at: int
    due_at: int


class SlotKey(NamedTuple):
    """The identity of a slot in the whole database, whatever becomes of its schedule's spec."""

    schedule_id: str
    kind: Kind
    nominal_at: int
    """Of a manual run, the instant of its trigger; no two triggers of a schedule share one."""
    backfill: int = 0
    """Which backfill asked for it; 0 for none."""

    def __str__(self) -> str:
        if self.kind is Kind.MANUAL:
            return f"{self.schedule_id}:manual:{rfc3339(self.nominal_at)}"
        if self.kind is Kind.BACKFILL:
            return f"{self.schedule_id}:backfill:{self.backfill}:{rfc3339(self.nominal_at)}"
        return f"{self.schedule_id}:{rfc3339(self.nominal_at)}"


def run_id(key: SlotKey, attempt: int) -> str:
    """The public name of one attempt at a slot, fit for a URL."""
    return f"{key}~{attempt}"


def read_run_id(text: str) -> tuple[SlotKey, int]:
    """The slot and the attempt that a run id names."""
    try:
        slot, attempt = text.rsplit("~", 1)
        schedule_id, rest = slot.split(":", 1)
        kind, _, name = rest.partition(":")
        if kind == Kind.MANUAL:
            return SlotKey(schedule_id, Kind.MANUAL, instant_of(name, "run")), _number(attempt)
        if kind == Kind.BACKFILL:
            backfill, nominal = name.split(":", 1)
            return SlotKey(schedule_id, Kind.BACKFILL, instant_of(nominal, "run"), _number(backfill)), _number(attempt)
        return SlotKey(schedule_id, Kind.SLOT, instant_of(rest, "run")), _number(attempt)
    except (AttributeError, TypeError, ValueError):
        raise Invalid(f"a run id looks like 'digest:2026-11-15T09:00:00Z~1', got {str(text)[:100]!r}") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise ValueError(text)
    return int(text)


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
        return nominal + (fraction_of(key, nominal_at) * room >> 64)
    before = span if since_previous is None else min(span, since_previous * MICROSECONDS // 2)
    after = span if until_next is None else min(span, until_next * MICROSECONDS // 2)
    return nominal - before + (fraction_of(key, nominal_at) * (before + after) >> 64)


def fraction_of(key: str, nominal_at: int) -> int:
    """A number below 2**64 that looks drawn at random and never changes."""
    return int.from_bytes(blake2b(f"{key}\n{nominal_at}".encode("utf-8", "surrogatepass"), digest_size=8).digest())


def trace_id(run_id: str) -> str:
    """The run's trace, as W3C writes it: 32 hex digits that follow from its id, so that nobody has to pass them on."""
    return blake2b(run_id.encode(), digest_size=16).hexdigest()
