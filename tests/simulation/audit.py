"""Every change of a row, as the database itself saw it: triggers write it down in the same transaction."""

import json
from typing import Any, NamedTuple

from foliot.stores import tables
from foliot.stores.transaction import SqlTransaction

Row = dict[str, Any]
AUDITED = (
    tables.targets,
    tables.schedules,
    tables.cursors,
    tables.runs,
    tables.gaps,
    tables.backfills,
    tables.workers,
    tables.grants,
    tables.accounts,
    tables.postings,
    tables.receipts,
    tables.costs,
    tables.spendings,
)


class Change(NamedTuple):
    table: str
    deed: str
    """insert, update or delete"""
    row: Row
    """As it is now; as it was, when it was deleted."""


def install(tx: SqlTransaction) -> None:
    """Begin to write down; on either database."""
    is_sqlite = tx.cx.dialect.name == "sqlite"
    for statement in _sqlite() if is_sqlite else _postgresql():
        tx.cx.exec_driver_sql(statement)


def take(tx: SqlTransaction) -> list[Change]:
    """What this transaction has changed, in order."""
    found = tx.cx.exec_driver_sql("SELECT seq, said, deed, content FROM audit ORDER BY seq").fetchall()
    if found:
        tx.cx.exec_driver_sql("DELETE FROM audit")
    return [Change(row[1], row[2], json.loads(row[3])) for row in found]


def all_rows(tx: SqlTransaction) -> dict[str, list[Row]]:
    """Every row of every audited table, by table."""
    return {
        table.name: [dict(row) for row in tx.cx.execute(table.select().order_by(*table.primary_key)).mappings()]
        for table in AUDITED
    }


def _sqlite() -> list[str]:
    statements = ["CREATE TABLE audit (seq INTEGER PRIMARY KEY, said TEXT, deed TEXT, content TEXT)"]
    for table in AUDITED:
        for deed in ("insert", "update", "delete"):
            which = "OLD" if deed == "delete" else "NEW"
            pairs = ", ".join(f"'{column.name}', {which}.\"{column.name}\"" for column in table.columns)
            statements.append(
                f"CREATE TRIGGER audit_{table.name}_{deed} AFTER {deed.upper()} ON {table.name} BEGIN"
                f" INSERT INTO audit (said, deed, content) VALUES ('{table.name}', '{deed}', json_object({pairs})); END"
            )
    return statements


def _postgresql() -> list[str]:
    statements = [
        "CREATE TABLE audit (seq bigserial PRIMARY KEY, said text, deed text, content text)",
        "CREATE FUNCTION audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO audit (said, deed, content) VALUES (TG_TABLE_NAME, lower(TG_OP),"
        " CASE WHEN TG_OP = 'DELETE' THEN to_json(OLD)::text ELSE to_json(NEW)::text END); RETURN NULL; END $$",
    ]
    statements += [
        f"CREATE TRIGGER audit_{table.name} AFTER INSERT OR UPDATE OR DELETE ON {table.name}"
        " FOR EACH ROW EXECUTE FUNCTION audit_change()"
        for table in AUDITED
    ]
    return statements
