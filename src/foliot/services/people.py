"""The verbs on users and their API keys, and who comes with which key."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from foliot import chance
from foliot.books.entries import Entries
from foliot.domain.access import (
    LOCAL_PRINCIPAL,
    RIGHTS,
    Principal,
    Right,
    Role,
    principal_of,
    rights_of,
    role_of,
)
from foliot.domain.errors import Conflict, Invalid, NotFound, Unavailable
from foliot.domain.grants import LOCAL
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of, rfc3339
from foliot.domain.keys import is_key, key_digest, key_of
from foliot.domain.policies import limit_of
from foliot.domain.schedule import name_of, user_of
from foliot.ports import Clock, Database, Transaction
from foliot.rows import KeyRow, UserRow
from foliot.services.desk import Desk
from foliot.services.stretches import Stretch, stretch_of

Moment = datetime | str
_KNOWN_FOR = 1.0
"""Seconds for which a key that was looked up is taken for what it was then, where another process may revoke it."""
_MOST_KNOWN = 10_000
_NOTED_EVERY = 60 * MICROSECONDS
"""That a key is used is written down so often."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may come with a key."""

    id: str
    role: Role
    disabled_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key, without what is secret of it."""

    id: str
    user: str
    name: str
    rights: tuple[Right, ...]
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    """To the minute."""
    created_at: datetime
    secret: str | None = None
    """The key itself: shown once, when it is made."""


Users = list[User]
ApiKeys = list[ApiKey]


class UserVerbs:
    """What may be asked of users. All of it is for admins, but that anybody may look at themselves."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def put(self, user: str, role: str) -> User:
        """Make the user one of that role, known or not."""
        self._desk.check(Right.ADMIN)
        wanted, role_wanted = user_of(user), role_of(role)
        if wanted == LOCAL and role_wanted is not Role.ADMIN:
            raise Conflict(f"{LOCAL!r} is who runs the service, and stays an admin: revoke its keys instead")
        if wanted == self._desk.principal.user and role_wanted is not Role.ADMIN:
            raise Conflict(f"{wanted} cannot give up being an admin: ask another admin, lest there is none left")

        def act(tx: Transaction, entries: Entries) -> User:
            known = tx.user(wanted)
            if known is None or known.role != role_wanted:
                entries.note("user.put", "user", wanted, role=role_wanted)
                tx.change_user(tx.user_ref(wanted), role_wanted, None if known is None else known.disabled_at)
            return self._shown(tx, wanted)

        return self._desk.write(act)

    def disable(self, user: str, disabled: bool = True) -> User:
        """Let none of the user's keys be taken any more, or again; what is theirs goes on."""
        self._desk.check(Right.ADMIN)
        wanted = user_of(user)
        if wanted == LOCAL:
            raise Conflict(f"{LOCAL!r} is who runs the service, and cannot be disabled: revoke its keys instead")
        if wanted == self._desk.principal.user and disabled:
            raise Conflict(f"{wanted} cannot disable themselves: ask another admin, lest there is none left")

        def act(tx: Transaction, entries: Entries) -> User:
            known = self._find(tx, wanted)
            if (known.disabled_at is not None) != disabled:
                entries.note("user.disable" if disabled else "user.enable", "user", wanted)
                tx.change_user(known.ref, known.role, tx.now if disabled else None)
            return self._shown(tx, wanted)

        return self._desk.write(act)

    def get(self, user: str) -> User:
        wanted = user_of(user)
        return self._desk.read(lambda tx: self._shown(tx, wanted))

    def list(self, *, after: str | None = None, limit: int = 100) -> Users:
        """By id, from the one after that."""
        self._desk.check(Right.ADMIN)
        limit_of(limit)
        return self._desk.read(lambda tx: [_user_view(row) for row in tx.list_users(after or "", limit)])

    def page(self, *, after: str = "", limit: int = 100) -> Stretch[User]:
        """The same, and where the rest begins."""
        self._desk.check(Right.ADMIN)
        limit_of(limit)
        return self._desk.read(
            lambda tx: stretch_of(tx.list_users(after, limit + 1), limit, _user_view, lambda row: (row.id,))
        )

    def _find(self, tx: Transaction, user: str) -> UserRow:
        row = tx.user(user)
        if row is None or not self._desk.principal.sees(user):
            raise NotFound(f"there is no user {user!r}: `users.list()` shows those that there are")
        return row

    def _shown(self, tx: Transaction, user: str) -> User:
        return _user_view(self._find(tx, user))


