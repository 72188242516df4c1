"""How long the head of a request may take to arrive: its first line and its headers, before anybody reads them."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def heads_within(seconds: float) -> type[H11Protocol]:
    """A protocol that lets go whoever has not sent a whole head in time, counted from the connection or its first byte.

    A connection that waits between two requests is not meant: that is what keep-alive bounds.
    """

    class PromptHeads(H11Protocol):
        _over: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._over = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
                self._wait_no_more()
            elif self._over is None:
                self._over = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(exc)

        def _wait_no_more(self) -> None:
            if self._over is not None:
                self._over.cancel()
                self._over = None

    return PromptHeads
