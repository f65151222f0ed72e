from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.project import storage
from tabprotect.engine.project.history import History
from tabprotect.engine.project.opening import open_source
from tabprotect.engine.project.project import Project


def test_a_project_opens_as_its_table_with_its_edits(tmp_path: Path) -> None:
    history, _ = History(Project()).apply("open_table", {"source": "example:duncan-roehrig-4x4"})
    history, _ = history.apply("set_count", {"index": [0, 1], "count": 7})
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    found = open_source(path)
    plain = open_source("example:duncan-roehrig-4x4")
    assert found.table[(0, 1)] == 7
    assert found.moves == plain.moves
    assert found.title == plain.title


def test_projects_that_hold_no_table(tmp_path: Path) -> None:
    path = tmp_path / "p.tabprotect"
    storage.save(History(Project()), path)
    with pytest.raises(InputError, match="no table"):
        open_source(path)
    path.write_bytes(b"not a project")
    with pytest.raises(InputError):
        open_source(path)
    with pytest.raises(InputError):
        open_source(tmp_path / "none.tabprotect")


def test_options_reach_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes("v/w/antal\né/x/1,0\nTotal/x/1,0\n".encode("cp1252"))
    found = open_source(
        path, count="antal", strip_totals=True, delimiter="/", decimal=",", encoding="cp1252"
    )
    assert found.table.domain["v"].categories == ("é",)
