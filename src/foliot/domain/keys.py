"""API keys: how one is written, and what is kept of it."""

import re
from hashlib import sha256
from typing import NamedTuple

_KEY = re.compile(r"fol_([0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


class NewKey(NamedTuple):
    """A key as it is shown once."""

    id: str
    """What it may be called."""
    text: str

    @property
    def digest(self) -> str:
        return key_digest(self.text)


def key_of(name: str, secret: str) -> NewKey:
    """The key of that name; both are drawn at random."""
    return NewKey(name, f"fol_{name}_{secret}")


def key_digest(text: str) -> str:
    """What is kept of it: it has 256 bits that nobody can guess, so a plain hash keeps them."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_key(text: str) -> bool:
    """Whether it is written like one."""
    return _KEY.fullmatch(text) is not None
