from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.project.examples import examples, load_example
from tabprotect.engine.project.sources import Opened, open_table, records_file
from tabprotect.engine.tables.groupings.squares import squares_of

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "cyclic.json").read_text())
TABLES = [example for example in examples() if not example.microdata]


def opened(name: str) -> Opened:
    return open_table(f"example:{name}")


def test_what_is_bundled() -> None:
    assert [e.name for e in examples()] == [
        "duncan-roehrig-4x4",
        "langsrud-lupp",
        "duncan-roehrig-4x4x3",
        "commuting-flows",
        "sparse-10x10",
        "czech-autoworkers",
        "grid-squares",
        "small-areas",
        "adult-occupations",
        "social-assistance",
        "fictitious-businesses",
        "adult-census",
    ]
    for example in examples():
        told = example.as_json()
        assert all(told[key] for key in ("title", "description", "source", "licence", "terms"))


def test_each_is_listed_with_its_terms() -> None:
    readme = (TABLES[0].file.parents[1] / "README.md").read_text(encoding="utf-8")
    for example in examples():
        assert f"| `{example.name}` |" in readme
        assert example.licence in readme


@pytest.mark.parametrize("example", TABLES, ids=lambda e: e.name)
def test_every_table_opens_without_a_remark(example: object) -> None:
    found = opened(example.name)  # type: ignore[attr-defined]
    assert found.title
    assert found.notes == ()
    assert not found.table.has_negative
    if found.moves is not None:
        assert found.moves.domain == found.table.domain
        assert not found.moves.violations()


def test_two_way_example() -> None:
    found = opened("duncan-roehrig-4x4")
    assert found.table.counts.tolist() == REFERENCE["two_way_4x4"]["original"]
    assert found.table.domain.cell_text((0, 1)) == "(v1, w2)"
    assert found.moves is not None
    arrays = [found.moves.array(i).tolist() for i in range(4)]
    assert arrays == REFERENCE["two_way_4x4"]["cycles"]
    assert found.moves == design(found.table.domain, "bidiagonal")


def test_three_way_example() -> None:
    found = opened("duncan-roehrig-4x4x3")
    reference = REFERENCE["three_way_4x4x3"]
    assert found.table.counts.tolist() == reference["original"]
    assert found.moves is not None
    order = [0, 3, 2, 1]
    expected = [reference["cycles_M1_to_M4"][i] for i in order]
    assert [found.moves.array(i).tolist() for i in range(4)] == expected


def test_czech_example() -> None:
    table = opened("czech-autoworkers").table
    assert table.domain.names == tuple("ABCDEF")
    assert table.total == 1841
    ones = {"A": [961, 880], "B": [1063, 778], "C": [927, 914], "F": [1581, 260]}
    for name, counts in ones.items():
        assert table.margin([name]).counts.tolist() == counts
    small = {tuple(map(int, at)): table[at] for at in np.argwhere(np.isin(table.counts, (1, 2)))}
    assert small == {(0, 1, 1, 0, 0, 1): 1, (0, 1, 1, 0, 1, 1): 2, (1, 1, 1, 1, 0, 1): 2}


def test_other_tables() -> None:
    table = opened("langsrud-lupp").table
    assert table.domain.shape == (3, 3, 2)
    assert table.counts[:, :, 0].tolist() == [[0, 8, 4], [0, 3, 1], [2, 9, 2]]
    sparse = opened("sparse-10x10").table.counts
    assert sparse.tolist() == REFERENCE["measured_variants"]["tables"]["sparse10x10"]
    assert opened("social-assistance").table.domain.shape == (437, 4, 3)
    assert opened("social-assistance").table.total == 138_000


def test_squares_and_flows() -> None:
    squares = opened("grid-squares").table
    assert [level.name for level in squares.domain["cell"].levels] == ["km4", "km2", "km1"]
    assert squares_of(squares.domain["cell@km2"].categories)[0].side == 2000
    flows = opened("commuting-flows").table
    nobody = flows.domain.structural_cells().reshape(9, 9)
    assert nobody.diagonal().all() and nobody.sum() == 21 and not flows.counts[nobody].any()


def test_the_larger_table_is_a_tabulation_of_the_records() -> None:
    table = opened("adult-occupations").table
    names = table.domain.names
    again = tabulate(records_file("example:adult-census"), names)
    assert again.total == table.total == 48_842
    keys, counts = table.cells
    for key, count in zip(keys[:500], counts[:500], strict=True):
        labels = table.domain.labels(table.domain.unflat(int(key)))
        assert again[again.domain.index(labels)] == count


def test_records_are_no_table_and_the_other_way_round(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds records") as caught:
        open_table("example:adult-census")
    assert "tabprotect tabulate example:adult-census --by" in caught.value.hint
    with pytest.raises(InputError, match="is a table"):
        records_file("example:langsrud-lupp")
    assert records_file(tmp_path / "a.csv") == tmp_path / "a.csv"


def test_unknown_examples() -> None:
    with pytest.raises(InputError, match="no example") as caught:
        load_example("duncan-roehrig-4x5")
    assert caught.value.hint == "did you mean duncan-roehrig-4x4?"
    with pytest.raises(InputError, match="no example") as caught:
        open_table("example:zzz")
    assert "langsrud-lupp" in caught.value.hint


def test_a_file_brings_no_title(tmp_path: Path) -> None:
    path = tmp_path / "anna's table.csv"
    path.write_text("v,w,count\na,x,1\nb,x,2\nTotal,x,3\n")
    found = open_table(str(path), Reading(strip_totals=True))
    assert found.title == ""
    assert found.moves is None
    assert "left out" in found.notes[0]
