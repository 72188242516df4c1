"""Who is wired to whom: one function for each thing that can be started."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

from foliot.clock import SystemClock
from foliot.domain.credits import Pricing
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.execution.executing import Executor
from foliot.execution.gate import LocalGate
from foliot.execution.permission import Permission
from foliot.execution.records import Records
from foliot.execution.requests import Requests
from foliot.execution.till import Till
from foliot.ports import Clock
from foliot.services.accounts import AccountVerbs
from foliot.services.desk import Desk
from foliot.services.grants import GrantVerbs
from foliot.services.launching import RunLauncher
from foliot.services.requests import RequestVerbs
from foliot.services.runs import RunVerbs
from foliot.services.schedules import ScheduleVerbs
from foliot.services.workflows import WorkflowVerbs
from foliot.stores.database import Database, PostgresqlDatabase, open_database

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
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self.pricing = pricing or Pricing()
        self.is_virtual = clock is not None
        self.database: Database = open_database(url, self.clock, is_virtual=self.is_virtual)
        self.records = Records(self.database, inline=self.is_virtual or self.database.is_local)
        self.till = Till(self.records, self.pricing)
        self.gate = LocalGate(executors, Permission(self.records, self.clock), self.till)
        self.requests = Requests(self.records, self.gate, self.pricing, _process())
        self.engines: list[Engine] = []
        desk = Desk(self.database, self._wake, self.pricing, self.gate.targets)
        self.schedules = ScheduleVerbs(desk)
        self.accounts = AccountVerbs(desk)
        self.runs = RunVerbs(desk)
        self.grants = GrantVerbs(desk)
        self.request_verbs = RequestVerbs(desk)
        self.workflows = WorkflowVerbs(desk)
        self.launcher = RunLauncher(desk)

    def _wake(self, recalls: bool) -> None:
        for engine in self.engines:
            engine.poke(recall=recalls)

    def engine(self, name: str, settings: EngineSettings | None = None) -> Engine:
        """A worker of this process; on SQLite it must be the only one that writes the file."""
        self.database.claim_alone()
        settings = settings or EngineSettings()
        if not self.is_virtual and not self.database.is_local:
            settings = replace(settings, inline=False)
        engine = Engine(self.database, self.gate, self.clock, _title(name), settings, self.pricing)
        self.engines.append(engine)
        return engine

    def listen(self) -> Callable[[], None]:
        """Be woken by other processes, where there are any; what is returned ends it."""
        if not isinstance(self.database, PostgresqlDatabase) or self.is_virtual:
            return lambda: None
        # Imported here: a program on SQLite needs no driver of a server.
        from foliot.stores.listener import Listener  # noqa: PLC0415

        return Listener(self.database.url, lambda what: self._wake(what == "recall")).close

    def close(self) -> None:
        self.database.close()


def _title(name: str) -> str:
    """A name that no other in any process has."""
    return f"{name} {socket.gethostname()}:{os.getpid()}/{next(_numbers)}"


def _process() -> str:
    """This process: the same for all in it, and no other's, also where numbers of processes are given again."""
    return f"{socket.gethostname()}:{os.getpid()} since {_SINCE}"
