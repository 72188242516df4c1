"""A trial: named tests, run on a copy of the program, and what became of each."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.mutants.mutant import ROOT, Mutant, NotApplicable, apply, copy_of
from tests.mutants.only_the_copy import PLACE

_TEST_SECONDS = 120
_TRIAL_SECONDS = 400
_RAN, _FAILED = 0, 1
"""How pytest ends when it could run the tests; any other number means that it could not."""
_NO_PROGRAM = re.compile(
    r"^(?:E +)?((?:Name|UnboundLocal|Import|ModuleNotFound|Syntax|Indentation|Attribute|Type)Error)\b", re.MULTILINE
)
"""Of an error that says, in the test or in what was printed meanwhile, that the mutant is no program at all."""
_TOLD = ("failure", "system-out", "system-err")


class Verdict(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    HUNG = "HUNG"
    """The test did not come to an end, and nobody said that it would not."""
    BROKEN = "BROKEN"
    """It could not be tried: it does not apply, is no program that could run, or its test does not run."""


class Result(NamedTuple):
    mutant: Mutant
    verdict: Verdict
    said: str
    """What the test said when it failed, or what is wrong."""
    seconds: float


class Case(NamedTuple):
    """A test that was run: passed unless it says how it failed."""

    name: str
    failure: str | None
    """In the test itself."""
    error: str | None
    """Before or after it, or it was not run at all."""
    told: str = ""
    """The traceback, and what was printed and logged meanwhile."""

    @property
    def hung(self) -> bool:
        return self.failure is not None and "Timeout (>" in self.failure

    @property
    def crashes(self) -> list[str]:
        """The kinds of errors that no wrong decision makes, but code that cannot be run."""
        return _NO_PROGRAM.findall(f"{self.failure or ''}\n{self.told}")


class Trial(NamedTuple):
    code: int
    cases: list[Case]
    output: str


def control(package: Path, tests: Sequence[str]) -> list[str]:
    """What is wrong with these tests on the program as it is: they must all pass there."""
    trial = _run(package, tests)
    if trial.code not in (_RAN, _FAILED):
        return [f"the tests could not be run on the program as it is: {trial.output[-1000:]}"]
    problems = [f"{case.name} fails on the program as it is" for case in trial.cases if case.failure or case.error]
    found = {case.name for case in trial.cases}
    problems += [f"{name} was not run" for name in map(_plain_name, tests) if name not in found]
    return problems


def attempt(mutant: Mutant, package: Path) -> Result:
    """Make the mistake in a copy of the package, and run the one test that must notice it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = copy_of(package, Path(folder))
        try:
            apply(mutant, copy)
        except NotApplicable as error:
            verdict, said = Verdict.BROKEN, str(error)
        else:
            verdict, said = judge(mutant, _run(copy, [mutant.caught_by]))
    return Result(mutant, verdict, said, time.monotonic() - began)


def judge(mutant: Mutant, trial: Trial) -> tuple[Verdict, str]:
    """Whether the test noticed: it must have run, and have failed by itself, of a program that runs but is wrong."""
    failed = [case for case in trial.cases if case.failure is not None and case.name == mutant.test]
    if trial.code == _FAILED and failed:
        if all(case.hung for case in failed) and not mutant.may_hang:
            return Verdict.HUNG, "the test did not come to an end"
        crashes = {kind for case in failed for kind in case.crashes if kind != mutant.error}
        if crashes:
            return Verdict.BROKEN, f"it only crashes: {', '.join(sorted(crashes))}: {failed[0].failure}"
        return Verdict.CAUGHT, (failed[0].failure or "").partition("\n")[0]
    if trial.code == _RAN and any(case.error is None for case in trial.cases):
        return Verdict.SURVIVED, f"{mutant.test} passes"
    errors = [case.error for case in trial.cases if case.error]
    return Verdict.BROKEN, errors[0] if errors else trial.output[-500:]


def _run(package: Path, tests: Sequence[str]) -> Trial:
    """Run the tests in a process of its own that imports this package, as every process that it starts does."""
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-p", "tests.mutants.only_the_copy", "-p", "no:cacheprovider", "--tb=short", "-rN"]
        options += ["-o", "junit_logging=all"]
        options += [f"--timeout={_TEST_SECONDS}", f"--junitxml={report}", f"--basetemp={Path(folder) / 'tests'}"]
        command = [sys.executable, "-m", "pytest", *options, *dict.fromkeys(tests)]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment(package),
                capture_output=True,
                text=True,
                timeout=_TRIAL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Trial(-1, [], f"the tests were not over after {_TRIAL_SECONDS} seconds")
        return Trial(done.returncode, _cases(report), done.stdout + done.stderr)


def environment(package: Path) -> dict[str, str]:
    """Of a process that imports this package; those that it starts inherit it."""
    return dict(os.environ) | {"PYTHONPATH": str(package.parent), PLACE: str(package)}


def _cases(report: Path) -> list[Case]:
    if not report.exists():
        return []
    cases = []
    for case in ElementTree.parse(report).iter("testcase"):
        skipped = _message(case, "skipped")
        error = _message(case, "error") or (skipped and f"skipped: {skipped}")
        told = "\n".join(part.text or "" for kind in _TOLD for part in case.findall(kind))
        cases.append(Case(_plain_name(case.attrib["name"]), _message(case, "failure"), error, told))
    return cases


def _message(case: ElementTree.Element, kind: str) -> str | None:
    found = case.find(kind)
    return None if found is None else found.attrib.get("message") or (found.text or kind)


def _plain_name(node: str) -> str:
    """Of a test, without file, class and parameters."""
    return node.partition("[")[0].rpartition("::")[2]
