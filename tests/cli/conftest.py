"""One real server for all tests of the command line, and the command line, both in this process."""

import asyncio
import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from foliot import Context, Foliot
from foliot.cli.main import app as commands
from foliot.domain.pace import Pace
from foliot.serving import Server

FOLIOT = Path(sys.executable).parent / "foliot"
_NUMBERS = count(1)


class Served:
    """A program whose API listens on a port of its own, and the key of an admin."""

    def __init__(self, program: Foliot, url: str, key: str) -> None:
        self.program = program
        self.url = url
        self.key = key


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A worker and an API, each on a thread of its own."""
    program = Foliot(f"sqlite:///{tmp_path_factory.mktemp('cli') / 'cli.db'}", name="shop")

    @program.graph("digest")
    def digest(input: object, ctx: object) -> object:
        return input

    @program.graph("broken")
    def broken(input: object, ctx: object) -> object:
        raise ValueError("the printer burns")

    @program.graph("asking")
    def asking(input: object, ctx: Context) -> object:
        return ctx.ask("approve", {"n": 1})

    @program.graph("patient")
    async def patient(input: object, ctx: Context) -> None:
        await asyncio.sleep(3600)

    server = Server(program.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    key = program.parts.verbs.keys.create("test").secret
    assert key is not None
    with working(program):
        yield Served(program, server.url, key)
        server.stop()
    program.close()


@contextmanager
def working(program: Foliot) -> Iterator[None]:
    is_over = Future[None]()

    async def work() -> None:
        async with program:
            await asyncio.wrap_future(is_over)
            for run in program.runs.list(status="running"):
                program.runs.terminate(run.id)

    thread = Thread(target=asyncio.run, args=[work()], daemon=True)
    thread.start()
    yield
    is_over.set_result(None)
    thread.join(30)


class CommandLine:
    """`foliot`, asked by one user."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._runner = CliRunner()

    def run(self, *arguments: str, input: str | None = None) -> Result:
        return self._runner.invoke(commands, arguments, input=input, env=self.environment, prog_name="foliot")

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints when it exits with that code."""
        result = self.run(*arguments)
        assert result.exit_code == code, result.output + repr(result.exception)
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "-o", "json"))

    def refused(self, code: int, *arguments: str) -> str:
        """What it says when it exits with that code and prints nothing."""
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (code, ""), result.output + repr(result.exception)
        return result.stderr


@pytest.fixture
def foliot(served: Served, tmp_path: Path) -> CommandLine:
    """The command line of an admin, without a profile."""
    environment = {"FOLIOT_URL": served.url, "FOLIOT_KEY": served.key, "XDG_CONFIG_HOME": str(tmp_path)}
    return CommandLine(environment)


@pytest.fixture
def name() -> str:
    """Of a schedule that no other test has, nor one that begins so: all are on one server."""
    return f"s{next(_NUMBERS)}x"
