"""The life of a run: taken up, handed back, told, finished under its token, and final once it is final."""

import pytest

from foliot.domain.runs import FINAL, OPEN, Hold, Kind, Order, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.rows import Finish, Leased, RunRow
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, MINUTE, NOON, a_new_run
from tests.stores.stage import Stage

SUCCESS = Outcome(Status.SUCCESS, result='{"n":1}')
FAILURE = Outcome(Status.ERROR, Reason.TIMEOUT, error="too long")


def refs(runs: list[RunRow]) -> list[int]:
    return [run.ref for run in runs]


def finish(stage: Stage, ref: int, token: int, outcome: Outcome = SUCCESS, at: int = NOON + HOUR) -> bool:
    return stage.write(lambda tx: tx.finish([Finish(ref, token, outcome, at)]))


def test_a_waiting_run_that_a_worker_takes_runs_under_a_new_token(stage: Stage) -> None:
    ref = stage.recorded(stage.schedule(), hold=Hold.OVERLAP, ready_for=1, ready_at=NOON)
    before = stage.row(ref)

    stage.write(lambda tx: tx.start([(5, 1, 1, 3, NOON + 1, ref)]))

    assert stage.row(ref) == before._replace(
        status=Status.RUNNING, hold=None, worker=5, occupies=1, grant_ref=1, version=3, started_at=NOON + 1, token=1
    )
    assert stage.readiness(ref) == (None, None)


def test_a_run_made_ready_waits_for_nothing_but_a_worker(stage: Stage) -> None:
    ref = stage.recorded(stage.schedule(), hold=Hold.OVERLAP)
    before = stage.row(ref)

    stage.write(lambda tx: tx.make_ready([(9, NOON + 1, 1, ref)]))

    assert stage.row(ref) == before._replace(hold=None, occupies=1)
    assert stage.readiness(ref) == (9, NOON + 1)


def test_a_run_on_hold_is_ready_for_nobody(stage: Stage) -> None:
    ref = stage.recorded(stage.schedule(), hold=Hold.DUE, ready_for=9, ready_at=NOON)
    before = stage.row(ref)

    stage.write(lambda tx: tx.hold([(Hold.PAUSED, ref)]))

    assert stage.row(ref) == before._replace(hold=Hold.PAUSED)
    assert stage.readiness(ref) == (None, None)


def test_a_run_ended_by_decision_fences_whoever_still_works_on_it(stage: Stage) -> None:
    ref = stage.running(stage.schedule())
    before = stage.row(ref)

    stage.write(lambda tx: tx.end([(Status.CANCELLED, Reason.TERMINATED, NOON + 1, ref)]))

    ended = before._replace(status=Status.CANCELLED, reason=Reason.TERMINATED, ended_at=NOON + 1, token=2)
    assert stage.row(ref) == ended
    assert not finish(stage, ref, token=1)
    assert not finish(stage, ref, token=2)
    assert stage.row(ref) == ended


def test_a_waiting_run_ended_by_decision_waits_no_more(stage: Stage) -> None:
    ref = stage.recorded(stage.schedule(), hold=Hold.RETRY, ready_for=9, ready_at=NOON)

    stage.write(lambda tx: tx.end([(Status.SKIPPED, Reason.SUPERSEDED, NOON + 1, ref)]))

    assert stage.row(ref).hold is None
    assert stage.readiness(ref) == (None, None)


@pytest.mark.parametrize("outcome", [SUCCESS, FAILURE], ids=["success", "failure"])
def test_an_outcome_is_recorded_under_its_token(stage: Stage, outcome: Outcome) -> None:
    ref = stage.running(stage.schedule())
    before = stage.row(ref)

    assert finish(stage, ref, token=1, outcome=outcome)

    status, reason, result, error, _ = outcome
    assert stage.row(ref) == before._replace(
        status=status, reason=reason, result=result, error=error, ended_at=NOON + HOUR
    )


@pytest.mark.parametrize("token", [0, 2, 99, -1])
def test_an_outcome_under_a_stale_token_is_refused(stage: Stage, token: int) -> None:
    ref = stage.running(stage.schedule())
    before = stage.row(ref)

    assert not finish(stage, ref, token)
    assert stage.row(ref) == before


