"""The verbs on webhooks: who is told what happens, at which address, and what has become of that."""

import asyncio
import json
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from threading import BoundedSemaphore
from typing import Any, TypeVar

from foliot import chance
from foliot.books.entries import Entries
from foliot.domain.access import Right
from foliot.domain.errors import Conflict, Denied, NotFound, TooMany, Unavailable
from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.notices import TEST, Envelope, Event, Letter, delivery_id, events_of, message_of, secret_env_of
from foliot.domain.policies import limit_of, switch_of
from foliot.domain.schedule import name_of
from foliot.ports import Carrier, Transaction
from foliot.rows import DeliveryRow, WebhookRow
from foliot.services.desk import Desk
from foliot.services.stretches import Stretch, stretch_of

T = TypeVar("T")

_MOST_OUTSIDE = 8
"""So many callers at once may wait for somebody else's server: a thread of ours waits with each."""
_outside = BoundedSemaphore(_MOST_OUTSIDE)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Somebody who is told what happens."""

    id: str
    owner: str
    url: str
    events: tuple[Event, ...]
    secret_env: str
    """The environment variable that has the secret, or with _FILE behind it names the file that does."""
    all_owners: bool
    """Whether they are told of everybody's schedules."""
    created_at: datetime
    number: int
    """In the order in which they were made."""


class Delivered(StrEnum):
    """How far a delivery has come."""

    PENDING = "pending"
    """It is sent now, or once more later."""
    ARRIVED = "arrived"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """Something that happened, on its way to a webhook."""

    id: str
    """The same each time that it is sent."""
    event: Event
    schedule: str
    owner: str
    """Of the schedule."""
    at: datetime
    data: Any
    state: Delivered
    tries: int
    next_at: datetime | None
    """When it is tried next, or tried again unless the one under way succeeds."""
    arrived_at: datetime | None
    error: str | None
    """What was wrong the last time."""
    number: int
    """In the order in which they came to be."""


@dataclass(frozen=True, slots=True)
class WebhookTest:
    """What came back when a webhook was tried."""

    id: str
    arrived: bool
    status: int | None
    """What was answered, if anything was."""
    error: str | None


Webhooks = list[Webhook]
Deliveries = list[WebhookDelivery]


