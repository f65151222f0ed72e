"""What SDMX states of codes and names: parents in the message or beside it, and our own variables' names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NAME = "r\u00e9gion du sud"


def written(folder: Path, kind: str, counts: list[int]) -> Path:
    """A published cube with its groups and total, and the structure beside it."""
    form = formats()[kind]
    table = Table.dense(Domain.of({NAME: ["a", "b", "G", "c", "T"]}), np.array(counts))
    parents = {NAME: {"a": "G", "b": "G", "G": "T", "c": "T"}}
    cube = form.as_held(Cube(table, totals={NAME: "T"}, parents=parents))
    path = folder / f"t{form.suffixes[0]}"
    path.write_bytes(form.publish(cube))
    for name, content in form.beside(cube, path, published=True).items():
        (folder / name).write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["sdmx_csv", "sdmx_json", "sdmx_ml"])
def test_names_levels_and_totals_come_back(kind: str, tmp_path: Path) -> None:
    found = read_table(written(tmp_path, kind, [3, 6, 9, 5, 14]))
    variable = found.table.domain.variables[0]
    assert variable.name == NAME and variable.categories == ("a", "b", "c")
    assert found.table.counts.tolist() == [3, 6, 5]
    assert variable.levels[0].groups == ("G", "G", "c")


@pytest.mark.parametrize("kind", ["sdmx_csv", "sdmx_json", "sdmx_ml"])
def test_stated_totals_that_do_not_add_up_are_refused(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind, [3, 6, 9, 5, 15])
    with pytest.raises(InputError, match="1 of 2 do not add up"):
        read_table(path)
    assert read_table(path, Reading.of({"totals": "recompute"})).table.total == 14


def test_names_of_other_agencies_stay_identifiers(tmp_path: Path) -> None:
    path = written(tmp_path, "sdmx_csv", [3, 6, 9, 5, 14])
    beside = tmp_path / "t.structure.xml"
    beside.write_text(beside.read_text().replace('agencyID="TABPROTECT"', 'agencyID="ESTAT"'))
    domain = read_table(path).table.domain
    assert domain.names == ("region_du_sud",) and domain.variables[0].categories == ("a", "b", "c")
    # A structure that is none is no fault of the data.
    beside.write_text("<")
    with pytest.raises(InputError, match="totals are mixed"):
        read_table(path)
