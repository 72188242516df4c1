"""Users and the keys that they come with over the network."""

from typing import Any

from foliot.rows import KeyRow, UserRow
from foliot.stores.part import Part

_USER = ", ".join(UserRow._fields)
_OF_USERS = {"user": "u.id", "role": "u.role"}
_KEY = ", ".join(_OF_USERS.get(name, f"k.{name}") for name in KeyRow._fields)
_SELECT_KEY = f"SELECT {_KEY}, u.disabled_at FROM api_keys k JOIN users u ON u.ref = k.user_ref"


class Users(Part):
    def user(self, user: str) -> UserRow | None:
        rows = self._all(f"SELECT {_USER} FROM users WHERE id = ?", user)
        return UserRow(*rows[0]) if rows else None

    def list_users(self, after: str, limit: int) -> list[UserRow]:
        """By id, from the one after that."""
        return [
            UserRow(*row)
            for row in self._all(f"SELECT {_USER} FROM users WHERE id > ? ORDER BY id LIMIT ?", after, limit)
        ]

    def change_user(self, user_ref: int, role: str, disabled_at: int | None) -> None:
        self._do("UPDATE users SET role = ?, disabled_at = ? WHERE ref = ?", role, disabled_at, user_ref)
        self._tell("keys")

    def insert_key(
        self, key_id: str, user_ref: int, name: str, digest: str, rights: str, expires_at: int | None
    ) -> None:
        text = (
            "INSERT INTO api_keys (id, user_ref, name, digest, rights, expires_at, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        self._do(text, key_id, user_ref, name, digest, rights, expires_at, self.now)

    def key(self, key_id: str) -> tuple[KeyRow, int | None] | None:
        """The key of that id, and since when its user is disabled."""
        return self._one_key("k.id = ?", key_id)

    def key_by_digest(self, digest: str) -> tuple[KeyRow, int | None] | None:
        return self._one_key("k.digest = ?", digest)

    def _one_key(self, condition: str, value: Any) -> tuple[KeyRow, int | None] | None:
        rows = self._all(f"{_SELECT_KEY} WHERE {condition}", value)
        return (KeyRow(*rows[0][:-1]), rows[0][-1]) if rows else None

    def list_keys(self, user: str | None) -> list[KeyRow]:
        """The keys of that user, or everybody's, the oldest first."""
        condition, values = ("WHERE u.id = ? ", [user]) if user is not None else ("", [])
        return [KeyRow(*row[:-1]) for row in self._all(f"{_SELECT_KEY} {condition}ORDER BY k.ref", *values)]

    def keys_after(self, user: str | None, after: int, limit: int) -> list[tuple[int, KeyRow]]:
        """The same with their numbers, from the one after that."""
        condition, values = ("AND u.id = ? ", [user]) if user is not None else ("", [])
        text = f"SELECT k.ref, {_KEY} FROM api_keys k JOIN users u ON u.ref = k.user_ref"
        rows = self._all(f"{text} WHERE k.ref > ? {condition}ORDER BY k.ref LIMIT ?", after, *values, limit)
        return [(row[0], KeyRow(*row[1:])) for row in rows]

    def revoke_key(self, key_id: str) -> None:
        self._do("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", self.now, key_id)
        self._tell("keys")

    def note_key_used(self, key_id: str) -> None:
        self._do("UPDATE api_keys SET used_at = ? WHERE id = ?", self.now, key_id)

    def keys_changed(self) -> int:
        """The number of changes to keys and roles."""
        rows = self._all("SELECT number FROM revisions WHERE name = 'keys'")
        return int(rows[0][0]) if rows else 0
