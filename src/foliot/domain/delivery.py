"""Delivery: whether an execution begins, begins again, is answered from memory, or waits: one rule for all records.

The record is a run's row where the worker executes it itself, and a row of its own where somebody outside asks.
"""

from enum import StrEnum
from hashlib import blake2b

from foliot.domain.durations import DAY
from foliot.domain.errors import Conflict, Unavailable
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import FINAL, OnUnknown, Status

ANSWERS_KEPT = DAY * MICROSECONDS
"""For so long the same write over the network under the same key is answered from memory."""


class Stage(StrEnum):
    """How far the execution under a key has come, by its record."""

    NEW = "new"
    """Nobody has begun it."""
    UNDER_WAY = "under_way"
    """Somebody is at it, and alive."""
    ABANDONED = "abandoned"
    """Somebody was at it, and is gone: nobody knows what has happened."""
    DONE = "done"


class RequestStage(StrEnum):
    """What the row of a request from outside says of itself; whether its owner lives is another matter."""

    IN_PROGRESS = "in_progress"
    HELD = "held"
    """It waits for a person to say whether it is to be executed once more."""
    RELEASED = "released"
    """A person said so."""
    DONE = "done"


class Delivery(StrEnum):
    """What is done about a request to execute."""

    EXECUTE = "execute"
    REDELIVER = "redeliver"
    """Once more, the same run and attempt, under a higher token."""
    ASK = "ask"
    """A person is asked."""
    ANSWER = "answer"
    """With what it came to, well or not: nothing is executed."""
    WAIT = "wait"
    """For the one who is at it."""
    REFUSE = "refuse"
    """The key was used for something else."""


def delivery_of(stage: Stage, on_unknown: OnUnknown, *, is_same: bool = True) -> Delivery:
    """What to do at that stage; `is_same` says whether what is asked for is what the record is about."""
    if not is_same:
        return Delivery.REFUSE
    match stage:
        case Stage.NEW:
            return Delivery.EXECUTE
        case Stage.UNDER_WAY:
            return Delivery.WAIT
        case Stage.DONE:
            return Delivery.ANSWER
        case Stage.ABANDONED:
            return Delivery.ASK if on_unknown is OnUnknown.HOLD else Delivery.REDELIVER


def stage_of_run(status: Status, *, has_worker: bool) -> Stage:
    """Of a run's row. One that was answered, or has not begun, waits for a worker as if nobody had begun it."""
    if status in FINAL:
        return Stage.DONE
    if status is not Status.RUNNING:
        return Stage.NEW
    return Stage.UNDER_WAY if has_worker else Stage.ABANDONED


def stage_of_request(stage: RequestStage, *, is_alive: bool) -> Stage:
    """Of the row of a request, and whether the lease of its owner runs."""
    match stage:
        case RequestStage.DONE:
            return Stage.DONE
        case RequestStage.RELEASED:
            return Stage.NEW
        case RequestStage.HELD:
            return Stage.ABANDONED
        case RequestStage.IN_PROGRESS:
            return Stage.UNDER_WAY if is_alive else Stage.ABANDONED


def payload_hash(*parts: str | None) -> str:
    """The same for the same request: of texts that say the same thing in the same way."""
    digest = blake2b(digest_size=16)
    for part in parts:
        written = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(f"{'-' if part is None else len(written)}:".encode() + written)
    return digest.hexdigest()


def gate_key(slot: str, attempt: int, rounds: int) -> str:
    """By what the gate knows one attempt at a slot; what goes on after an answer is executed anew."""
    return f"{slot}#{attempt}" if rounds == 0 else f"{slot}#{attempt}+{rounds}"


def payer_key(key: str) -> str:
    """What a request's records are kept under, whatever its caller calls the run: it is the name of no slot or run."""
    return f"@{key}"


class InProgress(Conflict):
    """Somebody is executing it: ask again after so many seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class KeyReused(Conflict):
    """The key was used for something else."""


class CutOff(Unavailable):
    """It was being executed by a program that has stopped: nobody knows yet what came of it."""
