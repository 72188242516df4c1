"""Services that ask: by a secret, or by tokens that they were issued."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.domain.service_tokens import ServiceAccess, rules_of
from tests.http.clients import asking

SECRET = "a-secret-of-services"
OLD_SECRET = "the-secret-before-that"
DECISION_SECRET = "decisions-are-signed-with-this"
ISSUER, AUDIENCE = "https://issuer", "foliot-test"
KID, OLD_KID = "2026", "2025"


class Keys:
    """A pair of keys as an issuer has them."""

    def __init__(self) -> None:
        key = Ed25519PrivateKey.generate()
        self.private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        self.public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


OURS, REVOKED, STRANGE = Keys(), Keys(), Keys()

BY_TOKEN = ServiceAccess(
    tokens=rules_of(
        "FOLIOT_JWT_KEY",
        "EdDSA",
        json.dumps({KID: OURS.public, OLD_KID: REVOKED.public}),
        ISSUER,
        AUDIENCE,
        [OLD_KID],
    )
)
BY_SECRET = ServiceAccess(secrets=(SECRET, OLD_SECRET), decision_secrets=(DECISION_SECRET,))


def claims(now: float, **others: Any) -> dict[str, Any]:
    """What a good token says; None leaves a claim out."""
    said = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "worker",
        "jti": "one",
        "iat": int(now),
        "exp": int(now) + 300,
        **others,
    }
    return {name: value for name, value in said.items() if value is not None}


def token(said: dict[str, Any], keys: Keys = OURS, kid: str | None = KID, **header: Any) -> str:
    headers = {"kid": kid, **header} if kid is not None else header
    return jwt.encode(said, keys.private, algorithm="EdDSA", headers=headers)


def encoded(part: bytes | dict[str, Any]) -> str:
    text = part if isinstance(part, bytes) else json.dumps(part).encode()
    return urlsafe_b64encode(text).rstrip(b"=").decode()


def client(program: Foliot, access: ServiceAccess, bearer: str | None = None) -> TestClient:
    """Somebody who asks that program, with that behind `Bearer`."""
    found = asking(program.parts.http(Pace(1e6, 10**6), access))
    if bearer is not None:
        found.headers["Authorization"] = f"Bearer {bearer}"
    return found
