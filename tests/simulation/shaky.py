"""A database and a gate that fail as drawn: before, within and after the commit, in ways that a caller cannot tell."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from foliot.domain.errors import Unavailable
from foliot.domain.runs import OnUnknown
from foliot.domain.settlement import Outcome
from foliot.ports import Control, Gate, Launch
from foliot.stores.database import Database
from foliot.stores.transaction import SqlTransaction
from tests.simulation import audit
from tests.simulation.conductor import Killed

T = TypeVar("T")

REFUSED = "refused"
TORN = "torn inside"
TORN_AT_COMMIT = "torn at commit"
LOST_REPLY = "lost reply"
DEATH_INSIDE = "death inside"
DEATH_AFTER = "death after commit"
SLOW_COMMIT = "slow commit"
MISHAPS = (REFUSED, TORN, TORN_AT_COMMIT, LOST_REPLY, DEATH_INSIDE, DEATH_AFTER)
"""What may happen to a single transaction."""

_CALLS = 24
"""A transaction is torn at one of its first so many calls."""


class Caller(Protocol):
    """Who asks the database."""

    name: str
    is_dead: bool


class Fate(Protocol):
    """What is in store for a transaction, and who must know what became of it."""

    database: Database
    spoil: Callable[[SqlTransaction], Any]
    """A defect to be found, when the judge himself is tried."""

    def is_cut_off(self, whom: str) -> bool: ...

    def mishap(self, whom: str) -> str | None: ...

    def choose(self, most: int) -> int: ...

    def strike(self, kind: str, caller: Caller) -> None:
        """It happens now."""

    def dawdle(self, whom: str) -> None:
        """Between the work and the commit time may pass."""

    def committed(self, caller: Caller, now: int, changes: list[audit.Change]) -> None: ...

    def complain(self, problem: str) -> None: ...

    def hint(self, what: str, sender: str) -> None:
        """Tell the others, perhaps."""


class Struck(Unavailable):
    """The database could not be reached, because it was drawn so."""


class _Torn:
    """A transaction in which one call fails."""

    def __init__(self, tx: Any, calls: int, fail: Callable[[], None]) -> None:
        self._tx = tx
        self._left = calls
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._tx, name)
        if callable(found):
            self._left -= 1
            if self._left < 0:
                self._fail()
        return found


class ShakyDatabase:
    """The one database, as one process reaches it."""

    is_local = False

    def __init__(self, fate: Fate, caller: Caller) -> None:
        self._fate = fate
        self._caller = caller

    def write(self, act: Callable[[Any], T]) -> T:
        fate, caller = self._fate, self._caller
        self._reach()
        mishap = fate.mishap(caller.name)
        if mishap == REFUSED:
            self._fail(mishap)
        hints: list[str] = []

        def whole(tx: SqlTransaction) -> tuple[T, int, list[audit.Change]]:
            setattr(tx, "notify", hints.append)  # noqa: B010
            seen = fate.spoil(tx)
            if mishap in (TORN, DEATH_INSIDE):
                seen = _Torn(seen, fate.choose(_CALLS), lambda: self._fail(mishap))
            result = act(seen)
            if mishap == TORN_AT_COMMIT:
                self._fail(mishap)
            fate.dawdle(caller.name)
            return result, tx.now, audit.take(tx)

        try:
            result, now, changes = fate.database.write(whole)
        except Unavailable as error:
            if not isinstance(error, Struck):
                fate.complain(f"the database is there: {error}")
            raise
        fate.committed(caller, now, changes)
        for what in hints:
            fate.hint(what, caller.name)
        if mishap in (LOST_REPLY, DEATH_AFTER):
            self._fail(mishap)
        return result

    def read(self, act: Callable[[Any], T]) -> T:
        self._reach()
        return self._fate.database.read(act)

    def snapshot(self, act: Callable[[Any], T]) -> T:
        self._reach()
        return self._fate.database.snapshot(act)

    def claim_alone(self) -> None:
        """Any number may write."""

    def close(self) -> None:
        """It is everybody's."""

    def _reach(self) -> None:
        if self._caller.is_dead:
            raise Killed
        if self._fate.is_cut_off(self._caller.name):
            raise Struck("the database is away")

    def _fail(self, mishap: str) -> None:
        self._fate.strike(mishap, self._caller)
        if mishap in (DEATH_INSIDE, DEATH_AFTER):
            self._caller.is_dead = True
            raise Killed
        raise Struck(mishap)


class ShakySight(ShakyDatabase):
    """The database as the gate of one process looks at it; at times it does not see it."""

    def __init__(self, fate: Fate, caller: Caller, is_blind: Callable[[], bool]) -> None:
        super().__init__(fate, caller)
        self._is_blind = is_blind

    def read(self, act: Callable[[Any], T]) -> T:
        if self._is_blind():
            raise Struck("the gate does not see the database")
        return super().read(act)


class ShakyGate:
    """The gate of one process; at times nobody is there."""

    def __init__(self, gate: Gate, is_away: Callable[[Launch], bool], turned_away: Callable[[Launch], None]) -> None:
        self._gate = gate
        self._is_away = is_away
        self._turned_away = turned_away

    def targets(self) -> Sequence[str]:
        return self._gate.targets()

    def room(self, target: str) -> int | None:
        return self._gate.room(target)

    def on_unknown(self, target: str) -> OnUnknown:
        return self._gate.on_unknown(target)

    def report_digest(self, target: str, run_id: str) -> str | None:
        return self._gate.report_digest(target, run_id)

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        try:
            if self._is_away(launch):
                raise Unavailable("the gate is away")
            # It is there, but may not learn from the database whether the run is permitted.
            return await self._gate.execute(launch, control)
        except Unavailable:
            self._turned_away(launch)
            raise
