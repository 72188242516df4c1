"""What a proof found, kept as JSON beside what the others found, so that one report can speak of all of them."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[2] / "build" / "proof"


class Finding(NamedTuple):
    """What came of one part of the proof: its figures, by what they count, and whatever is wrong."""

    part: str
    command: str
    """The words that anyone may repeat it by."""
    seconds: float
    figures: Mapping[str, int | float | str]
    problems: list[str]
    commit: str = "an earlier commit"
    """What was proved."""


def keep(finding: Finding, folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept = finding._replace(commit=present_commit())
    (folder / f"{finding.part}.json").write_text(json.dumps(kept._asdict(), indent=2) + "\n")


def present_commit() -> str:
    """What is checked out, and whether anything was changed since."""
    commit = _git("rev-parse", "--short", "HEAD") or "an unknown commit"
    return (
        f"{commit} and changes"
        if _git("status", "--porcelain", "--untracked-files=no", "--", "src", "tests")
        else commit
    )


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()


def find(part: str, folder: Path = FOLDER) -> Finding | None:
    """What that part found last; None when it has not been run."""
    file = folder / f"{part}.json"
    return Finding(**json.loads(file.read_text())) if file.exists() else None
