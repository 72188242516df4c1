"""The layer that goes by the clock: its matching is exact, and what names alone would not show is found."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.crash.anonymous import FAR, Faults, Window, faults_of, judge, match
from tests.crash.checker import check
from tests.crash.evidence import Evidence, Execution, Key
from tests.crash.ledger import SECOND, Cursor, Ledger, Row
from tests.crash.plan import Planned
from tests.crash.story import Disturbance, Report, Story

PLAN = (Planned("tick", 2, "allow_all", by_time=True),)
SLOTS = range(1002, 1042, 2)
CREATED = 1001 * SECOND


def an_execution(slot: int, started: float | None = None, **changes: Any) -> Execution:
    began = slot + 0.1 if started is None else started
    return Execution(Key("tick", "slot", slot * SECOND, 1), 7, began, began + 0.05, "done")._replace(**changes)


def a_story(executions: list[Execution], *faults: float, slots: range = SLOTS) -> Story:
    """So many slots, each with a row that says that it succeeded when its execution ended."""
    ended = {run.key: (run.ended or run.started) for run in executions}
    rows = [
        Row(slot, *key, slot * SECOND, "success", None, 1, 0, round(ended.get(key, slot + 1) * SECOND), "w host:7/1")
        for slot in slots
        for key in [Key("tick", "slot", slot * SECOND, 1)]
    ]
    end = slots[-1] * SECOND
    ledger = Ledger(rows, {"tick": Cursor("tick", CREATED, CREATED, end, 0, 0)}, [])
    done = [Disturbance("cut", 0, at) for at in faults]
    return Story(PLAN, ledger, Evidence(executions, []), done, end)


def on_time() -> list[Execution]:
    return [an_execution(slot) for slot in SLOTS]


def report_on(story: Story) -> Report:
    return check(story, least=1)


def verdicts(story: Story) -> set[str]:
    return {problem.partition(":")[0] for problem in report_on(story).problems}


def largest(windows: list[Window], moments: list[float]) -> int:
    """How many windows can be met at all, by trying everything."""
    if not windows:
        return 0
    first, *others = windows
    best = largest(others, moments)
    for place, moment in enumerate(moments):
        if first.opens <= moment < first.closes:
            best = max(best, 1 + largest(others, moments[:place] + moments[place + 1 :]))
    return best


_times = st.integers(0, 12).map(float)


@given(
    windows=st.lists(st.tuples(_times, st.integers(1, 8)), max_size=5),
    moments=st.lists(_times, max_size=5),
)
def test_earliest_deadline_first_meets_as_many_windows_as_can_be_met(
    windows: list[tuple[float, int]], moments: list[float]
) -> None:
    wanted = [Window(opens, opens + length) for opens, length in windows]
    found = match(wanted, moments)
    assert len(found) == largest(wanted, moments)
    assert len(set(found.values())) == len(found)
    assert all(wanted[window].opens <= moments[place] < wanted[window].closes for window, place in found.items())


@given(st.lists(st.floats(0, 100), max_size=8), st.floats(0, 100), st.floats(0, 10))
def test_faults_cover_what_they_touch(moments: list[float], since: float, length: float) -> None:
    faults = Faults((moment - 1.0, moment + 3.0) for moment in moments)
    touched = any(moment - 1.0 <= since + length and since <= moment + 3.0 for moment in moments)
    assert faults.cover(since, since + length) == touched


def test_a_story_on_time_meets_every_window() -> None:
    report = report_on(a_story(on_time()))
    assert report.problems == []
    assert [report.figures[name] for name in ("windows", "met", "judged")] == [20, 20, 20]
    assert report.figures["p50 lag outside, ms"] == 100


def test_labels_that_are_shifted_by_one_are_seen_by_the_clock_alone() -> None:
    """Each run has the label of the slot before it: every name is there once, and nothing is early."""
    shifted = [an_execution(slot, slot + 2.1) for slot in SLOTS]
    found = verdicts(a_story(shifted))
    assert found == {"unmet", "extra", "mislabelled"}


def test_a_slot_that_ran_twice_under_two_names_is_seen_by_the_clock_alone() -> None:
    first, second, *others = SLOTS
    twice = [an_execution(first, second + 0.3), an_execution(second), *map(an_execution, others)]
    assert verdicts(a_story(sorted(twice, key=lambda run: run.started))) == {"unmet", "extra"}


def test_a_fault_explains_a_window_that_was_missed() -> None:
    first, *others = SLOTS
    late = [an_execution(first, first + 1.8), *map(an_execution, others)]
    assert verdicts(a_story(late)) == {"unmet"}
    report = report_on(a_story(late, first + 0.05))
    assert report.problems == []
    assert (report.figures["met"], report.figures["judged"]) == (19, 18)


def test_what_is_delivered_once_more_may_take_the_window_of_the_slot_after_it() -> None:
    again = an_execution(1010, 1012.02, token=2)
    story = a_story(sorted([*on_time(), again], key=lambda run: run.started))
    kill = [Disturbance("kill", 7, 1010.16)]
    of_another_worker = [an_execution(1010, 1010.3)]
    for disturbances, extra in ((kill, 0), ([], 1)):
        faults = faults_of(disturbances, of_another_worker)
        assert judge(PLAN, story.ledger, story.evidence, faults, story.end).figures["extra"] == extra


def test_a_start_that_was_cut_off_leaves_its_window_open_to_doubt() -> None:
    first, *others = SLOTS
    cut_off = an_execution(first, ended=None, outcome=None)
    again = an_execution(first, first + 1.8, pid=8)
    story = a_story([cut_off, again, *map(an_execution, others)], first + 1.75)
    assert (report_on(story).figures["met"], report_on(story).figures["unmet"]) == (19, 0)


def test_of_many_windows_a_busy_machine_may_miss_one_but_run_none_twice() -> None:
    slots = range(1002, 1002 + 2 * 250, 2)
    late = [an_execution(slots[0], slots[0] + 1.8), *map(an_execution, slots[1:])]
    story = a_story(late, slots=slots)
    assert verdicts(story) == set()
    assert report_on(story).figures["unmet"] == 1
    twice = [*map(an_execution, slots), an_execution(slots[-1], slots[-1] + 0.4, token=2)]
    assert "extra" in verdicts(a_story(twice, slots=slots))


def test_a_blow_lasts_until_somebody_works_again_and_never_for_ever() -> None:
    killed = Disturbance("kill", 7, 100.0)
    faults = faults_of([killed], [an_execution(98), an_execution(100, 101.0)])
    assert [faults.cover(at, at) for at in (99.7, 99.9, 101.4, 101.6)] == [False, True, True, False]
    faults = faults_of([killed], [an_execution(98)])
    assert [faults.cover(at, at) for at in (103.9, 104.1)] == [True, False]


def test_a_freeze_and_an_outage_last_until_they_end() -> None:
    for begins, ends in (("stop", "wake"), ("down", "up"), ("stall", "over")):
        blows = [Disturbance(begins, 7, 100.0), Disturbance("kill", 8, 101.0), Disturbance(ends, 7, 110.0)]
        faults = faults_of(blows, [an_execution(100, 100.1), an_execution(100, 111.0)])
        assert [faults.cover(at, at) for at in (99.7, 105.0, 111.4, 111.6)] == [False, True, True, False]


def test_no_weather_explains_a_slot_that_never_ran() -> None:
    """Every window is covered by a fault, and still one execution is too few."""
    faults = [float(slot) for slot in SLOTS]
    assert "unmet" in verdicts(a_story(on_time()[1:], *faults))
    assert verdicts(a_story(on_time(), *faults)) == set()


def test_a_slot_that_is_far_too_late_for_no_reason_is_a_problem() -> None:
    first, *others = SLOTS
    late = [*map(an_execution, others), an_execution(first, first + FAR + 1)]
    story = a_story(sorted(late, key=lambda run: run.started))
    assert "late" in verdicts(story)
    assert report_on(story).figures["late"] == 1
    assert "late" not in verdicts(a_story(late, first + 0.1))
