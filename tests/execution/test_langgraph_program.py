"""`app.langgraph`: graphs by value, by function and by path, in earnest, in virtual worlds, and without the package."""

import asyncio
import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import StateGraph

from foliot import Conflict, Foliot, Invalid, NotFound
from foliot.domain.credits import Model, Pricing
from foliot.testing import virtual
from tests.execution.graphs import a_graph, a_line, a_talk
from tests.sdk.worlds import START as NOON


class Steps(TypedDict):
    done: Annotated[list[str], add]


def work(state: Steps) -> dict[str, Any]:
    return {"done": ["work"]}


def a_builder() -> StateGraph[Any]:
    return a_graph(Steps, work=work)


async def a_graph_that_takes_a_moment() -> StateGraph[Any]:
    await asyncio.sleep(0)
    return a_builder()


BUILDER = a_builder()
COMPILED = a_builder().compile()
NO_GRAPH = 7
HERE = __name__


def an_app(**options: Any) -> Foliot:
    return Foliot("sqlite:///not-used.db", **options)


def what_became_of(graph: Any, **options: Any) -> Any:
    """The one run of a schedule of the graph, in a virtual world."""
    app = an_app()
    app.schedule("digest", at="2026-11-15T12:01:00Z", input={})(app.langgraph("agent", graph, **options))
    with virtual(app, NOON) as world:
        world.advance(minutes=2)
        (run,) = world.runs("digest")
        return run


@pytest.mark.parametrize(
    "graph",
    [
        BUILDER,
        COMPILED,
        a_builder,
        a_graph_that_takes_a_moment,
        f"{HERE}:BUILDER",
        f"{HERE}:COMPILED",
        f"{HERE}:a_builder",
    ],
    ids=["builder", "compiled", "function", "async function", "path", "path of compiled", "path of function"],
)
def test_a_graph_is_given_by_value_by_function_or_by_path(graph: Any) -> None:
    run = what_became_of(graph)
    assert (run.status, run.result, run.error) == ("success", {"done": ["work"]}, None)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no_such_package.graphs:agent", "there is no module 'no_such_package'"),
        (f"{HERE}.deeper:agent", f"there is no module '{HERE}.deeper'"),
        (f"{HERE}:agent", f"there is no 'agent' in '{HERE}'"),
    ],
)
def test_a_path_that_leads_nowhere_is_not_found_by_the_run(path: str, words: str) -> None:
    run = what_became_of(path)
    assert (run.status, run.reason) == ("error", "not_found")
    assert words in run.error


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    assert what_became_of(f"{HERE}:NO_GRAPH").reason == "invalid_request"
    for graph in (7, "no path", "a.b", ":c", None):
        with pytest.raises(Invalid, match="graph"):
            an_app().langgraph("agent", graph)


def test_a_name_is_for_one_graph() -> None:
    app = an_app()
    assert app.langgraph("agent", BUILDER) == app.langgraph("agent", BUILDER) == "langgraph:agent"
    with pytest.raises(Invalid, match="rename one"):
        app.langgraph("agent", COMPILED)


def test_a_schedule_of_a_target_has_the_name_of_its_graph_unless_it_is_given_one() -> None:
    app = an_app()
    agent = app.langgraph("agent", BUILDER)
    app.schedule(every="1h")(agent)
    app.schedule("hourly", every="1h")(agent)
    with virtual(app, NOON):
        assert [(s.id, s.target) for s in app.schedules.list()] == [
            ("agent", "langgraph:agent"),
            ("hourly", "langgraph:agent"),
        ]


def test_async_nodes_sleep_in_virtual_time_and_sync_ones_take_none() -> None:
    async def nap(state: Steps) -> dict[str, Any]:
        await asyncio.sleep(600)
        return {"done": ["nap"]}

    app = an_app()
    app.schedule("digest", every="1h", input={})(app.langgraph("agent", a_graph(Steps, nap=nap, work=work)))
    with virtual(app, NOON) as world:
        world.advance(minutes=65)
        assert [run.status for run in world.runs("digest")] == ["running"]
        world.advance(minutes=10)
        (run,) = world.runs("digest")
        assert (run.status, run.result) == ("success", {"done": ["nap", "work"]})
        assert run.started_at is not None
        assert run.ended_at == run.started_at + timedelta(minutes=10)


def test_a_worker_of_a_virtual_world_that_is_killed_is_followed_by_one_that_goes_on() -> None:
    done: list[str] = []

    def first(state: Steps) -> dict[str, Any]:
        done.append("first")
        return {"done": ["first"]}

    async def second(state: Steps) -> dict[str, Any]:
        await asyncio.sleep(60)
        done.append("second")
        return {"done": ["second"]}

    app = an_app()
    app.schedule("digest", every="1h", input={})(app.langgraph("agent", a_graph(Steps, first=first, second=second)))
    with virtual(app, NOON) as world:
        world.advance(minutes=60, seconds=30)
        world.kill()
        world.restart()
        world.advance(minutes=5)
        (run,) = world.runs("digest")
        assert (run.status, run.result) == ("success", {"done": ["first", "second"]})
    assert done == ["first", "second"]


