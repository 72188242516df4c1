"""The checker must find what it is there for: every verdict, on stories that were made to deserve it."""

from typing import Any

import pytest

from foliot.domain.trail import BEGINNING, TrailEntry, binding
from tests.crash.checker import VERDICTS, check
from tests.crash.evidence import Evidence, Execution, Key, Note
from tests.crash.ledger import SECOND, Cursor, Filling, Gap, Ledger, Memory, Row
from tests.crash.plan import Planned
from tests.crash.story import Disturbance, Report, Story

PLAN = (Planned("tick", 10), Planned("flaky", 10, fails=True))
CREATED, END = 1000 * SECOND + 1, 1020 * SECOND


def a_row(schedule: str, second: int, attempt: int = 1, **changes: Any) -> Row:
    """A run of process 7 that succeeded."""
    nominal_at = second * SECOND
    row = Row(
        ref=second * 10 + attempt + (5 if schedule == "flaky" else 0),
        schedule=schedule,
        kind="slot",
        nominal_at=nominal_at,
        attempt=attempt,
        due_at=nominal_at,
        status="success",
        reason=None,
        token=1,
        losses=0,
        ended_at=nominal_at + (attempt + 1) * SECOND,
        worker="crash host:7/1",
    )
    return row._replace(**changes)


def an_execution(row: Row, **changes: Any) -> Execution:
    outcome = "done" if row.status == "success" else "failed"
    started = row.nominal_at / SECOND + 0.1 + row.attempt
    return Execution(row.key, 7, started, started + 0.5, outcome, row.token)._replace(**changes)


FAILED: dict[str, Any] = {"status": "error", "reason": "internal"}
ROWS = [
    a_row("tick", 1010),
    a_row("tick", 1020),
    a_row("flaky", 1010, **FAILED),
    a_row("flaky", 1010, 2),
    a_row("flaky", 1020, **FAILED),
    a_row("flaky", 1020, 2, **FAILED),
    a_row("flaky", 1020, 3),
]
CURSORS = {planned.name: Cursor(planned.name, CREATED, CREATED, END, 0, 0) for planned in PLAN}


def a_story(rows: list[Row] = ROWS, **changes: Any) -> Story:
    """One in which all is well: four slots, one of them retried once, one twice."""
    executions = [an_execution(row) for row in ROWS]
    story = Story(PLAN, Ledger(rows, CURSORS, []), Evidence(executions, []), [], END)
    return story._replace(**changes)


def a_trail(deeds: int) -> list[TrailEntry]:
    """As the product writes it."""
    entries: list[TrailEntry] = []
    for number in range(1, deeds + 1):
        entry = TrailEntry(number, number, "ann", "schedule.pause", "schedule/tick", '{"note":"é"}', None, None, "")
        entries.append(entry._replace(hash=binding(entries[-1].hash if entries else BEGINNING, entry)))
    return entries


TRAIL = a_trail(3)


def verdicts(story: Story) -> set[str]:
    return {problem.partition(":")[0] for problem in report_on(story).problems}


def report_on(story: Story) -> Report:
    return check(story, least=1)


def evidence_with(*executions: Execution, notes: list[Note] | None = None) -> Evidence:
    return Evidence(sorted([*a_story().evidence.executions, *executions], key=lambda run: run.started), notes or [])


def memory_of(*rows: Row) -> Memory:
    memory = Memory()
    memory.see(rows)
    return memory


def without(row: Row, *instead: Row) -> list[Row]:
    return [other for other in ROWS if other != row] + list(instead)


FIRST, SECOND_ONE = ROWS[:2]
AGAIN = an_execution(FIRST, pid=8, started=1014.0, ended=1014.5)
BESIDE = an_execution(SECOND_ONE, started=1011.3, ended=1011.9)


def test_a_trail_as_it_is_written_holds() -> None:
    assert verdicts(a_story(ledger=Ledger(ROWS, CURSORS, [], trail=TRAIL))) == set()


def test_a_story_in_which_all_is_well_has_no_problems() -> None:
    report = report_on(a_story())
    assert report.problems == []
    assert report.figures["slots"] == 4
    assert report.figures["executions"] == 7


