"""What the docs have a newcomer type while a server runs: each command of a page in one shell, as it is written."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.serving import PATIENCE, Serving, wait_for
from tests.docs.pages import PAGES, ROOT, Command, blocks, commands, name_of, pattern_of

BIN = Path(sys.executable).parent
MAKE = ("make", "--no-print-directory", "--directory", str(ROOT), "--old-file=.venv/.ready")
"""What it sets up is there already, as for all tests."""
AS_WRITTEN = "http://127.0.0.1:8420"
WALKS = [page for page in PAGES if blocks(page, "shell-session")]
_END = "\x1e"


class Step(NamedTuple):
    command: Command
    printed: str
    code: int


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_DATABASE", f"sqlite:///{tmp_path / 'walk.db'}")
    monkeypatch.setenv("FOLIOT_PORT", "0")
    monkeypatch.setenv("FOLIOT_LOG_FORMAT", "text")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if shutil.which("curl") is None:
        (tmp_path / "curl").write_text(f"#!{sys.executable}\n{(Path(__file__).parent / 'curl.py').read_text()}")
        (tmp_path / "curl").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(BIN), os.environ["PATH"], str(tmp_path)]))


@contextmanager
def served(page: Path, folder: Path, until: str | None = None) -> Iterator[Serving]:
    """The server that the page starts, once it has printed what the page shows, or other words."""
    (server,) = [command for command in commands(page) if command.is_server]
    for block in blocks(page, "python"):
        if block.file is not None:
            (folder / block.file).write_text(block.text)
    words = shlex.split(server.text)
    settings = [*takewhile(lambda word: "=" in word, words)]
    program, _, *arguments = words[len(settings) :]
    said = dict(setting.split("=", 1) for setting in settings)
    serving = Serving(folder, *arguments, command=MAKE if program == "make" else [BIN / "foliot"], environment=said)
    # Whatever make says of the set-up comes before, and what runs go on to say behind.
    output = server.output.replace(":8420", ":…").replace("~/.config", "…") if until is None else f"…{until}"
    shown = pattern_of(output)
    try:
        wait_for("it prints what the page shows", lambda: shown.match(serving.said()) or serving.process.poll())
        assert shown.match(serving.said()), serving.said()
        yield serving
    finally:
        serving.end()
    assert "foliot: stopped" in serving.said()


def walk(page: Path, folder: Path, url: str) -> list[Step]:
    steps = commands(page, "shell-session")
    lines = [f"{step.text}\nprintf '%s{_END}' $?" for step in steps]
    script = "\n".join(lines).replace(AS_WRITTEN, url).replace(".venv/bin/foliot", "foliot")
    shell = subprocess.run(
        ["bash", "-uc", script],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=4 * PATIENCE,
    )
    parts = [part.rpartition("\n") for part in shell.stdout.split(_END)[:-1]]
    assert len(parts) == len(steps), shell.stdout
    return [Step(step, before + sign, int(code)) for step, (before, sign, code) in zip(steps, parts, strict=True)]


@pytest.mark.parametrize("page", WALKS, ids=name_of)
def test_every_command_of_a_walk_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    with served(page, tmp_path) as serving:
        steps = walk(page, tmp_path, serving.profile["url"])
    assert [step for step in steps if step.code or not pattern_of(step.command.output).fullmatch(step.printed)] == []


def test_make_serve_shows_its_first_run_to_the_api_and_the_command_line_and_loses_nothing(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    with served(page, tmp_path) as first:
        key, moment = first.profile["key"], first.get("/api/v1/runs?schedule=greet")["items"][-1]["scheduled_for"]
        wait_for("its first run is over", lambda: first.verdict("greet", moment) == "ran")
        listed = subprocess.run(["foliot", "run", "list"], capture_output=True, text=True, check=True).stdout
        assert re.search(rf"^greet:{moment}~1 +success ", listed, re.MULTILINE)
    with served(page, tmp_path, "Stop it with Ctrl-C.") as second:
        assert (second.profile["key"], second.verdict("greet", moment)) == (key, "ran")
        counts = [run["result"] for run in map(second.get, _paths(second))]
        assert counts == [*range(counts[0], counts[0] - len(counts), -1)]


def _paths(serving: Serving) -> list[str]:
    """Of the runs that greeted, the newest first."""
    done = serving.get("/api/v1/runs?schedule=greet&status=success")["items"]
    return [f"/api/v1/runs/{run['id']}" for run in done]


def test_there_is_a_walk_through_the_api() -> None:
    said = " ".join(step.text for step in commands(ROOT / "README.md", "shell-session"))
    for word in ("curl", "cron", "timezone", "preview", "trigger", "explain", "pause", "dry_run", "revoke", "skipped"):
        assert word in said, word
