"""`python -m tests.faults`: full disk, no permission, no file handles, no database, a clock that jumps."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from tests.proof.findings import Finding, keep

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--down-for", type=float, default=60, help="seconds that a real server is down")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        outcomes = Path(folder) / "outcomes.xml"
        command = [sys.executable, "-m", "pytest", "tests/faults", "-v", "--timeout=900"]
        command += [f"--junitxml={outcomes}", "-o", "junit_family=xunit1"]
        environment = {**os.environ, "FAULTS_DOWN_FOR": str(asked.down_for)}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        cases = [*ElementTree.parse(outcomes).iter("testcase")] if outcomes.exists() else []
    figures, problems = _seen(cases)
    if code and not problems:
        problems.append(f"pytest ended with {code}")
    print()
    for name, seen in figures.items():
        print(f"{name:52} {seen}")
    for problem in problems:
        print(f"PROBLEM {problem}")
    keep(Finding("faults", "make faults", round(time.monotonic() - began, 1), figures, problems))
    sys.exit(1 if problems else 0)


def _seen(cases: list[ElementTree.Element]) -> tuple[dict[str, int | float | str], list[str]]:
    """What each fault did, by its name, and which tests failed."""
    figures: dict[str, int | float | str] = {}
    problems = []
    steps = 0
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        steps += "test_clock" in name
        failures = [*case.iter("failure"), *case.iter("error")]
        problems += [f"{name}: {(failure.get('message') or '').splitlines()[0]}" for failure in failures]
        for found in case.iter("property"):
            figures[str(found.get("name"))] = str(found.get("value"))
        for skipped in case.iter("skipped"):
            figures[f"not tried: {case.get('name')}"] = str(skipped.get("message"))
    if not any("test_clock" in problem for problem in problems) and steps:
        figures["clock steps of 1 s to 30 d, to 1970, ten a second"] = f"{steps} cases: 0 early, 0 doubled, 0 lost"
    return figures, problems


if __name__ == "__main__":
    main()
