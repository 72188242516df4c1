"""The gate in another process: runs are executed there by request, once under each key, and no graph is known here."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from foliot.domain.delivery import gate_key
from foliot.domain.errors import Denied, Unavailable
from foliot.domain.questions import AtExpiry, Question
from foliot.domain.runs import Kind, OnUnknown, Reason, Status
from foliot.domain.settlement import BY_ORDER, Outcome
from foliot.domain.slots import SlotKey, run_id
from foliot.ports import Control, Launch

log = logging.getLogger("foliot.gate")

_AT_ONCE = 500
"""Runs that are asked for at once: each keeps a connection."""
_WAIT = 20
"""Seconds that the gate is asked to wait with its answer."""
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_LEARNS_EVERY = 5.0
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_FROM_BETWEEN = (502, 503, 504)
"""What something in between answers when the gate does not; 503 also the gate itself, without its database."""


class _Known(NamedTuple):
    """What the gate executes."""

    names: Sequence[str] = ()
    rooms: dict[str, int | None] = {}  # noqa: RUF012 - never changed
    begun: Counter[str] = Counter()  # noqa: RUF012 - never changed
    """What of it was in hand here when it said so."""


class RemoteGate:
    """Asks a gate over its internal API. Whoever dies, the record there says what was executed."""

    def __init__(self, url: str, bearer: Callable[[], str], worker: str) -> None:
        self._url = url.rstrip("/")
        self._bearer = bearer
        self._worker = worker
        self._known = _Known()
        self._is_up = False
        self._in_hand: Counter[str] = Counter()
        timeout = httpx2.Timeout(_WAIT + 15.0, connect=5.0)
        limits = httpx2.Limits(max_connections=_AT_ONCE + 10, max_keepalive_connections=100)
        self._client = httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False)

    def targets(self) -> Sequence[str]:
        return self._known.names

    def room(self, target: str) -> int | None:
        """None at all while the gate is away: slots wait in the ledger."""
        if not self._is_up:
            return 0
        free = _AT_ONCE - self._in_hand.total()
        said = self._known.rooms.get(target)
        return free if said is None else min(free, said - self._in_hand[target] + self._known.begun[target])

    def on_unknown(self, target: str) -> OnUnknown:  # noqa: ARG002
        """To ask once more under the same key is safe: the gate itself knows what to do about a run cut off."""
        return OnUnknown.REDELIVER

    def report_digest(self, target: str, run_id: str) -> str | None:  # noqa: ARG002
        return None

    async def learn(self) -> None:
        """What the gate executes now; Unavailable when it is away, Denied when it does not know us."""
        try:
            answer = await self._client.get(f"{self._url}/api/internal/graphs", headers=self._headers())
        except httpx2.TransportError as error:
            self._is_up = False
            raise Unavailable(
                f"the gate {self._url} cannot be reached: {str(error) or type(error).__name__}"
            ) from error
        if answer.status_code != 200:
            self._is_up = False
            refusal = Denied if answer.status_code == 401 else Unavailable
            raise refusal(f"the gate {self._url} answered {answer.status_code}: {_detail(answer)}")
        graphs = answer.json()["graphs"]
        rooms = {graph["graphId"]: graph["room"] for graph in graphs}
        self._known = _Known(list(rooms), rooms, self._in_hand.copy())
        self._is_up = True

    async def keep_learning(self, changed: Callable[[], None]) -> None:
        """Look again and again what the gate executes; `changed` is called when it has come back."""
        while True:
            await asyncio.sleep(_LEARNS_EVERY if self._is_up else 1.0)
            # A run may have found out meanwhile.
            was_up = self._is_up
            try:
                await self.learn()
            except (Unavailable, Denied) as refusal:
                log.warning("%s", refusal)
            if self._is_up and not was_up:
                changed()

    async def close(self) -> None:
        await self._client.aclose()

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        self._in_hand[launch.target] += 1
        try:
            return await self._executed(launch, control)
        finally:
            self._in_hand[launch.target] -= 1

    async def _executed(self, launch: Launch, control: Control) -> Outcome:
        """What the gate says that it came to, asked until it says so: a gate that is away is no outcome of a run.

        Nor is one that does not know us, as while its secret is changed here and there.
        """
        is_told, where = False, None
        pause = _FIRST_PAUSE
        while True:
            is_away = False
            try:
                answer = await self._ask(launch, where)
                where = answer.headers.get("location") if answer.status_code == 202 else None
                if answer.status_code == 202:
                    pause = _FIRST_PAUSE
                    progress = answer.json().get("progress")
                    control.progress = control.progress if progress is None else json.dumps(progress)
                    continue
                outcome = _outcome(answer)
                if outcome is not None:
                    return outcome
                if answer.status_code == 401:
                    self._is_up, is_away = False, True
                else:
                    is_away = answer.status_code in _FROM_BETWEEN and "cut_off" not in answer.text
            except _NOT_SENT:
                self._is_up, is_away, where = False, True, None
            except (httpx2.TransportError, ValueError) as error:
                is_away, where = True, None
                log.warning("the gate did not say what %s came to, asking again: %s", launch.target, error)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if control.order is None or control.fenced or is_told or task is None:
                    raise
                # The gate hears of the order from the ledger: what it comes to there is what it comes to.
                is_told = True
                task.uncancel()
                continue
            if is_away and control.order is not None:
                # Nobody is there to hear of it.
                return BY_ORDER[control.order]
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _ask(self, launch: Launch, where: str | None) -> httpx2.Response:
        headers = {**self._headers(), "Prefer": f"wait={_WAIT}", "Foliot-Worker": self._worker}
        if where is not None:
            return await self._client.get(f"{self._url}{where}", headers=headers)
        slot = SlotKey(launch.schedule_id, Kind(launch.kind), launch.nominal_at, launch.backfill)
        headers["Idempotency-Key"] = gate_key(str(slot), launch.attempt, launch.rounds)
        body = {
            "executionGrantId": launch.grant.id,
            "input": None if launch.input is None else json.loads(launch.input),
            "runId": run_id(slot, launch.attempt),
            "redelivered": launch.was_begun,
        }
        graph = quote(launch.target, safe=":")
        return await self._client.post(f"{self._url}/api/internal/graphs/{graph}/runs", json=body, headers=headers)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._bearer()}", "Foliot-Service": "worker"}


def _outcome(answer: httpx2.Response) -> Outcome | None:
    """What the answer says that the run came to; None when it is to be asked again."""
    match answer.status_code:
        case 200:
            return _read(answer.json())
        case 402:
            return Outcome(Status.SKIPPED, Reason.INSUFFICIENT_CREDITS)
        case 403 if answer.json().get("reason") is not None:
            return Outcome(Status.SKIPPED, Reason(answer.json()["reason"]))
        case 404:
            return Outcome(Status.ERROR, Reason.NOT_FOUND, error=_detail(answer))
        case 400 | 403 | 413 | 422:
            return Outcome(Status.ERROR, Reason.INVALID_REQUEST, error=_detail(answer))
    return None


def _read(told: dict[str, Any]) -> Outcome:
    asked = told["question"]
    question = None
    if asked is not None:
        question = Question(
            asked["kind"],
            None if asked["data"] is None else json.dumps(asked["data"]),
            tuple(asked["who"]),
            asked["expiresIn"],
            AtExpiry(asked["atExpiry"]),
            asked["reference"],
        )
    result = None if told["result"] is None else json.dumps(told["result"], separators=(",", ":"), sort_keys=True)
    reason = None if told["errorCode"] is None else Reason(told["errorCode"])
    return Outcome(Status(told["status"]), reason, result, told["error"], question)


def _detail(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
