"""Tests that one process runs: they share what takes long to make, as long ledgers do, or to wait for.

Named by file, and not by pytest-xdist's marks: with pytest 9.2 it no longer hears of those, and says nothing.
"""

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

_GROUPS = {
    "tests/crash/test_kill_storm.py": "storm",
    "tests/crash/test_processes.py": "processes",
    "tests/execution/test_gate_command.py": "gate",
    "tests/execution/test_killed_at_its_charge.py": "processes",
    "tests/executors/test_killed.py": "processes",
    "tests/stores/test_plans.py": "plans",
    "tests/temporal/test_against_temporal.py": "temporal",
}


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out groups whole, and all other tests one by one."""

    def _split_scope(self, nodeid: str) -> str:
        return _GROUPS.get(nodeid.partition("::")[0], nodeid)
