"""Asking before something is destroyed or changed a lot; nobody is asked where nobody can answer."""

import sys
from typing import Annotated

import typer
from typer import Option

from foliot.cli.exits import FAILED, INTERRUPTED
from foliot.domain.errors import Invalid

Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, Option("--dry-run", help="Only show what would be done.")]


def check_meant(question: str, yes: bool) -> None:
    """Go on when that is meant; Invalid where nobody is there to say so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Invalid(f"{question} There is nobody here to ask: say --yes if that is meant")
    try:
        is_meant = typer.confirm(question, err=True)
    except typer.Abort:
        typer.echo("\nfoliot: nothing was changed", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if not is_meant:
        typer.echo("foliot: nothing was changed", err=True)
        raise typer.Exit(FAILED)
