"""The guarded caller against real servers: it goes where it was judged to, by the host's own name, and nowhere else."""

import asyncio
import shutil
import ssl
import threading
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx2
import pytest

from foliot import Invalid, Unavailable
from foliot.executors.outbound import LONGEST_BODY, GuardedCaller, HttpAnswer
from tests.executors.receiver import LOOPBACK, PATIENCE, Reply, a_certificate, a_free_port, a_receiver

PUBLIC, PRIVATE = "8.8.8.8", "127.0.0.1"


class Names:
    """A resolver that says of a host what a test tells it to, one answer after another, and counts the questions."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0)


def call(caller: GuardedCaller, url: str, **given: Any) -> HttpAnswer:
    options = {"method": "POST", "headers": {}, "body": b"{}", "timeout": 5.0, **given}
    return asyncio.run(caller.call(url=url, **options))


def test_what_is_asked_is_sent_and_what_is_answered_is_returned() -> None:
    with a_receiver(Reply(201, '{"a": 1}', {"X-Kind": "test"})) as receiver:
        answer = call(GuardedCaller(LOOPBACK), receiver.url("/a?b=c%20d"), headers={"X-Key": "k"}, body=b"hello")
        (seen,) = receiver.seen
    assert (seen.method, seen.path, seen.body) == ("POST", "/a?b=c%20d", b"hello")
    assert (seen.headers["x-key"], seen.headers["accept-encoding"]) == ("k", "identity")
    assert (answer.status, answer.json, answer.headers["x-kind"], answer.is_cut) == (201, {"a": 1}, "test", False)


def test_a_host_is_called_by_its_own_name_at_the_address_that_was_judged() -> None:
    names = Names([PRIVATE])
    with a_receiver() as receiver:
        call(GuardedCaller(LOOPBACK, resolve=names), receiver.url(host="receiver.test"))
        assert receiver.seen[0].headers["host"] == f"receiver.test:{receiver.port}"
    assert names.asked == ["receiver.test"]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "[::]"],
)
def test_a_private_address_is_refused_before_anything_connects_however_it_is_written(host: str) -> None:
    with a_receiver() as receiver:
        with pytest.raises(Invalid, match="only the open Internet may be called, and what FOLIOT_HTTP_ALLOW names"):
            call(GuardedCaller(), receiver.url(host=host))
        assert not receiver.seen


@pytest.mark.parametrize("found", [[PRIVATE], [PUBLIC, PRIVATE], [PRIVATE, PUBLIC], [PUBLIC, "::ffff:10.0.0.1"]])
def test_a_name_with_any_private_address_is_refused(found: list[str]) -> None:
    with a_receiver() as receiver:
        with pytest.raises(Invalid, match=r"inner\.test is at "):
            call(GuardedCaller(resolve=Names(found)), receiver.url(host="inner.test"))
        assert not receiver.seen


def test_a_name_that_means_another_address_the_second_time_is_not_asked_a_second_time() -> None:
    """First an address that may be reached, then, where a careless caller would resolve it again, one that may not."""
    allowed = [ip_network("127.0.0.2/32")]
    names = Names(["127.0.0.2"], [PRIVATE])
    with a_receiver() as receiver:
        with pytest.raises(Unavailable):  # Nobody listens at the address that was judged.
            call(GuardedCaller(allowed, resolve=names), receiver.url(host="rebinding.test"))
        assert not receiver.seen
    assert names.asked == ["rebinding.test"]


def test_each_call_asks_anew_and_judges_anew() -> None:
    names = Names([PRIVATE], ["10.0.0.1"])
    caller = GuardedCaller(LOOPBACK, resolve=names)
    with a_receiver() as receiver:
        call(caller, receiver.url(host="moving.test"))
        with pytest.raises(Invalid, match=r"moving\.test is at 10\.0\.0\.1, which is private"):
            call(caller, receiver.url(host="moving.test"))
        assert len(receiver.seen) == 1


def test_the_next_address_is_tried_when_one_cannot_be_connected_to() -> None:
    with a_receiver() as receiver:
        caller = GuardedCaller(LOOPBACK, resolve=Names(["::1", "127.0.0.3", PRIVATE]))
        assert call(caller, receiver.url(host="several.test")).status == 200
        assert len(receiver.seen) == 1


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with a_receiver() as other, a_receiver(Reply(302, "", {"Location": other.url()})) as receiver:
        assert call(GuardedCaller(LOOPBACK), receiver.url()).status == 302
        assert not other.seen


def test_the_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_receiver() as proxy, a_receiver() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        assert call(GuardedCaller(LOOPBACK), receiver.url()).status == 200
        assert not proxy.seen


def test_a_long_answer_is_cut_off() -> None:
    with a_receiver(Reply(200, b"x" * (LONGEST_BODY + 1))) as receiver:
        answer = call(GuardedCaller(LOOPBACK), receiver.url())
    assert (len(answer.body), answer.is_cut) == (LONGEST_BODY, True)


def test_an_answer_of_just_the_allowed_length_is_whole() -> None:
    with a_receiver(Reply(200, b"x" * LONGEST_BODY)) as receiver:
        answer = call(GuardedCaller(LOOPBACK), receiver.url())
    assert (len(answer.body), answer.is_cut) == (LONGEST_BODY, False)


def test_what_takes_too_long_is_a_timeout() -> None:
    with a_receiver() as receiver:
        receiver.hold()
        with pytest.raises(TimeoutError, match=r"POST 127\.0\.0\.1 did not answer within 0\.2 s"):
            call(GuardedCaller(LOOPBACK), receiver.url(), timeout=0.2)


def test_an_answer_that_never_ends_is_a_timeout_too() -> None:
    async def main() -> None:
        given_up = asyncio.Event()

        async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
            await reader.read()  # Until the caller goes away.
            writer.close()
            await writer.wait_closed()
            given_up.set()

        async with await asyncio.start_server(trickle, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(TimeoutError, match="did not answer within"):
                await GuardedCaller(LOOPBACK).call("GET", f"http://127.0.0.1:{port}/", {}, b"", 0.2)
            await asyncio.wait_for(given_up.wait(), PATIENCE)

    asyncio.run(main())


def test_an_answer_that_breaks_off_is_unavailable() -> None:
    with (
        a_receiver(Reply(200, b"begun", {"Content-Length": "100"})) as receiver,
        pytest.raises(Unavailable, match="could not be carried out"),
    ):
        call(GuardedCaller(LOOPBACK), receiver.url())


def test_where_nobody_listens_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"POST 127\.0\.0\.1 could not be carried out"):
        call(GuardedCaller(LOOPBACK), f"http://127.0.0.1:{a_free_port()}/")


def test_a_host_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"nowhere\.invalid"):
        call(GuardedCaller(LOOPBACK), "http://nowhere.invalid/")
    with pytest.raises(Unavailable, match="has no address"):
        call(GuardedCaller(LOOPBACK, resolve=Names([])), "http://empty.test/")


def test_cookies_are_not_kept_from_one_call_to_the_next() -> None:
    caller = GuardedCaller(LOOPBACK)
    with a_receiver(Reply(200, "", {"Set-Cookie": "a=b"})) as receiver:
        call(caller, receiver.url())
        call(caller, receiver.url())
        assert "cookie" not in receiver.seen[1].headers


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.com/", "takes http or https"),
        ("example.com", "takes http or https"),
        ("file:///etc/passwd", "takes http or https"),
        ("http://ann:hunter2@example.com/", "takes no user and no password"),
        ("http://example.com\\@hunter2.com/", "takes no user and no password"),
        ("http://ann:hunter2", "cannot be read so"),
        ("http://", "takes a host"),
        ("http://[fe80::1%25eth0]/", "takes a host"),
        ("http://a b/", "takes a host"),
        ("http://example.com:0/", "takes a port"),
        ("http://example.com:99999/", "takes a port"),
        ("http://example.com/" + "x" * 4000, "at most 4,000 characters"),
        (7, "is text"),
    ],
)
def test_a_url_that_may_not_be_called_is_refused_without_showing_a_password(url: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said) as refusal:
        call(GuardedCaller(LOOPBACK), url)
    assert "hunter2" not in str(refusal.value).replace("hunter2.com", "")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "hunter2"},
        {"transfer-encoding": "hunter2"},
        {"Content-Length": "7"},
        {"Proxy-Authorization": "hunter2"},
        {"X-Key": "hunter2\r\nX-Other: 1"},
        {"X-Key": "hunter2é"},
        {"X-Key": " hunter2"},
        {"X Key": "hunter2"},
        {"X-Key": 2},
        ["hunter2"],
    ],
)
def test_a_header_that_would_change_the_message_is_refused_without_its_value(headers: Any) -> None:
    with pytest.raises(Invalid, match="header") as refusal:
        call(GuardedCaller(LOOPBACK), "http://127.0.0.1/", headers=headers)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"", None),
        (b"null", None),
        (b"[1]", [1]),
        (b"hello", "hello"),
        (b"\xff", "\ufffd"),
        (b"[" * 90_000, "[" * 90_000),
    ],
)
def test_an_answer_that_is_no_json_is_its_text(body: bytes, read: Any) -> None:
    assert HttpAnswer(200, {}, body).json == read


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_tls_is_spoken_with_the_name_of_the_host_and_its_certificate_is_checked(tmp_path: Path) -> None:
    certificate = a_certificate(tmp_path, "receiver.test")
    servers = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    servers.load_cert_chain(certificate)
    names_said: list[str | None] = []
    servers.sni_callback = lambda _, name, __: names_said.append(name)
    trust = ssl.create_default_context(cafile=str(certificate))
    with a_receiver(Reply(200, '"hi"'), trust=servers) as receiver:
        caller = GuardedCaller(LOOPBACK, resolve=Names([PRIVATE], [PRIVATE]), trust=trust)
        assert call(caller, receiver.url(host="receiver.test")).json == "hi"
        with pytest.raises(Unavailable, match="certificate"):
            call(caller, receiver.url(host="another.test"))
        stranger = GuardedCaller(LOOPBACK, resolve=Names([PRIVATE]))
        with pytest.raises(Unavailable, match="certificate"):
            call(stranger, receiver.url(host="receiver.test"))
        assert len(receiver.seen) == 1
    assert names_said == ["receiver.test", "another.test", "receiver.test"]


class Authorities:
    """Stands in for the reading of them, which takes its time: each waits until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: int = 0) -> None:
        self.read = 0
        self.go_on = threading.Event()
        self._fails = fails
        self._create = httpx2.create_ssl_context
        monkeypatch.setattr(httpx2, "create_ssl_context", self)

    def __call__(self) -> ssl.SSLContext:
        self.read += 1
        assert self.go_on.wait(PATIENCE)
        if self.read <= self._fails:
            raise OSError("no such file")
        return self._create()


