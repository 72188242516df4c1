"""The mutants fit the program of today: each can be made, has its test, and those that are asked for are there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import SOURCE, Mutant, apply, copy_of, has_test
from tests.mutants.trial import Case, Trial, Verdict, environment, judge

ASKED_FOR = {
    "cursor before rows",
    "no token check",
    "row after launch",
    "swallowed enqueue error",
    "lease from the worker's clock",
    "catch-up that walks",
    "retry with a new key",
    "hint-only wake-up",
    "sleep without cap",
    "rescue by age",
    "synchronous=OFF",
    "session lock as guard",
}


def test_every_mistake_that_is_asked_for_is_made_and_every_mutant_has_a_name_of_its_own() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert set(names) >= ASKED_FOR
    assert len(names) == len(set(names))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made_of_the_program_as_it_is_and_is_still_python(mutant: Mutant, tmp_path: Path) -> None:
    """Also as the program changes: one named an error that its module had ceased to import, and only crashed."""
    for file in {change.file for change in mutant.changes}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text((SOURCE / file).read_text())

    apply(mutant, tmp_path)

    for file in {change.file for change in mutant.changes}:
        mutated = (tmp_path / file).read_text()
        assert ast.dump(ast.parse(mutated)) != ast.dump(ast.parse((SOURCE / file).read_text()))
    unknown = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821", str(tmp_path)]
    assert subprocess.run(unknown, capture_output=True, text=True, check=False).stdout.startswith("All checks passed")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_test_that_catches_a_mutant_is_there(mutant: Mutant) -> None:
    assert has_test(mutant.caught_by), f"there is no test {mutant.caught_by}"


def test_a_test_that_is_not_there_is_not_found() -> None:
    here = "tests/mutants/test_mutants.py"
    assert has_test(f"{here}::test_a_test_that_is_not_there_is_not_found")
    assert not has_test(f"{here}::test_that_nobody_wrote")
    assert not has_test("tests/mutants/test_nothing.py::test_a_test_that_is_not_there_is_not_found")


@pytest.mark.parametrize(
    ("code", "case", "verdict"),
    [
        (1, Case("test_it", "assert 1 == 2", None), Verdict.CAUGHT),
        (1, Case("test_it", "NameError: name 'tx' is not defined", None), Verdict.BROKEN),
        (1, Case("test_it", "assert 1 == 2", None, "E   assert 1 == 2\nTypeError: not callable\n"), Verdict.BROKEN),
        (1, Case("test_it", "assert 1 == 2", None, "E   AssertionError: it said TypeError: x"), Verdict.CAUGHT),
        (0, Case("test_it", None, None), Verdict.SURVIVED),
        (1, Case("test_it", "Failed: Timeout (>120.0s) from pytest-timeout.", None), Verdict.HUNG),
        (1, Case("test_another", "assert 1 == 2", None), Verdict.BROKEN),
        (1, Case("test_it", None, "failed on setup"), Verdict.BROKEN),
        (0, Case("test_it", None, "skipped: not here"), Verdict.BROKEN),
        (2, Case("", None, "collection failure"), Verdict.BROKEN),
        (4, None, Verdict.BROKEN),
    ],
    ids=str,
)
def test_only_a_test_that_ran_and_failed_by_itself_has_caught_a_mutant(
    code: int, case: Case | None, verdict: Verdict
) -> None:
    mutant = Mutant("a mistake", "It hurts nobody.", (), "tests/test_nothing.py::test_it[sqlite]")
    assert judge(mutant, Trial(code, [] if case is None else [case], "no such test"))[0] is verdict


def test_a_crash_that_is_the_point_of_a_mutant_has_caught_it() -> None:
    mutant = Mutant("a mistake", "It hurts nobody.", (), "tests/test_nothing.py::test_it", error="TypeError")
    assert judge(mutant, Trial(1, [Case("test_it", "TypeError: no", None)], ""))[0] is Verdict.CAUGHT
    assert judge(mutant, Trial(1, [Case("test_it", "NameError: no", None)], ""))[0] is Verdict.BROKEN


def test_a_test_that_does_not_end_has_caught_what_is_said_to_hang() -> None:
    mutant = Mutant("a mistake", "It hurts nobody.", (), "tests/test_nothing.py::test_it", may_hang=True)
    case = Case("test_it", "Failed: Timeout (>120.0s) from pytest-timeout.", None)
    assert judge(mutant, Trial(1, [case], ""))[0] is Verdict.CAUGHT


def test_a_process_and_those_that_it_starts_import_the_copy_and_not_the_program_that_is_installed(
    tmp_path: Path,
) -> None:
    copy = copy_of(SOURCE, tmp_path)
    child = [sys.executable, "-c", "import foliot; print(foliot.__file__)"]
    parent = [sys.executable, "-c", f"import subprocess; subprocess.run({child!r}, check=True)"]

    found = [subprocess.check_output(program, env=environment(copy), text=True) for program in (child, parent)]

    assert found == [f"{copy / '__init__.py'}\n"] * 2
