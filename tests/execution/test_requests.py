"""Requests from outside: executed once under their key, whoever asks how often, and whoever dies at it."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest

from foliot import Conflict, Denied, Foliot, Invalid, NotFound, Refusal, Unavailable
from foliot.domain.credits import Pricing, Usage, read_catalogue
from foliot.domain.delivery import InProgress, KeyReused
from foliot.execution import requests
from foliot.execution.requests import Executed
from foliot.ports import Transaction
from foliot.rows import RunFilter
from foliot.services.views import Run
from tests.diet import on_sqlite_every_day

T = TypeVar("T")
PRICING = Pricing(read_catalogue({"large": {"usd_per_token": "0.000002"}}), markup=Decimal(1))


class Effects:
    """What the target has done, and how it is told to go about it."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self, input: Any, ctx: Any) -> Any:
        self.done.append(ctx.run_id)
        self.begun.set()
        ctx.report_usage("call", cost="0.001")
        await self.may_end.wait()
        if input == "fail":
            raise ValueError("it was told to")
        return {"for": ctx.idempotency_key}


def an_app(url: str, effects: Effects, on_unknown: str = "redeliver") -> Foliot:
    app = Foliot(url, pricing=PRICING)
    app.graph("send", on_unknown=on_unknown)(effects)
    return app


@pytest.fixture
def effects() -> Effects:
    return Effects()


@pytest.fixture
def app(database_url: str, effects: Effects) -> Iterator[Foliot]:
    app = an_app(database_url, effects)
    yield app
    app.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def test_the_same_key_executes_once_and_is_answered_from_memory(app: Foliot, effects: Effects) -> None:
    first = run(app.execute("send", {"a": 1}, key="k1"))
    assert (first.ok, first.status, first.result) == (True, "success", {"for": "k1"})
    assert run(app.execute("send", {"a": 1}, key="k1")) == first
    assert len(effects.done) == 1


def test_a_failure_is_kept_like_a_success(app: Foliot, effects: Effects) -> None:
    first = run(app.execute("send", "fail", key="k1"))
    assert (first.ok, first.status, first.error_code) == (False, "error", "internal")
    assert "it was told to" in (first.error or "")
    assert run(app.execute("send", "fail", key="k1")) == first
    assert len(effects.done) == 1


def test_a_changed_payload_under_the_same_key_is_a_conflict(app: Foliot, effects: Effects) -> None:
    run(app.execute("send", {"a": 1}, key="k1"))
    with pytest.raises(KeyReused, match="'k1' was used for something else: give this request its own"):
        run(app.execute("send", {"a": 2}, key="k1"))
    assert issubclass(KeyReused, Conflict)
    assert len(effects.done) == 1


def test_the_same_payload_written_otherwise_is_the_same(app: Foliot) -> None:
    assert run(app.execute("send", {"a": 1, "b": 2}, key="k1")) == run(app.execute("send", {"b": 2, "a": 1}, key="k1"))


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"key": ""}, Invalid, "an idempotency key takes"),
        ({"target": "python:nobody"}, NotFound, "nobody here runs python:nobody"),
        ({"target": "nobody:here"}, NotFound, "nobody here runs nobody:here"),
        ({"input": object()}, Invalid, "input takes what JSON can say"),
        ({"attempt": 0}, Invalid, "attempt takes"),
        ({"grant": "grant-99"}, Denied, "grant_not_found"),
        ({"grant": "ann"}, Invalid, "a grant's id is"),
        ({"run_id": ""}, Invalid, "run_id takes"),
    ],
)
def test_a_request_that_is_refused_leaves_no_key_behind(
    app: Foliot, options: dict[str, Any], kind: type[Refusal], said: str
) -> None:
    given = {"target": "python:send", "input": None, "key": "k1"} | options
    with pytest.raises(kind, match=said):
        run(app.execute(given.pop("target"), given.pop("input"), **given))
    assert app.requests.list() == []


