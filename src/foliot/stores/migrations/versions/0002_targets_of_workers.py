"""What each worker takes up: so that it can be said of what waits that nobody will"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("workers") as batch:
        batch.add_column(sa.Column("targets", sa.Text(), nullable=True))
