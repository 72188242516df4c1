"""Every option that takes a duration or a moment refuses what is none, and says which option it was."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from foliot import Context, Foliot, Invalid
from foliot.testing import virtual
from tests.sdk.worlds import START, a_program

URL = "https://example.com/"
SECRET = "a secret of the usual length"


def declared(option: str) -> Callable[[Foliot, Any], object]:
    return lambda app, value: app.schedule("x", **{"every": "5m"} | {option: value})(lambda: None)


def retried(part: str) -> Callable[[Foliot, Any], object]:
    return lambda app, value: app.schedule("x", every="5m", retry={"attempts": 3, part: value})(lambda: None)


def a_graph() -> Any:
    raise AssertionError("nobody runs it")


DURATIONS: dict[str, tuple[str, Callable[[Foliot, Any], object]]] = {
    "every": ("every", declared("every")),
    "jitter": ("jitter", declared("jitter")),
    "catchup_window": ("catchup_window", declared("catchup_window")),
    "lookahead": ("lookahead", declared("lookahead")),
    "grace": ("grace", declared("grace")),
    "timeout": ("timeout", declared("timeout")),
    "retry backoff": ("retry backoff", retried("backoff")),
    "retry longest": ("retry longest", retried("longest")),
    "endpoint timeout": ("timeout", lambda app, value: app.endpoint("x", URL, timeout=value)),
    "callback_within": (
        "callback_within",
        lambda app, value: app.endpoint("x", URL, secret=SECRET, callback=True, callback_within=value),
    ),
    "callback_within of none": ("callback_within", lambda app, value: app.endpoint("x", URL, callback_within=value)),
    "langgraph expires_in": ("expires_in", lambda app, value: app.langgraph("x", a_graph, expires_in=value)),
}


@pytest.mark.parametrize(("name", "give"), DURATIONS.values(), ids=DURATIONS)
def test_text_that_is_no_duration_is_refused_by_the_name_of_its_option(
    name: str, give: Callable[[Foliot, Any], object]
) -> None:
    for wrong in ("soon", "90"):
        with pytest.raises(Invalid) as refusal:
            give(a_program(), wrong)
        assert str(refusal.value) == (
            f"{name} takes a duration such as '90s' or '1h30m', got {wrong!r}: "
            "give each number its unit, d, h, m, s or ms"
        )


@pytest.mark.parametrize(("name", "give"), DURATIONS.values(), ids=DURATIONS)
def test_what_is_no_duration_at_all_is_refused_by_the_name_of_its_option(
    name: str, give: Callable[[Foliot, Any], object]
) -> None:
    wrong: Any
    for wrong in ({}, True):
        with pytest.raises(
            Invalid, match=rf"^{name} takes a duration such as .*, a timedelta or seconds, got {wrong}$"
        ):
            give(a_program(), wrong)
    with pytest.raises(Invalid, match=rf"^{name} takes a duration from 0 to 230 years, got -1$"):
        give(a_program(), -1)


def test_the_offset_of_an_interval_is_told_from_its_period() -> None:
    with pytest.raises(Invalid, match=r"^the offset of every takes a duration such as '90s' or '1h30m', got 'soon'"):
        declared("every")(a_program(), "5m/soon")


def test_a_change_names_the_option_as_well() -> None:
    with virtual(a_program("foliot", "job"), START) as world:
        for option in ("every", "jitter", "catchup_window", "lookahead", "grace", "timeout"):
            change: dict[str, Any] = {option: "soon"}
            with pytest.raises(Invalid, match=f"^{option} takes a duration such as"):
                world.app.schedules.patch("job", **change)


def test_a_question_names_how_long_it_waits() -> None:
    app, refused = Foliot("sqlite:///not-used.db"), []

    @app.schedule(every="5m")
    def job(input: Any, ctx: Context) -> None:
        try:
            ctx.ask("approval", expires_in="soon")
        except Invalid as refusal:
            refused.append(str(refusal))

    with virtual(app, START) as world:
        world.advance(minutes=5)
    assert [said.partition(",")[0] for said in refused] == ["expires_in takes a duration such as '90s' or '1h30m'"]


@pytest.mark.parametrize("span", ["1h30m", timedelta(minutes=90), 5400, 5400.0])
def test_time_passes_for_as_long_as_an_option_would_mean(span: Any) -> None:
    with virtual(a_program("foliot", "job"), START) as world:
        world.advance(span)
        assert world.now == START + timedelta(minutes=90)
        world.advance(span, seconds=30)
        assert world.now == START + timedelta(minutes=180, seconds=30)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ("soon", "span takes a duration such as '90s' or '1h30m', got 'soon'"),
        (-1, "span takes a duration from 0"),
        (timedelta(seconds=-1), "time passes forward, got .*: `step_clock` sets the wall clock back"),
    ],
)
def test_time_does_not_pass_back(span: Any, words: str) -> None:
    with virtual(a_program(), START) as world:
        with pytest.raises(Invalid, match=words):
            world.advance(span)
        assert world.now == START


MOMENTS: dict[str, Callable[[Foliot], object]] = {
    "at": lambda app: app.schedules.create("x", target="job", at="soon"),
    "start_at": lambda app: app.schedules.create("x", target="job", every="5m", start_at="soon"),
    "end_at": lambda app: app.schedules.create("x", target="job", every="5m", end_at="soon"),
    "until": lambda app: app.schedules.pause("job", until="soon"),
    "expires_at": lambda app: app.grants.create("graph:execute:python:job", expires_at="soon"),
    "since": lambda app: app.runs.list(since="soon"),
}


@pytest.mark.parametrize(("name", "give"), MOMENTS.items(), ids=MOMENTS)
def test_what_is_no_moment_is_refused_by_the_name_of_its_option(name: str, give: Callable[[Foliot], object]) -> None:
    with (
        virtual(a_program("foliot", "job"), START) as world,
        pytest.raises(Invalid, match=rf"^{name} takes a moment such as .*, got 'soon'"),
    ):
        give(world.app)
