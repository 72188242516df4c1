"""What must not stop a worker, lose a run or spoil an app: code and input of any kind."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import Conflict, Context, Foliot, Invalid, Refusal
from foliot.testing import virtual
from tests.sdk.worlds import START, a_program


def a_single(function: Callable[..., Any], **options: Any) -> Foliot:
    """An app with one schedule of that function, every minute."""
    app = Foliot("sqlite:///not-used.db")
    app.graph("job")(function)
    app.schedule("job", **{"every": "1m"} | options)(function)
    return app


class Odd(BaseException):
    pass


async def raises_generator_exit(input: Any, ctx: Context) -> None:
    raise GeneratorExit


async def raises_keyboard_interrupt(input: Any, ctx: Context) -> None:
    raise KeyboardInterrupt


def raises_stop_iteration(input: Any, ctx: Context) -> Any:
    return next(iter([]))


def raises_an_odd_one(input: Any, ctx: Context) -> None:
    raise Odd


def exits(input: Any, ctx: Context) -> None:
    raise SystemExit(3)


def cannot_be_written_down(input: Any, ctx: Context) -> None:
    raise FileNotFoundError("\udcff\0")


HARD = (
    raises_generator_exit,
    raises_keyboard_interrupt,
    raises_stop_iteration,
    raises_an_odd_one,
    exits,
    cannot_be_written_down,
)


@pytest.mark.parametrize("function", HARD)
def test_whatever_its_code_raises_a_run_ends_in_error_and_the_schedule_goes_on(function: Callable[..., Any]) -> None:
    app = a_single(function)
    with virtual(app, START) as world:
        world.advance(minutes=3)
        assert [(run.status, run.reason) for run in world.runs("job")] == [("error", "internal")] * 3


@pytest.mark.parametrize("function", HARD)
def test_the_same_in_earnest_in_threads_and_on_the_loop(function: Callable[..., Any], tmp_path: Any) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'hard.db'}")
    app.graph("job")(function)

    async def main() -> None:
        async with app:
            app.schedules.upsert("job", manual=True)
            run = app.schedules.trigger("job")
            while app.runs.get(run.id).status not in ("error", "success"):
                await asyncio.sleep(0.01)
            assert app.runs.get(run.id).reason == "internal"

    asyncio.run(main())


def test_a_plain_function_around_an_async_one_is_awaited() -> None:
    async def inner() -> int:
        await asyncio.sleep(1)
        return 7

    with virtual(a_single(lambda _, ctx: inner()), START) as world:
        world.advance(minutes=1, seconds=2)
        assert world.runs("job")[0].result == 7


def test_a_generator_is_refused_because_nobody_would_go_through_it() -> None:
    def generator() -> Iterator[int]:
        yield 1

    with pytest.raises(Invalid, match="got a generator"):
        Foliot().graph("job")(generator)


@pytest.mark.parametrize("decorator", ["graph", "schedule"])
def test_a_decorator_without_its_brackets_is_refused(decorator: str) -> None:
    with pytest.raises(Invalid, match="as in @app"):
        getattr(Foliot(), decorator)(lambda: None)


def test_a_spec_that_cannot_be_read_here_is_set_aside_and_the_others_go_on() -> None:
    app = a_program("foliot", "broken", "well")
    with virtual(app, START) as world:
        broken = app.schedules.get("broken")
        text = '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":300,"offset":0}],'
        text += '"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"Mars/Olympus"}'
        app.parts.database.write(lambda tx: tx.update_schedule(1, spec=text, version=broken.token + 1))
        app.parts.database.write(lambda tx: tx.set_version(1, broken.token + 1, 1))
        world.advance(minutes=11)
        assert len(world.runs("well")) == 2
        assert world.runs("broken") == []


def test_an_edit_loses_no_slot_when_jitter_has_carried_the_cursor_ahead() -> None:
    app = a_program("foliot", "job", every="1h", jitter="30m", jitter_mode="around")
    with virtual(app, START) as world:
        while app.schedules.get("job").swept_to <= world.now:
            world.advance(minutes=1)
        ahead = app.schedules.get("job").swept_to
        app.schedules.patch("job", every="1m")
        world.advance(minutes=5)
        nominal = [run.scheduled_for for run in world.runs("job") if run.scheduled_for <= world.now]
        assert len(nominal) >= 5
        world.advance_to(ahead + timedelta(minutes=2))
        assert len({run.scheduled_for for run in world.runs("job")}) == len(world.runs("job"))


def test_a_world_leaves_the_app_as_it_found_it(tmp_path: Any) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'own.db'}")
    app.schedules.create("mine", every="1h", target="job")
    with virtual(app, START) as outer:
        with virtual(app, START):
            assert app.schedules.list() == []
        app.schedules.create("outer", every="1h", target="job")
        outer.advance(minutes=1)
    assert [schedule.id for schedule in app.schedules.list()] == ["mine"]
    assert not app.functions.is_inline
    app.schedules.create("mine-too", every="1h", target="job")
    app.close()


def test_a_thread_that_ends_after_its_loop_gives_its_place_back(tmp_path: Any) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'own.db'}")
    began, may_end = threading.Event(), threading.Event()

    def job() -> None:
        began.set()
        may_end.wait(30)

    app.graph("job")(job)

    async def main() -> None:
        await app.functions._in_thread(job, ())

    async def leave() -> None:
        task = asyncio.get_running_loop().create_task(main())
        await asyncio.to_thread(began.wait, 30)
        task.cancel()

    asyncio.run(leave())
    assert app.functions.is_busy
    may_end.set()
    app.functions._pool.shutdown(wait=True)  # type: ignore[union-attr]
    assert not app.functions.is_busy


def test_a_run_that_was_told_to_stop_is_not_delivered_again_after_a_graceful_stop() -> None:
    executions = []

    async def stubborn(input: Any, ctx: Context) -> None:
        executions.append(ctx.run_id)
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if len(executions) > 1:
                    raise

    app = a_single(stubborn, every="1h")
    with virtual(app, START) as world:
        world.advance(hours=1, seconds=1)
        app.runs.cancel(world.runs("job")[0].id)
        world.stop()
        world.advance(minutes=2)
        world.restart()
        world.advance(minutes=5)
        assert len(executions) == 1
        assert (world.runs("job")[0].status, world.runs("job")[0].reason) == ("cancelled", "cancelled_by_user")


def test_a_run_that_falls_over_while_it_stops_is_cancelled_not_failed() -> None:
    async def clumsy(input: Any, ctx: Context) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            raise ValueError("while cleaning up")

    app = a_single(clumsy, every="1h", pause_on_failure=True)
    with virtual(app, START) as world:
        world.advance(hours=1, seconds=1)
        app.runs.cancel(world.runs("job")[0].id)
        world.advance(seconds=1)
        run = world.runs("job")[0]
        assert (run.status, run.reason) == ("cancelled", "cancelled_by_user")
        assert "while cleaning up" in (run.error or "")
        assert not app.schedules.get("job").paused


def test_a_backfill_leaves_to_catch_up_what_a_pause_has_kept_back() -> None:
    app = a_program("foliot", "job", catchup="all", overlap="allow_all")
    with virtual(app, START) as world:
        app.schedules.pause("job")
        world.advance(minutes=20)
        app.schedules.backfill("job", START + timedelta(seconds=1), world.now)
        world.advance(minutes=1)
        app.schedules.resume("job")
        world.advance(minutes=1)
        assert len(world.runs("job")) == 4


def test_all_that_wait_give_way_when_only_one_may() -> None:
    async def long(input: Any, ctx: Context) -> None:
        await asyncio.sleep(86_400)

    app = a_single(long, overlap="buffer_all")
    with virtual(app, START) as world:
        world.advance(minutes=130)
        app.schedules.patch("job", overlap="buffer_one")
        world.advance(minutes=1)
        waiting = world.runs("job", status="pending")
        assert [run.scheduled_for for run in waiting] == [START + timedelta(minutes=131)]


def test_an_app_is_entered_once_at_a_time(tmp_path: Any) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'own.db'}")

    async def main() -> None:
        async with app:
            with pytest.raises(Conflict, match="at work already"):
                await app.__aenter__()
        async with app:
            pass

    asyncio.run(main())


@pytest.mark.parametrize(
    "ask",
    [
        lambda app: app.schedules.list(labels=5),
        lambda app: app.schedules.list(limit="x"),
        lambda app: app.schedules.list(after=5),
        lambda app: app.schedules.list(app=5),
        lambda app: app.schedules.list(target=b"x"),
        lambda app: app.runs.list(offset=-1),
        lambda app: app.runs.list(backfill="x"),
        lambda app: app.runs.get(b"x"),
        lambda app: app.runs.cancel(5),
        lambda app: app.schedules.pause("job", by=5),
        lambda app: app.schedules.upsert("job", app=5, every="1m"),
        lambda app: app.schedules.create_many(5),
        lambda app: app.schedules.create_many([5]),
        lambda app: app.schedules.create("new", cron="* * * * *", timezone=[]),
        lambda app: app.schedules.create("new", every={}),
        lambda app: app.schedules.create("new", every=float("nan")),
        lambda app: app.schedules.create("new", every="1m", input=object()),
        lambda app: app.schedules.create("new", every="1m", bogus=1),
        lambda app: Foliot(5),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused_in_words_and_nothing_is_written(ask: Callable[[Foliot], Any]) -> None:
    app = a_program("foliot", "job")
    with virtual(app, START):
        before = app.schedules.list()
        with pytest.raises(Refusal, match=r"takes?|looks like|is text"):
            ask(app)
        assert app.schedules.list() == before
