"""What changes, told as it happens."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from foliot import Foliot
from foliot.domain.access import LOCAL_PRINCIPAL
from foliot.domain.pace import Pace
from foliot.http.streams import EventStream, StreamReader, Streams
from foliot.services.watching import Watcher
from foliot.serving import Server
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day

DIGEST = {"name": "digest", "cron": "0 9 * * *", "target": "python:digest"}


@pytest.fixture
def url(program: Foliot) -> Iterator[str]:
    """A server that listens: a stream does not end by itself."""
    server = Server(program.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    yield server.url
    server.stop()


def key_of(people: People, who: str) -> dict[str, str]:
    return {"Authorization": people.client(who).headers["Authorization"]}


def told(lines: Iterator[str], until: str) -> dict[str, str]:
    """The fields of the next event of that kind, or of the next token."""
    found: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        found = {} if not line else {**found, name: value}
        if name == until or (name == "data" and found.get("event") == until):
            return found
    raise AssertionError(f"it ended before {until}")


def listening(url: str, headers: dict[str, str], **params: Any) -> Any:
    return httpx2.stream("GET", f"{url}/api/v1/events", headers=headers, params=params, timeout=20)


def test_what_changes_is_told_to_who_sees_it_and_goes_on_without_a_gap(url: str, people: People) -> None:
    ann = key_of(people, "ann")
    with listening(url, ann) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        token = told(lines, "id")["id"]
        assert people.ann.post("/api/v1/schedules", json=DIGEST).status_code == 201
        assert '"id":"digest"' in told(lines, "schedule")["data"]
        run = people.program.schedules.trigger("digest").id
        assert f'"id":"{run}"' in told(lines, "run")["data"]
    people.program.runs.cancel(run)
    with listening(url, {**ann, "Last-Event-ID": token}) as answer:
        assert '"status":"cancelled"' in told(answer.iter_lines(), "run")["data"]
    with listening(url, {**ann, "Last-Event-ID": "x"}) as answer:
        assert told(answer.iter_lines(), "reset")["data"] == "{}"
    with listening(url, {**key_of(people, "bob"), "Last-Event-ID": token}, seconds=1) as answer:
        assert "digest" not in "".join(answer.iter_text())


def test_a_stream_ends_with_its_key(url: str, people: People) -> None:
    with listening(url, key_of(people, "ann")) as answer:
        lines = answer.iter_lines()
        told(lines, "id")
        people.program.parts.verbs.users.disable("ann")
        assert all(not line or line.startswith((":", "id")) for line in lines)


def test_what_cannot_be_listened_to_is_refused(people: People) -> None:
    assert people.ann.get("/api/v1/events", params={"kinds": "cats"}).status_code == 422
    assert people.ann.get("/api/v1/events", params={"schedule": "\0"}).status_code == 422
    assert people.nobody.get("/api/v1/events").status_code == 401


def test_a_stream_of_a_schedule_that_is_not_there_for_them_does_not_begin(people: People) -> None:
    assert people.ann.post("/api/v1/schedules", json=DIGEST).status_code == 201
    asked: dict[str, str] = {"schedule": "digest", "seconds": "0"}
    assert people.ann.get("/api/v1/events", params=asked).status_code == 200
    assert people.root.get("/api/v1/events", params=asked).status_code == 200
    assert people.bob.get("/api/v1/events", params=asked).status_code == 404
    assert people.ann.get("/api/v1/events", params=asked | {"schedule": "absent"}).status_code == 404


@pytest.mark.parametrize("ends", ["leave", "close"])
def test_who_leaves_as_they_are_welcomed_is_not_looked_for_any_more(program: Foliot, ends: str) -> None:
    streams = Streams(program.parts.watcher)

    class Hasty(StreamReader):
        def tell(self, frame: str | None) -> None:
            if frame is not None:
                streams.leave(self) if ends == "leave" else streams.close()

    async def join() -> None:
        streams.join(Hasty(LOCAL_PRINCIPAL, None, frozenset({"runs"}), None))
        looking = streams._thread
        assert looking is not None
        await asyncio.to_thread(looking.join, 10)
        assert not looking.is_alive()

    asyncio.run(join())


def test_a_stream_whose_reader_leaves_in_the_moment_of_a_frame_ends(program: Foliot) -> None:
    streams = Streams(program.parts.watcher)

    async def follow() -> int:
        reader, gone = StreamReader(LOCAL_PRINCIPAL, None, frozenset({"runs"}), None), asyncio.Event()
        sent: list[Any] = []

        async def receive() -> Any:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        async def is_let_in() -> bool:
            return True

        stream = asyncio.ensure_future(EventStream(streams, reader, is_let_in, None)({}, receive, send))
        while not sent:
            await asyncio.sleep(0)
        # What comes now wakes the stream only after it was cancelled, for its reader has gone before.
        gone.set()
        await asyncio.sleep(0)
        reader.frames.put_nowait(": a frame\n\n")
        async with asyncio.timeout(10):
            await stream
        return len(sent)

    assert asyncio.run(follow()) >= 1


def test_a_look_that_fails_ends_all_streams_and_who_asks_anew_is_told(
    program: Foliot, caplog: pytest.LogCaptureFixture
) -> None:
    """The thread that looks ended, and whoever listened, then or later, was told for ever that it is still there."""
    watchers = 0

    def watcher() -> Watcher:
        nonlocal watchers
        watchers += 1
        made = program.parts.watcher()
        if watchers == 1:
            made.look = lambda: 1 // 0  # type: ignore[assignment,method-assign,return-value]
        return made

    streams = Streams(watcher)

    async def first_frame() -> str | None:
        reader = StreamReader(LOCAL_PRINCIPAL, None, frozenset({"runs"}), None)
        streams.join(reader)
        async with asyncio.timeout(10):
            frame = await reader.frames.get()
        streams.leave(reader)
        return frame

    assert asyncio.run(first_frame()) is None
    assert str(asyncio.run(first_frame())).startswith("id: ")
    assert "ZeroDivisionError" in caplog.text
