"""A run of a LangGraph graph goes on where it was cut off, waits where it asked, and takes an answer once."""

import asyncio
import json
from decimal import Decimal
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

from foliot import Invalid
from foliot.domain.events import DONE, AssistantFinal, ErrorCode, TextDelta
from foliot.domain.questions import AtExpiry, Question, Verdict
from foliot.executors.langgraph import LangGraphExecutor
from foliot.ports import Outside
from tests.builders import HOUR, NOON
from tests.databases import PostgresqlServer
from tests.execution.graphs import HELLO, Delivered, Stage, a_graph, a_line, a_request, a_talk, answered, deliver


@pytest.fixture(scope="module")
def one_database(request: pytest.FixtureRequest) -> str:
    """A server is slow to let go of many."""
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    return server.new_database()


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where no thread has begun; on SQLite and on PostgreSQL."""
    if database_kind == "sqlite":
        return f"sqlite:///{tmp_path / 'foliot.db'}"
    url: str = request.getfixturevalue("one_database")
    with psycopg.connect(url) as cx:
        cx.execute("DROP TABLE IF EXISTS checkpoints, checkpoint_blobs, checkpoint_writes, checkpoint_migrations")
    return url


class Steps(TypedDict):
    done: Annotated[list[str], add]


class Cut(BaseException):
    """The worker dies here: nothing after it happens."""


class Effects:
    """What the nodes of a graph have done, and where the next delivery is cut off."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.dies_in: str | None = None
        self.replies: list[Any] = []

    def node(self, name: str) -> Any:
        async def work(state: Steps) -> dict[str, Any]:
            if self.dies_in == name:
                self.dies_in = None
                raise Cut
            self.done.append(name)
            return {"done": [name]}

        return work

    def ask(self, value: Any) -> Any:
        def ask(state: Steps) -> dict[str, Any]:
            self.done.append("asks")
            reply = interrupt(value)
            self.replies.append(reply)
            return {"done": [str(reply["verdict"])]}

        return ask


def result(told: Delivered) -> Any:
    assert told.final.error is None, told.final.words
    return json.loads(told.final.result or "null")


def cut_off(stage: Stage, **request: Any) -> None:
    """A delivery that ends in the death of its worker: nobody hears what it came to."""

    async def main() -> None:
        executor = stage.executor()
        with pytest.raises(Cut):
            async for _ in executor._told(a_request("langgraph:agent", "{}", **request)):
                pass

    asyncio.run(main())


def test_a_run_that_was_cut_off_goes_on_after_the_last_node_that_had_ended(database_url: str) -> None:
    effects = Effects()
    effects.dies_in = "second"
    stage = Stage(database_url, a_graph(Steps, first=effects.node("first"), second=effects.node("second")))
    cut_off(stage)
    assert effects.done == ["first"]
    assert result(stage.run("{}")) == {"done": ["first", "second"]}
    assert effects.done == ["first", "second"]


def test_a_run_that_was_cut_off_between_the_end_of_a_node_and_its_checkpoint_is_not_taken_for_ended() -> None:
    class Mortal(InMemorySaver):
        dies_at_step = 1

        async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            if metadata["step"] == self.dies_at_step:
                self.dies_at_step = 0
                raise Cut
            return await super().aput(config, checkpoint, metadata, new_versions)

    effects = Effects()
    nodes = {name: effects.node(name) for name in ("first", "second")}
    stage = Stage("sqlite:///not-used.db", a_graph(Steps, **nodes).compile(checkpointer=Mortal()))
    cut_off(stage)
    assert result(stage.run("{}")) == {"done": ["first", "second"]}
    assert effects.done == ["first", "second"]


def test_a_run_that_had_ended_before_anybody_heard_is_answered_without_being_executed_again(database_url: str) -> None:
    effects = Effects()
    stage = Stage(database_url, a_graph(Steps, first=effects.node("first")))
    assert result(stage.run("{}")) == result(stage.run("{}")) == {"done": ["first"]}
    assert effects.done == ["first"]


