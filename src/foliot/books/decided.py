"""What was decided of slots, as it is told afterwards: counted, and written in the log."""

import logging
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.runs import FINAL, Hold, Reason, Status
from foliot.domain.slots import SlotKey, run_id, trace_id

log = logging.getLogger("foliot.decisions")


class Fate(StrEnum):
    """What becomes of a slot, in one word."""

    START = "start"
    HOLD = "hold"
    SKIP = "skip"
    MISS = "miss"
    CANCEL = "cancel"
    ASK = "ask"
    END = "end"


class DecidedSlot(NamedTuple):
    """A slot, or one attempt at it, and what was decided: for a reason of the ledger, if it has one."""

    fate: Fate
    slot: SlotKey
    attempt: int
    status: Status
    why: Reason | Hold | None = None
    size: int = 1
    """Of a gap: of how many slots this is the first."""

    @property
    def run_id(self) -> str:
        return run_id(self.slot, self.attempt)


def fate_of(status: Status, why: Reason | Hold | None) -> Fate:
    """What an entry of that status says of its slot."""
    match status:
        case Status.PENDING:
            return Fate.HOLD
        case Status.SKIPPED:
            return Fate.MISS if why is Reason.MISSED else Fate.SKIP
        case Status.CANCELLED:
            return Fate.CANCEL
        case Status.WAITING:
            return Fate.ASK
        case Status.RUNNING:
            return Fate.START
        case Status.SUCCESS | Status.ERROR:
            return Fate.END


_OTHER_VERDICTS = (Fate.HOLD, Fate.SKIP, Fate.MISS, Fate.CANCEL)
"""Than to start."""


class DecisionCounts:
    """What was decided since somebody began to count: an engine its turns, or a process its verbs."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        """Runs that are over, by status: as many rows of the ledger."""
        self.decided: Counter[tuple[str, str]] = Counter()
        """Slots that were held, skipped, missed or cancelled, by fate and reason."""

    def count(self, decided: Iterable[DecidedSlot]) -> None:
        """Add these, when what they say is committed."""
        # Most of many are alike.
        alike = Counter((each.status, each.why, each.size) for each in decided)
        for (status, why, size), times in alike.items():
            if size == 1:
                self.count_runs(status, why, times)
            else:
                # The slots of a gap have no runs.
                self.decided[fate_of(status, why), why or ""] += size * times

    def count_runs(self, status: Status, why: Reason | Hold | None, times: int) -> None:
        """Add so many runs that have come to this."""
        if status in FINAL:
            self.ended[status] += times
        fate = fate_of(status, why)
        if fate in _OTHER_VERDICTS:
            self.decided[fate, why or ""] += times


def is_told() -> bool:
    """Whether anybody reads it: else nothing of it needs to be put together."""
    return log.isEnabledFor(logging.INFO)


def tell(decided: Iterable[DecidedSlot]) -> None:
    """Write a record for each, when what it says is committed."""
    for each in decided:
        run = each.run_id
        said: dict[str, str | int] = {
            "schedule": each.slot.schedule_id,
            "slot": run.rpartition("~")[0],
            "kind": each.slot.kind,
            "attempt": each.attempt,
            "status": each.status,
            "run_id": run,
            "trace_id": trace_id(run),
        }
        if each.why is not None:
            said["reason"] = each.why
        if each.size > 1:
            said["size"] = each.size
        log.info(each.fate, extra=said)
