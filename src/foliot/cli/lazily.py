"""Commands that are imported when they are asked for, and what becomes of a refusal."""

import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from foliot.cli.exits import exit_code
from foliot.cli.output import escape_what_cannot_be_said
from foliot.domain.errors import Refusal

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter


class Module(NamedTuple):
    """Where a command is, and its line in `foliot --help`, which must not import it."""

    path: str
    name: str
    """Of a function, which becomes a command, or of a `typer.Typer` with several."""
    about: str


class Noun(TyperGroup):
    """Several commands."""

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        # Flags of typer's own have no default: to make sense of that it loads a library for a quarter of a second.
        params = super().get_params(ctx)
        for param in params:
            param.default = False if param.default is None else param.default
        return params


class Lazily(Noun):
    """A group that knows where its commands are. A refusal goes to standard error, with the exit code of its kind."""

    modules: dict[str, Module]

    def list_commands(self, ctx: "Context") -> list[str]:  # noqa: ARG002
        return list(self.modules)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":  # noqa: ARG002
        module = self.modules.get(cmd_name)
        if module is None:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name, module)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        # Its own would compare a mistyped name only with those that were imported.
        if args[0] not in self.modules and not ctx.resilient_parsing:
            near = " or ".join(map(repr, get_close_matches(args[0], self.modules)))
            ctx.fail(f"there is no command {args[0]!r}" + (f": did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, module.about) for name, module in self.modules.items()])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        escape_what_cannot_be_said()
        try:
            return super().main(*args, **kwargs)
        except Refusal as refusal:
            typer.echo(f"foliot: {refusal}", err=True)
            sys.exit(exit_code(refusal))


def _loaded(name: str, module: Module) -> "Command":
    found: typer.Typer | Callable[..., Any] = getattr(import_module(module.path), module.name)
    if isinstance(found, typer.Typer):
        command: Command = get_group(found)
    else:
        alone = new_app()
        alone.command(name)(found)
        command = get_command(alone)
    command.name = name
    return command


def new_app(about: str | None = None) -> typer.Typer:
    """Several commands of one noun."""
    return typer.Typer(
        cls=Noun,
        help=about,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
