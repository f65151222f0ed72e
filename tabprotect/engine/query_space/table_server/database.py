"""The history of a table's releases in a database: the log that the table server folds over.

One history per table, shared by every session on it, because what is released stays released
whoever asked. Confidential: it holds users, queries and decisions; never a count of the table
beyond what the log's details say.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, cast

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import exc

from tabprotect.engine.atomic import make_private
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.table_server.fold import AnswerKind, LogLine
from tabprotect.engine.tables.table import Table

MIGRATIONS = "tabprotect.engine.query_space.table_server"

PATIENCE = 10
"""Seconds to wait for a database that somebody else is writing to."""

ATTEMPTS = 50
"""Runs of a transaction that the database takes back because of what others do at once."""

TAKEN_BACK = {"40001", "40P01"}
"""SQLSTATE of transactions that only have to be run again: not serialisable, deadlock."""

BORN_TWICE = {"23505", "42P07", "42710", "42P06"}
"""SQLSTATE where somebody else has made the same table or row meanwhile."""

_MIGRATING = threading.Lock()
"""The migrations' library keeps what it works on in globals."""

T = TypeVar("T")

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
        self.lattice = Lattice(table.domain.names)
        self.url = url
        try:
            address = sa.make_url(url if "://" in url else f"sqlite:///{url}")
            if address.drivername in ("postgresql", "postgres"):
                address = address.set(drivername="postgresql+psycopg")
            self._engine = sa.create_engine(address, **_options(address))
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise InputError(
                f"no database can be opened by this address: {error}",
                hint="give a file name, or a URL such as postgresql+psycopg://host/name",
            ) from None
        self._name = address.render_as_string(hide_password=True)
        if address.get_backend_name() == "sqlite":
            if address.database not in (None, "", ":memory:"):
                make_private(Path(str(address.database)))
            _take_turns(self._engine)
        elif address.get_backend_name() == "postgresql":
            _be_patient_and_durable(self._engine)
        mark = fingerprint(table)

        def opened(connection: sa.Connection) -> int:
            _migrate(connection, self._name)
            return _history_of(connection, mark, self.lattice)

        try:
            self._history = self._transaction(opened, again=TAKEN_BACK | BORN_TWICE)
        except BaseException:
            self._engine.dispose()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def open_session(self, settings: Mapping[str, object]) -> int:
        """Record a new session with what was chosen for it; its number."""
        row = {"history": self._history, "opened": _now(), "settings": dict(settings)}

        def opened(connection: sa.Connection) -> int:
            done = connection.execute(sa.insert(_SESSION).values(row))
            assert done.inserted_primary_key is not None
            return int(done.inserted_primary_key[0])

        return self._transaction(opened)

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
        found = self._transaction(lambda connection: connection.execute(wanted).scalar())
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
        rows = self._transaction(lambda connection: connection.execute(ordered).all())
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
            self._transaction(lambda connection: connection.execute(sa.insert(_ENTRY).values(row)))
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

    def _transaction(self, work: Callable[[sa.Connection], T], again: set[str] = TAKEN_BACK) -> T:
        """Run in a transaction, and again where others came between (SQLSTATE in ``again``)."""
        for attempt in range(ATTEMPTS):
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except exc.DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) in again and attempt < ATTEMPTS - 1:
                    continue
                if isinstance(error, exc.IntegrityError):
                    raise
                raise _explained(error, self._name) from None
        raise AssertionError


def _options(address: sa.URL) -> dict[str, object]:
    if address.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": PATIENCE}}
    return {"pool_pre_ping": True, "isolation_level": "SERIALIZABLE"}


def _take_turns(engine: sa.Engine) -> None:
    """SQLite: whoever begins may write, so that nobody reads what is about to change."""

    @sa.event.listens_for(engine, "connect")
    def connect(connection: object, record: object) -> None:
        # The driver must not begin by itself.
        connection.isolation_level = None  # type: ignore[attr-defined]
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _be_patient_and_durable(engine: sa.Engine) -> None:
    """PostgreSQL: as much patience as elsewhere; a commit that returns has reached the disk."""

    @sa.event.listens_for(engine, "connect")
    def connect(connection: object, record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
        cursor.execute("SET synchronous_commit = on")
        cursor.close()
        connection.commit()  # type: ignore[attr-defined]


def _migrate(connection: sa.Connection, name: str) -> None:
    """Bring the schema up to date."""
    config = Config()
    config.set_main_option("script_location", str(files(MIGRATIONS) / "migrations"))
    config.attributes["connection"] = connection
    current = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(config)
    if current == scripts.get_current_head():
        return
    known = {script.revision for script in scripts.walk_revisions()}
    if current is not None and current not in known:
        raise InputError(
            f"the database was written by a newer version of the program (schema {current})",
            file=name,
            hint="use that version, or another database; nothing was changed",
        )
    with _MIGRATING:
        command.upgrade(config, "head")


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


def _explained(error: exc.DBAPIError, name: str) -> InputError:
    text = str(error.orig).strip().splitlines()[0] if error.orig else type(error).__name__
    if "locked" in text or "lock timeout" in text:
        return InputError(
            "the database is locked by somebody else",
            file=name,
            hint="try again when they have finished; nothing was changed",
        )
    if "not a database" in text or "malformed" in text:
        return InputError("this file is no SQLite database", file=name, hint="give another file")
    return InputError(
        f"the database cannot be used: {text}",
        file=name,
        hint="is it there, and may you write to it? Nothing was decided or released",
    )


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
