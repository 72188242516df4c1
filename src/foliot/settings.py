"""What the environment says."""

import json
import os
from pathlib import Path

from foliot.domain.addresses import Network, read_networks
from foliot.domain.credits import DEFAULT_MARKUP, Pricing, read_catalogue, read_markup
from foliot.domain.errors import Invalid

DATABASE = "FOLIOT_DATABASE"
CATALOGUE = "FOLIOT_CATALOGUE"
MARKUP = "FOLIOT_MARKUP"
TRACE_URL = "FOLIOT_TRACE_URL"
HTTP_ALLOW = "FOLIOT_HTTP_ALLOW"


def database_url(given: str | None) -> str:
    """The URL that was given, else the environment's, else a file in the working directory."""
    if not isinstance(given, str | None):
        raise Invalid(f"a database URL is text such as sqlite:///foliot.db, got {given!r}")
    return given or os.environ.get(DATABASE) or "sqlite:///foliot.db"


def pricing_of() -> Pricing:
    """What models cost, by the file that the environment names, and how much is added to it."""
    said = os.environ.get(MARKUP)
    markup = read_markup(MARKUP, said) if said else DEFAULT_MARKUP
    path = os.environ.get(CATALOGUE)
    if not path:
        return Pricing(markup=markup)
    try:
        return Pricing(read_catalogue(json.loads(Path(path).read_text())), markup)
    except (OSError, ValueError) as error:
        if isinstance(error, Invalid):
            raise
        raise Invalid(f"{CATALOGUE} takes a file of models as JSON, got {path!r}: {error}") from error


def trace_url(trace_id: str) -> str | None:
    """Where the trace can be looked at, by the template that the environment has; None when it has none."""
    template = os.environ.get(TRACE_URL)
    if not template:
        return None
    if "{trace_id}" not in template:
        raise Invalid(f"{TRACE_URL} takes an address with {{trace_id}} in it, got {template!r}")
    return template.replace("{trace_id}", trace_id)


def http_allow() -> tuple[Network, ...]:
    """Which networks may be called besides the open Internet."""
    return read_networks(HTTP_ALLOW, os.environ.get(HTTP_ALLOW, ""))
