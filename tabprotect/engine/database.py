"""A database kept by the house: opened by address, its tables made or checked, in transactions.

SQLite by default, PostgreSQL if several work together. A user of it declares its tables and their
version; everything about patience, durability and faults is here.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Self, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from tabprotect.engine.atomic import is_kept, make_private, place_to_write
from tabprotect.engine.budgets import DATABASE_PATIENCE
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

ATTEMPTS = 50
"""Most runs of a transaction that the database rolls back because of concurrent ones."""

TAKEN_BACK = {"40001", "40P01"}
"""SQLSTATE of transactions that only have to be run again: not serialisable, deadlock."""

BORN_TWICE = {"23505", "42P07", "42710", "42P06"}
"""SQLSTATE if somebody else has created the same table or row meanwhile."""

TURNS = 3
"""Most waits of ``DATABASE_PATIENCE`` that a thread queues behind others."""

_TURN: dict[str, threading.Lock] = {}
"""A lock per open SQLite file: threads of one program queue for it. SQLite itself lets any of them
go first, so that under load one may wait until its patience ends."""

_OPEN: Counter[sa.Engine] = Counter()
"""By how many databases each engine is used that is open."""

_AT_THE_ENGINES = threading.Lock()

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Schema:
    """Tables, created together when a database is first opened.

    Attributes
    ----------
    tables
        All of them, in their final form.
    version
        Raised when a table changes: a database of another version is refused.
    version_table
        The table in which a database states its version; its own for each schema, so that one
        database can hold several.
    what, remedy
        The name of what lies in it, and what to do where it is not there.
    """

    tables: sa.MetaData
    version: int
    version_table: str
    what: str = message("database")
    remedy: str = ""


class Database:
    """One database with a schema of this version.

    Parameters
    ----------
    url
        Any SQLAlchemy URL, or the path of an SQLite file, which is created if there is none.

    Raises
    ------
    make
        Whether the tables are made where there are none.

    Raises
    ------
    InputError
        If the database is gone, locked, not a database, or of another version; or if it has not
        these tables and they are not to be made.
    """

    def __init__(self, url: str, schema: Schema, *, make: bool = True) -> None:
        try:
            address = sa.make_url(url if "://" in url else f"sqlite:///{url}")
            if address.drivername in ("postgresql", "postgres"):
                address = address.set(drivername="postgresql+psycopg")
            file = address.get_backend_name() == "sqlite" and not _in_memory(address)
            if file and not os.path.exists(str(address.database)):
                # Elsewhere in a rehearsal.
                address = address.set(database=str(place_to_write(Path(str(address.database)))))
            # A relative path is another file in another folder, and an engine is kept by its address.
            named = file and not str(address.database).startswith("file:")
            at = address.set(database=os.path.abspath(str(address.database))) if named else address
            self._engine = _engine(at)
            self._closed = False
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError, OSError) as error:
            raise InputError(
                message("no database can be opened by this address: {error}", error),
                hint="give a file name, or a URL such as postgresql+psycopg://host/name",
            ) from None
        self.name = address.render_as_string(hide_password=True)
        self._turn: threading.Lock | None = None
        # In a rehearsal whatever a transaction changed is taken back.
        memory = address.get_backend_name() == "sqlite" and not file
        self._kept = memory or is_kept(Path(str(address.database)))
        try:
            if file:
                path = Path(str(address.database))
                # The library would create it readable for everybody.
                make_private(path)
                self._turn = _TURN.setdefault(os.path.realpath(path), threading.Lock())
            self.transaction(
                lambda connection: _made(connection, schema, self.name, make=make),
                again=TAKEN_BACK | BORN_TWICE,
            )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, once nobody else has the same database open."""
        with _AT_THE_ENGINES:
            left = _OPEN[self._engine] = _OPEN[self._engine] - (not self._closed)
            self._closed = True
            if left <= 0:
                del _OPEN[self._engine]
                self._engine.dispose()

    def transaction(
        self,
        work: Callable[[sa.Connection], T],
        again: set[str] = TAKEN_BACK,
        unchanged: Callable[[], None] | None = None,
    ) -> T:
        """Run in a transaction, and again after a conflict with others (SQLSTATE in ``again``).

        ``unchanged``, for SQLite alone, is called at the end while nobody can change the file, if
        nobody else has changed it since the transaction.

        Raises
        ------
        InputError
            If the database cannot be used.
        sqlalchemy.exc.IntegrityError
            If a row violates a constraint.
        """
        for attempt in range(ATTEMPTS):
            try:
                with self._in_turn(), self._engine.connect() as connection:
                    with connection.begin():
                        result = work(connection)
                        before = _changes_by_others(connection) if unchanged else 0
                        if not self._kept:
                            connection.rollback()
                    # What was committed stays, whatever comes of the look at it.
                    with contextlib.suppress(exc.DBAPIError):
                        if unchanged:
                            with connection.begin():
                                if _changes_by_others(connection) == before:
                                    unchanged()
                    return result
            except exc.TimeoutError:
                raise _locked(self.name) from None
            except exc.DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) in again and attempt < ATTEMPTS - 1:
                    continue
                if isinstance(error, exc.IntegrityError):
                    raise
                raise _explained(error, self.name) from None
        raise AssertionError

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if self._turn is None:
            yield
        elif not self._turn.acquire(timeout=TURNS * DATABASE_PATIENCE):
            raise _locked(self.name)
        else:
            try:
                yield
            finally:
                self._turn.release()

    def vacuum(self) -> None:
        """Return the space of deleted rows to the file system.

        Raises
        ------
        InputError
            If the database cannot be used.
        """
        self._outside_transactions("VACUUM")

    def write_ahead(self) -> None:
        """From now on SQLite reaches the disk once for a transaction, and not four times.

        What was committed lies beside the file (``-wal``) until the last connection is closed.

        Raises
        ------
        InputError
            If the database cannot be used.
        """
        if self._turn is not None and self._kept:
            self._outside_transactions("PRAGMA journal_mode=WAL")

    def _outside_transactions(self, statement: str) -> None:
        try:
            with (
                self._in_turn(),
                self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
            ):
                # Sent to the driver itself.
                cursor = connection.connection.cursor()
                cursor.execute(statement)
                cursor.close()
        except exc.DBAPIError as error:
            raise _explained(error, self.name) from None


