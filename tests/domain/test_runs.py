import pytest

from foliot.domain.runs import FINAL, LEGAL_MOVES, OPEN, Status, is_legal


def test_every_status_is_either_open_or_final() -> None:
    assert set(Status) == OPEN | FINAL
    assert not OPEN & FINAL
    assert set(LEGAL_MOVES) == set(Status)


@pytest.mark.parametrize("final", sorted(FINAL))
def test_a_final_run_never_moves_again(final: Status) -> None:
    assert not any(is_legal(final, after) for after in Status)


@pytest.mark.parametrize("status", sorted(Status))
def test_no_move_leads_back(status: Status) -> None:
    order = [Status.PENDING, Status.RUNNING, Status.WAITING]
    behind = order[: order.index(status) + 1] if status in OPEN else order
    # What was answered waits for a worker again.
    assert [before for before in behind if is_legal(status, before)] == [Status.PENDING] * (status is Status.WAITING)


def test_a_run_that_is_open_can_end() -> None:
    assert all(is_legal(status, Status.ERROR) for status in OPEN)
    assert all(is_legal(status, Status.CANCELLED) for status in OPEN)


def test_a_run_succeeds_only_after_it_ran() -> None:
    assert not is_legal(Status.PENDING, Status.SUCCESS)
    assert is_legal(Status.RUNNING, Status.SUCCESS)
    assert is_legal(Status.WAITING, Status.SUCCESS)


def test_only_a_running_one_waits_for_a_person() -> None:
    assert [status for status in Status if is_legal(status, Status.WAITING)] == [Status.RUNNING]
