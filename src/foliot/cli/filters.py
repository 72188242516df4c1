"""Which schedules are meant: the same options for their list, and for what is done to many of them."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from typer import Option

from foliot.cli.bundles import bundled, parameters_of
from foliot.cli.given import labels_given

Several = list[str] | None


class Filter(NamedTuple):
    """What was said of them; empty: nothing."""

    said: dict[str, Any]
    labels: dict[str, str]

    @property
    def query(self) -> dict[str, Any]:
        """As a list takes it."""
        return {**self.said, "label": [f"{name}={value}" for name, value in self.labels.items()]}

    @property
    def body(self) -> dict[str, Any]:
        """As a verb takes it."""
        return self.said | ({"labels": self.labels} if self.labels else {})

    def __bool__(self) -> bool:
        return bool(self.said or self.labels)


def said_of_which(
    label: Annotated[Several, Option(metavar="NAME=VALUE", help="Only with this label; several times.")] = None,
    target: Annotated[str | None, Option(help="Only of this target.")] = None,
    standing: Annotated[str | None, Option(help="active, paused or completed.")] = None,
    attention: Annotated[
        bool | None, Option("--needs-attention", help="Only those that were refused several times in a row.")
    ] = None,
    of_app: Annotated[str | None, Option("--app", help="Only of this program or set.")] = None,
    of_set: Annotated[str | None, Option("--set", help="Only of this set.")] = None,
    owner: Annotated[str | None, Option(help="Only of this user; for admins.")] = None,
    text: Annotated[str | None, Option("--search", metavar="TEXT", help="Only with this text in id or name.")] = None,
) -> Filter:
    """Which schedules are meant."""
    said = {
        "q": text,
        "app": of_app,
        "set": of_set,
        "target": target,
        "standing": standing,
        "needs_attention": attention,
        "owner": owner,
    }
    return Filter({name: value for name, value in said.items() if value is not None}, labels_given(label) or {})


def filtering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, instead of the `which` that it takes."""
    return bundled(command, "which", parameters_of(said_of_which), said_of_which)