class KeyVerbs:
    """What may be asked of API keys: of one's own, or by admins of everybody's. A key is named by its id."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create(
        self,
        name: str,
        *,
        user: str | None = None,
        rights: str | Iterable[str] | None = None,
        expires_at: Moment | None = None,
    ) -> ApiKey:
        """A new key with these rights, or all that its user has; what is secret of it is told here and nowhere else.

        Who makes one with a key gives it no more than that key has: no other right, and no longer life.
        """
        owner, called = self._desk.user(user), name_of("name", name)
        principal = self._desk.principal
        if owner != principal.user:
            self._desk.check(Right.ADMIN)
        wanted = None if rights is None else rights_of(rights)
        asked = None if expires_at is None else instant_of(expires_at, "expires_at")
        made = key_of(chance.short(), chance.secret())

        def act(tx: Transaction, entries: Entries) -> ApiKey:
            if asked is not None and asked <= tx.now:
                raise Invalid(f"expires_at takes a moment to come, got {rfc3339(asked)}")
            ends_at = _within(asked, _life_of(tx, principal.key))
            given = self._rights(tx, owner, wanted)
            tx.insert_key(made.id, tx.user_ref(owner), called, made.digest, json.dumps(sorted(given)), ends_at)
            found = tx.key(made.id)
            assert found is not None, "it was just inserted"
            shown = _key_view(found[0], made.text)
            details = {"user": owner, "name": called, "rights": shown.rights, "made_with": principal.key}
            entries.note("key.create", "key", made.id, **details)
            return shown

        return self._desk.write(act)

    def _rights(self, tx: Transaction, owner: str, wanted: frozenset[Right] | None) -> frozenset[Right]:
        """Those that are asked for, if its owner has them; or whatever its owner has, now and in another role.

        Of one's own no more than one has here.
        """
        principal, known = self._desk.principal, tx.user(owner)
        if owner != principal.user and known is None:
            raise NotFound(f"there is no user {owner!r}: make them known first, with their role")
        is_own = owner == principal.user
        most = principal.rights if is_own or known is None else RIGHTS[_role_of_user(owner, known.role)]
        if wanted is not None and not wanted <= most:
            lacking = ", ".join(sorted(wanted - most))
            who = "the key that it is made with" if is_own and principal.key is not None else "its owner"
            raise Invalid(f"a key of {owner} cannot have the right to {lacking}: {who} has it not")
        if wanted is None:
            return most if is_own else frozenset(Right)
        return wanted

    def adopt(self, name: str, text: str) -> ApiKey:
        """Let a key that was made elsewhere open whatever the caller may do; once is enough."""
        if not is_key(text):
            raise Invalid(f"{name} is no API key: one is fol_, 12 digits of 0-9a-f, _, and 43 of A-Za-z0-9_-")
        principal, (_, called, _) = self._desk.principal, text.split("_", 2)

        def act(tx: Transaction, entries: Entries) -> ApiKey:
            known = tx.key_by_digest(key_digest(text))
            if known is None:
                if tx.key(called) is not None:
                    raise Conflict(f"{name} is called {called}, as another key is: make one of another name")
                rights = sorted(principal.rights)
                tx.insert_key(called, tx.user_ref(principal.user), name, key_digest(text), json.dumps(rights), None)
                entries.note("key.create", "key", called, user=principal.user, name=name, rights=rights)
            elif known[0].revoked_at is not None:
                raise Conflict(f"{name} was revoked, and stays so: make another")
            return _key_view(self._find(tx, called))

        return self._desk.write(act)

    def get(self, key: str) -> ApiKey:
        return self._desk.read(lambda tx: _key_view(self._find(tx, key)))

    def list(self, user: str | None = None) -> ApiKeys:
        """The keys of that user, or all that the caller sees, the oldest first."""
        owner = self._desk.principal.seen_owner if user is None else self._desk.user(user)
        return self._desk.read(lambda tx: [_key_view(row) for row in tx.list_keys(owner)])

    def page(self, user: str | None = None, *, after: int = 0, limit: int = 100) -> Stretch[ApiKey]:
        """The same from the one after that, by number, and where the rest begins."""
        owner = self._desk.principal.seen_owner if user is None else self._desk.user(user)
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[ApiKey]:
            found = tx.keys_after(owner, after, limit + 1)
            return stretch_of(found, limit, lambda row: _key_view(row[1]), lambda row: (row[0],))

        return self._desk.read(act)

    def revoke(self, key: str) -> ApiKey:
        """Let it open nothing any more; once is enough."""

        def act(tx: Transaction, entries: Entries) -> ApiKey:
            found = self._find(tx, key)
            if found.user != self._desk.principal.user:
                self._desk.check(Right.ADMIN)
            if found.revoked_at is None:
                entries.note("key.revoke", "key", key)
                tx.revoke_key(key)
            return _key_view(self._find(tx, key))

        return self._desk.write(act)

    def _find(self, tx: Transaction, key: str) -> KeyRow:
        found = tx.key(name_of("a key", key))
        if found is None or not self._desk.principal.sees(found[0].user):
            raise NotFound(f"there is no key {key!r}: `keys.list()` shows those that there are")
        return found[0]


def _life_of(tx: Transaction, key: str | None) -> int | None:
    """Until when the key is valid that somebody comes with; None: for ever, or there is none."""
    found = None if key is None else tx.key(key)
    return None if found is None else found[0].expires_at


def _within(asked: int | None, life: int | None) -> int | None:
    """When a new key ends that is to end then, made by somebody whose own ends at the other."""
    if life is None or (asked is not None and asked <= life):
        return asked
    if asked is not None:
        raise Invalid(f"expires_at takes a moment until {rfc3339(life)}, when the key ends that this one is made with")
    return life


class _KnownKey(NamedTuple):
    """A key as it was found: after which change of keys, and when."""

    forgotten: int
    at: float
    row: KeyRow
    principal: Principal | None
    noted_at: int
    """When it was last tried to write down that it is used."""


class Doorkeeper:
    """Knows who comes with which key."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, _KnownKey] = {}
        """By digest; the one that was looked up longest ago comes first."""
        self._forgotten = 0
        """How often: what was looked up before is not taken for what it is after."""
        self._knowing = Lock()

    def known(self, text: str) -> Callable[[], Principal | None] | Principal | None:
        """Who comes with that key; None: nobody who may. A function, where that has to be looked up."""
        if not is_key(text):
            return None
        digest = key_digest(text)
        known = self._known.get(digest)
        if known is None or known.forgotten != self._forgotten or self._clock.steady() - known.at >= _KNOWN_FOR:
            return lambda: self._look_up(digest)
        if known.row.expires_at is not None and self._clock.now() >= known.row.expires_at:
            return None
        return known.principal

    def has_met(self, text: str) -> bool:
        """Whether somebody came with that key before, and there was one: nobody who guesses has such a one."""
        return key_digest(text) in self._known

    def identify(self, text: str) -> Principal | None:
        found = self.known(text)
        return found() if callable(found) and not isinstance(found, Principal) else found

    def is_expected(self) -> bool:
        """Whether anybody has a key that opens something."""

        def act(tx: Transaction) -> bool:
            keys = [key for key in tx.list_keys(None) if key.revoked_at is None]
            return any(key.expires_at is None or key.expires_at > tx.now for key in keys)

        return self._database.read(act)

    def forget(self) -> None:
        """Keys or roles were changed here: look everything up again."""
        with self._knowing:
            self._forgotten += 1

    def _look_up(self, digest: str) -> Principal | None:
        forgotten = self._forgotten
        found, now = self._database.read(lambda tx: (tx.key_by_digest(digest), tx.now))
        if found is None:
            return None
        row, disabled_at = found
        is_over = row.revoked_at is not None or (row.expires_at is not None and now >= row.expires_at)
        is_open = not is_over and disabled_at is None
        principal = _comes_as(row) if is_open else None
        with self._knowing:
            before = self._known.pop(digest, None)
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            noted_at = max(row.used_at or 0, 0 if before is None else before.noted_at)
            is_to_be_noted = principal is not None and now - noted_at >= _NOTED_EVERY
            noted_at = now if is_to_be_noted else noted_at
            self._known[digest] = _KnownKey(forgotten, self._clock.steady(), row, principal, noted_at)
        if is_to_be_noted:
            with suppress(Unavailable):
                # Who only reads is let in while nothing can be written, and does not wait for it each time.
                self._database.write(lambda tx: tx.note_key_used(row.id))
        return principal


def _role_of_user(user: str, role: str) -> Role:
    return LOCAL_PRINCIPAL.role if user == LOCAL else Role(role)


def _user_view(row: UserRow) -> User:
    disabled_at = None if row.disabled_at is None else moment_of(row.disabled_at)
    return User(row.id, _role_of_user(row.id, row.role), disabled_at, moment_of(row.created_at))


def _comes_as(row: KeyRow) -> Principal:
    """Who has that key, with the rights that it opens: of its own those that the role has too."""
    return principal_of(row.user, _role_of_user(row.user, row.role), map(Right, json.loads(row.rights)), row.id)


def _key_view(row: KeyRow, secret: str | None = None) -> ApiKey:
    def moment(instant: int | None) -> datetime | None:
        return None if instant is None else moment_of(instant)

    return ApiKey(
        id=row.id,
        user=row.user,
        name=row.name,
        rights=tuple(sorted(_comes_as(row).rights)),
        expires_at=moment(row.expires_at),
        revoked_at=moment(row.revoked_at),
        used_at=moment(row.used_at),
        created_at=moment_of(row.created_at),
        secret=secret,
    )
