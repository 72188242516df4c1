"""A Temporal dev server of our own, for as long as the tests need one."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from temporalio.client import Client

_PATIENCE = 600
"""Tries, a tenth of a second apart."""


@pytest.fixture(scope="session")
def temporal_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server answers. It lives in memory, reads the zones that Foliot reads, and ends with the session."""
    log = tmp_path_factory.mktemp("temporal") / "server.log"
    port = _free_port()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [
                *(Path(sys.executable).parent / "temporal", "server", "start-dev", "--headless"),
                *("--ip", "127.0.0.1", "--port", str(port), "--log-level", "error"),
                *("--disable-config-env", "--disable-config-file"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "ZONEINFO": str(files("tzdata") / "zoneinfo")},
        ) as server,
    ):
        try:
            _wait_for_answer(server, f"127.0.0.1:{port}", log)
            yield f"127.0.0.1:{port}"
        finally:
            _stop(server)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_answer(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    for _ in range(_PATIENCE):
        try:
            asyncio.run(Client.connect(address))
        except RuntimeError:
            # The pause between two tries also tells whether there is still anything to wait for.
            try:
                status = server.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail(f"the Temporal server ended with status {status}:\n{log.read_text()}")
        else:
            return
    pytest.fail(f"the Temporal server does not answer at {address}:\n{log.read_text()}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
