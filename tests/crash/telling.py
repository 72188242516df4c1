"""Whether everything was told that happened: what is recorded, against what somebody outside has received.

At least once each, and recorded as arrived once, for good; nothing is told that did not happen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from foliot.domain.signing import SIGNATURE_HEADER, is_signed
from tests.crash.ledger import read_with
from tests.executors.receiver import Seen

SECRET_ENV = "FOLIOT_WEBHOOK_CRASH"
SECRET = "told at least once"
HOOK, PASSING = "/hook", "/passing"
"""Where they listen who stay, and who come and go."""


class Told(NamedTuple):
    """A notice, and how far it has come: its number, what happened to which run and when, and its delivery if any."""

    notice: int
    event: str
    run: int | None
    at: int
    next_at: int | None
    arrived_at: int | None
    has_delivery: int


class Telling(NamedTuple):
    """What is recorded."""

    webhook: str | None
    since: int
    told: Sequence[Told] = ()
    asked: Sequence[tuple[int, int]] = ()
    """The runs that have asked a person, and when."""

    @property
    def is_over(self) -> bool:
        return all(one.arrived_at is not None for one in self.told if one.at >= self.since)


NOBODY = Telling(None, 0)

_WEBHOOK = f"SELECT ref, id, created_at FROM webhooks WHERE url LIKE '%{HOOK}'"
_TOLD = """
    SELECT n.ref, n.event, n.run_ref, n.at, d.next_at, d.arrived_at, CASE WHEN d.ref IS NULL THEN 0 ELSE 1 END
    FROM notices n LEFT JOIN deliveries d ON d.notice_ref = n.ref AND d.webhook_ref = {:d} ORDER BY n.ref"""
_ASKED = "SELECT run_ref, asked_at FROM questions WHERE kind = 'approval' AND asked_at >= {:d}"


def read_telling(url: str) -> Telling:
    return read_with(url, _telling, NOBODY)


def _telling(cx: Any) -> Telling:
    webhooks = cx.execute(_WEBHOOK).fetchall()
    if not webhooks:
        return NOBODY
    ((ref, webhook, since),) = webhooks
    told = [Told(*row) for row in cx.execute(_TOLD.format(ref))]
    return Telling(webhook, since, told, [tuple(row) for row in cx.execute(_ASKED.format(since))])


def wrongly_told(telling: Telling, seen: Sequence[Seen]) -> Iterator[str]:
    """All that is wrong with what was told."""
    # Whoever dies while it sends may have sent a part.
    seen = [one for one in seen if len(one.body) == int(one.headers["content-length"])]
    received = Counter(one.headers["foliot-delivery"] for one in seen if one.path == HOOK)
    mine = [told for told in telling.told if told.at >= telling.since]
    for told in mine:
        times = received.pop(f"{telling.webhook}-{told.notice}", 0)
        if told.arrived_at is None or told.next_at is not None or not times:
            yield f"untold: {told}, received {times} times"
    for name in received:
        yield f"untold: {name} was received, and is nowhere recorded"
    waiting = Counter((told.run, told.at) for told in mine if told.event == "run.waiting")
    for asked in telling.asked:
        if waiting.pop(asked, 0) != 1:
            yield f"untold: run {asked} asks, and is not told of once"
    for run in waiting:
        yield f"untold: run {run} is told of, and does not ask"
    for one in seen:
        at = int(one.headers[SIGNATURE_HEADER.lower()].partition(",")[0].removeprefix("t="))
        if not is_signed(one.body, one.headers[SIGNATURE_HEADER.lower()], [SECRET], at):
            yield f"untold: {one} is not signed"
