"""What the docs show is what happens: their commands, their programs, their tables and their links."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.tables import with_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLIOT = Path(sys.executable).parent / "foliot"


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{page.read_text()[: match.start()].count(chr(10)) + 1}", match[1])
        for page in PAGES
        for match in re.finditer(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]


def commands() -> list[tuple[str, str, str]]:
    """Where it stands, a `foliot` command and the output shown below it."""
    return [
        (where, match[1], match[2])
        for where, block in blocks("console")
        for match in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        if not match[1].startswith("make ")
    ]


@pytest.mark.parametrize(("where", "command", "output"), commands(), ids=lambda value: value[:60])
def test_a_command_prints_what_the_docs_show(where: str, command: str, output: str) -> None:
    program, *arguments = shlex.split(command)
    assert program in ("foliot", ".venv/bin/foliot")
    result = subprocess.run([FOLIOT, *arguments], capture_output=True, text=True, check=False)
    assert result.stdout + result.stderr == output


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 4


@pytest.mark.parametrize(("where", "program"), blocks("python"), ids=lambda value: value[:40])
def test_a_program_in_the_docs_runs(where: str, program: str) -> None:
    names: dict[str, object] = {}
    exec(compile(program, where, "exec"), names)
    for line in program.splitlines():
        expression, hash_sign, shown = line.partition("# '")
        if hash_sign:
            assert eval(expression, names) == shown.rstrip("'")


def test_the_table_of_clock_changes_is_the_one_that_the_tests_run() -> None:
    page = (ROOT / "docs" / "time.md").read_text()
    assert page == with_table(page), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_make_target_in_the_docs_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"`make ([a-z-]+)", page.read_text())) <= targets, page
