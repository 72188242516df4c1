"""Two deliveries of one run at once: what was recorded first is what happened."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from foliot import ActionContext, Foliot
from foliot.domain.events import Event, Final, StatusNote
from foliot.domain.grants import Grant
from foliot.execution.context import Context
from foliot.execution.executing import Request
from foliot.ports import Control, Launch
from tests.builders import NOON
from tests.dags import a_dag, act, manual


@pytest.fixture
def app(database_url: str) -> Iterator[Foliot]:
    app = Foliot(database_url)
    yield app
    app.close()


def a_request(app: Foliot) -> Request:
    grant = Grant(1, "local", 1, frozenset(), None, None, None)
    launch = Launch(
        1,
        1,
        1,
        "once",
        "dag:flow",
        "manual",
        NOON,
        NOON,
        1,
        0,
        True,
        {},
        None,
        None,
        None,
        None,
        grant,
        0,
        None,
        None,
        None,
    )
    control = Control()
    return Request("dag:flow", None, Context(launch, control), control)


async def heard(app: Foliot) -> tuple[list[Event], Final]:
    execution = app.dags.run(a_request(app))
    events = [event async for event in execution.stream]
    return events, await execution.final


def deploy(app: Foliot, *actions: Callable[..., Any]) -> None:
    names = [action.__name__ for action in actions]
    for name, action in zip(names, actions, strict=True):
        app.action(name)(action)
    app.workflows.deploy(a_dag([manual(), *(act(name) for name in names)], " > ".join(["start", *names])))


def test_nodes_are_told_of_when_they_begin_and_end(app: Foliot) -> None:
    def a() -> None:
        """Nothing to do."""

    deploy(app, a)
    events, final = asyncio.run(heard(app))
    told = [event.text for event in events if isinstance(event, StatusNote)]
    assert (told, final.error) == (["node a RUNNING", "node a DONE"], None)


def test_of_two_deliveries_the_first_end_of_a_node_stands_and_both_go_on_from_it(app: Foliot) -> None:
    ends = iter(("first", "second"))

    async def a() -> str:
        end = next(ends)
        await asyncio.sleep(0.05 if end == "second" else 0.02)
        return end

    seen = []

    async def b(given: Any, ctx: ActionContext) -> None:
        seen.append((given, ctx.idempotency_key))
        await asyncio.sleep(0.1)

    app.action("a")(a)
    app.action("b")(b)
    nodes = [manual(), act("a", output_vars={"x": "output"}), act("b", input_template="{{ vars.x }}")]
    app.workflows.deploy(a_dag(nodes, "start > a > b"))

    async def twice() -> list[tuple[list[Event], Final]]:
        return list(await asyncio.gather(heard(app), heard(app)))

    finals = [final.result for _, final in asyncio.run(twice())]
    assert finals[0] == finals[1]
    assert {given for given, _ in seen} == {"first"}
    assert len({key for _, key in seen}) == 1


def test_a_run_that_is_over_is_not_run_again(app: Foliot) -> None:
    calls = []

    def a() -> None:
        calls.append(1)

    deploy(app, a)
    first, again = asyncio.run(heard(app)), asyncio.run(heard(app))
    assert (first[1], len(calls)) == (again[1], 1)


def test_threads_of_a_run_keep_it_from_being_interrupted_until_the_last_has_returned(app: Foliot) -> None:
    request = a_request(app)
    seen = []

    def a() -> None:
        seen.append(request.control.interruptible)

    async def b() -> None:
        seen.append(request.control.interruptible)

    deploy(app, a, b)

    async def main() -> None:
        async for _ in app.dags.run(request).stream:
            pass

    asyncio.run(main())
    app.functions.close()
    assert (seen, request.control.interruptible) == ([False, True], True)
