"""The table of all settings: one row for each, from which reading, showing and the reference derive."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

from foliot.domain.addresses import Network
from foliot.domain.credits import DEFAULT_MARKUP
from foliot.domain.instants import MICROSECONDS
from foliot.domain.registrar_defaults import CatchupPolicy, OverlapPolicy, RegistrarDefaults
from foliot.engine.settings import EngineSettings
from foliot.settings.forms import MARKUP as A_MARKUP
from foliot.settings.forms import NETWORKS, SECRET, Form, number, span, text, whole, word, words

T = TypeVar("T")

_ENGINE = EngineSettings()
_REGISTRAR = RegistrarDefaults()


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One thing that may be said outside of the program. Its name is also its key in the file."""

    name: str
    form: Form[T]
    default: T
    about: str
    is_secret: bool = False
    """Never shown, and never written in the settings file itself."""
    has_file: bool = False
    """Whether a file may be named that holds it, which may always be done for a secret."""
    is_ours: bool = True
    """Whether its variable begins with FOLIOT_; those of the registrar keep the names they have."""
    in_file: bool = True
    """Whether the settings file may have it."""

    @property
    def variable(self) -> str:
        return f"FOLIOT_{self.name.upper()}" if self.is_ours else self.name.upper()

    @property
    def may_be_file(self) -> bool:
        return self.is_secret or self.has_file


def secret(name: str, about: str) -> Setting[str | None]:
    return Setting(name, SECRET, None, about, is_secret=True)


APP: Setting[str | None] = Setting(
    "app", text("module:name, file.py or file.py:name"), None, "the program that `foliot serve` and `worker` run"
)
HOST: Setting[str] = Setting("host", text("an address"), "127.0.0.1", "where the API listens")
PORT: Setting[int] = Setting("port", whole(0, 65535), 8420, "where the API listens; 0: wherever there is room")
ADMIN_KEY = secret("admin_key", "an API key of an admin that is made known at the start")
RATE_LIMIT: Setting[float] = Setting(
    "rate_limit", number(0.1, 1e6), 100.0, "requests that one API key may make each second, in the long run"
)
RATE_BURST: Setting[int] = Setting("rate_burst", whole(1, 10**6), 200, "requests that one API key may make at once")

DATABASE: Setting[str] = Setting(
    "database",
    text("sqlite:///file.db or postgresql://host/name"),
    "sqlite:///foliot.db",
    "the database, when the program names none",
    has_file=True,
)
POOL_SIZE: Setting[int] = Setting(
    "pool_size", whole(1, 1000), 2, "connections to PostgreSQL that are kept open to write, and as many to read"
)
POOL_OVERFLOW: Setting[int] = Setting(
    "pool_overflow", whole(0, 1000), 4, "connections more of either, while they are needed"
)
BY_TRANSACTION = "transaction"
POOLER: Setting[str] = Setting(
    "pooler",
    word("none", BY_TRANSACTION),
    "none",
    "transaction: before PostgreSQL is PgBouncer or the like, in transaction mode; none: each session is one's own",
)

LEASE: Setting[int] = Setting(
    "lease", span(), _ENGINE.lease, "a worker that was not heard of for so long is taken for dead"
)
HEARTBEAT: Setting[int] = Setting("heartbeat", span(), _ENGINE.heartbeat, "how often a worker says that it lives")
LOOK: Setting[int] = Setting("look", span(), _ENGINE.look, "the longest time without a look at the database")
MAX_RUNNING: Setting[int] = Setting(
    "max_running", whole(1, 10**6), _ENGINE.max_running, "how many runs one worker has in hand at most"
)
THREADS: Setting[int] = Setting(
    "threads", whole(1, 10_000), _ENGINE.threads, "how many sync functions one worker runs at once"
)
KEEP_FOR: Setting[int] = Setting("keep_for", span(), _ENGINE.keep_for, "how long a run is kept after its end")
KEEP_RUNS: Setting[int] = Setting(
    "keep_runs", whole(0, 10**9), _ENGINE.keep_runs, "how many runs of a schedule are kept, however old they are"
)
STOP_GRACE: Setting[int] = Setting(
    "stop_grace", span(may_be_none=True), _ENGINE.stop_grace, "how long runs may finish when the process is stopped"
)

STALL: Setting[int] = Setting(
    "stall",
    span(may_be_none=True),
    600 * MICROSECONDS,
    "a worker's loop that stands still for so long, and for six looks, ends its process, to be started again; 0: never",
)

