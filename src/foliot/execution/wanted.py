"""What somebody outside wants executed, and whether it is what was asked for before."""

from typing import Any, NamedTuple

from foliot.domain.delivery import payload_hash
from foliot.domain.errors import Invalid
from foliot.domain.grants import LOCAL, read_grant_id
from foliot.domain.policies import count_of
from foliot.domain.schedule import json_text, target_of, text_of, user_of
from foliot.execution.bounds import Bounds
from foliot.ports import Transaction
from foliot.rows import RequestRow

_LONGEST_KEY = 300


class Wanted(NamedTuple):
    """What somebody outside wants executed."""

    key: str
    target: str
    grant: int
    input: str | None
    run_id: str
    attempt: int
    caller: str
    bounds: Bounds = Bounds()
    is_local: bool = False
    """Nobody has said by which grant: it is the local one of now."""
    was_begun: bool = False
    """Whether the worker who asks knows of another before it, which is gone: without us it may have begun the run."""

    @property
    def hash(self) -> str:
        """The same for the same thing to execute, whoever asks and however long they would wait for it."""
        return payload_hash(self.target, str(self.grant), self.input, self.run_id, str(self.attempt))


def wanted_of(
    target: str, given: Any, *, key: str, grant: str, run_id: str | None, attempt: int, caller: str, bounds: Bounds
) -> Wanted:
    """A request as callers make it; Invalid unless it could be carried out."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise Invalid(f"an idempotency key takes printable text of 1 to {_LONGEST_KEY} characters, got {key!r}")
    if count_of("attempt", attempt) is None:
        raise Invalid("attempt takes a whole number, got None")
    name = f"request-{payload_hash(key)[:16]}" if run_id is None else text_of("run_id", run_id)
    if not name:
        raise Invalid(f"run_id takes the name of a run, got {run_id!r}")
    return Wanted(
        key,
        target_of(target),
        read_grant_id(grant),
        json_text("input", given),
        name,
        attempt,
        user_of(caller, "caller"),
        bounds,
    )


def is_same(tx: Transaction, row: RequestRow, wanted: Wanted) -> bool:
    """Whether that was asked for before; who names no grant may have had another local one then."""
    if row.hash == wanted.hash or not wanted.is_local:
        return row.hash == wanted.hash
    was_local = any(known.is_shared and known.grant.user == LOCAL for known in tx.grants([row.grant_ref]))
    return was_local and row.hash == wanted._replace(grant=row.grant_ref).hash
