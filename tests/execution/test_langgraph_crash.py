"""A worker that runs a LangGraph graph is killed, and the next one goes on where it was."""

import signal
import subprocess
import sys
from pathlib import Path

from foliot import Foliot
from tests.docs.pages import ROOT


def test_a_node_that_had_ended_is_not_executed_again_when_its_worker_was_killed(
    database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "die").touch()
    command = [sys.executable, "-W", "error", "-m", "tests.execution.mortal", database_url, str(tmp_path)]
    ends = [subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode for _ in range(2)]
    assert ends == [-signal.SIGKILL, 0]
    assert (tmp_path / "effects").read_text().split() == ["first", "second"]
    app = Foliot(database_url)
    try:
        (run,) = app.runs.list("digest")
        assert (run.status, run.attempt) == ("success", 1)
        assert [message["content"] for message in run.result["messages"]] == ["hello", "a draft", "sent"]
        assert {receipt.unit for receipt in app.runs.receipts(run.id)} == {"draft", "sent"}
    finally:
        app.close()
