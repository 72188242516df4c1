"""The example of a LangGraph agent that asks before it sends."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_agent.py"


def test_the_agent_waits_for_its_approval_and_then_sends(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    first, *_, last = ended.stdout.splitlines()
    assert first.endswith("waits for an answer")
    assert "Sent, as ann said approve." in last
