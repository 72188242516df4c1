"""Canary secrets: all is started with secrets that can be recognised, and they are looked for wherever it writes.

The service is a process as people start it. It is asked for what it does and for what it refuses, calls servers that
repeat what they were sent, loses a table, is killed and started again. Then its log, its answers, its metrics, its
database, its settings, its doctor and its commands are searched.
"""

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, LiteralString, NamedTuple
from urllib.parse import urlsplit

import httpx2
import jwt
import psycopg
from psycopg import sql

from foliot.domain.signing import SIGNATURE_HEADER, signature_of
from tests.cli.serving import HERE, Serving, wait_for
from tests.executors.receiver import Receiver, Reply, Seen, a_receiver

MARK = "canary"
"""In every secret, and in nothing else."""
HOOK_ENV = "FOLIOT_WEBHOOK_SHOP"
PROGRAM = """
import os

from foliot import Foliot

app = Foliot(name="shop")
allowed = {{"Authorization": "Bearer " + os.environ["CREDENTIAL"]}}
app.endpoint("billing", "{url}", secret_env="BILLING_SECRET", headers=allowed, retries=0)
app.endpoint("nowhere", "http://127.0.0.1:1/", secret=os.environ["ENDPOINT_SECRET"], headers=allowed, retries=0)


@app.graph("fails")
def fails(input, ctx):
    raise RuntimeError("it was told to")
"""


def canary(name: str) -> str:
    return f"{MARK}-{name}-0123456789-0123456789"


class Secrets(NamedTuple):
    """All that is secret, by where it comes from."""

    admin_key: str = f"fol_{'c' * 12}_{f'{MARK}-admin-key'.ljust(43, 'x')}"
    internal: str = canary("internal")
    token: str = canary("token-key")
    decision: str = canary("decision")
    metrics: str = canary("metrics")
    hook: str = canary("hook")
    billing: str = canary("billing")
    endpoint: str = canary("endpoint")
    credential: str = canary("credential")
    password: str = canary("password")
    wrong: str = canary("wrong")
    """What somebody tries who has none of them."""

    def environment(self) -> dict[str, str]:
        return {
            "FOLIOT_ADMIN_KEY": self.admin_key,
            "FOLIOT_INTERNAL_SECRET": self.internal,
            "FOLIOT_JWT_ALGORITHM": "HS256",
            "FOLIOT_JWT_KEY": self.token,
            "FOLIOT_JWT_ISSUER": "issuer",
            "FOLIOT_DECISION_SECRET": self.decision,
            "FOLIOT_METRICS_TOKEN": self.metrics,
            HOOK_ENV: self.hook,
            "BILLING_SECRET": self.billing,
            "ENDPOINT_SECRET": self.endpoint,
            "CREDENTIAL": self.credential,
            "FOLIOT_HTTP_ALLOW": "127.0.0.0/8",
            "FOLIOT_LOG_LEVEL": "debug",
        }