def test_a_request_without_permission_or_credit_leaves_no_key_and_is_executed_once_there_is(
    app: Foliot, effects: Effects
) -> None:
    grant = app.grants.create("graph:execute:python:other", user="ann").id
    with pytest.raises(Denied, match="grant_scope"):
        run(app.execute("send", {"model": "large"}, key="k1", grant=grant))
    app.grants.rescope(grant, "graph:execute:python:*")
    with pytest.raises(Denied, match="insufficient_credits"):
        run(app.execute("send", {"model": "large"}, key="k1", grant=grant))
    assert app.requests.list() == []
    app.accounts.top_up("ann", 10_000_000, "invoice")
    assert run(app.execute("send", {"model": "large"}, key="k1", grant=grant)).ok
    assert len(effects.done) == 1


def test_a_budget_of_the_grant_holds_for_requests_too(app: Foliot, effects: Effects) -> None:
    budget = {"credits": 300_000, "per": "day"}
    grant = app.grants.create("graph:execute:python:send", user="ann", budget=budget).id
    app.accounts.top_up("ann", 10_000_000, "invoice")
    run(app.execute("send", {"model": "large"}, key="k1", grant=grant))
    more = (app.execute("send", {"model": "large"}, key=f"more {number}", grant=grant) for number in range(100))
    with pytest.raises(Denied, match="over_budget"):
        run(one_after_another(more))
    spent = 10_000_000 - app.accounts.get("ann").balance
    assert 0 < spent <= 300_000
    assert spent == 10_000 * len(effects.done)


async def one_after_another(works: Iterator[Coroutine[Any, Any, Executed]]) -> None:
    for work in works:
        await work


def test_what_is_being_executed_is_a_conflict_that_says_when_to_ask_again(app: Foliot, effects: Effects) -> None:
    async def both() -> None:
        effects.may_end.clear()
        first = asyncio.create_task(app.execute("send", key="k1"))
        await effects.begun.wait()
        with pytest.raises(InProgress, match="'k1' is being executed: ask again") as refusal:
            await app.execute("send", key="k1")
        assert refusal.value.retry_after > 0
        effects.may_end.set()
        assert (await app.execute("send", key="k2")).ok
        assert (await first).ok
        assert (await app.execute("send", key="k1")) == first.result()

    run(both())
    assert len(effects.done) == 2


async def insistent(app: Foliot, key: str) -> Executed:
    """What a caller does that takes a conflict for what it is."""
    while True:
        try:
            return await app.execute("send", key=key)
        except InProgress:
            await asyncio.sleep(0.02)


def test_of_two_hundred_at_once_under_one_key_one_has_an_effect(
    database_url: str, effects: Effects, app: Foliot
) -> None:
    others = [app] if database_url.startswith("sqlite") else [app, an_app(database_url, effects)]

    async def all_of_them() -> list[Executed]:
        asking = [insistent(others[number % len(others)], "k1") for number in range(200)]
        return await asyncio.gather(*asking)

    app.schedules.list()
    answers = run(all_of_them())
    assert len(effects.done) == 1
    assert all(answer == answers[0] for answer in answers)
    assert len(app.requests.list()) == 1
    for other in others[1:]:
        other.close()


def test_what_was_begun_goes_on_when_the_caller_has_left(app: Foliot, effects: Effects) -> None:
    async def leave() -> None:
        effects.may_end.clear()
        first = asyncio.create_task(app.execute("send", key="k1"))
        await effects.begun.wait()
        first.cancel()
        await asyncio.sleep(0)
        effects.may_end.set()
        assert (await insistent(app, "k1")).ok

    run(leave())
    assert len(effects.done) == 1


