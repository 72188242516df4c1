from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foliot import Calendar, Interval, Spec
from foliot.books.configurations import canonical_text
from foliot.domain.generation import Gap
from foliot.domain.ledger import Absence, Asks, Explanation, Known, LedgerVerdict, Taker, explain, is_forsaken
from foliot.domain.runs import OPEN, Hold, Kind, Reason, Status
from foliot.domain.tenures import Tenure, TenureEnd
from tests.builders import DAY, HOUR, MINUTE, NOON, SECOND, a_paused_state, a_record, a_state, what_is_known

ONE = NOON + HOUR


def of_one_run(status: Status, **changes: object) -> Explanation:
    """What is said of noon when it has that run."""
    return explain(what_is_known(runs=[a_record(status, **changes)]), NOON)


def verdict_on(instant: int, known: Known) -> tuple[LedgerVerdict, object]:
    explanation = explain(known, instant)
    assert explanation.sentence.startswith("2026-")
    assert explanation.sentence.endswith(".")
    return explanation.verdict, explanation.reason


class TestFromARow:
    def test_a_slot_that_ran_is_told_with_its_times(self) -> None:
        assert of_one_run(Status.SUCCESS) == Explanation(
            LedgerVerdict.RAN,
            None,
            "digest:2026-11-15T12:00:00Z~1",
            "2026-11-15T12:00:00Z ran from 2026-11-15T12:00:00Z to 2026-11-15T12:01:00Z.",
        )

    @pytest.mark.parametrize(("kind", "asked"), [(Kind.MANUAL, " by hand"), (Kind.BACKFILL, " by a backfill")])
    def test_who_asked_for_it_is_said(self, kind: Kind, asked: str) -> None:
        assert f" ran{asked} from " in of_one_run(Status.SUCCESS, kind=kind).sentence

    def test_a_failure_is_told_with_its_reason_and_the_first_line_of_its_error(self) -> None:
        explanation = of_one_run(Status.ERROR, reason=Reason.TIMEOUT, error="too slow\nTraceback")
        assert explanation.verdict is LedgerVerdict.FAILED
        assert explanation.reason is Reason.TIMEOUT
        assert explanation.sentence.endswith(
            "and failed: it ran longer than its timeout; let it do less, or raise that (too slow)."
        )

    def test_a_failure_without_a_message_or_a_start_is_told_all_the_same(self) -> None:
        explanation = of_one_run(Status.ERROR, reason=Reason.LOST, started_at=None)
        assert explanation.sentence == (
            "2026-11-15T12:00:00Z ran from an unknown time and failed: "
            "its worker died or lost its lease again and again; see what it does to it, then `runs.retry`."
        )

    def test_a_run_that_is_not_over_is_told_with_its_start(self) -> None:
        explanation = of_one_run(Status.RUNNING)
        assert explanation.verdict is LedgerVerdict.RUNNING
        assert explanation.sentence == "2026-11-15T12:00:00Z is running since 2026-11-15T12:00:00Z."

    def test_a_run_that_has_asked_is_held_and_told_to_wait_for_its_answer(self) -> None:
        explanation = of_one_run(Status.WAITING)
        assert explanation.verdict is LedgerVerdict.HELD
        assert explanation.sentence == (
            "2026-11-15T12:00:00Z began at 2026-11-15T12:00:00Z and waits for an answer: `runs.questions` says whose."
        )

    @pytest.mark.parametrize(
        ("kind", "who", "words"),
        [
            (
                "approval",
                ("ann", "bob"),
                "for ann or bob to answer 'approval' until 2026-11-15T13:00:00Z: `runs.decide`",
            ),
            ("approval", (), "for anybody to answer 'approval' until 2026-11-15T13:00:00Z: `runs.decide`"),
            ("callback", (), "for its target to report until 2026-11-15T13:00:00Z: `runs.cancel`"),
            ("unknown_outcome", (), "for anybody to say until 2026-11-15T13:00:00Z whether its code is run once more"),
        ],
    )
    def test_a_run_that_has_asked_is_told_with_who_may_answer_and_until_when(
        self, kind: str, who: tuple[str, ...], words: str
    ) -> None:
        explanation = of_one_run(Status.WAITING, asks=Asks(kind, who, NOON + HOUR))
        assert f"12:00:00Z and waits {words}" in explanation.sentence

    @pytest.mark.parametrize("reason", Reason)
    @pytest.mark.parametrize("status", [Status.SKIPPED, Status.CANCELLED, Status.ERROR])
    def test_no_reason_is_told_by_its_bare_name(self, status: Status, reason: Reason) -> None:
        sentence = of_one_run(status, reason=reason).sentence
        assert not sentence.endswith(f": {reason}.")
        assert len(sentence.rpartition("Z ")[2].split()) > 5

    def test_a_run_that_had_begun_and_asked_is_not_told_as_one_that_never_did(self) -> None:
        explanation = of_one_run(Status.SKIPPED, reason=Reason.GRANT_REVOKED, answers=1)
        assert explanation.sentence.startswith(
            "2026-11-15T12:00:00Z began at 2026-11-15T12:00:00Z, asked, and was not let go on: its grant was revoked; "
        )

    @pytest.mark.parametrize(
        ("hold", "waits_for"),
        [
            (Hold.OVERLAP, "the run before it to end"),
            (Hold.PAUSED, "the schedule to be resumed"),
            (Hold.DUE, "its due time"),
            (Hold.RETRY, "its next attempt"),
            (None, "a worker with room for it"),
        ],
    )
    def test_a_pending_run_is_told_with_what_it_waits_for(self, hold: Hold | None, waits_for: str) -> None:
        explanation = of_one_run(Status.PENDING, hold=hold, started_at=None)
        assert explanation.verdict is LedgerVerdict.HELD
        assert explanation.reason is hold
        assert explanation.sentence == f"2026-11-15T12:00:00Z waits for {waits_for}."

    @pytest.mark.parametrize(
        ("reason", "why"),
        [
            (Reason.OVERLAP, "the run before it was not over, and its overlap policy is to skip"),
            (Reason.SUPERSEDED, "a newer slot took its place while it waited"),
            (Reason.PAUSED, "the schedule was paused"),
            (Reason.LIMIT_REACHED, "the schedule had used up its limit of starts"),
            (Reason.BUFFER_FULL, "as many slots waited already as the schedule holds at most"),
            (Reason.SKIPPED_BY_USER, "somebody skipped it by hand"),
            (Reason.SCHEDULE_DELETED, "the schedule was deleted"),
            (
                Reason.GRANT_REVOKED,
                "its grant was revoked; give the schedule another with `schedules.patch(..., grant=...)`",
            ),
        ],
    )
    def test_a_skipped_slot_is_told_with_its_reason(self, reason: Reason, why: str) -> None:
        explanation = of_one_run(Status.SKIPPED, reason=reason)
        assert explanation.verdict is LedgerVerdict.SKIPPED
        assert explanation.reason is reason
        assert explanation.sentence == f"2026-11-15T12:00:00Z was skipped: {why}."

    def test_a_missed_slot_is_told_as_missed(self) -> None:
        explanation = of_one_run(Status.SKIPPED, reason=Reason.MISSED)
        assert explanation.verdict is LedgerVerdict.MISSED
        assert explanation.sentence.startswith("2026-11-15T12:00:00Z was missed: nothing was there to start it")

    @pytest.mark.parametrize("reason", [Reason.CANCELLED_BY_USER, Reason.CANCELLED_BY_POLICY, Reason.TERMINATED])
    def test_a_cancelled_run_is_told_with_its_reason(self, reason: Reason) -> None:
        explanation = of_one_run(Status.CANCELLED, reason=reason)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.CANCELLED, reason)
        assert explanation.sentence.startswith("2026-11-15T12:00:00Z was cancelled: ")

    @pytest.mark.parametrize("reason", Reason)
    @pytest.mark.parametrize("status", sorted(set(Status) - OPEN - {Status.SUCCESS}))
    def test_every_reason_has_a_sentence(self, status: Status, reason: Reason) -> None:
        assert of_one_run(status, reason=reason).sentence.endswith(".")

    def test_the_row_of_a_slot_skipped_ahead_of_its_time_answers_for_the_future(self) -> None:
        run = a_record(Status.SKIPPED, reason=Reason.SKIPPED_BY_USER)
        assert verdict_on(ONE, what_is_known(runs=[run])) == (LedgerVerdict.SKIPPED, Reason.SKIPPED_BY_USER)


