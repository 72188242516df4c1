"""What a worker holds in its hands stays in proportion to what it runs."""

import asyncio
from collections.abc import Callable

from foliot.clock import SystemClock
from foliot.domain.grants import Grant
from foliot.domain.runs import Kind, OnUnknown, Status
from foliot.domain.settlement import Outcome
from foliot.engine.counters import Counters
from foliot.engine.hands import Hands
from foliot.ports import Control, Launch
from tests.builders import HOUR, NOON

GRANT = Grant(1, "ann", 1, frozenset({"graph:execute:*"}))
LONG = "x" * 1_000_000


class _Gate:
    """Every run ends at once, with a result of that length."""

    def __init__(self, result: str | None) -> None:
        self.result = result

    def targets(self) -> list[str]:
        return []

    def room(self, target: str) -> int | None:
        return None

    def on_unknown(self, target: str) -> OnUnknown:
        return OnUnknown.REDELIVER

    def report_digest(self, target: str, run_id: str) -> str | None:
        return None

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        return Outcome(Status.SUCCESS, result=self.result)


def a_launch(ref: int, timeout: int | None) -> Launch:
    slot = (NOON, NOON, 1, 0)
    return Launch(
        ref,
        1,
        1,
        "digest",
        "python:digest",
        Kind.SLOT,
        *slot,
        True,
        {},
        None,
        None,
        None,
        timeout,
        GRANT,
        0,
        None,
        None,
        None,
    )


def with_hands(result: str | None, act: Callable[[Hands, int], None], runs: int, timeout: int | None) -> Hands:
    """Runs one after the other; `act` is called when each has reported."""

    async def work() -> Hands:
        hands = Hands(_Gate(result), SystemClock(), lambda: NOON, lambda: None, Counters())
        for ref in range(runs):
            hands.begin(a_launch(ref, timeout))
            await asyncio.sleep(0)
            act(hands, ref)
        return hands

    return asyncio.run(work())


def test_timeouts_of_runs_that_are_over_are_forgotten() -> None:
    def record(hands: Hands, _: int) -> None:
        hands.recorded(hands.take_reports(10))

    hands = with_hands(None, record, runs=1_000, timeout=HOUR)
    assert len(hands) == 0
    assert len(hands._deadlines) < 200


def test_the_timeout_of_a_run_that_goes_on_is_kept_whatever_ends_meanwhile() -> None:
    def record_all_but_the_first(hands: Hands, ref: int) -> None:
        if ref > 0:
            reports = hands.take_reports(10)
            hands._reports.clear()
            for report in reports:
                if report.launch.ref > 0:
                    hands._let_go(report.launch)

    hands = with_hands(None, record_all_but_the_first, runs=1_000, timeout=HOUR)
    assert list(hands.held) == [0]
    assert 0 in {ref for _, ref, _ in hands._deadlines}


def test_long_results_are_recorded_a_few_at_a_time() -> None:
    hands = with_hands(LONG, lambda hands, ref: None, runs=40, timeout=None)
    taken = hands.take_reports(1_000)
    assert 1 <= len(taken) < 20
    hands.recorded(taken)
    assert hands.reports == 40 - len(taken)


def test_one_result_is_recorded_however_long_it_is() -> None:
    hands = with_hands(LONG * 20, lambda hands, ref: None, runs=2, timeout=None)
    assert len(hands.take_reports(1_000)) == 1
