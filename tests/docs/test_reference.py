"""The reference says what the code does: every name, every parameter, every default, every word; and nothing more."""

import ast
import dataclasses
import inspect
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib import import_module
from typing import Any

import pytest
from typer.main import get_command

import foliot
import foliot.testing
from foliot.app import Foliot
from foliot.cli.exits import EXIT_CODES, TIMED_OUT
from foliot.cli.main import COMMANDS, app
from foliot.domain import delivery, errors, ledger, policies, runs, schedule
from foliot.domain.backfill import Direction, Which
from foliot.engine.counters import Counters
from foliot.engine.settings import EngineSettings
from foliot.execution import context
from foliot.execution.requests import Executed
from foliot.executors.actions import ActionContext
from foliot.services import configuration, launching, views, webhooks, workflows
from foliot.services.accounts import AccountVerbs
from foliot.services.grants import GrantVerbs
from foliot.services.requests import RequestVerbs
from foliot.services.runs import RunVerbs
from foliot.services.schedules import Explanation, ScheduleVerbs
from foliot.services.specs import SPEC_OPTIONS
from foliot.services.workflows import WorkflowVerbs
from foliot.stores.tables import metadata
from tests.docs.commands import commands, examples_of
from tests.docs.pages import ROOT, blocks

CLI = (ROOT / "docs" / "reference" / "cli.md").read_text()

REFERENCE = ROOT / "docs" / "reference"

PUBLIC: dict[str, Any] = {
    "Foliot": Foliot,
    "ScheduleVerbs": ScheduleVerbs,
    "RunVerbs": RunVerbs,
    "GrantVerbs": GrantVerbs,
    "AccountVerbs": AccountVerbs,
    "WorkflowVerbs": WorkflowVerbs,
    "WebhookVerbs": webhooks.WebhookVerbs,
    "Webhook": webhooks.Webhook,
    "WebhookDelivery": webhooks.WebhookDelivery,
    "WebhookTest": webhooks.WebhookTest,
    "Deployed": workflows.Deployed,
    "Workflow": workflows.Workflow,
    "NodeState": workflows.NodeState,
    "ActionContext": ActionContext,
    "Model": foliot.Model,
    "read_catalogue": foliot.read_catalogue,
    "Estimate": views.Estimate,
    "BudgetUse": views.BudgetUse,
    "Grant": views.Grant,
    "Account": views.Account,
    "Posting": views.Posting,
    "Receipt": views.Receipt,
    "Schedule": views.Schedule,
    "Run": views.Run,
    "Gap": views.Gap,
    "Backfill": views.Backfill,
    "Explanation": Explanation,
    "Context": context.Context,
    "Refusal": errors.Refusal,
    **{kind.__name__: kind for kind in errors.Refusal.__subclasses__()},
    "RunLauncher": launching.RunLauncher,
    "Started": launching.Started,
    "RequestVerbs": RequestVerbs,
    "ExecutionRequest": views.ExecutionRequest,
    "Executed": Executed,
    "InProgress": delivery.InProgress,
    "KeyReused": delivery.KeyReused,
    "Pricing": foliot.Pricing,
    "Asked": context.Asked,
    "Decision": context.Decision,
    "Question": views.Question,
    "Cancelled": context.Cancelled,
    "LimitExceeded": context.LimitExceeded,
    "virtual": foliot.testing.virtual,
    "World": foliot.testing.World,
    "EngineSettings": EngineSettings,
}

BY_LINK = {"Spec", "Calendar", "Interval"}
"""Those have a page of their own."""

OPENED = {"Foliot": Foliot("sqlite:///never-opened.db")}
"""What shows its attributes only when there is one."""