def test_a_retry_begins_anew(database_url: str) -> None:
    effects = Effects()
    effects.dies_in = "second"
    stage = Stage(database_url, a_graph(Steps, first=effects.node("first"), second=effects.node("second")))
    cut_off(stage)
    assert result(stage.run("{}", attempt=2)) == {"done": ["first", "second"]}
    assert effects.done == ["first", "first", "second"]


def test_what_was_used_before_the_worker_died_is_billed_by_the_delivery_that_goes_on(database_url: str) -> None:
    effects = Effects()
    effects.dies_in = "second"

    async def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [a_line("a thought", 7, id="thought")]}

    async def second(state: MessagesState) -> None:
        await effects.node("second")({"done": []})

    stage = Stage(database_url, a_graph(MessagesState, say=say, second=second))
    cut_off(stage)
    told = stage.run(HELLO)
    assert [(usage.unit, usage.tokens) for usage in told.usages] == [("thought", 7)]
    assert told.of(TextDelta) == []
    assert told.events[-2:] == [AssistantFinal("a thought"), DONE]


def test_each_slot_has_a_thread_of_its_own(database_url: str) -> None:
    stage = Stage(database_url, a_graph(Steps, first=Effects().node("first")))
    assert result(stage.run("{}")) == result(stage.run("{}", nominal_at=NOON + HOUR)) == {"done": ["first"]}


def test_a_schedule_may_have_one_thread_for_all_its_runs(database_url: str) -> None:
    stage = Stage(database_url, a_graph(Steps, first=Effects().node("first")), thread="schedule")
    stage.run("{}")
    assert result(stage.run("{}", nominal_at=NOON + HOUR)) == {"done": ["first", "first"]}


def test_in_a_shared_thread_a_run_does_not_take_the_place_of_an_older_one_for_its_own(database_url: str) -> None:
    effects = Effects()
    effects.dies_in = "second"
    nodes = {name: effects.node(name) for name in ("first", "second")}
    stage = Stage(database_url, a_graph(Steps, **nodes), thread="schedule")
    cut_off(stage)
    stage.run("{}", nominal_at=NOON + HOUR)
    assert effects.done == ["first", "first", "second"]


def test_in_a_shared_thread_a_run_pays_for_itself_alone(database_url: str) -> None:
    lines = [a_line("one", 5, id="one"), a_line("two", 6, id="two")]
    stage = Stage(database_url, a_talk(*lines), thread="schedule")
    assert [usage.unit for usage in stage.run(HELLO).usages] == ["one"]
    assert [usage.unit for usage in stage.run(HELLO, nominal_at=NOON + HOUR).usages] == ["two"]
    assert [usage.unit for usage in stage.run(HELLO, nominal_at=NOON + HOUR).usages] == ["two"]


@pytest.mark.parametrize("thread", ["slot", "schedule"])
def test_each_request_from_outside_has_a_thread_of_its_own_whatever_its_caller_calls_the_run(
    database_url: str, thread: str
) -> None:
    effects = Effects()
    stage = Stage(database_url, a_graph(Steps, first=effects.node("first")), thread=thread)
    for key in ("k1", "k2", "k1"):
        assert result(stage.run("{}", outside=Outside("order-7", key))) == {"done": ["first"]}
    # The third is the first once more, which had ended.
    assert effects.done == ["first", "first"]


def test_checkpoints_are_beside_the_database_for_its_owner_alone_and_never_in_its_file(tmp_path: Path) -> None:
    Stage(f"sqlite:///{tmp_path / 'foliot.db'}", a_graph(Steps, first=Effects().node("first"))).run("{}")
    (found,) = tmp_path.iterdir()
    assert (found.name, found.stat().st_mode & 0o777) == ("foliot.db.langgraph", 0o600)


