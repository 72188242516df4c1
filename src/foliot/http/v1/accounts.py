"""Accounts over HTTP. An account is named by its user; `me` is the caller's."""

from typing import Annotated

from fastapi import Path
from pydantic import Field
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.credits import Posting as Kind
from foliot.domain.schedule import ME
from foliot.http.asking import Ask, Asked, answered, needs
from foliot.http.openapi import also, routes
from foliot.http.paging import LISTED, After, Limit, Listed, listed, place_of
from foliot.http.schemas import Given, Moment, Switch, Taken, Whole, such_as
from foliot.services.views import Account, Posting

router = routes("/accounts", "accounts")

WhoseAccount = Annotated[str, Path(max_length=1000, description="Its user; `me` is you.", examples=["me"])]


class Payment(Taken):
    """Credits that are added to an account, once for each reference. A dollar is 10,000,000 credits."""

    model_config = such_as(credits=10_000_000, reference="invoice 7")

    credits: Whole
    reference: str = Field(max_length=1000)


class SaidLimit(Taken):
    """Whether what is paid needs a balance."""

    model_config = such_as(limited=True)

    limited: Switch


class SaidRefund(Taken):
    """The charge for one call that is given back, once."""

    model_config = such_as(source="foliot", reference="digest:2026-11-15T09:00:00Z~1/1")

    source: str = Field(max_length=1000)
    reference: str = Field(max_length=1000)


class ShownAccount(Given):
    """Who pays, and what there is."""

    model_config = such_as(user="ann", balance=10_000_000, limited=True)

    user: str
    balance: int
    limited: bool


class ShownPosting(Given):
    """A change of a balance."""

    model_config = such_as(
        kind="top_up", amount=10_000_000, balance_after=10_000_000, reference="invoice 7", at="2026-11-15T09:00:00Z"
    )

    kind: Kind
    amount: int
    balance_after: int
    reference: str
    at: Moment


def _shown(account: Account) -> ShownAccount:
    return ShownAccount.model_validate(account)


def _shown_posting(posting: Posting) -> ShownPosting:
    return ShownPosting.model_validate(posting)


def _whose(asked: Ask, user: str) -> str:
    return asked.principal.user if user == ME else user


@router.get("/{user:path}/ledger", response_model=Listed[ShownPosting])
@needs(Right.READ)
def ledger(user: WhoseAccount, asked: Asked, after: After = None, limit: Limit = LISTED) -> Response:
    """What changed a balance, the newest first."""
    place = place_of(after, int)
    before = None if place is None else place[0]
    found = asked.verbs.accounts.ledger_page(_whose(asked, user), before=before, limit=limit)
    return answered(listed(ShownPosting, found, _shown_posting))


@router.get("/{user:path}", response_model=ShownAccount)
@needs(Right.READ)
def get(user: WhoseAccount, asked: Asked) -> Response:
    """What there is."""
    return answered(_shown(asked.verbs.accounts.get(_whose(asked, user))))


@router.post("/refund", response_model=ShownAccount, responses=also(404))
@needs(Right.ADMIN)
def refund(body: SaidRefund, asked: Asked) -> Response:
    """Give back what was charged for one call, once; the receipts of a run name it."""
    return asked.write(lambda verbs: verbs.accounts.refund(body.source, body.reference), _shown)


@router.post("/{user:path}/top-up", response_model=ShownAccount)
@needs(Right.ADMIN)
def top_up(user: WhoseAccount, body: Payment, asked: Asked) -> Response:
    """Add credits, once for each reference: asked again with the same one, nothing happens."""
    whose = _whose(asked, user)
    return asked.write(lambda verbs: verbs.accounts.top_up(whose, body.credits, body.reference), _shown)


@router.post("/{user:path}/limit", response_model=ShownAccount)
@needs(Right.ADMIN)
def limit(user: WhoseAccount, body: SaidLimit, asked: Asked) -> Response:
    """Whether what is paid needs a balance."""
    whose = _whose(asked, user)
    return asked.write(lambda verbs: verbs.accounts.limit(whose, body.limited), _shown)
