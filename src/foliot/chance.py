"""The one module that draws at random: what nobody may guess."""

import secrets


def secret() -> str:
    """256 bits, as text that fits into a header or an address."""
    return secrets.token_urlsafe(32)


def short() -> str:
    """48 bits: a name that nobody else has."""
    return secrets.token_hex(6)
