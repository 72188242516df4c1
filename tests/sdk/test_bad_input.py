"""Whatever is said to a verb, it does it or refuses it in words: no error of Python's or of a database's gets out."""

import asyncio
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from foliot import Denied, Foliot, Invalid, Pricing, Refusal
from foliot.domain.credits import read_catalogue
from foliot.services.permission import account_of
from foliot.testing import World, virtual
from tests.sdk.worlds import START

JOB = "graph:execute:python:job"
MODELS = read_catalogue({"small": {"is_free": True}, "large": {"usd_per_token": "0.000002"}})
HUGE = 10**30
VALUES: tuple[Any, ...] = (
    *(None, True, False, 5, 0, -1, 1.5, float("nan"), float("inf"), HUGE, -HUGE, Decimal("1e400"), b"x", object()),
    *([], {}, [[]], [None], [5], {"a": []}, ()),
    *("", " ", "a\x00", "\ud800", "*", "x" * 5000, "9" * 5000, "grant-0", f"grant-{'9' * 30}", f"grant-{'9' * 5000}"),
    *("digest:2026-11-15T12:05:00Z~1\x00", f"digest:2026-11-15T12:05:00Z~{'9' * 30}", "9999-12-31T23:59:59Z"),
)
"""What people may say by mistake, or to see what happens."""

VERBS: dict[str, Callable[[Foliot, Any], object]] = {
    "grants.create scopes": lambda app, said: app.grants.create(said),
    "grants.create user": lambda app, said: app.grants.create(JOB, user=said),
    "grants.create expires_at": lambda app, said: app.grants.create(JOB, expires_at=said),
    "grants.create budget": lambda app, said: app.grants.create(JOB, budget=said),
    "grants.create budget credits": lambda app, said: app.grants.create(JOB, budget={"credits": said}),
    "grants.create everything": lambda app, said: app.grants.create("graph:execute:*", everything=said),
    "grants.get": lambda app, said: app.grants.get(said),
    "grants.list": lambda app, said: app.grants.list(said),
    "grants.extend": lambda app, said: app.grants.extend(said, None),
    "grants.extend expires_at": lambda app, said: app.grants.extend("grant-1", said),
    "grants.rescope": lambda app, said: app.grants.rescope(said, JOB),
    "grants.rescope scopes": lambda app, said: app.grants.rescope("grant-1", said),
    "grants.allow": lambda app, said: app.grants.allow("grant-1", said),
    "grants.revoke": lambda app, said: app.grants.revoke(said),
    "accounts.get": lambda app, said: app.accounts.get(said),
    "accounts.top_up user": lambda app, said: app.accounts.top_up(said, 1, "payment"),
    "accounts.top_up credits": lambda app, said: app.accounts.top_up("bob", said, "payment"),
    "accounts.top_up reference": lambda app, said: app.accounts.top_up("bob", 1, said),
    "accounts.refund source": lambda app, said: app.accounts.refund(said, "x"),
    "accounts.refund reference": lambda app, said: app.accounts.refund("foliot", said),
    "accounts.limit": lambda app, said: app.accounts.limit(said, True),
    "accounts.limit limited": lambda app, said: app.accounts.limit("bob", said),
    "accounts.ledger": lambda app, said: app.accounts.ledger(said),
    "accounts.ledger limit": lambda app, said: app.accounts.ledger("ann", limit=said),
    "requests.get": lambda app, said: app.requests.get(said),
    "requests.list stage": lambda app, said: app.requests.list(said),
    "requests.list limit": lambda app, said: app.requests.list(limit=said),
    "requests.decide": lambda app, said: app.requests.decide(said, "approve"),
    "schedules.get": lambda app, said: app.schedules.get(said),
    "schedules.list app": lambda app, said: app.schedules.list(app=said),
    "schedules.list target": lambda app, said: app.schedules.list(target=said),
    "schedules.list limit": lambda app, said: app.schedules.list(limit=said),
    "schedules.list after": lambda app, said: app.schedules.list(after=said),
    "schedules.create grant": lambda app, said: app.schedules.create("new", target="job", every="1h", grant=said),
    "schedules.create target": lambda app, said: app.schedules.create("newer", target=said, every="1h"),
    "schedules.patch grant": lambda app, said: app.schedules.patch("digest", grant=said),
    "schedules.patch token": lambda app, said: app.schedules.patch("digest", token=said),
    "schedules.pause note": lambda app, said: app.schedules.pause("digest", said),
    "schedules.pause by": lambda app, said: app.schedules.pause("digest", by=said),
    "schedules.times": lambda app, said: app.schedules.times("digest", count=said),
    "schedules.estimate": lambda app, said: app.schedules.estimate("digest", said),
    "runs.list status": lambda app, said: app.runs.list(status=said),
    "runs.list limit": lambda app, said: app.runs.list(limit=said),
    "runs.list offset": lambda app, said: app.runs.list(offset=said),
    "runs.list backfill": lambda app, said: app.runs.list(backfill=said),
    "runs.get": lambda app, said: app.runs.get(said),
    "runs.receipts": lambda app, said: app.runs.receipts(said),
    "runs.questions": lambda app, said: app.runs.questions(said),
    "runs.decide": lambda app, said: app.runs.decide(said, "approve"),
    "runs.decide verdict": lambda app, said: app.runs.decide("digest:2026-11-15T12:05:00Z~1", said),
    "runs.decide by": lambda app, said: app.runs.decide("digest:2026-11-15T12:05:00Z~1", "approve", by=said),
    "runs.decide id": lambda app, said: app.runs.decide("digest:2026-11-15T12:05:00Z~1", "approve", id=said),
    "execute": lambda app, said: asyncio.run(app.execute(said, key="key")),
    "execute grant": lambda app, said: asyncio.run(app.execute("job", key="key-2", grant=said)),
}


