"""Schedules: found, listed and changed as their owners see them; ids and targets are given once."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from foliot.domain.errors import Unavailable
from foliot.domain.schedule import Standing
from foliot.domain.tenures import Tenure, TenureEnd
from foliot.lines import Walk
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, NOON, a_new_cursor, a_new_schedule
from tests.databases import INTEGRITY_ERRORS
from tests.stores.stage import Stage
from tests.stores.waiting import until_somebody_waits


def test_a_target_keeps_its_number_and_a_new_one_gets_its_own(stage: Stage) -> None:
    known = stage.target("python:known")

    found = stage.write(lambda tx: tx.target_refs(["python:new", "python:known", "python:new"]))

    assert found["python:known"] == known
    assert found["python:new"] not in (known, None)
    assert stage.write(lambda tx: tx.target_refs(["python:known", "python:new"])) == found
    assert stage.write(lambda tx: tx.target_refs([])) == {}


def test_two_transactions_that_name_a_new_target_at_once_give_it_one_number(postgresql: Stage) -> None:
    with ThreadPoolExecutor() as threads:
        answers: list[Future[dict[str, int]]] = []
        tries = []

        def second(tx: SqlTransaction) -> dict[str, int]:
            tries.append(tx)
            return tx.target_refs(["python:b", "python:a"])

        def first(tx: SqlTransaction) -> dict[str, int]:
            found = tx.target_refs(["python:a", "python:b"])
            answers.append(threads.submit(postgresql.write, second))
            until_somebody_waits(postgresql.url)
            return found

        mine = postgresql.write(first)

        assert answers[0].result(timeout=20) == mine
        assert len(tries) == 1


def test_a_new_schedule_is_what_was_given(stage: Stage) -> None:
    target = stage.target("python:digest")
    (ref,) = stage.write(lambda tx: tx.new_schedule_refs(1))
    given = a_new_schedule(
        ref,
        target,
        "digest",
        name="The Digest",
        app="mail",
        spec='{"s":1}',
        policies='{"p":1}',
        input='{"i":1}',
        labels='{"team":"mail"}',
        memo='"m"',
        version=2,
        created_at=NOON,
        updated_at=NOON + 1,
        spec_since=NOON + 2,
    )

    stage.write(lambda tx: tx.insert_schedules([given], [a_new_cursor(ref, target, wake_at=NOON + 3, remaining=4)]))

    row = stage.read(lambda tx: tx.schedule("digest"))
    assert row == ScheduleRow(
        **given._asdict(),
        target_name="python:digest",
        deleted_at=None,
        pause_note=None,
        paused_by=None,
        pruned_before=0,
    )
    assert (stage.state(ref).wake_at, stage.state(ref).remaining) == (NOON + 3, 4)


def test_new_keys_are_as_many_as_asked_for_and_nobody_s(stage: Stage) -> None:
    taken = stage.schedule()

    refs = stage.write(lambda tx: list(tx.new_schedule_refs(5)))

    assert len(set(refs)) == 5
    assert taken not in refs
    assert stage.write(lambda tx: list(tx.new_schedule_refs(0))) == []


def test_more_schedules_than_one_statement_takes_are_inserted_and_found(stage: Stage) -> None:
    target = stage.target()

    def act(tx: SqlTransaction) -> list[int]:
        refs = list(tx.new_schedule_refs(10_500))
        tx.insert_schedules(
            [a_new_schedule(ref, target, f"s{ref}") for ref in refs], [a_new_cursor(ref, target) for ref in refs]
        )
        return refs

    refs = stage.write(act)

    ids = [f"s{ref}" for ref in refs]
    assert {row.id for row in stage.read(lambda tx: tx.configurations(refs))} == set(ids)
    assert {row.ref for row in stage.read(lambda tx: tx.schedules(ids))} == set(refs)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 63, 64, 65, 72, 73, 200])
def test_however_many_rows_are_written_at_once_each_is_what_it_was_meant_to_be(stage: Stage, count: int) -> None:
    target = stage.target()

    def act(tx: SqlTransaction) -> list[int]:
        refs = list(tx.new_schedule_refs(count + 1))
        tx.insert_schedules(
            [a_new_schedule(ref, target, f"s{ref}") for ref in refs], [a_new_cursor(ref, target) for ref in refs]
        )
        tx.label([(f'{{"n":"{ref}"}}', ref + 1, NOON + ref, ref) for ref in refs[:-1]])
        return refs

    refs = stage.write(act)

    rows = {row.ref: row for row in stage.read(lambda tx: tx.configurations(refs))}
    versions = {state.ref: state.version for state in stage.read(lambda tx: tx.states_seen(refs))}
    for ref in refs[:-1]:
        row = rows[ref]
        assert (row.id, row.labels, row.version, row.updated_at) == (f"s{ref}", f'{{"n":"{ref}"}}', ref + 1, NOON + ref)
        assert versions[ref] == ref + 1
    assert (rows[refs[-1]].labels, rows[refs[-1]].version, versions[refs[-1]]) == ("{}", 1, 1)


def test_an_id_is_given_once(stage: Stage) -> None:
    stage.schedule("digest")

    with pytest.raises((*INTEGRITY_ERRORS, Unavailable)):
        stage.schedule("digest", "python:other")

    assert len(stage.read(lambda tx: tx.list_schedules(ScheduleFilter()))) == 1


def test_whoever_comes_second_with_an_id_looks_again_and_finds_it(postgresql: Stage) -> None:
    target = postgresql.target()
    seen = []

    def create(tx: SqlTransaction) -> None:
        seen.append(tx.schedule("digest") is not None)
        if not seen[-1]:
            postgresql.schedule("digest", name="the first")
            (ref,) = tx.new_schedule_refs(1)
            tx.insert_schedules([a_new_schedule(ref, target, name="the second")], [a_new_cursor(ref, target)])

    postgresql.write(create)

    assert seen == [False, True]
    assert [row.name for row in postgresql.read(lambda tx: tx.schedules(["digest"]))] == ["the first"]


def test_schedules_are_found_by_id_and_by_key_the_deleted_too(stage: Stage) -> None:
    living, deleted = stage.schedule("living"), stage.schedule("deleted")
    stage.write(lambda tx: tx.update_schedule(deleted, deleted_at=NOON))

    assert {row.ref for row in stage.read(lambda tx: tx.schedules(["living", "deleted", "none"]))} == {living, deleted}
    assert {row.id for row in stage.read(lambda tx: tx.configurations([living, deleted, 404]))} == {"living", "deleted"}
    assert stage.read(lambda tx: tx.schedule("none")) is None
    assert stage.read(lambda tx: tx.schedules([])) == []
    assert stage.read(lambda tx: tx.configurations([])) == []


def test_more_ids_may_be_asked_for_than_a_statement_takes_values(stage: Stage) -> None:
    first, last = stage.schedule("s0"), stage.schedule("s39999")

    found = stage.read(lambda tx: tx.schedules([f"s{number}" for number in range(40_000)]))

    assert {row.ref for row in found} == {first, last}


def listed(stage: Stage, wanted: ScheduleFilter) -> list[str]:
    return [row.id for row, _ in stage.read(lambda tx: tx.list_schedules(wanted))]


def test_a_list_has_every_living_schedule_by_id_with_its_state(stage: Stage) -> None:
    refs = {name: stage.schedule(name, wake_at=NOON) for name in ("b", "a", "gone")}
    stage.write(lambda tx: tx.update_schedule(refs["gone"], deleted_at=NOON))

    found = stage.read(lambda tx: tx.list_schedules(ScheduleFilter()))

    assert [(row.id, state) for row, state in found] == [(name, stage.state(refs[name])) for name in ("a", "b")]
    assert sorted(row for row, _ in found) == sorted(stage.read(lambda tx: tx.schedules(["a", "b"])))
    assert listed(stage, ScheduleFilter(include_deleted=True)) == ["a", "b", "gone"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ScheduleFilter(app="mail"), ["mail-1", "mail-2"]),
        (ScheduleFilter(app="none"), []),
        (ScheduleFilter(target="python:other"), ["plain"]),
        (ScheduleFilter(labels={"team": "x"}), ["mail-1", "mail-2"]),
        (ScheduleFilter(labels={"team": "x", "env": "prod"}), ["mail-1"]),
        (ScheduleFilter(labels={"team": "X"}), []),
        (ScheduleFilter(labels={"none": "x"}), []),
        (ScheduleFilter(labels={"a.b/c-d": 'é "quoted" \\ \'%?:'}), ["plain"]),
        (ScheduleFilter(labels={"a": "x"}), []),
        (ScheduleFilter(app="mail", after_id="mail-1"), ["mail-2"]),
        (ScheduleFilter(limit=2), ["mail-1", "mail-2"]),
        (ScheduleFilter(limit=2, after_id="mail-1"), ["mail-2", "plain"]),
        (ScheduleFilter(ids=("plain", "none", "mail-1")), ["mail-1", "plain"]),
        (ScheduleFilter(ids=()), []),
        (ScheduleFilter(text="AIL-"), ["mail-1", "mail-2"]),
        (ScheduleFilter(text="_ail"), []),
        (ScheduleFilter(declared="mail"), []),
        (ScheduleFilter(needs_attention=True), []),
        (ScheduleFilter(needs_attention=False, app="mail"), ["mail-1", "mail-2"]),
    ],
    ids=str,
)
def test_a_list_has_the_schedules_that_every_condition_names(
    stage: Stage, wanted: ScheduleFilter, expected: list[str]
) -> None:
    stage.schedule("mail-2", app="mail", labels=json.dumps({"team": "x"}))
    stage.schedule("mail-1", app="mail", labels=json.dumps({"team": "x", "env": "prod"}))
    stage.schedule("plain", "python:other", labels=json.dumps({"a.b/c-d": 'é "quoted" \\ \'%?:'}))

    assert listed(stage, wanted) == expected
    if wanted.limit is None and wanted.after_id is None:
        refs = [row.ref for row in stage.read(lambda tx: tx.schedules(["mail-1", "mail-2", "plain"]))]
        assert [row.id for row in stage.read(lambda tx: tx.matching(wanted, refs))] == expected
        assert stage.read(lambda tx: tx.count_matching(wanted, 10)) == len(expected)
        assert stage.read(lambda tx: tx.count_matching(wanted, 1)) == min(1, len(expected))


STANDINGS: list[tuple[Standing, dict[str, Any], dict[str, Any]]] = [
    (Standing.ACTIVE, {}, {"wake_at": NOON + HOUR}),
    (Standing.ACTIVE, {"spec": '{"manual":true}'}, {}),
    (Standing.ACTIVE, {}, {"wake_at": NOON, "pause_from": NOON - HOUR, "pause_to": NOON}),
    (Standing.PAUSED, {}, {"pause_from": NOON - HOUR}),
    (Standing.PAUSED, {}, {"wake_at": NOON + 1, "pause_from": NOON - HOUR, "pause_to": NOON + 1}),
    (Standing.PAUSED, {"spec": '{"manual":true}'}, {"pause_from": NOON, "remaining": 0}),
    (Standing.COMPLETED, {"spec": '{"manual":false}'}, {}),
    (Standing.COMPLETED, {}, {"wake_at": NOON + HOUR, "remaining": 0}),
]


def test_how_a_schedule_stands_is_told_by_its_cursor_and_its_spec(stage: Stage) -> None:
    expected: dict[Standing, list[str]] = {standing: [] for standing, _, _ in STANDINGS}
    for number, (standing, cold, hot) in enumerate(STANDINGS):
        ref = stage.schedule(f"s{number}", **cold)
        state = stage.state(ref)._replace(**hot)
        stage.write(partial(SqlTransaction.move, states=[state]))
        expected[standing].append(f"s{number}")

    for standing, names in expected.items():
        assert listed(stage, ScheduleFilter(standings=(standing,))) == names
    both = ScheduleFilter(standings=(Standing.PAUSED, Standing.COMPLETED))
    assert listed(stage, both) == sorted(expected[Standing.PAUSED] + expected[Standing.COMPLETED])


def test_walks_lead_past_every_schedule_once_and_know_how_far_they_are(stage: Stage) -> None:
    refs = [stage.schedule(f"s{number}", wake_at=NOON - number if number % 2 else None) for number in range(6)]
    coming, idle = [refs[5], refs[3], refs[1]], [refs[0], refs[2], refs[4]]

    def walked(walk: Walk, after: Any, until: Any, among: Any = None) -> list[int]:
        lines = stage.read(lambda tx: tx.schedule_lines(walk, ScheduleFilter(), after, until, among, 10))
        return [row.ref for row, _ in lines]

    assert walked(Walk.COMING, None, None) == coming
    assert walked(Walk.COMING, (NOON - 5, refs[5]), (NOON - 3, refs[3])) == [refs[3]]
    assert walked(Walk.IDLE, (refs[0],), None) == idle[1:]
    assert walked(Walk.BY_ID, ("s1",), ("s4",)) == refs[2:5]
    assert walked(Walk.BY_NAME, ("s1", "s1"), None, refs[:4]) == refs[2:4]
    assert stage.read(lambda tx: tx.key_beyond(Walk.COMING, None, None, 2)) == (NOON - 3, refs[3])
    assert stage.read(lambda tx: tx.key_beyond(Walk.COMING, None, None, 4)) is None
    assert stage.read(lambda tx: tx.key_beyond(Walk.BY_ID, "local", ("s1",), 2)) == ("s3",)
    assert stage.read(lambda tx: tx.key_beyond(Walk.BY_ID, "nobody", None, 1)) is None


def test_a_list_leaves_out_what_may_be_long(stage: Stage) -> None:
    stage.schedule("digest", input='{"long":1}', memo='"long"')

    ((row, _),) = stage.read(lambda tx: tx.schedule_lines(Walk.BY_ID, ScheduleFilter(), None, None, None, 10))

    assert (row.id, row.input, row.memo) == ("digest", None, None)


def test_many_are_paused_or_labelled_in_one_statement_each_with_its_own_version(stage: Stage) -> None:
    one, two, other = (stage.schedule(name) for name in ("one", "two", "other"))

    stage.write(lambda tx: tx.note_pauses([("why", "ann", 2, NOON + 1, one), (None, None, 7, NOON + 1, two)]))
    stage.write(lambda tx: tx.label([('{"a":"b"}', 8, NOON + 2, two)]))

    rows = {row.ref: row for row in stage.read(lambda tx: tx.configurations([one, two, other]))}
    assert (rows[one].pause_note, rows[one].paused_by, rows[one].version) == ("why", "ann", 2)
    assert (rows[two].labels, rows[two].version, rows[two].updated_at) == ('{"a":"b"}', 8, NOON + 2)
    assert (rows[other].version, rows[other].labels) == (1, "{}")
    assert [stage.state(ref).version for ref in (one, two, other)] == [2, 8, 1]


def test_an_update_changes_what_is_named_and_nothing_else(stage: Stage) -> None:
    ref, other = stage.schedule("digest"), stage.schedule("other")
    new_target = stage.target("python:new")
    before = stage.read(lambda tx: tx.configurations([ref]))[0]
    bystander = stage.read(lambda tx: tx.configurations([other]))

    stage.write(lambda tx: tx.update_schedule(ref, version=2, target=new_target, memo='"x"', pause_note=None))

    (after,) = stage.read(lambda tx: tx.configurations([ref]))
    assert after == before._replace(version=2, target=new_target, target_name="python:new", memo='"x"')
    assert stage.read(lambda tx: tx.configurations([other])) == bystander


def test_what_a_spec_was_is_kept_in_order_and_removed_once_it_is_older(stage: Stage) -> None:
    ref = stage.schedule()
    first, second = Tenure("{}", 1, 5, TenureEnd.EDIT), Tenure('{"s":1}', 5, 9, TenureEnd.DELETION)
    stage.write(lambda tx: tx.keep_spec(ref, first))
    stage.write(lambda tx: tx.keep_spec(ref, second))
    assert stage.write(lambda tx: tx.past_specs([ref])) == {ref: [first, second]}
    stage.write(lambda tx: tx.remove_past_specs(ref, 5))
    assert stage.write(lambda tx: tx.past_specs([ref]))[ref] == [first, second], "its last slot is not older"
    stage.write(lambda tx: tx.remove_past_specs(ref, 6))
    assert stage.write(lambda tx: tx.past_specs([ref])) == {ref: [second]}
