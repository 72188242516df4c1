"""Targets that no program has ever registered: any worker takes them up, and their runs say that they are not found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from foliot import Foliot
from foliot.providers import Execution, Final, OnUnknown, Request, performed
from foliot.services.views import Run
from foliot.testing import World, virtual
from tests.databases import PostgresqlServer
from tests.engine.timelines import START, at, register_elsewhere, timeline


@pytest.fixture
def postgresql_url(postgresql_server: PostgresqlServer) -> str:
    """Where several programs may be at work at once."""
    return postgresql_server.new_database()


def a_program(name: str, *graphs: str) -> Foliot:
    """A program with these graphs, each of which has its own name as result."""
    app = Foliot("sqlite:///not-used.db", name=name)
    for graph in graphs:
        app.graph(graph)(_saying(graph))
    return app


def _saying(word: str) -> Callable[[], str]:
    return lambda: word


@contextmanager
def at_work(app: Foliot, url: str, start: Any = START) -> Iterator[World]:
    with virtual(app, start, database=url) as world:
        yield world


def seen(runs: list[Run]) -> list[tuple[str, Any]]:
    return [(str(run.status), run.reason or run.result) for run in runs]


class Listing:
    """An executor of some targets, which must not be asked for others."""

    def __init__(self, *targets: str) -> None:
        self._targets = targets

    def targets(self) -> list[str]:
        return list(self._targets)

    def room(self, target: str) -> int | None:
        assert target in self._targets or self._targets[0].endswith(":*")
        return None

    def on_unknown(self, target: str) -> OnUnknown:
        assert target in self._targets or self._targets[0].endswith(":*")
        return OnUnknown.REDELIVER

    def close(self) -> None: ...

    def run(self, request: Request) -> Execution:
        async def work() -> Final:
            return Final(result='"mine"')

        assert self.room(request.target) is None
        return performed(work)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("python:nope", "nobody here runs python:nope: register it in a program that works on this database, or give"),
        ("langgraph:nope", "nobody here runs langgraph:nope: register it"),
        ("http:nope", "nobody here runs http:nope: register it"),
        ("mine:b", "nobody here runs mine:b: register it"),
        (
            "nosuchprovider:x",
            "nobody here runs nosuchprovider:x: there is no provider 'nosuchprovider',"
            " only dag, http, langgraph, mine, python; add it, or give the schedule another target",
        ),
    ],
)
def test_a_target_that_nobody_has_registered_is_not_found_and_its_schedule_goes_on(
    target: str, words: str, database_url: str
) -> None:
    app = a_program("one", "job")
    app.provider("mine", Listing("mine:a"))
    app.schedule("orphan", every="5m", retry=3)(target)
    with at_work(app, database_url) as world:
        world.advance(minutes=11)
        assert timeline(world, "orphan") == ["12:05 error not_found 12:05-12:05", "12:10 error not_found 12:10-12:10"]
        assert words in (world.runs("orphan")[0].error or "")
        said = app.schedules.explain("orphan", at("12:05"))
        assert (said.verdict, said.reason) == ("failed", "not_found")
        assert words[:40] in said.sentence


def test_once_a_program_registers_it_the_schedule_succeeds(database_url: str) -> None:
    with at_work(a_program("one"), database_url) as world:
        world.app.schedules.create("orphan", target="late", every="5m", catchup="all")
        world.advance(minutes=6)
    with at_work(a_program("two", "late"), database_url, at("12:12")) as world:
        world.advance(minutes=4)
        assert seen(world.runs("orphan")) == [("error", "not_found"), ("success", "late"), ("success", "late")]


def test_a_graph_that_is_registered_while_its_program_is_at_work_is_found_from_then_on(database_url: str) -> None:
    with at_work(a_program("one", "job"), database_url) as world:
        world.app.schedules.create("orphan", target="late", every="5m")
        world.advance(minutes=6)
        world.app.graph("late")(lambda: "late")
        world.advance(minutes=5)
        assert seen(world.runs("orphan")) == [("error", "not_found"), ("success", "late")]


def test_a_trigger_and_a_backfill_of_an_orphan_are_not_found(database_url: str) -> None:
    with at_work(a_program("one", "job"), database_url) as world:
        world.app.schedules.create("orphan", target="nope", cron="0 0 * * *")
        triggered = world.app.schedules.trigger("orphan")
        world.advance(minutes=1)
        assert seen([world.app.runs.get(triggered.id)]) == [("error", "not_found")]
        world.app.schedules.backfill("orphan", at("12T00:00"), at("14T00:00"), which="all")
        world.advance(minutes=1)
        assert seen(world.runs("orphan", kind="backfill")) == [("error", "not_found")] * 3


def test_an_edit_to_a_target_that_nobody_has_is_noticed_at_once(database_url: str) -> None:
    with at_work(a_program("one", "job"), database_url) as world:
        world.app.schedules.create("digest", target="job", every="5m")
        world.advance(minutes=6)
        world.app.schedules.patch("digest", target="nope")
        world.advance(minutes=5)
        world.app.schedules.patch("digest", target="job")
        world.advance(minutes=5)
        assert seen(world.runs("digest")) == [("success", "job"), ("error", "not_found"), ("success", "job")]


def test_to_declare_registers_though_nobody_is_at_work(database_url: str) -> None:
    absent = Foliot(database_url, name="absent")
    absent.schedule("theirs", every="5m")(absent.graph("theirs")(lambda: "theirs"))
    absent.declare()
    absent.schedules.create("manual", target="theirs", manual=True)
    absent.schedules.create("far", target="python:theirs", cron="0 0 1 1 *", start_at="2100-01-01")
    absent.close()
    with at_work(a_program("present", "mine"), database_url) as world:
        world.app.schedules.create("mine", target="mine", every="5m")
        world.app.schedules.trigger("manual")
        world.advance(minutes=6)
        assert seen(world.runs("mine")) == [("success", "mine")]
        assert seen(world.runs("manual")) == [("pending", None)]


def test_two_programs_share_a_database_and_neither_takes_what_is_the_others(postgresql_url: str) -> None:
    with at_work(a_program("one", "a"), postgresql_url) as one, at_work(a_program("two", "b"), postgresql_url) as two:
        one.app.schedules.create("of-two", target="b", every="5m", catchup="all")
        two.app.schedules.create("of-one", target="a", every="5m", catchup="all")
        one.advance(minutes=11)
        assert seen(one.runs("of-one")) == [("success", "a")] * 2
        assert one.runs("of-two") == []
        two.advance(minutes=11)
        assert seen(two.runs("of-two")) == [("success", "b")] * 2
        assert len(two.runs("of-one")) == 2


def test_an_orphan_that_another_program_registers_is_left_to_it_from_that_moment(postgresql_url: str) -> None:
    with at_work(a_program("one", "a"), postgresql_url) as one:
        one.app.schedules.create("of-two", target="b", every="5m", catchup="all")
        one.advance_to(at("12:09:59"))
        with at_work(a_program("two", "b"), postgresql_url, at("12:09:59")) as two:
            # Its worker last looked before that, and the next slot is what wakes it.
            one.advance_to(at("12:16"))
            assert seen(one.runs("of-two")) == [("error", "not_found")]
            two.advance_to(at("12:16"))
            assert seen(two.runs("of-two")) == [("error", "not_found"), ("success", "b"), ("success", "b")]


def test_an_orphan_that_was_registered_meanwhile_is_left_alone_on_one_file_too(database_url: str) -> None:
    with at_work(a_program("one", "a"), database_url) as world:
        world.app.schedules.create("orphan", target="b", every="5m")
        world.advance(minutes=6)
        register_elsewhere(world, "python:b")
        world.advance(minutes=5)
        assert seen(world.runs("orphan")) == [("error", "not_found")]


def test_of_a_provider_that_a_program_has_as_a_whole_no_target_is_an_orphan(postgresql_url: str) -> None:
    one, two = a_program("one", "a"), a_program("two")
    two.provider("mine", Listing("mine:*"))
    with at_work(one, postgresql_url) as first, at_work(two, postgresql_url) as second:
        one.schedules.create("of-two", target="mine:whatever", every="5m", catchup="all")
        first.advance(minutes=6)
        assert first.runs("of-two") == []
        second.engine().poke()
        second.advance(minutes=6)
        assert seen(second.runs("of-two")) == [("success", "mine")]


def test_a_start_that_has_nothing_to_register_writes_nothing_about_targets(database_url: str) -> None:
    def changes(world: World) -> int:
        return world.app.parts.database.read(lambda tx: tx.news(0).targets)

    app = a_program("one", "a", "b")
    app.schedule("digest", every="5m")("python:a")
    with at_work(app, database_url) as world:
        first = changes(world)
    with at_work(app, database_url, at("13:00")) as world:
        world.app.schedules.create("another", target="b", every="5m")
        world.advance(minutes=6)
        assert changes(world) == first > 0
