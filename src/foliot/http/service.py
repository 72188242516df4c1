"""What the handlers stand on: put together by the wiring, one for each process that listens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foliot.books.decided import DecisionCounts
from foliot.domain.registrar_defaults import RegistrarDefaults
from foliot.engine.loop import Engine
from foliot.execution.gate import LocalGate
from foliot.execution.workroom import Workroom
from foliot.http.doors import ServiceDoor
from foliot.services.desk import Caller
from foliot.services.people import Doorkeeper
from foliot.services.verbs import Verbs
from foliot.services.watching import Watcher


class EngineFacts(NamedTuple):
    """An engine of this process, and what it did since its start."""

    name: str
    in_hand: int
    started: int
    settled: int
    outages: int


class MadeOf(NamedTuple):
    """What this process is made of."""

    version: str = ""
    kind: str = ""
    """Of the database."""
    schema: str = ""
    url: str = ""
    """Without its password."""
    engines: Sequence[EngineFacts] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """The verbs of whoever asks, and who that is."""

    verbs_for: Callable[[Caller], Verbs]
    doorkeeper: Doorkeeper
    door: ServiceDoor
    workroom: Workroom
    gate: LocalGate
    watcher: Callable[[], Watcher]
    """Looks at what changes, for those who listen."""
    is_local: bool = False
    """Whether the database is a file of this process: who reads a little of it waits for nobody."""
    trace_url: Callable[[str], str | None] = lambda _: None
    """Where the trace of that id can be looked at."""
    made_of: Callable[[], MadeOf] = MadeOf
    engines: Callable[[], Sequence[Engine]] = tuple
    """Those of this process."""
    counts: DecisionCounts = field(default_factory=DecisionCounts)
    """What its verbs have decided since its start."""
    credits: Callable[[], int] = int
    """What it has charged since its start."""
    registrar: RegistrarDefaults = field(default_factory=RegistrarDefaults)
    """What a schedule is registered with that does not say."""
    metrics_token: str | None = None
    """What whoever reads the metrics must show; None: they are for this machine alone."""