def stubs() -> dict[str, ast.stmt]:
    nodes = [node for block in blocks(REFERENCE / "python.md", "pyi") for node in ast.parse(block.text).body]
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def functions(stub: ast.ClassDef) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def fields(stub: ast.ClassDef) -> dict[str, Any]:
    """The attributes that the stub names, with their defaults."""
    return {
        node.target.id: ast.literal_eval(node.value) if node.value else inspect.Parameter.empty
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def shape(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def shape_of_stub(stub: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, Any, Any]]:
    # Without their annotations, which name what only the code imports.
    for argument in (*stub.args.posonlyargs, *stub.args.args, *stub.args.kwonlyargs, stub.args.vararg, stub.args.kwarg):
        if argument is not None:
            argument.annotation = None
    stub.returns, stub.decorator_list = None, []
    names: dict[str, Any] = {}
    exec(compile(ast.Module([stub], []), "python.md", "exec"), names)
    return shape(names[stub.name])


def public_names(name: str, thing: type) -> set[str]:
    """What the class offers besides its fields, and what an instance has on it."""
    own = {key for key in vars(thing) if not key.startswith("_")} | (
        {"__init__", "__aenter__", "__aexit__"} & set(vars(thing))
    )
    return own | {key for key in vars(OPENED.get(name, thing)) if not key.startswith("_")} - set(vars(thing))


def test_the_stub_names_what_is_exported() -> None:
    assert set(stubs()) == set(PUBLIC)
    assert set(foliot.__all__) - BY_LINK <= set(PUBLIC)


CLASSES = [name for name, thing in PUBLIC.items() if inspect.isclass(thing)]


@pytest.mark.parametrize("name", CLASSES)
def test_the_stub_of_a_class_has_its_names_and_nothing_more(name: str) -> None:
    stub, thing = stubs()[name], PUBLIC[name]
    assert isinstance(stub, ast.ClassDef)
    assert [base.__name__ for base in thing.__bases__ if base not in (object, tuple)] == [
        base.id for base in stub.bases if isinstance(base, ast.Name)
    ]
    if dataclasses.is_dataclass(thing):
        given = {f.name: f.default for f in dataclasses.fields(thing)}
        stated = fields(stub)
        assert list(stated) == list(given)
        for field, value in stated.items():
            assert value is inspect.Parameter.empty or value == given[field], field
        offered = {key for key in vars(thing) if not key.startswith("_")} - set(given)
        assert set(functions(stub)) == offered
    elif hasattr(thing, "_fields"):
        assert tuple(fields(stub)) == thing._fields
    else:
        documented = set(functions(stub)) | set(fields(stub))
        taken = {"__init__"} if name not in ("Foliot", "World") else set()
        attributes = {"app"} if name == "World" else set()
        assert documented == public_names(name, thing) - taken | attributes


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_and_default_of_a_method_is_in_the_stub(name: str) -> None:
    stub = stubs()[name]
    assert isinstance(stub, ast.ClassDef)
    for method, node in functions(stub).items():
        real = inspect.getattr_static(PUBLIC[name], method)
        is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
        assert is_property == isinstance(real, property), method
        assert isinstance(node, ast.AsyncFunctionDef) == inspect.iscoroutinefunction(real), method
        if not is_property:
            assert shape_of_stub(node) == shape(real), method


def test_every_parameter_and_default_of_a_function_is_in_the_stub() -> None:
    for name, node in stubs().items():
        if isinstance(node, ast.FunctionDef):
            assert shape_of_stub(node) == shape(PUBLIC[name])


def test_every_promise_is_made_in_one_line() -> None:
    for stub in stubs().values():
        nodes = [stub, *(functions(stub).values() if isinstance(stub, ast.ClassDef) else ())]
        for node in nodes:
            assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            promise = ast.get_docstring(node)
            assert promise is None or "\n" not in promise
            assert promise is not None or isinstance(node, ast.ClassDef), node.name


def test_the_options_of_create_are_those_in_the_table() -> None:
    text = (REFERENCE / "python.md").read_text()
    rows = "\n".join(re.findall(r"^\| (?:what|when|how) \|.*$", text, re.MULTILINE))
    shown = set(re.findall(r"`([a-z_]+)`", rows))
    assert shown == {*configuration.OTHER_OPTIONS, *SPEC_OPTIONS, *configuration.POLICY_OPTIONS}


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = re.split(rf"^## {re.escape(heading)}\n", (REFERENCE / page).read_text(), flags=re.MULTILINE)[1]
    section = re.split(r"^## ", section, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def words(cells: Iterable[str]) -> list[str]:
    return [word for cell in cells for word in re.findall(r"`([a-z_]+)`", cell)]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Statuses", runs.Status),
        ("Kinds", runs.Kind),
        ("Holds", runs.Hold),
        ("Reasons", runs.Reason),
        ("Verdicts", ledger.LedgerVerdict),
        ("Reasons that only an explanation gives", ledger.Absence),
        ("Standings", schedule.Standing),
        ("Which slots a backfill takes, and in which order", (*Which, *Direction)),
    ],
)
def test_a_table_of_words_is_the_list_in_the_code(heading: str, kind: type[StrEnum]) -> None:
    shown = words(row[0] for row in rows_of("reasons.md", heading))
    assert sorted(shown) == sorted(map(str, kind))


