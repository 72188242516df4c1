"""Who comes with which key, also while keys change."""

from collections.abc import Callable
from typing import Any, TypeVar

from foliot import Foliot, chance
from foliot.clock import SystemClock
from foliot.domain.keys import key_of
from foliot.ports import Transaction
from foliot.services.people import Doorkeeper

T = TypeVar("T")


class Interrupted:
    """A database in which something happens between a read and its answer, once."""

    def __init__(self, database: Any, meanwhile: Callable[[], None]) -> None:
        self._database = database
        self._meanwhile: Callable[[], None] | None = meanwhile

    def read(self, act: Callable[[Transaction], T]) -> T:
        found: T = self._database.read(act)
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def test_a_key_that_is_revoked_while_it_is_looked_up_is_not_remembered_as_open(database_url: str) -> None:
    app = Foliot(database_url, name="shop")
    keys = app.parts.verbs.keys
    made = keys.create("laptop")

    def revoke() -> None:
        keys.revoke(made.id)
        doorkeeper.forget()

    doorkeeper: Doorkeeper = Doorkeeper(Interrupted(app.parts.database, revoke), SystemClock())
    assert made.secret is not None
    doorkeeper.identify(made.secret)
    assert doorkeeper.identify(made.secret) is None
    app.close()


def test_a_key_that_was_met_stays_so_through_changes_of_keys_and_one_that_is_none_is_never_met(
    database_url: str,
) -> None:
    app = Foliot(database_url, name="shop")
    made = app.parts.verbs.keys.create("laptop").secret
    assert made is not None
    doorkeeper = Doorkeeper(app.parts.database, SystemClock())
    other = key_of(chance.short(), chance.secret()).text
    for key in (made, other):
        assert not doorkeeper.has_met(key)
        doorkeeper.identify(key)
    doorkeeper.forget()
    assert (doorkeeper.has_met(made), doorkeeper.has_met(other)) == (True, False)
    app.close()
