"""`foliot serve` as a process, in a folder and with a profile of its own."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.error import URLError
from urllib.request import Request, urlopen

T = TypeVar("T")
PATIENCE = 30
HERE = (sys.executable, "-c", "from foliot.cli.main import main; main()")
PROGRAM = """
from foliot import Foliot

app = Foliot("sqlite:///never.db", name="mail")


@app.schedule("tick", every="1s")
def tick(input, ctx):
    return (ctx.last_result or 0) + 1
"""


def wait_for(what: str, look: Callable[[], T | None]) -> T:
    over = time.monotonic() + PATIENCE
    while time.monotonic() < over:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(what)


class Serving:
    def __init__(
        self,
        folder: Path,
        *arguments: str,
        command: Sequence[str | Path] = HERE,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._said = folder / f"said-{time.monotonic_ns()}"
        whole_environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config"), **(environment or {})}
        whole = [*command, "serve", *arguments]
        with self._said.open("w") as said:
            self.process = subprocess.Popen(whole, cwd=folder, env=whole_environment, stdout=said, stderr=said)

    def __enter__(self) -> Self:
        """When it is ready; it does not outlive the block, however that ends."""
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def said(self) -> str:
        return self._said.read_text()

    def wait_until(self, words: str, count: int = 1) -> None:
        def look() -> bool:
            assert self.process.poll() is None, self.said()
            return self.said().count(words) >= count

        wait_for(f"{words!r} in {self.said()}", look)

    def wait_until_ready(self) -> None:
        self.wait_until("Stop it with Ctrl-C.")

    @property
    def profile(self) -> dict[str, str]:
        profile: dict[str, str] = tomllib.loads((self.folder / "config" / "foliot" / "profile.toml").read_text())
        return profile

    def get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.profile['key']}"}
        with urlopen(Request(self.profile["url"] + path, headers=headers), timeout=10) as answer:
            return json.load(answer)

    def post(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.profile['key']}", "Content-Type": "application/json"}
        with urlopen(Request(self.profile["url"] + path, b"{}", headers), timeout=10) as answer:
            return json.load(answer)

    def verdict(self, schedule: str, moment: str) -> str:
        """What became of it, as the API explains it."""
        return str(self.get(f"/api/v1/schedules/{schedule}/explain?at={moment}")["verdict"])

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()


def answers(url: str) -> bool:
    """Whether anybody listens there."""
    try:
        urlopen(url + "/api/v1/nothing", timeout=5)
    except URLError as error:
        return not isinstance(error.reason, ConnectionRefusedError)
    except ConnectionResetError:
        return True
    return True
