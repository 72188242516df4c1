"""The commands as their own help tells them, for the reference."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from foliot.cli.bundles import parameters_of
from foliot.cli.main import app
from foliot.cli.session import Session

SHARED = {*parameters_of(Session)}


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Each command by its whole name, with its context."""
    root = get_command(app)
    yield from _below(root, root.context_class(root, info_name="foliot"))


def _below(group: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = command.context_class(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from _below(command, below)
        else:
            yield below.command_path, command, below


def examples_of(command: Any) -> list[str]:
    _, _, rest = (command.help or "").partition("Examples:\n")
    return [line.strip() for line in rest.splitlines() if line.strip()]


def commands_text() -> str:
    lines = []
    for path, command, context in commands():
        about, _, _ = command.help.partition("\b")
        lines += [f"### `{path}`", "", " ".join(about.split()), ""]
        rows = [row for row in (_row(parameter, context) for parameter in command.params) if row]
        if rows:
            lines += ["| | |", "|---|---|", *rows, ""]
        lines += ["```", *examples_of(command), "```", ""]
    return "\n".join(lines)


def _row(parameter: Any, context: Any) -> str | None:
    record = parameter.get_help_record(context)
    if record is None or (parameter.name in SHARED and parameter.param_type_name == "option"):
        return None
    name, said = (" ".join(text.split()).replace("|", "/") for text in record)
    return f"| `{name}` | {said} |"