STORIES = [
    pytest.param("lost", a_story(without(FIRST), evidence=Evidence([], [])), id="a slot without a row"),
    pytest.param("lost", a_story(ROWS[:-1]), id="a failure without its retry"),
    pytest.param("lost", a_story(ledger=Ledger([], {}, []), evidence=Evidence([], [])), id="a schedule"),
    pytest.param(
        "lost",
        a_story(evidence=evidence_with(notes=[Note("triggered", 7, 1011.0, (Key("tick", "manual", 5, 1),))])),
        id="an acknowledged trigger",
    ),
    pytest.param(
        "lost",
        a_story(evidence=evidence_with(notes=[Note("declared", 7, 999.0, ())])),
        id="a schedule that was created again",
    ),
    pytest.param("doubled", a_story([*ROWS, FIRST._replace(ref=1)]), id="a slot with two rows"),
    pytest.param(
        "doubled",
        a_story(ledger=Ledger(ROWS, CURSORS, [Gap("tick", FIRST.nominal_at, FIRST.nominal_at)])),
        id="a slot with a row and a gap",
    ),
    pytest.param("doubled", a_story([*ROWS, a_row("tick", 1010, 2)]), id="an attempt after a success"),
    pytest.param("doubled", a_story(evidence=evidence_with(AGAIN)), id="an execution for nothing"),
    pytest.param("ghost", a_story([*ROWS, a_row("tick", 1015)]), id="a row that the spec does not name"),
    pytest.param("ghost", a_story([*ROWS, a_row("tick", 1030)]), id="a row after the end"),
    pytest.param("ghost", a_story(without(FIRST)), id="an execution without a row"),
    pytest.param(
        "ghost",
        a_story(without(FIRST, FIRST._replace(status="skipped", reason="overlap"))),
        id="an execution of what was skipped",
    ),
    pytest.param("early", a_story(without(FIRST, FIRST._replace(due_at=1012 * SECOND))), id="a start before its time"),
    pytest.param("unexecuted", a_story(evidence=Evidence([], [])), id="a success that nobody saw"),
    pytest.param(
        "unexecuted",
        a_story(without(FIRST, FIRST._replace(worker="crash host:8/1"))),
        id="a success recorded by another process",
    ),
    pytest.param(
        "unexecuted",
        a_story(without(FIRST, FIRST._replace(ended_at=FIRST.nominal_at))),
        id="a success recorded before it was one",
    ),
    pytest.param(
        "unexplained", a_story(without(FIRST, FIRST._replace(status="skipped"))), id="a skip without a reason"
    ),
    pytest.param("overlap", a_story(evidence=evidence_with(BESIDE)), id="two runs at the same time"),
    pytest.param(
        "changed",
        a_story(memory=memory_of(FIRST._replace(status="error", reason="lost"))),
        id="a final row that changed",
    ),
    pytest.param("changed", a_story(ROWS[1:], memory=memory_of(FIRST)), id="a final row that went"),
    pytest.param(
        "changed",
        a_story(without(FIRST, FIRST._replace(status="running")), memory=memory_of(FIRST)),
        id="a final row that is open again",
    ),
    pytest.param(
        "zombie",
        a_story(evidence=evidence_with(AGAIN._replace(token=2)), disturbances=[Disturbance("stop", 7, 1011.2)]),
        id="a result under an older token than the newest",
    ),
    pytest.param(
        "zombie",
        a_story(without(FIRST, FIRST._replace(token=2))),
        id="a result of somebody who had another token",
    ),
    pytest.param(
        "zombie",
        a_story(evidence=evidence_with(notes=[Note("fenced", 7, 1011.0, (FIRST.key,), (1,))])),
        id="a result of somebody who was fenced",
    ),
    pytest.param(
        "money",
        a_story(plan=(PLAN[0]._replace(is_charged=True), PLAN[1])),
        id="a call that was not charged",
    ),
    pytest.param("money", a_story(ledger=Ledger(ROWS, CURSORS, [], charged={FIRST.ref: 1})), id="a charge for nothing"),
    pytest.param("money", a_story(ledger=Ledger(ROWS, CURSORS, [], balances={1: 1})), id="a balance that is wrong"),
    pytest.param("trail", a_story(ledger=Ledger(ROWS, CURSORS, [], trail=TRAIL[1:])), id="a deed that is gone"),
    pytest.param(
        "trail", a_story(ledger=Ledger(ROWS, CURSORS, [], trail=[TRAIL[0], *TRAIL])), id="a deed that is there twice"
    ),
    pytest.param(
        "lost", a_story(without(FIRST, FIRST._replace(status="error", reason="lost", losses=2))), id="given up soon"
    ),
    pytest.param("stuck", a_story(without(FIRST, FIRST._replace(status="running"))), id="a run without an end"),
    pytest.param(
        "stuck",
        a_story(ledger=Ledger(ROWS, {**CURSORS, "tick": CURSORS["tick"]._replace(held=1)}, [])),
        id="a count of nothing",
    ),
]
"""Each with the verdict that it deserves."""


