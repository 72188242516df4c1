"""The report says what was found, and what was not even looked for."""

from pathlib import Path

from tests.proof.findings import Finding, find, keep, present_commit
from tests.proof.report import PARTS, page_of

CLEAN = Finding("storm", "make storm", 754.2, {"SQLite: kills": 1000, "SQLite: lost": 0, "late, ms": 12.34}, [])


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    keep(CLEAN, tmp_path)
    assert find("storm", tmp_path) == CLEAN._replace(commit=present_commit())
    assert find("simulate", tmp_path) is None


def test_figures_stand_beside_the_command_that_prints_them() -> None:
    page = page_of([(PARTS[2], CLEAN)], "Seen once.")
    assert "`make storm` at an earlier commit, 13 min: No problem found." in page
    assert "| SQLite: kills | 1,000 |" in page
    assert "| late, ms | 12.3 |" in page


def test_a_problem_is_not_hidden() -> None:
    page = page_of([(PARTS[2], CLEAN._replace(problems=["lost: the slot 7 of digest"]))], "Seen once.")
    assert "**1 problem.**" in page
    assert "- lost: the slot 7 of digest" in page


def test_a_part_that_was_not_run_says_so() -> None:
    assert "Not run yet: `make simulate`." in page_of([(PARTS[0], None)], "Seen once.")
