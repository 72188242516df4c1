"""Nothing is executed but through the gate, nothing is charged but by the till, and one module knows scopes."""

import ast
from pathlib import Path

import pytest

from tests.architecture.test_purity import SOURCE, imported, trees

EXECUTION = SOURCE / "execution"
RUNNERS = {"app", "asyncio", "engine", "execution_requests.c", "program", "row", "runner"}
"""What has a `run` elsewhere, by the names that it has there: programs, commands, loops, engines and rows."""


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


def bypasses(tree: ast.Module) -> list[str]:
    """Where something is executed past the gate: run, invoked, or listened to, called at once or handed on."""
    nodes = list(ast.walk(tree))
    used = [part for node in nodes if isinstance(node, ast.Call) for part in (node.func, *node.args)]
    run = [part for part in used if isinstance(part, ast.Attribute) and part.attr == "run"]
    found: list[ast.expr] = [part for part in run if ast.unparse(part.value) not in RUNNERS]
    found += [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("invoke", "stream", "final")]
    found += [node for node in nodes if isinstance(node, ast.Constant) and node.value in ("invoke", "stream")]
    return [ast.unparse(part) for part in found]


def test_nothing_is_executed_past_the_gate() -> None:
    for path, tree in outside("execution", "executors"):
        assert bypasses(tree) == [], path


@pytest.mark.parametrize(
    "text",
    [
        """
async def bypass(app, request):
    async for _ in app.executors["python"].run(request).stream:
        pass
""",
        "async def bypass(app, found): return await app.functions.invoke(found, None, None, print)",
        "def bypass(executor, request): return executor.run(request)",
        "def bypass(self, request): return self._executors['python'].run(request)",
        "def bypass(executor, request): return call(executor.run, request)",
        "async def bypass(begun): return await begun.final",
        "async def bypass(app): return await getattr(app.functions, 'invoke')()",
    ],
)
def test_what_would_be_executed_past_the_gate_is_found(text: str) -> None:
    assert bypasses(ast.parse(text))


def test_inside_too_executions_are_begun_and_heard_in_one_place() -> None:
    heard = [path.name for path, tree in trees(EXECUTION) if {"stream", "final"} & attributes(tree)]
    begun = [path.name for path, tree in trees(EXECUTION) if "run" in calls(tree)]
    assert (begun, heard) == (["gate.py"], ["listening.py"])
    for path, tree in trees(SOURCE / "executors"):
        assert "run" not in calls(tree), path


def attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


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


def test_only_execution_writes_receipts_and_what_they_come_to() -> None:
    for path, tree in outside("execution", "stores"):
        assert not {"save_receipts", "add_costs"} & calls(tree), path


def test_only_the_module_of_grants_knows_how_a_scope_is_written() -> None:
    for path, _ in trees(SOURCE):
        if path != SOURCE / "domain" / "grants.py":
            assert '"graph:execute' not in path.read_text(), path
