"""Who is wired to whom: one function for each thing that can be started."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING

from foliot.clock import SystemClock
from foliot.courtesy import INTERPRETER
from foliot.domain.credits import Pricing
from foliot.domain.pace import Pace
from foliot.domain.service_tokens import ServiceAccess
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.execution.delivered import WorkersGate
from foliot.execution.executing import Executor
from foliot.execution.gate import LocalGate
from foliot.execution.permission import Permission
from foliot.execution.records import Records
from foliot.execution.requests import Requests
from foliot.execution.till import Till
from foliot.execution.workroom import Workroom
from foliot.ports import Carrier, Clock
from foliot.services.desk import Caller, Desk, Shop
from foliot.services.people import Doorkeeper
from foliot.services.verbs import Verbs
from foliot.services.watching import Watcher
from foliot.settings import metrics_token, registrar_defaults, service_access, trace_url
from foliot.settings.sources import read_settings, without_password
from foliot.settings.table import BY_TRANSACTION, POOL_OVERFLOW, POOL_SIZE, POOLER
from foliot.stores.database import Database, PostgresqlDatabase, open_database
from foliot.stores.migration import NEWEST
from foliot.stores.sessions import Pooling

if TYPE_CHECKING:
    from fastapi import FastAPI

_numbers = count(1)
_SINCE = SystemClock().now()


class Parts:
    """A database, the verbs on it, and the engines of this process that work on it."""

    def __init__(
        self,
        url: str,
        executors: Mapping[str, Executor],
        clock: Clock | None = None,
        pricing: Pricing | None = None,
        carrier: Carrier | None = None,
        *,
        is_passing: bool = False,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self.pricing = pricing or Pricing()
        self.is_virtual = clock is not None
        self.url = url
        self.database: Database = open_database(
            url, self.clock, is_virtual=self.is_virtual, pooling=pooling(), is_passing=is_passing
        )
        self.records = Records(self.database, inline=self.is_virtual or self.database.is_local)
        self.till = Till(self.records, self.pricing)
        self.gate = LocalGate(executors, Permission(self.records, self.clock), self.till)
        self.requests = Requests(self.records, self.gate, self.pricing, _process())
        self.carrier = carrier
        """Who takes letters to webhooks; None: nothing is sent from here."""
        self.workroom = Workroom(self.requests)
        self.engines: list[Engine] = []
        self.shop = Shop(self.database, self._wake, self.pricing, self.gate.targets, carrier)
        self.doorkeeper = Doorkeeper(self.database, self.clock)
        self.verbs = Verbs(Desk(self.shop))
        """Those of the program itself."""

    def http(self, pace: Pace, access: ServiceAccess | None = None) -> "FastAPI":
        """The API over these parts, with those doors for other services that the settings name."""
        # Imported here: most programs and commands need no server.
        from foliot.http.application import application  # noqa: PLC0415
        from foliot.http.doors import ServiceDoor  # noqa: PLC0415
        from foliot.http.service import EngineFacts, MadeOf, Service  # noqa: PLC0415

        def made_of() -> MadeOf:
            kind = "sqlite" if self.database.is_local else "postgresql"
            engines = [
                EngineFacts(
                    engine.name,
                    engine.in_hand,
                    engine.counters.started,
                    engine.counters.settled,
                    engine.counters.outages,
                )
                for engine in self.engines
            ]
            return MadeOf(version("foliot"), kind, NEWEST, without_password(self.url), engines)

        door = ServiceDoor(service_access() if access is None else access, self.clock, self.database)
        service = Service(
            self.verbs_for,
            self.doorkeeper,
            door,
            self.workroom,
            self.gate,
            self.watcher,
            self.database.is_local,
            trace_url,
            made_of,
            engines=lambda: tuple(self.engines),
            counts=self.shop.counts,
            credits=lambda: self.till.charged,
            registrar=registrar_defaults(),
            metrics_token=metrics_token(),
        )
        return application(service, self.clock, pace)

    def watcher(self) -> Watcher:
        return Watcher(self.database, self.clock)

    def verbs_for(self, caller: Caller) -> Verbs:
        """What somebody else may ask for."""
        return Verbs(Desk(self.shop, caller))

    def _wake(self, recalls: bool, look_at: int | None) -> None:
        for engine in self.engines:
            engine.poke(recall=recalls, at=look_at)
        if recalls:
            self.requests.recall()

    def engine(self, name: str, settings: EngineSettings | None = None) -> Engine:
        """A worker of this process; on SQLite it must be the only one that writes the file."""
        self.database.claim_alone()
        settings = settings or EngineSettings()
        if not self.is_virtual and not self.database.is_local:
            settings = replace(settings, inline=False)
        gate = WorkersGate(self.gate, self.requests, self.records)
        # Where time is virtual nobody is in its way, and where it writes on another thread it is in nobody's.
        courtesy = INTERPRETER if settings.inline and not self.is_virtual else None
        engine = Engine(self.database, gate, self.clock, _title(name), settings, self.pricing, self.carrier, courtesy)
        self.engines.append(engine)
        return engine

    def listen(self) -> Callable[[], None]:
        """Be woken by other processes, where there are any; what is returned ends it."""
        if not isinstance(self.database, PostgresqlDatabase) or self.is_virtual:
            return lambda: None
        # Imported here: a program on SQLite needs no driver of a server.
        from foliot.stores.listener import listen_to  # noqa: PLC0415

        return listen_to(self.database, lambda what: self._wake(what == "recall", 0))

    def close(self) -> None:
        self.workroom.close()
        self.database.close()


def pooling() -> Pooling:
    """How many connections to PostgreSQL the settings want, and whether each transaction may have another session."""
    said = read_settings()
    return Pooling(said.value(POOL_SIZE), said.value(POOL_OVERFLOW), said.value(POOLER) == BY_TRANSACTION)


def _title(name: str) -> str:
    """A name that no other in any process has."""
    return f"{name} {socket.gethostname()}:{os.getpid()}/{next(_numbers)}"


def _process() -> str:
    """This process: the same for all in it, and no other's, also where numbers of processes are given again."""
    return f"{socket.gethostname()}:{os.getpid()} since {_SINCE}"
