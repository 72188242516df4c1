"""What a declared set does to a schedule, by what it is, what was applied last and what is declared now."""

from typing import Any

import pytest

from foliot.services.configuration import Stored, stored_of
from foliot.services.declaration import judge
from foliot.services.written import options_of

NINE = {"target": "digest", "cron": "0 9 * * *"}


def a_form(**options: Any) -> Stored:
    return stored_of("digest", {**NINE, **options})


def test_what_is_as_declared_is_left_alone() -> None:
    assert judge(a_form(), a_form(), a_form(), overwrite=False) == ((), a_form())


def test_what_only_the_file_changed_is_changed() -> None:
    wanted = a_form(cron="0 10 * * *", overlap="allow_all", input={"n": 1})
    differences, stored = judge(a_form(), a_form(), wanted, overwrite=False)
    assert stored == wanted
    assert [(one.field, one.is_drift, one.is_kept) for one in differences] == [
        ("spec", False, False),
        ("input", False, False),
        ("overlap", False, False),
    ]


def test_what_somebody_changed_since_is_theirs_unless_it_is_overwritten() -> None:
    live, wanted = a_form(timeout="5m"), a_form(cron="0 10 * * *")
    differences, stored = judge(live, a_form(), wanted, overwrite=False)
    assert stored == a_form(cron="0 10 * * *", timeout="5m")
    assert {one.field: (one.is_drift, one.is_kept) for one in differences} == {
        "spec": (False, False),
        "timeout": (True, True),
    }
    differences, stored = judge(live, a_form(), wanted, overwrite=True)
    assert stored == wanted
    assert {one.field: (one.is_drift, one.is_kept) for one in differences}["timeout"] == (True, False)


def test_a_change_that_the_file_has_taken_up_is_no_difference() -> None:
    assert judge(a_form(limit=3), a_form(), a_form(limit=3), overwrite=False) == ((), a_form(limit=3))


def test_a_budget_is_the_operators() -> None:
    live = a_form(budget={"credits": 5})
    assert judge(live, a_form(), a_form(), overwrite=True) == ((), live)
    (difference,), stored = judge(live, a_form(), a_form(budget={"credits": 9}), overwrite=True)
    assert (difference.field, difference.is_kept, stored) == ("budget", True, live)


def test_what_was_never_declared_is_made_what_the_file_says() -> None:
    differences, stored = judge(a_form(memo="by hand"), None, a_form(), overwrite=False)
    assert stored == a_form()
    assert [(one.field, one.now, one.wanted, one.is_drift) for one in differences] == [("memo", "by hand", None, False)]


def test_true_and_one_are_not_the_same() -> None:
    differences, stored = judge(a_form(input=True), None, a_form(input=1), overwrite=False)
    assert [(one.now, one.wanted) for one in differences] == [(True, 1)]
    assert stored == a_form(input=1)


@pytest.mark.parametrize(
    "options",
    [
        {"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"},
        {"cron": "*/15 * * * *"},
        {"cron": "*/10 * * * * *"},
        {"cron": "30 2 L * *", "timezone": "America/New_York"},
        {"cron": "0 0 13 * FRI"},
        {"cron": "0 0 9 * * * 2027-2030"},
        {"cron": ["0 9 * * *", "0 17 * * *"]},
        {"cron": "0 2 * * *", "gap": "skip", "timezone": "Europe/Berlin"},
        {"cron": ["0 2 * * *", "*/5 * * * *"], "timezone": "Europe/Berlin"},
        {"every": "90m/5m"},
        {"every": ["1h", "7s"], "jitter": "90s", "jitter_mode": "around"},
        {"at": ["2027-01-01T00:00:00Z"], "start_at": "2026-01-01T00:00:00Z", "end_at": "2028-01-01T00:00:00Z"},
        {"manual": True},
        {"every": "1m", "retry": 3, "catchup": "all", "catchup_window": "1d", "grace": "0s", "timeout": "1500ms"},
        {"every": "1m", "overlap": "buffer_all", "buffer": 7, "pause_on_failure": True, "budget": {"credits": 5}},
        {"every": "1m", "input": {"a": [1, None]}, "labels": {"team": "mail"}, "memo": "why"},
    ],
    ids=str,
)
def test_a_configuration_is_written_in_words_that_make_it_again(options: dict[str, Any]) -> None:
    stored = stored_of("digest", {"target": "digest", **options})
    assert stored_of("other", options_of(stored)) == stored


def test_plain_cron_text_stays_plain() -> None:
    assert options_of(a_form(timezone="Europe/Berlin", timeout="90m")) == {
        "target": "python:digest",
        "cron": "0 9 * * *",
        "timezone": "Europe/Berlin",
        "timeout": "1h30m",
    }
