"""What people have in the world of the authorisation matrix: an object of each kind that a path can name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.access import Right, Role, principal_of
from foliot.services.desk import Caller
from foliot.testing import World, virtual
from tests.engine.mailbox import HOOK, Mailbox
from tests.engine.mailbox import SECRET as HOOK_SECRET
from tests.http.service_clients import SECRET

FLOW = {
    "nodes": [
        {"id": "start", "type": "trigger", "data": {"kind": "manual"}},
        {"id": "send", "type": "action", "data": {"action": "send"}},
    ],
    "edges": [{"source": "start", "target": "send"}],
}


@contextmanager
def a_world(database_url: str) -> Iterator[World]:
    """A program whose graphs return, fail or ask, at work under a clock that stands still."""
    app = Foliot("sqlite:///not-used.db", name="shop")

    @app.graph("digest")
    def digest(input: Any, ctx: Any) -> Any:
        return input

    @app.graph("fails")
    def fails(input: Any, ctx: Any) -> None:
        raise ValueError("it was told to")

    @app.graph("asks")
    def asks(input: Any, ctx: Any) -> Any:
        return ctx.ask("approval") if ctx.decision is None else ctx.decision.verdict

    with virtual(app, "2026-11-15T12:00:00Z", database=database_url, carrier=Mailbox()) as world:
        yield world


class Belongings:
    """Makes one more of a kind for somebody. Names have their owner's in them, so that a leak is seen."""

    def __init__(self, world: World, http: TestClient) -> None:
        self._world = world
        self._http = http
        self._verbs = world.app.parts.verbs
        self._numbers = count(1)

    def _name(self, owner: str, kind: str) -> str:
        return f"{owner}s-{kind}-{next(self._numbers)}"

    def schedule(self, owner: str, target: str = "digest") -> str:
        name = self._name(owner, target)
        return self._verbs.schedules.create(name, target=target, cron="0 9 * * *", user=owner).id

    def paused_schedule(self, owner: str) -> str:
        return self._verbs.schedules.pause(self.schedule(owner)).id

    def budgeted_schedule(self, owner: str) -> str:
        return self._verbs.schedules.patch(self.schedule(owner), budget={"credits": 5}).id

    def registered(self, owner: str) -> str:
        """A schedule of a workflow."""
        name = self._name(owner, "registered")
        target = f"dag:{self.workflow(owner)}"
        return self._verbs.schedules.create(name, target=target, cron="0 9 * * *", user=owner).id

    def pending_run(self, owner: str) -> str:
        return self._verbs.schedules.trigger(self.schedule(owner)).id

    def failed_run(self, owner: str) -> str:
        return self._ran(owner, "fails")

    def waiting_run(self, owner: str) -> str:
        return self._ran(owner, "asks")

    def _ran(self, owner: str, target: str) -> str:
        run = self._verbs.schedules.trigger(self.schedule(owner, target)).id
        self._world.advance(seconds=1)
        return run

    def backfill(self, owner: str) -> str:
        days = ("2026-11-01T00:00:00Z", "2026-11-03T00:00:00Z")
        return str(self._verbs.schedules.backfill(self.schedule(owner), *days).id)

    def grant(self, owner: str) -> str:
        return self._verbs.grants.create("graph:execute:python:digest", user=owner).id

    def budgeted_grant(self, owner: str) -> str:
        return self._verbs.grants.allow(self.grant(owner), {"credits": 5}).id

    def user(self, owner: str) -> str:
        return owner

    def new_user(self, owner: str) -> str:
        return self._verbs.users.put(self._name(owner, "friend"), "member").id

    def disabled_user(self, owner: str) -> str:
        return self._verbs.users.disable(self.new_user(owner)).id

    def workflow(self, owner: str) -> str:
        name = self._name(owner, "flow")
        self._verbs.workflows.deploy({"workflow_id": name, **FLOW}, user=owner)
        return name

    def key(self, owner: str) -> str:
        return self._verbs.keys.create(self._name(owner, "key"), user=owner).id

    def webhook(self, owner: str) -> str:
        """By its owner's own hand: nobody makes one for somebody else."""
        caller = Caller(principal_of(owner, Role.MEMBER, Right))
        verbs = self._world.app.parts.verbs_for(caller).webhooks
        return verbs.create(f"{HOOK}/{owner}", secret_env=f"{HOOK_SECRET}_{owner.upper()}").id

    def request(self, owner: str) -> str:
        """An execution that was asked for by a service."""
        key = self._name(owner, "request")
        body = {"executionGrantId": self.grant(owner), "runId": key}
        headers = {"Authorization": f"Bearer {SECRET}", "Idempotency-Key": key}
        answer = self._http.post("/api/internal/graphs/python:digest/runs", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return key


Make = Callable[[Belongings, str], str]
