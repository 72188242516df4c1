"""Signatures: how a receiver knows that a message is ours and recent, and how we know who answers it later."""

import hmac
from collections.abc import Iterable
from hashlib import sha256

from foliot.domain.errors import Invalid

SIGNATURE_HEADER = "Foliot-Signature"
TOLERANCE = 300
"""Seconds between a message's own time and the reader's clock, in either direction."""

_SHORTEST_SECRET = 16
_LONGEST_SECRET = 1000
_LONGEST_HEADER = 4096
_MOST_DIGITS = 12


def secret_of(secret: str) -> str:
    """A secret that can sign; Invalid, without showing it, when it is too short to keep anybody out."""
    if not isinstance(secret, str) or not _SHORTEST_SECRET <= len(secret) <= _LONGEST_SECRET:
        size = f"{len(secret)}" if isinstance(secret, str) else f"a {type(secret).__name__}"
        raise Invalid(f"a secret takes text of {_SHORTEST_SECRET} to {_LONGEST_SECRET:,} characters, got {size}")
    try:
        secret.encode()
    except UnicodeEncodeError:
        raise Invalid("a secret takes text that can be written as UTF-8") from None
    return secret


def signature_of(body: bytes, secret: str, at: int) -> str:
    """The header that signs a body at that moment, in seconds since 1970: `t=1700000000,v1=<hex>`."""
    return f"t={at},v1={_mac(secret, _signed(body, str(at)))}"


def is_signed(body: bytes, header: str, secrets: Iterable[str], now: int, tolerance: int = TOLERANCE) -> bool:
    """Whether one of the secrets has signed that body, not long before or after now.

    While a secret is being replaced a receiver takes the old one and the new one; a header may carry several `v1`.
    """
    at, given = _parts(header)
    if at is None or abs(now - int(at)) > tolerance:
        return False
    wanted = [_mac(secret, _signed(body, at)) for secret in secrets]
    # All are compared, whichever fits: how long it takes tells nothing.
    return sum(hmac.compare_digest(one, other) for one in wanted for other in given) > 0


def _parts(header: str) -> tuple[str | None, list[str]]:
    """The time of the message, as it is written, and the signatures."""
    if not header.isascii() or len(header) > _LONGEST_HEADER:
        return None, []
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    if len(times) != 1 or not times[0].isdigit() or len(times[0]) > _MOST_DIGITS:
        return None, []
    return times[0], [value for name, _, value in pairs if name == "v1"]


def callback_token(secret: str, run_id: str) -> str:
    """What lets its receiver say how a run ended: the same for every delivery of the attempt that the id names."""
    return _mac(secret, b"callback\n" + run_id.encode())


def token_digest(token: str) -> str:
    """What is kept of a token: enough to know it again, not enough to use it."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_token_of(token: str, digest: str) -> bool:
    """Whether that is the token whose digest was kept."""
    return hmac.compare_digest(token_digest(token), digest)


def _signed(body: bytes, at: str) -> bytes:
    return at.encode() + b"." + body


def _mac(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, sha256).hexdigest()