class TestWhichRowAnswers:
    def test_the_last_attempt_at_a_slot_answers(self) -> None:
        runs = [
            a_record(Status.ERROR, reason=Reason.TIMEOUT),
            a_record(Status.ERROR, reason=Reason.LOST, run_id="digest:2026-11-15T12:00:00Z~2"),
        ]
        assert explain(what_is_known(runs=runs), NOON).run_id == "digest:2026-11-15T12:00:00Z~2"

    def test_a_success_answers_whoever_asked_for_it(self) -> None:
        runs = [
            a_record(Status.SKIPPED, reason=Reason.MISSED),
            a_record(Status.SUCCESS, kind=Kind.BACKFILL, run_id="filled"),
            a_record(Status.ERROR, reason=Reason.INTERNAL),
        ]
        assert explain(what_is_known(runs=runs), NOON).run_id == "filled"

    def test_of_several_successes_the_last_answers(self) -> None:
        runs = [a_record(Status.SUCCESS), a_record(Status.SUCCESS, kind=Kind.MANUAL, run_id="again")]
        assert explain(what_is_known(runs=runs), NOON).run_id == "again"

    def test_without_success_the_slot_answers_before_what_was_asked_for_by_hand(self) -> None:
        runs = [
            a_record(Status.SKIPPED, reason=Reason.OVERLAP),
            a_record(Status.ERROR, reason=Reason.INTERNAL, kind=Kind.MANUAL),
        ]
        assert verdict_on(NOON, what_is_known(runs=runs)) == (LedgerVerdict.SKIPPED, Reason.OVERLAP)

    def test_without_a_row_of_its_own_the_last_run_at_that_moment_answers(self) -> None:
        runs = [a_record(Status.ERROR, reason=Reason.INTERNAL, kind=Kind.BACKFILL)]
        assert verdict_on(NOON, what_is_known(runs=runs)) == (LedgerVerdict.FAILED, Reason.INTERNAL)

    def test_a_row_answers_before_the_gap_around_it(self) -> None:
        gap = Gap(NOON - DAY, NOON + DAY, 48, Reason.MISSED)
        known = what_is_known(runs=[a_record(Status.SUCCESS)], gap=gap)
        assert verdict_on(NOON, known) == (LedgerVerdict.RAN, None)