def test_a_world_knows_nothing_of_the_threads_of_another_and_the_app_gets_its_own_back() -> None:
    app = an_app()
    app.schedule("digest", every="1h", input={})(app.langgraph("agent", BUILDER, thread="schedule"))
    before = app.executors["langgraph"].checkpoints  # type: ignore[attr-defined]
    for _ in range(2):
        with virtual(app, NOON) as world:
            world.advance(minutes=61)
            assert world.runs("digest")[0].result == {"done": ["work"]}
    assert app.executors["langgraph"].checkpoints is before  # type: ignore[attr-defined]


def test_the_conversation_of_a_schedule_goes_on_when_its_user_makes_it_again_and_nobody_else_can() -> None:
    app = an_app()
    app.langgraph("agent", a_builder, thread="schedule")
    with virtual(app, NOON) as world:
        for said in (["work"], ["work", "work"]):
            app.schedules.create("diary", target="langgraph:agent", every="1h", user="ann", input={})
            world.advance(minutes=61)
            assert world.runs("diary")[-1].result == {"done": said}
            app.schedules.delete("diary")
            with pytest.raises(Conflict, match="a deleted schedule of ann"):
                app.schedules.create("diary", target="langgraph:agent", every="1h", user="bob", input={})


def test_what_models_used_is_charged_when_the_run_is_over_and_bounded_by_the_limits_of_a_run() -> None:
    app = an_app(pricing=Pricing({"scripted-1": Model("scripted-1", is_free=False)}))
    agent = app.langgraph("agent", lambda: a_talk(a_line("one", 40, id="one"), a_line("two", 90, id="two")))
    app.schedule("digest", every="1h", input="hello", max_tokens=50)(agent)
    with virtual(app, NOON) as world:
        world.advance(minutes=121)
        first, second = world.runs("digest")
        assert (first.status, second.status, second.reason) == ("success", "error", "run_limit")
        assert [(r.unit, r.tokens) for r in app.runs.receipts(first.id)] == [("one", 40)]
        assert [(r.unit, r.tokens) for r in app.runs.receipts(second.id)] == [("two", 90)]


def test_who_calls_a_run_as_somebody_else_does_is_told_and_charged_nothing_of_theirs(tmp_path: Path) -> None:
    price = Model("scripted-1", is_free=False, usd_per_token=Decimal("0.000001"))
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}", pricing=Pricing({"scripted-1": price}, markup=Decimal(1)))
    app.langgraph("agent", a_talk(a_line("ann's", 100, id="one"), a_line("bob's", 7, id="two")))
    told = {}
    for user, attempt in (("ann", 1), ("bob", 2)):
        grant = app.grants.create("graph:execute:langgraph:*", user=user).id
        asked = app.execute("langgraph:agent", "hello", key=user, grant=grant, run_id="order-7", attempt=attempt)
        executed = asyncio.run(asked)
        told[user] = executed.result["messages"][-1]["content"]
    assert told == {"ann": "ann's", "bob": "bob's"}
    assert {user: -app.accounts.get(user).balance for user in told} == {"ann": 1000, "bob": 70}
    app.close()


def test_the_package_is_imported_by_nobody_who_does_not_run_a_graph_of_it() -> None:
    program = """
import sys
from foliot import Foliot
import foliot.testing
app = Foliot("sqlite:///not-used.db")
app.langgraph("agent", "some.module:graph")
with foliot.testing.virtual(app, "2026-11-15T12:00:00Z"):
    pass
assert not {name for name in sys.modules if name.startswith(("langgraph", "langchain"))} - {"langgraph"}
"""
    # The empty name is that of a namespace: nothing of the package has been read.
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_the_package_a_graph_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "langgraph"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotFound, match=r"pip install 'foliot\[langgraph\]'"):
        an_app().langgraph("agent", "some.module:graph")


def test_a_package_that_is_only_half_there_is_not_found_by_the_run() -> None:
    program = """
import sys
from foliot import Foliot
from foliot.testing import virtual
app = Foliot("sqlite:///not-used.db")
app.schedule("digest", every="1h")(app.langgraph("agent", "some.module:graph"))
sys.modules["langchain_core"] = None
with virtual(app, "2026-11-15T12:30:00Z") as world:
    world.advance(minutes=31)
    (run,) = world.runs()
    assert (run.status, run.reason) == ("error", "not_found"), run
    assert "pip install 'foliot[langgraph]'" in run.error, run.error
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_program_in_earnest_leaves_nothing_open_when_it_ends(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'foliot.db'}")
    app.schedule("digest", manual=True, input="hello")(app.langgraph("agent", a_talk(a_line("hi", id="hi"))))

    async def main() -> Any:
        async with app:
            run = app.schedules.trigger("digest")
            while app.runs.get(run.id).status != "success":
                await asyncio.sleep(0.01)
            return app.runs.get(run.id).result

    assert asyncio.run(main())["messages"][-1] == {"role": "assistant", "content": "hi"}
    assert not list(tmp_path.glob("*-wal"))
