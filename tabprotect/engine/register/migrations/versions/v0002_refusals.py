"""Mechanisms that the gate refused for an original: nothing of them left the house."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "refused_mechanism",
        sa.Column("original", sa.String(64), primary_key=True),
        sa.Column("mechanism", sa.String(64), primary_key=True),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("time", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    """Take the table away."""
    op.drop_table("refused_mechanism")
