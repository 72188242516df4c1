"""The service: how long requests take and how many there can be, while slots are due in the same process."""

import asyncio
import json
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import Any

from benchmarks.children import Child, Found, Stage, together
from benchmarks.databases import Urls, drop
from benchmarks.figures import Findings, say
from benchmarks.samples import median, percentile
from benchmarks.workers import Starts
from benchmarks.world import an_app, create, plain
from foliot.domain.pace import Pace
from foliot.engine.collector import calm_collector
from foliot.serving import Server

_UNLIMITED = Pace(1e9, 10**9)
_BULK = 500
"""Schedules in one request."""
_PAGE = 50
_CREATORS = 16
"""Connections on which schedules are created one by one."""


@dataclass(frozen=True, slots=True)
class Sizes:
    slots: int = 500
    """Due each second, spread over it."""
    seconds: int = 10
    warm: int = 3
    many: int = 100_000
    pages: int = 100
    rounds: int = 5


AT_ONCE = "at once"
SPACINGS = {AT_ONCE: "0s", "spread": "950ms"}
"""How the slots of a second lie in it: all due at its beginning, as lateness is measured of the engine, or apart."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of the service while lateness is looked at: as much as it must bear, not as much as it can."""

    what: str
    connections: int
    pace: float
    """Requests a second, on all connections together."""


DEMANDED = {
    "reads": Demand("200 reads a second", 4, 200),
    "creates": Demand("300 creations a second", 4, 300),
    # A little more: so that they do not fall at the same place of every second.
    "bulks": Demand(f"creation of {10 * _BULK:,} a second", 2, 10.3),
}

QUICK = Sizes(slots=200, seconds=3, warm=1, many=5_000, pages=20, rounds=1)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    report_rates(found, urls, sizes)
    latenesses = {spacing: lateness(urls, sizes, jitter) for spacing, jitter in SPACINGS.items()}
    engine_s = _of_rounds(latenesses[AT_ONCE]["nothing"], "late", 99)
    for spacing, seen in latenesses.items():
        report_lateness(found, f"{sizes.slots} slots a second {spacing}", seen, at_most=2 * engine_s)
    report_pages(found, urls, sizes)


def lateness(urls: Urls, sizes: Sizes, jitter: str) -> dict[str, list[Found]]:
    """How late slots are without requests and beside each kind of them, in turn, round after round."""
    seen: dict[str, list[Found]] = {kind: [] for kind in ("nothing", *DEMANDED)}
    for _ in range(sizes.rounds):
        seen["nothing"].append(beside_slots(next(urls), sizes, "nothing", jitter))
        for kind, wish in DEMANDED.items():
            seen[kind].append(beside_slots(next(urls), sizes, kind, jitter, wish.connections, wish.pace))
    return seen


def report_lateness(found: Findings, what: str, seen: dict[str, list[Found]], at_most: float) -> None:
    before = _of_rounds(seen["nothing"], "late", 99)
    found.add(f"{what}, without requests: late, p99", before, "ms", note=_p50_late(seen["nothing"]))
    for share in (50, 99):
        taken = _of_rounds(seen["reads"], "took", share)
        wanted = 50 if share == 99 else None
        found.add(f"{DEMANDED['reads'].what} beside {what}: p{share}", taken, "ms", at_most=wanted)
    for kind, wish in DEMANDED.items():
        found.add(
            f"{what}, beside {wish.what}: late, p99",
            _of_rounds(seen[kind], "late", 99),
            "ms",
            at_most=at_most,
            beside={"without": before},
            note=_p50_late(seen[kind]),
        )


def _of_rounds(rounds: Sequence[Found], what: str, share: int) -> float:
    """The median of what that share of each round was within: one round meets what else the machine does."""
    return median([percentile(each[what], share) for each in rounds])


def _p50_late(rounds: Sequence[Found]) -> str:
    return f"p50 {_of_rounds(rounds, 'late', 50):.1f} ms"


