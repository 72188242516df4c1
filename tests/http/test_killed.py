"""A service that is killed at a write: told again under the same key, it is done once."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from foliot import Foliot
from tests.diet import on_sqlite_every_day

SCENES = {
    "create": ("/api/v1/schedules", {"name": "made", "target": "digest", "cron": "0 9 1 1 *"}),
    "trigger": ("/api/v1/schedules/there/trigger", {}),
    "top-up": ("/api/v1/accounts/ann/top-up", {"credits": 5, "reference": "invoice 1"}),
}

DEEDS = {
    "create": ("schedule.create", "schedule/made"),
    "trigger": ("schedule.trigger", "schedule/there"),
    "top-up": ("account.top_up", "account/ann"),
}


@contextmanager
def a_service(url: str, dies_at: str = "", moment: str = "") -> Iterator[Callable[[str, str, Any], tuple[int, Any]]]:
    """Where to ask it; whoever asks when it dies is told 0."""
    command = [sys.executable, "-m", "tests.http.mortal", url, dies_at, moment]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline())

    def ask(key: str, path: str, body: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "once", "Content-Type": "application/json"}
        wanted = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(wanted, timeout=20) as answer:
                return answer.status, (answer.headers, json.loads(answer.read()))
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (urllib.error.URLError, ConnectionError):
            return 0, None

    try:
        yield ask
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def prepared(url: str) -> str:
    """A schedule and a user who are there, and a key of an admin."""
    app = Foliot(url, name="mortal")
    app.graph("digest")(lambda given, ctx: given)
    app.schedules.create("there", target="digest", manual=True)
    app.parts.verbs.users.put("ann", "member")
    key = app.parts.verbs.keys.create("test").secret
    app.close()
    assert key is not None
    return key


def done(url: str, what: str) -> list[Any]:
    """What was done so far of what the scene asks for."""
    app = Foliot(url, name="mortal")
    if what == "create":
        found: list[Any] = [each.id for each in app.schedules.list() if each.id == "made"]
    elif what == "trigger":
        found = [run.kind for run in app.runs.list("there")]
    else:
        found = [posting.amount for posting in app.accounts.ledger("ann")]
    deeds = app.parts.database.read(lambda tx: tx.newest_deeds(100, None, None, None))
    app.close()
    assert [(deed.action, deed.subject) for deed in deeds].count(DEEDS[what]) == len(found)
    return found


@on_sqlite_every_day
@pytest.mark.parametrize(
    ("what", "moment"),
    [
        pytest.param("create", "after"),
        pytest.param("create", "before", marks=pytest.mark.slow),
        *(
            pytest.param(what, moment, marks=pytest.mark.slow)
            for what in ("trigger", "top-up")
            for moment in ("before", "after")
        ),
    ],
)
def test_a_write_that_the_service_died_at_is_done_once_when_it_is_told_again(
    database_url: str, what: str, moment: str
) -> None:
    path, body = SCENES[what]
    key = prepared(database_url)
    with a_service(database_url, what, moment) as ask:
        assert ask(key, path, body)[0] == 0
    assert len(done(database_url, what)) == (moment == "after")
    with a_service(database_url) as ask:
        status, (headers, first) = ask(key, path, body)
        assert status in (200, 201)
        assert ("Idempotency-Replayed" in headers) == (moment == "after")
        assert ask(key, path, body)[1][1] == first
    assert len(done(database_url, what)) == 1
