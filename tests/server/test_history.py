"""The history: chained, kept in snapshots, the same for those who start later."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from table_server import Serve, czech

from tabprotect.engine.chained_log import NO_LINES
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.table_server import session
from tabprotect.server.service import RequestLimits


def asked(serve: Serve, path: str) -> list[list[str]]:
    """Some queries of all kinds."""
    client = serve(czech(), path)
    queries = [["A", "B"], ["C", "D"], ["A", "B", "C", "D", "E"], ["A", "C", "D", "E", "F"], ["B", "F"]]
    for query in queries:
        assert client.ask(*query).status_code in (201, 403)
    return queries


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET user = 'somebody' WHERE number = 2",
        "UPDATE entry SET answer = 'table', newly_released = 1 WHERE number = 3",
        "UPDATE entry SET time = '2001-01-01 00:00:00.000000' WHERE number = 4",
        "UPDATE entry SET bundle = '' WHERE number = 1",
        "DELETE FROM entry WHERE number = 2",
    ],
)
def test_tampering_shows(serve: Serve, tmp_path: Path, change: str) -> None:
    path = str(tmp_path / "h.sqlite")
    asked(serve, path)
    client = serve(czech(), path)
    assert client.server.table.verified().lines == 5
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(InputError, match="tampered"):
        client.server.table.verified()
    with pytest.raises(InputError, match="tampered"):
        serve(czech(), path)


def test_a_start_from_a_snapshot_is_a_start_from_the_first_line(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "h.sqlite")
    monkeypatch.setattr(session, "SNAPSHOT_LINES", 4)
    asked(serve, path)
    folded: list[int] = []
    follow = session.followed

    def counted(ledger, head=NO_LINES, **named):  # type: ignore[no-untyped-def]
        folded.append(head.lines)
        return follow(ledger, head, **named)

    monkeypatch.setattr(session, "followed", counted)
    quick = serve(czech(), path).server.table
    assert folded[0] == 4
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM snapshot")
    connection.close()
    slow = serve(czech(), path).server.table
    assert folded[-1] == 0
    for one, other in ((quick.state, slow.state),):
        assert one.releases.released == other.releases.released
        assert one.releases.allowed.tolist() == other.releases.allowed.tolist()
        assert one.releases.unreleasable == other.releases.unreleasable
        assert one.releases.proved == other.releases.proved
        assert one.releases.judgement.verdict == other.releases.judgement.verdict
        assert (one.demand, one.bundles, one.refused) == (other.demand, other.bundles, other.refused)


def test_a_snapshot_of_another_log_or_other_settings_is_not_taken(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "h.sqlite")
    monkeypatch.setattr(session, "SNAPSHOT_LINES", 4)
    asked(serve, path)
    state = serve(czech(threshold=30), path).server.table.state
    # Under the other threshold the same log leads elsewhere: too much is out already.
    assert state.releases.judgement.verdict == "bad" and not len(state.releases.allowed)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE snapshot SET chain = ?", ("0" * 64,))
    connection.close()
    # Five queries, and two changes of what is fixed.
    assert serve(czech(), path).server.table.verified().lines == 7


def test_a_change_of_what_is_fixed_is_an_event(serve: Serve, tmp_path: Path) -> None:
    path = str(tmp_path / "h.sqlite")
    serve(czech(), path).ask("A", "B")
    assert serve(czech(), path).server.table.length == 1
    changed = replace(czech(), limits=replace(RequestLimits(requests=100_000, quantum=0.0), cells=5))
    served = serve(changed, path).server.table
    assert served.length == 2
    entry = served.entry(2)
    assert entry is not None and entry.line.kind == "settings"
    assert '"cells": 5' in entry.line.detail
    assert serve(changed, path).server.table.length == 2
    # It is no query, and counts as none.
    client = serve(changed, path)
    assert client.get("/queries/2").json()["code"] == "not_found"
    assert dict(client.server.table.state.demand) == {0b11: 1}
