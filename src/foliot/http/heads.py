"""How large the head of a request may be, and how long it may take to arrive: its first line and its headers."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class _TooLarge(Exception):
    """Nobody reads on."""


def heads_within(seconds: float, size: int) -> type[HttpToolsProtocol]:
    """A protocol that lets go whoever has not sent a whole head in time, counted from the connection or its first byte,
    and refuses a head of more bytes.

    A connection that waits between two requests is not meant: that is what keep-alive bounds.
    """

    class PromptHeads(HttpToolsProtocol):
        _over: asyncio.TimerHandle | None = None
        _is_awaited = True
        """Whether a head is to come, or has begun and not ended."""
        _came = 0
        """Bytes since it began, those that came along with its first not counted."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._over = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self._is_awaited:
                self._wait_no_more()
                return
            if self._over is None:
                self._over = self.loop.call_later(seconds, self.transport.close)
            self._came += len(data)
            if self._came > size and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._is_awaited, self._came = True, 0

        def on_headers_complete(self) -> None:
            self._is_awaited = False
            if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > size:
                # The parser is told by an exception, and its protocol answers 400.
                raise _TooLarge
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(exc)

        def _wait_no_more(self) -> None:
            if self._over is not None:
                self._over.cancel()
                self._over = None

    return PromptHeads
