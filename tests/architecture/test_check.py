"""The check of a folder: what it takes for near, and that it tells what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import check

ROOT = Path(__file__).parents[2]


def test_importers_are_found_ring_by_ring() -> None:
    near = check.distances("tabprotect.engine.chained_log", 1)
    assert near["tabprotect.engine.chained_log"] == 0
    assert near["tabprotect.engine.query_space.table_server.session"] == 1
    assert "tabprotect.server.api" not in near
    further = check.distances("tabprotect.engine.chained_log", 2)
    assert near.items() <= further.items() and further["tabprotect.server.served_table"] <= 2


@pytest.mark.parametrize("folder", ["tabprotect/engine/register", "tabprotect/gui/pages/release"])
def test_where_the_folder_lies_comes_first(folder: str) -> None:
    module = check.module_of(ROOT / folder)
    files = check.test_files(module, check.distances(module, 1))
    own = [name for name, distance in files.items() if distance == 0]
    assert own and all(name.startswith(folder.replace("tabprotect", "tests", 1)) for name in own)
    nearest = list(check.within(files, 1.0))
    assert set(own) <= set(nearest) and len(nearest) < len(files)


def test_a_file_has_the_tests_of_its_name() -> None:
    files = check.test_files("tabprotect.engine.database", {"tabprotect.engine.database": 0})
    assert files["tests/engine/test_database.py"] == 0
    assert files["tests/engine/register/test_register.py"] == 1
