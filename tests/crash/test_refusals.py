"""The checker must find it when something is refused for a reason that is not true, or is not refused at all."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.crash.checker import check
from tests.crash.evidence import Evidence, Execution, Key, Note
from tests.crash.ledger import SECOND, Ledger, Posting, Receipt, Row
from tests.crash.plan import COST, ESTIMATE, FREE, PAID, Planned
from tests.crash.story import Disturbance, Story
from tests.crash.test_checker import CREATED, CURSORS, END, a_row, an_execution

PLAN = Planned("tick", 10)
RUN, OTHER = a_row("tick", 1010), a_row("tick", 1020)
REVOKED = RUN._replace(status="skipped", reason="grant_revoked", ended_at=1010 * SECOND)
POOR = RUN._replace(status="skipped", reason="insufficient_credits", ended_at=1010 * SECOND)
PAYMENT = Posting(1, "top_up", 3 * ESTIMATE[1], "season 1", CREATED)
ELSEWHERE = PAYMENT._replace(account=2, reference="a verb's")


def notes(**said: float) -> list[Note]:
    return [Note(what, 7, at, (Key("tick", "grant", 0, 1),)) for what, at in said.items()]


def a_story(rows: Sequence[Row], said: Sequence[Note] = (), paid: Sequence[Posting] = (), **planned: Any) -> Story:
    """Of one schedule; each of its runs that succeeded was charged, and balances are what was posted."""
    plan = PLAN._replace(is_charged="model" in planned, **planned)
    done = [row for row in rows if row.status == "success"]
    charged = {row.ref: 1 for row in done} if plan.is_charged else {}
    balances = {each: sum(paid_in.amount for paid_in in paid if paid_in.account == each) for each in (1, 2)}
    ledger = Ledger(list(rows), {"tick": CURSORS["tick"]}, [], (), charged, balances, paid)
    return Story((plan,), ledger, Evidence([an_execution(row) for row in done], list(said)), [], END)


def verdicts(story: Story) -> set[str]:
    return {problem.partition(":")[0] for problem in check(story, least=0).problems}


def with_execution(story: Story, *executions: Execution) -> Story:
    everything = sorted([*story.evidence.executions, *executions], key=lambda run: run.started)
    return story._replace(evidence=story.evidence._replace(executions=everything))


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(
            a_story([REVOKED, OTHER], notes(revoking=1005.0, revoked=1005.1, permitting=1012.0, permitted=1012.1)),
            id="a grant that was revoked",
        ),
        pytest.param(
            a_story([RUN, OTHER], notes(revoking=1010.5, revoked=1010.6, permitting=1012.0, permitted=1012.1)),
            id="a run a moment later",
        ),
        pytest.param(a_story([POOR, OTHER._replace(status="skipped", reason="overlap")], model=PAID), id="no credits"),
        pytest.param(
            a_story([POOR, OTHER._replace(status="skipped", reason="overlap")], paid=[ELSEWHERE], model=PAID),
            id="credits of somebody else",
        ),
        pytest.param(a_story([RUN, OTHER], paid=[PAYMENT], model=PAID), id="credits"),
        pytest.param(a_story([RUN, OTHER], model=FREE), id="a free model"),
    ],
)
def test_what_is_refused_for_a_true_reason_is_no_problem(story: Story) -> None:
    assert verdicts(story) == set()


@pytest.mark.parametrize(
    ("verdict", "story"),
    [
        pytest.param("unexplained", a_story([REVOKED, OTHER]), id="a grant that nobody revoked"),
        pytest.param(
            "unexplained",
            a_story([REVOKED, OTHER], notes(revoking=1001.0, revoked=1001.1, permitting=1002.0, permitted=1002.1)),
            id="a grant that was given back",
        ),
        pytest.param("unexplained", a_story([POOR, OTHER], paid=[PAYMENT], model=PAID), id="an account that can pay"),
        pytest.param("unexplained", a_story([POOR, OTHER], model=FREE), id="a free model that is not free"),
        pytest.param(
            "unexplained",
            a_story([RUN._replace(status="skipped", reason="superseded"), OTHER]),
            id="a policy that does not do so",
        ),
        pytest.param(
            "unexplained", a_story([RUN._replace(status="skipped", reason="missed"), OTHER]), id="missed on time"
        ),
        pytest.param(
            "forbidden",
            a_story([RUN, OTHER], notes(revoking=1005.0, revoked=1005.1)),
            id="a run by a grant that was revoked",
        ),
        pytest.param("forbidden", a_story([RUN, OTHER], model=PAID), id="a run that nobody could pay for"),
    ],
)
def test_the_checker_finds(verdict: str, story: Story) -> None:
    assert verdict in verdicts(story)


def test_a_run_that_was_cut_off_and_is_refused_when_it_is_delivered_again_is_no_ghost() -> None:
    story = a_story([REVOKED._replace(token=2), OTHER], notes(revoking=1009.0, revoked=1009.1))
    cut_off = an_execution(RUN, started=1008.9, ended=None, outcome=None)._replace(token=1)
    late = story._replace(disturbances=[Disturbance("kill", 7, 1009.2)])
    assert "ghost" not in verdicts(with_execution(late, cut_off))
    assert "ghost" in verdicts(with_execution(late, cut_off._replace(token=2)))


@pytest.mark.parametrize(("at", "is_let_in"), [(1005, True), (1015, False)])
def test_a_run_that_was_charged_before_is_let_in_again_by_an_account_that_has_nothing(at: int, is_let_in: bool) -> None:
    skipped = OTHER._replace(status="skipped", reason="overlap")
    again, poor = a_story([RUN, skipped], model=PAID), a_story([POOR, skipped], model=PAID)
    charged = [Receipt("foliot a/1/call", 0, RUN.ref, at * SECOND)]
    assert ("forbidden" in verdicts(_with_receipts(again, charged))) is not is_let_in
    assert ("unexplained" in verdicts(_with_receipts(poor, charged))) is is_let_in


def _with_receipts(story: Story, receipts: Sequence[Receipt]) -> Story:
    return story._replace(ledger=story.ledger._replace(receipts=receipts))


def test_who_was_frozen_between_its_look_and_its_start_is_not_to_blame() -> None:
    story = a_story([RUN, OTHER], notes(revoking=1005.0, revoked=1005.1, permitting=1015.0, permitted=1015.1))
    assert "forbidden" in verdicts(story)
    assert "forbidden" not in verdicts(story._replace(disturbances=[Disturbance("stop", 7, 1005.0)]))


@pytest.mark.parametrize(
    ("receipts", "charges"),
    [
        pytest.param([COST, COST], [COST], id="a receipt twice"),
        pytest.param([COST], [COST, COST], id="a charge twice"),
        pytest.param([COST], [], id="a receipt that nobody paid"),
        pytest.param([], [COST], id="a charge without a receipt"),
        pytest.param([COST], [COST + 1], id="a charge that is too much"),
    ],
)
def test_the_checker_finds_money_that_does_not_add_up(receipts: list[int], charges: list[int]) -> None:
    paid = [PAYMENT, *(Posting(1, "charge", -amount, "foliot a/1/call", CREATED) for amount in charges)]
    story = a_story([RUN, OTHER], paid=paid, model=PAID)
    taken = [Receipt("foliot a/1/call", amount) for amount in receipts]
    assert "money" in verdicts(_with_receipts(story, taken))
