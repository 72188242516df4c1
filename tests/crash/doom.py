"""Where a process is to die: at the first, second or third time that it comes to a boundary, on this side or on that.

Nothing in `src/` knows of it: the objects of an ordinary app are wrapped from outside.
"""

import json
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import foliot.stores.database
from foliot import Foliot, Unavailable
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.ports import Control, Launch
from foliot.stores.database import SqliteDatabase

Did = list[str]
"""What a transaction has done so far: the calls that it made on the database, empty batches left out, in their order.

`update_schedule.target` is a call that gave a target, `renew.nothing` one that gave nothing in the end. In a verb of
people, the first is `verb` and its name.
"""

BEFORE, AMID, AFTER = "before", "amid", "after"
READS = {
    *("next_ref", "earliest", "due", "due_newest", "states", "states_free", "states_seen", "standing", "ready"),
    *("waiting", "occupants", "open_runs", "running_counts", "leased", "leased_runs", "marked", "last_manual"),
    *("endings", "run_at", "runs_at", "attempted", "gap_at", "gaps_of", "list_runs", "prunable", "newest_runs_from"),
    *("expired", "news", "grants", "configurations", "schedule", "schedules", "list_schedules", "new_schedule_refs"),
    *("past_specs", "count_schedules", "run_shapes", "runs_of_shape", "broken_chains", "slot_moments"),
    *("skipped_moments", "ahead_of_cursors", "gaps_within", "count_workers", "count_expired", "overdue"),
    *("backfills", "due_backfills", "list_backfills", "notify", "new_grant_refs", "list_grants", "running_under"),
    "waiting_under",
    *(
        "runs",
        "worker_name",
        "orders_of",
        "questions_of",
        "unanswered",
        "targets_of",
        "unregistered",
        "orphans",
        "request",
        "requests_of_run",
        "list_requests",
    ),
    *("hold_grant", "recent_costs", "account", "account_of", "posted", "postings", "receipts", "receipts_of"),
    *("hold_budgets", "hold_accounts", "recent_spendings"),
    *("workflow", "workflow_at", "workflow_versions", "list_workflows", "node_states", "cached_node"),
    *("audience", "webhook", "list_webhooks", "secret_users", "unaddressed", "listening", "deliveries_due"),
    *("next_delivery_at", "deliveries_of", "trouble", "troubles", "backlog", "schema"),
    *("user", "list_users", "key", "key_by_digest", "list_keys", "keys_changed", "trail", "newest_deeds", "answer"),
    *(
        "refs_after",
        "open_lines",
        "schedules_since",
        "worker_lines",
        "workflows_after",
        "versions_before",
        "grants_after",
        "postings_before",
        "requests_before",
    ),
    *(
        "open_of_backfill",
        "open_question_lines",
        "questions",
        "backfills_seen",
        "keys_after",
        "recent_questions",
        "recent_receipts",
        "charged_for",
        "node_lines",
    ),
    *("key_beyond", "matching", "count_matching", "schedule_lines", "spent_since", "counted_since", "spent_by"),
    *("lines", "lines_at", "newest_lines", "ref_before", "newest_nominal", "count_between", "lines_of", "schedules_of"),
}
"""Calls that leave everything as it is."""


def writes(did: Did) -> set[str]:
    """The calls that change something."""
    return {call for call in did if "." not in call and not call.startswith("verb ")} - READS


def _in_order(did: Did, *calls: str) -> bool:
    """Whether these were made, the first of each before the first of the next."""
    return all(call in did for call in calls) and sorted(calls, key=did.index) == list(calls)


def _only_before(did: Did, call: str, later: str) -> bool:
    return call in did and (later not in did or _in_order(did, call, later))


def _takes_up(did: Did) -> bool:
    """Whether what was ready was started; or judged or put aside, and perhaps none of it started."""
    return "start" in did or _in_order(did, "ready", "keep") or _in_order(did, "ready", "park")


def _verb(name: str) -> Callable[[Did], bool]:
    return lambda did: did[:1] == [f"verb {name}"] and bool(writes(did))