@pytest.mark.parametrize("error", [Unavailable("the database is away"), RuntimeError("a defect")])
def test_what_could_not_be_begun_is_free_for_the_next(
    app: Foliot, effects: Effects, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(launch: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(app.parts.gate._permission, "refusal", away)
        with pytest.raises(type(error)):
            run(app.execute("send", key="k1"))
    assert run(app.execute("send", key="k1")).ok
    assert len(effects.done) == 1


def test_what_was_cut_off_before_it_began_is_free_for_the_next(
    app: Foliot, effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leave_before_it_begins() -> None:
        looking = asyncio.Event()

        async def look_for_ever(launch: Any) -> None:
            looking.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(app.parts.gate._permission, "refusal", look_for_ever)
        asking = asyncio.create_task(app.execute("send", key="k1"))
        await looking.wait()
        asking.cancel()

    run(leave_before_it_begins())
    monkeypatch.undo()
    assert run(app.execute("send", key="k1")).ok
    assert len(effects.done) == 1


def test_who_was_taken_for_dead_is_fenced_and_its_outcome_is_not_kept(
    database_url: str, effects: Effects, app: Foliot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LEASE", 0.06)

    async def overtaken() -> None:
        effects.may_end.clear()
        first = asyncio.create_task(app.execute("send", key="k1"))
        await effects.begun.wait()
        # Another has found its lease run out.
        app.parts.database.write(lambda tx: tx.take_request(1, 2, "another", 0))
        with pytest.raises(Conflict, match="'k1' was taken over by another"):
            await first
        effects.may_end.set()
        assert (await app.execute("send", key="k1")).ok

    run(overtaken())
    assert len(effects.done) == 2


def test_what_was_charged_for_a_request_is_nobody_elses_though_it_was_forgotten(app: Foliot) -> None:
    """Its receipts are kept for longer than it is."""
    app.graph("idle")(lambda: None)
    grants = {user: app.grants.create("graph:execute:python:*", user=user).id for user in ("ann", "eve")}
    run(app.execute("send", key="old", grant=grants["ann"]))
    app.parts.database.write(lambda tx: tx.remove_requests(tx.now + 1))
    run(app.execute("idle", key="new", grant=grants["eve"], run_id="hers"))
    assert app.runs.receipts("hers") == []
    app.report_usage("hers", "late", cost="0.001")
    assert balances(app) == (-10_000, -10_000)


def lease(app: Foliot, known: Run, worker: str) -> None:
    """What a worker does that takes up the run, and has it executed elsewhere."""

    def act(tx: Transaction) -> None:
        (ref,) = [row.ref for row in tx.list_runs(RunFilter())]
        tx.start([(tx.register(worker), 1, 1, 1, tx.now, ref)])

    app.parts.database.write(act)


def test_a_request_about_a_run_that_its_worker_makes_is_charged_to_that_run_and_once(app: Foliot) -> None:
    app.schedules.create("digest", target="send", every="1h", user="ann")
    known = app.schedules.trigger("digest")
    lease(app, known, "far away")
    key = f"{known.idempotency_key}#1"
    grant = app.schedules.get("digest").grant
    answer = run(app.execute("send", key=key, run_id=known.id, grant=grant, caller="far away"))
    assert (answer.run_id, answer.trace_id) == (known.id, known.trace_id)
    assert answer.result == {"for": known.idempotency_key}
    assert [receipt.reference for receipt in app.runs.receipts(known.id)] == [f"{known.idempotency_key}/1/call"]
    assert app.report_usage(known.id, "call", cost="0.001") == "before"


def test_a_run_is_its_workers_to_execute_and_nobody_elses(app: Foliot, effects: Effects) -> None:
    app.schedules.create("digest", target="send", every="1h")
    known = app.schedules.trigger("digest")
    with pytest.raises(InProgress, match="is its worker's to execute"):
        run(app.execute("send", key="k1", run_id=known.id))
    lease(app, known, "far away")
    with pytest.raises(InProgress, match="is its worker's to execute"):
        run(app.execute("send", key="k1", run_id=known.id))
    assert effects.done == []


def test_a_run_that_is_over_is_answered_from_its_row_and_not_executed_again(app: Foliot, effects: Effects) -> None:
    app.schedules.create("digest", target="send", manual=True)

    async def by_schedule() -> Executed:
        async with app:
            known = app.schedules.trigger("digest")
            while app.runs.get(known.id).ended_at is None:
                await asyncio.sleep(0.02)
            return await app.execute("send", key="by hand", run_id=known.id)

    answer = run(by_schedule())
    assert (answer.ok, answer.run_id) == (True, effects.done[0])
    assert len(effects.done) == 1


def test_a_run_is_answered_only_to_who_asks_for_just_that(app: Foliot) -> None:
    app.schedules.create("digest", target="send", manual=True, user="ann")
    known = app.schedules.trigger("digest")
    grant = app.schedules.get("digest").grant
    app.graph("other")(lambda: None)
    for target, options in (("send", {}), ("other", {"grant": grant}), ("send", {"grant": grant, "attempt": 2})):
        with pytest.raises(Denied, match=r"is python:send by grant-\d+, attempt 1: ask for just that"):
            run(app.execute(target, key="k1", run_id=known.id, **options))


def test_each_key_is_charged_whatever_its_caller_calls_the_run(app: Foliot, effects: Effects) -> None:
    grants = [app.grants.create("graph:execute:python:send", user=user).id for user in ("ann", "bob")]
    for key, grant in (("k1", grants[0]), ("k2", grants[0]), ("k3", grants[1])):
        run(app.execute("send", key=key, run_id="nightly", grant=grant))
    assert len(effects.done) == 3
    assert (app.accounts.get("ann").balance, app.accounts.get("bob").balance) == (-20_000, -10_000)


@pytest.fixture
def two_payers(app: Foliot) -> Foliot:
    """Ann and eve have each had a call of unknown cost made, in what both call the run `job`."""
    app.graph("unpriced")(lambda _, ctx: ctx.report_usage("call"))
    for user in ("ann", "eve"):
        grant = app.grants.create("graph:execute:python:unpriced", user=user).id
        run(app.execute("unpriced", key=user, run_id="job", grant=grant))
    return app


def balances(app: Foliot) -> tuple[int, int]:
    return app.accounts.get("ann").balance, app.accounts.get("eve").balance


def test_a_late_cost_completes_the_oldest_request_of_that_run_whose_cost_is_not_known(two_payers: Foliot) -> None:
    seen = []
    for cost in ("0.001", "0.002", "0.003"):
        told = two_payers.report_usage("job", "call", cost=cost)
        seen.append((told, *balances(two_payers)))
    assert seen == [("now", -10_000, 0), ("now", -10_000, -20_000), ("before", -10_000, -20_000)]


def test_a_late_cost_of_a_call_that_nobody_told_of_is_the_last_requests(two_payers: Foliot) -> None:
    assert two_payers.report_usage("job", "another call", cost="0.001") == "now"
    assert balances(two_payers) == (0, -10_000)


def test_a_late_cost_may_name_its_request(two_payers: Foliot) -> None:
    assert two_payers.report_usage("job", "call", cost="0.001", key="eve") == "now"
    assert two_payers.report_usage("job", "call", cost="0.001", key="eve") == "before"
    assert balances(two_payers) == (0, -10_000)
    with pytest.raises(NotFound, match=r"no request 'bob' about 'job'"):
        two_payers.report_usage("job", "call", cost="0.001", key="bob")


def test_requests_have_receipts_and_a_trace_by_what_their_callers_call_the_run(
    two_payers: Foliot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_TRACE_URL", "https://traces/{trace_id}")
    two_payers.report_usage("job", "call", cost="0.001")
    assert [receipt.credits for receipt in two_payers.runs.receipts("job")] == [10_000, None]
    unnamed = run(two_payers.execute("send", key="k1"))
    assert two_payers.trace_url(unnamed.run_id) == f"https://traces/{unnamed.trace_id}"
    assert [receipt.credits for receipt in two_payers.runs.receipts(unnamed.run_id)] == [10_000]


@pytest.mark.parametrize("name", ["absent", "digest:2026-11-15T09:00:00Z~1", 5, None, "a\0b", ""])
def test_what_is_neither_a_run_nor_a_request_is_refused(app: Foliot, name: Any) -> None:
    for ask in (app.runs.receipts, app.trace_url, lambda name: app.report_usage(name, "call", cost="1")):
        with pytest.raises((Invalid, NotFound)):
            ask(name)


@pytest.mark.parametrize("target", [None, 5, "", "a b"])
def test_a_target_that_nothing_could_be_called_is_refused(app: Foliot, target: Any) -> None:
    with pytest.raises((Invalid, NotFound), match=r"a target is provider:name|nothing here"):
        run(app.execute(target, key="k"))


def test_a_refusal_names_what_is_wrong_and_what_helps(app: Foliot) -> None:
    with pytest.raises(Invalid, match="caller takes printable text"):
        run(app.execute("send", key="k", caller=""))
    grant = app.grants.create("graph:execute:python:send", user="ann")
    app.grants.revoke(grant.id)
    with pytest.raises(Denied, match=r"by grant-\d+: grant_revoked: `grants.create` makes one that allows it"):
        run(app.execute("send", key="k", grant=grant.id))


def test_a_target_that_asks_a_person_has_failed_for_there_is_no_run_to_wait(app: Foliot) -> None:
    app.graph("asking")(lambda _, ctx: ctx.ask("approval"))
    answer = run(app.execute("asking", key="k1"))
    assert (answer.status, answer.error_code) == ("error", "invalid_request")
    assert "schedule or trigger it" in (answer.error or "")


def test_code_that_cancels_itself_has_failed_and_its_caller_goes_on(app: Foliot) -> None:
    times: list[int] = []

    @app.graph("odd")
    async def odd() -> None:
        times.append(1)
        raise asyncio.CancelledError

    for _ in range(2):
        answer = run(app.execute("odd", key="k1"))
        assert (answer.status, answer.error_code) == ("error", "aborted")
    assert len(times) == 1


def test_a_revocation_that_says_so_stops_requests_too(
    app: Foliot, effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LEASE", 0.06)
    grant = app.grants.create("graph:execute:python:send", user="ann").id

    async def stopped() -> None:
        effects.may_end.clear()
        first = asyncio.create_task(app.execute("send", key="k1", grant=grant))
        await effects.begun.wait()
        app.grants.revoke(grant, stop=True)
        with pytest.raises(Conflict, match="taken over"):
            await first
        effects.may_end.set()
        answer = await app.execute("send", key="k1", grant=grant)
        assert (answer.status, answer.error_code) == ("cancelled", "cancelled_by_user")

    run(stopped())


def test_a_bill_that_cannot_be_paid_fails_neither_its_run_nor_those_beside_it(app: Foliot, effects: Effects) -> None:
    @app.graph("huge")
    async def huge(input: Any, ctx: Any) -> str:
        ctx.note_usage(Usage("call", tokens=2**70, cost=Decimal("0.001")))
        return "done"

    async def both() -> list[Executed]:
        return list(await asyncio.gather(app.execute("huge", key="k1"), app.execute("send", key="k2")))

    assert [answer.ok for answer in run(both())] == [True, True]
    assert app.accounts.get().balance == -10_000


def test_a_cost_may_come_late_for_what_was_asked_from_outside(app: Foliot) -> None:
    answer = run(app.execute("send", key="k1", grant=app.grants.create("graph:execute:python:send", user="ann").id))
    before = app.accounts.get("ann").balance
    assert app.report_usage(answer.run_id, "late", cost="0.002") == "now"
    assert app.report_usage(answer.run_id, "late", cost="0.002") == "before"
    assert app.report_usage(answer.run_id, "call", cost="0.001") == "before"
    assert app.accounts.get("ann").balance == before - 20_000


DYING = """
import asyncio, os, signal, sys
from foliot import Foliot

app = Foliot(sys.argv[1])

@app.graph("send", on_unknown=sys.argv[2])
async def send(input, ctx):
    with open(sys.argv[3], "a") as effects:
        effects.write(f"{ctx.idempotency_key}\\n")
    ctx.report_usage("call", cost="0.001")
    if sys.argv[4] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return "sent"

async def main():
    known = app.grants.list("ann")
    grant = known[0] if known else app.grants.create("graph:execute:python:send", user="ann")
    try:
        print((await app.execute("send", key="k1", grant=grant.id)).status)
    except Exception as refusal:
        print(type(refusal).__name__)

asyncio.run(main())
"""


class Program:
    """A process that executes a request, and may die between the effect and its record."""

    def __init__(self, url: str, folder: Path, on_unknown: str) -> None:
        self.effects = folder / "effects"
        self._words = [sys.executable, "-c", DYING, url, on_unknown, str(self.effects)]

    def __call__(self, how: str) -> tuple[int, str]:
        ended = subprocess.run([*self._words, how], capture_output=True, text=True, timeout=60, check=False)
        return ended.returncode, ended.stdout.strip()


def expire_leases(url: str) -> None:
    """What time does on PostgreSQL; on SQLite whoever else held a lease is gone."""
    app = Foliot(url)
    app.parts.database.write(lambda tx: tx.renew_request(1, 1, 0))
    app.close()


@pytest.fixture
def program(database_url: str, tmp_path: Path) -> Callable[[str], Program]:
    return lambda on_unknown: Program(database_url, tmp_path, on_unknown)


@on_sqlite_every_day
def test_killed_between_effect_and_record_it_is_delivered_again_and_charged_once(
    database_url: str, program: Callable[[str], Program]
) -> None:
    execute = program("redeliver")
    assert execute("dies") == (-signal.SIGKILL, "")
    if database_url.startswith("postgresql"):
        assert execute("lives") == (0, "InProgress")
        expire_leases(database_url)
    assert execute("lives") == (0, "success")
    assert execute("lives") == (0, "success")
    assert execute.effects.read_text().split() == ["k1", "k1"]
    app = Foliot(database_url)
    assert app.accounts.get("ann").balance == -20_000
    assert app.requests.get("k1").stage == "done"
    app.close()


@on_sqlite_every_day
@pytest.mark.parametrize(("verdict", "status", "times"), [("approve", "success", 2), ("reject", "cancelled", 1)])
def test_killed_between_effect_and_record_it_is_held_where_the_target_says_so(
    database_url: str, program: Callable[[str], Program], verdict: str, status: str, times: int
) -> None:
    execute = program("hold")
    execute("dies")
    if database_url.startswith("postgresql"):
        expire_leases(database_url)
    assert execute("lives") == (0, "Conflict")
    assert len(execute.effects.read_text().split()) == 1
    app = Foliot(database_url)
    assert [request.key for request in app.requests.list("held")] == ["k1"]
    for _ in range(2):
        assert app.requests.decide("k1", verdict, by="ann").decided_by == "ann"
    with pytest.raises(Conflict, match=f"ann decided to {verdict} it"):
        app.requests.decide("k1", verdict, by="bob")
    app.close()
    assert execute("lives") == (0, status)
    assert len(execute.effects.read_text().split()) == times


def test_a_decision_about_a_request_is_for_one_that_is_held(app: Foliot) -> None:
    run(app.execute("send", key="k1"))
    with pytest.raises(Conflict, match="is done: only one that is held takes a decision"):
        app.requests.decide("k1", "approve")
    with pytest.raises(Invalid, match="takes 'approve' or 'reject'"):
        app.requests.decide("k1", "revise")
    with pytest.raises(NotFound, match="there is no request 'k9'"):
        app.requests.decide("k9", "approve")
    with pytest.raises(Invalid, match="stage takes"):
        app.requests.list("lost")


def test_who_names_no_grant_is_executed_by_the_local_one_that_holds(app: Foliot, effects: Effects) -> None:
    narrow, dead = app.grants.create("graph:execute:python:other"), app.grants.local()
    first = run(app.execute("send", {"a": 1}, key="k1"))
    assert app.grants.local() == dead != narrow
    app.grants.revoke(dead.id)
    live = app.grants.local()
    assert (live.id != dead.id, live.revoked_at, app.grants.local()) == (True, None, live)
    assert run(app.execute("send", {"a": 1}, key="k2")).ok
    assert (app.requests.get("k1").grant, app.requests.get("k2").grant) == (dead.id, live.id)
    assert run(app.execute("send", {"a": 1}, key="k1")) == first
    with pytest.raises(KeyReused):
        run(app.execute("send", {"a": 2}, key="k1"))
    with pytest.raises(Denied, match="grant_revoked"):
        run(app.execute("send", key="k3", grant=dead.id))
    assert len(effects.done) == 2


def test_who_names_no_grant_is_not_told_what_somebody_elses_request_came_to(app: Foliot) -> None:
    app.accounts.top_up("eve", 10**7, "payment")
    run(app.execute("send", key="k1", grant=app.grants.create("graph:execute:python:*", user="eve").id))
    with pytest.raises(KeyReused):
        run(app.execute("send", key="k1"))