def test_the_reasons_that_are_given_today_are_those_that_the_code_gives() -> None:
    """A reason that no line of the product gives is marked as kept for later."""
    told = ("domain/runs.py", "domain/ledger.py", "domain/policies.py")
    paths = [path for path in (ROOT / "src").rglob("*.py") if "stores" not in path.parts]
    source = "".join(path.read_text() for path in paths if not str(path).endswith(told))
    given = {
        reason for reason in runs.Reason if f"Reason.{reason.name}" in source or f"ErrorCode.{reason.name}" in source
    }
    later = {
        word for row in rows_of("reasons.md", "Reasons") for word in words(row[:1]) if row[1].startswith("not yet")
    }
    explain_only = {runs.Reason.OUT_OF_WINDOW}
    assert given | explain_only == set(runs.Reason) - {runs.Reason(word) for word in later}


def test_the_policies_are_those_in_the_table() -> None:
    rows = rows_of("policies.md", "All of them")
    assert words(row[0] for row in rows) == [*configuration.POLICY_OPTIONS]
    defaults = policies.Policies()
    stored = {"catchup_window": "window", "catchup_cap": "cap"}
    for option, _, default, *_ in rows:
        (name,) = words([option])
        value = getattr(defaults, stored.get(name, name))
        assert said(value) == default, name


def said(value: object) -> str:
    """A default as the table shows it."""
    if value is None:
        return "none"
    if isinstance(value, StrEnum):
        return f"`{value}`"
    if isinstance(value, bool):
        return f"`{value}`"
    assert isinstance(value, int)
    return f"{value // 1_000_000} s" if value >= 1_000_000 else f"{value:,}"


def test_the_fields_of_a_retry_are_those_in_the_table() -> None:
    rows = rows_of("policies.md", "Retry")
    assert words(row[0] for row in rows) == [field.name for field in dataclasses.fields(policies.Retry)]
    (reasons,) = [row for row in rows if words([row[0]]) == ["reasons"]]
    assert sorted(words([reasons[2]])) == sorted(policies.RETRYABLE)
    failures = next(
        line for line in (REFERENCE / "policies.md").read_text().splitlines() if line.startswith("Reasons:")
    )
    assert sorted(words([failures])) == sorted(policies.FAILURES)


@pytest.mark.parametrize(
    ("heading", "kind", "aliases"),
    [
        ("Overlap", policies.Overlap, policies.OVERLAP_ALIASES),
        ("Catch-up", policies.CatchUp, policies.CATCH_UP_ALIASES),
    ],
)
def test_options_and_aliases_are_those_in_the_table(
    heading: str, kind: type[StrEnum], aliases: dict[str, StrEnum]
) -> None:
    rows = rows_of("policies.md", heading)
    assert words(row[0] for row in rows) == list(map(str, kind))
    shown = {alias: words([row[0]])[0] for row in rows for alias in re.findall(r"`(\w+)`", row[1])}
    assert shown == {alias: str(option) for alias, option in aliases.items()}


