"""The history of a table's releases in a database: the log that the table server folds over.

There is one history per table, shared by every session on it, because what is released stays
released whoever asked. Each line carries a hash over itself and the line before it, so that
tampering shows. Confidential: it holds users, queries, decisions and the bundles that went out, but
no count of the table beyond the details in the log.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy import exc

from tabprotect.engine.chained_log import Head
from tabprotect.engine.database import BORN_TWICE, TAKEN_BACK, Database, Schema
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.table_server.decision import LineKind, LogLine
from tabprotect.engine.query_space.table_server.log_entry import LogEntry, head_after, table_fingerprint
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

ENTRIES_BLOCK = 10_000
"""Log lines read at once."""


_SCHEMA = sa.MetaData()
_HISTORY = sa.Table(
    "history",
    _SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("fingerprint", sa.String(64), nullable=False, unique=True),
    sa.Column("variables", sa.JSON, nullable=False),
    # Empty: what signs lies outside the database.
    sa.Column("secret", sa.String(64), nullable=False),
)
_SESSION = sa.Table(
    "session",
    _SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("history", sa.ForeignKey("history.id"), nullable=False),
    sa.Column("opened", sa.DateTime, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
)
_ENTRY = sa.Table(
    "entry",
    _SCHEMA,
    sa.Column("history", sa.ForeignKey("history.id"), primary_key=True),
    # No two decisions share a number: the later one is decided anew.
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("session", sa.ForeignKey("session.id"), nullable=False),
    sa.Column("time", sa.DateTime, nullable=False),
    sa.Column("user", sa.Text, nullable=False),
    sa.Column("query", sa.JSON, nullable=False),
    sa.Column("answer", sa.String(16), nullable=False),
    sa.Column("newly_released", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("permanent", sa.Boolean, nullable=False),
    sa.Column("bundle", sa.String(64), nullable=False),
    sa.Column("chain", sa.String(64), nullable=False),
)
_BUNDLE = sa.Table(
    "answer_bundle",
    _SCHEMA,
    sa.Column("history", sa.ForeignKey("history.id"), primary_key=True),
    sa.Column("fingerprint", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_SNAPSHOT = sa.Table(
    "snapshot",
    _SCHEMA,
    sa.Column("history", sa.ForeignKey("history.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("chain", sa.String(64), nullable=False),
    sa.Column("settings", sa.String(64), nullable=False),
    sa.Column("state", sa.JSON, nullable=False),
)

_PRICE = sa.Table(
    "price",
    _SCHEMA,
    sa.Column("history", sa.ForeignKey("history.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("price", sa.JSON, nullable=False),
)

SCHEMA = Schema(_SCHEMA, 1, "history_schema")

_BEHIND = (
    sa.select(_ENTRY)
    .where(_ENTRY.c.history == sa.bindparam("of"), _ENTRY.c.number > sa.bindparam("after"))
    .order_by(_ENTRY.c.number)
    .limit(ENTRIES_BLOCK)
)
_UP_TO = _BEHIND.where(_ENTRY.c.number <= sa.bindparam("until"))
_LOG, _KEEP_BUNDLE = sa.insert(_ENTRY), sa.insert(_BUNDLE)
"""Built once: building them takes longer than running them."""


class Taken(Exception):  # noqa: N818 (nothing went wrong)
    """Raised if somebody else has logged a decision meanwhile: read it and decide anew."""


class Ledger(Database):
    """The log of one table in one database. Use as a context manager.

    Parameters
    ----------
    url
        Any SQLAlchemy URL, or the path of an SQLite file, which is created if there is none.

    Raises
    ------
    InputError
        If the database is gone, locked, not a database, or of another version.
    """

    def __init__(self, url: str, table: Table) -> None:
        self.lattice = Lattice.of(table.domain)
        self.url = url
        mark = table_fingerprint(table)
        super().__init__(url, SCHEMA)
        try:
            self._history = self.transaction(
                lambda connection: _history_of(connection, mark, self.lattice), again=TAKEN_BACK | BORN_TWICE
            )
        except BaseException:
            self.close()
            raise

    def open_session(self, settings: Mapping[str, object]) -> int:
        """Record a new session with its settings; return its number."""
        row = {"history": self._history, "opened": _now(), "settings": dict(settings)}

        def opened(connection: sa.Connection) -> int:
            done = connection.execute(sa.insert(_SESSION).values(row))
            assert done.inserted_primary_key is not None
            return int(done.inserted_primary_key[0])

        return self.transaction(opened)

    def settings(self, session: int) -> dict[str, object]:
        """The settings of a session.

        Raises
        ------
        InputError
            If this table has no such session.
        """
        wanted = sa.select(_SESSION.c.settings).where(
            _SESSION.c.id == session, _SESSION.c.history == self._history
        )
        found = self.transaction(lambda connection: connection.execute(wanted).scalar())
        if found is None:
            raise InputError(message("the database has no session {session} of this table", session))
        return cast(dict[str, object], found)

    def latest_settings(self) -> dict[str, object] | None:
        """The settings of the latest session of this table; ``None`` before the first."""
        wanted = (
            sa.select(_SESSION.c.settings)
            .where(_SESSION.c.history == self._history)
            .order_by(_SESSION.c.id.desc())
            .limit(1)
        )
        found = self.transaction(lambda connection: connection.execute(wanted).scalar())
        return cast("dict[str, object] | None", found)

    def entries(self, *, after: int = 0, until: int | datetime | None = None) -> Iterator[LogEntry]:
        """The log in order, from after a number up to a number or a time (UTC).

        A time limit ends at the first line that is later, whatever the clock did after it. Read in
        blocks: a long history is never held as a whole.
        """
        if isinstance(until, datetime):
            when = until.astimezone(UTC).replace(tzinfo=None) if until.tzinfo else until
            later = sa.select(sa.func.min(_ENTRY.c.number)).where(
                _ENTRY.c.history == self._history, _ENTRY.c.time > when
            )
            first = self.transaction(lambda connection: connection.execute(later).scalar())
            until = None if first is None else int(first) - 1
        wanted = _BEHIND if until is None else _UP_TO
        while True:
            said = {"of": self._history, "after": after, "until": until}
            rows = self.transaction(
                lambda connection, said=said: connection.execute(wanted, said).all()  # type: ignore[misc]
            )
            yield from map(self._entry, rows)
            if len(rows) < ENTRIES_BLOCK:
                return
            after = rows[-1]._mapping["number"]

    def entry(self, number: int) -> LogEntry | None:
        """One line of the log; ``None`` if no line has this number."""
        return next(self.entries(after=number - 1, until=number), None)

    def of_user(self, user: str, most: int = 100) -> list[LogEntry]:
        """The latest lines of one user, the latest first."""
        wanted = (
            sa.select(_ENTRY)
            .where(_ENTRY.c.history == self._history, _ENTRY.c.user == user)
            .order_by(_ENTRY.c.number.desc())
            .limit(most)
        )
        rows = self.transaction(lambda connection: connection.execute(wanted).all())
        return [self._entry(row) for row in rows]

    def append(
        self, line: LogLine, *, session: int, previous: Head, content: bytes | None = None
    ) -> LogEntry:
        """Log a decision that was made at a head; durable on return.

        Parameters
        ----------
        content
            The bundle that goes out with it; kept in the same transaction.

        Raises
        ------
        Taken
            If there is a later head by now; nothing was logged.
        """
        bare = LogEntry(previous.lines + 1, session, _now(), line, "")
        entry = replace(bare, chain=head_after(previous, bare, self.lattice).chain)
        row = {
            "history": self._history,
            "number": entry.number,
            "session": session,
            "time": entry.time,
            "user": line.user,
            "query": list(self.lattice.names_of(line.query)),
            "answer": line.kind,
            "newly_released": line.newly_released is not None,
            "reason": line.reason,
            "detail": line.detail,
            "permanent": line.permanent,
            "bundle": line.bundle,
            "chain": entry.chain,
        }

        def logged(connection: sa.Connection) -> None:
            connection.execute(_LOG, row)
            there = _BUNDLE.c.history == self._history, _BUNDLE.c.fingerprint == line.bundle
            known = sa.select(sa.func.count()).select_from(_BUNDLE).where(*there)
            if content is not None and not connection.execute(known).scalar():
                kept = {"history": self._history, "fingerprint": line.bundle, "content": content}
                connection.execute(_KEEP_BUNDLE, kept)

        try:
            self.transaction(logged)
        except exc.IntegrityError:
            raise Taken from None
        return entry

    def bundle(self, fingerprint: str) -> bytes | None:
        """A bundle that went out; ``None`` if none has this fingerprint."""
        wanted = sa.select(_BUNDLE.c.content).where(
            _BUNDLE.c.history == self._history, _BUNDLE.c.fingerprint == fingerprint
        )
        found = self.transaction(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else bytes(found)

    def set_price(self, number: int, price: Mapping[str, object]) -> None:
        """Store the price of a refusal; it follows from log and table, and is not chained."""
        row = {"history": self._history, "number": number, "price": dict(price)}
        with contextlib.suppress(exc.IntegrityError):
            self.transaction(lambda connection: connection.execute(sa.insert(_PRICE).values(row)))

    def prices(self, numbers: Collection[int]) -> dict[int, Mapping[str, object]]:
        """The prices of refusals, as far as computed."""
        wanted = sa.select(_PRICE.c.number, _PRICE.c.price).where(
            _PRICE.c.history == self._history, _PRICE.c.number.in_(numbers)
        )
        rows = self.transaction(lambda connection: connection.execute(wanted).all())
        return {row[0]: row[1] for row in rows}

    def keep(self, head: Head, settings: str, state: object) -> None:
        """Store the state after an entry, so that a later start need not read the log before it."""
        row = {
            "history": self._history,
            "number": head.lines,
            "chain": head.chain,
            "settings": settings,
            "state": state,
        }

        def kept(connection: sa.Connection) -> None:
            connection.execute(sa.delete(_SNAPSHOT).where(_SNAPSHOT.c.history == self._history))
            connection.execute(sa.insert(_SNAPSHOT).values(row))

        # A later state does as well.
        with contextlib.suppress(exc.IntegrityError):
            self.transaction(kept)

    def kept(self, settings: str) -> tuple[Head, object] | None:
        """The head of an entry with the stored state after it, under the same settings.

        A state is ignored unless its entry is in the log with the same hash.
        """
        wanted = (
            sa.select(_SNAPSHOT.c.number, _SNAPSHOT.c.chain, _SNAPSHOT.c.state)
            .join(
                _ENTRY,
                sa.and_(
                    _ENTRY.c.history == _SNAPSHOT.c.history,
                    _ENTRY.c.number == _SNAPSHOT.c.number,
                    _ENTRY.c.chain == _SNAPSHOT.c.chain,
                ),
            )
            .where(_SNAPSHOT.c.history == self._history, _SNAPSHOT.c.settings == settings)
            .order_by(_SNAPSHOT.c.number.desc())
        )
        found = self.transaction(lambda connection: connection.execute(wanted).first())
        return None if found is None else (Head(found[0], found[1]), found[2])

    def _entry(self, row: sa.Row[tuple[object, ...]]) -> LogEntry:
        values = row._mapping
        query = self.lattice.query(values["query"])
        line = LogLine(
            values["user"],
            query,
            cast(LineKind, values["answer"]),
            query if values["newly_released"] else None,
            values["reason"],
            values["detail"],
            values["permanent"],
            values["bundle"],
        )
        return LogEntry(values["number"], values["session"], values["time"], line, values["chain"])


def _history_of(connection: sa.Connection, mark: str, lattice: Lattice) -> int:
    found = connection.execute(sa.select(_HISTORY.c.id).where(_HISTORY.c.fingerprint == mark)).scalar()
    if found is not None:
        return int(found)
    done = connection.execute(
        sa.insert(_HISTORY).values(fingerprint=mark, variables=list(lattice.names), secret="")
    )
    assert done.inserted_primary_key is not None
    return int(done.inserted_primary_key[0])


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
