"""A process without file handles: said in words, nothing is lost, and work goes on when there are some again."""

import json
import subprocess
import sys
from pathlib import Path

from tests.diet import on_sqlite_every_day
from tests.faults.conftest import Note

ROOT = Path(__file__).parents[2]


@on_sqlite_every_day
def test_a_process_that_runs_out_of_file_handles_goes_on_when_it_has_some_again(
    database_url: str, database_kind: str, note: Note
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.without_handles", database_url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    seen = json.loads(done.stdout)
    assert seen["alive"]
    assert seen["said"]
    for words in seen["said"]:
        assert "cannot be used now: " in words
        assert "Too many open files" in words
    slots = seen["slots"]
    assert slots == [*range(slots[0], slots[-1] + 1)]
    assert (seen["bad"], seen["twice"]) == ([], 0)
    figures = f"recovered in {seen['recovered']:.1f} s, 0 of {len(slots)} slots lost, {seen['warnings']} warnings"
    note(f"no file handles ({database_kind})", figures)
