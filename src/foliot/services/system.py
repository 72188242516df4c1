"""What there is to know about the service itself: who works for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from foliot.domain.instants import moment_of
from foliot.ports import Transaction
from foliot.services.desk import Desk

MOST_WORKERS = 100


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker that has not left."""

    name: str
    started_at: datetime
    seen_at: datetime
    lease_until: datetime | None
    """Until when what it holds is its own; None: it holds nothing."""
    running: int


@dataclass(frozen=True, slots=True)
class SystemState:
    """What the database says of the service, and when."""

    now: datetime
    """By the clock that is the authority."""
    workers: Sequence[WorkerState]


class SystemVerbs:
    """What may be asked of the service itself."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def look(self) -> SystemState:
        def act(tx: Transaction) -> SystemState:
            workers = [
                WorkerState(
                    name=line.name,
                    started_at=moment_of(line.started_at),
                    seen_at=moment_of(line.seen_at),
                    lease_until=None if line.lease_until is None else moment_of(line.lease_until),
                    running=line.running,
                )
                for line in tx.worker_lines(MOST_WORKERS)
            ]
            return SystemState(moment_of(tx.now), workers)

        return self._desk.read(act)
