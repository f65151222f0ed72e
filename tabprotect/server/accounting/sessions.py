"""Sessions of browsers: begun with a key, ended by signing out, by time, or by rest. Confidential.

The database holds of each only what its token becomes under the server's secret: who reads or writes
the database, and has not the secret, makes none.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

import sqlalchemy as sa

from tabprotect.engine.database import Database, Schema

LIFE = 12 * 3600
"""Seconds after which a session has ended, however it is used."""

REST = 30 * 60
"""Seconds without a request after which it has."""

NOTED = 60
"""Seconds within which a further request is not noted: most requests write nothing."""

_SCHEMA = sa.MetaData()
_SESSION = sa.Table(
    "browser_session",
    _SCHEMA,
    sa.Column("token", sa.String(64), primary_key=True),
    sa.Column("mark", sa.String(16), nullable=False),
    sa.Column("begun", sa.Float, nullable=False),
    sa.Column("last", sa.Float, nullable=False),
)

SCHEMA = Schema(_SCHEMA, 1, "browser_session_schema")


class Sessions:
    """The sessions of a server's browsers.

    Parameters
    ----------
    secret
        Of the server.
    clock
        Seconds since 1970.

    Raises
    ------
    InputError
        For a database that cannot be used.
    """

    def __init__(self, url: str, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._database = Database(url, SCHEMA)
        self._secret, self._clock = secret, clock

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def begin(self, mark: str) -> str:
        """A session for the account of a mark; returns its token, which the browser keeps."""
        token, now = secrets.token_urlsafe(32), self._clock()
        row = {"token": self._kept(token), "mark": mark, "begun": now, "last": now}
        over = (_SESSION.c.begun < now - LIFE) | (_SESSION.c.last < now - REST)

        def enter(connection: sa.Connection) -> None:
            connection.execute(sa.delete(_SESSION).where(over))
            connection.execute(sa.insert(_SESSION).values(row))

        self._database.transaction(enter)
        return token

    def mark_of(self, token: str) -> str | None:
        """The mark of the account whose session this is; ``None`` for one that has ended."""
        if not token or len(token) > 100:
            return None
        own, now = _SESSION.c.token == self._kept(token), self._clock()

        def look(connection: sa.Connection) -> str | None:
            found = connection.execute(sa.select(_SESSION).where(own)).first()
            if found is None:
                return None
            if now - found.begun >= LIFE or now - found.last >= REST or now < found.begun - NOTED:
                connection.execute(sa.delete(_SESSION).where(own))
                return None
            if now - found.last >= NOTED:
                connection.execute(sa.update(_SESSION).where(own).values(last=now))
            return str(found.mark)

        return self._database.transaction(look)

    def end(self, token: str) -> None:
        """End a session for good."""
        own = _SESSION.c.token == self._kept(token)
        self._database.transaction(lambda c: c.execute(sa.delete(_SESSION).where(own)))

    def end_all(self, mark: str) -> None:
        """End every session of an account."""
        own = _SESSION.c.mark == mark
        self._database.transaction(lambda c: c.execute(sa.delete(_SESSION).where(own)))

    def _kept(self, token: str) -> str:
        said = b"session:" + token.encode(errors="surrogatepass")
        return hmac.new(self._secret, said, hashlib.sha256).hexdigest()
