"""What is tried every day, and what takes too long for that: `make test` has the one, `make test-all` both."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

from tests.databases import KINDS


def every_day(cases: Iterable[Any], *, first: int) -> list[Any]:
    """The first so many cases every day, the others in `make test-all`."""
    given = iter(cases)
    return [*islice(given, first), *(pytest.param(case, marks=pytest.mark.slow) for case in given)]


on_both_every_day = pytest.mark.parametrize("database_kind", KINDS)
"""Where the others of its folder are tried on SQLite alone."""
on_sqlite_every_day = pytest.mark.parametrize("database_kind", every_day(KINDS, first=1))
"""On PostgreSQL in `make test-all`: for what takes long, and hardly asks the database."""
