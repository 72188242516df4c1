"""What every command that asks a server is given: where and as whom it asks, and how its answer is printed."""

import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from typer import Option

from foliot.cli.bundles import Parameters, bundled, parameters_of
from foliot.cli.output import Item, Output, View, print_document, print_item, print_items
from foliot.cli.profile import api_key, read_profile, server_url
from foliot.domain.errors import Invalid
from foliot.domain.schedule import slug_of

if TYPE_CHECKING:
    from foliot.cli.client import Client

Limit = Annotated[int, Option(min=0, metavar="N", help="How many at most; 0 is all of them.")]


def path_of(*parts: object) -> str:
    """Where something is on the server, whatever it is called; Invalid when no path leads to what is called so."""
    for part in parts:
        # Dots mean places in a path, also to those who pass it on: however they are written, they lead elsewhere.
        if part in ("", ".", ".."):
            raise Invalid(
                f"an id takes at least one character, and is neither . nor .., got {part!r}: "
                "`list` instead of this verb shows those that there are"
            )
    return "".join(f"/{quote(str(part), safe='', errors='surrogatepass')}" for part in parts)


def path_of_schedule(schedule: str, *parts: object) -> str:
    """Where a schedule is, by its id or by any name that `create` takes: one with a slash would be several parts."""
    path_of(schedule)
    return path_of("schedules", slug_of(schedule), *parts)


class Session:
    """One command's way to the server and to whoever asked."""

    def __init__(
        self,
        output: Annotated[Output, Option("--output", "-o", help="How the answer is written.")] = Output.TABLE,
        url: Annotated[
            str | None, Option(metavar="URL", help="Where the server is; else FOLIOT_URL, the profile.")
        ] = None,
        key_file: Annotated[
            str | None, Option(metavar="FILE", help="A file with the API key; else FOLIOT_KEY, the profile.")
        ] = None,
        quiet: Annotated[bool, Option("--quiet", "-q", help="Say nothing but the answer and what went wrong.")] = False,
        debug: Annotated[
            bool, Option("--debug", help="Say what is asked, how long it took, and its request id.")
        ] = False,
    ) -> None:
        self.output = output
        self.is_quiet = quiet
        self._url = url
        self._key_file = key_file
        self._is_debugged = debug

    @cached_property
    def client(self) -> "Client":
        # Imported here: `--help` asks nobody.
        from foliot.cli.client import Client  # noqa: PLC0415

        profile = read_profile()
        told = (lambda line: print(f"foliot: {line}", file=sys.stderr)) if self._is_debugged else (lambda _: None)
        url = server_url(self._url, profile)
        return Client(url, api_key(self._key_file, profile, url), told=told)

    @property
    def is_for_people(self) -> bool:
        return self.output is Output.TABLE

    def say(self, text: str) -> None:
        """A word beside the answer, on standard error."""
        if not self.is_quiet:
            print(text, file=sys.stderr, flush=True)

    def show(self, item: Item, view: View) -> None:
        print_item(item, view, self.output)

    def show_all(self, items: Iterable[Item], view: View) -> None:
        print_items(items, view, self.output)

    def show_document(self, document: Item) -> None:
        """A file for programs, which people read too: YAML, unless it is to be JSON."""
        print_document(document, self.output)

    def list(self, path: str, view: View, limit: int, **query: Any) -> None:
        """A list of the server's, at most so many of it, 0 for all; when there is more, that is said."""
        items = self.client.items(path, query, limit + 1 if limit else None)
        more = False

        def wanted() -> Iterable[Item]:
            nonlocal more
            for number, item in enumerate(items):
                if limit and number == limit:
                    more = True
                    return
                yield item

        self.show_all(wanted(), view)
        if more:
            self.say(f"There are more than {limit}: --limit takes another number, and 0 for all of them.")

    def close(self) -> None:
        if "client" in self.__dict__:
            self.client.close()


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a session, instead of the session that it takes."""
    return _with_session(command, parameters_of(Session))


def printing(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that asks nobody: only how its answer is printed."""
    shared = parameters_of(Session)
    return _with_session(command, {name: shared[name] for name in ("output", "quiet")})


def _with_session(command: Callable[..., None], shared: Parameters) -> Callable[..., None]:
    @wraps(command)
    def closing(*, session: Session, **given: Any) -> None:
        try:
            command(session=session, **given)
        finally:
            session.close()

    closing.__signature__ = inspect.signature(command, eval_str=True)  # type: ignore[attr-defined]
    return bundled(closing, "session", shared, Session)