class WebhookVerbs:
    """What may be asked of webhooks: of one's own, or by admins of everybody's. A webhook is named by its id."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create(
        self, url: str, events: str | Iterable[str] | None = None, *, secret_env: str, all_owners: bool = False
    ) -> Webhook:
        """Tell that URL of these events, or of all, from now on; `all_owners`, for admins: of everybody's schedules."""
        principal = self._desk.principal
        wanted = events_of(tuple(Event) if events is None else events)
        secret = secret_env_of(secret_env)
        if switch_of("all_owners", all_owners) and not principal.may(Right.ADMIN):
            raise Denied(f"{principal.user} may not be told of everybody's schedules: leave all_owners out")
        self._desk.check_new()
        host = _ask_outside(self._carrier().check(url))
        webhook_id = chance.short()

        def act(tx: Transaction, entries: Entries) -> Webhook:
            row = tx.insert_webhook(webhook_id, principal.user, url, json.dumps(wanted), secret, int(all_owners))
            if tx.secret_users(secret) != [principal.user]:
                # What is signed with it could be passed on to who trusts the other, as if it had come from there.
                raise Conflict(f"{secret} signs what somebody else is told: name another variable")
            # Only its host: the path may be a secret.
            entries.note("webhook.create", "webhook", webhook_id, host=host, events=wanted, all_owners=all_owners)
            return _view(row)

        return self._desk.write(act)

    def list(self, *, after: int = 0, limit: int = 100) -> Webhooks:
        """Those that the caller sees, in the order in which they were made, from the one after that number."""
        return [*self.page(after=after, limit=limit).items]

    def page(self, *, after: int = 0, limit: int = 100) -> Stretch[Webhook]:
        """The same, and where the rest begins."""
        limit_of(limit)
        owner = self._desk.principal.seen_owner
        return self._desk.read(
            lambda tx: stretch_of(tx.list_webhooks(owner, after, limit + 1), limit, _view, lambda row: (row.ref,))
        )

    def get(self, webhook: str) -> Webhook:
        return self._desk.read(lambda tx: _view(self._find(tx, webhook)))

    def delete(self, webhook: str) -> Webhook:
        """Tell it nothing more; what has not arrived yet is given up."""

        def act(tx: Transaction, entries: Entries) -> Webhook:
            row = self._find(tx, webhook)
            entries.note("webhook.delete", "webhook", webhook)
            tx.delete_webhook(row.ref)
            return _view(row)

        return self._desk.write(act)

    def deliveries(self, webhook: str, *, before: int | None = None, limit: int = 100) -> Deliveries:
        """What it was told, or is to be, the newest first, from the one before that number."""
        return [*self.deliveries_page(webhook, before=before, limit=limit).items]

    def deliveries_page(self, webhook: str, *, before: int | None = None, limit: int = 100) -> Stretch[WebhookDelivery]:
        """The same, and where the rest begins."""
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[WebhookDelivery]:
            row = self._find(tx, webhook)
            found = tx.deliveries_of(row.ref, before, limit + 1)
            return stretch_of(found, limit, lambda one: _delivery_view(row.id, one), lambda one: (one.ref,))

        return self._desk.read(act)

    def test(self, webhook: str) -> WebhookTest:
        """Send it something now, signed as everything is, and say what came back."""
        self._desk.check_new()
        carrier = self._carrier()
        row, at = self._desk.read(lambda tx: (self._find(tx, webhook), tx.now))
        test = f"{row.id}-test-{chance.short()}"
        body = message_of(test, TEST, Envelope(row.id, row.owner, None, at), {})
        carried = _ask_outside(carrier.carry(Letter(row.url, row.secret_env, test, TEST, body, at // MICROSECONDS)))

        def act(tx: Transaction, entries: Entries) -> WebhookTest:  # noqa: ARG001
            entries.note("webhook.test", "webhook", row.id, status=carried.status)
            return WebhookTest(test, carried.error is None, carried.status, carried.error)

        return self._desk.write(act)

    def _carrier(self) -> Carrier:
        carrier = self._desk.carrier
        if carrier is None:
            raise Unavailable("nothing is sent from here: a world in virtual time takes a carrier for that")
        return carrier

    def _find(self, tx: Transaction, webhook: str) -> WebhookRow:
        row = tx.webhook(name_of("a webhook", webhook))
        if row is None or not self._desk.principal.sees(row.owner):
            raise NotFound(f"there is no webhook {webhook!r}: `webhooks.list()` shows those that there are")
        return row


def _ask_outside(asked: Coroutine[Any, Any, T]) -> T:
    """What somebody else's server answers, wherever this is called from: also on the thread of an event loop."""
    if not _outside.acquire(blocking=False):
        asked.close()
        raise TooMany("too many webhooks are asked at the moment: try again in a few seconds", 5.0)
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="foliot-webhook") as thread:
            return thread.submit(asyncio.run, asked).result()
    finally:
        _outside.release()


def _view(row: WebhookRow) -> Webhook:
    return Webhook(
        id=row.id,
        owner=row.owner,
        url=row.url,
        events=tuple(map(Event, json.loads(row.events))),
        secret_env=row.secret_env,
        all_owners=bool(row.all_owners),
        created_at=moment_of(row.created_at),
        number=row.ref,
    )


def _delivery_view(webhook: str, row: DeliveryRow) -> WebhookDelivery:
    state = Delivered.GIVEN_UP if row.next_at is None else Delivered.PENDING
    return WebhookDelivery(
        id=delivery_id(webhook, row.notice_ref),
        event=Event(row.event),
        schedule=row.schedule,
        owner=row.owner,
        at=moment_of(row.at),
        data=json.loads(row.data),
        state=state if row.arrived_at is None else Delivered.ARRIVED,
        tries=row.tries,
        next_at=None if row.next_at is None else moment_of(row.next_at),
        arrived_at=None if row.arrived_at is None else moment_of(row.arrived_at),
        error=row.error,
        number=row.ref,
    )
