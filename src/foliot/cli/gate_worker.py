"""A worker without graph code: it keeps the time, and has its runs executed by a gate elsewhere."""

import asyncio
import os
import socket
from contextlib import suppress
from dataclasses import replace

from foliot.clock import SystemClock
from foliot.domain.errors import Invalid, Unavailable
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.executors.outbound import url_of
from foliot.gates.remote import RemoteGate
from foliot.serving import signals
from foliot.settings import engine_settings, pricing_of, stall_limit
from foliot.settings.sources import read_settings
from foliot.settings.table import GATE_TOKEN, INTERNAL_SECRET
from foliot.stores.database import PostgresqlDatabase, open_database
from foliot.stores.listener import listen_to
from foliot.watchdog import watched
from foliot.wiring import pooling


def run_gate_worker(gate: str, database: str, settings: EngineSettings | None = None) -> None:
    """Work until interrupted; what is under way at the gate goes on there, whoever asks for it next."""
    _check_address(gate)
    asyncio.run(_work(gate, database, settings or engine_settings()))


def _check_address(gate: str) -> None:
    """Invalid where there is no gate to be asked, however often."""
    rule = "--gate takes the URL of a gate, such as http://10.0.0.5:8420"
    try:
        url = url_of(gate)
    except Invalid as refusal:
        raise Invalid(f"{rule}: {refusal}") from None
    if url.query or url.fragment:
        raise Invalid(f"{rule}, and nothing after a ? or #")


async def _work(url: str, database_url: str, settings: EngineSettings) -> None:
    database = open_database(database_url, SystemClock(), pooling=pooling())
    if not isinstance(database, PostgresqlDatabase):
        raise Invalid("a worker with --gate takes a PostgreSQL database: SQLite has one process, which is the gate")
    name = f"gate {socket.gethostname()[:60]}:{os.getpid()}"
    gate = RemoteGate(url, _bearer, name)
    settings = replace(settings, inline=False, prunes_executions=False)
    engine = Engine(database, gate, SystemClock(), name, settings, pricing_of())
    finding = asyncio.get_running_loop().create_task(_find(gate))

    def leave() -> None:
        finding.cancel()
        engine.stop()

    try:
        with signals(leave):
            await asyncio.wait([finding])
            if not finding.cancelled():
                finding.result()
                await _work_for(gate, url, engine, database)
    finally:
        await gate.close()
        database.close()


async def _find(gate: RemoteGate) -> None:
    """Until the gate has said what it executes."""
    while True:
        try:
            await gate.learn()
            return
        except Unavailable as refusal:
            print(f"foliot: {refusal}: trying again", flush=True)
            await asyncio.sleep(1.0)


async def _work_for(gate: RemoteGate, url: str, engine: Engine, database: PostgresqlDatabase) -> None:
    deaf = listen_to(database, lambda what: engine.poke(recall=what == "recall"))
    learning = asyncio.get_running_loop().create_task(gate.keep_learning(engine.poke))
    print(f"foliot: works for the gate {url}. Stop it with Ctrl-C.", flush=True)
    try:
        with watched(engine, stall_limit()):
            await engine.run()
    finally:
        learning.cancel()
        with suppress(asyncio.CancelledError):
            await learning
        deaf()


def _bearer() -> str:
    """What it is known by there. Read anew for each request: a file may have been given another meanwhile."""
    settings = read_settings()
    said = settings.value(GATE_TOKEN) or settings.value(INTERNAL_SECRET)
    if said is None:
        names = "FOLIOT_INTERNAL_SECRET, or for a token FOLIOT_GATE_TOKEN_FILE"
        raise Invalid(f"a worker with --gate shows a secret or a token there: set {names}")
    return said.split()[0]
