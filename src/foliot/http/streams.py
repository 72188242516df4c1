"""Streams of what changes: one thread looks while anybody listens, and tells each what they may see."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from foliot.domain.access import Principal
from foliot.domain.errors import TooMany, Unavailable
from foliot.domain.instants import rfc3339
from foliot.domain.watching import Watched, frame_of, read_token, token_of
from foliot.lines import RunLine, ScheduleLine
from foliot.services.run_lists import summary_of
from foliot.services.watching import Changes, Watcher

log = logging.getLogger("foliot.http")

_EVERY = 0.5
_BEAT = 15.0
_MOST_WAITING = 256
"""Frames that wait for a reader; who is slower is let go, and goes on from where they were."""
_SLOWEST = 20.0
_MOST_EACH = 8
_AT_ONCE = 200
"""Events in one frame of the network."""


class StreamReader:
    """Somebody who listens, on the loop of the server."""

    def __init__(self, principal: Principal, schedule: str | None, kinds: frozenset[str], token: str | None) -> None:
        self.principal = principal
        self.schedule = schedule
        self.kinds = kinds
        self.token = token
        self.has_left = False
        self._loop = asyncio.get_running_loop()
        self.frames: asyncio.Queue[str | None] = asyncio.Queue(_MOST_WAITING)

    def tell(self, frame: str | None) -> None:
        """From any thread; None is the end."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, frame)

    def _put(self, frame: str | None) -> None:
        if frame is None or self.frames.full():
            while not self.frames.empty():
                self.frames.get_nowait()
            frame = None
        self.frames.put_nowait(frame)

    def frames_of(self, changes: Changes, place: Watched) -> Sequence[str]:
        """What they are told of it; the token comes last, so that nobody who is cut off goes on too late."""
        told = []
        if "runs" in self.kinds:
            told += [_run(line) for line in changes.runs if self._sees(line.owner, line.schedule_id)]
        if "schedules" in self.kinds:
            told += [_schedule(line) for line in changes.schedules if self._sees(line.owner, line.id)]
        parts = ["".join(told[start : start + _AT_ONCE]) for start in range(0, len(told), _AT_ONCE)]
        return [*parts, frame_of(None, None, token_of(place))] if parts else []

    def _sees(self, owner: str, schedule_id: str) -> bool:
        return self.principal.sees(owner) and self.schedule in (None, schedule_id)


class Streams:
    """All who listen here."""

    def __init__(self, watcher: Callable[[], Watcher]) -> None:
        self._watcher = watcher
        self._listeners: list[StreamReader] = []
        self._joining: list[StreamReader] = []
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def join(self, listener: StreamReader) -> None:
        who = listener.principal.key or listener.principal.user
        with self._lock:
            if self._is_closed:
                raise Unavailable("the service is stopping: listen again in a moment")
            everybody = [*self._listeners, *self._joining]
            if sum((other.principal.key or other.principal.user) == who for other in everybody) >= _MOST_EACH:
                raise TooMany(f"{who} listens {_MOST_EACH} times already: end one of these", 5.0)
            self._joining.append(listener)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="foliot-events", daemon=True)
                self._thread.start()
        self._woken.set()

    def leave(self, listener: StreamReader) -> None:
        with self._lock:
            # The thread that looks may have them in hand, to welcome them.
            listener.has_left = True
            self._listeners = [other for other in self._listeners if other is not listener]
            self._joining = [other for other in self._joining if other is not listener]

    def close(self) -> None:
        """End all of them; nobody may listen any more."""
        with self._lock:
            self._is_closed = True
            everybody, self._listeners, self._joining = [*self._listeners, *self._joining], [], []
        for listener in everybody:
            listener.tell(None)
        self._woken.set()

    def _work(self) -> None:
        watcher: Watcher | None = None
        while True:
            self._woken.clear()
            with self._lock:
                joining, self._joining = self._joining, []
                if not joining and not self._listeners:
                    self._thread = None
                    return
            try:
                if watcher is None:
                    watcher = self._watcher()
                    watcher.begin()
                self._look(watcher, joining)
            except Exception as error:
                # All go on from where they were, once the database is back; nor does a defect leave them waiting.
                if not isinstance(error, Unavailable):
                    log.exception("what changes cannot be told: all who listen must ask anew")
                watcher = None
                with self._lock:
                    everybody, self._listeners = [*self._listeners, *joining], []
                for listener in everybody:
                    listener.tell(None)
            self._woken.wait(_EVERY)

    def _look(self, watcher: Watcher, joining: Sequence[StreamReader]) -> None:
        changes = watcher.look()
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            for frame in listener.frames_of(changes, watcher.place(listener.principal.seen_owner)):
                listener.tell(frame)
        for listener in joining:
            self._welcome(watcher, listener)

    def _welcome(self, watcher: Watcher, listener: StreamReader) -> None:
        """Tell them what they missed, in the thread that looks: nothing newer is told before it."""
        here = watcher.place(listener.principal.seen_owner)
        place = None if listener.token is None else read_token(listener.token)
        missed = None if place is None else watcher.since(place)
        if missed is not None:
            for frame in listener.frames_of(missed, here):
                listener.tell(frame)
        elif listener.token is not None:
            listener.tell(frame_of("reset", "{}"))
        listener.tell(frame_of(None, None, token_of(here)))
        with self._lock:
            if self._is_closed:
                listener.tell(None)
            elif not listener.has_left:
                self._listeners.append(listener)


