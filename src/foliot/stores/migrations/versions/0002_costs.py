"""What runs have cost, and whether a request is over, where budgets look: apart from receipts and requests"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_COUNTED = (
    "INSERT INTO costs (run_ref, credits, deferred)"
    " SELECT run_ref, coalesce(sum(credits), 0), count(*) - count(credits) FROM receipts GROUP BY run_ref"
)
# What was asked for from outside has the number of its request, negative; one that is not there was done long ago.
_OVER = (
    "UPDATE spendings SET is_over = 1 WHERE run_ref < 0"
    " AND NOT EXISTS (SELECT 1 FROM execution_requests e WHERE e.ref = -spendings.run_ref AND e.stage <> 'done')"
)


def upgrade() -> None:
    op.create_table(
        "costs",
        sa.Column("run_ref", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("credits", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deferred", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("run_ref", name=op.f("costs_pkey")),
        sqlite_strict=True,
    )
    op.execute(_COUNTED)
    op.add_column(
        "spendings",
        sa.Column(
            "is_over",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default=sa.text("0"),
            nullable=False,
        ),
    )
    op.execute(_OVER)