@pytest.mark.parametrize("status", sorted(FINAL))
def test_an_outcome_of_a_run_that_is_over_is_refused(stage: Stage, status: Status) -> None:
    ref = stage.ended(stage.schedule(), status=status)
    before = stage.row(ref)

    assert not finish(stage, ref, token=0)
    assert stage.row(ref) == before


def test_an_outcome_of_a_run_that_has_not_started_is_refused(stage: Stage) -> None:
    ref = stage.recorded(stage.schedule())

    assert not finish(stage, ref, token=0)


def test_an_outcome_of_a_run_that_there_is_not_is_refused(stage: Stage) -> None:
    assert not finish(stage, 404, token=1)


def test_an_outcome_told_twice_is_recorded_once(stage: Stage) -> None:
    ref = stage.running(stage.schedule())
    assert finish(stage, ref, token=1, outcome=SUCCESS)

    assert not finish(stage, ref, token=1, outcome=FAILURE)
    assert stage.row(ref).status == Status.SUCCESS


def test_one_stale_token_among_many_is_told(stage: Stage) -> None:
    schedule = stage.schedule()
    good = [stage.running(schedule, NOON + number) for number in range(3)]
    reports = [Finish(ref, 1, SUCCESS, NOON) for ref in good]

    def act(tx: SqlTransaction) -> None:
        assert not tx.finish([*reports, Finish(good[0], 2, SUCCESS, NOON)])
        raise _UndoError

    with pytest.raises(_UndoError):
        stage.write(act)

    assert {stage.row(ref).status for ref in good} == {Status.RUNNING}
    assert stage.write(lambda tx: tx.finish(reports))
    assert {stage.row(ref).status for ref in good} == {Status.SUCCESS}


class _UndoError(Exception):
    """As the settler undoes a transaction in which a token was stale."""


def test_no_outcome_at_all_is_recorded_well(stage: Stage) -> None:
    assert stage.write(lambda tx: tx.finish([]))


def test_standing_is_token_and_status_of_those_that_there_are(stage: Stage) -> None:
    schedule = stage.schedule()
    running, waiting = stage.running(schedule), stage.recorded(schedule, NOON + 1)

    found = stage.read(lambda tx: tx.standing([running, waiting, 404]))

    assert found == {running: (1, Status.RUNNING), waiting: (0, Status.PENDING)}


def test_a_run_taken_from_its_worker_is_fenced_and_ready_for_another(stage: Stage) -> None:
    ref = stage.running(stage.schedule())
    before = stage.row(ref)

    stage.write(lambda tx: tx.lose([(1, 9, NOON + 1, ref)]))

    assert stage.row(ref) == before._replace(worker=None, losses=1, token=2)
    assert stage.readiness(ref) == (9, NOON + 1)
    assert not finish(stage, ref, token=1)
    assert stage.row(ref).status == Status.RUNNING


def test_a_run_taken_from_its_worker_goes_on_under_another(stage: Stage) -> None:
    ref = stage.running(stage.schedule())
    stage.write(lambda tx: tx.lose([(1, 9, NOON + 1, ref)]))

    stage.write(lambda tx: tx.start([(2, 1, 1, 1, NOON, ref)]))

    assert (stage.row(ref).worker, stage.row(ref).token) == (2, 3)
    assert not finish(stage, ref, token=1)
    assert finish(stage, ref, token=3)


@pytest.mark.parametrize("status", sorted(frozenset(Status) - {Status.RUNNING}))
def test_only_a_running_run_is_lost(stage: Stage, status: Status) -> None:
    ref = stage.recorded(stage.schedule(), status=status)
    before = stage.row(ref)

    stage.write(lambda tx: tx.lose([(1, 9, NOON, ref)]))

    assert stage.row(ref) == before
    assert stage.readiness(ref) == (None, None)


def test_a_worker_holds_its_running_runs_and_no_others(stage: Stage) -> None:
    schedule = stage.schedule()
    mine, told, done, lost = (stage.running(schedule, NOON + number, worker=1) for number in range(4))
    stage.running(schedule, NOON + HOUR, worker=2)
    stage.recorded(schedule, NOON + 2 * HOUR)
    finish(stage, done, token=1)
    stage.write(lambda tx: tx.lose([(1, 9, NOON, lost)]))
    stage.write(lambda tx: tx.tell([told], Order.CANCEL_BY_USER))

    held = stage.read(lambda tx: tx.leased(1))
    rows = stage.write(lambda tx: tx.leased_runs(1, 10))

    assert sorted(held) == [Leased(mine, 1, None), Leased(told, 1, Order.CANCEL_BY_USER)]
    assert rows == [stage.row(mine), stage.row(told)]
    assert refs(stage.write(lambda tx: tx.leased_runs(1, 1))) == [mine]


