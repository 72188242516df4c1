"""The program runs out of file handles for a while, as one does that leaks them."""

import asyncio
import json
import os
import resource
import sys
import time
from contextlib import suppress
from typing import Any

import psycopg

from foliot import Unavailable
from foliot.stores.database import PostgresqlDatabase, SqliteDatabase
from tests.faults.program import Program

LIMIT = 64
MOST_LEFT = 3
"""It is tried with no handle left, then with one, and so on: a connection takes several, one after another."""
EACH_FOR = 0.8


async def live(url: str) -> dict[str, Any]:
    program = Program(url)
    async with program.app:
        await program.at_work()
        resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        said: set[str] = set()
        for left in range(MOST_LEFT + 1):
            taken = _take_all_but(left, program, url)
            said |= await _use(program)
            for handle in taken:
                os.close(handle)
        recovered = await program.seconds_until_it_works_again()
        is_alive = program.is_alive()
    return {"said": sorted(said), "recovered": recovered, "alive": is_alive, **program.seen()}


def _take_all_but(left: int, program: Program, url: str) -> list[int]:
    """All handles, those of the pooled connections too: whoever wants a connection must open one."""
    taken = _all_there_are()
    database = program.app.parts.database
    if isinstance(database, SqliteDatabase):
        database._readers.dispose()
    else:
        _cut_all(database, url, taken)
    taken += _all_there_are()
    for _ in range(left):
        os.close(taken.pop())
    return taken


def _cut_all(database: PostgresqlDatabase, url: str, taken: list[int]) -> None:
    for _ in range(6):
        os.close(taken.pop())
    with psycopg.connect(url, autocommit=True) as cx:
        cx.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'foliot'")
    database.close()


def _all_there_are() -> list[int]:
    taken: list[int] = []
    with suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    return taken


async def _use(program: Program) -> set[str]:
    """What a caller of verbs is told meanwhile."""
    said = set()
    over = time.time() + EACH_FOR
    while time.time() < over:
        try:
            await asyncio.to_thread(program.app.schedules.list)
        except Unavailable as refusal:
            said.add(str(refusal))
        await asyncio.sleep(0.2)
    return said


if __name__ == "__main__":
    print(json.dumps(asyncio.run(live(sys.argv[1]))))
