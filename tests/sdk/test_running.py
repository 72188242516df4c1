"""The app inside a program with its own loop and a real clock, and what a run's code is handed."""

import asyncio
import tempfile
import threading
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from foliot import Cancelled, Context, Foliot, Invalid
from foliot.testing import virtual
from tests.sdk.worlds import START, at

TIMEOUT = 20


def test_an_app_works_beside_a_program_that_has_its_own_loop(database_url: str) -> None:
    app = Foliot(database_url)
    seen: list[Any] = []

    async def program() -> None:
        ran = asyncio.Event()

        @app.graph("greet")
        async def greet(input: Any, ctx: Context) -> str:
            seen.append(input)
            ran.set()
            return "hello"

        async with app:
            app.schedules.create("greet", manual=True)
            run = app.schedules.trigger("greet", input={"name": "Ada"})
            await asyncio.wait_for(ran.wait(), TIMEOUT)
        assert app.runs.get(run.id).result == "hello"

    asyncio.run(program())
    app.close()
    assert seen == [{"name": "Ada"}]


def test_a_slot_of_a_real_second_starts_by_itself_and_sync_functions_run_in_threads(database_url: str) -> None:
    app = Foliot(database_url)

    async def program() -> None:
        loop, ran = asyncio.get_running_loop(), asyncio.Event()
        threads: list[str] = []

        @app.schedule(every="1s")
        def tick(input: Any, ctx: Context) -> None:
            threads.append(threading.current_thread().name)
            loop.call_soon_threadsafe(ran.set)

        async with app:
            await asyncio.wait_for(ran.wait(), TIMEOUT)
        assert all(name.startswith("foliot-run") for name in threads)

    asyncio.run(program())
    assert app.runs.list("tick")[-1].status == "success"
    app.close()


def test_leaving_waits_for_what_runs(database_url: str) -> None:
    app = Foliot(database_url)

    async def program() -> None:
        began, may_end = asyncio.Event(), asyncio.Event()

        @app.graph("slow")
        async def slow() -> None:
            began.set()
            await may_end.wait()

        async with app:
            app.schedules.create("slow", manual=True)
            app.schedules.trigger("slow")
            await asyncio.wait_for(began.wait(), TIMEOUT)
            asyncio.get_running_loop().call_soon(may_end.set)

    asyncio.run(program())
    assert [run.status for run in app.runs.list("slow")] == ["success"]
    app.close()


def test_a_thread_finds_out_that_it_was_asked_to_stop(database_url: str) -> None:
    app = Foliot(database_url)

    async def program() -> None:
        loop, began, ended = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        goes_on = threading.Event()

        @app.graph("thread")
        def thread(input: Any, ctx: Context) -> None:
            loop.call_soon_threadsafe(began.set)
            try:
                while not goes_on.wait(0.01):
                    ctx.heartbeat({"step": 1})
            except Cancelled:
                loop.call_soon_threadsafe(ended.set)
                raise

        async with app:
            app.schedules.create("thread", manual=True)
            run = app.schedules.trigger("thread")
            await asyncio.wait_for(began.wait(), TIMEOUT)
            app.runs.cancel(run.id)
            await asyncio.wait_for(ended.wait(), TIMEOUT)
        assert app.runs.get(run.id).reason == "cancelled_by_user"

    asyncio.run(program())
    app.close()


def test_a_thread_that_cannot_be_stopped_is_abandoned_and_counted_and_the_new_run_starts() -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = Foliot(f"sqlite:///{folder}/a.db")
        may_end = threading.Event()
        asyncio.run(_terminate_a_thread(app, may_end))
        assert sorted(run.reason or run.status for run in app.runs.list("deaf")) == ["success", "terminated"]
        app.close()


async def _terminate_a_thread(app: Foliot, may_end: threading.Event) -> None:
    loop, began = asyncio.get_running_loop(), asyncio.Queue[str]()

    @app.graph("deaf")
    def deaf(input: Any, ctx: Context) -> None:
        loop.call_soon_threadsafe(began.put_nowait, ctx.run_id)
        if input == "long":
            may_end.wait(TIMEOUT)

    async with app:
        assert app._embedded is not None
        hands = app._embedded[0]._hands
        app.schedules.create("deaf", manual=True, overlap="terminate_other")
        app.schedules.trigger("deaf", input="long")
        await asyncio.wait_for(began.get(), TIMEOUT)
        app.schedules.trigger("deaf")
        await asyncio.wait_for(began.get(), TIMEOUT)
        assert hands.abandoned == 1
        may_end.set()


