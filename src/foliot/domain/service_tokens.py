"""Service tokens: what a JWT must be and say for a service to be taken for who it says it is (RFC 8725).

Nothing here is believed before somebody has checked the signature: `read_token` takes apart, `service_of` judges.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid

LONGEST_TOKEN = 16 * 1024
LONGEST_LIFE = 600
"""Seconds from its making to its end."""
LEEWAY = 30
"""Seconds by which two clocks may differ."""
LONGEST_SECRET = 256
_SHORTEST_SECRET = 16
_SHORTEST_HMAC = 32
"""As many bytes as the hash has (RFC 7518)."""
_MOST_SECRETS = 2
_LONGEST_NAME = 80
_LONGEST_ID = 255
_BRINGS_ITS_KEY = ("crit", "jku", "jwk", "x5c", "x5u")
"""Parts of a header that name a key from elsewhere, or want something understood that we do not."""


class Algorithm(StrEnum):
    """How tokens are signed: there is one for all of them, and a token does not choose."""

    EDDSA = "EdDSA"
    HS256 = "HS256"


class TokenRefused(Exception):
    """Why a token is not taken, in words that say nothing of what is in it."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """Whose tokens are taken."""

    algorithm: Algorithm
    issuer: str
    audience: str
    keys: Mapping[str | None, str] = field(repr=False)
    """By what a token calls them; None: the only one, which has no name."""
    revoked: frozenset[str] = frozenset()
    """Names of keys that are taken no more."""


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """By what other services are known; where there is neither, none of them is let in."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Those that are shared: two of them while one replaces the other."""
    tokens: TokenRules | None = None
    decision_secrets: tuple[str, ...] = field(default=(), repr=False)
    """By which decisions are signed that others send in."""


class ReadToken(NamedTuple):
    """A token in its parts."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


class ServiceToken(NamedTuple):
    """What a token says that was found good."""

    service: str
    id: str
    is_once: bool
    """Whether it wants to be good for one request only."""


def algorithm_of(text: str) -> Algorithm:
    if text not in list(Algorithm):
        raise Invalid(f"tokens are signed by {' or '.join(Algorithm)}, got {text[:20]!r}")
    return Algorithm(text)


def secrets_of(name: str, text: str) -> tuple[str, ...]:
    """The secrets that a setting holds, one or two with a space or a line end between them; Invalid for others."""
    found = tuple(text.split())
    is_sound = all(_SHORTEST_SECRET <= len(one) <= LONGEST_SECRET and one.isascii() for one in found)
    if not 1 <= len(found) <= _MOST_SECRETS or not is_sound:
        size = f"{_SHORTEST_SECRET} to {LONGEST_SECRET} visible ASCII characters"
        raise Invalid(f"{name} takes one secret of {size}, or two while the second is being replaced")
    return found


def rules_of(
    name: str, algorithm: str, key: str, issuer: str | None, audience: str, revoked: Iterable[str]
) -> TokenRules:
    """The rules as settings say them: `key`, of that name, is one key, or a JSON object of keys by their ids."""
    if not issuer or not audience:
        raise Invalid(
            "tokens are taken of one issuer and for one audience: say who, by FOLIOT_JWT_ISSUER and _AUDIENCE"
        )
    keys = _keys(key)
    if not keys or not all(isinstance(one, str) and one.strip() for one in keys.values()):
        raise Invalid(f"{name} takes a key, or a JSON object of keys by their ids")
    chosen = algorithm_of(algorithm)
    if chosen is Algorithm.HS256 and any(len(one) < _SHORTEST_HMAC for one in keys.values()):
        raise Invalid(f"{name} takes at least {_SHORTEST_HMAC} characters for {chosen}, which nobody can guess")
    return TokenRules(chosen, issuer, audience, keys, frozenset(revoked))


def _keys(text: str) -> Mapping[str | None, str]:
    if not text.lstrip().startswith("{"):
        return {None: text}
    try:
        return {str(kid): key for kid, key in _object(text.encode()).items()}
    except TokenRefused:
        return {}


def read_token(text: str) -> ReadToken:
    """The parts of a token, none of which is to be believed yet."""
    if len(text) > LONGEST_TOKEN:
        raise TokenRefused("it is too long")
    parts = text.split(".")
    if len(parts) != 3 or not text.isascii():
        raise TokenRefused("it is no token")
    header, claims, signature = map(_decoded, parts)
    return ReadToken(_object(header), _object(claims), f"{parts[0]}.{parts[1]}".encode(), signature)


def key_for(header: Mapping[str, Any], rules: TokenRules) -> str:
    """By which of our keys it must be signed. What it says of algorithms and keys must be what we say."""
    if header.get("alg") != rules.algorithm:
        raise TokenRefused("it is signed in another way")
    if not isinstance(header.get("typ"), str) or header["typ"].upper() != "JWT":
        raise TokenRefused("it is of another type")
    if any(name in header for name in _BRINGS_ITS_KEY):
        raise TokenRefused("it brings its own key, or wants more understood than we do")
    kid = header.get("kid")
    if not isinstance(kid, str | None) or kid not in rules.keys:
        raise TokenRefused("nobody here knows its key")
    if kid in rules.revoked:
        raise TokenRefused("its key was revoked")
    return rules.keys[kid]


def service_of(claims: Mapping[str, Any], rules: TokenRules, now: float) -> ServiceToken:
    """Which service it is, by a token whose signature is good, at that second since 1970."""
    audience = claims.get("aud")
    if claims.get("iss") != rules.issuer:
        raise TokenRefused("somebody else has issued it")
    if audience != rules.audience and not (isinstance(audience, list) and rules.audience in audience):
        raise TokenRefused("it is for somebody else")
    begun, ends, valid_from = (_moment(claims.get(name)) for name in ("iat", "exp", "nbf"))
    if begun is None or ends is None or (valid_from is None and "nbf" in claims):
        raise TokenRefused("it does not say when it was made and when it ends")
    if not 0 < ends - begun <= LONGEST_LIFE:
        raise TokenRefused("it lives for too long")
    if now >= ends + LEEWAY:
        raise TokenRefused("it has expired")
    if now < max(begun, valid_from or begun) - LEEWAY:
        raise TokenRefused("it is not valid yet")
    is_once = claims.get("once", False)
    if not isinstance(is_once, bool):
        raise TokenRefused("it does not say whether it is good for one request only")
    return ServiceToken(_name(claims.get("sub"), _LONGEST_NAME), _name(claims.get("jti"), _LONGEST_ID), is_once)


def _decoded(part: str) -> bytes:
    try:
        found = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except NotBase64:
        raise TokenRefused("it is no token") from None
    # A decoder forgives: it would take many texts for one signature.
    if not part or urlsafe_b64encode(found).rstrip(b"=") != part.encode():
        raise TokenRefused("it is no token")
    return found


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        raise TokenRefused("it cannot be read") from None
    if not isinstance(found, dict):
        raise TokenRefused("it cannot be read")
    return found


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers may believe different ones of two claims of one name."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TokenRefused("it says something twice")
    return found


def _moment(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e12 else None  # type: ignore[operator,arg-type]


def _name(value: object, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest or not value.isprintable():
        raise TokenRefused("it does not say whose it is, or which")
    return value
