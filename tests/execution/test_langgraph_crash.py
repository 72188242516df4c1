"""A worker that runs a LangGraph graph is killed, and the next one goes on where it was."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foliot import Foliot
from tests.diet import on_sqlite_every_day
from tests.docs.pages import ROOT


@on_sqlite_every_day
@pytest.mark.parametrize(
    ("moment", "effects"),
    [
        ("die after", ["first", "second", "second"]),
        pytest.param("die before", ["first", "second"], marks=pytest.mark.slow),
    ],
)
def test_a_node_that_had_ended_is_not_executed_again_when_its_worker_was_killed(
    database_url: str, tmp_path: Path, moment: str, effects: list[str]
) -> None:
    """The one that had done its work, and was killed before its end was in a checkpoint, is; it is charged once."""
    (tmp_path / moment).touch()
    command = [sys.executable, "-W", "error", "-m", "tests.execution.mortal", database_url, str(tmp_path)]
    ends = [subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode for _ in range(2)]
    assert ends == [-signal.SIGKILL, 0]
    assert (tmp_path / "effects").read_text().split() == effects
    app = Foliot(database_url)
    try:
        (run,) = app.runs.list("digest")
        assert (run.status, run.attempt) == ("success", 1)
        assert [message["content"] for message in run.result["messages"]] == ["hello", "a draft", "sent"]
        assert sorted(receipt.unit for receipt in app.runs.receipts(run.id)) == ["draft", "sent"]
    finally:
        app.close()
