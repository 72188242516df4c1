"""Sessions with PostgreSQL: what each is opened with, or each transaction sets where a pooler lends it any of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import URL, Engine, create_engine

from foliot.stores.pools import KeptConnections

LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "statement_timeout": "30000",
        "lock_timeout": "10000",
        "idle_in_transaction_session_timeout": "60000",
        "jit": "off",
    }
)
PLANS: Mapping[str, str] = MappingProxyType(
    {
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
    }
)
"""For those who write: every statement of theirs has its index. Left to choose, the server plans anew for each list of
keys, and by what a table was like when it was last counted: whole scans of a ledger that was empty a minute ago. Those
who only read ask for lists by many filters, which the server plans best."""

_MOMENT = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


class Pooling(NamedTuple):
    """How many connections are kept open to write, and as many to read; and how many more of either there may be."""

    kept: int = 2
    more: int = 4
    is_by_transaction: bool = False
    """Whether a pooler before the server, such as PgBouncer, lends each transaction whichever session is free: then
    nothing outlives a transaction, and nobody can listen."""


class Pool:
    """Connections that are alike: what each transaction on one begins with, and the connections themselves."""

    def __init__(self, url: URL, pooling: Pooling, settings: Mapping[str, str]) -> None:
        self.opening = _MOMENT
        """Asks for the database's time; where sessions are lent, it also sets what is in force until the commit."""
        if pooling.is_by_transaction:
            self.opening += "".join(f", set_config('{name}', '{value}', true)" for name, value in settings.items())
            # A statement that one session has prepared is not known to the next.
            session: dict[str, object] = {"prepare_threshold": None}
        else:
            session = {"options": options_of(settings)}
        self.engine: Engine = create_engine(
            url,
            poolclass=KeptConnections,
            pool_size=pooling.kept,
            max_overflow=pooling.more,
            pool_timeout=10,
            pool_pre_ping=False,
            pool_recycle=1800,
            hide_parameters=True,
            connect_args={
                "connect_timeout": 5,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 15000,
                "application_name": "foliot",
                **session,
            },
        )


def options_of(settings: Mapping[str, str]) -> str:
    """As a session's startup parameter `options`."""
    return " ".join(f"-c {name}={value}" for name, value in settings.items())
