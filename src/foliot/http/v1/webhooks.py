"""Webhooks over HTTP: who is told what happens."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.notices import Event
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Json, Moment, Taken, such_as
from foliot.services.webhooks import Delivered, Webhook, WebhookDelivery, WebhookTest

router = routes("/webhooks", "webhooks")

_SHOP = {
    "url": "https://example.com/foliot",
    "events": ["run.failed", "run.recovered"],
    "secret_env": "FOLIOT_WEBHOOK_SHOP",
}


class NewWebhook(Taken):
    """A webhook that is to be."""

    model_config = such_as(**_SHOP)

    url: Annotated[str, Field(max_length=4000)]
    events: Annotated[list[Event], Field(min_length=1, max_length=20)]
    secret_env: Annotated[
        str,
        Field(
            pattern="^FOLIOT_WEBHOOK_[A-Z0-9_]{1,100}$",
            description="The environment variable of the service that has the secret; with _FILE behind it, its file.",
        ),
    ]
    all_owners: Annotated[bool, Field(description="Of everybody's schedules: for admins.")] = False


class ShownWebhook(Given):
    """A webhook, without what is secret of it."""

    id: str
    owner: str
    url: str
    events: list[Event]
    secret_env: str
    all_owners: bool
    created_at: Moment


class ShownDelivery(Given):
    """Something that happened, on its way to a webhook."""

    id: str
    event: Event
    schedule: str
    owner: str
    at: Moment
    data: Json
    state: Delivered
    tries: int
    next_at: Moment | None
    arrived_at: Moment | None
    error: str | None


class ShownWebhookTest(Given):
    """What came back."""

    id: str
    arrived: bool
    status: int | None
    error: str | None


def _shown(webhook: Webhook) -> ShownWebhook:
    return ShownWebhook.model_validate(webhook)


def _shown_delivery(delivery: WebhookDelivery) -> ShownDelivery:
    return ShownDelivery.model_validate(delivery)


def _shown_test(test: WebhookTest) -> ShownWebhookTest:
    return ShownWebhookTest.model_validate(test)


@router.post("", status_code=201, response_model=ShownWebhook)
@needs(Right.WRITE)
def create(body: NewWebhook, asked: Asked) -> Response:
    """Have a URL told what happens to your schedules from now on."""
    options = body.model_dump()
    return asked.write(lambda verbs: verbs.webhooks.create(**options), _shown, status=201)


@router.get("", response_model=Listed[ShownWebhook])
@needs(Right.READ)
def list_webhooks(asked: Asked, limit: Limit = LISTED, after: After = None) -> Response:
    """Your webhooks, or for admins everybody's, in the order in which they were made."""
    place = place_of(after, int)
    found = asked.verbs.webhooks.page(after=place[0] if place else 0, limit=limit)
    return answered(listed(ShownWebhook, found, _shown))


@router.get("/{webhook_id}", response_model=ShownWebhook)
@needs(Right.READ)
def get(webhook_id: str, asked: Asked) -> Response:
    """A webhook."""
    return answered(_shown(asked.verbs.webhooks.get(webhook_id)))


@router.delete("/{webhook_id}", status_code=204)
@needs(Right.WRITE)
def delete(webhook_id: str, asked: Asked) -> Response:
    """Tell it nothing more; what has not arrived yet is given up."""
    return asked.write(lambda verbs: verbs.webhooks.delete(webhook_id), lambda _: None, status=204)


@router.get("/{webhook_id}/deliveries", response_model=Listed[ShownDelivery])
@needs(Right.READ)
def deliveries(webhook_id: str, asked: Asked, limit: Limit = LISTED, after: After = None) -> Response:
    """What it was told, or is to be, the newest first."""
    place = place_of(after, int)
    found = asked.verbs.webhooks.deliveries_page(webhook_id, before=place[0] if place else None, limit=limit)
    return answered(listed(ShownDelivery, found, _shown_delivery))


@router.post("/{webhook_id}/test", response_model=ShownWebhookTest)
@needs(Right.WRITE)
def test(webhook_id: str, asked: Asked) -> Response:
    """Send it something now, signed as everything is, and say what came back."""
    return asked.write(lambda verbs: verbs.webhooks.test(webhook_id), _shown_test)
