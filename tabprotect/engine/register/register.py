"""The register of releases that left this house, in a database. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import sqlalchemy as sa

from tabprotect.engine.budgets import MOST_KEPT
from tabprotect.engine.database import BORN_TWICE, TAKEN_BACK, Database, Schema
from tabprotect.engine.errors import InputError
from tabprotect.engine.house import prepared_address
from tabprotect.engine.register.register_entry import (
    LeavingPublication,
    OriginalMarks,
    RegisterEntry,
)
from tabprotect.languages.said import say

_SCHEMA = sa.MetaData()
_RELEASE = sa.Table(
    "published_release",
    _SCHEMA,
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
    # The same bytes are not another release, whoever publishes them at the same time.
    sa.UniqueConstraint("bundle", "original"),
    # Numbers of removed entries are not given again.
    sqlite_autoincrement=True,
)
_BUNDLE = sa.Table(
    "published_bundle",
    _SCHEMA,
    sa.Column("fingerprint", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_REFUSED = sa.Table(
    "refused_mechanism",
    _SCHEMA,
    sa.Column("original", sa.String(64), primary_key=True),
    sa.Column("mechanism", sa.String(64), primary_key=True),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("time", sa.DateTime, nullable=False),
)

SCHEMA = Schema(_SCHEMA, 1, "register_schema")

_STATEMENTS = sa.MetaData()
_STATEMENT = sa.Table(
    "refusal_statement",
    _STATEMENTS,
    sa.Column("original", sa.String(64), primary_key=True),
    sa.Column("mechanism", sa.String(64), primary_key=True),
    sa.Column("stated", sa.Text, nullable=False),
)

STATEMENTS = Schema(_STATEMENTS, 1, "refusal_schema")
"""What refused mechanisms would have stated: beside the first schema, in the same database."""


@dataclass(frozen=True)
class RefusedMechanism:
    """A mechanism that the gate refused for an original.

    Attributes
    ----------
    method
    stated
        The text that it would have stated, with its gate; empty where that is not known.
    """

    method: str
    stated: str = ""


class Register:
    """The register at an address. Use as a context manager.

    Parameters
    ----------
    url
        The path of an SQLite file, which is created (mode 0600) if there is none, or any
        SQLAlchemy URL.

    Raises
    ------
    InputError
        If the database is gone, locked, not a database, or of another version.
    """

    def __init__(self, url: str) -> None:
        address = prepared_address(url)
        self._database = Database(address, SCHEMA)
        self._statements = Database(address, STATEMENTS)
        self.name = self._database.name

    def __enter__(self) -> Register:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()
        self._statements.close()

    def entries(self) -> list[RegisterEntry]:
        """Every publication, in order."""
        rows = self._database.transaction(
            lambda connection: (
                connection.execute(sa.select(_RELEASE).order_by(_RELEASE.c.number)).mappings().all()
            )
        )
        return [_entry(dict(row)) for row in rows]

    def find(self, word: str) -> RegisterEntry:
        """An entry by its number, or by the first eight or more digits of its bundle's fingerprint.

        Raises
        ------
        InputError
            If there is none, or more than one.
        """
        sign = word.strip().lower()
        found = [
            entry
            for entry in self.entries()
            if str(entry.number) == sign
            or (len(sign) >= 8 and entry.publication.bundle.startswith(sign))
        ]
        if len(found) != 1:
            how = say("no release") if not found else say("{found} releases", len(found))
            raise InputError(
                say("the register has {how} {word}", how, repr(word)),
                file=self.name,
                hint=say("give the number that the list shows"),
            )
        return found[0]

    def add(self, publication: LeavingPublication, content: bytes) -> int | None:
        """Enter a publication; durable on return.

        Returns
        -------
        int or None
            Its number; ``None`` if the same bytes of the same original are already there: they are
            not another release (and are no longer withdrawn).
        """
        of = publication
        row = {
            "time": datetime.now(UTC).replace(tzinfo=None),
            "who": of.who,
            "original": of.marks.original,
            "variables": list(of.marks.variables),
            "records": list(of.marks.records),
            "bundle": of.bundle,
            "method": of.method,
            "title": of.title,
            "gate": dict(of.gate),
            "decisions": list(of.decisions),
            "withdrawn": None,
            "withdrawn_reason": "",
        }
        same = (_RELEASE.c.bundle == of.bundle) & (_RELEASE.c.original == of.marks.original)

        def enter(connection: sa.Connection) -> int | None:
            if connection.execute(sa.select(_RELEASE.c.number).where(same)).first() is not None:
                connection.execute(
                    sa.update(_RELEASE).where(same).values(withdrawn=None, withdrawn_reason="")
                )
                return None
            kept = sa.select(_BUNDLE.c.fingerprint).where(_BUNDLE.c.fingerprint == of.bundle)
            if len(content) <= MOST_KEPT and connection.execute(kept).first() is None:
                connection.execute(
                    sa.insert(_BUNDLE).values(fingerprint=of.bundle, content=content)
                )
            done = connection.execute(sa.insert(_RELEASE).values(row))
            assert done.inserted_primary_key is not None
            return int(done.inserted_primary_key[0])

        return self._database.transaction(enter, again=TAKEN_BACK | BORN_TWICE)

    def forget(self, number: int) -> None:
        """Remove an entry whose files could not be written: nothing left the house."""
        one = _RELEASE.c.number == number

        def take_back(connection: sa.Connection) -> None:
            bundle = connection.execute(sa.select(_RELEASE.c.bundle).where(one)).scalar()
            connection.execute(sa.delete(_RELEASE).where(one))
            others = sa.select(_RELEASE.c.number).where(_RELEASE.c.bundle == bundle)
            if connection.execute(others).first() is None:
                connection.execute(sa.delete(_BUNDLE).where(_BUNDLE.c.fingerprint == bundle))

        self._database.transaction(take_back)

    def withdraw(self, number: int, reason: str) -> None:
        """Mark a release as withdrawn. It stays in the register, since it has been read.

        Raises
        ------
        InputError
            If it is already withdrawn.
        """
        one = (_RELEASE.c.number == number) & _RELEASE.c.withdrawn.is_(None)
        values = {"withdrawn": datetime.now(UTC).replace(tzinfo=None), "withdrawn_reason": reason}
        done = self._database.transaction(
            lambda connection: (
                connection.execute(sa.update(_RELEASE).where(one).values(values)).rowcount
            )
        )
        if not done:
            raise InputError(say("release {number} is withdrawn already", number), file=self.name)

    def refuse(self, original: str, mechanism: str, refused: RefusedMechanism) -> None:
        """Record that the gate refused a mechanism for an original; each is recorded once."""
        method = refused.method
        row = {"original": original, "mechanism": mechanism, "method": method}
        own = (_REFUSED.c.original == original) & (_REFUSED.c.mechanism == mechanism)

        def remember(connection: sa.Connection) -> None:
            if connection.execute(sa.select(_REFUSED.c.method).where(own)).first() is None:
                now = datetime.now(UTC).replace(tzinfo=None)
                connection.execute(sa.insert(_REFUSED).values(time=now, **row))

        said = {"original": original, "mechanism": mechanism, "stated": refused.stated}
        known = (_STATEMENT.c.original == original) & (_STATEMENT.c.mechanism == mechanism)

        def say_so(connection: sa.Connection) -> None:
            if connection.execute(sa.select(_STATEMENT.c.stated).where(known)).first() is None:
                connection.execute(sa.insert(_STATEMENT).values(**said))

        self._database.transaction(remember, again=TAKEN_BACK | BORN_TWICE)
        self._statements.transaction(say_so, again=TAKEN_BACK | BORN_TWICE)

    def refused(self, original: str) -> dict[str, RefusedMechanism]:
        """Mechanisms that the gate refused for an original, by their digests."""
        of = sa.select(_STATEMENT.c.mechanism, _STATEMENT.c.stated).where(
            _STATEMENT.c.original == original
        )
        said = self._statements.transaction(lambda connection: connection.execute(of).all())
        stated = {str(mechanism): str(text) for mechanism, text in said}
        wanted = sa.select(_REFUSED.c.mechanism, _REFUSED.c.method).where(
            _REFUSED.c.original == original
        )
        rows = self._database.transaction(lambda connection: connection.execute(wanted).all())
        return {
            str(mechanism): RefusedMechanism(str(method), stated.get(str(mechanism), ""))
            for mechanism, method in rows
        }

    def content(self, entry: RegisterEntry) -> bytes | None:
        """The bytes of a bundle, if they are kept."""
        wanted = sa.select(_BUNDLE.c.content).where(
            _BUNDLE.c.fingerprint == entry.publication.bundle
        )
        found = self._database.transaction(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else bytes(found)


def _entry(row: Mapping[str, object]) -> RegisterEntry:
    variables, records, decisions = (
        tuple(map(str, cast(list[object], row[name])))
        for name in ("variables", "records", "decisions")
    )
    return RegisterEntry(
        cast(int, row["number"]),
        cast(datetime, row["time"]),
        LeavingPublication(
            OriginalMarks(str(row["original"]), variables, records),
            str(row["bundle"]),
            str(row["method"]),
            str(row["title"]),
            cast(dict[str, object], row["gate"]),
            decisions,
            str(row["who"]),
        ),
        cast("datetime | None", row["withdrawn"]),
        str(row["withdrawn_reason"]),
    )