def test_the_authorities_are_read_once_for_all_who_wait_and_not_at_the_cost_of_their_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of the first calls of a process read them for itself, within its timeout: all of a burst timed out."""
    authorities = Authorities(monkeypatch)

    async def main(url: str) -> list[HttpAnswer | BaseException]:
        caller = GuardedCaller(LOOPBACK, resolve=Names(*[[PRIVATE]] * 19))
        calls = [asyncio.ensure_future(caller.call("POST", url, {}, b"", 1.0)) for _ in range(20)]
        await asyncio.wait(calls, timeout=1.1)
        assert not any(call.done() for call in calls)
        calls[0].cancel()
        authorities.go_on.set()
        return await asyncio.gather(*calls, return_exceptions=True)

    ends = asyncio.run(main(f"https://127.0.0.1:{a_free_port()}/"))
    assert [type(end) for end in ends] == [asyncio.CancelledError, *[Unavailable] * 19]
    assert authorities.read == 1


def test_a_call_that_speaks_no_tls_does_not_wait_for_the_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    authorities = Authorities(monkeypatch)
    with a_receiver() as receiver:
        assert call(GuardedCaller(LOOPBACK), receiver.url()).status == 200
    assert authorities.read == 0


def test_authorities_that_could_not_be_read_are_read_again_for_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    authorities = Authorities(monkeypatch, fails=1)
    authorities.go_on.set()
    caller = GuardedCaller(LOOPBACK)
    for said in ("no such file", "could not be carried out"):
        with pytest.raises(Unavailable, match=said):
            call(caller, f"https://127.0.0.1:{a_free_port()}/")
    assert authorities.read == 2
