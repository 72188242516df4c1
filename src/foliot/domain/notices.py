"""Notices: what somebody outside is told of, when, in which words, and how often it is tried to tell them."""

import json
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.durations import DAY
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.questions import CALLBACK, Question
from foliot.domain.runs import Kind, Reason
from foliot.domain.settlement import Memory, Outcome
from foliot.domain.slots import SlotKey, fraction_of, run_id

_LONGEST_ERROR = 1000
"""Characters of the first line of an error: the rest, where its code is shown, stays in the ledger."""
SIGNING_VARIABLES = "FOLIOT_WEBHOOK_"
"""Of the variables that hold webhooks' secrets, which are no settings."""
_SECRET_ENV = re.compile(f"{SIGNING_VARIABLES}[A-Z0-9_]{{1,100}}", re.ASCII)
_FIRST_WAIT = 10 * MICROSECONDS
_TIMES = 3
LONGEST_WAIT = DAY // 4 * MICROSECONDS
MOST_TRIES = 11
"""With the waits between them that is most of a day: then it is given up."""
_GONE = 410
"""What a receiver answers that wants nothing more, ever."""


class Event(StrEnum):
    """What happened."""

    RUN_FAILED = "run.failed"
    """The last attempt at a slot ended in an error."""
    RUN_MISSED = "run.missed"
    """Nothing was there to start it in time."""
    RUN_RECOVERED = "run.recovered"
    """It went well again, after it had failed."""
    BUDGET_REACHED = "budget.reached"
    """A slot was not started, for the budget is spent."""
    RUN_WAITING = "run.waiting"
    """A run waits for a person."""


TEST = "test"
"""Instead of an event: somebody wants to see whether anything arrives."""


class Notice(NamedTuple):
    """Something that happened, and what is said of it."""

    event: Event
    data: dict[str, Any]


class Tally(NamedTuple):
    """Slots that the same became of."""

    size: int
    first_at: int
    last_at: int


def tally_of(moments: Sequence[tuple[int, int, int]]) -> Tally | None:
    """All of them as one: each is the first, the last and how many there are; None when there are none."""
    if not moments:
        return None
    firsts, lasts, sizes = zip(*moments, strict=True)
    return Tally(sum(sizes), min(firsts), max(lasts))


def of_end(slot: SlotKey, attempt: int, outcome: Outcome, memory: Memory, *, had_failed: bool) -> Notice | None:
    """What is told when the last attempt at a slot is over: that it failed, or that it went well after a failure.

    What went well as before is nobody's news, nor what somebody cancelled. A backfill makes up for the past, and says
    nothing of how the schedule does now: its failures are told, but no recovery.
    """
    said = _of_run(slot, attempt)
    if memory is Memory.FAILURE:
        error = None if outcome.error is None else outcome.error.partition("\n")[0][:_LONGEST_ERROR]
        return Notice(Event.RUN_FAILED, {**said, "reason": outcome.reason, "error": error})
    if memory is Memory.RESULT and had_failed and slot.kind is not Kind.BACKFILL:
        return Notice(Event.RUN_RECOVERED, said)
    return None


def of_misses(missed: Tally) -> Notice:
    """However many were missed in a row, it is told once."""
    return Notice(Event.RUN_MISSED, _of_tally(missed))


def of_budget(unstarted: Tally, refusals_before: int) -> Notice | None:
    """Told when the first is not started, and not again until something has been: who must act knows by then."""
    if refusals_before:
        return None
    return Notice(Event.BUDGET_REACHED, {"reason": Reason.OVER_BUDGET, **_of_tally(unstarted)})


def of_question(slot: SlotKey, attempt: int, question: Question, expires_at: int) -> Notice | None:
    """What a target will report is asked of no person."""
    if question.kind == CALLBACK:
        return None
    asked = {"question": question.kind, "who": list(question.who), "expires_at": rfc3339(expires_at)}
    return Notice(Event.RUN_WAITING, {**_of_run(slot, attempt), **asked})


def _of_run(slot: SlotKey, attempt: int) -> dict[str, Any]:
    nominal = rfc3339(slot.nominal_at)
    return {"run": run_id(slot, attempt), "kind": slot.kind, "scheduled_for": nominal, "attempt": attempt}


def _of_tally(tally: Tally) -> dict[str, Any]:
    size, first_at, last_at = tally
    return {"count": size, "first_at": rfc3339(first_at), "last_at": rfc3339(last_at)}


