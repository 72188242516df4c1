"""The battery of tokens: each is bad in one way, once for each algorithm that tokens may be signed by."""

import hmac
import json
from base64 import urlsafe_b64decode
from collections.abc import Callable
from hashlib import sha256, sha512
from typing import Any

import jwt

from foliot.clock import SystemClock
from foliot.domain.instants import MICROSECONDS
from foliot.domain.service_tokens import LEEWAY, LONGEST_LIFE, LONGEST_TOKEN, Algorithm, ServiceAccess, rules_of
from tests.http.service_clients import AUDIENCE, ISSUER, KID, OLD_KID, OURS, REVOKED, STRANGE, claims, encoded

_SECRETS = {"ours": "an hmac secret of 32 characters!", "old": "the hmac secret before that one!"}
_STRANGE_SECRET = "an hmac secret of somebody else!"


class StillClock(SystemClock):
    """It is always that second since 1970."""

    def __init__(self, at: float) -> None:
        self._at = at

    def now(self) -> int:
        return int(self._at * MICROSECONDS)


class Issuer:
    """Signs whatever it is told to, with our key or another."""

    def __init__(self, algorithm: Algorithm, now: float) -> None:
        self.algorithm = algorithm
        self.now = now
        is_hmac = algorithm is Algorithm.HS256
        self.ours, self.old, self.strange = (
            (_SECRETS["ours"], _SECRETS["old"], _STRANGE_SECRET)
            if is_hmac
            else (OURS.private, REVOKED.private, STRANGE.private)
        )
        self.known = _SECRETS["ours"] if is_hmac else OURS.public
        """What we know the issuer's tokens by."""
        keys = {KID: self.known, OLD_KID: _SECRETS["old"] if is_hmac else REVOKED.public}
        self.access = ServiceAccess(
            tokens=rules_of("FOLIOT_JWT_KEY", algorithm, json.dumps(keys), ISSUER, AUDIENCE, [OLD_KID])
        )

    def said(self, **others: Any) -> dict[str, Any]:
        return claims(self.now, **others)

    def token(self, said: Any = None, key: str | None = None, **header: Any) -> str:
        """As it must be, but for what is said otherwise; None leaves a part of the header out."""
        text = json.dumps(self.said() if said is None else said).encode() if not isinstance(said, bytes) else said
        headers = {"alg": str(self.algorithm), "typ": "JWT", "kid": KID, **header}
        signed = f"{encoded({name: part for name, part in headers.items() if part is not None})}.{encoded(text)}"
        return self.signed(signed, key)

    def signed(self, parts: str, key: str | None = None) -> str:
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        signature = algorithm.sign(parts.encode(), algorithm.prepare_key(key or self.ours))
        return f"{parts}.{encoded(signature)}"

    def unsigned(self, alg: Any) -> str:
        return f"{encoded({'alg': alg, 'typ': 'JWT', 'kid': KID})}.{encoded(self.said())}."

    def by_what_we_know(self, alg: str, digest: Callable[..., Any]) -> str:
        """What a reader takes that believes a token's own word for how it is signed."""
        signed = f"{encoded({'alg': alg, 'typ': 'JWT', 'kid': KID})}.{encoded(self.said())}"
        return f"{signed}.{encoded(hmac.digest(self.known.encode(), signed.encode(), digest))}"


def battery(issuer: Issuer) -> dict[str, str]:
    """Tokens that must not be taken, by what is wrong with them."""
    good = issuer.token()
    header, payload, signature = good.split(".")
    return {
        **_signatures(issuer, header, payload, signature),
        **_headers(issuer),
        **_claims(issuer),
        **_texts(issuer, header, payload, signature),
    }


