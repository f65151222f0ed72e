"""Publications, and the bundles that left."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "published_release",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("time", sa.DateTime, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("original", sa.String(64), nullable=False, index=True),
        sa.Column("variables", sa.JSON, nullable=False),
        sa.Column("records", sa.JSON, nullable=False),
        sa.Column("bundle", sa.String(64), nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("gate", sa.JSON, nullable=False),
        sa.Column("decisions", sa.JSON, nullable=False),
        sa.Column("withdrawn", sa.DateTime),
        sa.Column("withdrawn_reason", sa.Text, nullable=False),
        # The same bytes are no new release, whoever publishes them at once.
        sa.UniqueConstraint("bundle", "original"),
        # Numbers of entries that were taken back are not given again.
        sqlite_autoincrement=True,
    )
    op.create_table(
        "published_bundle",
        sa.Column("fingerprint", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Take the tables away."""
    for name in ("published_bundle", "published_release"):
        op.drop_table(name)
