"""A process that is killed anywhere in a workflow: the next one goes on at the node that it had reached."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.diet import every_day

PROGRAM = """\
import asyncio, os, signal
from foliot import Foliot
from foliot.executors.journal import Journal
from tests.dags import a_dag, act, manual

app = Foliot(f"sqlite:///{os.getcwd()}/flow.db")
doom = os.environ.get("DOOM", "")

def die(place):
    if place == doom:
        os.kill(os.getpid(), signal.SIGKILL)

def effect(input, ctx):
    with open("effects", "a") as file:
        file.write(f"{ctx.node} {ctx.idempotency_key}\\n")
    ctx.report_usage("call", cost="0.001")
    die(f"in {ctx.node}")
    return ctx.node

def watched(name, method):
    count = 0
    async def around(*given):
        nonlocal count
        count += 1
        die(f"before {name} {count}")
        result = await method(*given)
        die(f"after {name} {count}")
        return result
    return around

Journal.begin = watched("begin", Journal.begin)
Journal.keep = watched("keep", Journal.keep)
for name in "abc":
    app.action(name)(effect)

async def main():
    app.workflows.deploy(a_dag([manual(), *(act(name) for name in "abc")], "start > a > b > c"))
    if not app.schedules.list():
        app.schedules.create("once", target="dag:flow", manual=True)
        app.schedules.trigger("once")
    async with app:
        while (run := app.runs.list("once")[0]).status in ("pending", "running"):
            await asyncio.sleep(0.02)
    print(run.status, run.result["nodes"]["c"], *sorted(receipt.unit for receipt in app.runs.receipts(run.id)))

asyncio.run(main())
"""

ROOT = Path(__file__).parents[2]


def play(folder: Path, doom: str = "") -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "DOOM": doom, "PYTHONPATH": path}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "doom",
    every_day(["in b", "after keep 3", "before keep 4", "after begin 1", "after keep 1", "before keep 3"], first=3),
)
def test_a_process_that_is_killed_goes_on_where_it_was_under_the_same_keys(tmp_path: Path, doom: str) -> None:
    assert play(tmp_path, doom).returncode == -signal.SIGKILL
    last = play(tmp_path)
    assert last.stdout.split() == ["success", "DONE", "a/call", "b/call", "c/call"], last.stderr
    effects = (tmp_path / "effects").read_text().splitlines()
    assert len(set(effects)) == 3
    # What was done and not yet recorded is done once more, and nothing else is.
    repeated = {"in b": "b", "before keep 3": "b", "before keep 4": "c"}.get(doom)
    counts = Counter(line.split()[0] for line in effects)
    assert counts == {name: 2 if name == repeated else 1 for name in "abc"}
