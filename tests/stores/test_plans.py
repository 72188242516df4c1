"""Hot statements: each finds its rows by the index made for it, however long the ledger has become.

The statements are overheard while the real methods run, and their plans asked for with the values that they had.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple, cast

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPICursor

from foliot.domain.backfill import Direction, Which
from foliot.domain.runs import Hold, Kind, Order, Status
from foliot.domain.settlement import Outcome
from foliot.lines import RunPlace, RunSearch, Walk
from foliot.rows import Finish, RunFilter, ScheduleFilter
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, MINUTE, NOON, a_new_cursor, a_new_run, a_new_schedule, a_started_run
from tests.databases import KINDS, PostgresqlServer
from tests.stores.stage import Stage

SCHEDULES = 20_000
RUNS = 20_000
TARGETS = 10
WORKERS = 2_000


class Overheard(NamedTuple):
    text: str
    values: Any


class Plan(NamedTuple):
    indexes: set[str]
    scanned: set[str]
    """Tables that are read from end to end."""
    text: str


@pytest.fixture(scope="module", params=KINDS)
def ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Many schedules and a long past, of which little is open."""
    if request.param == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql_server")
        stage = Stage(server.new_database())
    else:
        stage = Stage(f"sqlite:///{tmp_path_factory.mktemp('plans') / 'foliot.db'}")
    stage.write(fill)
    if request.param == "postgresql":
        stage.write(lambda tx: tx._do("ANALYZE"))
    yield stage
    stage.close()


