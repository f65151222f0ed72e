"""A priori files: read, refused with the line, and obeyed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.methods.suppression import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.suppressing.given_statuses import GivenStatuses
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

COUNTS = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
DOMAIN = Domain.of_shape((4, 4))
PUBLICATION = Publication.of(DOMAIN, "A*B")


def cell(a: int, b: int) -> int:
    return int(PUBLICATION.starts[PUBLICATION.margins.index(("A", "B"))]) + 4 * a + b


def test_every_command() -> None:
    text = "# a remark\na1,b1,u\na2,b2,p\n\na2,b3,m\na2,b4,c,25\na3,b1,pl,3,5\na3,b2,s\n,,p\na4,Total,w,7"
    found = GivenStatuses.of(text, PUBLICATION)
    assert set(np.flatnonzero(found.sensitive)) == {cell(0, 0), cell(2, 0)}
    assert (found.below[cell(2, 0)], found.above[cell(2, 0)]) == (3, 5)
    total = PUBLICATION.starts[PUBLICATION.margins.index(())]
    assert set(np.flatnonzero(found.published)) == {cell(1, 1), total}
    assert set(np.flatnonzero(found.hidden)) == {cell(1, 2)}
    assert set(np.flatnonzero(found.safe)) == {cell(2, 1)}
    row = PUBLICATION.starts[PUBLICATION.margins.index(("A",))] + 3
    assert found.cost[cell(1, 3)] == 25 and found.cost[row] == 7
    assert np.isfinite(found.cost).sum() == 2


def test_groups_and_other_separators() -> None:
    groups = parse_groupings("G:A=a1>x,a2>x,a3>y,a4>y", DOMAIN)
    publication = Publication.of(DOMAIN, "(A+G)*B", groups)
    found = GivenStatuses.of("x;b2;p\ny;;u\n", publication)
    at = publication.starts[publication.margins.index(("G", "B"))]
    assert list(np.flatnonzero(found.published)) == [at + 1]
    assert list(np.flatnonzero(found.sensitive)) == [
        publication.starts[publication.margins.index(("G",))] + 1
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a1,u", "no published|too few|no category"),
        ("a9,b1,u", "no category 'a9'"),
        ("a1,b1,x", "no command 'x'"),
        ("a1,b1,c", "takes 1"),
        ("a1,b1,c,-1", "outside"),
        ("a1,b1,c,nan", "outside"),
        ("a1,b1,pl,1", "takes 2"),
        ("a1,b1,c,many", "no number"),
    ],
)
def test_refusals_name_the_line(line: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        GivenStatuses.of(f"a1,b1,u\n{line}\n", PUBLICATION)
    assert refused.value.line == 2


def _protect(**given: object) -> tuple[np.ndarray, object]:
    problem = Problem(Table.dense(DOMAIN, COUNTS))
    done = PLUGIN.run(problem, given, Randomness.seeded(1))
    return done.release.tables[0].hidden, done


def test_cells_of_an_earlier_release_stay_as_they_were(tmp_path: Path) -> None:
    plain, _ = _protect()
    secondary = np.argwhere(plain & (COUNTS > 2))[0]
    free = np.argwhere(~plain)[0]
    lines = [f"a{secondary[0] + 1},b{secondary[1] + 1},p", f"a{free[0] + 1},b{free[1] + 1},m"]
    file = tmp_path / "earlier.hst"
    file.write_text("\n".join(lines), encoding="utf-8")
    hidden, done = _protect(statuses=str(file))
    assert not hidden[tuple(secondary)] and hidden[tuple(free)]
    assert done.record.statuses[0][tuple(free)] == "M"  # type: ignore[attr-defined]
    # That statuses were given is public, which is not; nor is the name of the file.
    public = done.release.mechanism.parameters  # type: ignore[attr-defined]
    assert public["statuses_given"] is True and "statuses" not in public
    assert PLUGIN.likelihood(done.release).rerun is None  # type: ignore[attr-defined]


def test_a_given_level_widens_the_interval() -> None:
    _, done = _protect(statuses="a1,b2,pl,0,9\n", insiders="none", choice="cheapest")
    cells = done.record.findings["audit"]["cells"]  # type: ignore[attr-defined]
    upper = {each["cell"]: each["upper"] for each in cells}["A=a1, B=b2"]
    assert upper is None or upper >= 10


@pytest.mark.parametrize("line", ["a1,b2,p\n", "a1,b2,s\n"])
def test_a_sensitive_cell_cannot_be_given_as_safe(line: str) -> None:
    said = "given as protected" if line.endswith("p\n") else "given as safe"
    with pytest.raises(InputError, match=said):
        _protect(statuses=line)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="no such file"):
        PLUGIN.resolve(DOMAIN, {"statuses": "nowhere.hst"})
