"""A worker is killed when a run's effects are done and nothing of it is recorded: its units are charged once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from foliot import Foliot
from foliot.services.views import Run
from tests.crash.doom import AFTER, BEFORE
from tests.diet import every_day, on_sqlite_every_day
from tests.docs.pages import ROOT
from tests.execution.doomed import Doomed
from tests.executors.receiver import Receiver, Reply, a_receiver

CHARGES = {
    "http": [("call", 20_000)],
    "langgraph": [("draft", 140_000), ("sent", 160_000)],
    "own": [("call", 20_000)],
}
USAGE = {"usage": [{"unit": "call", "cost": "0.001"}]}


class Ledger(NamedTuple):
    """What is recorded of the one run."""

    run: Run
    charges: list[tuple[str, int | None]]
    taken: list[int]
    """From the account, one posting after another."""


class Program:
    """A program of one target, process after process."""

    def __init__(self, database: str, folder: Path, receiver: Receiver, provider: str, on_unknown: str) -> None:
        self.database = database
        self.receiver = receiver
        self.provider = provider
        self._effects = folder / "effects"
        self._told = Doomed(database, str(folder), receiver.url(), provider, on_unknown, None)

    def dies(self, moment: str) -> None:
        assert self._ends_with(self._told._replace(moment=moment)) == -signal.SIGKILL

    def lives(self) -> None:
        assert self._ends_with(self._told) == 0

    def _ends_with(self, told: Doomed) -> int:
        command = [sys.executable, "-W", "error", "-m", "tests.execution.doomed", json.dumps(told._asdict())]
        environment = {**os.environ, "FOLIOT_HTTP_ALLOW": "127.0.0.0/8"}
        return subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=120).returncode

    @property
    def effects(self) -> list[str]:
        if self.provider == "http":
            return [seen.headers["idempotency-key"] for seen in self.receiver.seen]
        return self._effects.read_text().split()

    def ledger(self) -> Ledger:
        app = Foliot(self.database)
        try:
            (run,) = app.runs.list("digest")
            charges = [(receipt.unit, receipt.credits) for receipt in app.runs.receipts(run.id)]
            return Ledger(run, charges, [posting.amount for posting in app.accounts.ledger()])
        finally:
            app.close()

    def approve(self) -> None:
        app = Foliot(self.database)
        app.runs.decide(app.runs.list("digest")[0].id, "approve", by="ann")
        app.close()


@pytest.fixture
def program(database_url: str, tmp_path: Path) -> Iterator[Callable[[str, str], Program]]:
    with a_receiver(Reply(200, json.dumps({"sent": 3, "foliot_usage": USAGE}))) as receiver:
        yield lambda provider, on_unknown: Program(database_url, tmp_path, receiver, provider, on_unknown)


def assert_charged_once(program: Program) -> None:
    ledger = program.ledger()
    assert (ledger.run.status, ledger.run.attempt, ledger.run.losses) == ("success", 1, 1)
    assert sorted(ledger.charges) == CHARGES[program.provider]
    assert sorted(ledger.taken) == sorted(-(charged or 0) for _, charged in ledger.charges)


@on_sqlite_every_day
@pytest.mark.parametrize("provider", CHARGES)
@pytest.mark.parametrize("moment", every_day([AFTER, BEFORE], first=1))
def test_what_is_delivered_again_is_charged_once(
    program: Callable[[str, str], Program], provider: str, moment: str
) -> None:
    one = program(provider, "redeliver")
    one.dies(moment)
    assert len(one.ledger().charges) == (len(CHARGES[provider]) if moment == AFTER else 0)
    one.lives()
    assert_charged_once(one)
    if provider == "langgraph":
        assert one.effects == ["first", "last"], "its end was in its checkpoints"
    else:
        assert len(one.effects) == 2
        assert len(set(one.effects)) == 1, "under the same key"


@on_sqlite_every_day
@pytest.mark.parametrize("provider", every_day(["http", "own", "langgraph"], first=2))
def test_what_is_held_waits_for_a_person_and_is_charged_once_when_it_is_delivered_again(
    program: Callable[[str, str], Program], provider: str
) -> None:
    one = program(provider, "hold")
    one.dies(AFTER)
    begun = one.effects
    one.lives()
    ledger = one.ledger()
    assert (ledger.run.status, len(ledger.charges), one.effects) == ("waiting", len(CHARGES[provider]), begun)
    one.approve()
    one.lives()
    assert_charged_once(one)
    assert one.effects == (begun if provider == "langgraph" else begun * 2)
