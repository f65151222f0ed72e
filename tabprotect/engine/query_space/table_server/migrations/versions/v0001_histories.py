"""Histories of tables, sessions, and the log of decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "history",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False, unique=True),
        sa.Column("variables", sa.JSON, nullable=False),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("history", sa.Integer, sa.ForeignKey("history.id"), nullable=False),
        sa.Column("opened", sa.DateTime, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    op.create_table(
        "entry",
        sa.Column("history", sa.Integer, sa.ForeignKey("history.id"), primary_key=True),
        # No two decisions share a number: who comes second decides anew.
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("session", sa.Integer, sa.ForeignKey("session.id"), nullable=False),
        sa.Column("time", sa.DateTime, nullable=False),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("query", sa.JSON, nullable=False),
        sa.Column("answer", sa.String(16), nullable=False),
        sa.Column("newly_released", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Take the tables away."""
    for name in ("entry", "session", "history"):
        op.drop_table(name)