def test_an_app_can_be_entered_again(database_url: str) -> None:
    app = Foliot(database_url)

    @app.schedule(manual=True)
    def job() -> None:
        """Nothing to do."""

    async def program() -> None:
        for _ in range(2):
            async with app:
                app.schedules.trigger("job")

    asyncio.run(program())
    assert len(app.runs.list("job")) == 2
    app.close()


def test_the_environment_names_the_database_unless_the_program_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FOLIOT_DATABASE", f"sqlite:///{tmp_path / 'env.db'}")
    app = Foliot()
    app.schedules.create("job", manual=True)
    app.close()
    assert (tmp_path / "env.db").exists()
    assert Foliot("sqlite:///other.db").url == "sqlite:///other.db"
    monkeypatch.delenv("FOLIOT_DATABASE")
    assert Foliot().url == "sqlite:///foliot.db"


def test_a_database_url_of_another_kind_is_refused_without_showing_a_password() -> None:
    app = Foliot("mysql://me:secret@host/name")
    assert app.shown_url == "mysql://host/name"
    with pytest.raises(Invalid, match=r"a database URL is sqlite:///file\.db or postgresql://host/name") as refusal:
        app.schedules.list()
    assert "secret" not in str(refusal.value)


def test_what_a_run_is_handed() -> None:
    app = Foliot("sqlite:///not-used.db")
    contexts: list[Context] = []

    @app.schedule(cron="5 * * * *", labels={"team": "mail"}, retry=2)
    async def job(input: Any, ctx: Context) -> dict[str, int]:
        contexts.append(ctx)
        ctx.log.info("at work")
        ctx.heartbeat({"done": len(contexts)})
        if len(contexts) == 1:
            raise RuntimeError("once")
        return {"n": len(contexts)}

    with virtual(app, START) as world:
        world.advance_to(at("13:06"))
        first, second, third = contexts
        assert (first.run_id, second.run_id) == ("job:2026-11-15T12:05:00Z~1", "job:2026-11-15T12:05:00Z~2")
        assert first.idempotency_key == second.idempotency_key == "job:2026-11-15T12:05:00Z"
        assert (first.schedule, first.attempt, second.attempt, dict(first.labels)) == ("job", 1, 2, {"team": "mail"})
        with pytest.raises(TypeError):
            first.labels["team"] = "another"  # type: ignore[index]
        assert first.scheduled_for == second.scheduled_for == at("12:05")
        assert first.scheduled_for.tzinfo is UTC
        assert second.due_at > first.due_at == at("12:05")
        assert (second.last_result, second.last_failure) == (None, None), "a chain is judged at its end"
        assert (third.last_result, third.last_failure) == ({"n": 2}, None)
        assert not first.cancelled


def test_progress_must_be_json() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.schedule(cron="5 12 * * *")
    def job(input: Any, ctx: Context) -> None:
        ctx.heartbeat(object())

    with virtual(app, START) as world:
        world.advance_to(at("12:06"))
        (run,) = world.runs("job")
        assert (run.status, run.reason) == ("error", "invalid_request")
        assert run.error is not None
        assert "progress takes what JSON can say" in run.error


def test_a_world_is_apart_from_the_apps_own_database(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'own.db'}")

    @app.schedule(every="5m")
    def job() -> None:
        """Nothing to do."""

    with virtual(app, START) as world:
        world.advance(minutes=6)
        assert len(world.runs("job")) == 1
    assert not (tmp_path / "own.db").exists()
    with pytest.raises(Invalid, match="several workers need PostgreSQL"), virtual(app, START, workers=2):
        pass
    assert not app.functions.is_inline


def test_every_run_has_a_trace_that_follows_from_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Foliot("sqlite:///not-used.db")
    seen: list[str] = []

    @app.schedule("job", every="5m")
    async def job(input: Any, ctx: Context) -> None:
        seen.append(ctx.trace_id)

    with virtual(app, START) as world:
        world.advance(minutes=10)
        runs = world.runs("job")
        assert [run.trace_id for run in runs] == seen
        assert len({*seen}) == 2
        assert all(len(trace) == 32 and int(trace, 16) for trace in seen)
        assert app.trace_url(runs[0].id) is None
        monkeypatch.setenv("FOLIOT_TRACE_URL", "https://traces.example/{trace_id}")
        assert app.trace_url(runs[0].id) == f"https://traces.example/{seen[0]}"
        monkeypatch.setenv("FOLIOT_TRACE_URL", "https://traces.example/")
        with pytest.raises(Invalid, match=r"takes an address with \{trace_id\} in it"):
            app.trace_url(runs[0].id)
