"""What the linters cannot see: what domain/ may use of the standard library, and how large things may grow."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import foliot

SOURCE = Path(foliot.__file__).parent
DOMAIN = SOURCE / "domain"
IMPURE = {
    "asyncio",
    "io",
    "os",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "uuid",
}
READERS = {"zones.py"}
"""Who may read files: the zone files, and nothing else."""
FILE_ACCESS = {"open", "get_data", "read_text", "read_bytes"}


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def called(tree: ast.Module) -> set[str]:
    functions = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        function.id if isinstance(function, ast.Name) else function.attr
        for function in functions
        if isinstance(function, ast.Name | ast.Attribute)
    }


def test_domain_imports_the_standard_library_and_itself_only() -> None:
    for path, tree in trees(DOMAIN):
        for name in imported(tree):
            assert name.startswith("foliot.domain") or name.partition(".")[0] in sys.stdlib_module_names, (path, name)


def test_domain_knows_no_clock_no_chance_and_no_waiting() -> None:
    for path, tree in trees(DOMAIN):
        assert not {name.partition(".")[0] for name in imported(tree)} & IMPURE, path
        assert not called(tree) & {"now", "utcnow", "today", "sleep", "urandom", "hash", "print", "input"}, path


def test_one_module_reads_zone_files_and_no_other_reads_anything() -> None:
    readers = {path.name for path, tree in trees(DOMAIN) if called(tree) & FILE_ACCESS}
    assert readers == READERS


def test_files_and_functions_stay_small_enough_to_read() -> None:
    for path, tree in trees(SOURCE):
        if path.parent.name == "versions":
            continue  # A migration is a list, written by a tool.
        assert len(path.read_text().splitlines()) <= 500, path
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or node.lineno) - node.lineno < 50, (path, node.name)
