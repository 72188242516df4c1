"""Limits: what is too large, too deep, too slow or too often is refused in words, and nobody else notices."""

import ast
import asyncio
import inspect
import json
import re
import socket
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from foliot import Foliot, chance
from foliot.clock import SystemClock
from foliot.domain import signing
from foliot.domain.keys import key_of
from foliot.domain.pace import Pace
from foliot.http import doors, health
from foliot.http.application import Surroundings
from foliot.http.limits import LARGEST_BODY, BodyLimits
from foliot.http.paging import MOST_LISTED
from foliot.http.traffic import Traffic
from foliot.serving import Server
from tests.http.belongings import a_world
from tests.http.clients import People
from tests.http.service_clients import BY_SECRET, DECISION_SECRET, SECRET

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def database_kind() -> str:
    """Nothing of this depends on the database."""
    return "sqlite"


def post(people: People, body: bytes | Iterator[bytes]) -> tuple[int, str]:
    answer = people.ann.post("/api/v1/schedules", content=body, headers=JSON)
    return answer.status_code, answer.json()["code"]


def test_a_body_may_be_as_large_as_it_is_said_and_not_a_byte_larger(people: People) -> None:
    rest = LARGEST_BODY - len(json.dumps({"name": ""}))
    assert post(people, json.dumps({"name": "a" * rest}).encode())[0] == 422
    assert post(people, json.dumps({"name": "a" * (rest + 1)}).encode()) == (413, "too_large")


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off_where_it_is_too_large(people: People) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(64):
            sent += 1
            yield b" " * 65_536

    tracemalloc.start()
    assert post(people, endless()) == (413, "too_large")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 * LARGEST_BODY


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE"])
def test_a_body_is_cut_off_whatever_the_method_is_that_it_comes_with(people: People, method: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield b" " * 65_536

    headers = {"Idempotency-Key": "one"}
    answer = people.ann.request(method, "/api/v1/me", content=endless(), headers=headers)
    assert answer.status_code == 413


def test_an_idempotency_key_means_nothing_where_nothing_is_written(people: People) -> None:
    for key in ("one", "one", "two words"):
        answer = people.ann.get("/api/v1/me", headers={"Idempotency-Key": key})
        assert (answer.status_code, "idempotency-replayed" in answer.headers) == (200, False)


def test_json_that_is_too_deep_is_refused_before_anybody_reads_it(people: People) -> None:
    assert post(people, b"[" * 10_000) == (400, "too_deep")
    assert post(people, b'{"a":' * 10_000 + b"1" + b"}" * 10_000) == (400, "too_deep")
    deep = json.dumps({"name": "x", "cron": "0 9 * * *", "input": "[" * 10_000}).encode()
    assert people.ann.post("/api/v1/schedules", content=deep, headers=JSON).status_code == 201


def test_what_is_no_json_is_unreadable(people: People) -> None:
    assert post(people, b'{"name":') == (400, "unreadable")


def test_a_body_that_is_not_in_utf_8_is_unreadable_and_told_where_and_the_remedy(people: People) -> None:
    answer = people.ann.post("/api/v1/schedules", content='{"name": "é"}'.encode("latin-1"), headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["code"]) == (400, "unreadable")
    assert told["detail"] == "the body takes JSON in UTF-8, and is none from byte 10: encode its text as UTF-8"
    assert [one["where"] for one in told["errors"]] == ["the body"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_json_in_another_encoding_is_refused_before_anybody_reads_it(people: People, encoding: str) -> None:
    """Of the letter ∀ one byte is a quote: brackets behind it were taken for text, and stored as deep as they were."""
    said = (
        '{"name": "deep", "target": "python:digest", "manual": true, "input": ["∀", ' + "[" * 960 + "]" * 960 + ',"x"]}'
    )
    for path in ("/api/v1/schedules", "/api/v1/preview"):
        answer = people.ann.post(path, content=said.encode(encoding), headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
        assert "this looks like UTF-" in answer.json()["detail"]
    assert people.ann.get("/api/v1/schedules/deep").status_code == 404


def test_a_mark_before_utf_8_is_no_other_encoding(people: People) -> None:
    said = b"\xef\xbb\xbf" + json.dumps({"name": "marked", "cron": "0 9 * * *"}).encode()
    assert people.ann.post("/api/v1/schedules", content=said, headers=JSON).status_code == 201


def test_a_number_of_more_digits_than_are_read_is_unreadable_and_told_the_remedy(people: People) -> None:
    answer = people.ann.post("/api/v1/schedules", content=b'{"input": ' + b"9" * 5000 + b"}", headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
    assert "write long numbers as text" in answer.json()["detail"]


async def _heard(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_body_that_comes_too_slowly_is_not_waited_for(method: str) -> None:
    app = Starlette(routes=[Route("/", _heard, methods=[method])])
    server = Server(Surroundings(BodyLimits(app, slowest=0.2), SystemClock(), Traffic()), "127.0.0.1", 0)
    server.start()
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(f"{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab".encode())
            answer = connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 408")
    finally:
        server.stop()


def test_a_request_whose_sender_leaves_before_its_end_is_not_carried_out() -> None:
    carried_out = []
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        carried_out.append(await receive())

    async def receive() -> Message:
        return next(messages)

    async def send(message: Message) -> None:
        pytest.fail(f"nobody is there to be told {message}")

    asyncio.run(BodyLimits(app)({"type": "http", "method": "POST", "headers": []}, receive, send))
    assert carried_out == []


def test_who_asks_too_often_waits_and_others_do_not(program: Foliot) -> None:
    http = program.parts.http(Pace(per_second=0.001, burst=5))
    people = People(program, lambda: TestClient(http, raise_server_exceptions=False))
    codes = [people.ann.get("/api/v1/schedules/absent").status_code for _ in range(10)]
    assert codes == [404] * 5 + [429] * 5
    refused = people.ann.get("/api/v1/schedules/absent")
    assert (refused.json()["code"], int(refused.headers["retry-after"]) > 1) == ("too_many", True)
    assert people.bob.get("/api/v1/schedules/absent").status_code == 404


def test_who_comes_with_keys_that_open_nothing_waits_and_those_who_are_known_do_not(program: Foliot) -> None:
    http = program.parts.http(Pace(per_second=0.001, burst=5))
    people = People(program, lambda: TestClient(http, raise_server_exceptions=False))
    assert people.ann.get("/api/v1/schedules/absent").status_code == 404

    def come(key: str) -> httpx2.Response:
        return people.nobody.get("/api/v1/me", headers={"Authorization": f"Bearer {key}"})

    unknown = [come(key_of(chance.short(), chance.secret()).text) for _ in range(10)]
    # One of the five was the first time of somebody whom nobody knew either.
    assert [answer.status_code for answer in unknown] == [401] * 4 + [429] * 6
    assert (unknown[-1].json()["code"], int(unknown[-1].headers["retry-after"]) > 1) == ("too_many", True)
    # Also when all keys are to be looked up again.
    program.parts.doorkeeper.forget()
    assert people.ann.get("/api/v1/schedules/absent").status_code == 404
    # What is no key at all is not looked up.
    assert come("fol_nonsense").status_code == 401


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/api/internal/graphs", {"Authorization": "Bearer a-guess"}),
        ("/api/internal/graphs", {}),
        ("/webhooks/decisions/absent~1", {"Foliot-Signature": "t=1,v1=00"}),
    ],
)
def test_who_guesses_what_services_show_waits_and_the_services_do_not(
    program: Foliot, path: str, shown: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Each guess was a line in the log, and there was no end of them."""
    access = replace(BY_SECRET, decision_secrets=(DECISION_SECRET,))
    http = program.parts.http(Pace(per_second=0.001, burst=5), access)
    client = TestClient(http, raise_server_exceptions=False)
    method = "POST" if "webhooks" in path else "GET"

    codes = [client.request(method, path, headers=shown).status_code for _ in range(10)]

    assert codes == [401] * 5 + [429] * 5
    assert len([record for record in caplog.records if "not let in" in record.getMessage()]) <= 5
    known = [client.get("/api/internal/graphs", headers={"Authorization": f"Bearer {SECRET}"}) for _ in range(10)]
    assert {answer.status_code for answer in known} == {200}


def test_answers_tell_browsers_to_be_careful(people: People) -> None:
    for answer in (people.ann.get("/api/v1/schedules/absent"), people.nobody.get("/nowhere")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_no_other_origin_is_let_in(people: People) -> None:
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = people.nobody.options("/api/v1/schedules", headers=asked)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def asked(port: int, sent: bytes) -> bytes:
    """What a server answers to that; empty when it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(sent)
            return connection.recv(4096)
        except ConnectionError:
            return b""


def test_a_head_has_a_size_at_which_nobody_reads_on(program: Foliot) -> None:
    server = Server(program.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    try:
        begin, end = b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"\r\n\r\n"
        assert asked(server.port, begin + b"X: " + b"a" * 32_000 + end).startswith(b"HTTP/1.1 200")
        for large in (
            begin + b"X: " + b"a" * 200_000 + end,
            begin + b"\r\n".join(b"X%d: a" % number for number in range(40_000)) + end,
            b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x" + end,
        ):
            assert asked(server.port, large)[:12] in (b"", b"HTTP/1.1 400")
        assert asked(server.port, begin + b"\r\n").startswith(b"HTTP/1.1 200")
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Idempotency-Key", "x" * 255, 201),
        ("Idempotency-Key", "x" * 256, 422),
        ("Idempotency-Key", "", 422),
        ("Idempotency-Key", "two words", 422),
        ("Authorization", "Bearer " + "x" * 20_000, 401),
        ("Content-Length", str(LARGEST_BODY + 1), 413),
        ("Content-Length", "9" * 400, 413),
    ],
)
def test_headers_are_taken_within_bounds(people: People, name: str, value: str, status: int) -> None:
    headers = {**JSON, name: value}
    body = json.dumps({"name": "a", "cron": "0 9 * * *"}).encode()
    assert people.ann.post("/api/v1/schedules", content=body, headers=headers).status_code == status


def test_every_list_is_paged_and_no_page_has_more_than_200(people: People) -> None:
    lists = []
    for path, methods in people.root.get("/api/v1/openapi.json").json()["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", []):
            # What is verified is read here and not sent.
            if parameter["name"] == "limit" and not path.endswith("/verify"):
                lists.append(path)
                assert (parameter["schema"]["minimum"], parameter["schema"]["maximum"]) == (1, MOST_LISTED), path
    assert len(lists) > 8
    for path in lists:
        if "{" not in path and path.startswith("/api/v1"):
            codes = [people.root.get(path, params={"limit": limit}).status_code for limit in (1, 200, 0, 201, -1, "x")]
            assert codes == [200, 200, 422, 422, 422, 422], path
            assert people.root.get(path, params={"after": "x" * 2001}).status_code == 422


def test_a_backfill_of_very_many_is_counted_and_begun_only_when_that_is_meant(people: People) -> None:
    people.ann.post("/api/v1/schedules", json={"name": "a", "cron": "* * * * * *", "target": "python:digest"})
    path, year = "/api/v1/schedules/a/backfills", {"start": "2025-01-01T00:00:00Z", "end": "2026-01-01T00:00:00Z"}
    dry = people.ann.post(path, json={**year, "dry_run": True}).json()
    assert (dry["total"], len(dry["slots"])) == (365 * 86_400 + 1, 1000)
    refused = people.ann.post(path, json=year)
    assert (refused.status_code, "confirm it, or narrow it" in refused.json()["detail"]) == (422, True)
    assert people.ann.get(path).json()["items"] == []
    assert people.ann.get("/api/v1/schedules/a/times", params={"count": 10_001}).status_code == 422
    for wrong in ({"end": "2024-01-01T00:00:00Z"}, {"start": "soon"}, {"concurrency": 0}, {"concurrency": 10**9}):
        assert people.ann.post(path, json={**year, "confirm": True, **wrong}).status_code == 422, wrong


def test_who_waits_as_long_as_they_are_told_is_answered(database_url: str) -> None:
    with a_world(database_url) as world:
        http = world.app.parts.http(Pace(per_second=0.5, burst=2))
        people = People(world.app, lambda: TestClient(http, raise_server_exceptions=False))
        assert [people.ann.get("/api/v1/me").status_code for _ in range(3)] == [200, 200, 429]
        wait = int(people.ann.get("/api/v1/me").headers["retry-after"])
        world.advance(seconds=wait)
        assert people.ann.get("/api/v1/me").status_code == 200
        refused = people.ann.get("/api/v1/me")
        assert (refused.status_code, "ask" in refused.json()["detail"]) == (429, True)


@pytest.mark.parametrize(("per_second", "said", "header"), [(100, "wait 0.1 s", "1"), (0.8, "wait 1.3 s", "2")])
def test_how_long_to_wait_is_rounded_up(database_url: str, per_second: float, said: str, header: str) -> None:
    """It was said to wait 0.0 s, and whoever waited 1 s for 1.25 was refused again."""
    with a_world(database_url) as world:
        http = world.app.parts.http(Pace(per_second, burst=1))
        people = People(world.app, lambda: TestClient(http, raise_server_exceptions=False))
        assert people.ann.get("/api/v1/me").status_code == 200
        refused = people.ann.get("/api/v1/me")
        assert refused.status_code == 429
        assert refused.json()["detail"].endswith(said)
        assert refused.headers["retry-after"] == header


def test_a_key_ends_to_the_second_and_says_when_it_was_used(database_url: str) -> None:
    with a_world(database_url) as world:
        http = world.app.parts.http(Pace(1e6, 10**6))
        people = People(world.app, lambda: TestClient(http, raise_server_exceptions=False))
        said = {"name": "short", "expires_at": "2026-11-15T12:05:00Z"}
        made = people.ann.post("/api/v1/keys", json=said).json()
        short = people.someone()
        short.headers["Authorization"] = f"Bearer {made['secret']}"
        place = f"/api/v1/keys/{made['id']}"
        assert people.ann.get(place).json()["used_at"] is None
        world.advance(seconds=299)
        assert short.get("/api/v1/me").status_code == 200
        assert people.ann.get(place).json()["used_at"] == "2026-11-15T12:04:59Z"
        world.advance(seconds=1)
        assert short.get("/api/v1/me").status_code == 401
        assert people.ann.get(place).json()["used_at"] == "2026-11-15T12:04:59Z"


def test_whoever_guesses_learns_nothing_from_how_long_it_takes() -> None:
    """What is secret is compared whole, by the one function that takes as long for what fits as for what does not."""
    for module in (doors, health, signing):
        tree = ast.parse(inspect.getsource(module))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert "hmac.compare_digest" in called, module.__name__
        compared = [
            ast.unparse(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Compare) and any(isinstance(kind, ast.Eq | ast.NotEq | ast.In) for kind in node.ops)
        ]
        assert not [text for text in compared if re.search(r"secret|signature|digest|given|\bmac|token\b", text)]
