"""Reports of executors elsewhere: a run only goes forward."""

from typing import Any

import pytest

from foliot.domain.errors import Invalid
from foliot.domain.reports import Hearing, Reported, hearing_of, report_of
from foliot.domain.runs import FINAL, Reason, Status
from foliot.domain.settlement import Outcome


@pytest.mark.parametrize("reported", Reported)
def test_before_it_is_on_record_that_a_run_waits_nothing_is_heard(reported: Reported) -> None:
    assert hearing_of(Status.RUNNING, reported, is_end_reported=False) is Hearing.EARLY


def test_a_run_that_waits_goes_on_or_ends() -> None:
    heard = [hearing_of(Status.WAITING, reported, is_end_reported=False) for reported in Reported]
    assert heard == [Hearing.NOTE, Hearing.END, Hearing.END]


@pytest.mark.parametrize("status", sorted(FINAL))
@pytest.mark.parametrize("is_end_reported", [True, False])
def test_a_run_that_is_over_never_runs_again(status: Status, is_end_reported: bool) -> None:
    assert hearing_of(status, Reported.RUNNING, is_end_reported=is_end_reported) is Hearing.LATE


@pytest.mark.parametrize("status", sorted(FINAL))
@pytest.mark.parametrize("reported", [Reported.SUCCESS, Reported.ERROR])
def test_an_end_is_heard_again_only_where_it_was_reported(status: Status, reported: Reported) -> None:
    assert hearing_of(status, reported, is_end_reported=True) is Hearing.REPEAT
    assert hearing_of(status, reported, is_end_reported=False) is Hearing.LATE


def test_a_run_that_is_to_be_delivered_once_more_is_not_ended_by_the_delivery_before() -> None:
    assert hearing_of(Status.PENDING, Reported.SUCCESS, is_end_reported=False) is Hearing.LATE


def test_a_report_says_how_far_it_is_or_how_it_ended() -> None:
    assert report_of("running", progress={"pages": 3}) == (Reported.RUNNING, None, '{"pages":3}')
    assert report_of("success", result=[1]).outcome == Outcome(Status.SUCCESS, result="[1]")
    assert report_of("error", error="no paper", code="timeout").outcome == Outcome(
        Status.ERROR, Reason.TIMEOUT, error="no paper"
    )
    assert report_of("error").outcome == Outcome(Status.ERROR, Reason.INTERNAL)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"status": "skipped"}, "takes the status 'running', 'success', 'error', got 'skipped'"),
        ({"status": "success", "result": 1, "error": "no"}, "a result or an error, got both"),
        ({"status": "success", "code": "timeout"}, "only a report of 'error' takes an error"),
        ({"status": "running", "error": "no"}, "only a report of 'error' takes an error"),
        ({"status": "running", "result": 1}, "only a report of 'success' takes a result"),
        ({"status": "error", "progress": 1}, "only a report of 'running' takes progress"),
        ({"status": "error", "code": "bad_luck"}, "code takes 'invalid_request'"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        report_of(**given)