class EventStream(Response):
    """An answer that lasts: it takes no thread, and ends with its reader, their key or the service."""

    def __init__(
        self, streams: Streams, listener: StreamReader, is_let_in: Callable[[], Any], seconds: float | None
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"}, media_type="text/event-stream")
        del self.headers["content-length"]
        self._streams = streams
        self._listener = listener
        self._is_let_in = is_let_in
        self._seconds = seconds

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_left(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.leave(self._listener)
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        loop = asyncio.get_running_loop()
        beaten, ends = loop.time(), None if self._seconds is None else loop.time() + self._seconds
        while ends is None or loop.time() < ends:
            try:
                wait = 1.0 if ends is None else min(1.0, max(0.01, ends - loop.time()))
                # Not by `wait_for`: it loses that this task was cancelled when a frame comes in the same moment.
                async with asyncio.timeout(wait):
                    frame = await self._listener.frames.get()
            except TimeoutError:
                frame = ""
            if frame is None or not await self._is_let_in():
                break
            if not frame and loop.time() - beaten >= _BEAT:
                frame = ": still here\n\n"
            if frame:
                beaten = loop.time()
                body = {"type": "http.response.body", "body": frame.encode(errors="replace"), "more_body": True}
                async with asyncio.timeout(_SLOWEST):
                    await send(body)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _run(line: RunLine) -> str:
    run = summary_of(line)
    said = {
        "id": run.id,
        "schedule": run.schedule,
        "kind": run.kind,
        "scheduled_for": rfc3339(line.nominal_at),
        "attempt": run.attempt,
        "status": run.status,
        "reason": run.reason,
        "hold": run.hold,
        "decision": run.decision,
        "created_at": rfc3339(line.created_at),
        "started_at": None if line.started_at is None else rfc3339(line.started_at),
        "ended_at": None if line.ended_at is None else rfc3339(line.ended_at),
    }
    return frame_of("run", json.dumps(said, separators=(",", ":")))


def _schedule(line: ScheduleLine) -> str:
    said = {
        "id": line.id,
        "name": line.name,
        "token": line.version,
        "updated_at": rfc3339(line.updated_at),
        "deleted": line.deleted_at is not None,
        "pause_from": None if line.pause_from is None else rfc3339(line.pause_from),
        "pause_to": None if line.pause_to is None else rfc3339(line.pause_to),
    }
    return frame_of("schedule", json.dumps(said, separators=(",", ":")))
