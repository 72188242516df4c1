"""How the server listens."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

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


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _hear_and_answer(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        """All of it."""
    await _answer(scope, receive, send)


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


@pytest.mark.parametrize("parts", [1, 3], ids=["at once", "in parts"])
def test_a_head_that_comes_right_behind_a_large_body_is_not_taken_for_a_large_one(parts: int) -> None:
    """What came along with its first byte was counted as its own."""
    server = Server(_hear_and_answer, "127.0.0.1", 0)
    server.start()
    try:
        body = b"x" * 200_000
        sent = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 200000\r\n\r\n" + body + REQUEST
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            for part in (sent,) if parts == 1 else (sent[:-20], sent[-20:-3], sent[-3:]):
                client.sendall(part)
            heard = b""
            while heard.count(b"HTTP/1.1 204") < 2:
                heard += client.recv(1000) or pytest.fail(f"it hung up after {heard!r}")
    finally:
        server.stop()


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: +3\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Two Words: x\r\n",
        b"No-Colon\r\n",
    ],
)
def test_a_head_of_which_two_readers_could_make_different_things_is_refused(impatient: Server, headers: bytes) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=20) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: here\r\n" + headers + b"\r\nabc")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
