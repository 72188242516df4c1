"""Access: who somebody is, and what they may do with what is whose."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.errors import Denied, Invalid
from foliot.domain.grants import LOCAL


class Role(StrEnum):
    """What a user is to the service."""

    ADMIN = "admin"
    """Sees and does everything, of everybody."""
    MEMBER = "member"
    """Sees and does everything with what is their own."""
    VIEWER = "viewer"
    """Sees what is their own."""


class Right(StrEnum):
    """What a request needs; an API key may have fewer of them than its user."""

    READ = "read"
    WRITE = "write"
    """Create, change, start, stop and delete."""
    DECIDE = "decide"
    """Answer runs that wait for a person."""
    ADMIN = "admin"
    """Users, keys of others, payments, the trail."""


_DEEDS = {
    Right.READ: "look at anything",
    Right.WRITE: "change anything",
    Right.DECIDE: "answer what waits for a person",
    Right.ADMIN: "do what is for admins",
}
RIGHTS = {
    Role.ADMIN: frozenset(Right),
    Role.MEMBER: frozenset({Right.READ, Right.WRITE, Right.DECIDE}),
    Role.VIEWER: frozenset({Right.READ}),
}


class Principal(NamedTuple):
    """Somebody who asks for something."""

    user: str
    role: Role
    rights: frozenset[Right]
    key: str | None = None
    """The id of the API key that they came with."""

    def may(self, right: Right) -> bool:
        return right in self.rights

    def sees(self, owner: str) -> bool:
        """Whether what is that user's is there at all for them: what is not looks as if it were missing."""
        return self.role is Role.ADMIN or owner == self.user

    @property
    def seen_owner(self) -> str | None:
        """Whose things they see; None: everybody's."""
        return None if self.role is Role.ADMIN else self.user


def may_answer(principal: Principal, owner: str, who: Collection[str]) -> bool:
    """Whether they may answer what a run of that owner's asks: those whom it names, else who sees it."""
    return principal.user in who if who else principal.sees(owner)


LOCAL_PRINCIPAL = Principal(LOCAL, Role.ADMIN, RIGHTS[Role.ADMIN])
"""Who works with the program itself, without a network: the one who runs it."""


def principal_of(user: str, role: Role, wanted: Iterable[Right], key: str | None = None) -> Principal:
    """The user with those of the wanted rights that their role has."""
    return Principal(user, role, RIGHTS[role] & frozenset(wanted), key)


def check_right(principal: Principal, right: Right) -> None:
    """Denied, with what is missing and who can help, unless they have it."""
    if not principal.may(right):
        who = f"the key {principal.key} of {principal.user}" if principal.key else principal.user
        raise Denied(f"{who} may not {_DEEDS[right]}: ask an admin for a key or a role with the right '{right}'")


def role_of(role: object) -> Role:
    if not isinstance(role, str) or role not in list(Role):
        raise Invalid(f"a role is {', '.join(map(repr, map(str, Role)))}, got {role!r}")
    return Role(role)


def rights_of(rights: object) -> frozenset[Right]:
    """The rights of a key; Invalid unless they are some of the list."""
    given = [rights] if isinstance(rights, str) else rights
    words = ", ".join(map(repr, map(str, Right)))
    if not isinstance(given, Iterable):
        raise Invalid(f"a key takes the rights {words}, got {rights!r}")
    listed = list(given)
    if not listed or not all(isinstance(right, str) and right in list(Right) for right in listed):
        raise Invalid(f"a key takes one or more of the rights {words}, got {rights!r}")
    return frozenset(map(Right, listed))
