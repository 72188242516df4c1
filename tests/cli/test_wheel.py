"""The first minutes of somebody who installs the wheel: a file, one command, and the first run seen through the API."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.cli.serving import PROGRAM, Serving, wait_for
from tests.docs.pages import ROOT

HERE = Path(sys.executable).parent
LOCK = ROOT / "requirements-dev.txt"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def new_environment(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin"


def install(python: Path, *arguments: str) -> None:
    """With uv; what that cannot fetch, because only pip's own settings know where from, with pip."""
    uv = subprocess.run(
        [str(HERE / "uv"), "pip", "install", "--quiet", "--python", str(python), *arguments],
        check=False,
        capture_output=True,
        env={**os.environ, "UV_SYSTEM_CERTS": "true"},
    )
    if uv.returncode:
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *arguments]
        subprocess.run(pip, check=True, capture_output=True)


def locked(folder: Path) -> Path:
    """The versions of the lock file, for whatever of them is wanted."""
    pins = re.findall(r"^([a-z0-9][\w.-]*(?:\[[^\]]*\])?==[^\\\n]+?) *\\?$", LOCK.read_text(), re.MULTILINE)
    # A constraint has no extras.
    file = folder / "constraints.txt"
    file.write_text("\n".join(re.sub(r"\[[^\]]*\]", "", pin) for pin in pins) + "\n")
    return file


def check_first_minutes(folder: Path, foliot: Path) -> None:
    """Serve a file, see its first slot run, stop, start again: what was is there, and it goes on."""
    (folder / "app.py").write_text(PROGRAM)
    arguments = ("app.py", "--port", "0", "--database", "sqlite:///mail.db")
    first = Serving(folder, *arguments, command=[foliot])
    first.wait_until_ready()
    key, moment = first.profile["key"], first.get("/api/v1/schedules/tick")["next_at"]
    wait_for("the first slot runs", lambda: first.verdict("tick", moment) == "ran")
    assert first.end() == 0, first.said()
    assert "foliot: stopped" in first.said()
    second = Serving(folder, *arguments, command=[foliot])
    second.wait_until_ready()
    shown = second.get("/api/v1/schedules/tick")
    assert (second.profile["key"], shown["token"]) == (key, 1)
    assert second.verdict("tick", moment) == "ran"
    wait_for("a slot after the pause runs", lambda: second.verdict("tick", shown["next_at"]) == "ran")
    assert second.end(signal.SIGINT) == 0, second.said()
    assert key not in first.said() + second.said()
    assert not (folder / "never.db").exists()


def test_the_wheel_serves_a_file_and_loses_nothing_when_it_is_started_again(tmp_path: Path, wheel: Path) -> None:
    """The dependencies are those that are here: that they can be installed is seen by the next one."""
    programs = new_environment(tmp_path / "env")
    place = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    (place / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install(programs / "python", "--no-deps", str(wheel))
    where = [str(programs / "python"), "-c", "import foliot; print(foliot.__file__)"]
    assert subprocess.check_output(where, text=True).startswith(str(place))
    check_first_minutes(tmp_path, programs / "foliot")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_and_what_it_depends_on_are_all_that_is_needed(tmp_path: Path, wheel: Path) -> None:
    programs = new_environment(tmp_path / "env")
    install(programs / "python", "--constraint", str(locked(tmp_path)), str(wheel))
    check_first_minutes(tmp_path, programs / "foliot")


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"foliot"}
    assert {"foliot/py.typed", "foliot/stores/migrations/versions/0001_ledger.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name]
