"""The example of a workflow does what it says, in one command."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_workflow_runs_once_and_exits(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "dag.py")]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    for line in ("headlines[1]   DONE", "weather        ERROR", "no-weather     DONE", "success, {'sent': '2 topics"):
        assert line in result.stdout
    assert list(tmp_path.iterdir()) == []
