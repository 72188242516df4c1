"""What the environment says."""

import os

from foliot.domain.errors import Invalid

DATABASE = "FOLIOT_DATABASE"


def database_url(given: str | None) -> str:
    """The URL that was given, else the environment's, else a file in the working directory."""
    if not isinstance(given, str | None):
        raise Invalid(f"a database URL is text such as sqlite:///foliot.db, got {given!r}")
    return given or os.environ.get(DATABASE) or "sqlite:///foliot.db"