def test_workers_that_begin_at_once_create_the_tables_once(database_url: str) -> None:
    async def main() -> list[ErrorCode | None]:
        executors = [LangGraphExecutor(database_url) for _ in range(6)]
        for executor in executors:
            executor.register("agent", a_graph(Steps, first=Effects().node("first")))
        runs = [
            deliver(executor, a_request("langgraph:agent", "{}", nominal_at=number * HOUR))
            for number, executor in enumerate(executors, 1)
        ]
        return [told.final.error for told in await asyncio.gather(*runs)]

    assert asyncio.run(main()) == [None] * 6


def test_a_graph_with_a_checkpointer_of_its_own_keeps_it(tmp_path: Path) -> None:
    saver = InMemorySaver()
    graph = a_graph(Steps, first=Effects().node("first")).compile(checkpointer=saver)
    Stage(f"sqlite:///{tmp_path / 'foliot.db'}", graph).run("{}")
    assert list(tmp_path.iterdir()) == []
    assert saver.get({"configurable": {"thread_id": "digest:2026-11-15T12:00:00Z~1"}}) is not None


def test_a_database_that_is_away_makes_the_run_unavailable(tmp_path: Path) -> None:
    told = Stage(f"sqlite:///{tmp_path / 'nowhere' / 'foliot.db'}", a_graph(Steps, a=Effects().node("a"))).run("{}")
    assert told.final.error is ErrorCode.PROVIDER_UNAVAILABLE
    assert "checkpoints" in (told.final.words or "")


def test_a_connection_that_was_cut_off_is_not_lent_again(one_database: str) -> None:
    # Slots that no other test of this database has: a thread that is at its end would not run its nodes.
    url = one_database

    async def main() -> list[ErrorCode | None]:
        executor = LangGraphExecutor(url)
        cut, go = asyncio.Event(), asyncio.Event()

        async def wait(state: Steps) -> None:
            cut.set()
            await go.wait()

        executor.register("agent", a_graph(Steps, wait=wait))
        executor.register("other", a_graph(Steps, first=Effects().node("first")))
        first = asyncio.get_running_loop().create_task(
            deliver(executor, a_request("langgraph:agent", "{}", nominal_at=1000 * HOUR))
        )
        await cut.wait()
        with psycopg.connect(url, autocommit=True) as cx:
            cx.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%langgraph'"
            )
        go.set()
        codes = [(await first).final.error]
        again = [deliver(executor, a_request("langgraph:other", "{}", nominal_at=n * HOUR)) for n in (1001, 1002)]
        return codes + [told.final.error for told in await asyncio.gather(*again)]

    codes = asyncio.run(main())
    assert codes[0] is not None
    assert codes[1:] == [None, None]


def test_an_interrupt_is_a_question(database_url: str) -> None:
    effects = Effects()
    value = {"kind": "publish", "draft": "hello"}
    graph = a_graph(Steps, first=effects.node("first"), ask=effects.ask(value))
    told = Stage(database_url, graph, who=["ann"], expires_in="2h", at_expiry="fail").run("{}")
    question = told.final.question
    assert question is not None
    assert question._replace(reference=None) == Question(
        "publish", '{"draft":"hello","kind":"publish"}', ("ann",), 2 * HOUR, AtExpiry.FAIL
    )
    assert (told.final.error, told.final.result, told.events[-1]) == (None, None, DONE)


@pytest.mark.parametrize(("value", "data"), [("sure?", '"sure?"'), ({"n": 1}, '{"n":1}'), (None, None)])
def test_a_question_without_a_kind_asks_for_approval(tmp_path: Path, value: Any, data: str | None) -> None:
    question = (
        Stage(f"sqlite:///{tmp_path / 'x.db'}", a_graph(Steps, ask=Effects().ask(value))).run("{}").final.question
    )
    assert question is not None
    assert (question.kind, question.data) == ("approval", data)


