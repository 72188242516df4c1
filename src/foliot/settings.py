"""What the environment says."""

import os

DATABASE = "FOLIOT_DATABASE"


def database_url(given: str | None) -> str:
    """The URL that was given, else the environment's, else a file in the working directory."""
    return given or os.environ.get(DATABASE) or "sqlite:///foliot.db"