def test_the_first_order_stands(stage: Stage) -> None:
    schedule = stage.schedule()
    first, second, untold = (stage.running(schedule, NOON + number) for number in range(3))
    stage.write(lambda tx: tx.tell([first], Order.CANCEL_BY_USER))

    stage.write(lambda tx: tx.tell([first, second], Order.CANCEL_BY_POLICY))

    told = [stage.row(ref).orders for ref in (first, second, untold)]
    assert told == [Order.CANCEL_BY_USER, Order.CANCEL_BY_POLICY, None]


def test_progress_is_noted_while_the_run_runs_and_under_its_token_only(stage: Stage) -> None:
    schedule = stage.schedule()
    running, stale, over = (stage.running(schedule, NOON + number) for number in range(3))
    finish(stage, over, token=1)

    stage.write(lambda tx: tx.note_progress([('"1"', running, 1), ('"2"', stale, 2), ('"3"', over, 1)]))

    assert [stage.row(ref).progress for ref in (running, stale, over)] == ['"1"', None, None]


def test_ready_runs_come_longest_waiting_first_and_no_more_than_asked(stage: Stage) -> None:
    schedule = stage.schedule()
    early, late, also_early = (
        stage.recorded(schedule, NOON - number, ready_for=9, ready_at=NOON + minutes * MINUTE)
        for number, minutes in enumerate((1, 2, 1), start=1)
    )
    other_target = stage.recorded(schedule, NOON, ready_for=8, ready_at=NOON)
    not_yet = stage.recorded(schedule, NOON + 1, ready_for=9, ready_at=NOON + 2 * MINUTE + 1)
    stage.recorded(schedule, NOON + 2)

    until = NOON + 2 * MINUTE
    assert stage.write(lambda tx: tx.ready(9, until, 10)) == [stage.row(ref) for ref in (early, also_early, late)]
    assert refs(stage.write(lambda tx: tx.ready(9, until, 1))) == [early]
    assert refs(stage.write(lambda tx: tx.ready(8, until, 10))) == [other_target]
    assert refs(stage.write(lambda tx: tx.ready(9, until + 1, 10)))[-1] == not_yet


def test_waiting_runs_are_those_held_by_another_or_by_a_pause_oldest_first(stage: Stage) -> None:
    schedule = stage.schedule()
    paused = stage.recorded(schedule, NOON + 2, hold=Hold.PAUSED)
    behind = stage.recorded(schedule, NOON + 1, hold=Hold.OVERLAP)
    by_hand = stage.recorded(schedule, NOON + 1, hold=Hold.OVERLAP, kind=Kind.MANUAL)
    stage.recorded(schedule, NOON + 3, hold=Hold.DUE)
    stage.recorded(schedule, NOON + 4, hold=Hold.RETRY)
    stage.recorded(schedule, NOON + 5)
    stage.recorded(stage.schedule("other"), NOON, hold=Hold.OVERLAP)

    assert refs(stage.read(lambda tx: tx.waiting(schedule, 10))) == [by_hand, behind, paused]
    assert refs(stage.read(lambda tx: tx.waiting(schedule, 1))) == [by_hand]


def test_occupants_are_open_runs_that_count_whether_they_run_are_ready_or_await_their_retry(stage: Stage) -> None:
    schedule = stage.schedule()
    retry = stage.recorded(schedule, NOON + 3, hold=Hold.RETRY, occupies=1)
    ready = stage.recorded(schedule, NOON + 2, occupies=1, ready_for=9, ready_at=NOON)
    running = stage.running(schedule, NOON + 1)
    stage.running(schedule, NOON + 4, occupies=0)
    stage.recorded(schedule, NOON + 5, hold=Hold.OVERLAP, occupies=1)
    stage.ended(schedule, NOON + 6, occupies=1)
    stage.running(stage.schedule("other"), NOON)

    assert refs(stage.read(lambda tx: tx.occupants(schedule))) == [running, ready, retry]