def _signatures(issuer: Issuer, header: str, payload: str, signature: str) -> dict[str, str]:
    other = Algorithm.EDDSA if issuer.algorithm is Algorithm.HS256 else Algorithm.HS256
    confused = issuer.by_what_we_know("HS256", sha256)
    changed = encoded(issuer.said(sub="admin"))
    return {
        "alg none": issuer.unsigned("none"),
        "alg None": issuer.unsigned("None"),
        "alg nOnE": issuer.unsigned("nOnE"),
        "alg empty": issuer.unsigned(""),
        "alg null": issuer.unsigned(None),
        "alg a list": issuer.unsigned([str(issuer.algorithm), "none"]),
        "alg in other letters": issuer.token(alg=str(issuer.algorithm).swapcase()),
        "no alg": issuer.token(alg=None),
        "another algorithm's name": issuer.token(alg=str(other)),
        "HS512 with what we know": issuer.by_what_we_know("HS512", sha512),
        # By HMAC that would be as it must be.
        **({"HS256 with our public key": confused} if other is Algorithm.HS256 else {}),
        "the other algorithm's good token": Issuer(other, issuer.now).token(),
        "another's key": issuer.token(key=issuer.strange),
        "an empty signature": f"{header}.{payload}.",
        "a truncated signature": f"{header}.{payload}.{signature[:-4]}",
        "a longer signature": f"{header}.{payload}.{signature}AAAA",
        "a signature of zeros": f"{header}.{payload}.{'A' * len(signature)}",
        "another token's signature": f"{header}.{payload}.{issuer.token(issuer.said(jti='two')).split('.')[2]}",
        "changed claims": f"{header}.{changed}.{signature}",
        "a changed header": f"{issuer.token(typ='jwt').split('.')[0]}.{payload}.{signature}",
        "other bits at the end of the signature": f"{header}.{payload}.{_other_bits(signature)}",
    }


def _headers(issuer: Issuer) -> dict[str, str]:
    embedded = {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}
    return {
        "kid unknown": issuer.token(kid="2027"),
        "kid missing": issuer.token(kid=None),
        "kid empty": issuer.token(kid=""),
        "kid a number": issuer.token(kid=2026),
        "kid a list": issuer.token(kid=[KID]),
        "kid of a path": issuer.token(kid="../../../../dev/null"),
        "kid of SQL": issuer.token(kid="x' UNION SELECT 'secret' --"),
        "kid of a URL": issuer.token(kid="https://others.test/key"),
        "kid of a revoked key": issuer.token(kid=OLD_KID, key=issuer.old),
        "crit": issuer.token(crit=["exp"]),
        "crit empty": issuer.token(crit=[]),
        "crit b64": issuer.token(crit=["b64"], b64=False),
        "jku": issuer.token(jku="https://others.test/keys"),
        "x5u": issuer.token(x5u="https://others.test/cert"),
        "x5c": issuer.token(x5c=["AAAA"]),
        "an embedded jwk": issuer.token(jwk=embedded, key=issuer.strange),
        "no type": issuer.token(typ=None),
        "another type": issuer.token(typ="at+jwt"),
        "a type that is a number": issuer.token(typ=1),
    }


def _claims(issuer: Issuer) -> dict[str, str]:
    now = int(issuer.now)
    return {name: issuer.token(said) for name, said in _said_badly(issuer, now).items()}


def _said_badly(issuer: Issuer, now: int) -> dict[str, Any]:
    return {
        **{f"no {name}": issuer.said(**{name: None}) for name in ("iss", "aud", "sub", "jti", "iat", "exp")},
        "wrong issuer": issuer.said(iss="https://others"),
        "issuer in other letters": issuer.said(iss=ISSUER.upper()),
        "issuer a list": issuer.said(iss=[ISSUER]),
        "wrong audience": issuer.said(aud="foliot-others"),
        "audience that begins like ours": issuer.said(aud=f"{AUDIENCE}-2"),
        "audience of which ours is a part": issuer.said(aud=AUDIENCE[:-1]),
        "empty list of audiences": issuer.said(aud=[]),
        "list of others' audiences": issuer.said(aud=["others", "more"]),
        "audience an object": issuer.said(aud={AUDIENCE: True}),
        "another environment": issuer.said(aud="foliot-production", iss="https://issuer.production"),
        "expired": claims(now - 3600),
        "a second beyond the leeway": claims(now - 300 - LEEWAY),
        "a life of more than ten minutes": issuer.said(exp=now + LONGEST_LIFE + 1),
        "a life of years": issuer.said(exp=now + 10**9),
        "an end before its beginning": issuer.said(exp=now - 1, iat=now),
        "not valid before a time to come": issuer.said(nbf=now + LEEWAY + 1),
        "made in the future": claims(now + LEEWAY + 1),
        "made long ago, for ever": issuer.said(iat=0),
        "exp as text": issuer.said(exp=str(now + 300)),
        "exp true": issuer.said(exp=True),
        "exp a list": issuer.said(exp=[now + 300]),
        "exp infinite": issuer.said(exp=float("inf")),
        "exp no number": issuer.said(exp=float("nan")),
        "exp negative": issuer.said(exp=-1),
        "exp of many digits": issuer.said(exp=10**400),
        "nbf as text": issuer.said(nbf="soon"),
        "iat as text": issuer.said(iat=str(now)),
        "jti a number": issuer.said(jti=7),
        "jti empty": issuer.said(jti=" "),
        "jti too long": issuer.said(jti="x" * 256),
        "sub empty": issuer.said(sub=""),
        "sub a list": issuer.said(sub=["worker"]),
        "sub with a line end": issuer.said(sub="worker\nadmin"),
        "once as text": issuer.said(once="true"),
        "claims a list": [issuer.said()],
        "claims a text": "worker",
    }


