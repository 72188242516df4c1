"""`foliot account`: who pays, and what there is."""

from typing import Annotated

from typer import Argument, Option

from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of

app = new_app("See what there is to pay with, and top it up.")

OfUser = Annotated[str, Argument(metavar="USER", help="Whose; else yours.", show_default=False)]

_ACCOUNT = View({"USER": "user", "BALANCE": "balance", "LIMITED": "limited"}, name="user")
_POSTING = View(
    {"AT": "at", "KIND": "kind", "AMOUNT": "amount", "BALANCE": "balance_after", "REFERENCE": "reference"},
    name="reference",
)


@app.command("show")
@asking
def show_account(session: Session, user: OfUser = "me") -> None:
    """Show a balance.

    \b
    Examples:
      foliot account show
      foliot account show ann -o json
    """
    session.show(session.client.get(path_of("accounts", user)), _ACCOUNT)


@app.command("ledger")
@asking
def list_ledger(session: Session, user: OfUser = "me", limit: Limit = 50) -> None:
    """List what changed a balance, the newest first.

    \b
    Examples:
      foliot account ledger --limit 10
    """
    session.list(f"{path_of('accounts', user)}/ledger", _POSTING, limit)


@app.command("top-up")
@asking
def top_up(
    session: Session,
    user: Annotated[str, Argument(metavar="USER", help="Whose account.")],
    credits: Annotated[int, Argument(metavar="CREDITS", help="How many.")],
    reference: Annotated[str, Option(help="What it was for: the same one is added once.")],
) -> None:
    """Add credits to an account; for admins. The same reference adds them once, however often it is said.

    \b
    Examples:
      foliot account top-up ann 50000 --reference invoice-2026-117
    """
    body = {"credits": credits, "reference": reference}
    session.show(session.client.post(path_of("accounts", user, "top-up"), body), _ACCOUNT)


@app.command("limit")
@asking
def limit_account(
    session: Session,
    user: Annotated[str, Argument(metavar="USER", help="Whose account.")],
    limited: Annotated[bool, Option("--limited/--unlimited", help="Whether paid runs need a balance.")],
) -> None:
    """Say whether paid runs of an account need a balance; for admins.

    \b
    Examples:
      foliot account limit ann --unlimited
    """
    session.show(session.client.post(path_of("accounts", user, "limit"), {"limited": limited}), _ACCOUNT)
