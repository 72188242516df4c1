"""Reception: whatever an executor says that an execution came to, what is kept of it is sound."""

import json
from typing import NoReturn

from foliot.domain.credits import Usage, usage_of
from foliot.domain.errors import Invalid
from foliot.domain.events import SUCCEEDED, ErrorCode, Final, UsageReport
from foliot.domain.nesting import is_deeper
from foliot.domain.questions import asked_of
from foliot.domain.runs import Reason, Status
from foliot.domain.schedule import DEEPEST_KEPT, LONGEST_JSON, json_text
from foliot.domain.settlement import Outcome
from foliot.execution.executing import words_of

_SUCCESS = Outcome(Status.SUCCESS)


def outcome_of(final: object) -> Outcome:
    """A failure that cannot be kept is an internal one; of a success that is left out which cannot be kept."""
    if final is SUCCEEDED:
        return _SUCCESS
    if not isinstance(final, Final):
        return mistaken(f"its executor came to {got(final)}, and not to a Final")
    words = None if final.words is None else words_of(final.words)
    if final.question is not None:
        return _waiting(final.question)
    if final.error is None:
        return _success(final.result, words)
    return _failure(final.error, words)


def used_of(report: UsageReport) -> Usage:
    """What a report says was used; Invalid when that cannot be charged."""
    used: object = report.usage
    if not isinstance(used, Usage):
        raise Invalid(f"a UsageReport takes what `usage_of` makes, got {got(used)}")
    return usage_of(used.unit, source=used.source, model=used.model, tokens=used.tokens, cost=used.cost)


def code_in(error: object) -> ErrorCode | None:
    """The code of the closed list that was given; None when it is none of them."""
    return ErrorCode(error) if isinstance(error, str) and error in list(ErrorCode) else None


def mistaken(what: str) -> Outcome:
    """The end of an execution whose executor did not keep its promises."""
    return Outcome(Status.ERROR, Reason.INTERNAL, error=words_of(what))


def got(value: object) -> str:
    """What somebody has given instead, in short."""
    try:
        said = repr(value)[:80]
    except Exception:  # Its own code says what it looks like.
        said = "that cannot be shown"
    return f"{type(value).__name__} {said}"


def _failure(error: object, words: str | None) -> Outcome:
    code = code_in(error)
    if code is None:
        rule = f"its executor failed with {got(error)}, which is none of {', '.join(ErrorCode)}"
        return mistaken(rule if words is None else f"{rule}: {words}")
    return Outcome(Status.ERROR, Reason(code), error=words)


def _waiting(question: object) -> Outcome:
    try:
        return Outcome(Status.WAITING, question=asked_of(question))
    except Invalid as refusal:
        return mistaken(f"its executor asks what cannot be asked: {refusal}")


def _success(result: object, words: str | None) -> Outcome:
    if result is None:
        return Outcome(Status.SUCCESS, error=words)
    try:
        return Outcome(Status.SUCCESS, result=_kept(result), error=words)
    except (ValueError, RecursionError) as error:
        return Outcome(Status.SUCCESS, error=words_of(f"the result was not kept: {error}"))


def _kept(result: object) -> str | None:
    """The result as JSON; a ValueError when it is none, or too much."""
    if not isinstance(result, str):
        raise Invalid(f"a Final takes its result as JSON text, got {got(result)}: `success_of` makes it of any value")
    value = json.loads(result, parse_constant=_no_number)
    if result.isascii() and len(result) <= LONGEST_JSON and not is_deeper(result.encode(), DEEPEST_KEPT):
        return result
    return json_text("result", value)


def _no_number(name: str) -> NoReturn:
    raise Invalid(f"result takes what JSON can say, got {name}")
