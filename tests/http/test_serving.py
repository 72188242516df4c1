"""How the server listens."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Unavailable
from foliot.serving import Server


def test_no_answer_waits_for_the_one_before_it_to_be_acknowledged() -> None:
    server = Server(None, "127.0.0.1", 0)

    async def is_without_delay() -> int:
        met: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            met.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = await asyncio.start_server(meet, sock=server._socket)
        async with listening:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            try:
                return await met
            finally:
                writer.close()

    assert asyncio.run(is_without_delay()) == 1


@pytest.mark.parametrize("host", ["nohost.invalid", "192.0.2.1"])
def test_who_cannot_listen_on_a_host_is_told_to_name_another(host: str) -> None:
    """Another port was the advice, which is no better there."""
    with pytest.raises(
        Unavailable, match=f"cannot listen on {host}:8420: .*: name an address of this machine with --host"
    ):
        Server(None, host, 8420)


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


@pytest.fixture
def impatient() -> Iterator[Server]:
    """A server that waits for a head no longer than half a second."""
    server = Server(_answer, "127.0.0.1", 0, slowest_head=0.5)
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize("before", [b"", REQUEST], ids=["first", "next"])
def test_who_sends_a_head_byte_by_byte_is_let_go(impatient: Server, before: bytes) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        if before:
            client.sendall(before)
            assert client.recv(1000).startswith(b"HTTP/1.1 204")
        client.settimeout(0.05)
        for byte in (REQUEST[:-4] + b"\r\nX: " + b"x" * 1000)[:400]:
            client.sendall(bytes([byte]))
            try:
                assert client.recv(1000) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            raise AssertionError("it was waited for")


def test_who_sends_nothing_is_let_go(impatient: Server) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        assert client.recv(1) == b""


def test_a_connection_may_wait_between_two_requests_for_longer_than_a_head_may_take(impatient: Server) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        client.sendall(REQUEST)
        assert client.recv(1000).startswith(b"HTTP/1.1 204")
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(20)
        client.sendall(REQUEST)
        assert client.recv(1000).startswith(b"HTTP/1.1 204")


@pytest.fixture
def listening() -> Iterator[tuple[Server, list[tuple[str, bytes, list[bytes]]]]]:
    """A server, and what it understood of each request: its path, its body, and the names of its headers."""
    heard: list[tuple[str, bytes, list[bytes]]] = []

    async def hear(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        heard.append((f"{scope['method']} {scope['path']}", body, [name for name, _ in scope["headers"]]))
        await _answer(scope, receive, send)

    server = Server(hear, "127.0.0.1", 0)
    server.start()
    yield server, heard
    server.stop()


def _answers(client: socket.socket, count: int) -> bytes:
    said = b""
    while said.count(b"HTTP/1.1 ") < count and (part := client.recv(1000)):
        said += part
    return said


@pytest.mark.parametrize("size", [60_000, 66_000, 100_000, 200_000, 300_000])
def test_a_head_that_comes_right_behind_a_large_body_is_not_taken_for_a_large_one(listening: Any, size: int) -> None:
    server, heard = listening
    sent = b"POST /one HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size + REQUEST
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        for part in (sent[:-20], sent[-20:-3], sent[-3:]):
            client.sendall(part)
        assert _answers(client, 2).count(b"HTTP/1.1 204") == 2
    assert [(what, len(body)) for what, body, _ in heard] == [("POST /one", size), ("GET /", 0)]


@pytest.mark.parametrize("parts", [1, 2], ids=["at once", "in two parts"])
def test_a_body_stays_a_body_though_its_sender_would_speak_another_protocol(listening: Any, parts: int) -> None:
    """A reader that takes it for the end of the message finds a request where there is a body."""
    server, heard = listening
    body = b"DELETE /smuggled HTTP/1.1\r\nHost: here\r\n\r\n"
    head = b"POST /one HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        for part in (head % len(body) + body,) if parts == 1 else (head % len(body), body):
            client.sendall(part)
        assert _answers(client, 1).startswith(b"HTTP/1.1 204")
    assert [(what, said) for what, said, _ in heard] == [("POST /one", body)]


def test_what_follows_a_body_in_chunks_is_no_header(listening: Any) -> None:
    server, heard = listening
    head = b"POST /one HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(head + b"Authorization: Bearer other\r\n\r\n")
        assert _answers(client, 1).startswith(b"HTTP/1.1 204")
    assert [body for _, body, _ in heard] == [b"abc"]
    assert b"authorization" not in heard[0][2]


def test_nobody_holds_a_connection_by_empty_lines(impatient: Server) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        client.sendall(REQUEST)
        assert client.recv(1000).startswith(b"HTTP/1.1 204")
        client.sendall(b"\r\n")
        while client.recv(1000):
            """Until it hangs up."""


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: +3\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked, identity\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: here\r\nHost: there\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: here\r\nTwo Words: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: here\r\nNo-Colon\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\r\n\r\n",
    ],
)
def test_a_head_of_which_two_readers_could_make_different_things_is_refused(impatient: Server, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        client.sendall(head)
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