VERBS = (
    *("trigger", "pause", "resume", "skip", "cancel", "terminate", "retry", "fill", "create", "replace", "delete"),
    *("decide", "permit", "extend", "rescope", "revoke", "pay", "refund", "limit", "report", "deploy", "admit"),
    *("subscribe", "unsubscribe", "apply", "change many", "give up"),
)
COMMITS: dict[str, Callable[[Did], bool]] = {
    "declare": lambda did: "insert_schedules" in did and "verb" not in did[0],
    "edit": lambda did: "update_schedule.target" in did and "verb" not in did[0],
    "register": lambda did: "register" in did,
    "learn targets": lambda did: did[:1] == ["unregistered"] and "news" in did,
    "prune": lambda did: "prunable" in did,
    "remove": lambda did: "remove" in did,
    "launch": lambda did: "start_new" in did,
    "sweep": lambda did: _in_order(did, "due", "move"),
    "end of a pause": lambda did: _in_order(did, "due", "wake_retries"),
    "record": lambda did: _in_order(did, "due", "record"),
    "settle": lambda did: "finish" in did,
    "settle a failure": lambda did: _in_order(did, "finish", "record") and _only_before(did, "record", "due"),
    "settle with care": lambda did: "standing" in did,
    "heartbeat": lambda did: did[:3] == ["news", "renew", "leased"],
    "let go": lambda did: "renew.nothing" in did and did[0] != "leased_runs",
    "take up": _takes_up,
    "ask": lambda did: _in_order(did, "finish", "ask"),
    "expire": lambda did: _in_order(did, "unanswered", "close_question"),
    "request": lambda did: "insert_request" in did or "take_request" in did,
    "answer a request": lambda did: "finish_request" in did,
    "charge": lambda did: "save_receipts" in did and "verb" not in did[0],
    "rescue": lambda did: _in_order(did, "expired", "lose"),
    "hand back": lambda did: _in_order(did, "renew", "lose") and _only_before(did, "lose", "expired"),
    "leave": lambda did: did[:1] == ["leased_runs"] and bool({"lose", "stop"} & set(did)),
    "feed": lambda did: _in_order(did, "due_backfills", "save_backfill"),
    "end of a fill": lambda did: (
        _in_order(did, "finish", "save_backfill") and _only_before(did, "save_backfill", "due_backfills")
    ),
    "address": lambda did: "address" in did,
    "hand over": lambda did: "take_deliveries" in did,
    "note a delivery": lambda did: bool({"note_arrival", "note_failure"} & set(did)),
    **{name: _verb(name) for name in VERBS},
}
"""Transactions, by what they do."""

PLACES = {
    "beginning": ("migrate", "declare", "register", "learn targets", "prune"),
    "working": (
        *("sweep", "launch", "record", "take up", "dispatch", "run", "settle", "settle a failure", "heartbeat"),
        *("let go", "charge"),
    ),
    "in trouble": ("rescue", "hand back", "settle with care", "edit", "leave", "remove"),
    "handled": (*VERBS, "ask", "expire", "request", "answer a request", "feed", "end of a fill", "end of a pause"),
    "telling": ("address", "hand over", "note a delivery"),
}
"""The boundaries, by what the process is about: every commit, and every dispatch of a run's code."""
MOMENTS = {"run": (AMID,)}
ONCE = ("migrate", "register", "learn targets", "prune", "rescue", "leave")
"""Where a process comes once in its life: the second time is that of the second process in a row."""
_LOST_ANSWERS = {"hand back": "launch", "settle with care": "settle"}
"""What a process does only when it was not told that something was committed."""


def moments_of(boundary: str) -> tuple[str, ...]:
    return MOMENTS.get(boundary, (BEFORE, AFTER))


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


class Countdown:
    """Death at the given time of asking."""

    def __init__(self, hit: int) -> None:
        self._left = hit

    def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            die()


_doing = threading.local()


@contextmanager
def as_verb(name: str) -> Iterator[None]:
    """What this thread writes meanwhile is written by that verb."""
    _doing.verb = name
    try:
        yield
    finally:
        _doing.verb = None


