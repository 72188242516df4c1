"""Commands that ask no server: they read a database as it is, beside whoever writes it."""

from collections.abc import Iterator
from contextlib import contextmanager

from foliot.services.verbs import Verbs
from foliot.stores.upkeep import check_current
from foliot.wiring import Parts


@contextmanager
def reading(url: str) -> Iterator[Verbs]:
    """All verbs on a database that is there and of this release; Conflict when it would have to be migrated."""
    check_current(url)
    parts = Parts(url, {})
    try:
        yield parts.verbs
    finally:
        parts.close()