def _texts(issuer: Issuer, header: str, payload: str, signature: str) -> dict[str, str]:
    said = json.dumps(issuer.said())
    return {
        "a claim twice": issuer.token(said.replace('"aud":', '"aud": "others", "aud":').encode()),
        "a claim twice, nested": issuer.token(said.replace("{", '{"x": {"a": 1, "a": 2}, ').encode()),
        "a header's part twice": issuer.signed(f"{encoded(_doubled(issuer))}.{payload}"),
        "too long": issuer.token(issuer.said(padding="x" * LONGEST_TOKEN)),
        "too deep": issuer.token(b"[" * 3000),
        "no token at all": "what is this",
        "one part": payload,
        "two parts": f"{header}.{payload}",
        "four parts": f"{header}.{payload}.{signature}.{signature}",
        "five parts": f"{header}..{payload}.{signature}.{signature}",
        "only dots": "..",
        "padding": f"{header}=.{payload}.{signature}",
        "padding of the signature": f"{header}.{payload}.{signature}==",
        "the other alphabet": f"{header}.{payload}.{signature[:-1]}+",
        "whitespace inside": f"{header}. {payload}.{signature}",
        "a line end inside": f"{header}.{payload[:8]}\t{payload[8:]}.{signature}",
        "header that is no JSON": f"{encoded(b'{')}.{payload}.{signature}",
        "header that is a list": f"{encoded(b'[]')}.{payload}.{signature}",
        "header that is no UTF-8": issuer.signed(f"{encoded(bytes([255, 254]))}.{payload}"),
        "claims that are no UTF-8": issuer.token(b'{"iss": "\xff"}'),
        "in quotes": f'"{header}.{payload}.{signature}"',
    }


def _doubled(issuer: Issuer) -> bytes:
    return f'{{"alg": "none", "alg": "{issuer.algorithm}", "typ": "JWT", "kid": "{KID}"}}'.encode()


def _other_bits(signature: str) -> str:
    """The same bytes written otherwise: the last letter has bits that mean nothing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    padding = "=" * (-len(signature) % 4)
    for letter in alphabet:
        other = signature[:-1] + letter
        if other != signature and urlsafe_b64decode(other + padding) == urlsafe_b64decode(signature + padding):
            return other
    raise AssertionError("every signature of these algorithms has such bits")


def good(issuer: Issuer) -> dict[str, str]:
    """Tokens that must be taken."""
    now = int(issuer.now)
    said = {
        "plain": issuer.said(),
        "among others": issuer.said(aud=["others", AUDIENCE]),
        "a second within the leeway": claims(now - 300 - LEEWAY + 1),
        "ahead within it": claims(now + LEEWAY),
        "ten minutes": issuer.said(exp=now + LONGEST_LIFE, nbf=now),
        "parts of a second": issuer.said(iat=now - 0.5, exp=now + 1.5),
        "once": issuer.said(once=True, jti=f"once-{issuer.algorithm}"),
    }
    return {name: issuer.token(claims_of) for name, claims_of in said.items()}
