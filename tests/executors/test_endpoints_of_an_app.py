"""Endpoints in a whole app, with a real clock, a real database and a real server: what is in the ledger afterwards."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from foliot import Conflict, Denied, Foliot, Invalid
from foliot.domain.credits import Pricing
from foliot.domain.runs import FINAL
from foliot.services.views import Run
from tests.crash.nursery import wait_for
from tests.executors.receiver import Reply, a_receiver

CANARY = "canary-0815-of-the-receiver"


@pytest.fixture(autouse=True)
def _loopback_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.0/8")


def run_once(app: Foliot, during: Callable[[str], object] = lambda _: None, **options: Any) -> Run:
    """Trigger the endpoint `billing` once, let something happen meanwhile, and wait until it is over."""

    async def program() -> Run:
        async with app:
            app.schedules.create("bills", target="http:billing", manual=True, **options)
            run_id = app.schedules.trigger("bills", input={"month": 10}).id
            await asyncio.to_thread(during, run_id)
            await asyncio.to_thread(wait_for, "the end of the run", lambda: is_over(run_id), every=0.02)
            return app.runs.get(run_id)

    def is_over(run_id: str) -> bool | None:
        return app.runs.get(run_id).status in FINAL or None

    run = asyncio.run(program())
    app.close()
    return run


def test_a_schedule_of_an_endpoint_is_a_run_like_any_other(database_url: str) -> None:
    app = Foliot(database_url, pricing=Pricing(markup=Decimal(1)))
    usage = {"usage": [{"unit": "call-1", "cost": "0.00001"}]}
    with a_receiver(Reply(200, json.dumps({"sent": 3, "foliot_usage": usage}))) as receiver:
        assert app.endpoint("billing", receiver.url()) == "http:billing"
        run = run_once(app, labels={"team": "money"})
        (seen,) = receiver.seen
    assert (run.status, run.result) == ("success", {"sent": 3})
    assert seen.headers["idempotency-key"] == run.idempotency_key == seen.json["idempotency_key"]
    assert seen.headers["foliot-run-id"] == run.id
    assert (seen.json["input"], seen.json["labels"]) == ({"month": 10}, {"team": "money"})
    assert [receipt.credits for receipt in app.runs.receipts(run.id)] == [100]
    app.close()


def test_a_secret_is_nowhere_but_in_the_program(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    replies = [Reply(500, f"I know {CANARY}"), Reply(400, f"still {CANARY}")]
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    with a_receiver(*replies) as receiver:
        app.endpoint("billing", receiver.url(), secret=CANARY, callback=True)
        run = run_once(app)
        assert len(receiver.seen) == 2
        sent = str(receiver.seen)
        token = receiver.seen[0].json["callback"]["token"]
    assert (run.status, run.reason) == ("error", "invalid_request")
    assert run.error == "POST 127.0.0.1 answered 400: still ***"
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"still ***" in files
    assert CANARY.encode() not in files
    assert token.encode() not in files
    assert CANARY not in sent
    assert CANARY not in caplog.text
    assert token not in caplog.text
    assert CANARY not in repr(app) + repr(app.endpoints) + repr(app.endpoints._endpoints)


def test_a_run_that_waits_for_its_answer_can_be_cancelled(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    with a_receiver() as receiver:
        receiver.hold()
        app.endpoint("billing", receiver.url())
        run = run_once(app, lambda run_id: receiver.wait_for_calls() and app.runs.cancel(run_id))
        assert len(receiver.seen) == 1
    assert (run.status, run.reason) == ("cancelled", "cancelled_by_user")


def test_every_attempt_at_a_slot_has_the_same_key(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    with a_receiver(Reply(429, "", {"Retry-After": "3600"}), Reply()) as receiver:
        app.endpoint("billing", receiver.url())
        retry = {"attempts": 2, "backoff": "0s", "reasons": ["rate_limit"]}
        run_once(app, lambda _: receiver.wait_for_calls(2), retry=retry)
        first, second = receiver.seen
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert [seen.headers["foliot-attempt"] for seen in (first, second)] == ["1", "2"]
    assert [(run.reason, run.status) for run in app.runs.list()] == [(None, "success"), ("rate_limit", "error")]
    app.close()


def test_a_network_that_is_not_allowed_is_refused_and_the_ledger_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOLIOT_HTTP_ALLOW")
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
    with a_receiver() as receiver:
        app.endpoint("billing", receiver.url())
        run = run_once(app)
        assert not receiver.seen
    assert (run.status, run.reason) == ("error", "invalid_request")
    assert run.error is not None
    assert "FOLIOT_HTTP_ALLOW" in run.error


def test_a_setting_that_is_no_network_is_refused_when_the_app_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_HTTP_ALLOW", "127.0.0.1, my-machine")
    with pytest.raises(Invalid, match=r"FOLIOT_HTTP_ALLOW takes networks and addresses such as .*, got 'my-machine'"):
        Foliot("sqlite:///not-used.db")


@pytest.mark.parametrize("module", ["foliot", "foliot.app", "foliot.cli.main"])
def test_who_calls_nothing_does_not_load_the_library_for_it(module: str) -> None:
    program = f"import sys, {module}; print([name for name in sys.modules if name.startswith('http' + 'x2')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class TestOfLongWork:
    """An endpoint that answers 202 and reports later."""

    @staticmethod
    def waiting(tmp_path: Path, then: Callable[[Foliot, str, str], Any], **options: Any) -> tuple[Foliot, Run]:
        """The app and the run, once `then` was done with the run's id and token while it waited."""
        app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
        with a_receiver(Reply(202)) as receiver:
            app.endpoint("billing", receiver.url(), secret=CANARY, callback=True, **options)

            def report(run_id: str) -> None:
                waits = lambda: app.runs.get(run_id).status == "waiting" or None  # noqa: E731
                wait_for("the run to wait", waits, every=0.02)
                then(app, run_id, receiver.seen[0].json["callback"]["token"])

            run = run_once(app, report)
        return app, run

    def test_a_report_ends_the_run_well(self, tmp_path: Path) -> None:
        app, run = self.waiting(tmp_path, lambda app, run, token: app.runs.complete(run, token, result={"sent": 3}))
        assert (run.status, run.result) == ("success", {"sent": 3})
        assert app.runs.questions(run.id)[0].decided_by == "callback"
        app.close()

    def test_a_report_of_failure_is_a_failure_with_its_code(self, tmp_path: Path) -> None:
        report = {"error": "no paper", "code": "provider_unavailable"}
        app, run = self.waiting(tmp_path, lambda app, run, token: app.runs.complete(run, token, **report))
        assert (run.status, run.reason, run.error) == ("error", "provider_unavailable", "no paper")
        app.close()

    @pytest.mark.parametrize("report", [{"result": {"sent": 3}}, {"error": "no paper", "code": "timeout"}, {}])
    def test_a_report_that_is_made_twice_counts_once(self, tmp_path: Path, report: dict[str, Any]) -> None:
        def twice(app: Foliot, run: str, token: str) -> None:
            assert app.runs.complete(run, token, **report) == app.runs.complete(run, token, **report)

        self.waiting(tmp_path, twice)[0].close()

    def test_a_report_that_contradicts_an_earlier_one_is_a_conflict(self, tmp_path: Path) -> None:
        def differ(app: Foliot, run: str, token: str) -> None:
            app.runs.complete(run, token, result=1)
            for other in ({"result": 2}, {}, {"error": "no"}):
                with pytest.raises(Conflict, match="was reported as success before, with something else: that stands"):
                    app.runs.complete(run, token, **other)

        app, run = self.waiting(tmp_path, differ)
        assert run.result == 1
        app.close()

    def test_a_report_of_both_a_result_and_an_error_is_refused(self, tmp_path: Path) -> None:
        def both(app: Foliot, run: str, token: str) -> None:
            with pytest.raises(Invalid, match="a report takes a result or an error, got both"):
                app.runs.complete(run, token, result=1, error="no")
            app.runs.complete(run, token)

        self.waiting(tmp_path, both)[0].close()

    def test_nobody_reports_without_the_token_and_no_person_decides(self, tmp_path: Path) -> None:
        def try_in_vain(app: Foliot, run: str, token: str) -> None:
            with pytest.raises(Denied, match="that is not the token of"):
                app.runs.complete(run, token[::-1])
            with pytest.raises(Conflict, match="waits for its target to report, not for a person"):
                app.runs.decide(run, "approve")
            with pytest.raises(Invalid, match="code takes"):
                app.runs.complete(run, token, error="no", code="bad_luck")
            app.runs.complete(run, token)

        app, run = self.waiting(tmp_path, try_in_vain)
        assert run.status == "success"
        app.close()

    def test_without_a_report_in_time_it_has_timed_out(self, tmp_path: Path) -> None:
        app, run = self.waiting(tmp_path, lambda app, run, token: None, callback_within="1s")
        assert (run.status, run.reason) == ("error", "timeout")
        app.close()

    def test_a_report_about_a_run_that_waits_for_none_is_a_conflict(self, tmp_path: Path) -> None:
        app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")
        with a_receiver(Reply(200)) as receiver:
            app.endpoint("billing", receiver.url())
            run = run_once(app)
        with pytest.raises(Conflict, match="waits for no report: it is success"):
            app.runs.complete(run.id, "token")
        app.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"secret": CANARY, "callback": True},
            "http:billing may report later, and no run is there to wait for that: schedule or trigger it",
        ),
        ({"secret_env": "NO_SUCH_SECRET"}, "takes its secret from NO_SUCH_SECRET, which the environment does not have"),
    ],
    ids=["reports later", "has no secret"],
)
def test_a_request_that_an_endpoint_could_not_carry_out_is_refused_and_neither_sent_nor_kept(
    database_url: str, options: dict[str, Any], words: str
) -> None:
    app = Foliot(database_url)
    with a_receiver(Reply(202)) as receiver:
        app.endpoint("billing", receiver.url(), **options)
        with pytest.raises(Invalid, match=words):
            asyncio.run(app.execute("http:billing", key="k1"))
        assert receiver.seen == []
    assert app.requests.list() == []
    app.close()


def test_a_key_that_is_not_ascii_reaches_an_endpoint(database_url: str) -> None:
    """The execution was kept as a failure: a header did not take the key."""
    app = Foliot(database_url)
    with a_receiver(Reply(200, "1")) as receiver:
        app.endpoint("billing", receiver.url())

        async def program() -> list[bool]:
            async with app:
                asked = [await app.execute("http:billing", key="ключ", run_id="прогон 7") for _ in range(2)]
                return [executed.ok for executed in asked]

        assert asyncio.run(program()) == [True, True]
        (seen,) = receiver.seen
    app.close()
    assert seen.headers["idempotency-key"] == "%D0%BA%D0%BB%D1%8E%D1%87"
    assert unquote(seen.headers["foliot-run-id"]) == seen.json["run_id"] == "прогон 7"
    assert seen.json["idempotency_key"] == "ключ"
