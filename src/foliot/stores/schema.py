"""What every table is spelled with, so that SQLite and PostgreSQL read it alike."""

from collections.abc import Iterable

from sqlalchemy import BigInteger, CheckConstraint, Integer, MetaData

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

Number = BigInteger().with_variant(Integer, "sqlite")
"""An instant, a key or a count. SQLite's strict tables know one integer type."""


def one_of(column: str, words: Iterable[str], *, likeliest: str | None = None) -> CheckConstraint:
    """A closed list, as comparisons: SQLite builds a table for each IN list, which costs more than the row."""
    ordered = sorted(map(str, words), key=lambda word: (word != likeliest, word))
    return CheckConstraint(" OR ".join(f"{column} = '{word}'" for word in ordered), name=column)