def work(input: Any, ctx: Any) -> None:
    """What is registered where that is not what is tried."""


class Unlike:
    """Something that can be called, and is like nothing else."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, input: Any, ctx: Any) -> None:
        """Does nothing."""


ENDPOINT: dict[str, Any] = {"name": "hook", "url": "https://example.com", "secret": "s" * 20, "callback": True}
ENDPOINT_OPTIONS = (*ENDPOINT, "secret_env", "headers", "timeout", "retries", "callback_within", "on_unknown")
LANGGRAPH_OPTIONS = ("thread", "recursion_limit", "callbacks", "on_unknown", "who", "expires_in", "at_expiry")


def a_langgraph(option: str) -> Callable[[Foliot, Any], object]:
    return lambda app, said: app.langgraph("new", work, **{option: said})


def an_endpoint(option: str) -> Callable[[Foliot, Any], object]:
    given = ENDPOINT | ({"secret": None} if option == "secret_env" else {})
    return lambda app, said: app.endpoint(**given | {option: said})


REGISTRATIONS: dict[str, Callable[[Foliot, Any], object]] = {
    "graph": lambda app, said: app.graph(said)(work),
    "graph function": lambda app, said: app.graph("new")(said),
    "graph on_unknown": lambda app, said: app.graph("new", on_unknown=said)(work),
    "action": lambda app, said: app.action(said)(work),
    "action function": lambda app, said: app.action("new")(said),
    "provider": lambda app, said: app.provider(said, app.functions),
    "provider executor": lambda app, said: app.provider("new", said),
    "schedule": lambda app, said: app.schedule(said, every="1h")(work),
    "schedule function": lambda app, said: app.schedule("new", every="1h")(said),
    "langgraph": lambda app, said: app.langgraph(said, lambda: None),
    "langgraph graph": lambda app, said: app.langgraph("new", said),
    **{f"langgraph {option}": a_langgraph(option) for option in LANGGRAPH_OPTIONS},
    **{f"endpoint {option}": an_endpoint(option) for option in ENDPOINT_OPTIONS},
}


def an_app() -> Foliot:
    app = Foliot("sqlite:///not-used.db", pricing=Pricing(MODELS))

    @app.graph("job")
    async def job(input: Any, ctx: Any) -> None:
        if input and "who" in input and ctx.decision is None:
            ctx.ask("approval", who=input["who"])

    return app


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        world.app.schedules.create("digest", target="job", every="5m", user="ann")
        yield world


def test_whatever_is_said_to_a_verb_it_answers_or_refuses_in_words(database_url: str) -> None:
    wrong = []
    with virtual(an_app(), START, database=database_url) as world:
        world.app.schedules.create("digest", target="job", every="5m", user="ann")
        for verb, ask in VERBS.items():
            for said in VALUES:
                try:
                    ask(world.app, said)
                except Refusal:
                    pass
                except Exception as error:  # The finding.
                    wrong.append(f"{verb} {said!r:.40}: {type(error).__name__}: {error!s:.80}")
    assert wrong == []


def test_whatever_a_program_registers_it_is_taken_or_refused_in_words() -> None:
    wrong = []
    for what, register in REGISTRATIONS.items():
        for said in (*VALUES, Unlike()):
            try:
                register(an_app(), said)
            except Refusal:
                pass
            except Exception as error:  # The finding.
                wrong.append(f"{what} {said!r:.40}: {type(error).__name__}: {error!s:.80}")
    assert wrong == []


@pytest.mark.parametrize(
    ("register", "rule"),
    [
        (lambda app: app.langgraph("new", work, who=5), r"who takes a list of users, such as \['ann'\], got 5"),
        (lambda app: app.langgraph("new", work, who=None), r"who takes a list of users, such as \['ann'\], got None"),
        (lambda app: app.langgraph(5, work), r"a graph takes a name, as in app.langgraph\('agent', graph\), got 5"),
        (lambda app: app.langgraph(None, work), "a graph takes a name, .*, got None"),
        (lambda app: app.endpoint(**ENDPOINT | {"callback": "no"}), "callback takes true or false, got 'no'"),
        (lambda app: app.endpoint(**ENDPOINT | {"headers": 0}), "headers take a mapping such as"),
        (lambda app: app.action("")(work), "an action takes a name of 1 to 100 letters, digits, '_', '-', '.', got ''"),
        (lambda app: app.action("q")(5), "action 'q' takes a function, got 5"),
        (lambda app: app.graph("q")(5), "graph 'q' takes a function, got 5"),
        (
            lambda app: app.schedule("q", every="1h")([]),
            r"schedule takes a function below it, or a target as text, got",
        ),
    ],
)
def test_what_cannot_be_registered_is_refused_with_its_name_and_rule(
    register: Callable[[Foliot], object], rule: str
) -> None:
    with pytest.raises(Invalid, match=rule):
        register(an_app())


@pytest.mark.parametrize(
    ("ask", "rule"),
    [
        (lambda app: app.grants.create("graph:execute:*", everything="no"), "everything takes true or false, got 'no'"),
        (lambda app: app.grants.create("graph:execute:*", everything=1), "everything takes true or false, got 1"),
        (lambda app: app.grants.rescope("grant-1", None), "a scope is graph:execute:provider:name, .*, got None"),
        (lambda app: app.grants.revoke("grant-1", stop="yes"), "stop takes true or false, got 'yes'"),
        (lambda app: app.grants.get(f"grant-{'9' * 30}"), "a grant's id is grant- and a number"),
        (lambda app: app.accounts.limit("ann", "no"), "limited takes true or false, got 'no'"),
        (lambda app: app.accounts.ledger("ann", limit=None), "limit takes 1 to 10,000, got None"),
        (lambda app: app.accounts.ledger("ann", limit=True), "limit takes 1 to 10,000, got True"),
        (lambda app: app.accounts.refund(5, 5), "source takes printable text of 1 to 1,000 characters, got '5'"),
        (lambda app: app.accounts.refund("foliot", ""), "reference takes printable text of 1 to 1,000 characters"),
        (lambda app: app.accounts.top_up("ann", 10**15 + 1, "a"), "above 0 and up to 1,000,000,000,000,000, got"),
        (lambda app: app.schedules.backfill("digest", START, START, confirm="no"), "confirm takes true or false"),
        (lambda app: app.schedules.backfill("digest", START, START, dry_run=1), "dry_run takes true or false"),
        (lambda app: app.schedules.create("five", target=5, every="1h"), "a target is provider:name, .*, got '5'"),
        (lambda app: app.schedules.patch("digest", target=5), "a target is provider:name, .*, got '5'"),
        (lambda app: app.schedules.pause("digest", by=""), "by takes printable text of 1 to 1,000 characters, got ''"),
        (
            lambda app: app.runs.decide("digest:2026-11-15T12:05:00Z~1", "approve", id=""),
            "id takes printable text of 1",
        ),
        (lambda app: app.requests.get("a\x00"), "key takes printable text"),
    ],
)
def test_what_is_not_meant_so_is_refused_with_its_name_and_rule(
    world: World, ask: Callable[[Foliot], object], rule: str
) -> None:
    with pytest.raises(Invalid, match=rule):
        ask(world.app)


def test_a_balance_has_an_end_and_a_payment_beyond_it_leaves_nothing_behind(database_url: str) -> None:
    with virtual(an_app(), START, database=database_url) as world:
        app, accounts = world.app, world.app.accounts
        accounts.top_up("ann", 10**15, "payment")
        rest = {"many payments": 999 * 10**15}
        app.parts.database.write(lambda tx: tx.post(account_of(tx, "ann")[1], "top_up", rest))
        assert accounts.get("ann").balance == 10**18
        with pytest.raises(Invalid, match=r"takes up to 1,000,000,000,000,000,000 credits, and ann's would have .*01:"):
            accounts.top_up("ann", 1, "one more")
        assert accounts.top_up("ann", 10**15, "payment").balance == 10**18
        assert (len(accounts.ledger("ann", limit=9)), accounts.get("ann").balance) == (2, 10**18)


@pytest.mark.parametrize("who", [None, 5, "ann", [5], [""]])
def test_a_question_to_nobody_is_a_request_that_is_invalid(world: World, who: Any) -> None:
    run = world.app.schedules.trigger("digest", input={"who": who})
    world.advance(seconds=1)
    ended = world.app.runs.get(run.id)
    assert (ended.status, ended.reason) == ("error", "invalid_request")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (["large"], 'the model ["large"] is paid'),
        (5, "the model 5 is paid"),
        (False, "the model false is paid"),
        ({}, "the model {} is paid"),
        ("", 'the model "" is paid'),
        (" ", 'the model " " is paid'),
        ("\ud800", 'the model "\\ud800" is paid'),
        ("Small", "Small is paid"),
    ],
)
def test_a_model_that_nobody_has_called_free_is_paid(world: World, model: Any, words: str) -> None:
    with pytest.raises(Denied) as refusal:
        world.app.schedules.create("poem", target="job", every="1h", user="ann", input={"model": model})
    assert str(refusal.value).startswith(f"{words}, and ann has 0 credits")
    world.app.schedules.create("free", target="job", every="1h", user="ann", input={"model": "small"})
    world.app.schedules.create("none", target="job", every="1h", user="ann", input={"model": None})
