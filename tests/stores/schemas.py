"""What a database tells of its schema, so that two can be compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, inspect, make_url


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine: Engine = create_engine(make_url(url.replace("postgresql://", "postgresql+psycopg://")))
    try:
        with engine.begin() as cx:
            yield cx
    finally:
        engine.dispose()


def description(cx: Connection) -> dict[str, Any]:
    """All that the database tells of its tables and sequences."""
    seen = inspect(cx)
    tables = {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"], column["default"])
                for column in seen.get_columns(table)
            ],
            "key": seen.get_pk_constraint(table),
            "unique": _sorted(seen.get_unique_constraints(table)),
            "foreign": _sorted(seen.get_foreign_keys(table)),
            "checks": _sorted(seen.get_check_constraints(table)),
            "indexes": _indexes(cx, table),
        }
        for table in seen.get_table_names()
    }
    if cx.dialect.name == "postgresql":
        text = "SELECT sequencename, start_value, increment_by, cycle, cache_size FROM pg_sequences ORDER BY 1"
        return tables | {"sequences": [tuple(row) for row in cx.exec_driver_sql(text)]}
    strict = cx.exec_driver_sql("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite%'")
    return tables | {"strict": {row.name for row in strict if row.strict}}


def _indexes(cx: Connection, table: str) -> list[tuple[str, str | None]]:
    text = (
        f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename = '{table}' ORDER BY 1"
        if cx.dialect.name == "postgresql"
        else f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '{table}' ORDER BY 1"
    )
    return [(row[0], row[1]) for row in cx.exec_driver_sql(text)]


def _sorted(found: Any) -> list[Any]:
    return sorted(found, key=str)