@pytest.mark.parametrize(
    ("verdict", "feedback", "heard"),
    [
        (Verdict.APPROVE, None, {"verdict": "approve", "feedback": None, "by": "ann"}),
        (Verdict.REVISE, '{"tone":"kinder"}', {"verdict": "revise", "feedback": {"tone": "kinder"}, "by": "ann"}),
    ],
)
def test_an_answer_is_what_interrupt_returns_and_the_graph_goes_on(
    database_url: str, verdict: Verdict, feedback: str | None, heard: dict[str, Any]
) -> None:
    effects = Effects()
    graph = a_graph(Steps, first=effects.node("first"), ask=effects.ask("sure?"), last=effects.node("last"))
    stage = Stage(database_url, graph)
    asked = stage.run("{}")
    told = stage.run("{}", answer=answered(asked.final, verdict, feedback))
    assert effects.replies == [heard]
    assert result(told) == {"done": ["first", str(verdict), "last"]}
    assert effects.done == ["first", "asks", "asks", "last"]


def test_a_run_that_had_asked_before_anybody_heard_asks_again_without_being_executed(database_url: str) -> None:
    effects = Effects()
    stage = Stage(database_url, a_graph(Steps, ask=effects.ask("sure?")))
    assert stage.run("{}").final == stage.run("{}").final
    assert effects.done == ["asks"]


def test_an_answer_is_not_given_twice_when_the_worker_dies_after_it_was_taken(database_url: str) -> None:
    effects = Effects()
    graph = a_graph(Steps, ask=effects.ask("sure?"), last=effects.node("last"))
    stage = Stage(database_url, graph)
    answer = answered(stage.run("{}").final)
    effects.dies_in = "last"
    cut_off(stage, answer=answer)
    assert result(stage.run("{}", answer=answer)) == {"done": ["approve", "last"]}
    assert len(effects.replies) == 1


def test_an_answer_that_was_not_yet_taken_is_given_again(database_url: str) -> None:
    effects = Effects()

    async def ask(state: Steps) -> dict[str, Any]:
        reply = interrupt("sure?")
        await effects.node("after the reply")(state)
        return {"done": [reply["by"]]}

    stage = Stage(database_url, a_graph(Steps, ask=ask))
    answer = answered(stage.run("{}").final)
    effects.dies_in = "after the reply"
    cut_off(stage, answer=answer)
    assert result(stage.run("{}", answer=answer)) == {"done": ["ann"]}


def test_the_answer_to_one_question_does_not_answer_the_next(database_url: str) -> None:
    effects = Effects()
    stage = Stage(database_url, a_graph(Steps, one=effects.ask("one?"), two=effects.ask("two?")))
    first = stage.run("{}")
    answer = answered(first.final)
    second = stage.run("{}", answer=answer)
    assert second.final.question is not None
    assert second.final.question.data == '"two?"'
    assert stage.run("{}", answer=answer).final == second.final
    assert result(stage.run("{}", answer=answered(second.final, Verdict.REVISE))) == {"done": ["approve", "revise"]}


def test_two_questions_of_one_node_are_asked_one_after_the_other(database_url: str) -> None:
    def ask(state: Steps) -> dict[str, Any]:
        return {"done": [interrupt("one?")["by"], interrupt("two?")["by"]]}

    stage = Stage(database_url, a_graph(Steps, ask=ask))
    first = stage.run("{}").final
    second = stage.run("{}", answer=answered(first, by="ann")).final
    assert [final.question and final.question.data for final in (first, second)] == ['"one?"', '"two?"']
    assert result(stage.run("{}", answer=answered(second, by="bob"))) == {"done": ["ann", "bob"]}


def test_questions_at_the_same_time_are_one_question_and_all_are_answered(database_url: str) -> None:
    effects = Effects()
    graph: StateGraph[Any] = StateGraph(Steps)
    for name in ("left", "right"):
        graph.add_node(name, effects.ask({"kind": "publish", "side": name}))
        graph.add_edge(START, name)
    stage = Stage(database_url, graph)
    asked = stage.run("{}")
    assert asked.final.question is not None
    assert asked.final.question.kind == "publish"
    data = json.loads(asked.final.question.data or "")
    assert sorted(value["side"] for value in data.values()) == ["left", "right"]
    assert sorted(data) == json.loads(asked.final.question.reference or "")["interrupts"]
    assert result(stage.run("{}", answer=answered(asked.final))) == {"done": ["approve", "approve"]}


