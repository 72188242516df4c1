"""Who asks: users of every role with keys of their own."""

from collections.abc import Callable

from starlette.testclient import TestClient

from foliot import Foliot

ROLES = {"root": "admin", "ann": "member", "bob": "member", "eve": "viewer"}


class People:
    """Users are made when they are first asked for; `nobody` has no key."""

    def __init__(self, program: Foliot, client: Callable[[], TestClient]) -> None:
        self.program = program
        self._client = client
        self._clients: dict[str, TestClient] = {}

    def client(self, user: str) -> TestClient:
        if user not in self._clients:
            self._clients[user] = self._client()
            if user != "nobody":
                verbs = self.program.parts.verbs
                verbs.users.put(user, ROLES[user])
                key = verbs.keys.create("test", user=user).secret
                self._clients[user].headers["Authorization"] = f"Bearer {key}"
        return self._clients[user]

    def someone(self) -> TestClient:
        """Somebody without a key."""
        return self._client()

    def __getattr__(self, user: str) -> TestClient:
        return self.client(user)