def report_rates(found: Findings, urls: Urls, sizes: Sizes) -> None:
    """How much can be asked for at the most, while slots are due."""
    beside = f"beside {sizes.slots} slots a second"
    rounds = [(_rate(urls, sizes, "creates", _CREATORS), _bare_rate(sizes)) for _ in range(sizes.rounds)]
    singly, bare = (median(rates) for rates in zip(*rounds, strict=True))
    found.add(
        f"creation one by one {beside}",
        singly,
        "a second",
        at_least=300,
        beside={"bare FastAPI on SQLite without slots": bare},
        note="over 16 connections",
    )
    in_bulk = _BULK * median([_rate(urls, sizes, "bulks", connections=2) for _ in range(sizes.rounds)])
    found.add(f"creation {_BULK} at once {beside}", in_bulk, "a second", at_least=5000, note="over 2 connections")


def _rate(urls: Urls, sizes: Sizes, kind: str, connections: int) -> float:
    """Requests a second, one after the other on each connection."""
    return len(beside_slots(next(urls), sizes, kind, SPACINGS["spread"], connections)["took"]) / sizes.seconds


def _bare_rate(sizes: Sizes) -> float:
    """Creations a second that the yardstick takes."""
    with tempfile.TemporaryDirectory(prefix="foliot-bench-") as folder:
        port, seconds = _free_port(), sizes.warm + sizes.seconds + 2
        server = Child("bare:serve", path=f"{folder}/bare.db", port=port, seconds=seconds)
        load = _loaded([server], sizes, port=port, key="none", kind="creates", connections=_CREATORS, pace=None)[-1]
    return len(load["took"]) / sizes.seconds


def report_pages(found: Findings, urls: Urls, sizes: Sizes) -> None:
    for sort in ("id", "next"):
        url = next(urls)
        create(url, plain(sizes.many))
        seen = together(
            [
                *_server(url, port := _free_port(), sizes.warm + 60, slots=0),
                Child("service:pages", port=port, key=_key(url), sort=sort, pages=sizes.pages),
            ]
        )[-1]
        what = f"a page of {_PAGE} of {sizes.many:,} schedules by {sort}"
        found.add(f"{what}: p50", median(seen["took"]), "ms", note=f"{seen['seen']:,} seen")
        found.add(f"{what}: p99", percentile(seen["took"], 99), "ms", at_most=50)
        drop(url)


def beside_slots(
    url: str, sizes: Sizes, kind: str, jitter: str, connections: int = 1, pace: float | None = None
) -> Found:
    """How long requests take, one after the other or so many a second, and how late slots are meanwhile."""
    create(url, plain(sizes.slots, every="1s", jitter=jitter, target="timed"))
    port, seconds = _free_port(), sizes.warm + sizes.seconds
    serving = _server(url, port, seconds + 2, sizes.slots)
    given = {"port": port, "key": _key(url), "kind": kind, "connections": connections, "pace": pace}
    server, load = _loaded(serving, sizes, **given)
    drop(url)
    late = [each[1] for each in server["seen"] if load["first"] <= each[0] < load["end"]]
    say(f"    {kind}: {len(load['took'])} requests, {len(late)} slots")
    return {"took": load["took"], "late": late}


def _loaded(servers: list[Child], sizes: Sizes, **given: Any) -> list[Found]:
    """What the servers and whoever asks them found, the latter last."""
    found = together([*servers, Child("service:load", **given, warm=sizes.warm, seconds=sizes.seconds)])
    if found[-1]["wrong"]:
        raise SystemExit(f"{given['kind']}: {found[-1]['wrong'][0]}")
    return found


def _server(url: str, port: int, seconds: int, slots: int) -> list[Child]:
    return [Child("service:serve", url=url, port=port, seconds=seconds, slots=slots)]


def _key(url: str) -> str:
    with closing(an_app(url)) as app:
        secret = app.parts.verbs.keys.create("bench").secret
    assert secret is not None
    return secret


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(stage: Stage, url: str, port: int, seconds: int, slots: int) -> Found:
    """The engine and the API in one process, as `foliot serve` has them."""
    app = an_app(url)
    starts = Starts()
    app.graph("timed")(starts.body)
    engine = app.parts.engine("bench", app.settings)
    server = Server(app.parts.http(_UNLIMITED), "127.0.0.1", port)
    stage.ready()
    server.start()

    async def work() -> None:
        working = asyncio.get_running_loop().create_task(engine.run())
        await asyncio.sleep(seconds)
        engine.stop()
        await working

    with calm_collector():
        asyncio.run(work())
    server.stop()
    app.close()
    return {"seen": starts.seen if slots else []}


