"""A process whose worker dies or stands still is not ready, and ends, so that it is started again."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from foliot.watchdog import STANDS_STILL
from tests.cli.serving import PATIENCE, Serving, answers, wait_for

PROGRAM = """
import time
from foliot import Foliot

app = Foliot(name="mortal")


@app.schedule("tick", every="1s")
async def tick(input, ctx):
    pass


@app.schedule("stand-still", manual=True)
async def stand_still(input, ctx):
    time.sleep(3600)


@app.schedule("break", manual=True)
async def break_it(input, ctx):
    def broken(target):
        raise ZeroDivisionError("nobody has foreseen this")

    app.parts.engines[0].gate.room = broken
"""


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    (tmp_path / "app.py").write_text(PROGRAM)
    monkeypatch.setitem(os.environ, "FOLIOT_LOOK", "500ms")
    monkeypatch.setitem(os.environ, "FOLIOT_STALL", "6s")
    with Serving(tmp_path, "app.py", "--port", "0", "--database", "sqlite:///mortal.db") as serving:
        yield serving


def readiness(url: str) -> tuple[int, str]:
    """The status, and what is said of the engine; nobody answers: 0."""
    try:
        with urlopen(f"{url}/readyz", timeout=5) as answer:
            return answer.status, json.load(answer)["checks"]["engine"]["what"]
    except HTTPError as refused:
        return refused.code, json.load(refused)["checks"]["engine"]["what"]
    except OSError:
        return 0, ""


def is_red(url: str, words: str) -> bool:
    status, what = readiness(url)
    return status == 503 and words in what


def test_a_loop_that_something_holds_up_is_not_ready_and_its_process_ends_and_says_what_held_it_up(
    serving: Serving,
) -> None:
    url = serving.profile["url"]
    assert readiness(url) == (200, "it works")
    serving.post("/api/v1/schedules/stand-still/trigger")
    wait_for("it is not ready", lambda: is_red(url, "its loop was not seen for"))

    assert serving.process.wait(PATIENCE) == STANDS_STILL
    assert "the worker's loop stood still for 6 s" in serving.said()
    assert "stand_still" in serving.said(), "the traceback of the thread that holds it up"
    assert not answers(url)


@pytest.mark.slow
def test_a_loop_whose_turns_all_fail_is_not_ready_and_its_process_ends(serving: Serving) -> None:
    url = serving.profile["url"]
    serving.post("/api/v1/schedules/break/trigger")
    wait_for("it is not ready", lambda: is_red(url, "turns in a row have failed"))

    assert serving.process.wait(2 * PATIENCE) == 1
    assert "this worker ends" in serving.said()
    assert not answers(url)