def test_open_runs_are_all_that_are_not_final_oldest_first(stage: Stage) -> None:
    schedule = stage.schedule()
    everything = {
        status: stage.recorded(schedule, NOON - number, status=status) for number, status in enumerate(Status)
    }
    stage.running(stage.schedule("other"), NOON)

    found = refs(stage.read(lambda tx: tx.open_runs(schedule)))

    assert found == [everything[status] for status in reversed(Status) if status in OPEN]


def test_running_counts_are_of_runs_under_way_of_whatever_kind_and_nobody_else_s(stage: Stage) -> None:
    busy, idle, other = stage.schedule("busy"), stage.schedule("idle"), stage.schedule("other")
    stage.running(busy, NOON, occupies=0)
    stage.running(busy, NOON, kind=Kind.MANUAL)
    stage.recorded(busy, NOON + 1, status=Status.WAITING)
    for schedule in (busy, idle):
        stage.recorded(schedule, NOON + 2)
        stage.ended(schedule, NOON + 3)
    stage.running(other)

    assert stage.read(lambda tx: tx.running_counts([busy, idle, 404])) == {busy: 3}
    assert stage.read(lambda tx: tx.running_counts([])) == {}


def test_a_parked_retry_is_ready_for_nobody_until_the_pause_is_over(stage: Stage) -> None:
    schedule = stage.schedule()
    ref = stage.recorded(schedule, hold=Hold.RETRY, ready_for=9, ready_at=NOON + 1)
    before = stage.row(ref)

    stage.write(lambda tx: tx.park(ref))
    assert refs(stage.write(lambda tx: tx.ready(9, NOON + HOUR, 10))) == []

    stage.write(lambda tx: tx.wake_retries(schedule, 9))
    assert refs(stage.write(lambda tx: tx.ready(9, NOON + HOUR, 10))) == [ref]
    assert stage.readiness(ref) == (9, NOON + 1)
    assert stage.row(ref) == before


def test_only_parked_retries_of_the_schedule_are_woken(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    parked = stage.recorded(schedule, NOON, hold=Hold.RETRY, ready_at=NOON)
    left = [
        stage.recorded(schedule, NOON + 1, hold=Hold.PAUSED),
        stage.recorded(schedule, NOON + 2, hold=Hold.RETRY, ready_for=8, ready_at=NOON),
        stage.ended(schedule, NOON + 3),
        stage.recorded(other, NOON, hold=Hold.RETRY, ready_at=NOON),
    ]
    before = [stage.readiness(ref) for ref in left]

    stage.write(lambda tx: tx.wake_retries(schedule, 9))

    assert stage.readiness(parked) == (9, NOON)
    assert [stage.readiness(ref) for ref in left] == before


def test_what_waits_for_a_worker_waits_for_one_that_knows_the_new_target(stage: Stage) -> None:
    schedule, other = stage.schedule(), stage.schedule("other")
    ready = stage.recorded(schedule, NOON, ready_for=9, ready_at=NOON)
    lost = stage.running(schedule, NOON + 1)
    stage.write(lambda tx: tx.lose([(1, 9, NOON, lost)]))
    parked = stage.recorded(schedule, NOON + 2, hold=Hold.RETRY, ready_at=NOON)
    running = stage.running(schedule, NOON + 3)
    stranger = stage.recorded(other, NOON, ready_for=9, ready_at=NOON)

    stage.write(lambda tx: tx.retarget(schedule, 10))

    found = [stage.readiness(ref)[0] for ref in (ready, lost, parked, running, stranger)]
    assert found == [10, 10, None, None, 9]


def test_a_batch_changes_each_run_in_its_own_way(stage: Stage) -> None:
    schedule = stage.schedule()
    stage.write(lambda tx: tx.record([a_new_run(ref, schedule, NOON + ref) for ref in range(1, 101)]))

    stage.write(lambda tx: tx.start([(ref % 7, ref % 2, 1, ref, NOON + ref, ref) for ref in range(1, 101)]))

    for ref in (1, 50, 100):
        row = stage.row(ref)
        assert (row.worker, row.occupies, row.version, row.started_at) == (ref % 7, ref % 2, ref, NOON + ref)