def _changes_by_others(connection: sa.Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())


def _in_memory(address: sa.URL) -> bool:
    return address.database in (None, "", ":memory:")


def _engine(address: sa.URL) -> sa.Engine:
    """The engine of an address: the same again, with the statements that it has compiled."""
    # Each database in memory is one of its own.
    alone = address.get_backend_name() == "sqlite" and _in_memory(address)
    with _AT_THE_ENGINES:
        engine = _made_engine(address) if alone else _kept(address)
        _OPEN[engine] += 1
    return engine


@lru_cache(maxsize=8)
def _kept(address: sa.URL) -> sa.Engine:
    return _made_engine(address)


def _made_engine(address: sa.URL) -> sa.Engine:
    engine = sa.create_engine(address, **_options(address))
    if address.get_backend_name() == "sqlite":
        _take_turns(engine)
    elif address.get_backend_name() == "postgresql":
        _be_patient_and_durable(engine)
    return engine


def _options(address: sa.URL) -> dict[str, object]:
    if address.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": DATABASE_PATIENCE}}
    return {"pool_pre_ping": True, "isolation_level": "SERIALIZABLE"}


def _take_turns(engine: sa.Engine) -> None:
    """SQLite: a transaction takes the write lock at once, so that what it reads cannot change."""

    @sa.event.listens_for(engine, "connect")
    def connect(connection: object, record: object) -> None:
        # The driver must not begin transactions itself.
        connection.isolation_level = None  # type: ignore[attr-defined]
        cursor = connection.cursor()  # type: ignore[attr-defined]
        # Bytes that are no text belong to one damaged row; they are no fault of the database.
        connection.text_factory = _text  # type: ignore[attr-defined]
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _be_patient_and_durable(engine: sa.Engine) -> None:
    """PostgreSQL: the same patience as elsewhere; a commit that returns has reached the disk."""

    @sa.event.listens_for(engine, "connect")
    def connect(connection: object, record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute(f"SET lock_timeout = '{DATABASE_PATIENCE}s'")
        cursor.execute("SET synchronous_commit = on")
        cursor.close()
        connection.commit()  # type: ignore[attr-defined]


@cache
def _versions(name: str) -> sa.Table:
    return sa.Table(name, sa.MetaData(), sa.Column("version", sa.Integer, primary_key=True))


def _made(connection: sa.Connection, schema: Schema, name: str, *, make: bool) -> None:
    """Create the tables if there are none; those of another version are left as they are."""
    there = sa.inspect(connection).has_table
    versions = _versions(schema.version_table)
    stated = there(versions.name)
    if not stated and not any(map(there, schema.tables.tables)):
        if not make:
            raise InputError(message("there is no {what} here", schema.what), file=name, hint=schema.remedy)
        schema.tables.create_all(connection, checkfirst=False)
        versions.create(connection, checkfirst=False)
        connection.execute(sa.insert(versions).values(version=schema.version))
        return
    found = None
    # Tables with these names may belong to somebody else.
    if stated:
        with contextlib.suppress(exc.OperationalError, exc.ProgrammingError):
            found = connection.execute(sa.select(versions.c.version)).scalar()
    if found != schema.version:
        raise InputError(
            message("the database was written by another version of the program"),
            file=name,
            hint=message("use that version, or another database; nothing was changed"),
        )


def _locked(name: str) -> InputError:
    return InputError(
        message("the database is locked by somebody else"),
        file=name,
        hint=message("try again when they have finished; nothing was changed"),
    )


def _explained(error: exc.DBAPIError, name: str) -> InputError:
    text = str(error.orig).strip().splitlines()[0] if error.orig else type(error).__name__
    if "locked" in text or "lock timeout" in text:
        return _locked(name)
    if "not a database" in text or "malformed" in text:
        return InputError(
            message("this file is no SQLite database"), file=name, hint=message("give another file")
        )
    return InputError(
        message("the database cannot be used: {text}", text),
        file=name,
        hint=message("is it there, and may you write to it? Nothing was decided or released"),
    )