def test_the_exit_codes_are_those_in_the_table() -> None:
    shown = {int(row[0]): row[1].strip("`") for row in rows_of("cli.md", "Exit codes")}
    assert {code: kind for code, kind in shown.items() if kind != "–"} == {
        code: kind.__name__ for kind, code in EXIT_CODES.items()
    }
    assert {0, 1, TIMED_OUT, 130} == {code for code, kind in shown.items() if kind == "–"}


def test_every_name_on_the_way_of_a_firing_is_in_the_code() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    way = text[text.index("## How one firing travels") : text.index("## Tables, and why")]
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    names = {name for names in re.findall(r"`([A-Za-z_][\w.]*)`", way) for name in names.split(".")}
    assert len(names) > 40
    assert {name for name in names if not re.search(rf"\b{name}\b", source)} <= {"digest"}


def test_the_rings_are_those_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["containers"] == ["foliot"])
    assert f"`{' > '.join(layers)}`" in " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    tour = re.findall(r"^  (\w+)(?:/|\.py) ", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    assert sorted(tour) == sorted(name for layer in layers for name in layer.split(" | "))


def test_every_table_is_in_the_tour() -> None:
    shown = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    assert set(metadata.tables) <= set(shown)


def test_every_counter_is_in_the_docs() -> None:
    section = (ROOT / "docs" / "operations.md").read_text().split("## Counters")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert sorted(words(row.split(" | ")[0] for row in rows)) == sorted(vars(Counters()))


def test_the_help_of_every_command_has_examples_of_it() -> None:
    for path, command, _ in commands():
        examples = examples_of(command)
        assert examples, path
        assert all(path in example for example in examples), path


def test_the_line_of_a_command_in_the_list_needs_no_import_and_says_what_it_is() -> None:
    for name, module in COMMANDS.items():
        assert hasattr(import_module(module.path), module.name), name
        assert module.about[0].islower(), name
        assert not module.about.endswith("."), name


def test_every_example_of_a_command_is_one() -> None:
    root = get_command(app)
    for path, command, _ in commands():
        for example in examples_of(command):
            arguments = shlex.split(example[example.index(path) :].partition(" > ")[0])[1:]
            context = root.make_context("foliot", arguments, resilient_parsing=False)
            found: Any = root
            args = arguments
            while hasattr(found, "list_commands"):
                _, found, args = found.resolve_command(context, args)
            found.make_context(found.name, args, parent=context)


def test_it_is_said_which_commands_ask_a_server_and_which_do_not() -> None:
    (said,) = re.findall(r"\*\*Where and as whom\.\*\* All ask a server but(.*?)\n\n", CLI, re.DOTALL)
    never, sometimes = said.split("So do")
    asking = {path for path, command, _ in commands() if "url" in {one.name for one in command.params}}
    named = {f"foliot {name}".replace("settings", "settings show") for name in re.findall(r"`([^`]+)`", never)}
    # It is asked of which server the key is, and the server nothing.
    assert named == {path for path, _, _ in commands()} - asking | {"foliot key show"}
    with_database = {
        path for path, command, _ in commands() if path in asking and "database" in {one.name for one in command.params}
    }
    said_of = {word for word in re.findall(r"`([^`]+)`", sometimes) if not word.startswith("--")}
    assert with_database == {f"foliot {name}" for name in said_of}


def test_the_loggers_that_are_named_are_there() -> None:
    (said,) = re.findall(r"\*\*The log\*\*(.*?)\n\n", CLI, re.DOTALL)
    written = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"`(foliot[.\w]*)`", said))
    assert named >= {"foliot.decisions", "foliot.access", "foliot.http"}
    assert {name for name in named if f'getLogger("{name}")' not in written} == set()
