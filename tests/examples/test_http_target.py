"""The example of an HTTP target does what it says."""

import re
import subprocess
import sys

from tests.docs.pages import ROOT


def test_the_endpoint_is_called_once_with_a_genuine_message_and_the_run_is_a_success() -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "http_target.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "is genuine, new" in done.stdout
    assert re.search(r"bills:manual:\S+~1 is a success: \{'bills': 3, 'month': '2026-10'\}", done.stdout)
    assert done.stderr == ""
