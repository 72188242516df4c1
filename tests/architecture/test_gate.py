"""Nothing is executed but through the gate, nothing is charged but by the till, and one module knows scopes."""

import ast
from pathlib import Path

from tests.architecture.test_purity import SOURCE, imported, trees

EXECUTION = SOURCE / "execution"


def outside(*homes: str) -> list[tuple[Path, ast.Module]]:
    return [(path, tree) for path, tree in trees(SOURCE) if path.relative_to(SOURCE).parts[0] not in homes]


def calls(tree: ast.Module) -> set[str]:
    """The names that are called, of functions and of methods."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {f.attr if isinstance(f, ast.Attribute) else f.id for f in called if isinstance(f, ast.Attribute | ast.Name)}


def taken_from(module: str, tree: ast.Module) -> set[str]:
    """The names that are imported from the module; the module itself counts as one."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == module]
    named = {alias.name for node in froms for alias in node.names}
    return named or imported(tree) & {module}


def test_no_module_outside_of_execution_makes_a_request_to_an_executor() -> None:
    for path, tree in outside("execution", "executors"):
        # One module hands on what providers are written with.
        if path != SOURCE / "providers.py":
            assert taken_from("foliot.execution.executing", tree) <= {"Executor"}, path
    for path, tree in outside("execution"):
        assert "Request" not in calls(tree), path


def test_an_executor_is_asked_in_one_place() -> None:
    asking = [path.name for path, tree in trees(EXECUTION) if "Request" in calls(tree)]
    assert asking == ["gate.py"]


def test_only_execution_writes_receipts() -> None:
    for path, tree in outside("execution", "stores"):
        assert "save_receipts" not in calls(tree), path


def test_only_the_module_of_grants_knows_how_a_scope_is_written() -> None:
    for path, _ in trees(SOURCE):
        if path != SOURCE / "domain" / "grants.py":
            assert '"graph:execute' not in path.read_text(), path
