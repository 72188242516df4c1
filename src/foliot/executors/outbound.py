"""Calls to addresses that somebody has named: each resolved once, judged, and connected to as judged."""

import asyncio
import json
import re
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import httpx2
from httpx2 import Request as Message

from foliot.domain.addresses import Network, is_named, read_address, refusal_of
from foliot.domain.errors import Invalid, Unavailable

LONGEST_BODY = 1_000_000
"""Bytes of an answer: what comes after them is not read."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, as text."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_WEB_PORTS = frozenset(_DEFAULT_PORTS.values())
_FIRST_FREE_PORT = 1024
"""Below it are those of mail, of shells and the like."""
_LONGEST_URL = 4000
_HOST = re.compile(r"[a-z0-9._:-]{1,253}", re.ASCII | re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade")
)
# Each call has a connection of its own: none that was opened for one host serves another at the same address.
_NO_KEEPING = httpx2.Limits(max_connections=1, max_keepalive_connections=0)
_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Whom a call trusts that does not speak TLS."""


class HttpAnswer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes
    is_cut: bool = False
    """There was more of it than is read."""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """What the body says: None when it is empty, its text when it is no JSON."""
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return self.text


class GuardedCaller:
    """Calls what may be reached, and nothing else.

    Every address of a host is judged, and only judged ones are connected to: nobody is asked a second time, when the
    answer may be another. No redirect is followed, and no proxy of the environment is used.
    """

    def __init__(
        self,
        allowed: Iterable[Network] = (),
        *,
        resolve: Resolve | None = None,
        trust: ssl.SSLContext | None = None,
        is_strict: bool = False,
        longest_body: int = LONGEST_BODY,
    ) -> None:
        self._allowed = tuple(allowed)
        self._is_strict = is_strict
        """Whether the open Internet is called over TLS only, and at ports that are for it."""
        self._longest_body = longest_body
        self._resolve = resolve or _resolved
        self._trust = _Trust(trust)

    async def call(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> HttpAnswer:
        """What the URL answers within so many seconds.

        Invalid when it may not be called, Unavailable when it cannot be reached, TimeoutError when it takes longer.
        """
        where = url_of(url)
        sent = {"Accept-Encoding": "identity", **headers_of(headers)}
        try:
            # Before the time of the call begins: what is still to be read here is not the host's delay.
            trust = await self._trust.read() if where.scheme == "https" else _NOBODY
            async with asyncio.timeout(timeout):
                addresses = await self._judged(where)
                message = Message(method, where, headers=sent, content=body)
                return await _call_one_of(addresses, timeout, message, trust, self._longest_body)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise TimeoutError(f"{method} {where.host} did not answer within {timeout:g} s") from error
        except httpx2.LocalProtocolError:
            # Its words may quote a header, and with it a credential.
            raise Invalid(f"{method} {where.host} cannot be written as HTTP: look at its headers") from None
        except (httpx2.TransportError, OSError) as error:
            said = str(error) or type(error).__name__
            raise Unavailable(f"{method} {where.host} could not be carried out: {said}") from error

    async def _judged(self, where: httpx2.URL) -> Sequence[str]:
        """All addresses of the host; Invalid when there is one among them that may not be reached."""
        host = where.raw_host.decode("ascii")
        addresses = list(dict.fromkeys(await self._resolve(host, where.port or _DEFAULT_PORTS[where.scheme])))
        for address in addresses:
            kind = refusal_of(read_address(address), self._allowed)
            if kind is not None:
                raise Invalid(
                    f"{host} is at {address}, which is {kind}: only the open Internet may be called, and what"
                    " FOLIOT_HTTP_ALLOW names"
                )
        if not addresses:
            raise Unavailable(f"{host} has no address")
        if self._is_strict and not all(is_named(read_address(address), self._allowed) for address in addresses):
            _check_strictly(where)
        return addresses

    async def check(self, url: str, timeout: float) -> str:
        """The host of the URL, without calling it; refused, as by `call`, when it may not be called or found now."""
        where = url_of(url)
        try:
            async with asyncio.timeout(timeout):
                await self._judged(where)
                return where.host
        except TimeoutError as error:
            raise TimeoutError(f"{where.host} could not be found within {timeout:g} s") from error


def _check_strictly(where: httpx2.URL) -> None:
    if where.scheme != "https":
        raise Invalid(f"{where.host} takes https: without it only what FOLIOT_HTTP_ALLOW names may be called")
    port = where.port or _DEFAULT_PORTS[where.scheme]
    if port not in _WEB_PORTS and port < _FIRST_FREE_PORT:
        raise Invalid(f"{where.host} takes the port 443, or one from {_FIRST_FREE_PORT} on, got {port}")


async def _call_one_of(
    addresses: Sequence[str], timeout: float, message: Message, trust: ssl.SSLContext, longest_body: int
) -> HttpAnswer:
    """The first that can be connected to is called: until then nothing was sent."""
    last = len(addresses) - 1
    for number, address in enumerate(addresses):
        try:
            return await _call_at(address, timeout / len(addresses), message, trust, longest_body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if number == last:
                raise
    raise AssertionError("there is an address")


async def _call_at(
    address: str, connect_within: float, message: Message, trust: ssl.SSLContext, longest_body: int
) -> HttpAnswer:
    """Connect to that address, and speak to the host by its own name: in Host, in TLS and in its certificate."""
    host = message.url.raw_host.decode("ascii")
    pinned = Message(
        message.method,
        message.url.copy_with(host=address),
        headers=message.headers,
        content=message.content,
        extensions={"sni_hostname": host, "timeout": {"connect": connect_within}},
    )
    async with httpx2.AsyncHTTPTransport(verify=trust, limits=_NO_KEEPING) as transport:
        response = await transport.handle_async_request(pinned)
        try:
            body, is_cut = await _read(response, longest_body)
        finally:
            await response.aclose()
    return HttpAnswer(response.status_code, {k.lower(): v for k, v in response.headers.items()}, body, is_cut)


class _Trust:
    """The authorities whose certificates are believed: read when they are first needed, once for all who wait."""

    def __init__(self, given: ssl.SSLContext | None) -> None:
        self._given = given
        self._lock = threading.Lock()
        self._reading: Future[ssl.SSLContext] | None = None

    async def read(self) -> ssl.SSLContext:
        return self._given if self._given is not None else await asyncio.wrap_future(self._begun())

    def _begun(self) -> Future[ssl.SSLContext]:
        """What one thread reads for everybody, whatever loop they wait on; who gives up waiting does not end it."""
        with self._lock:
            if self._reading is not None:
                return self._reading
            reading: Future[ssl.SSLContext] = Future()
            reading.set_running_or_notify_cancel()
            self._reading = reading
        asyncio.get_running_loop().run_in_executor(None, self._read, reading)
        return reading

    def _read(self, reading: "Future[ssl.SSLContext]") -> None:
        try:
            read = httpx2.create_ssl_context()
        except Exception as error:  # Those who wait must hear of it; who comes next has it tried again.
            with self._lock:
                self._reading = None
            reading.set_exception(error)
        else:
            self._given = read
            reading.set_result(read)


async def _read(response: httpx2.Response, longest: int) -> tuple[bytes, bool]:
    body = bytearray()
    parts = response.aiter_raw()
    try:
        async for part in parts:
            body += part
            if len(body) > longest:
                return bytes(body[:longest]), True
    finally:
        await parts.aclose()
    return bytes(body), False


async def _resolved(host: str, port: int) -> Sequence[str]:
    """What the system's resolver says."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"{host} cannot be found: {error}") from error
    return [str(address[0]) for *_, address in found]


def url_of(url: str) -> httpx2.URL:
    """A URL that can be called; Invalid, without showing what may be secret in it, when it cannot."""
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        raise Invalid(f"a URL is text of at most {_LONGEST_URL:,} characters, such as 'https://example.com/hook'")
    try:
        read = httpx2.URL(url)
    except (httpx2.InvalidURL, UnicodeError):
        # Its words may quote a password as the port that it is not.
        raise Invalid("a URL is written like 'https://example.com/hook', got text that cannot be read so") from None
    if read.scheme not in _DEFAULT_PORTS:
        raise Invalid(
            f"a URL takes http or https, as in 'https://example.com/hook', got {read.scheme!r} before its colon"
        )
    if read.userinfo:
        raise Invalid(f"a URL takes no user and no password, got some for {read.host}: put them into a header")
    if not _HOST.fullmatch(read.raw_host.decode("ascii")):
        raise Invalid(f"a URL takes a host, as in 'https://example.com/hook', got {read.host!r}")
    if read.port is not None and not 0 < read.port < 65536:
        raise Invalid(f"a URL takes a port from 1 to 65535, got {read.port}")
    return read


def headers_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that can be sent; Invalid, without showing their values, when one cannot."""
    if not isinstance(headers, Mapping):
        raise Invalid("headers take a mapping such as {'Authorization': 'Bearer …'}")
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise Invalid(f"a header's name takes letters, digits and '-', got {str(name)[:100]!r}")
        if name.lower() in _OF_THE_CONNECTION or name.lower().startswith("proxy-"):
            raise Invalid(f"header {name} belongs to the connection: leave it out")
        if not isinstance(value, str) or not value.isascii() or not value.isprintable() or value != value.strip():
            raise Invalid(f"header {name} takes printable ASCII text without spaces around it")
    return dict(headers)
