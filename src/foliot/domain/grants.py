"""Grants: who may have which targets executed, on whose account and until when.

Scopes are written and read here, and nowhere else.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from foliot.domain.budgets import Budget
from foliot.domain.errors import Denied, Invalid
from foliot.domain.policies import switch_of
from foliot.domain.runs import Reason
from foliot.domain.schedule import target_of

_EXECUTE = "graph:execute:"
_ANY = "*"
_NAMED = "grant-"
_MOST_DIGITS = 18
EVERYTHING = _EXECUTE + _ANY
"""Every target there is or will be: given only with consent that says so."""

LOCAL = "local"
"""The user of a program that knows no users, and the grant that its schedules have."""

REFUSALS = frozenset({Reason.GRANT_NOT_FOUND, Reason.GRANT_REVOKED, Reason.GRANT_EXPIRED, Reason.GRANT_SCOPE})
"""Why a run is not permitted."""
_NOTED = REFUSALS | {Reason.OVER_BUDGET}
"""Refused or without a budget: what somebody must look at when it goes on, since no slot to come may start."""
REFUSALS_UNTIL_ATTENTION = 3
"""A schedule that was refused so often in a row needs somebody's attention."""


class NotPermitted(Denied):
    """What a grant, or its budget, does not allow; the reason is one that a run would be skipped for."""

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason


class Grant(NamedTuple):
    """A permission that outlives sessions: it can be revoked, and may end by itself."""

    ref: int
    user: str
    account: int
    scopes: frozenset[str]
    expires_at: int | None = None
    revoked_at: int | None = None
    budget: Budget | None = None

    @property
    def id(self) -> str:
        return grant_id(self.ref)


def grant_id(ref: int) -> str:
    return f"{_NAMED}{ref}"


def read_grant_id(text: str) -> int:
    """The key of the grant of that id; Invalid when it is none."""
    number = text.removeprefix(_NAMED) if isinstance(text, str) else ""
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    if not is_number or number != str(int(number)):
        raise Invalid(f"a grant's id is {_NAMED} and a number, such as '{_NAMED}7', got {text!r:.100}")
    return int(number)


def scope_of(target: str) -> str:
    """Permission to execute exactly this target."""
    return _EXECUTE + target_of(target)


def scopes_of(scopes: Iterable[str], *, consents_to_everything: bool = False) -> frozenset[str]:
    """The scopes of a grant that is about to be made; Invalid when one is none, or wider than was consented to."""
    consents = switch_of("everything", consents_to_everything)
    wanted = [scopes] if isinstance(scopes, str) or not isinstance(scopes, Iterable) else list(scopes)
    if not wanted:
        raise Invalid(f"a grant takes at least one scope, such as {scope_of('python:digest')!r}")
    for scope in wanted:
        if not isinstance(scope, str) or not scope.startswith(_EXECUTE):
            raise Invalid(
                f"a scope is {_EXECUTE}provider:name, {_EXECUTE}provider:* or {EVERYTHING}, got {scope!r:.100}"
            )
        if scope == EVERYTHING and not consents:
            raise Invalid(
                f"{EVERYTHING!r} permits every target there will ever be: say `everything` besides, or name targets"
            )
        if scope != EVERYTHING:
            _check_narrow(scope)
    return frozenset(wanted)


def _check_narrow(scope: str) -> None:
    """Invalid unless it names one target, or all of one provider."""
    provider, _, name = scope.removeprefix(_EXECUTE).partition(":")
    if _ANY in provider or (_ANY in name and name != _ANY):
        raise Invalid(
            f"{_ANY} stands for all targets of a provider, {_EXECUTE}provider:{_ANY}, or for everything, {EVERYTHING},"
            f" and is never a part of a name, got {scope[:100]!r}"
        )
    target_of(f"{provider}:any" if name == _ANY else f"{provider}:{name}")


def stored_scopes(scopes: Iterable[str]) -> str:
    return json.dumps(sorted(scopes), separators=(",", ":"))


def covers(scopes: frozenset[str], target: str) -> bool:
    """Whether the target may be executed. A target's name may have colons itself: whole texts are compared."""
    provider = target.partition(":")[0]
    return not scopes.isdisjoint((_EXECUTE + target, f"{_EXECUTE}{provider}:{_ANY}", EVERYTHING))


def permits_everything(grant: Grant, now: int) -> bool:
    return EVERYTHING in grant.scopes and refusal_of(grant, "any:target", now) is None


def refusals_after(before: int, reasons: Iterable[Reason], has_started: bool) -> int:
    """How often in a row a schedule was refused, once these runs were skipped for these reasons or one has started."""
    refused = sum(reason in _NOTED for reason in reasons)
    return refused if has_started else before + refused


def refusal_of(grant: Grant | None, target: str, now: int) -> Reason | None:
    """Why a run of the target may not start under this grant; None when it may."""
    if grant is None:
        return Reason.GRANT_NOT_FOUND
    if grant.revoked_at is not None:
        return Reason.GRANT_REVOKED
    if grant.expires_at is not None and grant.expires_at <= now:
        return Reason.GRANT_EXPIRED
    return None if covers(grant.scopes, target) else Reason.GRANT_SCOPE
