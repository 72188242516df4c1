"""Which services are let in: the battery of tokens that are not, and the secrets and tokens that are."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot import Foliot, Invalid
from foliot.clock import SystemClock
from foliot.domain.instants import MICROSECONDS
from foliot.domain.service_tokens import Algorithm, ServiceAccess, rules_of
from tests.http.service_clients import (
    AUDIENCE,
    BY_SECRET,
    BY_TOKEN,
    ISSUER,
    OLD_SECRET,
    OURS,
    SECRET,
    claims,
    client,
    token,
)
from tests.http.token_battery import Issuer, StillClock, battery, good

GRAPHS = "/api/internal/graphs"
NOW = SystemClock().now() // MICROSECONDS
ISSUERS = {str(algorithm): Issuer(algorithm, NOW) for algorithm in Algorithm}
BAD = {f"{name}: {case}": (issuer, text) for name, issuer in ISSUERS.items() for case, text in battery(issuer).items()}
GOOD = {f"{name}: {case}": (issuer, text) for name, issuer in ISSUERS.items() for case, text in good(issuer).items()}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path_factory.mktemp('tokens') / 'test.db'}")
    app.parts.clock = StillClock(NOW)
    yield app
    app.close()


@pytest.fixture(scope="module")
def doors(program: Foliot) -> dict[str, TestClient]:
    """Where the tokens of each issuer are taken."""
    return {str(issuer.algorithm): client(program, issuer.access) for issuer in ISSUERS.values()}


def come(doors: dict[str, TestClient], issuer: Issuer, bearer: str) -> Any:
    return doors[issuer.algorithm].get(GRAPHS, headers={"Authorization": f"Bearer {bearer}"})


@pytest.mark.parametrize("case", BAD)
def test_a_token_that_is_not_good_opens_nothing_and_is_shown_nowhere(
    doors: dict[str, TestClient], case: str, caplog: pytest.LogCaptureFixture
) -> None:
    issuer, bearer = BAD[case]
    with caplog.at_level(logging.DEBUG):
        answer = come(doors, issuer, bearer)
    assert (answer.status_code, answer.json()["code"]) == (401, "unidentified")
    assert answer.headers["www-authenticate"] == "Bearer"
    told = answer.text + caplog.text
    assert bearer not in told
    assert not any(len(part) > 8 and part in told for part in bearer.split("."))
    assert "BEGIN" not in told


def test_for_each_algorithm_there_are_more_bad_tokens_than_anybody_thinks_of() -> None:
    for name in ISSUERS:
        assert sum(case.startswith(name) for case in BAD) >= 90


@pytest.mark.parametrize("case", GOOD)
def test_a_good_token_opens(doors: dict[str, TestClient], case: str) -> None:
    assert come(doors, *GOOD[case]).status_code == 200


@pytest.mark.parametrize("name", ISSUERS)
def test_a_token_for_one_request_is_good_for_one(doors: dict[str, TestClient], name: str) -> None:
    issuer = ISSUERS[name]
    bearer = issuer.token(issuer.said(jti=f"only-{name}", once=True))
    assert [come(doors, issuer, bearer).status_code for _ in range(3)] == [200, 401, 401]
    another_of_its_name = issuer.token(issuer.said(jti=f"only-{name}", once=True, exp=NOW + 200))
    assert come(doors, issuer, another_of_its_name).status_code == 401


def test_of_many_who_come_at_once_with_a_token_for_one_request_one_is_let_in(database_url: str) -> None:
    app = Foliot(database_url)
    bearer = token(claims(SystemClock().now() // MICROSECONDS, jti="race", once=True))
    first = client(app, BY_TOKEN, bearer)
    clients = [TestClient(first.app, headers=dict(first.headers), raise_server_exceptions=False) for _ in range(8)]
    barrier, found = threading.Barrier(len(clients)), []

    def enter(one: TestClient) -> None:
        barrier.wait()
        found.append(one.get(GRAPHS).status_code)

    threads = [threading.Thread(target=enter, args=(one,)) for one in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    app.close()
    assert sorted(found) == [200] + [401] * 7


def test_a_token_opens_nothing_of_people(program: Foliot) -> None:
    issuer = ISSUERS["EdDSA"]
    asking = client(program, issuer.access, issuer.token())
    for path in ("/api/v1/me", "/api/v1/events?seconds=0", "/api/v1/schedules/absent"):
        assert asking.get(path).status_code == 401


def test_a_secret_opens_the_old_one_too_and_nothing_else_does(program: Foliot) -> None:
    for bearer in (SECRET, OLD_SECRET):
        assert client(program, BY_SECRET, bearer).get(GRAPHS).status_code == 200
    for bearer in (SECRET + "x", SECRET[:-1], "x" * 300, " ", ISSUERS["EdDSA"].token(), ""):
        assert client(program, BY_SECRET, bearer).get(GRAPHS).status_code == 401
    padded = client(program, BY_SECRET)
    padded.headers["Authorization"] = "Bearer" + " " * 600 + SECRET
    assert padded.get(GRAPHS).status_code == 401
    assert client(program, BY_SECRET).get(GRAPHS).status_code == 401


def test_an_api_key_opens_nothing_of_the_internal_api(program: Foliot) -> None:
    key = program.parts.verbs.keys.create("test").secret
    assert client(program, BY_SECRET, key).get(GRAPHS).status_code == 401


def test_without_secret_or_token_nobody_is_let_in_and_the_remedy_is_told(program: Foliot) -> None:
    answer = client(program, ServiceAccess(), SECRET).get(GRAPHS)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert "set FOLIOT_INTERNAL_SECRET" in answer.json()["detail"]


def test_a_key_that_is_none_stops_the_start(program: Foliot) -> None:
    access = ServiceAccess(tokens=rules_of("KEY", "EdDSA", "x" * 40, ISSUER, AUDIENCE, ()))
    with pytest.raises(Invalid, match="takes a key for EdDSA, and one is none"):
        client(program, access)


def test_the_environment_says_who_is_let_in(tmp_path: Path, program: Foliot, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n{OLD_SECRET}\n")
    (tmp_path / "key.pem").write_text(OURS.public)
    monkeypatch.setenv("FOLIOT_INTERNAL_SECRET_FILE", str(tmp_path / "secret"))
    monkeypatch.setenv("FOLIOT_JWT_KEY_FILE", str(tmp_path / "key.pem"))
    for name, value in (("ALGORITHM", "EdDSA"), ("ISSUER", ISSUER), ("AUDIENCE", AUDIENCE)):
        monkeypatch.setenv(f"FOLIOT_JWT_{name}", value)
    for bearer in (SECRET, OLD_SECRET, token(claims(NOW), kid=None)):
        access: Any = None
        assert client(program, access, bearer).get(GRAPHS).status_code == 200