class TestFromAGap:
    GAP = Gap(NOON - 10 * HOUR, NOON, 11, Reason.MISSED)

    def test_a_slot_in_a_gap_was_missed_with_the_others(self) -> None:
        assert explain(what_is_known(gap=self.GAP), NOON - HOUR) == Explanation(
            LedgerVerdict.MISSED,
            Reason.MISSED,
            None,
            "2026-11-15T11:00:00Z was missed, one of 11 from 2026-11-15T02:00:00Z to 2026-11-15T12:00:00Z: "
            "nothing was there to start it in time, and catch-up does not want it.",
        )

    def test_a_slot_in_a_gap_of_a_pause_was_skipped(self) -> None:
        known = what_is_known(gap=self.GAP._replace(reason=Reason.PAUSED))
        assert verdict_on(NOON - HOUR, known) == (LedgerVerdict.SKIPPED, Reason.PAUSED)

    def test_a_moment_between_two_slots_of_a_gap_was_not_missed(self) -> None:
        known = what_is_known(gap=self.GAP)
        assert verdict_on(NOON - HOUR // 2, known) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)

    def test_a_gap_from_before_an_edit_answers_though_the_spec_is_another_now(self) -> None:
        known = what_is_known(gap=self.GAP, spec=Spec(cron=("30 * * * *",)), spec_since=NOON)
        assert verdict_on(NOON - HOUR, known) == (LedgerVerdict.MISSED, Reason.MISSED)


class TestFromThePast:
    """The schedule is of every hour since noon; before that it was of every half past, from six on."""

    SIX = NOON - 6 * HOUR
    HALF_PAST = canonical_text(Spec(cron=("30 * * * *",)))

    def known(self, ended_by: TenureEnd = TenureEnd.EDIT, until: int = NOON, **changes: Any) -> Known:
        past = (Tenure(self.HALF_PAST, self.SIX, until, ended_by),)
        return what_is_known(past=past, spec_since=NOON, created_at=self.SIX, **changes)

    def test_what_the_spec_of_then_named_and_has_no_row_must_have_had_one(self) -> None:
        explanation = explain(self.known(), NOON - HOUR // 2)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.UNKNOWN, Absence.NOT_RECORDED)
        assert "`foliot audit`" in explanation.sentence

    def test_what_only_the_present_spec_names_lies_before_the_edit(self) -> None:
        assert verdict_on(NOON - HOUR, self.known()) == (LedgerVerdict.NEVER, Absence.BEFORE_EDIT)

    def test_what_neither_names_is_told_by_the_spec_of_then(self) -> None:
        explanation = explain(self.known(), NOON - MINUTE)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)
        assert "as it was then, its spec does not name it" in explanation.sentence

    def test_what_was_removed_with_age_is_not_known(self) -> None:
        known = self.known(pruned_before=NOON)
        assert verdict_on(NOON - HOUR // 2, known) == (LedgerVerdict.UNKNOWN, Absence.PRUNED)

    def test_what_lies_before_the_first_spec_lies_before_the_creation(self) -> None:
        assert verdict_on(self.SIX - HOUR, self.known()) == (LedgerVerdict.NEVER, Absence.BEFORE_CREATION)

    @pytest.mark.parametrize(
        ("ended_by", "reason"),
        [(TenureEnd.LIMIT, Reason.LIMIT_REACHED), (TenureEnd.DELETION, Reason.SCHEDULE_DELETED)],
    )
    @pytest.mark.parametrize("instant", [NOON - HOUR, NOON - HOUR // 2, NOON])
    def test_while_nothing_was_owed_there_were_no_moments(
        self, ended_by: TenureEnd, reason: Reason, instant: int
    ) -> None:
        known = self.known(ended_by, until=NOON - 2 * HOUR)
        assert verdict_on(instant, known) == (LedgerVerdict.NEVER, reason)

    def test_of_a_gap_the_spec_of_then_says_what_is_in_it(self) -> None:
        gap = Gap(self.SIX + HOUR // 2, NOON - HOUR // 2, 6, Reason.MISSED)
        assert verdict_on(NOON - HOUR // 2, self.known(gap=gap)) == (LedgerVerdict.MISSED, Reason.MISSED)
        assert verdict_on(NOON - HOUR, self.known(gap=gap)) == (LedgerVerdict.NEVER, Absence.BEFORE_EDIT)

    def test_where_a_clock_set_back_lets_two_overlap_the_one_that_ended_last_answers(self) -> None:
        late = Tenure(canonical_text(Spec(cron=("15 * * * *",))), NOON - 2 * HOUR, NOON - HOUR, TenureEnd.EDIT)
        known = self.known()
        both = replace(known, past=(*known.past, late))
        assert verdict_on(NOON - 105 * MINUTE, both) == (LedgerVerdict.UNKNOWN, Absence.NOT_RECORDED)
        assert verdict_on(NOON - 90 * MINUTE, both) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)


class TestFromTheRules:
    def test_a_moment_that_was_swept_and_has_no_row(self) -> None:
        assert verdict_on(NOON, what_is_known()) == (LedgerVerdict.UNKNOWN, Absence.NOT_RECORDED)

    def test_what_was_not_swept_before_the_deletion_went_with_the_schedule(self) -> None:
        known = what_is_known(deleted_at=ONE + MINUTE, now=ONE + 2 * MINUTE)
        assert verdict_on(ONE, known) == (LedgerVerdict.NEVER, Reason.SCHEDULE_DELETED)

    def test_a_moment_that_the_spec_does_not_name(self) -> None:
        assert verdict_on(NOON + MINUTE, what_is_known()) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)

    def test_a_moment_between_two_seconds(self) -> None:
        explanation = explain(what_is_known(), NOON + 1)
        assert explanation.reason is Absence.NOT_IN_SPEC
        assert explanation.sentence == (
            "2026-11-15T12:00:00.000001Z is no moment of the schedule: slots are whole seconds."
        )

    def test_a_schedule_that_runs_only_when_triggered_has_no_moments(self) -> None:
        explanation = explain(what_is_known(spec=Spec(manual=True)), NOON)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)
        assert "only when triggered" in explanation.sentence

    def test_a_moment_that_an_exclusion_takes_out(self) -> None:
        spec = Spec(cron=("0 * * * *",), exclude=Calendar(hour="12"))
        assert verdict_on(NOON, what_is_known(spec=spec)) == (LedgerVerdict.NEVER, Absence.EXCLUDED)

    @pytest.mark.parametrize(
        ("start", "end", "said"),
        [
            (datetime(2026, 11, 16, tzinfo=UTC), None, "outside of 2026-11-16T00:00:00+00:00 to the end"),
            (None, datetime(2026, 11, 15, tzinfo=UTC), "outside of the beginning to 2026-11-15T00:00:00+00:00"),
        ],
    )
    def test_a_moment_out_of_the_bounds_of_the_spec(
        self, start: datetime | None, end: datetime | None, said: str
    ) -> None:
        spec = Spec(cron=("0 * * * *",), start_at=start, end_at=end)
        explanation = explain(what_is_known(spec=spec), NOON)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.NEVER, Reason.OUT_OF_WINDOW)
        assert said in explanation.sentence

    def test_a_moment_before_the_start_that_an_interval_counts_from(self) -> None:
        start = datetime(2026, 11, 15, 12, 5, tzinfo=UTC)
        spec = Spec(intervals=Interval(timedelta(minutes=10), anchor="start"), start_at=start)
        known = what_is_known(spec=spec)
        assert verdict_on(NOON - 5 * MINUTE, known) == (LedgerVerdict.NEVER, Reason.OUT_OF_WINDOW)
        assert verdict_on(NOON, known) == (LedgerVerdict.NEVER, Absence.NOT_IN_SPEC)

    @pytest.mark.parametrize("created_at", [NOON + 1, NOON], ids=["after it", "at its very microsecond"])
    def test_a_moment_before_the_schedule_was_created(self, created_at: int) -> None:
        known = what_is_known(created_at=created_at, spec_since=created_at)
        assert verdict_on(NOON, known) == (LedgerVerdict.NEVER, Absence.BEFORE_CREATION)

    @pytest.mark.parametrize("since", [NOON + 1, NOON], ids=["after it", "at its very microsecond"])
    def test_a_moment_before_the_spec_was_edited(self, since: int) -> None:
        assert verdict_on(NOON, what_is_known(spec_since=since)) == (LedgerVerdict.NEVER, Absence.BEFORE_EDIT)

    def test_a_moment_after_the_schedule_was_deleted(self) -> None:
        known = what_is_known(deleted_at=NOON + MINUTE)
        assert verdict_on(ONE, known) == (LedgerVerdict.NEVER, Reason.SCHEDULE_DELETED)

    def test_a_moment_whose_row_was_removed_with_age(self) -> None:
        known = what_is_known(pruned_before=NOON)
        assert verdict_on(NOON - HOUR, known) == (LedgerVerdict.UNKNOWN, Absence.PRUNED)

    def test_a_moment_to_come(self) -> None:
        explanation = explain(what_is_known(), ONE)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.FUTURE, Absence.FUTURE)
        assert explanation.sentence == "2026-11-15T13:00:00Z is still to come and will be judged then."

    def test_a_moment_to_come_of_a_paused_schedule(self) -> None:
        explanation = explain(what_is_known(state=a_paused_state(NOON, None)), ONE)
        assert explanation.verdict is LedgerVerdict.FUTURE
        assert explanation.sentence.endswith("unless the schedule is still paused then.")

    def test_a_moment_beyond_the_limit(self) -> None:
        explanation = explain(what_is_known(state=a_state(remaining=0), limit=3), ONE)
        assert (explanation.verdict, explanation.reason) == (LedgerVerdict.NEVER, Reason.LIMIT_REACHED)
        assert "(3)" in explanation.sentence

    def test_a_moment_inside_a_pause_that_lasts(self) -> None:
        known = what_is_known(state=a_paused_state(NOON, None), now=ONE + MINUTE)
        assert verdict_on(ONE, known) == (LedgerVerdict.HELD, Reason.PAUSED)

    @pytest.mark.parametrize("now", [ONE, ONE + SECOND])
    def test_a_moment_that_no_worker_has_looked_at_yet(self, now: int) -> None:
        known = what_is_known(state=a_state(wake_at=ONE), now=now)
        assert verdict_on(ONE, known) == (LedgerVerdict.DUE, Absence.NOT_SWEPT)

    def test_a_moment_that_has_come_and_that_jitter_makes_due_later_is_still_to_come(self) -> None:
        known = what_is_known(state=a_state(wake_at=ONE + MINUTE), now=ONE + SECOND)
        assert verdict_on(ONE, known) == (LedgerVerdict.FUTURE, Absence.FUTURE)


class TestTakers:
    """Of `python:job`, for which something is ready since noon."""

    @pytest.mark.parametrize(
        ("targets", "seen_at", "lease_until", "minutes", "is_taken"),
        [
            (["python:job"], ONE, ONE + SECOND, 60, True),
            (["python:*"], ONE, ONE + SECOND, 60, True),
            (None, ONE, ONE + SECOND, 60, True),
            (["python:other", "dag:*"], ONE, ONE + SECOND, 60, False),
            (["python:job"], NOON, ONE - SECOND, 60, False),
            (["python:job"], NOON, None, 60, True),
            (["python:job"], NOON - SECOND, None, 60, False),
            (["python:job"], NOON - SECOND, None, 0.5, True),
        ],
    )
    def test_somebody_takes_it_up_who_has_it_and_lives(
        self, targets: list[str] | None, seen_at: int, lease_until: int | None, minutes: float, is_taken: bool
    ) -> None:
        takers = [Taker(targets, seen_at, lease_until)]
        assert is_forsaken("python:job", takers, NOON, NOON + int(minutes * MINUTE)) is not is_taken
        assert is_forsaken("python:job", [], NOON, ONE)
