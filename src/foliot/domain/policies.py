"""Policies: what a schedule wants done about overlap, lateness, failure, and how often it may start at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

from foliot.domain.budgets import Budget, read_budget
from foliot.domain.credits import RunLimits
from foliot.domain.durations import Span, positive_span_of, span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Reason
from foliot.domain.slots import fraction_of


class Overlap(StrEnum):
    """What becomes of a slot that is due while a run of its schedule is not over."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    CANCEL_OTHER = "cancel_other"
    TERMINATE_OTHER = "terminate_other"
    ALLOW_ALL = "allow_all"


OVERLAP_ALIASES = {
    "allow": Overlap.ALLOW_ALL,
    "Allow": Overlap.ALLOW_ALL,
    "queue": Overlap.BUFFER_ALL,
    "coalesce": Overlap.BUFFER_ONE,
    "Forbid": Overlap.SKIP,
    "Replace": Overlap.CANCEL_OTHER,
}


class CatchUp(StrEnum):
    """What becomes of slots that are found late."""

    NONE = "none"
    LAST = "last"
    ALL = "all"
    SPREAD = "spread"


CATCH_UP_ALIASES = {"fire_immediately": CatchUp.ALL}

RETRYABLE = (
    Reason.INTERNAL,
    Reason.LOST,
    Reason.PROVIDER_UNAVAILABLE,
    Reason.RATE_LIMIT,
    Reason.TIMEOUT,
)
"""What is retried when a retry policy does not say: what may go better the next time."""

FAILURES = (
    *RETRYABLE,
    Reason.ABORTED,
    Reason.FINALIZATION_LOST,
    Reason.INVALID_REQUEST,
    Reason.NOT_FOUND,
    Reason.RUN_LIMIT,
)
"""What a run can fail of, and so what a retry policy can name."""

_MOST_LISTED = 10_000
_JITTER_OF_BACKOFF = 5  # One fifth: 0-20 %.


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed run is tried again, after how long, and for which reasons."""

    attempts: int
    """All attempts, the first one included."""
    backoff: int = 10 * MICROSECONDS
    factor: int = 2
    longest: int = 600 * MICROSECONDS
    reasons: tuple[Reason, ...] = RETRYABLE

    def allows(self, attempt: int, reason: Reason) -> bool:
        """Whether one more attempt follows that one, which failed of that."""
        return attempt < self.attempts and reason in self.reasons

    def wait_after(self, attempt: int, key: str) -> int:
        """Microseconds from the end of that attempt to the next: growing, bounded, and not the same for everybody."""
        # The exponent is bounded, lest a thousandth attempt computes a number of a thousand digits.
        wait: int = min(self.backoff * self.factor ** min(attempt - 1, 64), self.longest)
        return wait + (fraction_of(key, attempt) * (wait // _JITTER_OF_BACKOFF) >> 64)


@dataclass(frozen=True, slots=True)
class Policies:
    """All that a schedule wants beyond its spec and its target. Lengths of time are microseconds."""

    overlap: Overlap = Overlap.SKIP
    buffer: int = 1000
    """How many slots `buffer_all` holds at most."""
    catchup: CatchUp = CatchUp.NONE
    window: int | None = None
    """How old a slot may be when it starts; None: of any age."""
    cap: int = 100
    """How many late slots one sweep takes up at most."""
    grace: int = 60 * MICROSECONDS
    lookahead: int = 60 * MICROSECONDS
    """Over how long a backlog is spread."""
    timeout: int | None = None
    retry: Retry | None = None
    limit: int | None = None
    """How many slots may start, ever; None: no limit."""
    pause_on_failure: bool = False
    budget: Budget | None = None
    """How much its runs may cost within a span of time; None: whatever they do."""
    max_calls: int | None = None
    """How many billable calls, tokens and credits one run may take; None: any number."""
    max_tokens: int | None = None
    max_credits: int | None = None

    @property
    def run_limits(self) -> RunLimits | None:
        limits = RunLimits(self.max_calls, self.max_tokens, self.max_credits)
        return None if limits == (None, None, None) else limits

    def as_text(self) -> str:
        """What differs from the defaults, as JSON: the same text for the same policies."""
        return _text_of(self)


@lru_cache(maxsize=4096)
def _text_of(policies: Policies) -> str:
    changed = {f.name: getattr(policies, f.name) for f in fields(policies) if getattr(policies, f.name) != f.default}
    if policies.retry is not None:
        changed["retry"] = {f.name: getattr(policies.retry, f.name) for f in fields(policies.retry)}
    if policies.budget is not None:
        changed["budget"] = policies.budget.as_written()
    return json.dumps(changed, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=4096)
def read_policies(text: str) -> Policies:
    """What `as_text` wrote."""
    data = json.loads(text)
    if "retry" in data:
        retry = data["retry"]
        data["retry"] = Retry(**{**retry, "reasons": tuple(map(Reason, retry["reasons"]))})
    if "budget" in data:
        data["budget"] = read_budget(data["budget"])
    for name, kind in (("overlap", Overlap), ("catchup", CatchUp)):
        if name in data:
            data[name] = kind(data[name])
    return Policies(**data)


def policies_of(
    base: Policies | None = None,
    *,
    overlap: str | None = None,
    buffer: int | None = None,
    catchup: str | None = None,
    catchup_window: Span | None = None,
    catchup_cap: int | None = None,
    grace: Span | None = None,
    lookahead: Span | None = None,
    timeout: Span | None = None,
    retry: int | Mapping[str, Any] | None = None,
    limit: int | None = None,
    pause_on_failure: bool | None = None,
    budget: Mapping[str, Any] | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_credits: int | None = None,
) -> Policies:
    """Policies as people write them, on top of others or of the defaults; what is None stays as it is.

    A window without a mode is Temporal's: all, within the window.
    """
    if catchup is None and catchup_window is not None and base is None:
        catchup = CatchUp.ALL
    given: dict[str, Any] = {
        "overlap": overlap_of(overlap),
        "buffer": count_of("buffer", buffer),
        "catchup": _option(CatchUp, "catchup", catchup, CATCH_UP_ALIASES),
        "window": None if catchup_window is None else positive_span_of("catchup_window", catchup_window),
        "cap": count_of("catchup_cap", catchup_cap),
        "grace": None if grace is None else span_of("grace", grace),
        "lookahead": None if lookahead is None else positive_span_of("lookahead", lookahead),
        "timeout": None if timeout is None else positive_span_of("timeout", timeout),
        "retry": None if retry is None else _retry(retry),
        "limit": count_of("limit", limit),
        "pause_on_failure": _switch("pause_on_failure", pause_on_failure),
        "budget": None if budget is None else read_budget(budget),
        "max_calls": count_of("max_calls", max_calls),
        "max_tokens": count_of("max_tokens", max_tokens),
        "max_credits": count_of("max_credits", max_credits, 10**15),
    }
    return replace(base or Policies(), **{name: value for name, value in given.items() if value is not None})


def overlap_of(text: str | None) -> Overlap | None:
    """The policy of that name or alias; None for none."""
    return _option(Overlap, "overlap", text, OVERLAP_ALIASES)


def count_of(name: str, count: int | None, most: int = 10**9) -> int | None:
    """A whole number of at least 1, or None; Invalid for anything else."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most):
        raise Invalid(f"{name} takes a whole number from 1 to {most:,}, got {count!r:.80}")
    return count


