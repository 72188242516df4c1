"""`foliot serve` and `foliot worker`: what is refused before anything runs. What runs is tested in tests/crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLIOT = Path(sys.executable).parent / "foliot"
PROGRAM = """
from foliot import Foliot
app = Foliot(name="mail")
number = 7
"""


def foliot(folder: Path, *arguments: str, database: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FOLIOT_DATABASE": database}
    command = [str(FOLIOT), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prog.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve", "prog"), "module:name"),
        (("serve", "nowhere:app"), "no module 'nowhere'"),
        (("serve", "prog:nothing"), "is no Foliot"),
        (("worker", "prog:number"), "is no Foliot"),
    ],
)
def test_an_app_that_is_not_there_is_refused_in_words(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = foliot(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_none_is_refused_without_its_password(folder: Path) -> None:
    done = foliot(folder, "serve", "prog:app", database="mysql://me:secret@host/db")
    assert done.returncode == 2
    assert "sqlite:///file.db or postgresql://host/name" in done.stderr
    assert "secret" not in done.stderr


def test_a_database_that_does_not_answer_is_unavailable(folder: Path) -> None:
    done = foliot(folder, "worker", "prog:app", database="postgresql://me:secret@127.0.0.1:1/db")
    assert done.returncode == 5
    assert "cannot be used now" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr
