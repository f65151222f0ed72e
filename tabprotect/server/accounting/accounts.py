"""Accounts: users, operators and auditors, with keys of which only hashes are kept. Confidential."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy import exc

from tabprotect.engine.database import Database, Schema
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

HASHED_AT_ONCE = 2
"""Keys that are hashed at the same time."""

ACCOUNTS_REMEMBERED = 10_000
"""Keys that were found good a moment ago."""


Role = Literal["user", "operator", "auditor"]

ROLES: tuple[Role, ...] = ("user", "operator", "auditor")

FRESH = 5.0
"""Seconds for which an account is not looked up again: so soon a withdrawn key ends to work."""

_SCHEMA = sa.MetaData()
_ACCOUNT = sa.Table(
    "account",
    _SCHEMA,
    sa.Column("mark", sa.String(16), primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("group_name", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("made", sa.DateTime, nullable=False),
    sa.Column("withdrawn", sa.DateTime),
)

SCHEMA = Schema(_SCHEMA, 1, "account_schema")


@dataclass(frozen=True)
class Account:
    """The holder of a key.

    Attributes
    ----------
    mark
        The public part of the key.
    group
        Whose limits hold.
    """

    mark: str
    name: str
    role: Role
    group: str
    withdrawn: bool = False


class Accounts:
    """The accounts in a database; the same one as the history's, or another.

    Raises
    ------
    InputError
        For a database that is gone, locked, no database, or of another version.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url, SCHEMA)
        self._hasher = PasswordHasher()
        # Each takes 64 MiB and a core: a crowd of wrong keys waits for itself, and for nobody else.
        self._hashing = threading.BoundedSemaphore(HASHED_AT_ONCE)
        self._good: OrderedDict[str, tuple[float, Account]] = OrderedDict()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def add(self, name: str, role: Role = "user", group: str = "") -> str:
        """Make an account.

        Returns
        -------
        str
            Its key, which is shown this once: only its hash is kept.

        Raises
        ------
        InputError
            For a name that there is, or that cannot be one.
        """
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise InputError(message("a name has 1 to 100 printable characters"))
        if role not in ROLES:
            raise InputError(
                message("there is no role {role}", repr(role)),
                hint=message("one of {ROLES}", ", ".join(ROLES)),
            )
        mark, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        row = {
            "mark": mark,
            "name": name,
            "role": role,
            "group_name": group,
            "hash": self._hasher.hash(secret),
            "made": datetime.now(UTC).replace(tzinfo=None),
            "withdrawn": None,
        }
        try:
            self._database.transaction(lambda connection: connection.execute(sa.insert(_ACCOUNT).values(row)))
        except exc.IntegrityError:
            raise InputError(
                message("there is an account {name}", repr(name)), hint=message("take another name")
            ) from None
        return f"tp_{mark}_{secret}"

    def withdraw(self, name: str) -> None:
        """End an account; its name stays taken, because the history speaks of it."""
        when = datetime.now(UTC).replace(tzinfo=None)
        change = sa.update(_ACCOUNT).where(_ACCOUNT.c.name == name).values(withdrawn=when)
        self._database.transaction(lambda connection: connection.execute(change))
        self._good.clear()

    def every(self) -> list[Account]:
        """All accounts by name."""
        wanted = sa.select(_ACCOUNT).order_by(_ACCOUNT.c.name)
        rows = self._database.transaction(lambda connection: connection.execute(wanted).all())
        return [_account(row) for row in rows]

    def at_hand(self, key: str) -> Account | None:
        """Return whose key this is, if it was good a moment ago; nothing is looked up or hashed."""
        found = self._good.get(hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest())
        return found[1] if found is not None and time.monotonic() - found[0] < FRESH else None

    def by_key(self, key: str) -> Account | None:
        """Return whose key this is; ``None`` for one that is not, or no longer, good."""
        start, _, rest = key.partition("_")
        mark, _, secret = rest.partition("_")
        if start != "tp" or not mark or not secret or len(key) > 100:
            return None
        digest = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
        found = self._good.get(digest)
        if found is not None and time.monotonic() - found[0] < FRESH:
            return found[1]
        row = self._row(mark)
        if row is None or row.withdrawn is not None:
            return None
        # What was good once needs no second hashing, which is slow on purpose.
        if found is None:
            try:
                with self._hashing:
                    self._hasher.verify(row.hash, secret)
            except VerificationError:
                return None
        account = _account(row)
        self._good[digest] = (time.monotonic(), account)
        if len(self._good) > ACCOUNTS_REMEMBERED:
            self._good.popitem(last=False)
        return account

    def by_mark(self, mark: str) -> Account | None:
        """The account of a session's mark; ``None`` where it ended."""
        row = self._row(mark)
        return None if row is None or row.withdrawn is not None else _account(row)

    def _row(self, mark: str) -> sa.Row[tuple[object, ...]] | None:
        wanted = sa.select(_ACCOUNT).where(_ACCOUNT.c.mark == mark)
        return self._database.transaction(lambda connection: connection.execute(wanted).first())


def _account(row: sa.Row[tuple[object, ...]]) -> Account:
    values = row._mapping
    return Account(
        values["mark"],
        values["name"],
        cast(Role, values["role"]),
        values["group_name"],
        values["withdrawn"] is not None,
    )
