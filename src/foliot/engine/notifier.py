"""The notifier: tells webhooks what happened, from the table, beside the engine and never in its way."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from foliot.domain.errors import Unavailable
from foliot.domain.instants import MICROSECONDS
from foliot.domain.notices import Carried, Envelope, Letter, Subscriber, delivery_id, is_for, message_of, next_try
from foliot.engine.settings import EngineSettings
from foliot.ports import Carrier, Database, Transaction
from foliot.rows import Parcel, WebhookRow

T = TypeVar("T")

log = logging.getLogger("foliot.engine")

AT_ONCE = 16
"""Letters of one process that are under way."""
AT_ONCE_TO_ONE = 4
"""Of these, to one webhook: one that is slow keeps nobody else waiting."""
_ADDRESSED_AT_ONCE = 500
_LOOKED_AT_ONCE = 100
_ENDS_WITHIN = 2.0
"""Seconds for what is under way when the engine stops."""
_AGAIN_AFTER = 1.0
"""Seconds until the next try when the database was away."""
_FOREVER = 3600.0
_INTERRUPTED = "its sender stopped before an answer came"


class Sent(NamedTuple):
    """A parcel that was sent, and what came of it."""

    parcel: Parcel
    carried: Carried


class Post(NamedTuple):
    """What is to be sent now."""

    parcels: list[Parcel]
    next_at: int | None
    """When there is something again: 0 at once, None when nobody knows."""
    is_full: bool
    """Whether more is left than there was room for."""


def handle_post(tx: Transaction, sent: Sequence[Sent], busy: Mapping[int, int], claim: int) -> Post:
    """Record what was sent, find out to whom what happened goes, and take what is to be sent now.

    `busy` counts what is still under way, by webhook. For the span of `claim` nobody else sends what is taken here.
    """
    _record_all(tx, sent)
    has_more = _address(tx)
    taken, is_full = _take(tx, busy, claim)
    parcels = []
    for parcel in taken:
        if parcel.deleted_at is None:
            parcels.append(parcel)
        else:
            tx.note_failure(parcel.ref, parcel.tries, None, "its webhook was deleted")
    is_idle = not parcels and not busy
    next_at = 0 if has_more or (is_full and is_idle) else tx.next_delivery_at()
    return Post(parcels, next_at, is_full and not is_idle)


def _record_all(tx: Transaction, sent: Sequence[Sent]) -> None:
    for parcel, (status, error, wait) in sent:
        if error is None:
            tx.note_arrival(parcel.ref)
            continue
        delivery = delivery_id(parcel.webhook, parcel.notice_ref)
        next_at = next_try(delivery, parcel.tries, tx.now, status=status, asked_to_wait=wait)
        if next_at is None:
            log.warning("%s is given up after %d tries: %s", delivery, parcel.tries, error)
        tx.note_failure(parcel.ref, parcel.tries, next_at, error)


def _address(tx: Transaction) -> bool:
    """Find out who is told what happened, some at a time; whether there may be more."""
    notices = tx.unaddressed(_ADDRESSED_AT_ONCE)
    if not notices:
        return False
    owners = {row.ref: row.owner for row in tx.configurations({notice.schedule_ref for notice in notices})}
    webhooks = [(row.ref, subscriber_of(row)) for row in tx.listening(set(owners.values()))]
    deliveries = [
        (notice.ref, ref)
        for notice in notices
        for ref, subscriber in webhooks
        if is_for(subscriber, owners[notice.schedule_ref], notice.event, notice.at)
    ]
    tx.address([notice.ref for notice in notices], deliveries)
    return len(notices) == _ADDRESSED_AT_ONCE


def subscriber_of(row: WebhookRow) -> Subscriber:
    return Subscriber(row.owner, frozenset(json.loads(row.events)), bool(row.all_owners), row.created_at)


def _take(tx: Transaction, busy: Mapping[int, int], claim: int) -> tuple[list[Parcel], bool]:
    """What there is room for, so much to each webhook, the longest due first; whether more may be left than that."""
    under_way: Counter[int] = Counter(busy)
    chosen: dict[int, tuple[int, int, int]] = {}
    while True:
        full = [webhook for webhook, number in under_way.items() if number >= AT_ONCE_TO_ONE]
        room = AT_ONCE - under_way.total()
        due = tx.deliveries_due(full, _LOOKED_AT_ONCE) if room > 0 else []
        new = [one for one in due if one[0] not in chosen]
        if not new:
            break
        for ref, webhook, tries in new:
            if under_way[webhook] < AT_ONCE_TO_ONE and under_way.total() < AT_ONCE:
                under_way[webhook] += 1
                chosen[ref] = (tries + 1, tx.now + claim, ref)
    parcels = tx.take_deliveries(list(chosen.values())) if chosen else []
    return parcels, room <= 0 or bool(full)


def letter_of(parcel: Parcel, now: int) -> Letter:
    delivery = delivery_id(parcel.webhook, parcel.notice_ref)
    envelope = Envelope(parcel.webhook, parcel.owner, parcel.schedule, parcel.at)
    body = message_of(delivery, parcel.event, envelope, json.loads(parcel.data))
    return Letter(parcel.url, parcel.secret_env, delivery, parcel.event, body, now // MICROSECONDS)


class Notifier:
    """Sleeps until the engine says that there is something, or it knows so itself."""

    def __init__(self, database: Database, carrier: Carrier, now: Callable[[], int], settings: EngineSettings) -> None:
        self._database = database
        self._carrier = carrier
        self._now = now
        self._claim = settings.lease
        self._inline = settings.inline
        self._poked = asyncio.Event()
        self._next_at: int | None = None
        self._sending: dict[tuple[int, int], tuple[Parcel, asyncio.Task[None]]] = {}
        """By delivery and try: one that takes longer than its claim may be taken again while it is under way."""
        self._sent: list[Sent] = []
        self._is_full = False
        self._is_stopping = False
        self._working: asyncio.Task[None] | None = None

    def look_at(self, moment: int | None) -> None:
        """There will be something to tell at that moment: at 0, something that nobody has looked at yet.

        While there is no room for what is due, it is looked at when something that is under way has ended.
        """
        if moment is None or self._is_stopping or (self._next_at is not None and self._next_at <= moment):
            return
        if self._is_full and 0 < moment <= self._now():
            return
        self._next_at = moment
        self._poked.set()
        if self._working is None:
            # Most programs have no webhook, and no use for another task.
            self._working = asyncio.get_running_loop().create_task(self._run())
            self._working.add_done_callback(_say_why_it_ended)

    async def stop(self) -> None:
        """Take up nothing more; what is under way may end in a moment, and what does not is sent again by others."""
        if self._working is None:
            return
        self._is_stopping = True
        self._poked.set()
        await asyncio.wait([self._working])
        sending = [task for _, task in self._sending.values()]
        if sending:
            await asyncio.wait(sending, timeout=_ENDS_WITHIN)
        left = [Sent(parcel, Carried(None, _INTERRUPTED)) for parcel, _ in self._sending.values()]
        self.die()
        ended = [*self._sent, *left]
        try:
            await self._write(lambda tx: _record_all(tx, ended))
        except Unavailable as error:
            log.warning("stopped without recording what webhooks were told: they are told again: %s", error)

    def die(self) -> None:
        """Nothing more is sent or written."""
        if self._working is not None:
            self._working.cancel()
        for _, task in self._sending.values():
            task.cancel()
        self._sending.clear()

    async def _run(self) -> None:
        while not self._is_stopping:
            if self._sent or (self._next_at is not None and self._next_at <= self._now()):
                await self._work()
            else:
                await self._sleep()

    async def _work(self) -> None:
        self._next_at = None
        sent = self._sent.copy()
        busy = Counter(parcel.webhook_ref for parcel, _ in self._sending.values())
        try:
            post = await self._write(lambda tx: handle_post(tx, sent, busy, self._claim))
        except Unavailable as error:
            log.warning("webhooks cannot be told anything now: %s", error)
            await self._wait(_AGAIN_AFTER)
            self.look_at(0)
            return
        del self._sent[: len(sent)]
        for parcel in post.parcels:
            task = asyncio.get_running_loop().create_task(self._send(parcel))
            self._sending[parcel.ref, parcel.tries] = (parcel, task)
        self._is_full = post.is_full
        self.look_at(post.next_at)

    async def _send(self, parcel: Parcel) -> None:
        try:
            carried = await self._carrier.carry(letter_of(parcel, self._now()))
        except Exception as error:  # Whatever it was, it must not keep its place among those under way for ever.
            log.exception("a letter to %s could not be sent", parcel.webhook)
            carried = Carried(None, f"it could not be sent: {type(error).__name__}")
        del self._sending[parcel.ref, parcel.tries]
        self._sent.append(Sent(parcel, carried))
        self._poked.set()

    async def _sleep(self) -> None:
        due_in = _FOREVER if self._next_at is None else (self._next_at - self._now()) / MICROSECONDS
        await self._wait(min(due_in, _FOREVER))

    async def _wait(self, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(max(seconds, 1e-6), self._poked.set)
        await self._poked.wait()
        timer.cancel()
        self._poked.clear()

    async def _write(self, act: Callable[[Transaction], T]) -> T:
        if self._inline:
            return self._database.write(act)
        return await asyncio.get_running_loop().run_in_executor(None, self._database.write, act)


def _say_why_it_ended(working: asyncio.Task[None]) -> None:
    if not working.cancelled() and (error := working.exception()) is not None:
        log.error("webhooks are told nothing any more", exc_info=error)
