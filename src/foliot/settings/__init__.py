"""What is said outside of the program, by environment and file, as the values that its parts are made of."""

import json
from pathlib import Path

from foliot.domain.addresses import Network
from foliot.domain.credits import Pricing, read_catalogue
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.pace import Pace
from foliot.domain.registrar_defaults import RegistrarDefaults
from foliot.domain.service_tokens import ServiceAccess, rules_of, secrets_of
from foliot.engine.settings import EngineSettings
from foliot.settings import table
from foliot.settings.sources import Settings, read_settings


def database_url(given: str | None) -> str:
    """The URL that was given, else the one of the settings, else a file in the working directory."""
    if not isinstance(given, str | None):
        raise Invalid(f"a database URL is text such as sqlite:///foliot.db, got {given!r}")
    return given or read_settings().value(table.DATABASE)


def pricing_of() -> Pricing:
    """What models cost, by the file that the settings name, and how much is added to it."""
    said = read_settings()
    markup = said.value(table.MARKUP)
    path = said.value(table.CATALOGUE)
    if not path:
        return Pricing(markup=markup)
    try:
        return Pricing(read_catalogue(json.loads(Path(path).read_text())), markup)
    except (OSError, ValueError) as error:
        if isinstance(error, Invalid):
            raise
        raise Invalid(f"{said.name(table.CATALOGUE)} takes a file of models as JSON, got {path!r}: {error}") from error


def trace_url(trace_id: str) -> str | None:
    """Where the trace can be looked at, by the template of the settings; None when they have none."""
    template = read_settings().value(table.TRACE_URL)
    return None if template is None else template.replace("{trace_id}", trace_id)


def metrics_token() -> str | None:
    """What whoever reads the metrics from elsewhere must show."""
    return read_settings().value(table.METRICS_TOKEN)


def http_allow() -> tuple[Network, ...]:
    """Which networks may be called besides the open Internet."""
    return read_settings().value(table.HTTP_ALLOW)


def pace_of(said: Settings) -> Pace:
    """How often one API key may ask."""
    return Pace(said.value(table.RATE_LIMIT), said.value(table.RATE_BURST))


def registrar_defaults() -> RegistrarDefaults:
    """What a schedule is registered with that does not say."""
    said = read_settings()
    return RegistrarDefaults(
        overlap_policy=said.value(table.DEFAULT_OVERLAP_POLICY),
        catchup_policy=said.value(table.DEFAULT_CATCHUP_POLICY),
        jitter_ms=said.value(table.DEFAULT_JITTER_MS),
        lookahead_ms=said.value(table.LOOKAHEAD_MS),
        max_catchup_per_tick=said.value(table.MAX_CATCHUP_PER_TICK),
    )


def service_access() -> ServiceAccess:
    """By what other services are known; by nothing, where the settings say nothing."""
    said = read_settings()
    algorithm, key = said.value(table.JWT_ALGORITHM), said.value(table.JWT_KEY)
    if (algorithm is None) != (key is None):
        names = f"{said.name(table.JWT_ALGORITHM)} and {said.name(table.JWT_KEY)}"
        raise Invalid(f"{names}: tokens are taken by an algorithm and a key, say both or neither")
    tokens = None
    if algorithm is not None and key is not None:
        issuer, audience = said.value(table.JWT_ISSUER), said.value(table.JWT_AUDIENCE)
        revoked = said.value(table.JWT_REVOKED_KIDS)
        tokens = rules_of(said.name(table.JWT_KEY), algorithm, key, issuer, audience, revoked)
    return ServiceAccess(_secrets(said, table.INTERNAL_SECRET), tokens, _secrets(said, table.DECISION_SECRET))


def _secrets(said: Settings, setting: table.Setting[str | None]) -> tuple[str, ...]:
    found = said.value(setting)
    return () if found is None else secrets_of(said.name(setting), found)


def engine_settings() -> EngineSettings:
    """How a worker works, when its program does not say."""
    said = read_settings()
    lease, heartbeat = said.value(table.LEASE), said.value(table.HEARTBEAT)
    if lease < 2 * heartbeat:
        names = f"{said.name(table.LEASE)} and {said.name(table.HEARTBEAT)}"
        raise Invalid(f"{names}: a lease lasts for two heartbeats at least, or a worker that lives is taken for dead")
    return EngineSettings(
        lease=lease,
        heartbeat=heartbeat,
        look=said.value(table.LOOK),
        max_running=said.value(table.MAX_RUNNING),
        threads=said.value(table.THREADS),
        keep_for=said.value(table.KEEP_FOR),
        keep_runs=said.value(table.KEEP_RUNS),
        stop_grace=said.value(table.STOP_GRACE),
    )


def stall_limit() -> float | None:
    """Seconds that a worker's loop may stand still before its process ends; None: for ever."""
    limit = read_settings().value(table.STALL)
    return limit / MICROSECONDS if limit else None