INTERNAL_SECRET = secret("internal_secret", "the secret that workers and other services show to the internal API")
GATE_TOKEN = secret(
    "gate_token",
    "what `foliot worker --gate` shows there instead of the secret: a token; its file is read anew each time",
)
JWT_ALGORITHM: Setting[str | None] = Setting(
    "jwt_algorithm", word("EdDSA", "HS256"), None, "how tokens for the internal API are signed; none are taken without"
)
JWT_KEY = secret("jwt_key", "what the signature is checked with: a public key as PEM for EdDSA, a secret for HS256")
JWT_ISSUER: Setting[str | None] = Setting("jwt_issuer", text("text"), None, "who must have issued a token")
JWT_AUDIENCE: Setting[str] = Setting("jwt_audience", text("text"), "foliot", "whom a token must be meant for")
JWT_REVOKED_KIDS: Setting[tuple[str, ...]] = Setting(
    "jwt_revoked_kids", words("ids of keys, separated by commas"), (), "keys whose tokens are no longer taken"
)
DECISION_SECRET = secret("decision_secret", "the secret that decisions sent in by others are signed with")
METRICS_TOKEN = secret("metrics_token", "the token that /metrics asks for where it is not on this machine only")

HTTP_ALLOW: Setting[tuple[Network, ...]] = Setting(
    "http_allow", NETWORKS, (), "what `http:` targets and webhooks may call besides the open Internet"
)
TRACE_URL: Setting[str | None] = Setting(
    "trace_url",
    text("an address with {trace_id} in it", containing="{trace_id}"),
    None,
    "where a run's trace can be looked at",
)
CATALOGUE: Setting[str | None] = Setting("catalogue", text("the path of a JSON file"), None, "what models cost")
MARKUP: Setting[Decimal] = Setting("markup", A_MARKUP, DEFAULT_MARKUP, "what a cost is multiplied with")

LOG_LEVEL: Setting[str] = Setting(
    "log_level", word("debug", "info", "warning", "error"), "info", "the least that is written to the log"
)
LOG_FORMAT: Setting[str] = Setting(
    "log_format", word("auto", "text", "json"), "auto", "how it is written; auto: text on a terminal, else JSON"
)

TICK_MS: Setting[int] = Setting(
    "tick_ms",
    whole(1, 86_400_000),
    1000,
    "taken, and without effect: the engine waits for no tick, it wakes at the moment itself",
    is_ours=False,
)
LOOKAHEAD_MS: Setting[int] = Setting(
    "lookahead_ms", whole(1, 86_400_000), _REGISTRAR.lookahead_ms, "over how long `spread` lays out", is_ours=False
)
MAX_CATCHUP_PER_TICK: Setting[int] = Setting(
    "max_catchup_per_tick",
    whole(1, 10_000),
    _REGISTRAR.max_catchup_per_tick,
    "late slots that are taken up at once",
    is_ours=False,
)
DEFAULT_OVERLAP_POLICY: Setting[str] = Setting(
    "default_overlap_policy",
    word(*OverlapPolicy),
    _REGISTRAR.overlap_policy,
    "when a schedule does not say",
    is_ours=False,
)
DEFAULT_CATCHUP_POLICY: Setting[str] = Setting(
    "default_catchup_policy",
    word(*CatchupPolicy),
    _REGISTRAR.catchup_policy,
    "when a schedule does not say",
    is_ours=False,
)
DEFAULT_JITTER_MS: Setting[int] = Setting(
    "default_jitter_ms", whole(0, 86_400_000), _REGISTRAR.jitter_ms, "when a schedule does not say", is_ours=False
)

CONFIG: Setting[str | None] = Setting(
    "config", text("the path of a TOML file"), None, "the settings file, instead of the usual ones", in_file=False
)
URL: Setting[str | None] = Setting(
    "url", text("an address"), None, "the service that commands talk to; else the profile's", in_file=False
)
KEY: Setting[str | None] = Setting(
    "key", SECRET, None, "the API key that commands come with; else the profile's", is_secret=True, in_file=False
)

GROUPS: dict[str, tuple[Setting[Any], ...]] = {
    "The service": (APP, HOST, PORT, ADMIN_KEY, RATE_LIMIT, RATE_BURST),
    "The database": (DATABASE, POOL_SIZE, POOL_OVERFLOW, POOLER),
    "The engine": (LEASE, HEARTBEAT, LOOK, MAX_RUNNING, THREADS, KEEP_FOR, KEEP_RUNS, STOP_GRACE, STALL),
    "Other services": (
        INTERNAL_SECRET,
        GATE_TOKEN,
        JWT_ALGORITHM,
        JWT_KEY,
        JWT_ISSUER,
        JWT_AUDIENCE,
        JWT_REVOKED_KIDS,
        DECISION_SECRET,
        METRICS_TOKEN,
    ),
    "Targets, traces and prices": (HTTP_ALLOW, TRACE_URL, CATALOGUE, MARKUP),
    "The log": (LOG_LEVEL, LOG_FORMAT),
    "The registrar": (
        TICK_MS,
        LOOKAHEAD_MS,
        MAX_CATCHUP_PER_TICK,
        DEFAULT_OVERLAP_POLICY,
        DEFAULT_CATCHUP_POLICY,
        DEFAULT_JITTER_MS,
    ),
    "The command line": (CONFIG, URL, KEY),
}
"""By what they are about."""

TABLE: tuple[Setting[Any], ...] = tuple(setting for group in GROUPS.values() for setting in group)