class Search:
    """What was written where, and what of it is secret."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, where: str, text: str) -> None:
        self.texts[where] = self.texts.get(where, "") + text

    def problems(self) -> list[str]:
        return [
            f"{where}: {text[max(0, text.index(MARK) - 200) : text.index(MARK) + 60]!r}"
            for where, text in self.texts.items()
            if MARK in text
        ]

    @property
    def size(self) -> int:
        return sum(map(len, self.texts.values()))


class Asking:
    """Asks the service, and keeps what it answers."""

    def __init__(self, url: str, secrets: Secrets, search: Search) -> None:
        self._client = httpx2.Client(base_url=url, timeout=60)
        self._secrets = secrets
        self._search = search
        self.number = 0

    def ask(self, method: str, path: str, bearer: str | None = None, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {bearer or self._secrets.admin_key}", **options.pop("headers", {})}
        answer = self._client.request(method, path, headers=headers, **options)
        self.number += 1
        self._search.add("answers", f"{method} {answer.status_code} {dict(answer.headers)} {answer.text}\n")
        return answer

    def close(self) -> None:
        self._client.close()


@contextmanager
def _served(folder: Path, url: str, secrets: Secrets, search: Search, receiver: Receiver) -> Iterator[Asking]:
    (folder / "app.py").write_text(PROGRAM.format(url=receiver.url("/billing")))
    environment = {**secrets.environment(), "FOLIOT_DATABASE": url}
    serving = Serving(folder, "app.py", "--port", "0", environment=environment)
    try:
        serving.wait_until_ready()
        with closing(Asking(serving.profile["url"], secrets, search)) as asking:
            yield asking
    finally:
        # It dies while it is at work.
        serving.process.kill()
        serving.process.wait()
        search.add("log", serving.said())


def _echo(seen: Seen) -> Reply:
    """Whoever is called says again what it was sent, and that it failed."""
    return Reply(500, json.dumps({**seen.headers}), {"X-Echo": seen.headers.get("authorization", "")})


def run(url: str, folder: Path) -> tuple[Search, int]:
    """All of it, on that database; what was written, and how often the service was asked."""
    secrets, search = Secrets(), Search()
    url = _with_password(url, secrets.password)
    with a_receiver(_echo) as receiver:
        with _served(folder, url, secrets, search, receiver) as asking:
            _use(asking, secrets, receiver)
            _refuse(asking, secrets)
            _lose_a_table(url, asking)
            asking.ask("POST", "/api/v1/schedules/python-fails/trigger")
            number = asking.number
        with _served(folder, url, secrets, search, receiver) as asking:
            _look(asking, secrets)
            number += asking.number
    search.add("database", _dumped(url))
    environment = {**os.environ, **secrets.environment(), "FOLIOT_DATABASE": url, "XDG_CONFIG_HOME": str(folder)}
    for command in ("settings show --origin", "doctor"):
        search.add(command, _said(command, folder, environment))
    elsewhere = {**environment, "FOLIOT_DATABASE": f"postgresql://shop:{secrets.password}@127.0.0.1:1/shop"}
    for command in ("doctor", "migrate", "serve app.py --port 0"):
        search.add(f"{command}, without a database", _said(command, folder, elsewhere))
    return search, number


def _use(asking: Asking, secrets: Secrets, receiver: Receiver) -> None:
    """What is done by right, also what fails where it is done."""
    made = asking._client.post(
        "/api/v1/keys", json={"name": "laptop"}, headers={"Authorization": f"Bearer {secrets.admin_key}"}
    ).json()
    asking.ask("GET", "/api/v1/me", made["secret"])
    asking.ask("DELETE", f"/api/v1/keys/{made['id']}")
    hook = {"url": receiver.url("/hook"), "events": ["run.failed"], "secret_env": HOOK_ENV}
    hooked = asking.ask("POST", "/api/v1/webhooks", json=hook).json()
    asking.ask("POST", f"/api/v1/webhooks/{hooked['id']}/test")
    for target in ("http:billing", "http:nowhere", "python:fails"):
        name = target.replace(":", "-")
        asking.ask("POST", "/api/v1/schedules", json={"name": name, "target": target, "cron": "0 9 1 1 *"})
        run = asking.ask("POST", f"/api/v1/schedules/{name}/trigger").json()["id"]
        _await_end(asking, run)
    grant = asking.ask("POST", "/api/v1/grants", json={"scopes": ["graph:execute:http:billing"]}).json()["id"]
    old = _token(secrets.token, 1.0)
    for key, bearer in (("one", secrets.internal), ("two", _token(secrets.token)), ("three", old)):
        said, headers = {"executionGrantId": grant}, {"Idempotency-Key": key, "Prefer": "wait=30"}
        answer = asking.ask("POST", "/api/internal/graphs/http:billing/runs", bearer, json=said, headers=headers)
        assert answer.status_code == (401 if bearer == old else 200)
    assert {seen.path for seen in receiver.seen} == {"/billing", "/hook"}
    assert all(secrets.credential in str(seen.headers) for seen in receiver.seen if seen.path == "/billing")


def _await_end(asking: Asking, run: str) -> None:
    wait_for(f"{run} ends", lambda: asking.ask("GET", f"/api/v1/runs/{run}").json()["status"] == "error")


def _token(key: str, now: float | None = None) -> str:
    now = time.time() if now is None else now
    said = {"iss": "issuer", "aud": "foliot", "sub": "worker", "jti": "7", "iat": now, "exp": now + 60}
    return jwt.encode(said, key, algorithm="HS256")


def _refuse(asking: Asking, secrets: Secrets) -> None:
    """What is wrong, with what is secret in the wrong places."""
    wrong = secrets.wrong
    for bearer in (wrong, f"fol_{'d' * 12}_{wrong.ljust(43, 'x')}", _token(wrong), f"{secrets.internal} x"):
        asking.ask("GET", "/api/v1/me", bearer)
        asking.ask("GET", "/api/internal/graphs", bearer)
        asking.ask("GET", "/metrics", bearer)
    for method, path in (("GET", f"/api/v1/{wrong}"), ("POST", f"/{wrong}"), ("GET", f"/api/v1/me?key={wrong}")):
        # The path is told to who has asked for it.
        asking._client.request(method, path, headers={"Authorization": f"Bearer {secrets.admin_key}"})
    asking.ask("POST", "/api/v1/keys", content=f'{{"name": {wrong}'.encode())
    asking.ask("POST", "/api/v1/keys", json={"name": "a", "expires_at": {"secret": wrong}})
    asking.ask("POST", "/api/v1/webhooks", json={"url": f"https://ann:{wrong}@example.test/", "secret_env": HOOK_ENV})
    asking.ask("POST", "/api/v1/webhooks", json={"url": "https://example.test/", "secret": wrong})
    body = json.dumps({"run_id": "a", "verdict": "approve", "by": "ann", "id": "1"}).encode()
    for secret in (wrong, secrets.decision):
        asking.ask(
            "POST", "/webhooks/decisions/b", content=body, headers={SIGNATURE_HEADER: signature_of(body, secret, 1)}
        )


def _lose_a_table(url: str, asking: Asking) -> None:
    """An error of ours: the log has the words of the database, and the answer has none of them.

    It is one that no worker looks into by itself. Whoever was answered so asks on over the same connection.
    """
    _do(url, "ALTER TABLE workflows RENAME TO lost")
    answer = asking.ask("GET", "/api/v1/workflows")
    assert answer.status_code >= 500, answer.text
    assert "lost" not in answer.text
    assert "workflows" not in answer.text
    _do(url, "ALTER TABLE lost RENAME TO workflows")


def _look(asking: Asking, secrets: Secrets) -> None:
    """All that can be read."""
    paths = json.loads(asking.ask("GET", "/api/v1/openapi.json").text)["paths"]
    for path, methods in paths.items():
        if "get" in methods and "{" not in path and not path.endswith("/events"):
            asking.ask("GET", path, params={"since": "2026-01-01T00:00:00Z"} if path.endswith("/audit") else {})
    for path in ("/readyz", "/healthz", "/api/v1/events?seconds=0", "/api/v1/trail?limit=200"):
        asking.ask("GET", path)
    assert asking.ask("GET", "/metrics", secrets.metrics).is_success


def _with_password(url: str, password: str) -> str:
    return url.replace("postgres:@", f"postgres:{password}@")


def _do(url: str, statement: LiteralString) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as file:
            file.execute(statement)
        return
    with psycopg.connect(url, autocommit=True) as cx:
        cx.execute(statement)


def _dumped(url: str) -> str:
    """All that is in the database; of a file every byte, also what was deleted."""
    if url.startswith("sqlite"):
        path = Path(urlsplit(url).path[1:])
        return "".join(file.read_text("latin-1") for file in path.parent.glob(f"{path.name}*"))
    with psycopg.connect(url) as cx:
        tables = cx.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        rows = [cx.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name))) for (name,) in tables]
        return "\n".join(str(row[0]) for found in rows for row in found)


def _said(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [*HERE, *command.split()], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return f"{done.stdout}{done.stderr}"
