"""Questions: what a run asks of a person, who may answer, until when, and what an answer does."""

import json
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.durations import Span, positive_span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.schedule import json_text, text_of, user_of

DEFAULT_EXPIRY = 7 * 86_400 * MICROSECONDS
CALLBACK = "callback"
"""The kind of a question that no person is asked: a target will report."""
UNKNOWN_OUTCOME = "unknown_outcome"
"""The kind that is asked when nobody knows whether a run's code has done its work before its worker was gone."""
_OURS = (CALLBACK, UNKNOWN_OUTCOME)
_LONGEST_DATA = 256_000
_LONGEST_FEEDBACK = 64_000


class Verdict(StrEnum):
    """What a person says."""

    APPROVE = "approve"
    """Go on."""
    REVISE = "revise"
    """Go on, and mind what is said beside it."""
    REJECT = "reject"
    """Do not: the run is over."""


class AtExpiry(StrEnum):
    """What becomes of a run that nobody has answered in time."""

    REJECT = "reject"
    APPROVE = "approve"
    FAIL = "fail"
    """It has failed: what it waited for did not come."""


class Question(NamedTuple):
    """What a run waits to be told."""

    kind: str
    data: str | None = None
    """As JSON: what is to be judged."""
    who: tuple[str, ...] = ()
    """Who may answer; nobody named: whoever can reach it."""
    expires_in: int = DEFAULT_EXPIRY
    at_expiry: AtExpiry = AtExpiry.REJECT
    reference: str | None = None
    """For its executor alone, to find its place again."""


class Answer(NamedTuple):
    """What was decided, as the run is told when it goes on."""

    verdict: Verdict
    feedback: str | None
    """As JSON."""
    by: str
    reference: str | None
    """What its executor kept with the question."""


def question_of(
    kind: str, data: Any = None, *, who: Iterable[str] = (), expires_in: Span | None = None, at_expiry: str = "reject"
) -> Question:
    """A question as people write it; Invalid unless it can be asked."""
    if isinstance(who, str) or not isinstance(who, Iterable):
        raise Invalid(f"who takes a list of users, such as ['ann'], got {who!r:.80}")
    if at_expiry not in list(AtExpiry):
        raise Invalid(f"at_expiry takes {', '.join(map(repr, map(str, AtExpiry)))}, got {at_expiry!r}")
    span = DEFAULT_EXPIRY if expires_in is None else positive_span_of("expires_in", expires_in)
    if not kind or text_of("kind", kind) is None or kind in _OURS:
        raise Invalid(f"a question takes a kind, such as 'approval', other than {' and '.join(_OURS)}, got {kind!r}")
    written = json_text("data", data)
    if written is not None and len(written) > _LONGEST_DATA:
        raise Invalid(f"a question takes at most {_LONGEST_DATA:,} characters of JSON, got {len(written):,}")
    return Question(kind, written, tuple(user_of(user) for user in who), span, AtExpiry(at_expiry))


def about_unknown_outcome(losses: int, reference: str | None) -> Question:
    """Whether a run is delivered once more of which nobody knows whether its code has done its work."""
    return Question(UNKNOWN_OUTCOME, json_text("data", {"losses": losses}), reference=reference)


def asked_of(question: object) -> Question:
    """A question that an executor has made itself, as it is kept; Invalid unless it can be asked."""
    if not isinstance(question, Question):
        raise Invalid(f"a question is what `question_of` makes, got {type(question).__name__}")
    kind, data, who, expires_in, at_expiry, reference = question
    try:
        asked = question_of(
            "callback of a target" if kind == CALLBACK else kind,
            None if data is None else json.loads(data),
            who=who,
            expires_in=timedelta(microseconds=expires_in),
            at_expiry=at_expiry,
        )
        if reference is not None and b"\0" in reference.encode():
            raise ValueError("its reference has a zero in it")
    except Invalid:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid(f"a question is what `question_of` makes, got one that cannot be kept: {error}") from error
    return asked._replace(kind=kind, reference=reference)


def question_shown(question: Question) -> dict[str, Any]:
    """The question for whoever is to answer it."""
    data = None if question.data is None else json.loads(question.data)
    return {"kind": question.kind, "data": data, "who": list(question.who)}


def verdict_of(text: str) -> Verdict:
    if text not in list(Verdict):
        raise Invalid(f"a decision is {', '.join(map(repr, map(str, Verdict)))}, got {text!r}")
    return Verdict(text)


def feedback_of(value: Any) -> str | None:
    """What stands beside a decision, as JSON; Invalid when it is too long."""
    written = json_text("feedback", value)
    if written is not None and len(written) > _LONGEST_FEEDBACK:
        raise Invalid(f"feedback takes at most {_LONGEST_FEEDBACK:,} characters of JSON, got {len(written):,}")
    return written
