"""Schedules declared beside their functions, and what a deploy does with them."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Context, Foliot, Interval, Invalid, Spec
from foliot.testing import virtual
from tests.sdk.worlds import START, a_program, at


def test_a_schedule_is_named_after_its_function_and_runs_it() -> None:
    app = Foliot("sqlite:///not-used.db")
    ran = []

    @app.schedule(every="5m")
    def digest() -> None:
        ran.append(1)

    with virtual(app, START) as world:
        world.advance(minutes=6)
        assert (len(ran), [schedule.id for schedule in app.schedules.list()]) == (1, ["digest"])
        assert app.schedules.get("digest").target == "python:digest"


def test_a_graph_may_have_several_schedules_each_with_a_name() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.schedule("hourly", cron="0 * * * *", input={"long": False})
    @app.schedule("daily", cron="0 9 * * *", input={"long": True})
    @app.graph("report")
    def report(input: Any) -> None:
        """Nothing to do."""

    with virtual(app, START):
        assert [(each.id, each.target, each.input) for each in app.schedules.list()] == [
            ("daily", "python:report", {"long": True}),
            ("hourly", "python:report", {"long": False}),
        ]


def test_a_second_unnamed_schedule_of_a_function_is_refused() -> None:
    app = Foliot("sqlite:///not-used.db")

    def digest() -> None:
        """Nothing to do."""

    app.schedule(every="5m")(digest)
    with pytest.raises(Invalid, match="a schedule named 'digest' is declared twice: give the second one a name"):
        app.schedule(every="10m")(digest)
    with pytest.raises(Invalid, match="'Digest' is declared twice: give each a name of its own"):
        app.schedule("Digest", every="10m")(digest)


def test_a_graph_name_stands_for_one_function() -> None:
    app = Foliot("sqlite:///not-used.db")
    app.graph("job")(lambda: None)
    with pytest.raises(Invalid, match="a graph takes a name of its own, got 'job' for a second function"):
        app.graph("job")(lambda: None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cron": "0 25 * * *"}, "cron field 'hour' takes 0-23, got '25' in '0 25 \\* \\* \\*'"),
        ({"every": "5 parsecs"}, "parsecs"),
        ({"every": "5m", "overlap": "maybe"}, "overlap takes 'skip', .*, got 'maybe'"),
        ({"every": "5m", "catchup": "some"}, "catchup takes 'none', 'last', 'all', 'spread', got 'some'"),
        ({"every": "5m", "timeout": 0}, "timeout takes more than 0, got 0: leave it out"),
        ({"every": "5m", "retry": 1}, "retry takes 2 to 1000 attempts"),
        ({"every": "5m", "limit": 0}, "limit takes a whole number from 1"),
        ({"every": "5m", "grace": "-1m"}, "-1m"),
        ({"every": "5m", "timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"every": "5m", "labels": {"a b": "c"}}, "a label's name takes"),
        ({"every": "5m", "input": object()}, "input takes what JSON can say"),
        ({"every": "5m", "spec": Spec(cron="@daily")}, "either spec or its parts, got spec and every"),
        ({"cron": "0 0 31 2 *"}, "never|31"),
        ({"at": "tomorrow"}, "at takes a moment such as"),
        ({}, "manual|empty|nothing"),
    ],
)
def test_a_wrong_option_names_the_thing_the_rule_and_the_remedy(options: dict[str, Any], words: str) -> None:
    app = Foliot("sqlite:///not-used.db")
    with pytest.raises(Invalid, match=words):
        app.schedule("job", **options)(lambda: None)


def test_an_unknown_option_of_create_is_refused_with_those_that_there_are() -> None:
    with virtual(a_program(), START) as world, pytest.raises(Invalid, match=r"a schedule takes .*, got jiter"):
        world.app.schedules.create("job", every="5m", jiter="1m")


@pytest.mark.parametrize("span", ["90m", "1h30m", "1.5h", timedelta(minutes=90), 5400, 5400.0])
def test_a_length_of_time_is_text_a_timedelta_or_seconds(span: Any) -> None:
    with virtual(a_program("foliot", "job", every=span, timeout=span, grace=span, jitter=span), START) as world:
        schedule = world.app.schedules.get("job")
        assert schedule.spec.intervals == (Interval(timedelta(minutes=90)),)
        assert (schedule.policies.timeout, schedule.policies.grace) == (5_400_000_000, 5_400_000_000)


def test_functions_take_nothing_the_input_or_the_input_and_the_context_sync_or_async() -> None:
    app = Foliot("sqlite:///not-used.db")
    seen: dict[str, Any] = {}

    @app.schedule("none", every="5m", input=1)
    def none() -> None:
        seen["none"] = ()

    @app.schedule("one", every="5m", input=1)
    def one(input: Any) -> None:
        seen["one"] = input

    @app.schedule("two", every="5m", input=1)
    def two(input: Any, ctx: Context) -> None:
        seen["two"] = (input, ctx.schedule)

    @app.schedule("async-none", every="5m", input=1)
    async def async_none() -> None:
        seen["async-none"] = ()

    @app.schedule("async-two", every="5m", input=1)
    async def async_two(input: Any, ctx: Context) -> None:
        seen["async-two"] = (input, ctx.schedule)

    with virtual(app, START) as world:
        world.advance(minutes=6)
        assert seen == {
            "none": (),
            "one": 1,
            "two": (1, "two"),
            "async-none": (),
            "async-two": (1, "async-two"),
        }


@pytest.mark.parametrize(
    "function", [lambda a, b, c: None, lambda *, key: None, "not a function"], ids=["three", "keyword", "text"]
)
def test_a_function_that_cannot_be_called_with_input_and_context_is_refused(function: Any) -> None:
    with pytest.raises(Invalid, match=r"takes a function"):
        Foliot("sqlite:///not-used.db").graph("job")(function)


def test_a_redeploy_changes_what_changed_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("shop", "a", "b"), START, database=url) as world:
        before = {schedule.id: schedule for schedule in world.app.schedules.list()}
    with virtual(a_program("shop", "a", "b", overlap="buffer_one"), at("12:01"), database=url) as world:
        after = {schedule.id: schedule for schedule in world.app.schedules.list()}
        assert after["a"].token == before["a"].token + 1
    with virtual(a_program("shop", "a", "b", overlap="buffer_one"), at("12:02"), database=url) as world:
        assert {schedule.id: schedule for schedule in world.app.schedules.list()} == after


def test_a_redeploy_never_ends_a_pause(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("shop", "a"), START, database=url) as world:
        world.app.schedules.pause("a", "holiday")
    with virtual(a_program("shop", "a", every="7m"), at("12:01"), database=url) as world:
        schedule = world.app.schedules.get("a")
        assert (schedule.paused, schedule.note, schedule.paused_by) == (True, "holiday", "user")


def test_a_redeploy_never_fires_a_slot_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    for clock in ("12:00", "12:05:30", "12:06"):
        with virtual(a_program("shop", "a"), at(clock), database=url) as world:
            world.advance_to(max(world.now, at("12:05:10")))
            assert [run.id for run in world.runs("a")] == ["a:2026-11-15T12:05:00Z~1"]


def test_what_is_no_longer_declared_is_paused_with_a_note_and_resumed_when_it_returns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("shop", "a", "b"), START, database=url):
        pass
    with virtual(a_program("shop", "a"), at("12:01"), database=url) as world:
        schedule = world.app.schedules.get("b")
        assert (schedule.paused, schedule.note, schedule.paused_by) == (True, "no longer declared by shop", "deploy")
        assert not world.app.schedules.get("a").paused
    with virtual(a_program("shop", "a", "b"), at("12:11"), database=url) as world:
        assert not world.app.schedules.get("b").paused
        world.advance_to(at("12:16"))
        assert [run.reason or run.status for run in world.runs("b")] == ["paused", "paused", "success"]


def test_what_a_person_had_paused_stays_paused_when_it_returns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("shop", "a", "b"), START, database=url) as world:
        world.app.schedules.pause("b", "by hand")
    with virtual(a_program("shop", "a"), at("12:01"), database=url):
        pass
    with virtual(a_program("shop", "a", "b"), at("12:02"), database=url) as world:
        schedule = world.app.schedules.get("b")
        assert (schedule.paused, schedule.note) == (True, "by hand")


def test_another_apps_schedules_and_those_of_nobody_are_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("mail", "m"), START, database=url) as world:
        world.app.schedules.create("by-hand", target="job", every="5m")
    with virtual(a_program("shop", "a"), at("12:01"), database=url) as world:
        assert [(each.id, each.app, each.paused) for each in world.app.schedules.list()] == [
            ("a", "shop", False),
            ("by-hand", None, False),
            ("m", "mail", False),
        ]


def test_a_schedule_that_was_deleted_by_hand_is_declared_anew_and_fires_nothing_twice(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with virtual(a_program("shop", "a"), START, database=url) as world:
        world.advance_to(at("12:06"))
        world.app.schedules.delete("a")
    with virtual(a_program("shop", "a"), at("12:07"), database=url) as world:
        world.advance_to(at("12:11"))
        assert [f"{run.scheduled_for:%H:%M}" for run in world.runs("a")] == ["12:05", "12:10"]


def test_a_schedule_of_a_target_that_nobody_here_runs_is_declared_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = a_program("shop", "known")
    app.schedule("typo", every="5m")("python:jbo")
    with virtual(app, START):
        assert caplog.messages == [
            "nobody here runs python:jbo: runs of 'typo' fail as not_found until a program registers it"
        ]
