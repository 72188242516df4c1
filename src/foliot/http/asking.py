"""Who asks, by which right, and under which key: what every handler of the API is given."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from hashlib import sha256
from typing import Annotated, Any, TypeVar, get_args, get_origin

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from foliot.domain.access import Principal, Right, check_right
from foliot.domain.errors import Invalid, Malformed, Unidentified
from foliot.domain.signing import SIGNATURE_HEADER
from foliot.http.doors import SIGNER
from foliot.http.routing import Guard, GuardedBy, at_the_door, in_thread
from foliot.http.schemas import written
from foliot.http.service import Service
from foliot.services.desk import Caller, Once, Told, ToldBefore
from foliot.services.verbs import Verbs

log = logging.getLogger("foliot.http")

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

PUBLIC = "public"
"""Instead of a right: whoever asks is answered."""
SERVICE = "service"
"""Services only: they show a secret or a token, and no API key will do."""
SIGNED = "signed"
"""Whoever has the secret that the message itself is signed with."""
_RIGHT = "__foliot_right__"
_PARAMETERS = "__foliot_parameters__"
LONGEST_KEY = 255
"""Of an Idempotency-Key."""
_LARGE = 64 * 1024
_READING = ("GET", "HEAD")
_ONCE = (b"authorization", b"idempotency-key", b"if-match", SIGNATURE_HEADER.lower().encode())
"""Headers that say who asks, and for what: of two of them somebody in between may have judged the other."""

Needed = Right | str


def needs(right: Needed) -> Callable[[F], F]:
    """Declare what a route needs; one that declares nothing stops the start."""

    def declare(handler: F) -> F:
        setattr(handler, _RIGHT, right)
        return handler

    return declare


def right_of(handler: Callable[..., Any]) -> Needed | None:
    """What was declared."""
    found: Needed | None = getattr(handler, _RIGHT, None)
    return found


def is_of_service(request: Request) -> bool:
    """Whether nobody asks this with an API key."""
    route = request.scope.get("route")
    return route is not None and right_of(route.endpoint) in (SERVICE, SIGNED)


def note_parameters(route: APIRoute) -> None:
    """Know, once for all its requests, what may stand in the query of a route, and whether more than once."""
    known = {field.alias: _takes_several(field.field_info.annotation) for field in route.dependant.query_params}
    setattr(route.endpoint, _PARAMETERS, known)


def _takes_several(annotation: Any) -> bool:
    return any(get_origin(kind) is list for kind in (annotation, *get_args(annotation)))


def _check_query(request: Request) -> None:
    """Invalid for what the route does not know, or takes once: who is not told what was ignored takes it for done."""
    if not request.scope["query_string"]:
        return
    known: dict[str, bool] = getattr(request.scope["route"].endpoint, _PARAMETERS)
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name in known and times > 1 and not known[name]:
            raise Invalid(f"{name} is taken once, and was given {times} times: ask for one after the other")
        if name not in known:
            near = get_close_matches(name[:100], known, 1)
            # As it is described: `path` itself has what tells our framework of slashes.
            path = request.scope["route"].path_format
            remedy = f"did you mean {near[0]}?" if near else f"it takes {', '.join(known) or 'none'}"
            raise Invalid(f"{name!r:.80} is no parameter of {request.method} {path}: {remedy}")


class Ask:
    """A request of somebody who may make it."""

    def __init__(
        self, service: Service, principal: Principal, request_id: str, address: str | None, key: str | None, what: str
    ) -> None:
        self.service = service
        self.principal = principal
        self.request_id = request_id
        self.address = address
        self._key = key
        self._what = what

    @property
    def verbs(self) -> Verbs:
        """Those of the caller, without a key: for what changes nothing, or may be done twice."""
        return self.service.verbs_for(Caller(self.principal, self.request_id, self.address))

    def write(
        self,
        act: Callable[[Verbs], T],
        shown: Callable[[T], BaseModel | None],
        *,
        status: int = 200,
        headers: Callable[[T], Mapping[str, str]] = lambda _: {},
        kept: Callable[[T], BaseModel | None] | None = None,
    ) -> Response:
        """Do it, once under the caller's key if there is one; what it comes to is answered, now and when told again.

        `kept` is what is told again, where that is less: what is secret is never kept.
        """

        def told(result: T, shown: Callable[[T], BaseModel | None] = kept or shown) -> Told:
            model = shown(result)
            return Told(status, headers(result), "" if model is None else written(model))

        once = None if self._key is None else Once(*self._scope(), told)
        verbs = self.service.verbs_for(Caller(self.principal, self.request_id, self.address, once))
        try:
            return _response(told(act(verbs), shown), {})
        except ToldBefore as before:
            return _response(before.told, {"Idempotency-Replayed": "true"})

    def changes_access(self, act: Callable[[Verbs], T], shown: Callable[[T], BaseModel | None]) -> Response:
        """The same for a change of who may come in: it holds here from now on."""
        response = self.write(act, shown)
        self.service.doorkeeper.forget()
        return response

    def _scope(self) -> tuple[str, str, str]:
        assert self._key is not None
        method_and_route, _, fingerprint = self._what.rpartition(" ")
        return f"{self.principal.user} {method_and_route}", self._key, fingerprint


def answered(read: BaseModel | str, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Response:
    """What is read, as JSON; text is JSON already."""
    return Response(read if isinstance(read, str) else written(read), status, headers, media_type="application/json")


def _response(told: Told, more: Mapping[str, str]) -> Response:
    headers = {**told.headers, **more}
    if not told.body:
        return Response(status_code=told.status, headers=headers)
    return Response(told.body, told.status, headers, media_type="application/json")


async def ask(request: Request) -> Ask:
    """Who asks, once it is known that they may ask for this."""
    right = right_of(request.scope["route"].endpoint)
    assert isinstance(right, Right), "a route that is not public declares a right"
    return await _asked(request, await _permitted(request, right))


async def ask_service(request: Request) -> Ask:
    """Which service asks. What is done once under a key has its own rules there."""
    return _ask_of(request, await _service(request), None, "")


async def ask_service_once(request: Request) -> Ask:
    """The same, for what is done once under the caller's key as people's writes are."""
    return await _asked(request, await _service(request))


async def ask_signed(request: Request) -> Ask:
    """Whoever has signed the message: known by the secret, and acting for those whom the message names."""
    service: Service = request.app.state.service
    _check_headers(request)
    with _few_refused(request):
        await service.door.check_signed(request)
    return _ask_of(request, SIGNER, None, "")


GUARDS: dict[Guard, Callable[[Needed], bool]] = {
    ask: lambda right: isinstance(right, Right),
    ask_service: lambda right: right == SERVICE,
    ask_service_once: lambda right: right == SERVICE,
    ask_signed: lambda right: right == SIGNED,
}
"""Who asks who is there, and for which kind of right."""


async def _asked(request: Request, principal: Principal) -> Ask:
    # Where nothing is written there is nothing to be done once.
    key = None if request.method in _READING else _key_of(request)
    what = f"{request.method} {request.scope['route'].path} {await _fingerprint(request)}" if key is not None else ""
    return _ask_of(request, principal, key, what)


def _ask_of(request: Request, principal: Principal, key: str | None, what: str) -> Ask:
    service: Service = request.app.state.service
    return Ask(service, principal, request.state.request_id, _address(request), key, what)


def _address(request: Request) -> str | None:
    return request.client.host if request.client else None


Asked = Annotated[Ask, GuardedBy(ask)]
"""What a handler takes to know who asks."""
AskedByService = Annotated[Ask, GuardedBy(ask_service_once)]
"""The same where services ask."""


def _check_headers(request: Request) -> None:
    """Malformed when one comes twice of which there is one."""
    given = [name for name, _ in request.scope["headers"] if name in _ONCE]
    if len(given) > 1 and (twice := [name.decode().title() for name, times in Counter(given).items() if times > 1]):
        raise Malformed(f"the header {twice[0]} is taken once, and came several times: send the one that is meant")


@contextmanager
def _few_refused(request: Request) -> Iterator[None]:
    """TooMany for an address from which many come who are not let in. Who is let in is not counted."""
    try:
        yield
    except Unidentified as refusal:
        request.app.state.strangers.spend_of(f"whoever comes from {_address(request)} and is not let in")
        if refusal.__cause__ is not None:
            extra = {"request_id": request.state.request_id}
            log.warning("a service was not let in: %s", refusal.__cause__, extra=extra)
        raise


async def _permitted(request: Request, right: Right) -> Principal:
    _check_headers(request)
    principal = await _principal(request, request.app.state.service)
    # For the record of the request.
    request.state.user = principal.user
    request.app.state.limits.spend(principal)
    check_right(principal, right)
    _check_query(request)
    return principal


async def _service(request: Request) -> Principal:
    service: Service = request.app.state.service
    _check_headers(request)
    with _few_refused(request):
        principal = (await service.door.identify(request)).principal
    _check_query(request)
    return principal


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def _principal(request: Request, service: Service) -> Principal:
    token = _token(request)
    if not token:
        raise Unidentified("this needs an API key: send it as `Authorization: Bearer …`")
    known = service.doorkeeper.known(token)
    if known is None or isinstance(known, Principal):
        principal = known
    else:
        if not service.doorkeeper.has_met(token):
            # Each costs a look at the database: who has no key has no more of them than who has one.
            request.app.state.strangers.spend_of(f"whoever comes from {_address(request)} with keys that are new here")
        principal = await at_the_door(known)
    if principal is None:
        raise Unidentified("that key opens nothing: it is unknown, expired or revoked; ask for another")
    return principal


def _key_of(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise Invalid(f"Idempotency-Key takes 1 to {LONGEST_KEY} visible ASCII characters")
    return key


async def _fingerprint(request: Request) -> str:
    """The same for the same request, however its JSON is written."""
    body = await request.body()
    # A large one takes its time: nobody else waits for it.
    said = _said(body) if len(body) < _LARGE else await in_thread(_said, body)
    digest = sha256()
    for part in (
        request.url.path.encode(),
        request.url.query.encode(),
        request.headers.get("if-match", "").encode(),
        said,
    ):
        digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def _said(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode() if body else b""
    except (ValueError, RecursionError):
        return body
