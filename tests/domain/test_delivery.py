"""One rule says whether something is executed, whatever its record is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foliot.domain.delivery import (
    Delivery,
    RequestStage,
    Stage,
    delivery_of,
    payload_hash,
    stage_of_request,
    stage_of_run,
)
from foliot.domain.runs import FINAL, OnUnknown, Status

BOTH = pytest.mark.parametrize("on_unknown", OnUnknown)


@BOTH
def test_what_nobody_has_begun_is_executed(on_unknown: OnUnknown) -> None:
    assert delivery_of(Stage.NEW, on_unknown) is Delivery.EXECUTE


@BOTH
def test_what_somebody_is_at_is_waited_for(on_unknown: OnUnknown) -> None:
    assert delivery_of(Stage.UNDER_WAY, on_unknown) is Delivery.WAIT


@BOTH
def test_what_is_done_is_answered_from_memory(on_unknown: OnUnknown) -> None:
    assert delivery_of(Stage.DONE, on_unknown) is Delivery.ANSWER


def test_what_was_abandoned_is_delivered_again_or_asked_about_as_the_target_declares() -> None:
    assert delivery_of(Stage.ABANDONED, OnUnknown.REDELIVER) is Delivery.REDELIVER
    assert delivery_of(Stage.ABANDONED, OnUnknown.HOLD) is Delivery.ASK


@BOTH
@pytest.mark.parametrize("stage", Stage)
def test_a_key_that_was_used_for_something_else_is_refused(stage: Stage, on_unknown: OnUnknown) -> None:
    assert delivery_of(stage, on_unknown, is_same=False) is Delivery.REFUSE


@pytest.mark.parametrize("status", Status)
def test_a_run_is_at_the_stage_that_its_row_says(status: Status) -> None:
    stages = {stage_of_run(status, has_worker=held) for held in (True, False)}
    if status in FINAL:
        assert stages == {Stage.DONE}
    elif status is Status.RUNNING:
        assert stages == {Stage.UNDER_WAY, Stage.ABANDONED}
    else:
        assert stages == {Stage.NEW}


def test_a_request_is_at_the_stage_that_its_row_and_the_life_of_its_owner_say() -> None:
    assert stage_of_request(RequestStage.IN_PROGRESS, is_alive=True) is Stage.UNDER_WAY
    assert stage_of_request(RequestStage.IN_PROGRESS, is_alive=False) is Stage.ABANDONED
    assert stage_of_request(RequestStage.HELD, is_alive=False) is Stage.ABANDONED
    assert stage_of_request(RequestStage.RELEASED, is_alive=False) is Stage.NEW
    assert {stage_of_request(RequestStage.DONE, is_alive=alive) for alive in (True, False)} == {Stage.DONE}


TEXTS = st.lists(st.none() | st.text(alphabet="ab\0\1", max_size=4), min_size=3, max_size=3).map(tuple)


@given(TEXTS, TEXTS)
@example(("a\1b", "", ""), ("a", "b", "\1"))
@example((None, "", None), ("", None, None))
def test_different_requests_have_different_hashes(one: tuple[str | None, ...], other: tuple[str | None, ...]) -> None:
    assert (payload_hash(*one) == payload_hash(*other)) == (one == other)
