"""A class name has one meaning in the whole package."""

import ast
from collections import defaultdict
from pathlib import Path

import foliot

PACKAGE = Path(foliot.__file__).parent
SHOWN = {"Backfill", "Explanation", "Gap", "Grant", "NodeState", "Posting", "Question", "Workflow"}
"""Things that have a class of the same name in services/ for how they are shown to people."""


def homes() -> dict[str, list[str]]:
    """The modules in which each class name is defined, with those of services/ last."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)
    return {name: sorted(modules, key=lambda module: module.startswith("services/")) for name, modules in found.items()}


def test_a_class_name_has_one_meaning_or_is_a_thing_and_how_it_is_shown() -> None:
    doubles = {name: modules for name, modules in homes().items() if len(modules) > 1}
    assert set(doubles) == SHOWN, {name: doubles[name] for name in set(doubles) - SHOWN}
    for thing, view in doubles.values():
        assert (thing.split("/")[0], view.split("/")[0]) == ("domain", "services")
