"""A server that listens beside the engine, on a thread and an event loop of its own; and what signals mean."""

import asyncio
import errno
import logging
import os
import selectors
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

from foliot.courtesy import INTERPRETER
from foliot.domain.errors import Unavailable
from foliot.engine.loop import Engine
from foliot.execution.requests import Requests
from foliot.watchdog import watched

log = logging.getLogger("foliot")

_LEAVES_WITHIN = 5
"""Seconds for answers that are under way when it stops."""
_BACKLOG = 2048
_LARGEST_HEAD = 64 * 1024
"""Bytes of a request's first line and headers."""
_SLOWEST_HEAD = 10.0
"""Seconds until all of them have arrived."""
_STOPPED_AT_ONCE = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _PoliteSelector(selectors.DefaultSelector):
    """Requests that have come are looked at when no turn of the engine is under way."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(timeout)
        INTERPRETER.let_pass()
        return found


class Server:
    """Listens from `start` to `stop`. The engine's loop never waits for a request, nor a request for the engine's."""

    def __init__(self, app: Any, host: str, port: int, slowest_head: float = _SLOWEST_HEAD) -> None:
        # Imported here: a program that only works needs no server.
        import uvicorn  # noqa: PLC0415

        from foliot.http.heads import heads_within  # noqa: PLC0415

        self._app = app
        self._socket = _bound(host, port)
        address, self.port = self._socket.getsockname()[:2]
        self.host = host
        self.is_loopback = ip_address(address).is_loopback
        """Whether nobody but this machine can reach it."""
        self.has_died = False
        """Whether it ended though nobody wanted it to."""
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            timeout_graceful_shutdown=_LEAVES_WITHIN,
            timeout_keep_alive=30,
            ws="none",
            # The one of its readers that bounds what comes before a body.
            http=heads_within(slowest_head),
            h11_max_incomplete_event_size=_LARGEST_HEAD,
        )
        self._server = uvicorn.Server(config)
        self._died: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._serve, name="foliot-http", daemon=True)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self, died: Callable[[], None] | None = None) -> None:
        """Whoever asks from now on is answered. `died` is called, on its thread, when it ends by itself."""
        self._died = died or self._died
        self._socket.listen(_BACKLOG)
        self._thread.start()

    def leave(self) -> None:
        """Take no more requests. Safe from any thread, and does not wait."""
        self._server.should_exit = True
        streams = getattr(getattr(self._app, "state", None), "streams", None)
        if streams is not None:
            # They would last until the grace is over.
            streams.close()

    def stop(self) -> None:
        """Take no more requests, and let those end that are under way."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join(_LEAVES_WITHIN + 5)
        self._socket.close()

    def _serve(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_PoliteSelector())) as runner:
                runner.run(self._server.serve(sockets=[self._socket]))
        except BaseException:
            log.exception("the API has ended")
        if not self._server.should_exit:
            self.has_died = True
            self._died()


async def work(
    engine: Engine,
    requests: Requests,
    ready: Callable[[], None] | None = None,
    server: Server | None = None,
    stall: float | None = None,
) -> None:
    """Work, and listen beside it, until a signal or cancellation; Unavailable when the server ended by itself.

    An engine that fails takes the server with it, and one that stands still for so many seconds the process.
    """

    def leave() -> None:
        log.info("stopping: %d runs may finish; a second signal stops at once", engine.in_hand)
        if server is not None:
            server.leave()
        engine.stop()

    try:
        with signals(leave), watched(engine, stall):
            working = asyncio.get_running_loop().create_task(engine.run())
            if server is not None:
                server.start(engine.stop)
            if ready is not None:
                ready()
            await working
            await requests.finish(engine.grace_left)
    finally:
        if server is not None:
            server.stop()
    if server is not None and server.has_died:
        raise Unavailable("the API has ended by itself, and the worker with it: the log says why; start it again")


async def attend(server: Server, requests: Requests, grace: float, ready: Callable[[], None] | None = None) -> None:
    """Only listen until a signal or cancellation; what is executed for others then has so many seconds to end."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(over.set)

    try:
        with signals(over.set):
            server.start(wake)
            if ready is not None:
                ready()
            await over.wait()
            server.leave()
            await requests.finish(grace)
    finally:
        server.stop()
    if server.has_died:
        raise Unavailable("the API has ended by itself: the log says why; start it again")


@contextmanager
def signals(leave: Callable[[], None]) -> Iterator[None]:
    """The first signal lets end what is under way, by `leave`; the second ends the process at once."""
    loop = asyncio.get_running_loop()
    count = 0

    def on_signal() -> None:
        nonlocal count
        count += 1
        if count > 1:
            os._exit(_STOPPED_AT_ONCE)
        leave()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that is bound already: whoever cannot have it is told before anything else begins."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol said, asyncio lets no answer wait for the one before it to be acknowledged: 40 ms each.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        is_of_host = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        remedy = "name an address of this machine with --host" if is_of_host else "choose another with --port"
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror}: {remedy}") from error
    return listening
