"""The table server: the fold, its database, two sessions at once, faults."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine import database
from tabprotect.engine.chained_log import Head
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.registered import criteria, rules, session_rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import LogLine, Request, ServerState, serve
from tabprotect.engine.query_space.table_server.ledger import Ledger, Taken
from tabprotect.engine.query_space.table_server.log_entry import table_fingerprint
from tabprotect.engine.query_space.table_server.session import ServerSession, replay
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table


@pytest.fixture(scope="module")
def start(czech_evidence: Evidence) -> ServerState:
    """Nothing released, width at least 10, myopic."""
    releases = ReleaseSet.begin(Standard(czech_evidence, criteria()["width"], 10))
    return ServerState.begin(releases, rules()["myopic"])


def decomposable(releases: ReleaseSet) -> ReleaseSet:
    """The same, judged by bounds that need no programme."""
    return ReleaseSet.begin(
        Standard(releases.evidence, releases.criterion, releases.threshold, "decomposable")
    )


def asked(start: ServerState, text: str, user: str = "u") -> Request:
    return Request(user, start.releases.evidence.lattice.parse(text))


def test_the_four_answers(start: ServerState) -> None:
    state, answer, line = serve(start, asked(start, "A,B,C"))
    assert (answer.kind, answer.queries) == ("table", (0b111,))
    assert line.newly_released == 0b111 and state.releases.status(0b011) == "released"
    state, answer, line = serve(state, asked(start, "A,B"))
    assert answer.kind == "table" and line.newly_released is None
    assert answer.reason == "released before"
    state, answer, line = serve(state, asked(start, "A,B,C,D,E"))
    assert (answer.kind, answer.queries) == ("projection", (0b111,))
    assert line.newly_released is None and line.detail
    _, answer, line = serve(start, asked(start, "A,B,C,D,E"))
    assert (answer.kind, answer.queries) == ("refusal", ())
    # What may be said holds no figure.
    assert not any(c.isdigit() for c in answer.reason)
    slow = replace(start, rule=rules()["one_step"])
    after, answer, _ = serve(slow, asked(start, "A,B"))
    assert (answer.kind, answer.queries) == ("deferral", ())
    assert after.demand == {0b11: 1} and start.demand == {}


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 15), max_size=4), st.sampled_from(sorted(session_rules())))
def test_the_fold_is_pure_and_what_it_gives_out_is_released(
    czech: Table, queries: list[int], rule: str
) -> None:
    # What a rule decides by is the same with either bounds; these take a tenth of the time.
    evidence = Evidence.gather(czech.margin(tuple("ABCD")), SmallCount(1, 50))
    quick = decomposable(ReleaseSet.begin(Standard(evidence, criteria()["width"], 30)))
    first = ServerState.begin(quick, rules()[rule])
    runs = []
    for _ in range(2):
        state, answers = first, []
        for query in queries:
            state, answer, line = serve(state, Request("u", query))
            answers.append((answer, line))
            assert all(given in state.releases.released for given in answer.queries)
            assert state.releases.judgement.verdict == "safe"
        runs.append((answers, state.releases.released))
    assert runs[0] == runs[1]
    folded = first
    for _, line in runs[0][0]:
        folded = folded.after([line])
    assert folded.releases.released == runs[0][1]


def test_history_and_replay(start: ServerState, czech: Table, tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    texts = ["A,B", "C,D,E,F", "A,B,C,D,E", "A,C,D,E,F"]
    with Ledger(path, czech) as ledger:
        session = ServerSession(ledger, start)
        seen = []
        for text in texts:
            answered = session.ask(asked(start, text, user="ann"))
            seen.append((answered.answer.kind, session.state.releases.released))
        assert [e.line.user for e in ledger.entries()] == ["ann"] * 4
        assert ledger.settings(session.number)["threshold"] == 10
        with pytest.raises(InputError, match="no session 99"):
            ledger.settings(99)
    with Ledger(path, czech) as ledger:
        replayed = list(replay(ledger, start.releases))
        assert [(e.line.kind, s.released) for e, s in replayed] == seen
        assert [e.number for e, _ in replayed] == [1, 2, 3, 4]
        assert len(list(replay(ledger, start.releases, until=2))) == 2
        assert not list(replay(ledger, start.releases, until=datetime(2001, 1, 1)))
        assert len(list(ledger.entries(until=datetime.now(UTC)))) == 4
        again = ServerSession(ledger, start)
        assert again.state.releases.released == seen[-1][1]
        assert again.ask(asked(start, "A,B")).answer.reason == "released before"


def test_each_table_has_a_history_of_its_own(start: ServerState, czech: Table, tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    other = Table.dense(czech.domain, np.flip(czech.counts))
    assert table_fingerprint(czech) != table_fingerprint(other)
    assert table_fingerprint(czech) == table_fingerprint(Table.sparse(czech.domain, *czech.cells))
    with Ledger(path, czech) as ledger, Ledger(path, other) as second:
        ServerSession(ledger, start).ask(asked(start, "A,B"))
        assert len(list(ledger.entries())) == 1 and list(second.entries()) == []


def test_two_sessions_at_once_lose_nothing(start: ServerState, czech: Table, tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    lattice = start.releases.evidence.lattice
    start = ServerState.begin(decomposable(start.releases), start.rule)
    queries = [q for q in range(1, 64) if q.bit_count() == 2]
    failures: list[BaseException] = []

    def work(user: str) -> None:
        try:
            with Ledger(path, czech) as ledger:
                session = ServerSession(ledger, start)
                for query in queries:
                    session.ask(Request(user, query))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(user,)) for user in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with Ledger(path, czech) as ledger:
        entries = list(ledger.entries())
        assert [e.number for e in entries] == list(range(1, 2 * len(queries) + 1))
        for user in ("a", "b"):
            assert [e.line.query for e in entries if e.line.user == user] == queries
        released = [e.line.newly_released for e in entries if e.line.newly_released is not None]
        assert len(released) == len(set(released))
        # Every decision is the one that the log before it leads to.
        state = start
        for entry in entries:
            again, _, line = serve(state, Request(entry.line.user, entry.line.query))
            assert line == entry.line
            state = again
        assert lattice.full not in state.releases.released


def test_who_comes_second_decides_anew(start: ServerState, czech: Table, tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "h.db"), czech) as ledger:
        one, two = ServerSession(ledger, start), ServerSession(ledger, start)
        one.ask(asked(start, "A,B,C,E,F"))
        line = LogLine("u", 3, "table", 3, "r", "")
        with pytest.raises(Taken):
            ledger.append(line, session=two.number, previous=Head())
        # Alone it would be released; after the first one it is not.
        late = two.ask(asked(start, "A,C,D,E,F"))
        assert late.entry.number == 2
        expected = serve(one.state, asked(start, "A,C,D,E,F"))[1]
        assert late.answer == expected


def test_no_release_without_a_log_line(
    start: ServerState, czech: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h.db"
    monkeypatch.setattr(database, "DATABASE_PATIENCE", 0.05)
    with Ledger(str(path), czech) as ledger:
        session = ServerSession(ledger, start)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="locked") as error:
            session.ask(asked(start, "A,B"))
        assert str(path) in error.value.place and error.value.hint
        assert session.state == start
        other.execute("ROLLBACK")
        other.close()
        assert list(ledger.entries()) == []
        assert session.ask(asked(start, "A,B")).entry.number == 1


def test_a_database_that_vanishes(start: ServerState, czech: Table, tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    with Ledger(str(path), czech) as ledger:
        session = ServerSession(ledger, start)
        session.ask(asked(start, "A,B"))
        before = session.state
        path.unlink()
        with pytest.raises(InputError, match="cannot be used"):
            session.ask(asked(start, "C,D"))
        assert session.state == before
    assert not path.exists()


def test_power_loss_before_the_log(
    start: ServerState, czech: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerLossError(BaseException):
        pass

    def fail(*given: object, **named: object) -> None:
        raise PowerLossError

    with Ledger(str(tmp_path / "h.db"), czech) as ledger:
        session = ServerSession(ledger, start)
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "append", fail)
            with pytest.raises(PowerLossError):
                session.ask(asked(start, "A,B"))
        assert list(ledger.entries()) == []
        assert ServerSession(ledger, start).state.releases.released.members == (0,)


def test_databases_that_cannot_be_used(czech: Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unable to open"):
        Ledger(str(tmp_path / "nowhere" / "h.db"), czech)
    text = tmp_path / "text.db"
    text.write_text("this is a text, and not short of being a page of it " * 40)
    with pytest.raises(InputError, match="no SQLite database"):
        Ledger(str(text), czech)
    with pytest.raises(InputError, match="no database can be opened"):
        Ledger("nosuch://host/name", czech)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE history_schema SET version = 9999",
        "DROP TABLE history_schema",
        "ALTER TABLE history_schema RENAME COLUMN version TO number",
    ],
)
def test_a_database_of_another_version_is_refused_and_left_as_it_is(
    czech: Table, tmp_path: Path, change: str
) -> None:
    other = tmp_path / "other.db"
    Ledger(str(other), czech).close()
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute(change)
    connection.close()
    before = other.read_bytes()
    with pytest.raises(InputError, match="another version"):
        Ledger(str(other), czech)
    assert other.read_bytes() == before


def test_passwords_stay_out_of_errors(czech: Table) -> None:
    with pytest.raises(InputError) as error:
        Ledger("postgresql+psycopg://somebody:secretword@127.0.0.1:1/none", czech)
    assert "secretword" not in str(error.value) + error.value.hint


def test_a_threshold_nobody_can_meet(czech_evidence: Evidence) -> None:
    releases = ReleaseSet.begin(Standard(czech_evidence, criteria()["width"], 5000))
    with pytest.raises(InfeasibleError, match="one-way"):
        ServerState.begin(releases, rules()["myopic"])
