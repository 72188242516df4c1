"""URLs that lead inside however they are written, who says where names are, and a canary that nobody may come to."""

import asyncio
import socket
import sys
from collections.abc import Coroutine, Sequence
from ipaddress import ip_network
from typing import Any, NamedTuple

from foliot import Invalid, Unavailable
from foliot.domain.notices import Carried, Letter
from foliot.executors.carrying import LONGEST_ANSWER, LetterCarrier
from foliot.executors.outbound import GuardedCaller

SECRET_ENV = "FOLIOT_WEBHOOK_SSRF"
PUBLIC = "8.8.8.8"
NAMES: dict[str, list[list[str]]] = {
    "localhost": [["127.0.0.1", "::1"]],
    "localhost.": [["127.0.0.1"]],
    "127.0.0.1.nip.test": [["127.0.0.1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "metadata.google.internal.": [["169.254.169.254"]],
    "inside.test": [[PUBLIC, "127.0.0.1"]],
    "inside-six.test": [["2606:4700::1111", "::ffff:10.0.0.1"]],
    "xn--lcalhost-54a.test": [["127.0.0.1"]],
    "nowhere.test": [[]],
}
ADDRESSES = (
    *("127.0.0.1", "127.1", "127.0.1", "127.127.127.127", "0.0.0.0", "0", "2130706433", "017700000001"),
    *("0x7f000001", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "0177.0.0.0x1", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::]", "[2001:0:7f00:1::]", "[2001::80ff:fffe]"),
    *("10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "100.100.100.200", "169.254.169.254", "2852039166"),
    *("169.254.170.2", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("[fe80::1]", "[fe80::1%25lo]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]", "[2001:db8::1]"),
    *("0x7f.1", "127.0.0.1.", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "00", "192.88.99.1"),
    *("[::ffff:0:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[fd20:ce::254]", "[fec0::1]", "[3fff::1]"),
    *("LOCALHOST", "LocalHost.", "ip6-localhost", "localhost.localdomain", "4294967297", "127.00000.0.1", "[::1%25lo]"),
)
ODD = (
    "http://127.0.0.1:{port}/?url=http://example.test",
    "http://example.test%40127.0.0.1:{port}/",
    "http://example.test%2f@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}\\@example.test/",
    "http://@127.0.0.1:{port}/",
    "http://:@127.0.0.1:{port}/",
    "http://[127.0.0.1]:{port}/",
    "http://[v1.fe80::a+en1]:{port}/",
    "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1 :{port}/",
    "http://127.0.0.1%2e:{port}/",
    "http://example.test:80:{port}/",
    "http:\\\\127.0.0.1:{port}\\",
    "HTTP://127.0.0.1:{port}/",
    "http://２１３０７０６４３３:{port}/",
    "http://ｌｏｃａｌｈｏｓｔ:{port}/",
    "jar:http://127.0.0.1:{port}!/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "ldap://127.0.0.1:{port}/",
    "tftp://127.0.0.1:{port}/",
    "http://example.test@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@example.test/",
    "http://example.test\\@127.0.0.1:{port}/",
    "http://ann:hunter2@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@example.test/",
    "http://127.0.0.1%00.example.test:{port}/",
    "http://１２７.０.０.１:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://127。0。0。1:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http:///127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "127.0.0.1:{port}",
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}\r\nX-A: b/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "file:///etc/passwd",
    "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_x",
    "dict://127.0.0.1:{port}/",
    "ws://127.0.0.1:{port}/",
    "unix:///var/run/docker.sock",
    "data:text/plain,hi",
    "javascript:alert(1)",
    "",
)
NOT_FOR_WEBHOOKS = ("http://8.8.8.8/", "http://8.8.8.8:8080/", "https://8.8.8.8:22/", "https://8.8.8.8:25/")
URLS = (
    *(f"{scheme}://{host}:{{port}}/" for scheme in ("http", "https") for host in (*ADDRESSES, *NAMES)),
    *ODD,
)


class Names:
    """Who says where a name is, one answer after another and the last again and again; numbers the system reads."""

    def __init__(self, names: dict[str, list[list[str]]]) -> None:
        self._names = {name: list(answers) for name, answers in names.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        if host in self._names:
            answers = self._names[host]
            return answers.pop(0) if len(answers) > 1 else answers[0]
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except OSError as error:
            raise Unavailable(f"{host} cannot be found: {error}") from error
        return [str(address[0]) for *_, address in found]


tried: list[Any] = []


def _note(event: str, given: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        tried.append(given[1])


class Canary:
    """Listens on both loopback addresses; nobody may come."""

    def __init__(self) -> None:
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.port = int(self._sockets[0].getsockname()[1])
        try:
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        except OSError:
            """A machine without the new addresses has only the old ones to come to."""

    def visits(self) -> int:
        number = 0
        for listening in self._sockets:
            listening.setblocking(False)
            try:
                while True:
                    listening.accept()[0].close()
                    number += 1
            except BlockingIOError:
                continue
        return number

    def close(self) -> None:
        for listening in self._sockets:
            listening.close()


def watch() -> None:
    """Note every connection that this process tries. It cannot be taken away again, and costs nothing to speak of."""
    sys.addaudithook(_note)


def a_carrier(*allowed: str, names: dict[str, list[list[str]]] = NAMES) -> LetterCarrier:
    networks = [ip_network(network) for network in allowed]
    caller = GuardedCaller(networks, resolve=Names(names), is_strict=True, longest_body=LONGEST_ANSWER)
    return LetterCarrier(lambda: caller)


def carried(carrier: LetterCarrier, url: str) -> Carried:
    return asyncio.run(carrier.carry(Letter(url, SECRET_ENV, "w-1", "run.failed", b"{}", 1_800_000_000)))


class Findings(NamedTuple):
    """What came of asking for all of them."""

    asked: int
    problems: list[str]


def ask_for_all() -> Findings:
    """Each URL as a target and as a webhook, when it is registered and when something is sent."""
    canary = Canary()
    tried.clear()
    try:
        urls = [url.format(port=canary.port) for url in URLS]
        problems = asyncio.run(_taken(urls))
        problems += [f"a connection to {address} was tried" for address in tried]
        problems += [f"{visits} connections came to the canary" for visits in (canary.visits(),) if visits]
        return Findings(3 * len(urls), problems)
    finally:
        canary.close()


async def _taken(urls: Sequence[str]) -> list[str]:
    """Those that were not refused, or whose refusal shows a password."""
    target, webhook = GuardedCaller(resolve=Names(NAMES)), a_carrier()
    problems = []
    for url in urls:
        letter = Letter(url, SECRET_ENV, "w-1", "run.failed", b"{}", 1_800_000_000)
        sent = await webhook.carry(letter)
        words = [
            await _refusal(target.call("POST", url, {}, b"{}", 5.0)),
            await _refusal(webhook.check(url)),
            sent.error if sent.status is None else None,
        ]
        problems += [f"{url} was taken, or shown: {word}" for word in words if word is None or "hunter2" in word]
    return problems


async def _refusal(asked: Coroutine[Any, Any, Any]) -> str | None:
    try:
        await asked
    except (Invalid, Unavailable) as refusal:
        return str(refusal)
    return None
