"""Workflows of several users and callers: what one has done stands for nobody else."""

import asyncio
from typing import Any

import pytest

from foliot import ActionContext, Foliot, Invalid, NotFound, Refusal
from foliot.testing import virtual
from tests.dags import a_dag, act, manual, node
from tests.sdk.worlds import START

OUTPUT = node("end", "end", outputs={"whose": "{{ nodes.fetch.output }}"})


def a_document(key: str) -> dict[str, Any]:
    return a_dag([manual(), act("fetch", idempotency_key=key), OUTPUT], "start > fetch > end")


def an_app(url: str = "sqlite:///not-used.db") -> Foliot:
    app = Foliot(url)

    @app.action("fetch")
    async def fetch(input: Any, ctx: ActionContext) -> str:
        return f"{ctx.run.user}'s, for {ctx.run.idempotency_key}"

    return app


@pytest.fixture
def app(database_url: str) -> Any:
    app = an_app(database_url)
    yield app
    app.close()


def test_what_one_user_has_fetched_under_a_key_is_not_given_to_another() -> None:
    with virtual(an_app(), START) as world:
        world.app.workflows.deploy(a_document("{{ inputs.day }}"))
        for user in ("ann", "bob"):
            world.app.schedules.create(user, target="dag:flow", manual=True, user=user)
        for user in ("ann", "bob", "ann"):
            world.app.schedules.trigger(user, input={"inputs": {"day": "monday"}})
            world.advance(seconds=2)
        whose = {user: [run.result["outputs"]["whose"] for run in world.runs(user)] for user in ("ann", "bob")}
    assert [text.partition(",")[0] for text in whose["bob"]] == ["bob's"]
    assert whose["ann"][0] == whose["ann"][1]
    assert whose["ann"][0].startswith("ann's")


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_key_that_comes_to_nothing_is_no_key(nothing: str | None) -> None:
    with virtual(an_app(), START) as world:
        world.app.workflows.deploy(a_document("{{ inputs.day }}"))
        world.app.schedules.create("s", target="dag:flow", manual=True)
        for _ in range(2):
            world.app.schedules.trigger("s", input={"inputs": {"day": nothing}})
            world.advance(seconds=2)
        first, second = [run.result["outputs"]["whose"] for run in world.runs("s")]
    assert first != second


def test_a_key_that_cannot_be_written_down_is_an_error_of_its_node() -> None:
    with virtual(an_app(), START) as world:
        world.app.workflows.deploy(a_document("{{ inputs.day }}"))
        world.app.schedules.create("s", target="dag:flow", manual=True)
        world.app.schedules.trigger("s", input={"inputs": {"day": "caf\udce9"}})
        world.advance(seconds=2)
        (run,) = world.runs("s")
    assert (run.status, run.reason) == ("error", "invalid_request")
    assert (run.error or "").startswith("node 'fetch' failed: idempotency_key takes printable text")


@pytest.mark.parametrize("name", [5, None, "a\0b", "caf\udce9"])
def test_a_workflow_that_nothing_could_be_called_is_refused(app: Foliot, name: Any) -> None:
    for ask in (app.workflows.get, app.workflows.versions, app.workflows.nodes):
        with pytest.raises(Invalid, match="takes printable text"):
            ask(name)
    assert app.launcher.start(name, 1, "ann", START, "k").verdict == "never"


def test_a_version_that_is_no_number_is_refused(app: Foliot) -> None:
    with pytest.raises(Invalid, match="version takes a whole number"):
        app.workflows.get("flow", "x")  # type: ignore[arg-type]


def test_a_node_that_was_under_way_when_its_run_was_cancelled_is_shown_as_aborted() -> None:
    app = an_app()
    app.action("slow")(lambda: asyncio.sleep(600))
    with virtual(app, START) as world:
        app.workflows.deploy(a_dag([manual(), act("slow", timeout_ms=700_000)], "start > slow"))
        app.schedules.create("s", target="dag:flow", manual=True)
        run = app.schedules.trigger("s")
        world.advance(seconds=2)
        shown = [app.workflows.nodes(run.id)[1]]
        app.runs.cancel(run.id)
        world.advance(seconds=30)
        shown.append(app.workflows.nodes(run.id)[1])
    assert [(state.status, state.reason) for state in shown] == [("RUNNING", None), ("ERROR", "aborted")]


def test_a_document_of_another_user_is_not_deployed(app: Foliot) -> None:
    document = a_document("k") | {"user_id": "ann", "version": 7}
    for user in ("bob", "local"):
        with pytest.raises(Invalid, match=f"is of the user 'ann', and is deployed for '{user}': leave out its user_id"):
            app.workflows.deploy(document, user=user)
    assert app.workflows.deploy(document, user="ann").version == 1


def test_two_requests_about_what_they_call_the_same_run_have_each_its_own_nodes(app: Foliot) -> None:
    app.workflows.deploy(a_document("{{ inputs.day }}"))
    grants = {user: app.grants.create("graph:execute:dag:flow", user=user).id for user in ("ann", "eve")}

    async def ask(user: str, key: str) -> Any:
        given = {"inputs": {"day": key}}
        executed = await app.execute("dag:flow", given, key=key, grant=grants[user], run_id="job")
        return executed.result["outputs"]["whose"]

    told = [asyncio.run(ask(user, key)) for user, key in (("ann", "a"), ("eve", "e"), ("ann", "again"))]
    assert told == ["ann's, for a", "eve's, for e", "ann's, for again"]
    assert [state.node for state in app.workflows.nodes("job")] == ["start", "fetch", "end"] * 3


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"version": 9}, NotFound, "there is no workflow 'flow' in version 9: deploy it first"),
        ({"version": 2**70}, Invalid, "version takes a whole number from 1 to 1,000,000,000"),
        ({"trigger": "z"}, Invalid, "has the triggers 'start', got 'z'"),
        ([1], Invalid, "an object of version, trigger and inputs"),
    ],
)
def test_a_request_for_what_no_workflow_could_do_is_refused_and_leaves_no_key(
    app: Foliot, given: Any, kind: type[Refusal], words: str
) -> None:
    app.workflows.deploy(a_document("k"))
    with pytest.raises(kind, match=words):
        asyncio.run(app.execute("dag:flow", given, key="k1"))
    assert app.requests.list() == []


def test_a_request_for_a_workflow_that_is_not_there_is_executed_once_it_is(app: Foliot) -> None:
    with pytest.raises(NotFound, match="there is no workflow 'flow': deploy it first"):
        asyncio.run(app.execute("dag:flow", key="k1"))
    app.workflows.deploy(a_document("k"))
    assert asyncio.run(app.execute("dag:flow", key="k1")).ok
