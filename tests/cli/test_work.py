"""`foliot serve` and `foliot worker`: what is refused before anything runs. What runs is tested in tests/crash too."""

import os
import socket
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
    environment = {**os.environ, "FOLIOT_DATABASE": database, "XDG_CONFIG_HOME": str(folder / "config")}
    command = [str(FOLIOT), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prog.py").write_text(PROGRAM)
    return tmp_path


def test_a_database_that_is_none_is_refused_without_its_password(folder: Path) -> None:
    done = foliot(folder, "serve", "prog:app", "--port", "0", database="mysql://me:secret@host/db")
    assert done.returncode == 2
    assert "sqlite:///file.db or postgresql://host/name" in done.stderr
    assert "secret" not in done.stderr


def test_a_database_that_does_not_answer_is_unavailable(folder: Path) -> None:
    done = foliot(folder, "worker", "prog:app", database="postgresql://me:secret@127.0.0.1:1/db")
    assert done.returncode == 5
    assert "cannot be used now" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said_to_be_and_nothing_begins(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = foliot(folder, "serve", "prog.py", "--port", port)
    assert done.returncode == 5
    assert done.stderr == (
        f"foliot: cannot listen on 127.0.0.1:{port}: Address already in use: choose another with --port\n"
    )
    assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == ["prog.py"]
