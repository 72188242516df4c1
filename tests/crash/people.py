"""People, who trigger, pause, skip, cancel and fill in while processes die; and what they were told is written down."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count

from foliot import Foliot
from foliot.domain.credits import usage_of
from foliot.domain.errors import Refusal
from foliot.domain.instants import MICROSECONDS
from foliot.execution.requests import Executed
from foliot.services.bulk import Reach
from foliot.services.schedule_lists import Meant
from foliot.services.views import Run
from tests.crash.doom import VERBS, as_verb
from tests.crash.evidence import Key, Pen
from tests.crash.plan import Planned
from tests.crash.telling import HOOK, PASSING, SECRET_ENV
from tests.dags import a_dag, scheduled

_EVERY = 0.4
_PAUSED_FOR = 0.3


class People:
    """They do one thing after another, and take a refusal for an answer: it acknowledges nothing."""

    def __init__(self, app: Foliot, plan: tuple[Planned, ...], pen: Pen, hook: str | None) -> None:
        # Taken once: a process that is about to end has closed its database, and must not open it again for them.
        self._schedules, self._runs = app.parts.verbs.schedules, app.parts.verbs.runs
        self._requests = app.parts.verbs.requests
        self._grants, self._accounts, self._till = app.parts.verbs.grants, app.parts.verbs.accounts, app.parts.till
        self._workflows = app.parts.verbs.workflows
        self._backfills, self._declarations = app.parts.verbs.backfills, app.parts.verbs.declarations
        self._bulk = app.parts.verbs.bulk
        self._users, self._keys, self._doorkeeper = app.parts.verbs.users, app.parts.verbs.keys, app.parts.doorkeeper
        self._webhooks, self._hook = app.parts.verbs.webhooks, hook
        self._pen = pen
        self._triggered = [planned.name for planned in plan if planned.is_triggered]
        self._handled = [planned.name for planned in plan if planned.is_handled]
        self._asking = [planned.name for planned in plan if planned.is_answered]
        self._charged = [planned.name for planned in plan if planned.is_charged and planned.model is None]
        self._filled = [planned.name for planned in plan if planned.is_filled]
        self._numbers = count(1)
        self._app = app

    def act(self, only: str | None, besides: Callable[[], None]) -> None:
        """Until the process ends; `only` one verb and what it needs, again and again."""
        doings: dict[str, Callable[[], None]] = {
            "trigger": self._trigger,
            "pause": self._pause_and_resume,
            "resume": self._pause_and_resume,
            "skip": self._skip,
            "cancel": self._cancel,
            "terminate": self._terminate,
            "retry": self._terminate,
            "decide": self._decide,
            "errand": self._run_errand,
            "fill": self._fill,
            "give up": self._fill_and_give_up,
            "apply": self._apply,
            "change many": self._apply,
            "create": self._create_and_delete,
            "replace": self._create_and_delete,
            "delete": self._create_and_delete,
            "permit": self._permit_and_revoke,
            "extend": self._permit_and_revoke,
            "rescope": self._permit_and_revoke,
            "revoke": self._permit_and_revoke,
            "pay": self._pay,
            "limit": self._pay,
            "refund": self._refund,
            "report": self._report,
            "deploy": self._deploy,
            "admit": self._admit,
            "subscribe": self._listen_for_a_while,
            "unsubscribe": self._listen_for_a_while,
        }
        chosen = [doings[only]] if only in VERBS else [besides, *dict.fromkeys(doings.values())]
        while True:
            time.sleep(_EVERY)
            for do in chosen:
                with suppress(Refusal):
                    do()

    def resume(self) -> None:
        for name in self._handled:
            self._pen.note("resuming", [])
            with as_verb("resume"):
                self._schedules.resume(name)

    def listen(self) -> None:
        """Somebody wants to be told what happens, from the first process to the last."""
        if self._hook is not None and not any(webhook.url.endswith(HOOK) for webhook in self._webhooks.list()):
            with as_verb("subscribe"):
                self._webhooks.create(self._hook + HOOK, secret_env=SECRET_ENV)

    def _listen_for_a_while(self) -> None:
        if self._hook is None:
            return
        for webhook in self._webhooks.list():
            # Also what somebody who died has left.
            if webhook.url.endswith(PASSING):
                with as_verb("unsubscribe"):
                    self._webhooks.delete(webhook.id)
        with as_verb("subscribe"):
            passing = self._webhooks.create(self._hook + PASSING, secret_env=SECRET_ENV)
            assert self._webhooks.test(passing.id).arrived

    def _trigger(self) -> None:
        for name in self._triggered:
            self._run_now(name)

    def _run_now(self, name: str) -> Run:
        with as_verb("trigger"):
            run = self._schedules.trigger(name)
        self._pen.note("triggered", [_key(run)])
        return run

    def _pause_and_resume(self) -> None:
        for name in self._handled:
            with as_verb("pause"):
                self._schedules.pause(name)
            self._pen.note("paused", [])
            time.sleep(_PAUSED_FOR)
        self.resume()

    def _skip(self) -> None:
        for name in self._handled:
            with as_verb("skip"):
                run = self._schedules.skip(name, _rounded(datetime.now(UTC) + timedelta(seconds=2)))
            self._pen.note("skipped", [_key(run)])

    def _cancel(self) -> None:
        for name in self._handled:
            run = self._run_now(name)
            with as_verb("cancel"):
                self._runs.cancel(run.id)
            self._pen.note("cancelled", [_key(run)])

    def _terminate(self) -> None:
        for name in self._handled:
            run = self._run_now(name)
            with as_verb("terminate"):
                self._runs.terminate(run.id)
            self._pen.note("cancelled", [_key(run)])
            with as_verb("retry"):
                again = self._runs.retry(run.id)
            self._pen.note("retried", [_key(again)])

    def _decide(self) -> None:
        for name in self._asking:
            for run in self._runs.list(name, status="waiting"):
                with as_verb("decide"):
                    self._runs.decide(run.id, "approve", by="ann")
                self._pen.note("decided", [_key(run)])

    def _run_errand(self) -> None:
        """A request from outside, made twice; and once more those of the dead."""
        unfinished = [
            request.key for request in self._requests.list("in_progress") if str(os.getpid()) not in request.key
        ]
        for key in [*unfinished, f"errand {os.getpid()} {next(self._numbers)}"]:
            first = self._execute(key)
            assert first.ok
            assert self._execute(key) == first
            assert self._requests.get(key).stage == "done"

    def _execute(self, key: str) -> Executed:
        loop = self._app.parts.engines[0]._loop
        assert loop is not None
        return asyncio.run_coroutine_threadsafe(self._app.execute("errand", key=key), loop).result(30)

    def _fill(self) -> None:
        for name in self._filled:
            self._begin_to_fill(name)

    def _begin_to_fill(self, name: str) -> int:
        now = _rounded(datetime.now(UTC))
        with as_verb("fill"):
            start, end = now - timedelta(seconds=20), now - timedelta(seconds=17)
            filling = self._schedules.backfill(name, start, end, which="all", concurrency=2)
        assert filling.id is not None
        self._pen.note("filling", [Key(name, "backfill", filling.id, 1)])
        return filling.id

    def _fill_and_give_up(self) -> None:
        for name in self._filled:
            number = self._begin_to_fill(name)
            with as_verb("give up"):
                self._backfills.cancel(number)
            self._pen.note("given up", [Key(name, "backfill", number, 1)])

    def _apply(self) -> None:
        """A set of two schedules that never fire; then one of them has vanished from it."""
        whose = f"set-{os.getpid()}"
        stays, goes = f"{whose}-stays", f"{whose}-goes"
        first, second = ({"name": name, "target": "python:work", "manual": True} for name in (stays, goes))
        with as_verb("apply"):
            self._declarations.apply(whose, [first, second])
            self._declarations.apply(whose, [first])
        assert self._schedules.get(stays).standing != "paused"
        assert self._schedules.get(goes).standing == "paused"
        mine = Reach(Meant(text=f"{whose}-"))
        with as_verb("change many"):
            self._bulk.label(mine, {"seen": str(next(self._numbers))})
            self._bulk.pause(mine, "by the way")
            self._bulk.resume(mine)
        assert self._schedules.get(goes).standing != "paused"

    def _create_and_delete(self) -> None:
        if not self._handled:
            return
        name = f"passing-{os.getpid()}-{next(self._numbers)}"
        with as_verb("create"):
            created = self._schedules.create(name, target="python:work", manual=True)
        self._pen.note("created", [Key(name, "schedule", 0, 1)])
        with as_verb("replace"):
            self._schedules.replace(name, token=created.token, target="python:work", manual=True, memo="replaced")
        with as_verb("delete"):
            self._schedules.delete(name)
        self._pen.note("deleted", [Key(name, "schedule", 0, 1)])

    def _permit_and_revoke(self) -> None:
        """A grant that nothing runs by: what comes of it is looked at by who made it."""
        with as_verb("permit"):
            grant = self._grants.create("graph:execute:python:work", user="ann").id
        with as_verb("extend"):
            self._grants.extend(grant, "2199-01-01T00:00:00Z")
        with as_verb("rescope"):
            self._grants.rescope(grant, "graph:execute:python:*")
        with as_verb("revoke"):
            revoked = self._grants.revoke(grant)
        assert revoked == self._grants.get(grant)
        assert revoked.revoked_at is not None

    def _pay(self) -> None:
        reference = f"{os.getpid()} {next(self._numbers)}"
        before = self._accounts.get("ann").balance
        with as_verb("pay"):
            assert self._accounts.top_up("ann", 5, reference).balance >= before + 5
        assert self._accounts.ledger("ann", limit=1)[0].amount == 5
        with as_verb("limit"):
            self._accounts.limit("ann", limited=True)

    def _refund(self) -> None:
        for run in self._finished():
            for receipt in self._runs.receipts(run.id):
                if receipt.credits is None:
                    continue
                with as_verb("refund"):
                    self._accounts.refund(receipt.source, receipt.reference)

    def _report(self) -> None:
        """A call whose cost comes late; and once more the one that the run has reported itself."""
        unit = f"late {os.getpid()} {next(self._numbers)}"
        for run in self._finished():
            for usage in (usage_of(unit), usage_of(unit, cost="0.0001"), usage_of("call", cost="0.0001")):
                with as_verb("report"):
                    self._till.report(run.id, usage)

    def _deploy(self) -> None:
        """A workflow that is never due: each time a new version, and its schedule changed with it."""
        number = next(self._numbers)
        trigger = scheduled(cron="0 0 1 1 *", start_at="2190-01-01T00:00:00Z")
        document = a_dag([trigger], workflow_id=f"deployed-{os.getpid()}", metadata={"number": number})
        with as_verb("deploy"):
            deployed = self._workflows.deploy(document)
        (schedule_id,) = (*deployed.created, *deployed.updated)
        assert self._schedules.get(schedule_id).input["version"] == deployed.version

    def _admit(self) -> None:
        """Somebody with a key, which opens until it is revoked."""
        user = f"guest-{os.getpid()}-{next(self._numbers)}"
        with as_verb("admit"):
            self._users.put(user, "viewer")
            key = self._keys.create("door", user=user)
            assert key.secret is not None
            principal = self._doorkeeper.identify(key.secret)
            assert principal is not None
            assert principal.user == user
            self._keys.revoke(key.id)
            self._users.disable(user)
        self._doorkeeper.forget()
        assert self._doorkeeper.identify(key.secret) is None

    def _finished(self) -> list[Run]:
        return [run for name in self._charged for run in self._runs.list(name, status="success", limit=5)]


def _key(run: Run) -> Key:
    return Key(run.schedule, str(run.kind), round(run.scheduled_for.timestamp() * MICROSECONDS), run.attempt)


def _rounded(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)
