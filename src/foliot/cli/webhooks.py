"""`foliot webhook`: who is told what happens."""

from typing import Annotated

from typer import Argument, Exit, Option

from foliot.cli.completion import complete_webhooks
from foliot.cli.consent import Yes, check_meant
from foliot.cli.exits import FAILED
from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of

app = new_app("Have a URL told what happens to your schedules.")

WebhookId = Annotated[str, Argument(metavar="WEBHOOK", help="Its id.", autocompletion=complete_webhooks)]

_WEBHOOK = View({"ID": "id", "URL": "url", "EVENTS": "events", "SECRET": "secret_env", "OWNER": "owner"})
_DELIVERY = View(
    {
        "ID": "id",
        "EVENT": "event",
        "SCHEDULE": "schedule",
        "AT": "at",
        "STATE": "state",
        "TRIES": "tries",
        "NEXT": "next_at",
        "ERROR": "error",
    }
)
_TEST = View({"ID": "id", "ARRIVED": "arrived", "STATUS": "status", "ERROR": "error"})


@app.command("create")
@asking
def create_webhook(
    session: Session,
    address: Annotated[str, Argument(metavar="URL", help="Where it is told.")],
    event: Annotated[list[str], Option("--event", metavar="EVENT", help="Such as run.failed; several times.")],
    secret_env: Annotated[
        str, Option(metavar="NAME", help="The service's environment variable with the secret: FOLIOT_WEBHOOK_….")
    ],
    all_owners: Annotated[bool, Option("--all-owners", help="Of everybody's schedules; for admins.")] = False,
) -> None:
    """Have a URL told what happens to your schedules from now on, signed.

    \b
    Examples:
      foliot webhook create https://example.com/foliot --event run.failed --secret-env FOLIOT_WEBHOOK_SHOP
    """
    body = {"url": address, "events": event, "secret_env": secret_env, "all_owners": all_owners}
    session.show(session.client.post("/webhooks", body), _WEBHOOK)


@app.command("list")
@asking
def list_webhooks(session: Session, limit: Limit = 100) -> None:
    """List webhooks.

    \b
    Examples:
      foliot webhook list
    """
    session.list("/webhooks", _WEBHOOK, limit)


@app.command("show")
@asking
def show_webhook(session: Session, webhook: WebhookId) -> None:
    """Show a webhook.

    \b
    Examples:
      foliot webhook show 4f2a9c01b7de
    """
    session.show(session.client.get(path_of("webhooks", webhook)), _WEBHOOK)


@app.command("delete")
@asking
def delete_webhook(session: Session, webhook: WebhookId, yes: Yes = False) -> None:
    """Tell it nothing more; what has not arrived yet is given up.

    \b
    Examples:
      foliot webhook delete 4f2a9c01b7de
    """
    found = session.client.get(path_of("webhooks", webhook))
    check_meant(f"Delete {found['id']}, which tells {found['url']}?", yes)
    session.client.write("DELETE", path_of("webhooks", webhook))
    session.say(f"foliot: {webhook} is deleted")
    if not session.is_for_people:
        session.show(found, _WEBHOOK)


@app.command("deliveries")
@asking
def list_deliveries(session: Session, webhook: WebhookId, limit: Limit = 50) -> None:
    """List what it was told, or is to be, the newest first.

    \b
    Examples:
      foliot webhook deliveries 4f2a9c01b7de --limit 10
    """
    session.list(path_of("webhooks", webhook, "deliveries"), _DELIVERY, limit)


@app.command("test")
@asking
def test_webhook(session: Session, webhook: WebhookId) -> None:
    """Send it something now, and say what came back; exit code 1 when it did not arrive.

    \b
    Examples:
      foliot webhook test 4f2a9c01b7de
    """
    found = session.client.post(path_of("webhooks", webhook, "test"))
    session.show(found, _TEST)
    if not found["arrived"]:
        raise Exit(FAILED)
