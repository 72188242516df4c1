"""Answers: what it means for a run that an endpoint has answered so, or has not."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from foliot.domain.credits import Usage, usage_of
from foliot.domain.errors import Invalid
from foliot.domain.events import ErrorCode, Final
from foliot.domain.slots import fraction_of
from foliot.execution.executing import code_of, success_of

if TYPE_CHECKING:
    from foliot.executors.outbound import HttpAnswer

LONGEST_WAIT = 60.0
"""Seconds between two calls. Who asks for more is not called again within the delivery."""
USAGE_MEMBER = "foliot_usage"

_FIRST_WAIT = 0.5
_LONGEST_BACKOFF = 30.0
_MOST_USAGES = 1000
_LONGEST_QUOTE = 500
_LONGEST_SECONDS = 9
_BY_STATUS = {
    402: ErrorCode.INSUFFICIENT_CREDITS,
    404: ErrorCode.NOT_FOUND,
    408: ErrorCode.TIMEOUT,
    410: ErrorCode.NOT_FOUND,
    429: ErrorCode.RATE_LIMIT,
}
_REPEATED = frozenset({ErrorCode.TIMEOUT, ErrorCode.RATE_LIMIT, ErrorCode.PROVIDER_UNAVAILABLE})


class Judged(NamedTuple):
    """What a call came to."""

    final: Final
    usages: Sequence[Usage] = ()
    again: float | None = None
    """It may go better after so many seconds, or whenever it is repeated; None: it will not."""


def judge(asked: str, answer: "HttpAnswer", now: float) -> Judged:
    """What an answer means; `asked` names the call in words, `now` is in seconds since 1970."""
    wait = wait_asked_for(answer.headers, now)
    code = code_for(answer.status, is_busy=wait is not None)
    usages, said = usages_of(answer.json)
    if code is None:
        return Judged(_success(answer, said), usages)
    words = f"{asked} answered {answer.status}: {quote(answer)}".rstrip(": ")
    if 300 <= answer.status < 400:
        words = f"{asked} answered {answer.status}, and redirects are not followed: register the address it leads to"
    if wait is not None and wait > LONGEST_WAIT:
        return Judged(Final(code, words=f"{words} (it asks to wait {wait:.0f} s)"), usages)
    return Judged(Final(code, words=words), usages, (wait or 0.0) if code in _REPEATED else None)


def judge_failure(error: Exception, *, may_repeat: bool) -> Judged:
    """What it means that there is no answer; it may have been carried out all the same."""
    code = code_of(error)
    return Judged(Final(code, words=str(error)), (), 0.0 if may_repeat and code in _REPEATED else None)


def code_for(status: int, *, is_busy: bool = False) -> ErrorCode | None:
    """What the status says went wrong; None when it went well. `is_busy`: it says when to come again."""
    if 200 <= status < 300:
        return None
    if status >= 500 or (status == 409 and is_busy):
        return ErrorCode.PROVIDER_UNAVAILABLE
    # A redirect, a wrong credential, a wrong method: the same message will not be taken the next time either.
    return _BY_STATUS.get(status, ErrorCode.INVALID_REQUEST)


def wait_asked_for(headers: Mapping[str, str], now: float) -> float | None:
    """What `Retry-After` says, in seconds from now; None when it says nothing."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:_LONGEST_SECONDS])
    try:
        moment = parsedate_to_datetime(said)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)


def backoff(call: int, key: str) -> float:
    """Seconds after that call of a delivery, the first being 0: growing, bounded, and not the same for everybody."""
    wait = min(_FIRST_WAIT * (1 << min(call, 16)), _LONGEST_BACKOFF)
    return wait * (1 + fraction_of(key, call) / 2**64 / 2)


def quote(answer: "HttpAnswer") -> str:
    """The beginning of the body, as any database takes it."""
    return answer.text[:_LONGEST_QUOTE].replace("\0", "\\0").strip()


def _success(answer: "HttpAnswer", said: str | None) -> Final:
    if answer.is_cut:
        return Final(words=f"the result was not kept: the answer has more than {len(answer.body):,} bytes")
    final = success_of(without_usages(answer.json))
    return final if said is None else final._replace(words=said)


def usages_of(said: Any) -> tuple[Sequence[Usage], str | None]:
    """What the endpoint says that it has used, and what is wrong with how it says so."""
    given = said.get(USAGE_MEMBER) if isinstance(said, dict) else None
    if given is None:
        return (), None
    try:
        return _read_usages(given), None
    except Invalid as refusal:
        return (), f"what it used was not charged: {refusal}"


def without_usages(said: Any) -> Any:
    """The rest of what the endpoint says."""
    if not isinstance(said, dict):
        return said
    return {name: value for name, value in said.items() if name != USAGE_MEMBER}


def _read_usages(given: Any) -> list[Usage]:
    usages = given.get("usage") if isinstance(given, dict) else None
    known = {"unit", "model", "tokens", "cost"}
    if not isinstance(usages, list) or len(usages) > _MOST_USAGES:
        raise Invalid(f'{USAGE_MEMBER} takes {{"usage": [...]}} with at most {_MOST_USAGES:,} items')
    for item in usages:
        if not isinstance(item, dict) or "unit" not in item or set(item) - known:
            raise Invalid(f"an item of {USAGE_MEMBER} takes unit, and model, tokens, cost where they are known")
    return [usage_of(**item) for item in usages]
