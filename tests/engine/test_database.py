"""A database that many use at once."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from tabprotect.engine import database
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.table_server.ledger import SCHEMA

PATIENCE = 0.05


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of an SQLite file; whoever waits for it soon gives up."""
    monkeypatch.setattr(database, "DATABASE_PATIENCE", PATIENCE)
    return tmp_path / "d.sqlite"


def test_threads_stand_in_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two of them on connections of their own, as the history and the accounts of a server.
    monkeypatch.setattr(database, "TURNS", 10_000)
    both = [database.Database(str(path), SCHEMA) for _ in range(2)]

    def busy(number: int) -> int:
        def work(connection: sa.Connection) -> int:
            time.sleep(PATIENCE / 4)
            return int(connection.execute(sa.text("SELECT 1")).scalar_one())

        return both[number % 2].transaction(work)

    with ThreadPoolExecutor(24) as pool:
        assert sum(pool.map(busy, range(48))) == 48
    for one in both:
        one.close()


def test_somebody_else_writes(path: Path) -> None:
    opened = database.Database(str(path), SCHEMA)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="locked by somebody else"):
        opened.transaction(lambda connection: None)
    other.execute("COMMIT")
    other.close()
    assert opened.transaction(lambda connection: 1) == 1
    opened.close()


def test_a_line_that_does_not_move_is_left(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "TURNS", 1)
    opened = database.Database(str(path), SCHEMA)
    with ThreadPoolExecutor(1) as pool:

        def work(connection: sa.Connection) -> None:
            with pytest.raises(InputError, match="locked by somebody else"):
                pool.submit(opened.transaction, lambda connection: None).result()

        opened.transaction(work)
    assert opened.transaction(lambda connection: 1) == 1
    opened.close()


def test_whoever_closes_leaves_the_others_open(tmp_path: Path) -> None:
    """Two at one address share their engine: its connections are closed with the last of them."""
    path = str(tmp_path / "shared.db")
    first, second = (database.Database(path, SCHEMA) for _ in range(2))
    pool = first._engine.pool
    first.close()
    first.close()
    assert second._engine.pool is pool
    assert second.transaction(lambda c: c.execute(sa.text("SELECT 1")).scalar()) == 1
    second.close()
    assert second._engine.pool is not pool


def test_a_relative_path_is_another_file_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        database.Database(str(Path("d.sqlite").absolute()), SCHEMA).close()
        opened = database.Database("d.sqlite", SCHEMA)
        (_, _, file) = opened.transaction(lambda c: c.execute(sa.text("PRAGMA database_list")).one())
        opened.close()
        assert Path(file).samefile("d.sqlite")