def limit_of(limit: int, remedy: str = "") -> int:
    """How many a list may have; Invalid for anything else."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST_LISTED:
        raise Invalid(f"limit takes 1 to {_MOST_LISTED:,}, got {limit!r:.80}{remedy}")
    return limit


def switch_of(name: str, value: bool) -> bool:
    """True or False; Invalid for anything else, also for what Python would take for one of them."""
    if not isinstance(value, bool):
        raise Invalid(f"{name} takes true or false, got {value!r:.80}")
    return value


def _switch(name: str, value: bool | None) -> bool | None:
    return None if value is None else switch_of(name, value)


_Option = TypeVar("_Option", bound=StrEnum)


def _option(kind: type[_Option], name: str, text: str | None, aliases: Mapping[str, _Option]) -> _Option | None:
    if text is None:
        return None
    if isinstance(text, str) and text in aliases:
        return aliases[text]
    try:
        return kind(text)
    except ValueError:
        raise Invalid(f"{name} takes {', '.join(map(repr, map(str, kind)))}, got {text!r}") from None


def _retry(retry: int | Mapping[str, Any]) -> Retry:
    given: Mapping[str, Any] = {"attempts": retry} if isinstance(retry, int) else retry
    known = ("attempts", "backoff", "factor", "longest", "reasons")
    if not isinstance(given, Mapping) or "attempts" not in given or set(given) - set(known):
        raise Invalid(f"retry takes a number of attempts, or a mapping of {', '.join(known)}, got {retry!r}")
    attempts = given["attempts"]
    if isinstance(attempts, bool) or not isinstance(attempts, int) or not 2 <= attempts <= 1000:
        raise Invalid(f"retry takes 2 to 1000 attempts, the first one included, got {attempts!r}")
    factor = given.get("factor", 2)
    if isinstance(factor, bool) or not isinstance(factor, int) or not 1 <= factor <= 10:
        raise Invalid(f"retry takes a whole factor from 1 to 10, got {factor!r}")
    chosen: dict[str, Any] = {"attempts": attempts, "factor": factor}
    for name in ("backoff", "longest"):
        if name in given:
            chosen[name] = span_of(f"retry {name}", given[name])
    if "reasons" in given:
        if not isinstance(given["reasons"], list | tuple | set | frozenset):
            raise Invalid(f"retry takes reasons as a list, got {given['reasons']!r}")
        chosen["reasons"] = tuple(sorted({_reason(reason) for reason in given["reasons"]}))
    return Retry(**chosen)


def _reason(text: str) -> Reason:
    if text not in FAILURES:
        raise Invalid(f"retry takes the reasons {', '.join(sorted(FAILURES))}, got {text!r}")
    return Reason(text)