def fill(tx: SqlTransaction) -> None:
    targets = list(tx.target_refs(f"python:{number}" for number in range(TARGETS)).values())
    refs = list(tx.new_schedule_refs(SCHEDULES))
    of = {ref: targets[ref % TARGETS] for ref in refs}
    tx.insert_schedules(
        [a_new_schedule(ref, of[ref], f"s{ref}") for ref in refs],
        [a_new_cursor(ref, of[ref], wake_at=NOON + ref * MINUTE if ref % 3 else None) for ref in refs],
    )
    # A thousand schedules have a past of twenty runs each; one in fifty of the runs is open.
    tx.record(
        [
            a_new_run(ref, refs[ref % 1000], NOON + ref * MINUTE, created_at=NOON + ref, **_open_or_over(ref, targets))
            for ref in range(1, RUNS + 1)
        ]
    )
    tx.start_new(
        [
            a_started_run(RUNS + ref, refs[ref % 1000], NOON - ref * MINUTE, worker=ref % 50)
            for ref in range(1, RUNS // 50)
        ]
    )
    for number in range(WORKERS):
        backfill = {"first": 1, "last": 2, "which": Which.ALL, "direction": Direction.OLDEST_FIRST, "concurrency": 1}
        wake_at = NOON + number if number % 10 == 0 else None
        tx.insert_backfill(
            schedule_ref=refs[number], target=targets[0], done_to=0, wake_at=wake_at, created_at=NOON, **backfill
        )
        worker = tx.register(f"worker {number}")
        if number % 100 == 0:
            tx.renew(worker, NOON - HOUR + number * MINUTE)


def _open_or_over(ref: int, targets: list[int]) -> dict[str, Any]:
    if ref % 50:
        return {"status": Status.SUCCESS, "ended_at": NOON}
    if ref % 100:
        return {"hold": Hold.OVERLAP}
    return {"ready_for": targets[ref // 100 % TARGETS], "ready_at": NOON + ref}


def overheard(stage: Stage, act: Callable[[SqlTransaction], object]) -> list[Overheard]:
    """What the method says to the database; whatever it does is undone."""
    heard: list[Overheard] = []

    def do_and_undo(tx: SqlTransaction) -> None:
        def listen(cx: object, _: object, text: str, values: Any, __: object, many: bool) -> None:
            # A server that other tests of this process ask has its own to say.
            if cx is tx.cx:
                heard.append(Overheard(text, values[0] if many else values))

        tx.cursor = cast("DBAPICursor", _Ear(tx.cursor, heard))
        with listening(listen):
            act(tx)
        raise _UndoneError

    with pytest.raises(_UndoneError):
        stage.write(do_and_undo)
    return heard


class _UndoneError(Exception):
    pass


class _Ear:
    """A cursor that tells what it is asked."""

    def __init__(self, cursor: DBAPICursor, heard: list[Overheard]) -> None:
        self._cursor = cursor
        self._heard = heard

    def execute(self, text: str, values: Any = ()) -> None:
        self._heard.append(Overheard(text, values))
        self._cursor.execute(text, values)

    def executemany(self, text: str, rows: Any) -> None:
        self._heard.append(Overheard(text, rows[0]))
        self._cursor.executemany(text, rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


@contextmanager
def listening(listen: Callable[..., None]) -> Iterator[None]:
    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


def plan_on_sqlite(stage: Stage, statement: Overheard) -> Plan:
    explained = stage.write(
        lambda tx: tx.cx.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement.text}", statement.values).all()
    )
    lines = [str(row[3]) for row in explained]
    found = {match[1] for line in lines if (match := re.search(r"USING (?:COVERING )?INDEX (\w+)", line))}
    keyed = {
        f"{match[1]} by key" for line in lines if (match := re.search(r"SEARCH (\w+) USING INTEGER PRIMARY", line))
    }
    scanned = {match[1] for line in lines if (match := re.match(r"SCAN (\w+)", line))}
    named = {_UNNAMED.get(index, index) for index in found}
    return Plan(named | keyed, {"runs" if table == "r" else table for table in scanned}, "\n".join(lines))


_UNNAMED = {"sqlite_autoindex_runs_1": "runs_slot", "sqlite_autoindex_schedules_1": "schedules_id_key"}
"""What PostgreSQL calls the indexes of constraints, which SQLite only counts."""


def plan_on_postgresql(stage: Stage, statement: Overheard, how: str) -> Plan:
    """`how` is empty for the plan with these values, or GENERIC_PLAN for the one kept for a prepared statement."""
    if how:
        numbers = count(1)
        text = re.sub(r"%\(\w+\)s|%s", lambda _: f"${next(numbers)}", statement.text)
        explained = stage.write(lambda tx: _all_rows(tx, f"EXPLAIN (FORMAT JSON, {how}) {text}", None))
    else:
        explained = stage.write(lambda tx: _all_rows(tx, f"EXPLAIN (FORMAT JSON) {statement.text}", statement.values))
    (whole,) = explained[0][0]
    return _plan_of(whole)


def plan_for_readers(stage: Stage, statement: Overheard, before: Sequence[Overheard] = ()) -> Plan:
    """The plan of those who only read, whom the server lets do what it thinks best for these values.

    What is said `before` in the same transaction may tell it what that is.
    """

    def explain(tx: SqlTransaction) -> Sequence[Any]:
        for one in before:
            _all_rows(tx, *one)
        return _all_rows(tx, f"EXPLAIN (FORMAT JSON) {statement.text}", statement.values)

    (whole,) = stage.read(explain)[0][0]
    return _plan_of(whole)


def _plan_of(whole: dict[str, Any]) -> Plan:
    nodes = list(_nodes(whole["Plan"]))
    indexes = {_index(node["Index Name"]) for node in nodes if "Index Name" in node}
    scanned = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} | _walked(whole["Plan"])
    return Plan(indexes, scanned, json.dumps(whole, indent=1))


def _all_rows(tx: SqlTransaction, text: str, values: Any) -> Sequence[Any]:
    # By the driver itself: without values it leaves the signs in the text alone.
    cursor = tx.cx.connection.cursor()
    cursor.execute(text, values)
    return cursor.fetchall()


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _walked(plan: dict[str, Any], is_limited: bool = False) -> set[str]:
    """Tables that are read from end to end by an index; the first few rows in its order are another matter."""
    is_limited = is_limited or plan["Node Type"] == "Limit"
    is_walk = plan["Node Type"] in ("Index Scan", "Index Only Scan") and "Index Cond" not in plan and not is_limited
    return {plan["Relation Name"]} if is_walk else {t for p in plan.get("Plans", ()) for t in _walked(p, is_limited)}


def _index(name: str) -> str:
    return f"{name.removesuffix('_pkey')} by key" if name.endswith("_pkey") else name


TARGET, SCHEDULE, WORKER, RUN = 3, 60, 7, 50

HOT: list[tuple[str, Callable[[SqlTransaction], object], set[str]]] = [
    ("earliest", lambda tx: tx.earliest([TARGET, 4]), {"cursors_wake", "runs_ready", "backfills_wake"}),
    ("due", lambda tx: tx.due(TARGET, NOON + 900 * MINUTE, 100), {"cursors_wake"}),
    ("due_newest", lambda tx: tx.due_newest(TARGET, NOON + 900 * MINUTE, 100), {"cursors_wake"}),
    ("states", lambda tx: tx.states([1, 2, 3]), {"cursors by key"}),
    ("states_free", lambda tx: tx.states_free([1, 2, 3]), {"cursors by key"}),
    ("states_seen", lambda tx: tx.states_seen([1, 2, 3]), {"cursors by key"}),
    ("move", lambda tx: tx.move(tx.states_seen([1, 2, 3])), {"cursors by key"}),
    ("advance", lambda tx: tx.advance(tx.states_seen([1, 2, 3])), {"cursors by key"}),
    ("keep", lambda tx: tx.keep(tx.states_seen([1, 2, 3])), {"cursors by key"}),
    ("free", lambda tx: tx.free(tx.states_seen([1, 2, 3])), {"cursors by key"}),
    ("configurations", lambda tx: tx.configurations([1, 2, 3]), {"schedules by key"}),
    ("schedules", lambda tx: tx.schedules(["s1", "s2"]), {"schedules_id_key"}),
    ("set_version", lambda tx: tx.set_version(SCHEDULE, 2, TARGET), {"cursors by key"}),
    ("ready", lambda tx: tx.ready(TARGET, NOON + HOUR, 100), {"runs_ready"}),
    ("waiting", lambda tx: tx.waiting(SCHEDULE, 100), {"runs_open"}),
    ("occupants", lambda tx: tx.occupants(SCHEDULE), {"runs_open"}),
    ("open_runs", lambda tx: tx.open_runs(SCHEDULE), {"runs_open"}),
    ("running_counts", lambda tx: tx.running_counts([SCHEDULE, SCHEDULE + 1]), {"runs_open"}),
    ("wake_retries", lambda tx: tx.wake_retries(SCHEDULE, TARGET), {"runs_open"}),
    ("leased", lambda tx: tx.leased(WORKER), {"runs_leased"}),
    ("leased_runs", lambda tx: tx.leased_runs(WORKER, 500), {"runs_leased"}),
    ("start", lambda tx: tx.start([(1, 1, 1, 1, NOON, RUN)]), {"runs by key"}),
    ("make_ready", lambda tx: tx.make_ready([(1, NOON, 1, RUN)]), {"runs by key"}),
    ("hold", lambda tx: tx.hold([(Hold.OVERLAP, RUN)]), {"runs by key"}),
    ("end", lambda tx: tx.end([(Status.CANCELLED, "terminated", NOON, RUN)]), {"runs by key"}),
    ("finish", lambda tx: tx.finish([Finish(RUN, 1, Outcome(Status.SUCCESS), NOON)]), {"runs by key"}),
    ("lose", lambda tx: tx.lose([(1, TARGET, NOON, RUN)]), {"runs by key"}),
    ("note_progress", lambda tx: tx.note_progress([("1", RUN, 1)]), {"runs by key"}),
    ("standing", lambda tx: tx.standing([RUN, RUN + 1]), {"runs by key"}),
    ("endings", lambda tx: tx.endings([RUN, RUN + 1]), {"runs by key"}),
    ("tell", lambda tx: tx.tell([RUN], Order.CANCEL_BY_USER), {"runs by key"}),
    ("park", lambda tx: tx.park(RUN), {"runs by key"}),
    ("remove", lambda tx: tx.remove([RUN]), {"runs by key"}),
    ("marked", lambda tx: tx.marked(SCHEDULE, NOON), {"runs_slot"}),
    ("last_manual", lambda tx: tx.last_manual(SCHEDULE, NOON), {"runs_slot"}),
    ("run_at", lambda tx: tx.run_at(SCHEDULE, NOON, Kind.SLOT, 0, 1), {"runs_slot"}),
    ("runs_at", lambda tx: tx.runs_at(SCHEDULE, NOON), {"runs_slot"}),
    ("attempted", lambda tx: tx.attempted(SCHEDULE, NOON, NOON + HOUR), {"runs_slot"}),
    ("newest_runs_from", lambda tx: tx.newest_runs_from(SCHEDULE, 10), {"runs_slot"}),
    ("prunable", lambda tx: tx.prunable(RUN, NOON + RUNS // 2, 100), {"runs by key"}),
    ("list_runs of one", lambda tx: tx.list_runs(RunFilter(schedule_ref=SCHEDULE)), {"runs_slot"}),
    ("due_backfills", lambda tx: tx.due_backfills(1, NOON + HOUR, 100), {"backfills_wake"}),
    ("expired", lambda tx: tx.expired(WORKER), {"workers_lease"}),
    ("news", lambda tx: tx.news(WORKER), {"workers_lease"}),
    ("renew", lambda tx: tx.renew(WORKER, NOON), {"workers by key"}),
]
LARGE = {"runs", "cursors", "workers", "schedules", "backfills"}


@pytest.mark.parametrize(("method", "act", "intended"), HOT, ids=[method for method, _, _ in HOT])
def test_a_hot_statement_uses_the_index_made_for_it_and_reads_no_table_whole(
    ledger: Stage, method: str, act: Callable[[SqlTransaction], object], intended: set[str]
) -> None:
    statement = overheard(ledger, act)[-1]

    plans = (
        [plan_on_sqlite(ledger, statement)]
        if ledger.database.is_local
        else [plan_on_postgresql(ledger, statement, how) for how in ("", "GENERIC_PLAN")]
    )

    for plan in plans:
        assert plan.scanned.isdisjoint(LARGE), plan.text
        assert plan.indexes >= intended, plan.text


OF = [SCHEDULE, SCHEDULE + 1, SCHEDULE + 2]
PLACE = RunPlace(NOON + HOUR, SCHEDULE, NOON, RUN)
LISTS: list[tuple[str, Callable[[SqlTransaction], object], set[str]]] = [
    ("newest_lines", lambda tx: tx.newest_lines(RunSearch(), RUNS, 0, 51), {"runs by key"}),
    ("of an owner", lambda tx: tx.newest_lines(RunSearch(owner="ann"), RUNS, RUNS - 500, 51), {"runs by key"}),
    ("those open", lambda tx: tx.newest_lines(RunSearch(status="waiting"), RUNS, 0, 51), {"runs_open"}),
    ("ref_before", lambda tx: tx.ref_before(RUNS, 1000), {"runs by key"}),
    ("newest_nominal", lambda tx: tx.newest_nominal(OF, NOON + HOUR), {"runs_slot"}),
    ("count_between", lambda tx: tx.count_between(OF, NOON, NOON + HOUR, 1000), {"runs_slot"}),
    ("lines_of", lambda tx: tx.lines_of(OF, RunSearch(), NOON, PLACE, 51), {"runs_slot"}),
    ("lines_of by status", lambda tx: tx.lines_of(OF, RunSearch(status="error"), NOON, PLACE, 51), {"runs_slot"}),
    ("lines_of those open", lambda tx: tx.lines_of(OF, RunSearch(status="running"), 0, PLACE, 51), {"runs_open"}),
    ("lines_at", lambda tx: tx.lines_at(SCHEDULE, NOON, Kind.SLOT, 0, 100), {"runs_slot"}),
    ("lines", lambda tx: tx.lines([RUN, RUN + 1]), {"runs by key"}),
    ("schedules_of", lambda tx: tx.schedules_of("ann", 100), {"schedules_owner"}),
]


@pytest.mark.parametrize(("method", "act", "intended"), LISTS, ids=[method for method, _, _ in LISTS])
def test_a_list_looks_at_no_runs_but_those_that_it_may_show(
    ledger: Stage, method: str, act: Callable[[SqlTransaction], object], intended: set[str]
) -> None:
    statement = overheard(ledger, act)[-1]
    is_local = ledger.database.is_local
    plan = plan_on_sqlite(ledger, statement) if is_local else plan_for_readers(ledger, statement)

    # The index of those that are open has no others.
    assert "runs" not in plan.scanned or plan.indexes & {"runs_open"}, plan.text
    assert plan.indexes & (intended | {"r by key"} if "runs by key" in intended else intended), plan.text


ALL, ANNS = ScheduleFilter(), ScheduleFilter(owner="ann")
LABELLED = ScheduleFilter(labels={"team": "mail"})
DEEP = SCHEDULES // 2
WHEN = (NOON + DEEP * MINUTE, DEEP)
UNTIL = (NOON + (DEEP + 5_000) * MINUTE, DEEP + 5_000)
SCHEDULE_LISTS: list[tuple[str, Callable[[SqlTransaction], object], set[str]]] = [
    ("by id", lambda tx: tx.schedule_lines(Walk.BY_ID, ALL, None, None, None, 51), {"schedules_id_key"}),
    ("by id, deep", lambda tx: tx.schedule_lines(Walk.BY_ID, ALL, ("s5",), ("s6",), None, 51), {"schedules_id_key"}),
    ("of one", lambda tx: tx.schedule_lines(Walk.BY_ID, ANNS, ("s5",), ("s6",), None, 51), {"schedules_owner"}),
    ("by label", lambda tx: tx.schedule_lines(Walk.BY_ID, LABELLED, ("s5",), ("s6",), None, 51), {"schedules_id_key"}),
    ("by name", lambda tx: tx.schedule_lines(Walk.BY_NAME, ALL, ("s5", "s5"), None, None, 51), {"schedules_name"}),
    ("next", lambda tx: tx.schedule_lines(Walk.COMING, ALL, None, None, None, 51), {"cursors_coming"}),
    ("next, deep", lambda tx: tx.schedule_lines(Walk.COMING, ALL, WHEN, UNTIL, None, 51), {"cursors_coming"}),
    ("next of one", lambda tx: tx.schedule_lines(Walk.COMING, ANNS, WHEN, UNTIL, None, 51), {"cursors_coming"}),
    ("idle, deep", lambda tx: tx.schedule_lines(Walk.IDLE, ALL, (DEEP,), (DEEP + 5_000,), None, 51), {"cursors_idle"}),
    ("how far by id", lambda tx: tx.key_beyond(Walk.BY_ID, None, ("s5",), 1000), {"schedules_id_key"}),
    ("how far of one", lambda tx: tx.key_beyond(Walk.BY_ID, "ann", ("s5",), 1000), {"schedules_owner"}),
    ("how far by name", lambda tx: tx.key_beyond(Walk.BY_NAME, None, ("s5", "s5"), 1000), {"schedules_name"}),
    ("how far next", lambda tx: tx.key_beyond(Walk.COMING, None, WHEN, 1000), {"cursors_coming"}),
    ("how far idle", lambda tx: tx.key_beyond(Walk.IDLE, None, (DEEP,), 1000), {"cursors_idle"}),
]


@pytest.mark.parametrize(("page", "act", "intended"), SCHEDULE_LISTS, ids=[page for page, _, _ in SCHEDULE_LISTS])
def test_a_page_of_schedules_comes_from_the_index_in_its_order_however_deep_it_is(
    ledger: Stage, page: str, act: Callable[[SqlTransaction], object], intended: set[str]
) -> None:
    plan = _reading_plan(ledger, act)

    assert plan.indexes & intended, plan.text
    assert "TEMP B-TREE" not in plan.text, plan.text
    assert '"Node Type": "Sort"' not in plan.text, plan.text
    assert not ledger.database.is_local or plan.scanned <= {"s", "c"}, plan.text
    assert plan.scanned.isdisjoint(LARGE), plan.text


def test_the_schedules_of_somebody_who_has_few_are_found_by_their_keys(ledger: Stage) -> None:
    plan = _reading_plan(ledger, lambda tx: tx.schedule_lines(Walk.COMING, ANNS, WHEN, None, OF, 51))

    assert plan.indexes & {"s by key", "c by key", "schedules by key", "cursors by key"}, plan.text
    assert plan.scanned.isdisjoint(LARGE), plan.text


def _reading_plan(ledger: Stage, act: Callable[[SqlTransaction], object]) -> Plan:
    *before, statement = overheard(ledger, act)
    is_local = ledger.database.is_local
    return plan_on_sqlite(ledger, statement) if is_local else plan_for_readers(ledger, statement, before)


@pytest.mark.parametrize("method", ["due", "due_newest", "ready"])
def test_what_is_due_comes_from_the_index_in_order_and_is_not_sorted_on_sqlite(
    shared_sqlite: Stage, method: str
) -> None:
    act = next(act for name, act, _ in HOT if name == method)
    (statement,) = overheard(shared_sqlite, act)

    assert "TEMP B-TREE" not in plan_on_sqlite(shared_sqlite, statement).text


@pytest.fixture(scope="module")
def uncounted(postgresql_server: PostgresqlServer) -> Iterator[Stage]:
    """The same ledger as a server sees it that has not counted a row since it was made."""
    stage = Stage(postgresql_server.new_database())
    stage.write(lambda tx: [tx._do(f"ALTER TABLE {table} SET (autovacuum_enabled = false)") for table in LARGE])
    stage.write(fill)
    yield stage
    stage.close()


@pytest.mark.parametrize(("page", "act", "intended"), SCHEDULE_LISTS, ids=[page for page, _, _ in SCHEDULE_LISTS])
def test_before_a_server_has_counted_any_rows_its_pages_come_from_the_same_indexes(
    uncounted: Stage, page: str, act: Callable[[SqlTransaction], object], intended: set[str]
) -> None:
    plan = _reading_plan(uncounted, act)

    assert plan.indexes & intended, plan.text
    assert '"Node Type": "Sort"' not in plan.text, plan.text


@pytest.mark.parametrize(("method", "act", "intended"), HOT, ids=[method for method, _, _ in HOT])
def test_before_a_server_has_counted_any_rows_its_plans_are_the_same(
    uncounted: Stage, method: str, act: Callable[[SqlTransaction], object], intended: set[str]
) -> None:
    plan = plan_on_postgresql(uncounted, overheard(uncounted, act)[-1], "GENERIC_PLAN")

    assert plan.scanned.isdisjoint(LARGE), plan.text
    assert plan.indexes >= intended, plan.text


def test_who_writes_has_one_plan_for_each_statement_and_who_reads_has_the_best_for_its_values(uncounted: Stage) -> None:
    ask = "SHOW plan_cache_mode"
    assert uncounted.write(lambda tx: _all_rows(tx, ask, None)) == [("force_generic_plan",)]
    assert uncounted.read(lambda tx: _all_rows(tx, ask, None)) == [("auto",)]
