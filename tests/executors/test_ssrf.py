"""No URL that somebody names leads inside: neither as an `http:` target nor as a webhook, however it is written.

A canary listens on the loopback addresses, and every connection that this process tries is counted.
"""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from foliot import Invalid, Unavailable
from foliot.executors.carrying import LetterCarrier
from foliot.executors.outbound import GuardedCaller
from tests.executors.receiver import Reply, a_receiver
from tests.executors.ssrf import (
    NOT_FOR_WEBHOOKS,
    PUBLIC,
    SECRET_ENV,
    URLS,
    Canary,
    a_carrier,
    ask_for_all,
    carried,
    tried,
    watch,
)


@pytest.fixture
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture(autouse=True, scope="module")
def _watch() -> None:
    watch()


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_ENV, "sixteen letters or more")


def test_no_url_leads_inside() -> None:
    assert len(URLS) == len(set(URLS)) >= 190
    assert ask_for_all().problems == []


def test_a_webhook_is_told_over_tls_and_at_a_port_for_it() -> None:
    tried.clear()
    for url in NOT_FOR_WEBHOOKS:
        with pytest.raises(Invalid, match=r"takes https|takes the port"):
            asyncio.run(a_carrier().check(url))
        assert carried(a_carrier(), url).error is not None
    assert tried == []
    assert asyncio.run(a_carrier().check("https://8.8.8.8:8443/")) == PUBLIC


def test_a_name_that_moved_inside_after_it_was_registered_is_refused_when_something_is_sent(canary: Canary) -> None:
    carrier = a_carrier(names={"rebinding.test": [[PUBLIC], ["127.0.0.1"]]})
    url = f"https://rebinding.test:{canary.port}/"
    assert asyncio.run(carrier.check(url)) == "rebinding.test"
    tried.clear()
    sent = carried(carrier, url)
    assert sent.error is not None
    assert "rebinding.test is at 127.0.0.1, which is loopback" in sent.error
    assert (tried, canary.visits()) == ([], 0)


def test_only_the_address_that_was_judged_is_connected_to(canary: Canary) -> None:
    """The name means another address whenever it is asked for: it is asked once."""
    carrier = a_carrier("127.0.0.2/32", names={"rebinding.test": [["127.0.0.2"], ["127.0.0.1"]]})
    tried.clear()
    sent = carried(carrier, f"http://rebinding.test:{canary.port}/")
    assert sent.status is None
    assert {address[0] for address in tried} == {"127.0.0.2"}
    assert canary.visits() == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_wherever_it_leads(canary: Canary, status: int) -> None:
    inside = [f"http://127.0.0.1:{canary.port}/", "http://169.254.169.254/latest/meta-data/"]
    replies = [Reply(status, "", {"Location": place}) for place in inside]
    carrier = a_carrier("127.0.0.0/8")
    with a_receiver(*replies) as receiver:
        tried.clear()
        for _ in inside:
            sent = carried(carrier, receiver.url())
            assert (sent.status, "redirects are not followed" in str(sent.error)) == (status, True)
        assert {address[1] for address in tried} == {receiver.port}
    assert canary.visits() == 0


def test_a_resolver_that_fails_lets_nothing_through() -> None:
    async def fails(host: str, port: int) -> Sequence[str]:
        raise Unavailable(f"{host} cannot be found: the resolver does not answer")

    carrier = LetterCarrier(lambda: GuardedCaller(resolve=fails, is_strict=True))
    with pytest.raises(Invalid, match="the resolver does not answer"):
        asyncio.run(carrier.check("https://example.com/"))
    assert carried(carrier, "https://example.com/").error is not None
