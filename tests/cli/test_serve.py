"""`foliot serve`: a program that changes, and a process that loses a part of itself."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from foliot import Foliot, Unavailable
from foliot.cli.reloading import stamps
from foliot.serving import Server
from tests.cli.serving import PATIENCE, PROGRAM, Serving, answers, wait_for
from tests.databases import PostgresqlServer
from tests.docs.pages import ROOT


@pytest.mark.slow
def test_a_change_of_the_program_is_running_a_moment_later(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    serving = Serving(tmp_path, "app.py", "--port", "0", "--reload")
    serving.wait_until_ready()
    (tmp_path / "app.py").write_text("this is no Python")
    serving.wait_until("foliot: it ended with 2: started again when a file changes")
    (tmp_path / "app.py").write_text(PROGRAM.replace('"tick"', '"tock"'))
    serving.wait_until("Stop it with Ctrl-C.", count=2)
    assert serving.get("/api/v1/schedules/tock")["id"] == "tock"
    assert serving.get("/api/v1/schedules/tick")["standing"] == "paused"
    assert serving.end(signal.SIGINT) == 0, serving.said()


@pytest.mark.slow
def test_several_serve_one_postgresql_and_whoever_is_asked_knows_all(
    tmp_path: Path, postgresql_server: PostgresqlServer
) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    database = postgresql_server.new_database()
    both = [Serving(tmp_path, "app.py", "--port", "0", "--database", database) for _ in range(2)]
    for serving in both:
        serving.wait_until_ready()
    moment = both[0].get("/api/v1/schedules/tick")["next_at"]
    wait_for("a slot runs", lambda: both[0].verdict("tick", moment) == "ran")
    keys = {path.read_text() for path in (tmp_path / "config" / "foliot" / "keys").iterdir()}
    assert len(keys) == 1
    assert [serving.end() for serving in both] == [0, 0], both[0].said() + both[1].said()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_make_serve_in_a_clean_copy_sets_everything_up_and_the_first_run_succeeds(tmp_path: Path) -> None:
    """Without anything of this environment but where packages come from."""
    copy = tmp_path / "foliot"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.db*"))
    known = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "FOLIOT_PORT": "0", **known}
    python = f"PYTHON={Path(sys.base_prefix) / 'bin' / 'python3'}"
    process = subprocess.Popen(
        ["make", "serve", python], cwd=copy, env=bare, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        printed = ""
        while "hello, for the 1. time" not in printed and (line := process.stdout.readline()):
            printed += line
        assert "Stop it with Ctrl-C." in printed, printed
        app = Foliot(f"sqlite:///{copy / 'foliot.db'}")
        wait_for("it is recorded", lambda: [run for run in app.runs.list("greet") if run.status == "success"])
        app.close()
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert (tmp_path / ".config" / "foliot" / "profile.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_who_watched_the_files_and_died_leaves_nobody_behind(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    serving = Serving(tmp_path, "app.py", "--port", "0", "--reload")
    serving.wait_until_ready()
    url = serving.profile["url"]
    serving.process.kill()
    serving.process.wait()
    wait_for("nobody listens any more", lambda: not answers(url))


def test_the_files_that_are_watched_are_the_programs_own(tmp_path: Path) -> None:
    for name in ("app.py", "deep/other.py", ".hidden/a.py", "env/a.py", "__pycache__/a.py", "deep/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "foliot.toml").touch()
    watched = {str(path.relative_to(tmp_path)) for path in stamps(tmp_path)}
    assert watched == {"app.py", "deep/other.py", "foliot.toml"}


def test_when_the_api_ends_by_itself_the_process_ends_with_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise RuntimeError("nobody has foreseen this")

    app = Foliot(f"sqlite:///{tmp_path / 'one.db'}")
    for serve in (lambda server: app.serve(None, server), app.attend):
        server = Server(app.asgi(), "127.0.0.1", 0)
        server._server.main_loop = fail  # type: ignore[method-assign]
        with pytest.raises(Unavailable, match="the API has ended by itself"):
            asyncio.run(asyncio.wait_for(serve(server), PATIENCE))
    assert "nobody has foreseen this" in caplog.text


def test_when_the_worker_ends_by_itself_nothing_listens_any_more(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'one.db'}")
    server = Server(app.asgi(), "127.0.0.1", 0)

    def spoil() -> None:
        engine = app.parts.engines[0]
        engine._step = None  # type: ignore[assignment, method-assign]

    with pytest.raises(TypeError, match="not callable"):
        asyncio.run(asyncio.wait_for(app.serve(spoil, server), PATIENCE))
    assert not answers(server.url)


def test_an_api_without_a_worker_answers_until_a_signal(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'one.db'}")
    server = Server(app.asgi(), "127.0.0.1", 0)
    answered = []

    def ask() -> None:
        answered.append(answers(server.url))
        os.kill(os.getpid(), signal.SIGTERM)

    async def attend() -> None:
        asking = threading.Thread(target=ask)
        await app.attend(server, asking.start)
        asking.join()

    asyncio.run(asyncio.wait_for(attend(), PATIENCE))
    assert answered == [True]
    assert not answers(server.url)
