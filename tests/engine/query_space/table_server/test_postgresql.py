"""A history that several people share, in a PostgreSQL server of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from postgresql_server import Server, psycopg, running_server

from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.registered import criteria, rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import Request, ServerState, serve
from tabprotect.engine.query_space.table_server.ledger import SCHEMA, Ledger
from tabprotect.engine.query_space.table_server.session import ServerSession, replay
from tabprotect.engine.tables.table import Table


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.fixture(scope="module")
def start(czech_evidence: Evidence) -> ServerState:
    """Nothing released, width at least 10, myopic."""
    releases = ReleaseSet.begin(Standard(czech_evidence, criteria()["width"], 10, "decomposable"))
    return ServerState.begin(releases, rules()["myopic"])


def test_many_sessions_at_once_lose_nothing(server: Server, start: ServerState, czech: Table) -> None:
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
        connection.execute(sa.text("UPDATE history_schema SET version = 9999"))
    with pytest.raises(InputError, match="another version"):
        Ledger(url, czech)
    with engine.begin() as connection:
        version = {"version": SCHEMA.version}
        connection.execute(sa.text("UPDATE history_schema SET version = :version"), version)
    with Ledger(url, czech) as ledger:
        assert [e.line.query for e in ledger.entries()] == [3]
    engine.dispose()


def test_a_locked_history(
    server: Server, start: ServerState, czech: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.database("locked")
    monkeypatch.setattr("tabprotect.engine.database.DATABASE_PATIENCE", 1)
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
