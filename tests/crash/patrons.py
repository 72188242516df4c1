"""Patrons: by the clock, which all processes read alike, they pay, revoke what they permitted, and permit it again."""

import time
from contextlib import suppress

from foliot import Foliot
from foliot.domain.errors import Refusal
from foliot.domain.grants import LOCAL
from tests.crash.doom import as_verb
from tests.crash.evidence import Key, Pen
from tests.crash.plan import COST, FIRST_PAYMENT, PAYMENT, SEASON, Planned

_PAID_RUNS = 5
"""A payment is for so many runs: it does not last until the next."""


class Patrons:
    """Whoever lives goes on where the dead have left off."""

    def __init__(self, app: Foliot, plan: tuple[Planned, ...], pen: Pen) -> None:
        self._schedules, self._grants, self._accounts = (
            app.parts.verbs.schedules,
            app.parts.verbs.grants,
            app.parts.verbs.accounts,
        )
        self._pen = pen
        self._revoked = [planned.name for planned in plan if planned.is_revoked]
        self._is_needed = any(planned.model is not None for planned in plan)

    def open_an_account(self) -> None:
        """Before anything is declared that must be paid for. However often it is done, it is done once."""
        if self._is_needed:
            with suppress(Refusal):
                self._accounts.top_up(LOCAL, COST * _PAID_RUNS, FIRST_PAYMENT)
                self._accounts.limit(LOCAL, limited=True)

    def act(self) -> None:
        season = int(time.time() // SEASON)
        if self._is_needed:
            with as_verb("pay"):
                self._accounts.top_up(LOCAL, COST * _PAID_RUNS, f"{PAYMENT} {season}")
        for name in self._revoked:
            (self._revoke if season % 2 else self._permit)(name)

    def _revoke(self, name: str) -> None:
        grant = self._grants.get(self._schedules.get(name).grant)
        if grant.revoked_at is None:
            if grant.user == LOCAL:
                self._hand_over(name)
                grant = self._grants.get(self._schedules.get(name).grant)
            self._note("revoking", name)
            with as_verb("revoke"):
                self._grants.revoke(grant.id)
            self._note("revoked", name)

    def _permit(self, name: str) -> None:
        grant = self._grants.get(self._schedules.get(name).grant)
        if grant.revoked_at is not None:
            self._hand_over(name)

    def _hand_over(self, name: str) -> None:
        with as_verb("permit"):
            grant = self._grants.create("graph:execute:python:*", user="ann").id
        self._note("permitting", name)
        with as_verb("replace"):
            self._schedules.patch(name, grant=grant)
        self._note("permitted", name)

    def _note(self, what: str, name: str) -> None:
        self._pen.note(what, [Key(name, "grant", 0, 1)])
