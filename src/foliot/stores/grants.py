"""Users, their accounts, and what they permit."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from foliot.domain.budgets import read_budget, stored_budget
from foliot.domain.grants import Grant, stored_scopes
from foliot.rows import GrantRow
from foliot.stores.dialect import InsertMany, Row
from foliot.stores.part import Part

_INSERT = InsertMany("grants", "ref user_ref account_ref scopes:text expires_at budget:text is_shared created_at")
_SELECT = (
    "SELECT g.ref, u.id, g.account_ref, g.scopes, g.expires_at, g.revoked_at, g.budget, g.is_shared, g.created_at"
    " FROM grants g JOIN users u ON u.ref = g.user_ref"
)


class Grants(Part):
    def grants(self, refs: Iterable[int]) -> list[GrantRow]:
        """Those of these that there are."""
        return self._grants(f"{_SELECT} WHERE {self.dialect.any_of('g.ref')}", self.dialect.list_of(refs))

    def list_grants(self, user: str | None) -> list[GrantRow]:
        """The grants of that user, or everybody's, the oldest first."""
        if user is None:
            return self._grants(f"{_SELECT} ORDER BY g.ref")
        return self._grants(f"{_SELECT} WHERE u.id = ? ORDER BY g.ref", user)

    def grants_after(self, user: str | None, after: int, limit: int) -> list[GrantRow]:
        """The same from the key after that, so many at most."""
        if user is None:
            return self._grants(f"{_SELECT} WHERE g.ref > ? ORDER BY g.ref LIMIT ?", after, limit)
        text = f"{_SELECT} WHERE g.user_ref = (SELECT ref FROM users WHERE id = ?) AND g.ref > ? ORDER BY g.ref LIMIT ?"
        return self._grants(text, user, after, limit)

    def _grants(self, text: str, *values: Any) -> list[GrantRow]:
        return [GrantRow(_grant(*row[:7]), *row[7:]) for row in self._all(text, *values)]

    def new_grant_refs(self, count: int) -> Sequence[int]:
        """Keys for that many grants to be inserted in this transaction."""
        return self.dialect.new_keys(self.cursor, "grants", count)

    def insert_grants(self, rows: Sequence[Row]) -> None:
        self.dialect.insert(self.cursor, _INSERT, rows)

    def revoke(self, refs: Iterable[int]) -> None:
        """Nothing starts under these any more; those that were revoked before stay so since then."""
        text = f"UPDATE grants SET revoked_at = ? WHERE {self.dialect.any_of('ref')} AND revoked_at IS NULL"
        self._do(text, self.now, self.dialect.list_of(refs))
        self._tell("grants")

    def change_grant(self, grant: Grant) -> None:
        """Make its scopes, end and budget what they are said to be."""
        text = "UPDATE grants SET scopes = ?, expires_at = ?, budget = ? WHERE ref = ?"
        self._do(text, stored_scopes(grant.scopes), grant.expires_at, stored_budget(grant.budget), grant.ref)
        self._tell("grants")

    def user_ref(self, user: str) -> int:
        """The user of that id, known from now on."""
        made = ("INSERT INTO users (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING", user, self.now)
        return self._found_or_made(("SELECT ref FROM users WHERE id = ?", user), made)

    def default_account(self, user_ref: int, *, is_limited: bool) -> int:
        """The account that a user's runs are charged to, opened when there was none."""
        text = (
            "INSERT INTO accounts (user_ref, is_default, is_limited, created_at) VALUES (?, 1, ?, ?)"
            " ON CONFLICT DO NOTHING"
        )
        asked = ("SELECT ref FROM accounts WHERE user_ref = ? AND is_default = 1", user_ref)
        return self._found_or_made(asked, (text, user_ref, 1 if is_limited else 0, self.now))

    def _found_or_made(self, asked: tuple[Any, ...], made: tuple[Any, ...]) -> int:
        """What is asked for by the one statement, once the other was carried out if there was none."""
        rows = self._all(*asked)
        if not rows:
            self._do(*made)
            rows = self._all(*asked)
        return int(rows[0][0])

    def waiting_under(self, grant_ref: int) -> list[int]:
        """The schedules with runs that wait for an answer, and began or would go on by that permission."""
        text = (
            "SELECT DISTINCT runs.schedule_ref FROM runs JOIN schedules ON schedules.ref = runs.schedule_ref"
            " WHERE runs.status = 'waiting' AND (schedules.grant_ref = ? OR runs.grant_ref = ?)"
        )
        return [int(row[0]) for row in self._all(text, grant_ref, grant_ref)]

    def running_under(self, grant_ref: int) -> list[int]:
        """The runs that are under way by that permission."""
        text = "SELECT ref FROM runs WHERE status = 'running' AND grant_ref = ?"
        return [int(row[0]) for row in self._all(text, grant_ref)]


def _grant(
    ref: int,
    user: str,
    account: int,
    scopes: str,
    expires_at: int | None,
    revoked_at: int | None,
    budget: str | None,
) -> Grant:
    allowed = None if budget is None else read_budget(json.loads(budget))
    return Grant(ref, user, account, frozenset(json.loads(scopes)), expires_at, revoked_at, allowed)
