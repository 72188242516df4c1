"""Commands that ask no server: they read a database as it is, beside whoever writes it."""

from collections.abc import Iterator
from contextlib import contextmanager

from foliot.domain.errors import NotFound
from foliot.services.verbs import Verbs
from foliot.settings import database_url
from foliot.settings.sources import read_settings
from foliot.settings.table import DATABASE
from foliot.stores.upkeep import check_current, sqlite_path
from foliot.wiring import Parts


def database_of(given: str | None) -> str:
    """The URL that was given, else the one of the settings; NotFound when nothing names one and none is here."""
    url = database_url(given)
    if given is None and read_settings().origin(DATABASE) == "default":
        try:
            sqlite_path(url)
        except NotFound as error:
            raise NotFound(
                f"there is no database here by the name that is the default, {url}: say with --database which one is"
                " meant, the one that the program or its server names"
            ) from error
    return url


@contextmanager
def reading(url: str) -> Iterator[Verbs]:
    """All verbs on a database that is there and of this release; Conflict when it would have to be migrated."""
    check_current(url)
    parts = Parts(url, {})
    try:
        yield parts.verbs
    finally:
        parts.close()
