"""The tables of the register of releases.

Times and JSON are columns of text: a row that cannot be read is then one damaged row, not a fault of
the database library for all.
"""

from __future__ import annotations

import sqlalchemy as sa

from tabprotect.engine.database import Schema
from tabprotect.languages.messages import message

TABLES = sa.MetaData()
RELEASE = sa.Table(
    "published_release",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("original", sa.String(64), nullable=False, index=True),
    sa.Column("variables", sa.Text, nullable=False),
    sa.Column("records", sa.Text, nullable=False),
    sa.Column("bundle", sa.String(64), nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("gate", sa.Text, nullable=False),
    sa.Column("decisions", sa.Text, nullable=False),
    sa.Column("withdrawn", sa.Text),
    sa.Column("withdrawn_reason", sa.Text, nullable=False),
    sa.Column("unlabelled", sa.String(64), nullable=False, server_default=""),
    sa.Column("dossier", sa.Text, nullable=False, server_default=""),
    # The same bytes are not another release, whoever publishes them at the same time.
    sa.UniqueConstraint("bundle", "original"),
    # Numbers of removed entries are not given again.
    sqlite_autoincrement=True,
)
BUNDLE = sa.Table(
    "published_bundle",
    TABLES,
    sa.Column("fingerprint", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
REFUSED = sa.Table(
    "refused_mechanism",
    TABLES,
    sa.Column("original", sa.String(64), primary_key=True),
    sa.Column("mechanism", sa.String(64), primary_key=True),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
)
STATEMENT = sa.Table(
    "refusal_statement",
    TABLES,
    sa.Column("original", sa.String(64), primary_key=True),
    sa.Column("mechanism", sa.String(64), primary_key=True),
    sa.Column("stated", sa.Text, nullable=False),
)
CHAIN = sa.Table(
    "register_chain",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("act", sa.String(16), nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("chain", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
)

ADDED = sa.MetaData()
"""Tables that are made in a register that lacks them."""

PACKED = sa.Table(
    "packed_bundle",
    ADDED,
    sa.Column("fingerprint", sa.String(64), primary_key=True),
    sa.Column("base", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
)
BASE = sa.Table(
    "base_bundle",
    ADDED,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
MARK = sa.Table(
    "release_mark",
    ADDED,
    # The first digits: an entry has the whole of it.
    sa.Column("mark", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

SCHEMA = Schema(
    TABLES,
    2,
    "register_schema",
    what=message("register of releases"),
    remedy=message("make one with: tabprotect register new FILE"),
)