def sentence(event: str, schedule: str | None, data: dict[str, Any]) -> str:
    """What a person reads."""
    match event:
        case Event.RUN_FAILED:
            why = f"{data['reason']}: {data['error']}" if data["error"] else data["reason"]
            return f"{schedule}: {data['run']} failed ({why})"
        case Event.RUN_RECOVERED:
            return f"{schedule}: {data['run']} went well again, after a failure"
        case Event.RUN_MISSED:
            return f"{schedule}: {_counted(data)} missed"
        case Event.BUDGET_REACHED:
            return f"{schedule}: {_counted(data)} not started, for the budget is spent"
        case Event.RUN_WAITING:
            who = f" of {', '.join(data['who'])}" if data["who"] else ""
            return f"{schedule}: {data['run']} waits for a decision{who} until {data['expires_at']}"
        case _:
            return "Foliot can reach this address"


def _counted(data: dict[str, Any]) -> str:
    if data["count"] == 1:
        return f"the slot of {data['first_at']} was"
    return f"{data['count']:,} slots from {data['first_at']} to {data['last_at']} were"


class Envelope(NamedTuple):
    """Who is told, and what is known of a notice besides what it says."""

    webhook: str
    owner: str
    """Whose schedule it is."""
    schedule: str | None
    at: int


class Subscriber(NamedTuple):
    """Who wants to be told, and of what."""

    owner: str
    events: frozenset[str]
    hears_all: bool
    """Of everybody's schedules; only an admin may."""
    since: int


def is_for(subscriber: Subscriber, owner: str, event: str, at: int) -> bool:
    """Whether they are told of something that happened to that owner's schedule then, and not before they asked."""
    return event in subscriber.events and subscriber.since <= at and (subscriber.hears_all or subscriber.owner == owner)


def delivery_id(webhook: str, notice: int) -> str:
    """The same each time that the notice is sent to that webhook: by it a receiver knows a repetition."""
    return f"{webhook}-{notice}"


def message_of(delivery: str, event: str, envelope: Envelope, data: dict[str, Any]) -> bytes:
    """What is sent, as JSON: the same bytes each time."""
    told = {
        "id": delivery,
        "webhook": envelope.webhook,
        "event": event,
        "at": rfc3339(envelope.at),
        "owner": envelope.owner,
        "schedule": envelope.schedule,
        "text": sentence(event, envelope.schedule, data),
        "data": data,
    }
    return json.dumps(told, separators=(",", ":")).encode()


def has_arrived(status: int) -> bool:
    return 200 <= status < 300


def next_try(delivery: str, tries: int, now: int, *, status: int | None, asked_to_wait: float | None) -> int | None:
    """When it is sent once more that has failed so often; None when it is given up.

    Ten seconds later at first, each time three times that, and a little more that is not the same for everybody.
    """
    if tries >= MOST_TRIES or status == _GONE:
        return None
    wait = int(min(_FIRST_WAIT * _TIMES ** (tries - 1), LONGEST_WAIT))
    wait += wait * fraction_of(delivery, tries) // 2**64 // 10
    asked = 0 if asked_to_wait is None else round(min(asked_to_wait, DAY) * MICROSECONDS)
    return now + max(wait, min(asked, LONGEST_WAIT))


def events_of(events: object) -> tuple[Event, ...]:
    """The events that somebody wants to be told of, in their order; Invalid unless there are some, all known."""
    given = [events] if isinstance(events, str) else events
    words = ", ".join(map(repr, map(str, Event)))
    listed = list(given) if isinstance(given, Iterable) else []
    if not listed or not all(isinstance(event, str) and event in list(Event) for event in listed):
        raise Invalid(f"events take one or more of {words}, got {events!r:.200}")
    return tuple(event for event in Event if event in listed)


def secret_env_of(name: object) -> str:
    """The name of a variable that holds a webhook's secret; Invalid for any other variable.

    What is signed with it goes to whoever has the webhook: no other secret of this process may be tried out there.
    """
    if not isinstance(name, str) or not _SECRET_ENV.fullmatch(name):
        raise Invalid(
            "secret_env takes the name of an environment variable, FOLIOT_WEBHOOK_ and then A-Z, 0-9 or _, such as"
            f" FOLIOT_WEBHOOK_SHOP, got {name!r:.200}"
        )
    return name


class Letter(NamedTuple):
    """What is sent to a webhook."""

    url: str
    secret_env: str
    """Where the secret is that signs it."""
    delivery: str
    """By which its receiver knows it again."""
    event: str
    body: bytes
    at: int
    """When it is signed, in seconds since 1970."""


class Carried(NamedTuple):
    """What came of sending it."""

    status: int | None
    """What was answered, if anything was."""
    error: str | None
    """Why it has not arrived; None when it has."""
    wait: float | None = None
    """Its receiver wants to be left alone for so many seconds."""
