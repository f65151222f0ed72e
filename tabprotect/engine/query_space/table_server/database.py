"""The history of a table's releases in a database: the log that the table server folds over.

One history per table, shared by every session on it, because what is released stays released
whoever asked. Confidential: it holds users, queries and decisions; never a count of the table
beyond what the log's details say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy import exc

from tabprotect.engine.database import BORN_TWICE, TAKEN_BACK, Database, Schema
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.table_server.fold import AnswerKind, LogLine
from tabprotect.engine.tables.table import Table

SCHEMA = Schema("tabprotect.engine.query_space.table_server", "alembic_version")

_SCHEMA = sa.MetaData()
_HISTORY = sa.Table(
    "history",
    _SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("fingerprint", sa.String(64)),
    sa.Column("variables", sa.JSON),
)
_SESSION = sa.Table(
    "session",
    _SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("history", sa.Integer),
    sa.Column("opened", sa.DateTime),
    sa.Column("settings", sa.JSON),
)
_ENTRY = sa.Table(
    "entry",
    _SCHEMA,
    sa.Column("history", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("session", sa.Integer),
    sa.Column("time", sa.DateTime),
    sa.Column("user", sa.Text),
    sa.Column("query", sa.JSON),
    sa.Column("answer", sa.String(16)),
    sa.Column("newly_released", sa.Boolean),
    sa.Column("reason", sa.Text),
    sa.Column("detail", sa.Text),
)


class Taken(Exception):  # noqa: N818 (nothing went wrong)
    """Somebody else has logged a decision meanwhile: fold theirs in and decide anew."""


@dataclass(frozen=True)
class Entry:
    """One line of the log with its number, 1, 2, ..., its session and its time (UTC)."""

    number: int
    session: int
    time: datetime
    line: LogLine

    def as_json(self, lattice: Lattice) -> dict[str, object]:
        """For ``--json``; confidential."""
        return {
            "number": self.number,
            "session": self.session,
            "time": self.time.replace(tzinfo=UTC).isoformat(timespec="seconds"),
            "user": self.line.user,
            "query": list(lattice.names_of(self.line.query)),
            "answer": self.line.kind,
            "newly_released": self.line.newly_released is not None,
            "reason": self.line.reason,
            "detail": self.line.detail,
        }


def fingerprint(table: Table) -> str:
    """What tells tables apart: SHA-256 of variables, categories and counts. Confidential, since
    small tables can be guessed from it."""
    digest = hashlib.sha256()
    variables = [[v.name, list(v.categories)] for v in table.domain.variables]
    digest.update(json.dumps(variables, ensure_ascii=False).encode())
    for array in table.cells:
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


class Ledger:
    """The log of one table in one database. Use as a context manager.

    Parameters
    ----------
    url
        Any SQLAlchemy URL, or the path of an SQLite file, which is made where there is none.

    Raises
    ------
    InputError
        For a database that is gone, locked, no database, or of a newer version.
    """

    def __init__(self, url: str, table: Table) -> None:
        self.lattice = Lattice.of(table.domain)
        self.url = url
        mark = fingerprint(table)
        self._database = Database(url, SCHEMA)
        try:
            self._history = self._database.transaction(
                lambda connection: _history_of(connection, mark, self.lattice),
                again=TAKEN_BACK | BORN_TWICE,
            )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def open_session(self, settings: Mapping[str, object]) -> int:
        """Record a new session with what was chosen for it; its number."""
        row = {"history": self._history, "opened": _now(), "settings": dict(settings)}

        def opened(connection: sa.Connection) -> int:
            done = connection.execute(sa.insert(_SESSION).values(row))
            assert done.inserted_primary_key is not None
            return int(done.inserted_primary_key[0])

        return self._database.transaction(opened)

    def settings(self, session: int) -> dict[str, object]:
        """What was chosen for a session.

        Raises
        ------
        InputError
            For a session this table does not have.
        """
        wanted = sa.select(_SESSION.c.settings).where(
            _SESSION.c.id == session, _SESSION.c.history == self._history
        )
        found = self._database.transaction(lambda connection: connection.execute(wanted).scalar())
        if found is None:
            raise InputError(f"the database has no session {session} of this table")
        return cast(dict[str, object], found)

    def entries(self, *, after: int = 0, until: int | datetime | None = None) -> list[Entry]:
        """The log in order, from behind a number up to a number or a time (UTC)."""
        wanted = sa.select(_ENTRY).where(_ENTRY.c.history == self._history, _ENTRY.c.number > after)
        if isinstance(until, datetime):
            when = until.astimezone(UTC).replace(tzinfo=None) if until.tzinfo else until
            wanted = wanted.where(_ENTRY.c.time <= when)
        elif until is not None:
            wanted = wanted.where(_ENTRY.c.number <= until)
        ordered = wanted.order_by(_ENTRY.c.number)
        rows = self._database.transaction(lambda connection: connection.execute(ordered).all())
        return [self._entry(row) for row in rows]

    def append(self, line: LogLine, *, session: int, number: int) -> Entry:
        """Log a decision that was made after ``number - 1`` entries; durable on return.

        Raises
        ------
        Taken
            When there is such an entry by now; nothing was logged.
        """
        row = {
            "history": self._history,
            "number": number,
            "session": session,
            "time": _now(),
            "user": line.user,
            "query": list(self.lattice.names_of(line.query)),
            "answer": line.kind,
            "newly_released": line.newly_released is not None,
            "reason": line.reason,
            "detail": line.detail,
        }
        try:
            self._database.transaction(
                lambda connection: connection.execute(sa.insert(_ENTRY).values(row))
            )
        except exc.IntegrityError:
            raise Taken from None
        return Entry(number, session, cast(datetime, row["time"]), line)

    def _entry(self, row: sa.Row[tuple[object, ...]]) -> Entry:
        values = row._mapping
        query = self.lattice.query(values["query"])
        line = LogLine(
            values["user"],
            query,
            cast(AnswerKind, values["answer"]),
            query if values["newly_released"] else None,
            values["reason"],
            values["detail"],
        )
        return Entry(values["number"], values["session"], values["time"], line)


def _history_of(connection: sa.Connection, mark: str, lattice: Lattice) -> int:
    found = connection.execute(
        sa.select(_HISTORY.c.id).where(_HISTORY.c.fingerprint == mark)
    ).scalar()
    if found is not None:
        return int(found)
    done = connection.execute(
        sa.insert(_HISTORY).values(fingerprint=mark, variables=list(lattice.names))
    )
    assert done.inserted_primary_key is not None
    return int(done.inserted_primary_key[0])


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