def doom(app: Foliot, boundary: str, moment: str, hit: int) -> None:
    """Make the process die at that time of coming to that boundary, on that side of it."""
    countdown = Countdown(hit)
    if boundary == "run":
        # The run's own code sees to that.
        return
    if boundary == "migrate":
        _die_at_migration(app, moment)
    elif boundary == "dispatch":
        on_new_engine(app, lambda engine: _watch_dispatch(engine, moment, countdown))
    else:
        if boundary in _LOST_ANSWERS:
            _lose_answers(app, COMMITS[_LOST_ANSWERS[boundary]])
        _watch_commits(app, COMMITS[boundary], moment, countdown)


def on_new_engine(app: Foliot, act: Callable[[Engine], None]) -> None:
    parts = app.parts
    make = parts.engine

    def made(name: str, settings: EngineSettings | None = None) -> Engine:
        engine = make(name, settings)
        act(engine)
        return engine

    parts.engine = made  # type: ignore[method-assign]


def _die_at_migration(app: Foliot, moment: str) -> None:
    database: Any = app.parts.database
    module: Any = foliot.stores.database
    if moment == BEFORE:
        _die_after(module, "migrate")
    else:
        _die_after(database, "_open_writer" if isinstance(database, SqliteDatabase) else "_migrate")


def _die_after(owner: Any, name: str) -> None:
    whole = getattr(owner, name)

    def and_die(*given: Any) -> NoReturn:
        whole(*given)
        die()

    setattr(owner, name, and_die)


def _watch_dispatch(engine: Engine, moment: str, countdown: Countdown) -> None:
    execute: Callable[[Launch, Control], Awaitable[Any]] = engine.gate.execute

    async def executed(launch: Launch, control: Control) -> Any:
        if moment == BEFORE:
            countdown()
        outcome = await execute(launch, control)
        if moment == AFTER:
            countdown()
        return outcome

    engine.gate.execute = executed  # type: ignore[method-assign]


class _Spy:
    """A transaction that remembers what was asked of it, and calls when it has done something."""

    def __init__(self, tx: Any, did: Did, done: Callable[[], None]) -> None:
        self._tx = tx
        self._did = did
        self._done = done

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._tx, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            result = found(*given, **named)
            is_empty_batch = bool(given) and hasattr(given[0], "__len__") and len(given[0]) == 0
            if not is_empty_batch:
                nothing = [f"{name}.nothing"] if given and given[-1] is None else []
                for said in (name, *(f"{name}.{key}" for key in named), *nothing):
                    if said not in self._did:
                        self._did.append(said)
                self._done()
            return result

        return call


def _spy(app: Foliot, amid: Callable[[Did], None], after: Callable[[Did], None]) -> None:
    """Call `amid` whenever a transaction has done something, anew for each try, and `after` when it is committed."""
    database: Any = app.parts.database
    write = database.write

    def written(act: Callable[[Any], Any]) -> Any:
        did: Did = []
        # Of the thread that asks for it: another may carry it out.
        verb = getattr(_doing, "verb", None)

        def spied(tx: Any) -> Any:
            did.clear()
            if verb is not None:
                did.append(f"verb {verb}")
            return act(_Spy(tx, did, lambda: amid(did)))

        result = write(spied)
        after(did)
        return result

    database.write = written


def _watch_commits(app: Foliot, is_it: Callable[[Did], bool], moment: str, countdown: Countdown) -> None:
    # A transaction is met once, however much it goes on to do.
    met: list[Did] = []

    def amid(did: Did) -> None:
        if moment == BEFORE and is_it(did) and not any(did is known for known in met):
            met.append(did)
            countdown()

    def after(did: Did) -> None:
        if moment == AFTER and is_it(did):
            countdown()

    _spy(app, amid, after)


def _lose_answers(app: Foliot, is_it: Callable[[Did], bool]) -> None:
    """Every other time, whoever committed it is told that the database is away."""
    met = 0

    def after(did: Did) -> None:
        nonlocal met
        met += is_it(did)
        if is_it(did) and met % 2:
            raise Unavailable("the answer was lost")

    _spy(app, lambda did: None, after)


def note_kinds(app: Foliot, path: Path) -> None:
    """Write down every kind of transaction that changes something, once each."""
    known: set[tuple[str, ...]] = set()

    def after(did: Did) -> None:
        if writes(did) and tuple(did) not in known:
            known.add(tuple(did))
            with path.open("a") as file:
                file.write(json.dumps(did) + "\n")

    _spy(app, lambda did: None, after)
