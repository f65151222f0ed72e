"""Lines chained by hash, bundles that went out, prices, snapshots, a secret of each history."""

import hashlib
import json
import secrets

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what there was none of; the lines that are there are chained as they stand."""
    op.add_column("history", sa.Column("secret", sa.String(64)))
    op.add_column(
        "entry", sa.Column("permanent", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column("entry", sa.Column("bundle", sa.String(64), nullable=False, server_default=""))
    op.add_column("entry", sa.Column("chain", sa.String(64), nullable=False, server_default=""))
    op.create_table(
        "answer_bundle",
        sa.Column("history", sa.Integer, sa.ForeignKey("history.id"), primary_key=True),
        sa.Column("fingerprint", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "snapshot",
        sa.Column("history", sa.Integer, sa.ForeignKey("history.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("chain", sa.String(64), nullable=False),
        sa.Column("settings", sa.String(64), nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
    )
    op.create_table(
        "price",
        sa.Column("history", sa.Integer, sa.ForeignKey("history.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("price", sa.JSON, nullable=False),
    )
    connection = op.get_bind()
    history = sa.table("history", sa.column("id"), sa.column("secret"))
    names = ("number", "session", "time", "user", "query", "answer", "newly_released", "reason")
    entry = sa.table(
        "entry",
        sa.column("history", sa.Integer),
        sa.column("time", sa.DateTime),
        sa.column("query", sa.JSON),
        *(sa.column(name) for name in names if name not in ("time", "query")),
        *(sa.column(name) for name in ("detail", "chain")),
    )
    for (number,) in connection.execute(sa.select(history.c.id)).all():
        connection.execute(
            sa.update(history).where(history.c.id == number).values(secret=secrets.token_hex(32))
        )
        previous = "0" * 64
        lines = sa.select(entry).where(entry.c.history == number).order_by(entry.c.number)
        for row in connection.execute(lines).mappings().all():
            said = [row[name] for name in (*names, "detail")]
            said[2] = row["time"].isoformat(timespec="microseconds")
            said[6] = bool(row["newly_released"])
            text = json.dumps(
                [previous, [*said, False, ""]], ensure_ascii=False, separators=(",", ":")
            )
            previous = hashlib.sha256(text.encode()).hexdigest()
            connection.execute(
                sa.update(entry)
                .where(entry.c.history == number, entry.c.number == row["number"])
                .values(chain=previous)
            )


def downgrade() -> None:
    """Take it all away again."""
    for name in ("price", "snapshot", "answer_bundle"):
        op.drop_table(name)
    for name in ("permanent", "bundle", "chain"):
        op.drop_column("entry", name)
    op.drop_column("history", "secret")
