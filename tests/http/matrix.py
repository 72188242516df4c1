"""The authorisation matrix: every operation of the OpenAPI, asked for by everybody, about their own things and others'.

What must be answered follows from the right that the OpenAPI says an operation needs. One that has no row in
`matrix_rows` is a problem like any other.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from starlette.testclient import TestClient

from foliot.domain.access import RIGHTS, Right, Role
from foliot.domain.instants import MICROSECONDS
from foliot.domain.keys import key_of
from foliot.domain.pace import Pace
from foliot.domain.signing import SIGNATURE_HEADER, signature_of
from foliot.http.asking import SERVICE, SIGNED
from foliot.http.openapi import document
from foliot.testing import World
from tests.http.belongings import Belongings, Make, a_world
from tests.http.matrix_rows import ROWS, THINGS, Thing
from tests.http.service_clients import BY_SECRET, DECISION_SECRET, SECRET

STRANGER = "bob"
"""Whose things are foreign to everybody but admins, and in no answer that others get."""
ADMINS = "root"


class Principal(NamedTuple):
    """Somebody who asks."""

    user: str = "ann"
    """Whose things are their own."""
    bearer: str | None = None
    rights: frozenset[Right] | None = None
    """None: no API key that opens anything."""
    signs_with: str | None = None
    is_service: bool = False

    def status(self, needed: str) -> int | None:
        """How they are refused for what needs that; None when they are not."""
        right, _, or_service = needed.partition(" or ")
        if needed == SIGNED:
            return None if self.signs_with == DECISION_SECRET else 401
        if self.is_service and SERVICE in (right, or_service):
            return None
        if self.rights is None or right == SERVICE:
            return 401
        return None if Right(right) in self.rights else 403

    @property
    def sees_all(self) -> bool:
        return self.user == ADMINS or self.is_service or self.signs_with == DECISION_SECRET


USERS = {
    "ann": "member",
    STRANGER: "member",
    "eve": "viewer",
    ADMINS: "admin",
    "gone": "admin",
}


def _principals(world: World) -> dict[str, Principal]:
    verbs = world.app.parts.verbs
    for user, role in USERS.items():
        verbs.users.put(user, role)

    def key(user: str, **options: Any) -> str:
        return verbs.keys.create("test", user=user, **options).secret or ""

    revoked = verbs.keys.create("revoked", user=ADMINS)
    found = {
        "nobody": Principal(),
        "an unknown key": Principal(bearer=key_of("0" * 12, "x" * 43).text),
        "an expired key": Principal(bearer=key(ADMINS, expires_at="2026-11-15T12:01:00Z")),
        "a revoked key": Principal(bearer=revoked.secret),
        "a disabled user": Principal(bearer=key("gone")),
        "a viewer": Principal("eve", key("eve"), RIGHTS[Role.VIEWER]),
        "a member": Principal("ann", key("ann"), RIGHTS[Role.MEMBER]),
        "a member's key that reads": Principal("ann", key("ann", rights=["read"]), frozenset({Right.READ})),
        "an admin's key that reads": Principal(ADMINS, key(ADMINS, rights=["read"]), frozenset({Right.READ})),
        "an admin": Principal(ADMINS, key(ADMINS), RIGHTS[Role.ADMIN]),
        "a service": Principal(bearer=SECRET, is_service=True),
        "a wrong secret": Principal(bearer=SECRET[:-1] + "x"),
        "a signer": Principal(signs_with=DECISION_SECRET),
        "a wrong signature": Principal(signs_with=DECISION_SECRET + "x"),
    }
    verbs.keys.revoke(revoked.id)
    verbs.users.disable("gone")
    world.advance(minutes=2)
    return found


class Matrix:
    """All that is asked, and what was wrong with the answers."""

    def __init__(self, world: World, client: TestClient) -> None:
        self._world = world
        self._client = client
        self._belongings = Belongings(world, client)
        self._principals = _principals(world)
        self._kept: dict[tuple[Make, str], str] = {}
        self._number = 0
        said = document(client.app)  # type: ignore[arg-type]
        self.operations = {
            f"{method.upper()} {path}": str(operation.get("x-right"))
            for path, methods in said["paths"].items()
            for method, operation in methods.items()
        }
        self._answered: dict[str, tuple[str, bool]] = {}
        """What was asked for, and whether with success, by the request's id."""
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    @property
    def principals(self) -> int:
        return len(self._principals)

    def run(self) -> None:
        """Ask for everything."""
        self.problems += unmatched(self.operations)
        for name in ROWS:
            if _operation(name) in self.operations:
                for who, principal in self._principals.items():
                    self._ask_all(name, who, principal)
        self._check_trail()

    def _check_trail(self) -> None:
        """Who changed something is in the trail with the request that did it, and who did not is not."""
        deeds = self._world.app.parts.database.read(lambda tx: tx.newest_deeds(100_000, None, None, None))
        told = {deed.request_id for deed in deeds}
        for request_id, (name, is_success) in self._answered.items():
            if (request_id in told) != (is_success and self._changes(name)):
                self.problems.append(f"{name}: {'in' if request_id in told else 'not in'} the trail, as {request_id}")

    def _changes(self, name: str) -> bool:
        is_read = name.startswith("GET ") or self.operations[_operation(name)] == Right.READ
        return not is_read and not ROWS[name].is_silent

    def _ask_all(self, name: str, who: str, principal: Principal) -> None:
        refused = principal.status(self.operations[_operation(name)])
        self.counts["refused" if refused is not None else "by right"] += 1
        has_things = bool(self._things(name))
        places = ("own", "foreign", "missing") if has_things else ("own",)
        if refused is not None:
            answers = {place: self._ask(name, principal, self._kept_for(name, place, "ann")) for place in places}
            bodies = {_shape(answer, {}) for answer in answers.values()}
            if {answer.status_code for answer in answers.values()} != {refused} or len(bodies) != 1:
                self._note(name, who, f"not refused by {refused} in one way", answers)
            return
        self._ask_by_right(name, who, principal, has_things)

    def _ask_by_right(self, name: str, who: str, principal: Principal, has_things: bool) -> None:
        row = ROWS[name]
        own = self._ask(name, principal, self._made(name, principal.user))
        self._check_own(name, who, principal, own)
        if not has_things:
            return
        missing_things = {key: thing.missing for key, thing in self._things(name).items()}
        missing = self._ask(name, principal, missing_things)
        if missing.is_success:
            # Whether that has changed anything is its own affair.
            del self._answered[missing.headers["x-request-id"]]
        if principal.sees_all:
            foreign = self._ask(name, principal, self._made(name, STRANGER))
            self._check_own(name, f"{who}, of others", principal, foreign)
            if row.makes != missing.is_success and not self._is_anybodys(name):
                self._note(name, who, "what is missing", {"missing": missing})
            return
        foreign_things = self._kept_for(name, "foreign", STRANGER)
        foreign = self._ask(name, principal, foreign_things)
        if missing.status_code != row.missing or _shape(foreign, foreign_things) != _shape(missing, missing_things):
            self._note(name, who, "a foreign one is not as a missing one", {"foreign": foreign, "missing": missing})

    def _check_own(self, name: str, who: str, principal: Principal, answer: Any) -> None:
        wanted = ROWS[name].own
        if answer.status_code != wanted if wanted else not answer.is_success:
            self._note(name, who, "not answered as by right", {"own": answer})
        if not principal.sees_all and STRANGER in answer.text:
            self._note(name, who, f"told of what is {STRANGER}'s", {"own": answer})

    def _is_anybodys(self, name: str) -> bool:
        return not any(thing.is_owned for thing in self._things(name).values())

    def _ask(self, name: str, principal: Principal, things: dict[str, str]) -> Any:
        row, (method, path) = ROWS[name], _operation(name).split(" ")
        self._number += 1
        self.counts["requests"] += 1
        words = {**things, "#": str(self._number), "who": principal.user.upper()}
        headers = {key: _filled(value, words) for key, value in row.headers.items()}
        content = b"" if row.body is None else _filled(json.dumps(row.body), words).encode()
        if content:
            headers["Content-Type"] = "application/json"
        if principal.bearer is not None:
            headers["Authorization"] = f"Bearer {principal.bearer}"
        if principal.signs_with is not None:
            now = self._world.app.parts.clock.now() // MICROSECONDS
            headers[SIGNATURE_HEADER] = signature_of(content, principal.signs_with, now)
        query = {key: _filled(value, words) for key, value in row.query.items()}
        answer = self._client.request(method, _filled(path, words), params=query, headers=headers, content=content)
        self._answered[answer.headers["x-request-id"]] = name, answer.is_success
        return answer

    def _things(self, name: str) -> dict[str, Thing]:
        """What the row or the path names."""
        named = [part[1:-1] for part in _operation(name).split("/") if part.startswith("{")]
        return {**{key: THINGS[key] for key in named}, **ROWS[name].things}

    def _made(self, name: str, owner: str) -> dict[str, str]:
        if not name.startswith("GET "):
            return {key: thing.made(self._belongings, owner) for key, thing in self._things(name).items()}
        return self._kept_for(name, "own", owner)

    def _kept_for(self, name: str, place: str, owner: str) -> dict[str, str]:
        """Made once for all requests that change nothing."""
        things = self._things(name)
        if place == "missing":
            return {key: thing.missing for key, thing in things.items()}
        whose = STRANGER if place == "foreign" else owner
        return {key: self._kept_one(thing, whose) for key, thing in things.items()}

    def _kept_one(self, thing: Thing, owner: str) -> str:
        mark = thing.made, owner
        if mark not in self._kept:
            self._kept[mark] = thing.made(self._belongings, owner)
        return self._kept[mark]

    def _note(self, name: str, who: str, what: str, answers: Mapping[str, Any]) -> None:
        said = "; ".join(f"{place} {answer.status_code} {answer.text[:300]}" for place, answer in answers.items())
        self.problems.append(f"{name} by {who}: {what}: {said}")


