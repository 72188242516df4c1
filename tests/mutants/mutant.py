"""A mutant: the program with one deliberate mistake, whom it would hurt, and the test that must notice it."""

import ast
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "foliot"


class NotApplicable(Exception):
    """The text to be changed is not there exactly once: the program has moved on, and the mutant must follow."""


class Change(NamedTuple):
    """One text of the program that is put in the place of another."""

    file: str
    """Below the package."""
    old: str
    """There exactly once."""
    new: str

    def of(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise NotApplicable(f"{self.file} has {text.count(self.old)} times: {self.old}")
        return text.replace(self.old, self.new)


class Mutant(NamedTuple):
    name: str
    harm: str
    """What it does wrong, and whom that would hurt."""
    changes: tuple[Change, ...]
    caught_by: str
    """The test, as pytest names it."""
    may_hang: bool = False
    """Whether the test notices it by not coming to an end."""
    error: str | None = None
    """The kind of error that is the very point of it, where code that crashes would else be no mutant."""

    @property
    def test(self) -> str:
        """The test's own name."""
        return self.caught_by.rpartition("::")[2].partition("[")[0]


def apply(mutant: Mutant, package: Path) -> None:
    """Make the mistake in this copy of the package."""
    for change in mutant.changes:
        file = package / change.file
        file.write_text(change.of(file.read_text()))


def copy_of(package: Path, folder: Path) -> Path:
    """The package, copied into that folder, to be imported from there."""
    return Path(shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__")))


def has_test(node: str) -> bool:
    """Whether there is such a test, by its file, its class if it has one, and its name."""
    path, *names = node.partition("[")[0].split("::")
    file = ROOT / path
    if not file.exists() or not names:
        return False
    body: Iterable[ast.stmt] = ast.parse(file.read_text()).body
    for name in names:
        found = [part for part in body if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name]
        if not found:
            return False
        body = found[0].body
    return True