@pytest.mark.parametrize(("verdict", "story"), STORIES)
def test_the_checker_finds(verdict: str, story: Story) -> None:
    assert verdict in verdicts(story)


@pytest.mark.parametrize(
    ("fenced_at", "row", "count"),
    [
        (1012.0, FIRST, 1),
        (1010.0, FIRST, 0),
        (1100.0, FIRST, 0),
        (1012.0, FIRST._replace(status="cancelled", reason="terminated"), 0),
    ],
    ids=["right after it woke up", "before that", "long after", "because another replaced it"],
)
def test_a_fence_counts_as_one_after_a_freeze_only(fenced_at: float, row: Row, count: int) -> None:
    frozen = [Disturbance("stop", 7, 1008.0), Disturbance("wake", 7, 1011.0)]
    evidence = evidence_with(notes=[Note("fenced", 7, fenced_at, (FIRST.key,), (1,))])
    figures = report_on(a_story(without(FIRST, row), evidence=evidence, disturbances=frozen)).figures
    assert figures["fenced after a freeze"] == count


def test_a_second_execution_is_explained_by_a_kill_between_the_two() -> None:
    killed = [Disturbance("kill", 7, 1012.0)]
    rows = without(FIRST, FIRST._replace(worker="crash host:8/2", ended_at=1015 * SECOND))
    assert verdicts(a_story(rows, evidence=evidence_with(AGAIN), disturbances=killed)) == set()
    too_early = [Disturbance("kill", 7, 1000.0)]
    assert verdicts(a_story(rows, evidence=evidence_with(AGAIN), disturbances=too_early)) == {"doubled"}


def test_a_second_execution_is_explained_by_the_loss_of_the_lease() -> None:
    rows = without(FIRST, FIRST._replace(worker="crash host:8/2", ended_at=1015 * SECOND))
    fenced = evidence_with(AGAIN, notes=[Note("fenced", 7, 1016.0, (FIRST.key,))])
    assert verdicts(a_story(rows, evidence=fenced)) == set()
    another = evidence_with(AGAIN, notes=[Note("fenced", 7, 1016.0, (SECOND_ONE.key,))])
    assert verdicts(a_story(rows, evidence=another)) == {"doubled"}


def test_who_wakes_up_with_a_run_that_it_has_lost_may_begin_it_after_the_one_who_has_it() -> None:
    row = a_row("tick", 1010, token=2, ended_at=1011_610000)
    executions = [an_execution(row), *a_story().evidence.executions[1:]]
    woken = an_execution(row, pid=8, token=1, started=1011.2, ended=1011.612)
    frozen = [Disturbance("stop", 8, 1008.0), Disturbance("wake", 8, 1011.1)]
    story = a_story([row, *ROWS[1:]], evidence=Evidence([*executions, woken], []))
    assert verdicts(story._replace(disturbances=frozen)) == set()
    assert "doubled" in verdicts(story)


def test_what_was_terminated_is_not_in_the_way_of_the_next() -> None:
    handled = (PLAN[0]._replace(is_handled=True), PLAN[1])

    def ended(at: float) -> set[str]:
        row = FIRST._replace(status="cancelled", reason="terminated", ended_at=round(at * SECOND))
        return verdicts(a_story(without(FIRST, row), evidence=evidence_with(BESIDE), plan=handled))

    assert "overlap" not in ended(1011.2)
    assert "overlap" in ended(1011.4), "it was terminated after the next had begun"


def test_slots_in_a_gap_are_recorded() -> None:
    gap = Gap("tick", FIRST.nominal_at, FIRST.nominal_at)
    executions = [run for run in a_story().evidence.executions if run.key != FIRST.key]
    story = a_story(ledger=Ledger(without(FIRST), CURSORS, [gap]), evidence=Evidence(executions, []))
    assert verdicts(story) == set()


def test_a_story_in_which_too_little_happened_proves_nothing() -> None:
    assert check(a_story(), least=5).problems == ["idle: 4 runs succeeded, less than 5: this proves nothing"]