def unmatched(operations: Iterable[str]) -> list[str]:
    """What is said by only one of the OpenAPI and this matrix."""
    said, here = set(operations), set(map(_operation, ROWS))
    return [
        *(f"{name} has no row in tests/http/matrix_rows.py: add one" for name in sorted(said - here)),
        *(f"{name} has a row in tests/http/matrix_rows.py, and is no operation" for name in sorted(here - said)),
    ]


def _operation(name: str) -> str:
    """Of a row, which may be one of several of it."""
    return name.partition(" | ")[0]


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text


def _shape(answer: Any, things: Mapping[str, str]) -> tuple[int, str]:
    """What is said, but for the names of things and of the request."""
    if not answer.headers.get("content-type", "").endswith("json"):
        return answer.status_code, answer.text
    said = {key: value for key, value in answer.json().items() if key != "request_id"}
    text = json.dumps(said, sort_keys=True)
    for key, value in things.items():
        text = text.replace(json.dumps(value)[1:-1], f"<{key}>")
    return answer.status_code, text


@contextmanager
def a_matrix(database_url: str) -> Iterator[Matrix]:
    """A service in a world of its own, to be asked."""
    with a_world(database_url) as world:
        http = world.app.parts.http(Pace(1e9, 10**9), BY_SECRET)
        with TestClient(http, raise_server_exceptions=False) as client:
            yield Matrix(world, client)
