"""Secrets by name: the environment has them, or names the file that does. They are read when they are used."""

import os
from pathlib import Path

from foliot.domain.errors import Invalid
from foliot.domain.signing import secret_of

_FILE = "_FILE"


def secret_named(name: str, what: str) -> str:
    """The secret of that name, for what needs it; Invalid, without showing it, when there is none that can sign."""
    said = os.environ.get(name)
    if said is not None:
        return secret_of(said)
    path = os.environ.get(name + _FILE)
    if path is None:
        raise Invalid(f"{what} takes its secret from {name}, which the environment does not have")
    try:
        return secret_of(Path(path).read_text().strip())
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            f"{what} takes its secret from the file that {name + _FILE} names, which cannot be read: {error}"
        ) from error
