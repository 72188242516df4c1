"""Which service asks: by a secret that is shared with it, or by a token that it brings."""

import hmac
from hashlib import sha256
from typing import Any, NamedTuple

from fastapi import Request
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import InvalidKeyError

from foliot.domain.access import RIGHTS, Principal, Role
from foliot.domain.errors import Invalid, Unavailable, Unidentified
from foliot.domain.instants import MICROSECONDS
from foliot.domain.schedule import user_of
from foliot.domain.service_tokens import (
    LONGEST_SECRET,
    LONGEST_TOKEN,
    ServiceAccess,
    ServiceToken,
    TokenRefused,
    TokenRules,
    key_for,
    read_token,
    service_of,
)
from foliot.domain.signing import SIGNATURE_HEADER, TOLERANCE, is_signed
from foliot.http.routing import at_the_door
from foliot.ports import Clock, Database, Transaction
from foliot.rows import AnswerRow

SERVICE_HEADER = "Foliot-Service"
"""What a service calls itself that comes with the shared secret; a token says it itself."""
_UNNAMED = "unnamed"
_LONGEST_HEADER = 512
"""With a secret in it."""
_BEARER = "Bearer "
_USED_ONCE = "service-token"
_REFUSED = "that opens nothing here: the secret or token is unknown, expired or meant for others; look at our log"

_UNSIGNED = (
    f"that message is not signed as it must be: send `{SIGNATURE_HEADER}: t=SECONDS,v1=HEX`, the time since 1970, at"
    f" most {TOLERANCE // 60} minutes from now, and the HMAC-SHA256 of SECONDS, a dot and the body with the secret that"
    " we share"
)
"""Whichever part was wrong: nobody learns that."""


class KnownService(NamedTuple):
    """A service that is who it says."""

    name: str

    @property
    def principal(self) -> Principal:
        """It acts for everybody, and is no user itself: its name has a colon of ours before it."""
        return Principal(f"service:{self.name}", Role.ADMIN, RIGHTS[Role.ADMIN])


SIGNER = Principal("webhook:decisions", Role.ADMIN, RIGHTS[Role.ADMIN])
"""Whoever sends decisions in: no user, but one who speaks for those that the message names."""


class TokenJudge:
    """Tells good tokens from others. Invalid, at the start, when a key is none."""

    def __init__(self, rules: TokenRules, clock: Clock) -> None:
        self._rules = rules
        self._clock = clock
        self._algorithm = get_default_algorithms()[rules.algorithm]
        self._keys: dict[str, Any] = {}
        for text in rules.keys.values():
            try:
                self._keys[text] = self._algorithm.prepare_key(text)
            except (InvalidKeyError, ValueError, TypeError):
                # Its own words may quote the key.
                raise Invalid(f"FOLIOT_JWT_KEY takes a key for {rules.algorithm}, and one is none") from None

    def judged(self, text: str) -> ServiceToken:
        """What it says, once all of it was found good; TokenRefused when anything is not."""
        token = read_token(text)
        key = self._keys[key_for(token.header, self._rules)]
        if not self._algorithm.verify(token.signed, key, token.signature):
            raise TokenRefused("its signature is not by our key")
        return service_of(token.claims, self._rules, self._clock.now() / MICROSECONDS)


class ServiceDoor:
    """Knows which service comes."""

    def __init__(self, access: ServiceAccess, clock: Clock, database: Database) -> None:
        self._secrets = [sha256(secret.encode()).digest() for secret in access.secrets]
        self._tokens = None if access.tokens is None else TokenJudge(access.tokens, clock)
        self._decision_secrets = access.decision_secrets
        self._clock = clock
        self._database = database

    async def check_signed(self, request: Request) -> None:
        """Unidentified unless the message is signed with a secret of ours, not long ago."""
        if not self._decision_secrets:
            raise Unavailable("no message can be known here, so none is taken: set FOLIOT_DECISION_SECRET, start again")
        header = request.headers.get(SIGNATURE_HEADER.lower(), "")
        now = self._clock.now() // MICROSECONDS
        if not is_signed(await request.body(), header, self._decision_secrets, now):
            raise Unidentified(_UNSIGNED)

    async def identify(self, request: Request) -> KnownService:
        """Who it is. Unidentified for others, its cause for our log; Unavailable where nobody could come at all."""
        if not self._secrets and self._tokens is None:
            remedy = "set FOLIOT_INTERNAL_SECRET, or FOLIOT_JWT_ALGORITHM and FOLIOT_JWT_KEY"
            raise Unavailable(f"no service can be known here, so none is let in: {remedy}, and start again")
        header = request.headers.get("authorization", "")
        if header[: len(_BEARER)].lower() != _BEARER.lower() or len(header) > len(_BEARER) + LONGEST_TOKEN:
            raise Unidentified("this needs the secret of a service, or its token: send `Authorization: Bearer …`")
        text = header[len(_BEARER) :].strip()
        if self._is_secret(header, text):
            return KnownService(_said_name(request))
        try:
            return await self._by_token(text)
        except TokenRefused as refusal:
            raise Unidentified(_REFUSED) from refusal

    def _is_secret(self, header: str, text: str) -> bool:
        if len(header) > _LONGEST_HEADER or len(text) > LONGEST_SECRET or not text:
            return False
        given = sha256(text.encode("utf-8", "surrogatepass")).digest()
        # All are compared, whichever fits: how long it takes tells nothing.
        return sum(hmac.compare_digest(given, known) for known in self._secrets) > 0

    async def _by_token(self, text: str) -> KnownService:
        if self._tokens is None:
            raise TokenRefused("it is not the secret, and no tokens are taken")
        token = self._tokens.judged(text)
        if token.is_once and not await at_the_door(_is_first_use, self._database, token):
            raise TokenRefused("it was good for one request, and was used")
        return KnownService(token.service)


def _is_first_use(database: Database, token: ServiceToken) -> bool:
    """Whether nobody came with it before, to whichever process; it has ended long before that is forgotten."""

    def act(tx: Transaction) -> bool:
        if tx.answer(_USED_ONCE, token.id) is not None:
            return False
        tx.keep_answer(AnswerRow(_USED_ONCE, token.id, "", 200, "{}", "", tx.now))
        return True

    return database.write(act)


def _said_name(request: Request) -> str:
    said = request.headers.get(SERVICE_HEADER.lower(), _UNNAMED)
    try:
        return user_of(said, SERVICE_HEADER)
    except Invalid:
        return _UNNAMED
