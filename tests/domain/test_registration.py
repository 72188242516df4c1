"""The registrar's words: each means one thing here, and is told back as it was said."""

import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from foliot.domain.errors import Invalid
from foliot.domain.instants import instant_of
from foliot.domain.policies import CatchUp, Overlap, Policies, policies_of
from foliot.domain.registrar_defaults import CatchupPolicy, OverlapPolicy, RegistrarDefaults
from foliot.domain.registration import (
    Registered,
    Registration,
    RunWord,
    read_registration,
    registered_of,
    run_key,
    word_of,
)
from foliot.domain.runs import Status
from foliot.domain.spec import Spec

DEFAULTS = RegistrarDefaults()
GIVEN = {
    "workflow_id": "invoices",
    "version": 3,
    "user_id": "ann",
    "cron_expr": "0 9 * * MON-FRI",
    "timezone": "America/New_York",
}


def read(defaults: RegistrarDefaults = DEFAULTS, **others: Any) -> Registration:
    return read_registration({**GIVEN, **others}, defaults)


def test_a_registration_is_a_schedule_of_a_workflow_in_our_words() -> None:
    read_it = read(
        schedule_id="invoices-daily",
        start_at="2026-11-01T00:00:00Z",
        end_at=None,
        jitter_ms=1500,
        overlap_policy="queue",
        catchup_policy="fire_immediately",
    )
    assert read_it[:5] == ("invoices-daily", "invoices", 3, "ann", "0 9 * * MON-FRI")
    assert read_it.options == {
        "cron": "0 9 * * MON-FRI",
        "timezone": "America/New_York",
        "start_at": "2026-11-01T00:00:00Z",
        "jitter": 1.5,
        "jitter_mode": "around",
        "overlap": "queue",
        "catchup": "fire_immediately",
        "lookahead": timedelta(seconds=60),
        "catchup_cap": 100,
        "target": "dag:invoices",
        "memo": {"cron_expr": "0 9 * * MON-FRI"},
    }


def test_what_a_registration_does_not_say_is_as_the_defaults_have_it() -> None:
    defaults = RegistrarDefaults("allow", "spread", 250, 5000, 7)
    options = read(defaults).options
    assert (options["overlap"], options["catchup"], options["jitter"]) == ("allow", "spread", 0.25)
    assert (options["lookahead"], options["catchup_cap"]) == (timedelta(seconds=5), 7)
    said = read(defaults, overlap_policy="skip", catchup_policy="none", jitter_ms=0).options
    assert (said["overlap"], said["catchup"], "jitter" in said) == ("skip", "none", False)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cron_expr": "61 * * * *"}, "a schedule: cron field 'minute' takes 0-59, got '61'"),
        ({"cron_expr": "@daily"}, "takes cron_expr of 5 or 6 fields, got '@daily'"),
        ({"cron_expr": None}, "takes cron_expr of 5 or 6 fields, got None"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"timezone": None}, "takes timezone, an IANA name"),
        ({"version": 0}, "takes version from 1 to 1,000,000,000, got 0"),
        ({"version": "1.0.0"}, "takes version from 1 to"),
        ({"user_id": None}, "user_id takes printable text"),
        ({"workflow_id": ""}, "takes workflow_id of 1 to 100 letters"),
        ({"overlap_policy": "buffer_one"}, "takes overlap_policy of 'skip', 'allow', 'queue', got 'buffer_one'"),
        ({"catchup_policy": "all"}, "takes catchup_policy of 'none', 'fire_immediately', 'spread', got 'all'"),
        ({"jitter_ms": -1}, "takes jitter_ms from 0 to"),
        ({"start_at": "2026-11-15T09:00:00"}, "start_at takes a moment with its offset"),
        ({"start_at": "2027-01-01T00:00:00Z", "end_at": "2026-01-01T00:00:00Z"}, "end_at must not be before start_at"),
        ({"schedule_id": "Daily:1"}, "takes schedule_id of small letters, .* such as 'daily-1', got 'Daily:1'"),
        ({"paused": False}, "got 'paused'"),
    ],
)
def test_what_cannot_be_registered_is_refused_by_the_name_of_its_field(given: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read(**given)


@pytest.mark.parametrize("overlap", OverlapPolicy)
@pytest.mark.parametrize("catchup", CatchupPolicy)
def test_every_word_is_told_back_as_it_was_said(overlap: OverlapPolicy, catchup: CatchupPolicy) -> None:
    policies = policies_of(overlap=overlap, catchup=catchup)
    told = registered_of(json.dumps(Spec("* * * * *").canonical()), policies, {"cron_expr": "* * * * *"})
    assert (told.overlap_policy, told.catchup_policy) == (overlap, catchup)


def test_a_schedule_tells_all_that_it_was_registered_with() -> None:
    spec = Spec(
        "0 9 * * MON-FRI",
        timezone="America/New_York",
        jitter=timedelta(milliseconds=1500),
        jitter_mode="around",
        end_at=datetime.fromisoformat("2027-01-01T00:00:00Z"),
    )
    told = registered_of(json.dumps(spec.canonical()), Policies(), {"cron_expr": "0 9 * * MON-FRI"})
    assert told == Registered(
        "0 9 * * MON-FRI",
        "America/New_York",
        None,
        "2027-01-01T00:00:00Z",
        1500,
        OverlapPolicy.SKIP,
        CatchupPolicy.NONE,
    )


@pytest.mark.parametrize("memo", [None, {}, [], {"cron_expr": 5}, {"cron_expr": "0 8 * * *"}, {"cron_expr": "no cron"}])
def test_a_text_that_no_longer_means_what_the_spec_is_is_not_told(memo: Any) -> None:
    told = registered_of(json.dumps(Spec("0 9 * * *").canonical()), Policies(), memo)
    assert told.cron_expr is None


def test_what_the_registrar_has_no_word_for_is_not_told_by_another() -> None:
    policies = Policies(overlap=Overlap.BUFFER_ONE, catchup=CatchUp.LAST)
    told = registered_of(json.dumps(Spec("* * * * *").canonical()), policies, None)
    assert (told.overlap_policy, told.catchup_policy) == (None, None)


@pytest.mark.parametrize(
    ("status", "has_begun", "word"),
    [
        ("pending", False, RunWord.ENQUEUED),
        ("running", True, RunWord.STARTED),
        ("waiting", True, RunWord.STARTED),
        ("success", True, RunWord.SUCCESS),
        ("error", True, RunWord.FAILED),
        ("error", False, RunWord.FAILED),
        ("skipped", False, RunWord.SKIPPED),
        ("cancelled", True, RunWord.FAILED),
        ("cancelled", False, RunWord.SKIPPED),
    ],
)
def test_every_status_has_one_word(status: str, has_begun: bool, word: RunWord) -> None:
    assert word_of(Status(status), has_begun=has_begun) is word


def test_a_run_is_known_by_its_schedule_and_the_second_that_it_was_planned_for() -> None:
    at = instant_of("2026-11-15T09:00:00Z", "at")
    assert run_key("invoices-daily", at) == sha256(b"invoices-daily:1794733200").hexdigest()
