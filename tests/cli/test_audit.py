"""`foliot audit` over databases that were lived through, and the chain of changes, offline and of a server."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from foliot import Context, Foliot
from foliot.cli.main import app as commands
from foliot.domain.pace import Pace
from foliot.serving import Server
from foliot.testing import virtual
from tests.cli.conftest import CommandLine
from tests.crash import removal


class Offline(CommandLine):
    """The chain of a database, read as it is."""

    def __init__(self, url: str) -> None:
        super().__init__({})
        self.where = ("--database", url)


class Online(CommandLine):
    """The same, asked of the server on it."""

    where = ()


@pytest.fixture
def program(database_url: str) -> Iterator[Foliot]:
    app = Foliot(database_url)
    for name in ("one", "two", "three", "four", "five"):
        app.schedules.create(name, target="digest", manual=True)
    yield app
    app.close()


@contextmanager
def asked(program: Foliot, how: str) -> Iterator[Any]:
    if how == "offline":
        yield Offline(program.url)
        return
    key = program.parts.verbs.keys.create("test").secret
    server = Server(program.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    try:
        yield Online({"FOLIOT_URL": server.url, "FOLIOT_KEY": key or ""})
    finally:
        server.stop()


def chain(foliot: Any, *words: str, code: int = 1) -> list[tuple[int, str]]:
    found = json.loads(foliot("audit", "--chain", *foliot.where, *words, "-o", "json", code=code))
    return [(one["number"], one["what"]) for one in found["breaks"]]


def audited(url: str) -> removal.Audited:
    """By the command, in this process."""
    said = CliRunner().invoke(commands, removal.words(url))
    return removal.Audited(said.exit_code, json.loads(said.stdout))


def do(program: Foliot, *statements: str) -> None:
    def act(tx: Any) -> None:
        for statement in statements:
            tx._do(statement)

    program.parts.database.write(act)


def test_a_database_that_was_lived_through_has_no_violation_and_without_a_row_just_that_one(database_url: str) -> None:
    app = Foliot(database_url)

    @app.graph("job")
    async def job(input: int, ctx: Context) -> None:
        await asyncio.sleep(input)
        if input == 90 and ctx.attempt == 1:
            raise RuntimeError("the printer burns")

    with virtual(app, "2026-11-15T12:00:00Z", database=database_url) as world:
        for overlap in ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"):
            app.schedules.create(overlap, target="job", every="1m", input=70, overlap=overlap)
        app.schedules.create("retried", target="job", every="7m", input=90, retry=3)
        app.schedules.create("jittered", target="job", every="2m", input=1, jitter="50s", catchup="all")
        world.advance(minutes=10)
        world.kill()
        world.advance(hours=2)
        world.restart()
        app.schedules.pause("skip")
        app.schedules.patch("jittered", every="3m")
        app.schedules.delete("allow_all")
        world.advance(minutes=10)
        app.schedules.resume("skip")
        world.advance(minutes=5)
    assert removal.problems_of(database_url, audited) == []
    with removal.without_a_row(database_url) as (schedule, _, at):
        shown = CliRunner().invoke(commands, ["audit", "--since", "2026-11-15T12:00:00Z", "--database", database_url])
        assert shown.exit_code == 1
        assert [line.split()[:3] for line in shown.output.splitlines()[2:]] == [[schedule, "missing", at]]
    app.close()


@pytest.mark.parametrize("how", ["offline", "online"])
def test_a_changed_a_removed_and_an_inserted_entry_are_found(program: Foliot, how: str) -> None:
    with asked(program, how) as foliot:
        assert chain(foliot, code=0) == []
        do(program, "UPDATE trail SET actor = 'eve' WHERE ref = 2")
        assert chain(foliot) == [(2, "entry 2 is not as it was written")]
        do(program, "DELETE FROM trail WHERE ref = 3")
        assert chain(foliot) == [(2, "entry 2 is not as it was written"), (4, "entry 3 is missing")]
        forged = "SELECT {}, at, 'eve', action, subject, details, request_id, address, hash FROM trail WHERE ref = 4"
        do(program, "DELETE FROM trail WHERE ref = 2", *(f"INSERT INTO trail {forged.format(ref)}" for ref in (0, 3)))
        first, *others = chain(foliot)
        assert first == (0, "entry 0 was put in: none was ever written there")
        assert others == [(3, "entry 2 is missing"), (4, "entry 4 is not as it was written")]


@pytest.mark.parametrize("how", ["offline", "online"])
def test_a_chain_whose_end_was_cut_off_is_found_without_a_note(program: Foliot, how: str) -> None:
    with asked(program, how) as foliot:
        last = json.loads(foliot("audit", "--chain", *foliot.where, "-o", "json"))["last"]
        do(program, f"DELETE FROM trail WHERE ref = {last}")
        assert chain(foliot) == [(last, f"the newest entry, {last}, is missing")]
        do(program, "DELETE FROM trail")
        assert chain(foliot) == [(last, f"the newest {last} entries, 1 to {last}, are missing")]
        program.schedules.pause("one")
        assert chain(foliot) == [(last + 1, f"entry 1 to {last} is missing")]


@pytest.mark.parametrize("how", ["offline", "online"])
def test_a_noted_entry_must_still_be_there(program: Foliot, how: str) -> None:
    with asked(program, how) as foliot:
        said = json.loads(foliot("audit", "--chain", *foliot.where, "-o", "json"))
        noted = f"{said['last']}:{said['hash']}"
        assert f"0 breaks; to note: {noted}\n" in foliot("audit", "--chain", *foliot.where)
        program.schedules.pause("one")
        assert chain(foliot, "--noted", noted, code=0) == []
        (wrong,) = chain(foliot, "--noted", f"{said['last']}:{'0' * 64}")
        assert wrong[1].endswith("is not the one that was noted: all of it was written anew")
        do(program, f"DELETE FROM trail WHERE ref >= {said['last']}")
        _, wrong = chain(foliot, "--noted", noted)
        assert wrong == (said["last"], f"entry {said['last']} was noted and is not there: the end was cut off")
        assert "give --chain too" in foliot.refused(2, "audit", *foliot.where, "--noted", noted)


def test_a_part_of_the_chain_cannot_be_asked_for(foliot: CommandLine) -> None:
    """What was said besides was passed over: all of it was verified, as if it were that part."""
    for option, value in (
        ("--since", "2026-11-01T00:00:00Z"),
        ("--until", "2026-11-01T00:00:00Z"),
        ("--schedule", "x"),
    ):
        said = foliot.refused(2, "audit", "--chain", option, value)
        assert f"--chain verifies all of the trail of changes: leave out {option}, or --chain" in said
