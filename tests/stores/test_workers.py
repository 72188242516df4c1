"""Workers: their numbers are their own, their leases run out, and who is declared gone stays gone."""

from foliot.rows import Expired
from foliot.stores.transaction import SqlTransaction
from tests.builders import DAY, MINUTE, NOON, SECOND
from tests.stores.stage import Stage


def registered(stage: Stage, *leases: int | None) -> list[int]:
    """Workers, each with its lease."""
    workers = []
    for number, lease in enumerate(leases):
        workers.append(worker := stage.write(lambda tx, number=number: tx.register(f"worker {number}")))  # type: ignore[misc]
        assert stage.write(lambda tx, worker=worker, lease=lease: tx.renew(worker, lease))  # type: ignore[misc]
    return workers


def known(stage: Stage) -> list[int]:
    return [row[0] for row in stage.read(lambda tx: tx._all("SELECT ref FROM workers ORDER BY ref"))]


def test_every_worker_has_a_number_of_its_own(stage: Stage) -> None:
    first, second = (stage.write(lambda tx: tx.register("same name")) for _ in range(2))

    assert second > first


def test_the_number_of_a_forgotten_worker_is_not_given_again(stage: Stage) -> None:
    forgotten = []
    for _ in range(3):
        forgotten += registered(stage, None)
        stage.write(lambda tx: tx.remove_stopped(NOON + DAY))

    assert len(set(forgotten)) == 3


def test_a_lease_is_renewed_until_the_worker_is_declared_gone(stage: Stage) -> None:
    (worker,) = registered(stage, NOON + MINUTE)
    assert stage.write(lambda tx: tx.renew(worker, NOON + 2 * MINUTE))

    stage.write(lambda tx: tx.stop(worker))

    assert not stage.write(lambda tx: tx.renew(worker, NOON + 3 * MINUTE))
    assert stage.read(lambda tx: tx.news(0).expires_at) == NOON + 2 * MINUTE


def test_a_worker_that_there_is_not_renews_nothing(stage: Stage) -> None:
    assert not stage.write(lambda tx: tx.renew(404, NOON))


def test_expired_are_other_workers_whose_lease_is_over_longest_first(stage: Stage) -> None:
    me, late, later, _, _ = registered(stage, NOON - 9, NOON - 1, NOON - 2, NOON, None)

    assert stage.write(lambda tx: tx.expired(me)) == [Expired(later, "worker 2"), Expired(late, "worker 1")]


def test_an_expired_worker_that_somebody_rescues_is_left_to_him(postgresql: Stage) -> None:
    registered(postgresql, NOON - 1)

    def rescue(tx: SqlTransaction) -> None:
        assert len(tx.expired(0)) == 1
        assert postgresql.write(lambda other: other.expired(0)) == []

    postgresql.write(rescue)


def test_a_lease_that_is_forgotten_or_given_up_never_runs_out(stage: Stage) -> None:
    forgotten, given_up = registered(stage, NOON - 1, NOON - 1)

    stage.write(lambda tx: tx.forget_lease(forgotten))
    stage.write(lambda tx: tx.renew(given_up, None))

    assert stage.write(lambda tx: tx.expired(0)) == []
    assert stage.read(lambda tx: tx.news(0).expires_at) is None


def test_voiding_the_others_ends_every_lease_but_mine_now(stage: Stage) -> None:
    me, other, idle = registered(stage, NOON + MINUTE, NOON + MINUTE, None)

    stage.write(lambda tx: tx.void_others(me))

    assert [worker.ref for worker in stage.write(lambda tx: tx.expired(0))] == [other]
    assert stage.read(lambda tx: tx.news(other).expires_at) == NOON + MINUTE
    assert stage.write(lambda tx: tx.renew(idle, None))


def test_next_expiry_is_the_first_of_the_others(stage: Stage) -> None:
    me, _, _, _ = registered(stage, NOON + 1, NOON + 3, NOON + 2, None)

    assert stage.read(lambda tx: tx.news(me).expires_at) == NOON + 2
    assert stage.read(lambda tx: tx.news(0).expires_at) == NOON + 1


def test_only_workers_long_gone_or_long_silent_without_a_lease_are_forgotten(stage: Stage) -> None:
    gone, silent, holding, gone_holding = registered(stage, None, None, NOON, NOON)
    stage.write(lambda tx: tx.stop(gone))
    stage.write(lambda tx: tx.stop(gone_holding))
    stage.clock.at = NOON + DAY
    recently_gone, alive = registered(stage, None, None)
    stage.write(lambda tx: tx.stop(recently_gone))

    assert stage.write(lambda tx: tx.remove_stopped(NOON + DAY)) == 2
    assert known(stage) == [holding, gone_holding, recently_gone, alive]
    assert {gone, silent}.isdisjoint(known(stage))


def test_a_worker_that_is_stopped_twice_stopped_the_first_time(stage: Stage) -> None:
    (worker,) = registered(stage, None)
    stage.write(lambda tx: tx.stop(worker))
    stage.clock.at = NOON + SECOND
    stage.write(lambda tx: tx.stop(worker))

    assert stage.read(lambda tx: tx._all("SELECT stopped_at FROM workers")) == [(NOON,)]
