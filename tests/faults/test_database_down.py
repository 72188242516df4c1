"""The database is down for a minute: what runs goes on and is recorded after, slots are late and not lost."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foliot import Context, Unavailable
from foliot.domain.runs import Reason, Status
from tests.crash import servers
from tests.databases import PostgresqlServer, a_postgresql_server
from tests.engine.test_outage import an_outage
from tests.engine.timelines import a_world, at
from tests.faults.conftest import Note

ROOT = Path(__file__).parents[2]
DOWN_FOR = float(os.environ.get("FAULTS_DOWN_FOR", "4"))
"""Seconds that a real server is down: a minute in the long form."""
WARNINGS_IN_A_MINUTE = 20


async def work(input: Any, ctx: Context) -> None:
    await asyncio.sleep(input or 0)


@pytest.mark.parametrize(("catchup", "missed"), [("all", 0), ("none", 5)])
def test_a_minute_without_the_database_delays_slots_and_loses_none(
    postgresql_server: PostgresqlServer, catchup: str, missed: int, note: Note, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgresql_server.new_database()
    name = url.partition("@/")[2].partition("?")[0]
    options: dict[str, Any] = {"every": "10s", "overlap": "allow_all", "catchup": catchup, "grace": "15s"}
    with a_world(work, database=url, **options) as world:
        world.app.schedules.create("long", cron="1 * * * *", target="job", input=45)
        world.advance_to(at("12:01:35"))
        caplog.clear()
        with an_outage(postgresql_server, name):
            world.advance(minutes=1)
            with pytest.raises(Unavailable, match=f"/{name} cannot be used now: "):
                world.app.schedules.trigger("job")
        warnings = len(caplog.records)
        turns, seconds = world.engine().counters.turns, 0
        while world.engine().counters.turns == turns:
            world.advance(seconds=1)
            seconds += 1
        assert seconds <= 6
        world.advance_to(at("12:05"))
        runs = world.runs("job")
        assert len(runs) == 5 * 6
        assert [run.reason for run in runs].count(Reason.MISSED) == missed
        assert [run.status for run in runs].count(Status.SUCCESS) == 5 * 6 - missed
        (long,) = world.runs("long")
        assert (long.status, long.losses) == (Status.SUCCESS, 0)
        assert 0 < warnings <= WARNINGS_IN_A_MINUTE
    seen = f"recovered in {seconds} s, 0 of 30 slots lost, {missed} missed by policy, {warnings} warnings"
    note(f"database down for a virtual minute (catch-up {catchup})", seen)


def test_a_server_that_is_really_down_is_waited_for(note: Note) -> None:
    with a_postgresql_server() as server, a_program(server.new_database()) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stdout.readline() == "at work\n"
        servers.stop(server, "immediate")
        time.sleep(DOWN_FOR)
        servers.start(server)
        program.stdin.write("it is over\n")
        program.stdin.flush()
        seen = json.loads(program.stdout.readline())
        assert program.wait(60) == 0
    assert seen["alive"]
    slots = seen["slots"]
    assert slots == [*range(slots[0], slots[-1] + 1)]
    assert len(slots) >= DOWN_FOR
    assert (seen["bad"], seen["twice"]) == ([], 0)
    assert 0 < seen["warnings"] <= WARNINGS_IN_A_MINUTE * (1 + DOWN_FOR / 60)
    figures = f"recovered in {seen['recovered']:.1f} s, 0 of {len(slots)} slots lost, {seen['warnings']} warnings"
    note(f"database really down for {DOWN_FOR:.0f} s", figures)


@contextmanager
def a_program(url: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.faults.through_an_outage", url]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()