class _Connection:
    """Keeps alive, and asks one thing after the other: a client that costs next to nothing."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"

    async def open(self) -> None:
        for _ in range(200):
            try:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
                return
            except OSError:
                await asyncio.sleep(0.05)
        raise SystemExit("the server does not listen")

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{length}\r\n".encode() + body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return status, await self._reader.readexactly(int(sizes[0].split(b":")[1])) if sizes else b""


Wish = tuple[str, str, bytes]


def _reads() -> Iterator[Wish]:
    for number in count():
        yield "GET", f"/api/v1/schedules/s{number % 100}", b""
        yield "GET", "/api/v1/schedules?limit=50", b""
        yield "GET", f"/api/v1/runs?schedule=s{number % 100}&limit=20", b""
        yield "GET", f"/api/v1/schedules/s{number % 100}/times?count=5", b""


_numbers = count()


def _new(name: str) -> dict[str, object]:
    return {"name": name, "target": "nothing", "cron": "0 9 * * *", "timezone": "Europe/Berlin"}


def _creates() -> Iterator[Wish]:
    while True:
        yield "POST", "/api/v1/schedules", json.dumps(_new(f"made-{next(_numbers)}")).encode()


def _bulks() -> Iterator[Wish]:
    while True:
        items = [_new(f"made-{next(_numbers)}") for _ in range(_BULK)]
        yield "POST", "/api/v1/schedules/bulk", json.dumps({"items": items}).encode()


_KINDS: dict[str, Callable[[], Iterator[Wish]]] = {"reads": _reads, "creates": _creates, "bulks": _bulks}


def load(
    stage: Stage, port: int, key: str, kind: str, connections: int, warm: int, seconds: int, pace: float | None
) -> Found:
    """One request after the other on each connection, or so many a second on all; only those count that begin and end
    between two moments.
    """
    stage.ready()
    first = time.time() + warm
    end = first + seconds
    took: list[float] = []
    wrong: list[str] = []

    async def go_on() -> None:
        connection = _Connection(port, key)
        await connection.open()
        wishes = _KINDS[kind]() if kind in _KINDS else iter(())
        turns = count()
        for wish in wishes:
            if pace is not None:
                await asyncio.sleep(max(0.0, first - warm + next(turns) * connections / pace - time.time()))
            began = time.time()
            if began >= end:
                return
            status, body = await connection.ask(*wish)
            ended = time.time()
            if status >= 300:
                wrong.append(f"{wish[:2]}: {status} {body[:300]!r}")
                return
            if first <= began and ended < end:
                took.append((ended - began) * 1000)
        await asyncio.sleep(max(0.0, end - time.time()))

    async def all_of_them() -> None:
        await asyncio.gather(*(go_on() for _ in range(connections)))

    asyncio.run(all_of_them())
    return {"took": took, "wrong": wrong, "first": first, "end": end}


def pages(stage: Stage, port: int, key: str, sort: str, pages: int) -> Found:
    """One page after the other, from the first on."""
    stage.ready()
    took: list[float] = []

    async def all_of_them() -> int:
        connection = _Connection(port, key)
        await connection.open()
        # The first request of a process makes what all others find there.
        await connection.ask("GET", "/api/v1/schedules?limit=1")
        seen = 0
        async for items in _turn(connection, sort, pages, took):
            seen += items
        return seen

    return {"seen": asyncio.run(all_of_them()), "took": took}


async def _turn(connection: _Connection, sort: str, pages: int, took: list[float]) -> AsyncIterator[int]:
    after = ""
    for _ in range(pages):
        began = time.perf_counter()
        status, body = await connection.ask("GET", f"/api/v1/schedules?limit={_PAGE}&sort={sort}{after}")
        took.append((time.perf_counter() - began) * 1000)
        if status != 200:
            raise SystemExit(f"a page: {status} {body[:300]!r}")
        page = json.loads(body)
        yield len(page["items"])
        if page["next"] is None:
            return
        after = f"&after={page['next']}"
