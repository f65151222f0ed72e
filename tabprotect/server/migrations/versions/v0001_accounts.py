"""Accounts of a table server."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "account",
        sa.Column("mark", sa.String(16), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("group_name", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("made", sa.DateTime, nullable=False),
        sa.Column("withdrawn", sa.DateTime),
    )


def downgrade() -> None:
    """Take the table away."""
    op.drop_table("account")
