"""A history that several people share, in a PostgreSQL server of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.evidence import Evidence
from tabprotect.engine.query_space.registered import criteria, rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.database import SCHEMA, Ledger
from tabprotect.engine.query_space.table_server.fold import Request, ServerState, serve
from tabprotect.engine.query_space.table_server.session import ServerSession, replay
from tabprotect.engine.tables.table import Table

USER = "keeper"


class Server:
    """A cluster in a folder of its own, reached by a socket there; never as root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            # The server refuses root; Debian's package comes with a user for it.
            self._as = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(folder, "postgres", "postgres")
        self._process: subprocess.Popen[bytes] | None = None
        options = ("--no-sync", "--no-locale", "-E", "UTF8", "-A", "trust", "-U", USER)
        done = subprocess.run(
            [program("initdb"), "-D", str(folder / "data"), *options],
            cwd=folder,
            capture_output=True,
            **self._as,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}@/{database}?host={quote(str(self.folder))}"

    def start(self) -> None:
        options = ("listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off")
        given = [word for option in options for word in ("-c", option)]
        with open(self.folder / "log", "wb") as log:
            self._process = subprocess.Popen(
                [program("postgres"), "-D", str(self.folder / "data"), *given],
                cwd=self.folder,
                **self._as,
                stdout=log,
                stderr=log,
            )
        last = time.monotonic() + 60
        while not (self.folder / ".s.PGSQL.5432").exists() or not self._answers():
            if self._process.poll() is not None or time.monotonic() > last:
                raise RuntimeError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(30)
            self._process = None

    def database(self, name: str) -> str:
        """A new database; its address."""
        engine = sa.create_engine(psycopg(self.url()), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)

    def _answers(self) -> bool:
        engine = sa.create_engine(psycopg(self.url()))
        try:
            engine.connect().close()
            return True
        except sa.exc.OperationalError:
            return False
        finally:
            engine.dispose()


def program(name: str) -> str:
    """Debian keeps the server's programs off the path."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(versions[-1]) if versions else shutil.which(name)
    assert found, "PostgreSQL is not installed: see packaging/apt-packages-test.txt"
    return found


def psycopg(url: str) -> str:
    return url.replace("postgresql:", "postgresql+psycopg:")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    # Not in pytest's folder: other users may not enter it, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    found = Server(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def start(czech_evidence: Evidence) -> ServerState:
    """Nothing released, width at least 10, myopic."""
    releases = ReleaseSet.begin(czech_evidence, criteria()["width"], 10, bounds="decomposable")
    return ServerState.begin(releases, rules()["myopic"])


def test_many_sessions_at_once_lose_nothing(
    server: Server, start: ServerState, czech: Table
) -> None:
    url = server.database("busy")
    queries = [q for q in range(1, 64) if q.bit_count() == 2]
    ready = threading.Barrier(3)

    def work(user: str) -> None:
        # All find the database empty: the first makes the tables, the others come second.
        ready.wait(60)
        with Ledger(url, czech) as ledger:
            session = ServerSession(ledger, start)
            for query in queries:
                session.ask(Request(user, query))

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, user) for user in "abc"]:
            done.result(100)
    with Ledger(url, czech) as ledger:
        entries = list(ledger.entries())
        assert [e.number for e in entries] == list(range(1, 3 * len(queries) + 1))
        for user in "abc":
            assert [e.line.query for e in entries if e.line.user == user] == queries
        assert len({e.session for e in entries}) == 3
        released = [e.line.newly_released for e in entries if e.line.newly_released is not None]
        assert released and len(released) == len(set(released))
        # Every decision is the one that the log before it leads to.
        state = start
        for entry in entries:
            again, _, line = serve(state, Request(entry.line.user, entry.line.query))
            assert line == entry.line
            state = again
        states = [found for _, found in replay(ledger, start.releases)]
        assert states[-1].released == state.releases.released
        assert len(list(replay(ledger, start.releases, until=5))) == 5


def test_the_schema_has_a_version(server: Server, start: ServerState, czech: Table) -> None:
    url = server.database("versions")
    with Ledger(url, czech) as ledger:
        ServerSession(ledger, start).ask(Request("ann", 3))
    engine = sa.create_engine(psycopg(url))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer version"):
        Ledger(url, czech)
    with engine.begin() as connection:
        version = {"version": SCHEMA.revisions[-1]}
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), version)
    with Ledger(url, czech) as ledger:
        assert [e.line.query for e in ledger.entries()] == [3]
    engine.dispose()


def test_a_locked_history(
    server: Server, start: ServerState, czech: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.database("locked")
    monkeypatch.setattr("tabprotect.engine.database.PATIENCE", 1)
    engine = sa.create_engine(psycopg(url))
    with Ledger(url, czech) as ledger:
        session = ServerSession(ledger, start)
        with engine.begin() as connection:
            connection.execute(sa.text("LOCK TABLE entry IN ACCESS EXCLUSIVE MODE"))
            with pytest.raises(InputError, match="locked"):
                session.ask(Request("ann", 3))
        assert session.state == start and list(ledger.entries()) == []
        assert session.ask(Request("ann", 3)).entry.number == 1
    engine.dispose()


def test_a_server_that_goes_away(server: Server, start: ServerState, czech: Table) -> None:
    url = server.database("gone")
    with Ledger(url, czech) as ledger:
        session = ServerSession(ledger, start)
        session.ask(Request("ann", 3))
        before = session.state
        server.stop()
        try:
            with pytest.raises(InputError, match="cannot be used") as error:
                session.ask(Request("ann", 12))
            assert error.value.hint and session.state == before
            with pytest.raises(InputError, match="cannot be used"):
                Ledger(url, czech)
        finally:
            server.start()
        # Nothing was logged, and the same session goes on.
        assert session.ask(Request("ann", 12)).entry.number == 2
        assert [e.line.query for e in ledger.entries()] == [3, 12]
