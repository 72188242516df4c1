"""Who asks: users of every role with keys of their own."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from httpx2 import Response
from starlette.routing import Match
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.http.openapi import document

ROLES = {"root": "admin", "ann": "member", "bob": "member", "eve": "viewer"}


_DEFECT = 500
"""Which no route declares."""
Declared = dict[tuple[str, str], set[int]]


def asking(http: FastAPI) -> TestClient:
    """Somebody who asks, and takes no answer that OpenAPI does not say a route may give."""
    client = TestClient(http, raise_server_exceptions=False)
    client.event_hooks["response"].append(lambda answer: _check_declared(http, answer))
    return client


def _check_declared(http: FastAPI, answer: Response) -> None:
    method, path = answer.request.method, answer.request.url.path
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path}
    for route in http.routes:
        if isinstance(route, APIRoute) and route.matches(scope)[0] is Match.FULL:
            statuses = _declared(http).get((route.path_format, method))
            is_fine = statuses is None or answer.status_code in {_DEFECT, *statuses}
            assert is_fine, f"OpenAPI does not say that {method} {route.path_format} answers {answer.status_code}"
            return


_KNOWN: Declared = {}
"""Of all routes: the same, whatever program they are about."""


def _declared(http: FastAPI) -> Declared:
    if not _KNOWN:
        for path, operations in document(http)["paths"].items():
            for method, operation in operations.items():
                _KNOWN[path, method.upper()] = {*map(int, operation["responses"])}
    return _KNOWN


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
