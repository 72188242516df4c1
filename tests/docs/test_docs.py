"""What the docs show is what happens: their commands, their programs, their tables and their links."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot import Foliot
from tests.cli.serving import PATIENCE
from tests.docs.pages import PAGES, ROOT, Block, Command, Program, blocks, commands, name_of, pattern_of
from tests.docs.tables import DOCS, TABLES, with_table

FOLIOT = Path(sys.executable).parent / "foliot"
COMMANDS = [
    command
    for page in PAGES
    for command in commands(page)
    if not command.is_server and not command.text.startswith("make ")
]
PROGRAMS = [page for page in PAGES if blocks(page, "python")]
TESTS = [block for page in PAGES for block in blocks(page, "python") if (block.file or "").startswith("test_")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a page's session takes place; modules that it imports from there are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FOLIOT_DATABASE", f"sqlite:///{tmp_path / 'session.db'}")
    monkeypatch.setenv("FOLIOT_PORT", "0")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("FOLIOT_HTTP_ALLOW", "FOLIOT_INTERNAL_SECRET"):
        monkeypatch.setenv(name, "")  # What a page sets it to is forgotten with it.
    monkeypatch.setenv("FOLIOT_LOG_FORMAT", "text")  # As whoever reads the page sees it.
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def write_files(page: Path, folder: Path) -> None:
    for block in (*blocks(page, "python"), *blocks(page, "yaml")):
        if block.file is not None:
            (folder / block.file).write_text(block.text)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.text[:60])
def test_a_command_prints_what_the_docs_show(command: Command, folder: Path) -> None:
    program, *arguments = shlex.split(command.text)
    assert program in ("foliot", ".venv/bin/foliot")
    write_files(command.page, folder)
    shown, is_interrupted, last = command.output.partition("^C\n")
    printed, over = "", time.monotonic() + 2 * PATIENCE
    with subprocess.Popen(
        [FOLIOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        if is_interrupted:
            while not pattern_of(shown).fullmatch(printed) and time.monotonic() < over:
                printed += process.stdout.readline()
            process.send_signal(signal.SIGINT)
        # As before: what was read from the pipe, and not yet by us, is in this reader and in no other.
        printed += process.stdout.read()
    assert pattern_of(shown + last).fullmatch(printed), printed


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) >= 4


@pytest.mark.parametrize("page", PROGRAMS, ids=name_of)
def test_the_programs_of_a_page_run(
    page: Path, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "TEST_DATABASE" in page.read_text():
        monkeypatch.setenv("TEST_DATABASE", request.getfixturevalue("postgresql_server").new_database())
    write_files(page, folder)
    program = Program()
    try:
        for block in blocks(page, "python"):
            if block.file is None:
                program.run(block)
    finally:
        for app in program.names.values():
            if isinstance(app, Foliot):
                app.close()


@pytest.mark.parametrize("block", TESTS, ids=lambda block: block.file)
def test_a_test_in_the_docs_passes(block: Block, folder: Path) -> None:
    write_files(block.page, folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(block.file)]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=alone)
    assert result.returncode == 0, result.stdout + result.stderr


def test_there_is_a_test_to_run() -> None:
    assert TESTS


@pytest.mark.parametrize("page", TABLES)
def test_a_table_is_the_one_that_the_code_has(page: str) -> None:
    assert (DOCS / page).read_text() == with_table(page), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        there = page.parent / target if target else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """What a link may name in the page: its headings, as they are made into addresses."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_led_to() -> None:
    led_to = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    }
    assert set(PAGES) - {ROOT / "README.md"} <= led_to


def test_every_make_target_in_the_docs_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"`make ([a-z-]+)", page.read_text())) <= targets, page
