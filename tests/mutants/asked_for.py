"""The twelve mistakes that schedulers are known for, each made here."""

from tests.mutants.mutant import Change, Mutant

_GUARD = """\
    @contextmanager
    def _guarded(self) -> Iterator[None]:
        guard = self.engine.connect()
        guard.exec_driver_sql("SELECT pg_advisory_lock(7)")
        try:
            yield
        finally:
            try:
                guard.exec_driver_sql("SELECT pg_advisory_unlock(7)")
                guard.close()
            except OperationalError:
                guard.invalidate()

    def _connect(self, pool: Pool) -> Connection:
"""

_CURSORS = "        tx.move(self._moved.values())\n        tx.advance(self._advanced.values())\n"

_BY_AGE = (
    "coalesce((SELECT min(started_at) + 60000000 FROM runs WHERE worker = workers.ref AND status = 'running'),"
    " lease_until)"
)

ASKED_FOR = (
    Mutant(
        "cursor before rows",
        "The cursor is committed before the rows of its slots: a process that dies between them loses those slots.",
        (
            Change("books/entries.py", _CURSORS, ""),
            Change(
                "books/entries.py",
                "        tx.start_new(self._started_new)\n",
                _CURSORS + '        tx.cx.exec_driver_sql("COMMIT")\n'
                '        tx.cx.exec_driver_sql("BEGIN")\n'
                "        tx.start_new(self._started_new)\n",
            ),
        ),
        "tests/engine/test_torn_writes.py::test_a_worker_that_dies_between_its_cursor_and_its_rows_loses_no_slot",
    ),
    Mutant(
        "no token check",
        "An outcome is recorded under whatever token the run has: a worker long given up overwrites another's run.",
        (
            Change(
                "stores/runs.py",
                "report.ref, report.token)",
                "report.ref, self.standing([report.ref]).get(report.ref, (0, 0))[0])",
            ),
        ),
        "tests/stores/test_run_life.py::test_an_outcome_under_a_stale_token_is_refused[sqlite-2]",
    ),
    Mutant(
        "row after launch",
        "Runs begin inside the transaction that records them: when it is undone, code runs that no row knows of.",
        (
            Change(
                "engine/loop.py",
                "lambda tx: self._shift.work(tx, situation)",
                "lambda tx: [turn := self._shift.work(tx, situation), *map(self._hands.begin, turn.launches)][0]",
            ),
            Change("engine/loop.py", "for launch in turn.launches:", "for launch in ():"),
        ),
        "tests/engine/test_torn_writes.py::test_a_run_whose_row_was_not_committed_is_not_begun",
    ),
    Mutant(
        "swallowed enqueue error",
        "A row that the database refuses is passed over in silence: its slot runs, or not, and nobody ever knows.",
        (
            Change(
                "stores/runs.py",
                "        self.dialect.insert(self.cursor, _START_NEW, rows)\n",
                "        try:\n"
                "            self.dialect.insert(self.cursor, _START_NEW, rows)\n"
                "        except Exception:\n"
                "            pass\n",
            ),
        ),
        "tests/engine/test_torn_writes.py"
        "::test_a_row_that_is_refused_is_tried_again_later_and_its_run_is_not_begun_before",
    ),
    Mutant(
        "lease from the worker's clock",
        "Leases end by the clock of the worker, not of the database: a clock that is behind has its runs doubled.",
        (
            Change("engine/turn.py", "wanted = tx.now + self.settings.lease", "wanted = self.clock.now() + 30_000_000"),
            Change(
                "engine/turn.py",
                "leased_until = tx.now + self.settings.lease",
                "leased_until = self.clock.now() + self.settings.lease",
            ),
        ),
        "tests/engine/test_waking.py::test_a_worker_whose_clock_is_an_hour_behind_keeps_its_run",
    ),
    Mutant(
        "catch-up that walks",
        "What was missed is counted slot by slot: a fast schedule after a long downtime holds up all the others.",
        (
            Change(
                "domain/generation.py",
                "count = times.count_between(after + 1, last) - known",
                "count = sum(1 for _ in times.between(after + 1, last)) - known",
            ),
        ),
        "tests/engine/test_catch_up_cost.py::test_a_year_of_missed_minutes_is_judged_in_a_bounded_number_of_steps",
    ),
    Mutant(
        "retry with a new key",
        "Every attempt has an idempotency key of its own: what a failed attempt has paid for is paid for again.",
        (
            Change(
                "execution/context.py",
                "return str(slot_of(self._launch)) if outside is None else outside.key",
                "return self.run_id",
            ),
        ),
        "tests/engine/test_runs.py::test_a_retry_is_a_new_row_that_names_the_attempt_before_it[sqlite]",
    ),
    Mutant(
        "hint-only wake-up",
        "A worker looks only when it is told to: what was written while it did not listen waits for ever.",
        (
            Change("engine/loop.py", "since_look >= self.settings.look or ", ""),
            Change("engine/loop.py", "waits = [self.settings.look", "waits = [10**12 + self.settings.look"),
        ),
        "tests/engine/test_waking.py::test_what_another_process_wrote_is_found_though_no_hint_of_it_arrived",
    ),
    Mutant(
        "sleep without cap",
        "A worker sleeps until the next slot in one go: when the clock is set meanwhile, it comes that much late.",
        (
            Change("engine/loop.py", "[due_in - nap_within, self.settings.clock_check]", "[due_in - nap_within]"),
            Change("engine/loop.py", "waits = [self.settings.look", "waits = [10**12 + self.settings.look"),
        ),
        "tests/engine/test_waking.py::test_a_slot_that_the_clock_was_set_to_starts_within_a_second",
    ),
    Mutant(
        "rescue by age",
        "Runs are rescued when they are old, not when their worker is gone: whatever takes long is run twice at once.",
        (
            Change("stores/workers.py", "WHERE lease_until < ? AND ref <> ?", f"WHERE {_BY_AGE} < ? AND ref <> ?"),
            Change("stores/workers.py", "SELECT lease_until FROM workers", f"SELECT {_BY_AGE} FROM workers"),
            Change("stores/workers.py", "ORDER BY lease_until LIMIT 1", "ORDER BY 1 LIMIT 1"),
        ),
        "tests/engine/test_rescue.py::test_a_worker_that_renews_its_lease_keeps_its_run",
    ),
    Mutant(
        "synchronous=OFF",
        "SQLite does not wait for the disk: after a power failure slots are missing that were acknowledged.",
        (Change("stores/sqlite_files.py", '"synchronous=FULL"', '"synchronous=OFF"'),),
        "tests/stores/test_sqlite_file.py::test_a_write_is_synced_to_its_log_and_keeps_its_references",
    ),
    Mutant(
        "session lock as guard",
        "A lock of a session, not of the rows, keeps workers apart: where its connection is cut, two sweep at once.",
        (
            Change("stores/dialect.py", 'lock = " FOR UPDATE"', 'lock = ""'),
            Change("stores/dialect.py", 'lock_free = " FOR UPDATE SKIP LOCKED"', 'lock_free = ""'),
            Change(
                "stores/database.py",
                "with self._connect(self._writers) as cx, cx.begin():",
                "with self._guarded(), self._connect(self._writers) as cx, cx.begin():",
            ),
            Change("stores/database.py", "    def _connect(self, pool: Pool) -> Connection:\n", _GUARD),
        ),
        "tests/stores/test_holding.py::test_what_a_transaction_holds_stays_held_when_all_other_connections_are_cut",
    ),
)
