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
DOWN_FOR = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--down-for", type=float, default=DOWN_FOR, help="seconds that a real server is down")
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
    if asked.down_for == DOWN_FOR:
        keep(Finding("faults", "make faults", round(time.monotonic() - began, 1), figures, problems))
    sys.exit(1 if problems else 0)


def _seen(cases: list[ElementTree.Element]) -> tuple[dict[str, int | float | str], list[str]]:
    """What each fault did, by its name, what could not be tried with the permissions here, and which tests failed."""
    figures: dict[str, int | float | str] = {}
    problems = []
    passed = [case for case in cases if not any(case.findall(kind) for kind in ("failure", "error", "skipped"))]
    for case in cases:
        for failure in (*case.iter("failure"), *case.iter("error")):
            said, _, _ = (failure.get("message") or "").partition("\n")
            problems.append(f"{_name(case)}: {said}")
        for found in case.iter("property"):
            figures[str(found.get("name"))] = str(found.get("value"))
        for skipped in case.iter("skipped"):
            instead = [other.get("name") for other in passed if _test(other) == _test(case)]
            if instead:
                figures[f"not tried: {case.get('name')}"] = f"not permitted here, see {instead[0]}"
            else:
                figures[f"not tried: {case.get('name')}"] = str(skipped.get("message"))
    steps = sum("test_clock" in _name(case) for case in passed)
    figures["clock steps of 1 s to 30 d, to 1970, ten a second"] = f"{steps} cases passed"
    return figures, problems


def _name(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}.{case.get('name')}"


def _test(case: ElementTree.Element) -> str:
    """Its variants have one name up to their parameters."""
    return _name(case).partition("[")[0]


if __name__ == "__main__":
    main()
