"""A real HTTP server on the loopback address, which keeps what it was sent and answers as a test tells it to."""

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
PATIENCE = 20
NONE: Mapping[str, str] = MappingProxyType({})


class Seen(NamedTuple):
    """What the server was sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    """What it answers."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] = NONE


class Receiver:
    """Answers with one reply after another; the last one again and again. `hold` makes it wait before each."""

    def __init__(self, *replies: Reply | Callable[[Seen], Reply], trust: ssl.SSLContext | None = None) -> None:
        self.replies = list(replies) or [Reply()]
        self.seen: list[Seen] = []
        self._called = threading.Condition()
        self._go_on = threading.Event()
        self._go_on.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if trust is not None:
            self._server.socket = trust.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "http" if trust is None else "https"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"{self._scheme}://{host}:{self.port}{path}"

    def hold(self) -> None:
        """Take what comes, and do not answer until told to go on."""
        self._go_on.clear()

    def wait_for_calls(self, number: int = 1) -> bool:
        """Whether it was called so often before patience ended."""
        with self._called:
            return self._called.wait_for(lambda: len(self.seen) >= number, PATIENCE)

    def go_on(self) -> None:
        self._go_on.set()

    def close(self) -> None:
        self.go_on()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer_to(self, seen: Seen) -> Reply:
        with self._called:
            self.seen.append(seen)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            self._called.notify_all()
        self._go_on.wait(PATIENCE)
        return reply if isinstance(reply, Reply) else reply(seen)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer_to = self._answer_to

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = answer_to(Seen(self.command, self.path, headers, body))
                answer = reply.body.encode() if isinstance(reply.body, str) else reply.body
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Length": str(len(answer)), **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    """Nobody waits for it any more."""

            do_POST = do_GET = _answer  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                """In silence."""

        return Handler


@contextmanager
def a_receiver(*replies: Reply | Callable[[Seen], Reply], trust: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver(*replies, trust=trust)
    try:
        yield receiver
    finally:
        receiver.close()


def a_free_port() -> int:
    """Where nobody listens."""
    with a_receiver() as receiver:
        return receiver.port


def a_certificate(folder: Path, host: str) -> Path:
    """A certificate of that host that signs itself, with its key, in one file."""
    made = folder / f"{host}.pem"
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(made)]
    subject = ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}", "-days", "2"]
    command = ["openssl", "req", "-x509", *key, *subject]
    certificate = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made.write_text(made.read_text() + certificate)
    return made