def test_no_verdict_is_without_a_story_that_deserves_it() -> None:
    """These, those of the clock, in `test_anonymous`, and that of permission and money, in `test_refusals`."""
    elsewhere = {"unmet", "extra", "mislabelled", "late", "forbidden"}
    assert {str(story.values[0]) for story in STORIES} | elsewhere == set(VERDICTS)


def test_what_was_removed_for_its_age_is_not_asked_for() -> None:
    cursors = {name: cursor._replace(pruned_before=SECOND_ONE.nominal_at) for name, cursor in CURSORS.items()}
    kept = [row for row in ROWS if row.nominal_at >= SECOND_ONE.nominal_at]
    assert verdicts(a_story(ledger=Ledger(kept, cursors, []), memory=memory_of(*ROWS))) == set()
    assert "lost" in verdicts(a_story(ledger=Ledger([row for row in kept if row != SECOND_ONE], cursors, [])))


HANDLED = Planned("tick", 10, is_handled=True)
PAUSED = (Note("paused", 7, 1005.0, ()), Note("resuming", 7, 1015.0, ()))
FILLING = Filling(3, "tick", 990, 1000, 0, 1005 * SECOND)
GIVEN_UP = Note("given up", 7, 1001.0, (Key("tick", "backfill", 3, 1),))
FILLED = [a_row("tick", second, kind="backfill 3", ref=second) for second in (990, 1000)]


def a_handled_story(*notes: Note, fillings: tuple[Filling, ...] = (), more: tuple[Row, ...] = ()) -> Story:
    """One in which people took a hand in `tick`."""
    rows = [*ROWS[:2], *more]
    story = Story((HANDLED,), Ledger(rows, {"tick": CURSORS["tick"]}, [], fillings), Evidence([], []), [], END)
    return story._replace(evidence=Evidence([an_execution(row) for row in rows], list(notes)))


def test_a_backfill_that_was_cancelled_owes_nothing_more() -> None:
    cancelled = FILLING._replace(cancelled_at=FILLING.ended_at)
    assert verdicts(a_handled_story(GIVEN_UP, fillings=(cancelled,), more=(FILLED[0],))) == set()


def test_people_who_took_a_hand_and_were_heard_are_no_problem() -> None:
    key = Key("tick", "backfill", 3, 1)
    story = a_handled_story(Note("filling", 7, 1001.0, (key,)), fillings=(FILLING,), more=tuple(FILLED))
    assert verdicts(story) == set()


@pytest.mark.parametrize(
    ("verdict", "story"),
    [
        pytest.param("ghost", a_handled_story(*PAUSED), id="a slot in a pause"),
        pytest.param("ghost", a_handled_story(Note("skipped", 7, 1001.0, (FIRST.key,))), id="a slot that was skipped"),
        pytest.param(
            "lost", a_handled_story(Note("filling", 7, 1001.0, (Key("tick", "backfill", 4, 1),))), id="a backfill"
        ),
        pytest.param("lost", a_handled_story(fillings=(FILLING,), more=(FILLED[0],)), id="a slot of a backfill"),
        pytest.param(
            "doubled",
            a_handled_story(fillings=(FILLING,), more=(*FILLED, FILLED[0]._replace(ref=1))),
            id="a slot of a backfill twice",
        ),
        pytest.param(
            "ghost",
            a_handled_story(fillings=(FILLING._replace(last=999),), more=tuple(FILLED)),
            id="a slot beyond a backfill",
        ),
        pytest.param(
            "stuck",
            a_handled_story(fillings=(FILLING._replace(ended_at=None),), more=tuple(FILLED)),
            id="a backfill without an end",
        ),
        pytest.param(
            "lost",
            a_handled_story(GIVEN_UP, fillings=(FILLING,), more=tuple(FILLED)),
            id="that a backfill was cancelled",
        ),
        pytest.param(
            "lost", a_handled_story(Note("created", 7, 1001.0, (Key("gone", "schedule", 0, 1),))), id="a new schedule"
        ),
        pytest.param(
            "lost", a_handled_story(Note("deleted", 7, 1001.0, (Key("tick", "schedule", 0, 1),))), id="a deletion"
        ),
    ],
)
def test_the_checker_finds_broken_promises(verdict: str, story: Story) -> None:
    assert verdict in verdicts(story)
