"""A gate that is away is no outcome of a run: its worker keeps the run, and asks until there is a gate."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from foliot.clock import SystemClock
from foliot.domain.runs import Order, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.engine.counters import Counters
from foliot.engine.hands import Hands
from foliot.gates.remote import RemoteGate
from foliot.ports import Control
from tests.builders import NOON, a_launch

TARGET = "python:digest"
DONE = {"status": "success", "result": 7, "error": None, "errorCode": None, "question": None}


class Gatehouse:
    """An address where somebody answers, or nobody."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        """Under which runs were asked for."""
        self.answers: list[int] = []
        """What is answered first, before it executes them."""
        self._server: ThreadingHTTPServer | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._address = free.getsockname()
        self.url = f"http://127.0.0.1:{self._address[1]}"

    def open(self) -> None:
        house = self

        class Porter(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, {"graphs": [{"graphId": TARGET, "room": None}]})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                house.keys.append(self.headers["Idempotency-Key"])
                self._answer(house.answers.pop(0) if house.answers else 200, DONE)

            def _answer(self, status: int, body: object) -> None:
                told = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(self._address, Porter)
        threading.Thread(target=self._server.serve_forever, args=(0.01,)).start()

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@contextmanager
def a_gatehouse() -> Iterator[Gatehouse]:
    house = Gatehouse()
    house.open()
    try:
        yield house
    finally:
        house.close()


class Scene:
    """A worker's hands, with a run that was taken up before anybody noticed that the gate is away."""

    def __init__(self, house: Gatehouse) -> None:
        self.house = house
        self.gate = RemoteGate(house.url, lambda: "secret", "worker")
        self.hands = Hands(self.gate, SystemClock(), lambda: NOON, lambda: None, Counters())

    async def begin(self, timeout: int | None = None) -> None:
        await self.gate.learn()
        self.house.close()
        self.hands.begin(a_launch(TARGET, timeout=timeout))
        await _until(lambda: self.gate.room(TARGET) == 0)

    async def outcome(self) -> Outcome:
        await _until(lambda: self.hands.oldest_report_at is not None)
        (report,) = self.hands.take_reports(10)
        return report.outcome


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


def test_a_run_that_was_taken_up_before_the_gate_was_missed_ends_as_the_gate_says_that_comes_back() -> None:
    async def work(scene: Scene) -> Outcome:
        await scene.begin()
        scene.house.answers += [503, 503, 503]
        scene.house.open()
        return await scene.outcome()

    with a_gatehouse() as house:
        outcome = asyncio.run(work(Scene(house)))
        assert outcome == Outcome(Status.SUCCESS, result="7"), "it ended as provider_unavailable after three retries"
        assert len(house.keys) == 4
        assert len(set(house.keys)) == 1


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_somebody_in_between_answers_for_a_gate_that_is_away_is_no_outcome(status: int) -> None:
    async def work(scene: Scene) -> Outcome:
        scene.house.answers += [status, status]
        await scene.gate.learn()
        return await scene.gate.execute(a_launch(TARGET), Control())

    with a_gatehouse() as house:
        assert asyncio.run(work(Scene(house))) == Outcome(Status.SUCCESS, result="7")


def test_a_run_waits_for_a_gate_that_does_not_know_its_worker_any_more() -> None:
    async def work(scene: Scene) -> Outcome:
        await scene.gate.learn()
        scene.house.answers += [401, 401, 401, 401]
        scene.hands.begin(a_launch(TARGET))
        await _until(lambda: scene.gate.room(TARGET) == 0)
        return await scene.outcome()

    with a_gatehouse() as house:
        outcome = asyncio.run(work(Scene(house)))
        assert outcome == Outcome(Status.SUCCESS, result="7"), "it ended as provider_unavailable after three retries"
        assert len(set(house.keys)) == 1


def test_a_run_that_is_cancelled_while_its_gate_is_away_ends_without_the_gate() -> None:
    async def work(scene: Scene) -> Outcome:
        await scene.begin()
        scene.hands.obey({1: Order.CANCEL_BY_USER})
        return await scene.outcome()

    with a_gatehouse() as house:
        assert asyncio.run(work(Scene(house))) == Outcome(Status.CANCELLED, Reason.CANCELLED_BY_USER)


def test_a_run_that_is_cancelled_just_when_its_gate_is_asked_and_not_found_ends_without_the_gate() -> None:
    async def work(scene: Scene) -> Outcome:
        control = Control()
        control.order = Order.CANCEL_BY_USER
        scene.house.close()
        return await scene.gate.execute(a_launch(TARGET), control)

    with a_gatehouse() as house:
        assert asyncio.run(work(Scene(house))) == Outcome(Status.CANCELLED, Reason.CANCELLED_BY_USER)


def test_a_run_whose_gate_stays_away_ends_with_its_timeout() -> None:
    async def work(scene: Scene) -> Outcome:
        await scene.begin(timeout=1)
        scene.hands.time_out()
        return await scene.outcome()

    with a_gatehouse() as house:
        assert asyncio.run(work(Scene(house))).reason is Reason.TIMEOUT


def test_a_worker_that_stops_hands_back_a_run_whose_gate_is_away() -> None:
    async def work(scene: Scene) -> None:
        await scene.begin()
        task = scene.hands.held[1].task
        assert await scene.hands.interrupt() == {}
        assert task is not None
        assert task.done()
        assert scene.hands.reports == 0

    with a_gatehouse() as house:
        asyncio.run(work(Scene(house)))