def test_a_subgraph_may_ask_too(database_url: str) -> None:
    effects = Effects()
    inner = a_graph(Steps, ask=effects.ask("sure?")).compile()
    stage = Stage(database_url, a_graph(Steps, inner=inner))
    asked = stage.run("{}")
    assert asked.final.question is not None
    assert result(stage.run("{}", answer=answered(asked.final))) == {"done": ["approve"]}


@pytest.mark.parametrize("where", [{"interrupt_before": ["second"]}, {"interrupt_after": ["first"]}])
def test_a_breakpoint_is_a_question_and_no_death_of_a_worker_opens_it(database_url: str, where: Any) -> None:
    effects = Effects()
    graph = a_graph(Steps, first=effects.node("first"), second=effects.node("second")).compile(**where)
    stage = Stage(database_url, graph)
    asked = stage.run("{}")
    assert asked.final.question is not None
    assert asked.final.question.data == '{"before":["second"]}'
    assert stage.run("{}").final == asked.final
    effects.dies_in = "second"
    cut_off(stage, answer=answered(asked.final))
    assert result(stage.run("{}", answer=answered(asked.final))) == {"done": ["first", "second"]}
    assert effects.done == ["first", "second"]


def test_what_is_to_be_judged_may_be_anything_that_a_person_can_read(tmp_path: Path) -> None:
    stage = Stage(f"sqlite:///{tmp_path / 'x.db'}", a_graph(Steps, ask=Effects().ask(Decimal("9.99"))))
    question = stage.run("{}").final.question
    assert question is not None
    assert question.data == "\"Decimal('9.99')\""


def test_a_question_that_is_too_long_is_refused(tmp_path: Path) -> None:
    final = Stage(f"sqlite:///{tmp_path / 'x.db'}", a_graph(Steps, ask=Effects().ask("x" * 300_000))).run("{}").final
    assert final.error is ErrorCode.INVALID_REQUEST
    assert "a question takes at most" in (final.words or "")


def test_the_text_of_an_earlier_delivery_is_not_said_again(database_url: str) -> None:
    class Talk(TypedDict):
        messages: Annotated[list[BaseMessage], add_messages]

    def say(state: Talk) -> dict[str, Any]:
        return {"messages": [a_line("a draft", 7, id="draft")]}

    def ask(state: Talk) -> dict[str, Any]:
        interrupt("sure?")
        return {"messages": [a_line("sent", 8, id="sent")]}

    stage = Stage(database_url, a_graph(Talk, say=say, ask=ask))
    asked = stage.run(HELLO)
    assert [usage.unit for usage in asked.usages] == ["draft"]
    told = stage.run(HELLO, answer=answered(asked.final))
    assert told.of(TextDelta) == [TextDelta("sent")]
    assert [usage.unit for usage in told.usages] == ["draft", "sent"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thread": "run"}, "thread takes 'slot', 'schedule', got 'run'"),
        ({"recursion_limit": 0}, "recursion_limit takes a number of steps from 1, got 0"),
        ({"callbacks": 5}, "callbacks takes a list of LangChain's callback handlers, got 5"),
        ({"callbacks": "log"}, "callbacks takes a list of LangChain's callback handlers, got 'log'"),
        ({"at_expiry": "shrug"}, "at_expiry takes"),
        ({"who": "ann"}, "who takes a list of users"),
        ({"expires_in": "0s"}, "expires_in takes more than 0"),
    ],
)
def test_options_are_judged_when_the_graph_is_registered(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        LangGraphExecutor("sqlite:///x.db").register("agent", a_graph(Steps, a=Effects().node("a")), **options)
