"""Asking the server: a problem becomes the refusal that it stands for, and a write that went astray is asked again."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import Any

import httpx2

from foliot import chance
from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Refusal, Unavailable
from foliot.http.wording import ROUTES

API = "/api/v1"
_KINDS: dict[int, type[Refusal]] = {
    401: Denied,
    402: Denied,
    403: Denied,
    404: NotFound,
    409: Conflict,
    429: Unavailable,
}
_AGAIN = (0.2, 1.0, 3.0)
"""Seconds until it is asked once more."""
_LONGEST_WAIT = 10.0
_PAGE = 200
COMMANDS = {
    "accounts.get": "account show",
    "accounts.top_up": "account top-up",
    "grants.budget": "grant show",
    "grants.create": "grant create",
    "grants.extend": "grant extend",
    "grants.list": "grant list",
    "keys.list": "key list",
    "runs.cancel": "run cancel",
    "runs.decide": "decision",
    "runs.list": "run list",
    "runs.questions": "decision list",
    "runs.receipts": "run show",
    "runs.retry": "run retry",
    "schedules.backfills": "backfill list",
    "schedules.list": "schedule list",
    "schedules.patch": "schedule edit",
    "schedules.times": "schedule times",
    "schedules.trigger": "schedule trigger",
    "users.list": "user list",
    "users.put": "user put",
    "webhooks.list": "webhook list",
    "workflows.list": "workflow list",
}
"""By the verbs that do the same."""
_BY_ROUTE = {f"`{ROUTES[verb]}`": f"`foliot {command}`" for verb, command in COMMANDS.items()}
_ROUTE = re.compile("`[A-Z]+ /[^`]+`")

Query = Mapping[str, Any]


class Client:
    """One server, and who asks it."""

    def __init__(self, url: str, key: str | None, *, told: Callable[[str], None] = lambda _: None) -> None:
        self.url = url
        self._told = told
        headers = {"Accept": "application/json", "User-Agent": "foliot-cli"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._http = httpx2.Client(headers=headers, timeout=httpx2.Timeout(30, connect=5))
        self.has_key = key is not None

    def get(self, path: str, query: Query | None = None) -> Any:
        found = self._ask("GET", path, query).json()
        if isinstance(found, dict) and isinstance(found.get("sentence"), str):
            found["sentence"] = _in_commands(found["sentence"])
        return found

    def write(
        self, method: str, path: str, body: Any = None, *, query: Query | None = None, token: str | None = None
    ) -> Any:
        """Change something, once however often it has to be asked; the answer, None when it is empty."""
        headers = {"Idempotency-Key": f"cli-{chance.short()}"}
        if token is not None:
            headers["If-Match"] = token
        answer = self._ask(method, path, query, body, headers)
        return answer.json() if answer.content else None

    def post(self, path: str, body: Any = None) -> Any:
        return self.write("POST", path, {} if body is None else body)

    def items(self, path: str, query: Query | None = None, limit: int | None = None) -> Iterator[Any]:
        """What a list has, page by page, at most so many."""
        after, left = None, limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self.get(path, {**(query or {}), "limit": size, "after": after})
            yield from page["items"]
            after = page["next"]
            if after is None:
                return
            left = None if left is None else left - len(page["items"])

    def told_of(self, query: Query, patience: Callable[[], float]) -> Iterator[None]:
        """Whenever the server tells that something happened, and when it did not for so many seconds.

        Ends where it does not tell: whoever wants to know has to ask.
        """
        last = ""
        while (seconds := patience()) > 0:
            try:
                for event in self._events(query, last, seconds):
                    last = event
                    yield
            except httpx2.TimeoutException:
                yield
            except (httpx2.HTTPError, Refusal):
                return

    def _events(self, query: Query, last: str, seconds: float) -> Iterator[str]:
        """The ids of events as they come, after one of them; the same once more when it begins to listen."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        patience = httpx2.Timeout(seconds, connect=5)
        asked = self._http.build_request(
            "GET", f"{self.url}{API}/events", params=_given(query), headers=headers, timeout=patience
        )
        answer = self._http.send(asked, stream=True)
        try:
            if answer.status_code != 200:
                answer.read()
                raise _refusal(answer)
            yield last
            for event in httpx2.EventSource(answer):
                yield event.id or last
        finally:
            answer.close()

    def close(self) -> None:
        self._http.close()

    def _ask(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        sent = None if body is None else json.dumps(body, separators=(",", ":"))
        headers = {**(headers or {}), **({} if sent is None else {"Content-Type": "application/json"})}
        for wait in (*_AGAIN, None):
            try:
                answer = self._http.request(
                    method, f"{self.url}{API}{path}", params=_given(query or {}), content=sent, headers=headers
                )
            except UnicodeEncodeError as error:
                raise Invalid("what is asked for takes letters that UTF-8 can say: mend how it is spelt") from error
            except httpx2.ConnectError as error:
                raise Unavailable(_nobody(self.url)) from error
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                self._told(f"{method} {path}: {error!r}")
                if wait is None or not isinstance(error, httpx2.TransportError):
                    raise Unavailable(f"{self.url} did not answer: {error}") from error
                _sleep(wait)
                continue
            took = answer.elapsed.total_seconds() * 1000
            self._told(f"{method} {answer.url.path}: {answer.status_code} in {took:.0f} ms, request {_request(answer)}")
            if answer.is_success:
                return answer
            later = _later(answer)
            if wait is None or later is None:
                raise _refusal(answer, has_key=self.has_key)
            _sleep(max(wait, later))
        raise AssertionError("the last time it is answered or refused")


def _given(query: Query) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None and value != []}


def _later(answer: httpx2.Response) -> float | None:
    """Seconds after which the same may be asked again; None when that is of no use."""
    is_passing = answer.status_code in (429, 503) or _problem(answer).get("code") == "in_progress"
    if not is_passing:
        return None
    try:
        wait = float(answer.headers.get("Retry-After", "1"))
    except ValueError:
        return None
    return wait if wait <= _LONGEST_WAIT else None


def _refusal(answer: httpx2.Response, *, has_key: bool = True) -> Refusal:
    problem = _problem(answer)
    if not problem:
        return Unavailable(f"{answer.url} answered {answer.status_code} and not in our words: is that a Foliot server?")
    detail = _in_commands(str(problem.get("detail", "")))
    if answer.status_code == 401 and not has_key:
        detail = (
            "this server wants to know who asks: put a key into FOLIOT_KEY, a file for --key-file, or the profile; "
            "`foliot key create --database …` makes the first"
        )
    for error in problem.get("errors") or ():
        said = f"{error.get('where')} {error.get('what')}"
        detail += "" if said in detail else f"; {said}"
    kind = _KINDS.get(answer.status_code, Unavailable if answer.status_code >= 500 else Invalid)
    return kind(detail or f"{answer.url} answered {answer.status_code}")


def _in_commands(message: str) -> str:
    """What a message calls by its name over HTTP, by its name here."""
    return _ROUTE.sub(lambda route: _BY_ROUTE.get(route[0], route[0]), message)


def _problem(answer: httpx2.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _request(answer: httpx2.Response) -> str:
    return answer.headers.get("X-Request-Id", "without an id")


def _nobody(url: str) -> str:
    return (
        f"nobody listens at {url}: start a server with `foliot serve`, or say where there is one with --url, "
        "FOLIOT_URL or the profile"
    )


def _sleep(seconds: float) -> None:
    Event().wait(seconds)
