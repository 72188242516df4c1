"""Instants: whole microseconds since 1970 inside, aware datetimes and RFC 3339 at the edge."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from foliot.domain.errors import Invalid

MICROSECONDS = 1_000_000
"""In a second."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SAID_FROM = 0
_SAID_UNTIL = 7_258_118_400 * MICROSECONDS


def instant_of(moment: datetime | str, name: str) -> int:
    """The moment in microseconds; Invalid when it is no aware datetime or RFC 3339 text of the years 1970-2199."""
    if isinstance(moment, str):
        moment = _read(moment, name)
    if not isinstance(moment, datetime):
        raise Invalid(f"{name} takes an aware datetime or RFC 3339 text, got {moment!r}")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise Invalid(f"{name} takes a moment with its offset, such as 2026-11-15T09:00:00Z, got {moment.isoformat()}")
    instant = (moment - _EPOCH) // _MICROSECOND
    if not _SAID_FROM <= instant < _SAID_UNTIL:
        raise Invalid(f"{name} takes a moment of the years 1970-2199, got {moment.isoformat()}")
    return instant


def _read(text: str, name: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        # What a plus has become in a URL.
        remedy = ": in a URL write + as %2B" if " " in text[11:] else ""
        raise Invalid(f"{name} takes a moment such as 2026-11-15T09:00:00Z, got {text[:64]!r}{remedy}") from None


@lru_cache(maxsize=4096)
def moment_of(instant: int) -> datetime:
    """Remembered: many slots and rows are of the same instant."""
    return _EPOCH + timedelta(microseconds=instant)


def rfc3339(instant: int) -> str:
    """`2026-11-15T09:00:00Z`, with a fraction only where there is one."""
    return f"{moment_of(instant).replace(tzinfo=None).isoformat()}Z"
