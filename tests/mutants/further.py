"""More mistakes, at the places where one would cost the most."""

from tests.mutants.mutant import Change, Mutant

_PRUNE_ALL = "if state is None or oldest_kept is None:"

FURTHER = (
    Mutant(
        "grace ignored",
        "A slot that is late by a moment counts as missed: every restart and every busy second drops slots.",
        (Change("domain/generation.py", "fresh = now - policies.grace", "fresh = now"),),
        "tests/domain/test_generation.py::TestOnTime"
        "::test_every_slot_within_grace_of_its_due_time_is_on_time_and_in_order",
    ),
    Mutant(
        "grace inside a pause",
        "What came due in the last seconds of a pause starts when it ends: a pause does not keep what it promises.",
        (
            Change(
                "domain/generation.py",
                "return fresh if state.pause_to is None else max(fresh, state.pause_to)",
                "return fresh",
            ),
        ),
        "tests/engine/test_pausing.py::test_grace_does_not_apply_inside_a_pause",
    ),
    Mutant(
        "window off by one",
        "The oldest slot inside the catch-up window is left out: somebody's last hour is not made up for.",
        (Change("domain/generation.py", "inside > last else inside - 1", "inside > last else inside"),),
        "tests/domain/test_generation.py::TestCatchUp::test_a_slot_older_than_the_catchup_window_is_missed_not_started",
    ),
    Mutant(
        "cap that jumps",
        "The cursor passes slots beyond the cap of one sweep that nobody has recorded: they are gone without a trace.",
        (Change("domain/generation.py", "return chosen, swept\n", "return chosen, last\n"),),
        "tests/engine/test_sweeping.py"
        "::test_the_cap_bounds_one_sweep_and_never_moves_the_cursor_past_what_it_did_not_record",
    ),
    Mutant(
        "repeated hour fires twice",
        "A time of day that the clock shows twice in autumn fires twice: a daily invoice goes out two times.",
        (
            Change(
                "domain/calendar.py", "FoldRule.BOTH if self.follows_elapsed_time else FoldRule.FIRST", "FoldRule.BOTH"
            ),
        ),
        "tests/domain/test_clock_changes.py::test_at_clock_changes_it_happens_as_documented",
    ),
    Mutant(
        "jitter at random",
        "The jitter of a slot is drawn each time it is asked for: two workers disagree on when the slot is due.",
        (
            Change(
                "domain/slots.py",
                "return int.from_bytes(blake2b(",
                'return __import__("random").getrandbits(64) or int.from_bytes(blake2b(',
            ),
        ),
        "tests/domain/test_slots.py::test_a_fraction_is_below_its_bound_and_never_changes",
    ),
    Mutant(
        "buffer_one keeps two",
        "Two slots wait where one may: the run that follows is not of the latest slot.",
        (
            Change(
                "domain/admission.py",
                "                self._supersede_those_that_wait()\n                self._hold_within(applicant, 1)\n",
                "                self._hold_within(applicant, 2)\n",
            ),
        ),
        "tests/engine/test_overlap.py::test_buffer_one_keeps_the_latest_slot_while_a_run_of_22_minutes_lasts",
    ),
    Mutant(
        "short way past a run",
        "The short way for a slot on time does not ask whether a run is under way: two runs of a schedule overlap.",
        (
            Change(
                "books/posting.py",
                "        state.running == 0\n        and state.held == 0\n",
                "        state.held == 0\n",
            ),
        ),
        "tests/engine/test_overlap.py::test_buffer_all_runs_every_slot_one_after_another_in_order",
    ),
    Mutant(
        "short way past the limit",
        "The short way for a slot on time does not ask how many starts are left: a schedule of three runs runs on.",
        (Change("books/posting.py", "        and state.remaining is None\n", ""),),
        "tests/engine/test_runs.py::test_the_limit_counts_starts_of_slots_and_then_the_schedule_is_completed",
    ),
    Mutant(
        "pause that forgets",
        "What came due right before a pause is not looked at before it begins: the pause swallows it.",
        (
            Change(
                "services/editing.py",
                "state = post_owed(tx, entries, found.schedule, state)._replace",
                "state = state._replace",
            ),
        ),
        "tests/engine/test_pausing.py::test_what_came_due_before_the_pause_is_judged_as_if_there_were_none",
    ),
    Mutant(
        "edit that forgets",
        "A slot between its nominal and its due time is dropped by an edit: an edit at the wrong minute loses a run.",
        (Change("books/posting.py", "for slot in not_yet_due(schedule.timetable, state, tx.now):", "for slot in ():"),),
        "tests/engine/test_sweeping.py"
        "::test_an_edit_between_nominal_and_due_keeps_the_slot_with_its_old_due_time_and_the_new_target",
    ),
    Mutant(
        "no unique slot",
        "The database allows two rows for one attempt at a slot: whatever else goes wrong, it is run twice.",
        (
            Change(
                "stores/migrations/versions/0001_ledger.py",
                'sa.UniqueConstraint("schedule_ref", "nominal_at", "kind", "backfill", "attempt", name="runs_slot"),',
                "",
            ),
        ),
        "tests/stores/test_recording.py::test_a_slot_that_starts_twice_is_refused[sqlite]",
    ),
    Mutant(
        "synchronous=NORMAL",
        "SQLite waits for the disk only at checkpoints: a power failure takes back commits that were acknowledged.",
        (Change("stores/sqlite_files.py", '"synchronous=FULL"', '"synchronous=NORMAL"'),),
        "tests/power/test_power.py::test_nothing_that_was_acknowledged_is_lost_when_the_power_fails",
    ),
    Mutant(
        "no lock file",
        "Two processes may write one SQLite file: each takes the other for dead and runs what it runs.",
        (Change("stores/lock_file.py", "fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass"),),
        "tests/stores/test_sqlite_file.py::test_a_file_opened_twice_in_one_process_has_one_writer_too",
    ),
    Mutant(
        "keys drawn twice",
        "Two processes draw from overlapping blocks of keys: they write over each other's runs, or cannot write.",
        (Change("stores/database.py", "_REFS_IN_A_BLOCK = 1000", "_REFS_IN_A_BLOCK = 2000"),),
        "tests/stores/test_transactions.py::test_two_processes_never_draw_the_same_key",
    ),
    Mutant(
        "loss without a fence",
        "A run that is taken from its worker keeps its token: when that worker wakes up, its report counts.",
        (Change("stores/runs.py", "worker=NULL token=runs.token+1", "worker=NULL"),),
        "tests/stores/test_run_life.py::test_a_run_taken_from_its_worker_is_fenced_and_ready_for_another[sqlite]",
    ),
    Mutant(
        "back from the dead",
        "A worker that was declared gone may renew its lease: it and its rescuer both run what it had.",
        (
            Change(
                "stores/workers.py",
                "seen_at = ? WHERE ref = ? AND stopped_at IS NULL",
                "seen_at = ? WHERE ref = ?",
            ),
        ),
        "tests/stores/test_workers.py::test_a_lease_is_renewed_until_the_worker_is_declared_gone[sqlite]",
    ),
    Mutant(
        "fence ignored",
        "A worker whose renewal is refused goes on as before: its runs are doubled, and nobody rescues what it starts.",
        (
            Change("engine/turn.py", "if not tx.renew(situation.worker,", "if None is tx.renew(situation.worker,"),
            Change("engine/turn.py", "if not tx.renew(worker, wanted):", "if None is tx.renew(worker, wanted):"),
        ),
        "tests/engine/test_rescue.py::test_a_fenced_worker_goes_on_under_a_new_number",
    ),
    Mutant(
        "stale reports swallowed",
        "A report with a stale token is taken for recorded: counts go wrong, and a schedule never starts again.",
        (
            Change(
                "engine/settler.py",
                "    if not tx.finish(finishes):\n        raise StaleReports\n",
                "    tx.finish(finishes)\n",
            ),
        ),
        "tests/engine/test_rescue.py::test_a_report_for_a_run_that_is_over_is_refused_and_counted_as_no_end",
    ),
    Mutant(
        "reports dropped",
        "What ended while the database was away is forgotten: its run stays running, and its schedule is blocked.",
        (
            Change(
                "engine/loop.py",
                "        self.counters.outages += 1\n",
                "        self.counters.outages += 1\n        self._hands.recorded(self._hands.take_reports(10**6))\n",
            ),
        ),
        "tests/engine/test_torn_writes.py::test_outcomes_whose_commit_was_refused_are_recorded_with_the_next",
    ),
    Mutant(
        "lost answer forgotten",
        "Runs that were committed, though the answer was lost, are nobody's: leased for ever, and never begun.",
        (Change("engine/rescuer.py", "any(ref not in held for ref in by_ref)", "False"),),
        "tests/engine/test_torn_writes.py::test_a_run_whose_commit_was_not_answered_is_delivered_once_and_not_lost",
    ),
    Mutant(
        "hand-back as a loss",
        "A run that is handed back counts as lost: three deploys in a row make an error of a healthy run.",
        (Change("engine/rescuer.py", "runs, loss=0)", "runs, loss=1)"),),
        "tests/engine/test_stopping.py"
        "::test_what_does_not_end_within_the_grace_is_handed_back_and_run_by_the_next_worker",
    ),
    Mutant(
        "redelivery as a new attempt",
        "A run that is delivered again says that it is another attempt: what its receipts stand for is done twice.",
        (Change("books/entries.py", "(run.attempt, run.backfill)", "(run.attempt + run.losses, run.backfill)"),),
        "tests/engine/test_rescue.py"
        "::test_a_restarted_process_delivers_its_run_again_with_the_same_id_attempt_and_key[sqlite]",
    ),
    Mutant(
        "cancelled and delivered again",
        "A run that somebody asked to stop is delivered once more when its worker dies: what was called off is done.",
        (Change("engine/rescuer.py", "if run.orders is not None:", "if run.orders is not None and not loss:"),),
        "tests/engine/test_rescue.py::test_a_run_that_was_asked_to_stop_is_not_delivered_again_after_its_worker_died",
    ),
    Mutant(
        "never given up",
        "A run that kills its worker is delivered for ever: it takes one worker down after another.",
        (Change("domain/settlement.py", "return losses >= LOSSES_UNTIL_ERROR", "return losses > 10**6"),),
        "tests/engine/test_rescue.py::test_a_run_is_lost_at_the_third_loss",
    ),
    Mutant(
        "leases outlive the file's process",
        "A restart on SQLite waits for its own old lease: after every restart what ran stands still for half a minute.",
        (Change("engine/loop.py", "            tx.void_others(worker)\n", "            pass\n"),),
        "tests/engine/test_rescue.py::test_on_sqlite_old_leases_are_void_at_once",
    ),
    Mutant(
        "open runs tidied away",
        "Retention removes a run that is still at work: its end finds no row, and its schedule counts it for ever.",
        (
            Change(
                "engine/pruner.py",
                _PRUNE_ALL.removesuffix(":") + " or status not in FINAL or ended_at is None:",
                _PRUNE_ALL,
            ),
            Change("engine/pruner.py", "or ended_at > cutoff", "or (ended_at or 0) > cutoff"),
        ),
        "tests/engine/test_open_runs.py::test_a_run_that_goes_on_is_kept_though_all_around_it_are_old_enough_to_go",
    ),
    Mutant(
        "ends by the worker's clock",
        "The end of a run is read from the worker's clock: where it is wrong, runs end before they have started.",
        (
            Change(
                "engine/hands.py", "outcome, order, self._now(), steady)", "outcome, order, self.clock.now(), steady)"
            ),
        ),
        "tests/engine/test_waking.py::test_a_worker_whose_clock_is_an_hour_behind_keeps_its_run",
    ),
    Mutant(
        "charged by delivery",
        "A run that is delivered again after a crash is charged again: whoever pays, pays for our crashes.",
        (Change("execution/tab.py", "run, launch.attempt, launch", "run, 9 * launch.token, launch"),),
        "tests/execution/test_lessons.py::test_a_run_that_is_delivered_again_after_a_crash_is_charged_once",
    ),
    Mutant(
        "outage as poverty",
        "Whose balance cannot be read is taken for poor: in an outage runs are skipped for a reason that is not true.",
        (
            Change(
                "execution/till.py",
                "        account = launch.grant.account\n",
                "        try:\n"
                "            self._records.database.read(lambda tx: tx.now)\n"
                "        except Exception:\n"
                "            return False\n"
                "        account = launch.grant.account\n",
            ),
        ),
        "tests/execution/test_lessons.py"
        "::test_a_database_that_is_away_when_the_gate_looks_is_asked_again_and_nothing_is_skipped[1-_till]",
    ),
    Mutant(
        "poor by its own charge",
        "A run that was paid for, and whose worker died then, is skipped because the money is gone: its work is lost.",
        (Change("execution/till.py", "    return was_let_in([", "    return False and was_let_in(["),),
        "tests/execution/test_redelivered.py"
        "::test_killed_between_its_charge_and_its_record_a_run_is_not_refused_for_its_own_charge[sqlite]",
    ),
    Mutant(
        "only slots pause",
        "A retry that finds the budget spent pauses nothing: who wanted to be asked before more is spent is not asked.",
        (
            Change(
                "engine/dispatcher.py", "            if refused.pauses:\n", "            if False and refused.pauses:\n"
            ),
        ),
        "tests/sdk/test_spent_budgets.py::TestEach::test_a_retry[pause-stand0]",
    ),
    Mutant(
        "every trigger costs the same",
        "A trigger with a model a hundred times as dear starts with the last of a budget: it is spent many times.",
        (
            Change(
                "books/permits.py",
                "self.pricing.past_cost(self.costs, self.input, own)",
                "self.pricing.past_cost(self.costs, self.input)",
            ),
        ),
        "tests/sdk/test_budgets.py"
        "::test_a_trigger_with_a_dearer_model_of_its_own_is_judged_by_that_and_not_by_the_past",
    ),
    Mutant(
        "nothing set aside",
        "What runs has no share of its budget until it is over: many runs start with the last of it.",
        (Change("stores/spendings.py", "THEN reserved ELSE", "THEN 0 * reserved ELSE"),),
        "tests/sdk/test_budgets.py::test_what_is_set_aside_for_those_that_run_is_not_left_for_others",
    ),
    Mutant(
        "mostly free is free",
        "A schedule whose runs seldom cost anything never comes to the end of its budget, whatever it has cost.",
        (Change("domain/credits.py", "max(1, round(median(costs)))", "round(median(costs))"),),
        "tests/simulation/test_findings.py::test_runs_that_mostly_cost_nothing_are_not_free_to_a_budget",
    ),
    Mutant(
        "a lease given up with runs left",
        "A worker that cannot hand back a run just then gives up its lease all the same: the run is nobody's for ever.",
        (Change("engine/turn.py", "is_idle = knows_all and in_hand == 0", "is_idle = in_hand == 0"),),
        "tests/engine/test_rescue.py::test_what_cannot_be_handed_back_yet_is_kept_under_a_lease_until_it_can",
    ),
    Mutant(
        "in the way though it is over",
        "A run that has ended and is not recorded yet has the next slot skipped, for an overlap that never was.",
        (Change("books/entries.py", "if not state.running or state.ref not in self._unsettled:", "if True:"),),
        "tests/engine/test_overload.py"
        "::test_a_run_that_is_over_is_in_no_slots_way_though_the_worker_had_no_time_to_record_it",
    ),
)
