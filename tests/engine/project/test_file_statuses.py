"""Statuses that a tau-ARGUS table states: its unsafe cells are hidden, or somebody decides that they go out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import RefusedError
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.output_checking.flags_and_decisions import CheckRules, flag_cells
from tabprotect.engine.project.command import Context
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import open_table

CELLS = """"A";"X";40;S
"A";"Y";7;{one}
"A";"Z";31;S
"A";"Total";78;S
"B";"X";25;S
"B";"Y";33;S
"B";"Z";17;S
"B";"Total";75;S
"C";"X";21;S
"C";"Y";12;S
"C";"Z";9;{other}
"C";"Total";42;{total}
"Total";"X";86;S
"Total";"Y";52;S
"Total";"Z";57;S
"Total";"Total";195;S
"""
RDA = """<SEPARATOR> ";"
<SAFE> S
<UNSAFE> {unsafe}
<PROTECT> P
v
  <RECODABLE>
  <TOTCODE> "Total"
w
  <RECODABLE>
  <TOTCODE> "Total"
n
  <NUMERIC>
  <FREQUENCY>
st
  <STATUS>
"""


def opened(folder: Path, one: str = "U", other: str = "P", total: str = "S", unsafe: str = "U") -> Project:
    (folder / "t.tab").write_text(CELLS.format(one=one, other=other, total=total))
    (folder / "t.rda").write_text(RDA.format(unsafe=unsafe))
    return open_table.run(Project(), Context(), source=str(folder / "t.tab"))


def suppressed(project: Project, **given: object) -> np.ndarray:
    project = set_method.run(project, Context(), method="suppression")
    project = set_parameters.run(project, Context(), **given) if given else project
    done = protect.run(project, Context(), seed=2**130 + 1, accept="tried").protected
    assert done is not None
    return np.asarray(done.release.tables[0].hidden)


@pytest.mark.parametrize("letter", ["U", "K"])
def test_unsafe_cells_are_hidden_and_protected_ones_stay(letter: str, tmp_path: Path) -> None:
    hidden = suppressed(opened(tmp_path, one=letter, unsafe=letter))
    assert hidden[0, 1] and not hidden[2, 2] and hidden.sum() == 4


def test_an_unsafe_total_is_hidden(tmp_path: Path) -> None:
    project = opened(tmp_path, one="S", other="S", total="U")
    assert project.statuses == '"C";"";u\n'
    project = set_method.run(project, Context(), method="suppression")
    done = protect.run(project, Context(), seed=2**130 + 1, accept="tried").protected
    assert done is not None
    of_v = next(t for t in done.release.tables if t.table.domain.names == ("v",))
    assert np.asarray(of_v.hidden)[2]


def test_what_a_person_says_counts_more_than_the_file(tmp_path: Path) -> None:
    assert not suppressed(opened(tmp_path), statuses="A,Y,p\n").any()
    hidden = suppressed(opened(tmp_path), statuses="B,X,u\n")
    assert hidden[0, 1] and hidden[1, 0] and not hidden[2, 2]


def test_another_method_takes_a_decision_that_names_them(tmp_path: Path) -> None:
    project = set_method.run(opened(tmp_path), Context(), method="random_rounding")
    with pytest.raises(RefusedError, match=r"1 cell that the file calls unsafe would be published: \(A, Y\)"):
        protect.run(project, Context(), seed=2**130 + 1)
    done = protect.run(project, Context(), seed=2**130 + 1, accept="all know it").protected
    assert done is not None
    assert any("(A, Y). all know it" in one for one in done.record.decisions)


def test_check_lists_them(tmp_path: Path) -> None:
    project = opened(tmp_path, total="U")
    flags = {f.cell: f.reasons for f in flag_cells(project.original, CheckRules(0), project.statuses).flags}
    assert list(flags) == [("A", "Y"), ("C", "Z"), ("C", "Total")]
    assert flags["A", "Y"]["status"] == "the file says U: unsafe by itself"


def test_statuses_go_with_their_cells(tmp_path: Path) -> None:
    opened(tmp_path)
    from tabprotect.engine.formats.reading_options import Reading

    found = read_table(tmp_path / "t.tab", Reading.of({"where": {"v": "A"}}))
    assert found.table.domain.names == ("w",) and found.statuses == '"Y";u\n'
