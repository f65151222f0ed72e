"""Sums of records with their contributors: counted anew for every parent, bad input with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes, write_magnitudes
from tabprotect.engine.magnitudes.tables.described_columns import described
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.magnitudes.tables.tabulating import MeasuredColumns, tabulate_magnitudes
from tabprotect.engine.microdata.coding import Codings
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

BASE = MeasuredColumns(measure="x", holding="ent")


def records(folder: Path, *rows: str, head: str = "a,b,ent,x") -> Path:
    path = folder / "records.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_parents_are_counted_anew(tmp_path: Path) -> None:
    path = records(tmp_path, "1,n,e,10", "1,n,f,5", "1,s,e,7", "2,n,e,0", "2,s,g,-3")
    table = tabulate_magnitudes(path, ["a", "b"], BASE)
    total = table.number({})
    assert table.cells.value[total] == 19
    assert (table.cells.units[total], table.cells.holdings[total]) == (5, 3)
    one = table.number({"a": "1"})
    assert (table.cells.value[one], table.cells.holdings[one]) == (22, 2)
    part = table.listing.of(one)
    held = dict(zip(table.listing.holding[part].tolist(), table.listing.own[part].tolist(), strict=True))
    assert {table.names[h]: v for h, v in held.items()} == {"e": 17, "f": 5}
    two = table.number({"a": "2", "b": "n"})
    assert (table.cells.holdings[two], table.cells.nonzero[two]) == (1, 0)


def test_cells_are_those_of_the_definition(tmp_path: Path) -> None:
    """Holdings of one row and of several, in levels: every cell from a loop over the records."""
    generator = np.random.default_rng(4)
    made = [
        (f"s{a // 2}", f"a{a}", f"b{b}", f"h{h}", x)
        for a, b, h, x in zip(
            *(generator.integers(0, n, 90) for n in (5, 3, 60)), generator.integers(-20, 400, 90), strict=True
        )
    ]
    path = records(tmp_path, *(",".join(map(str, row)) for row in made), head="s,a,b,ent,x")
    coding = Codings(nested={"n": ["s", "a"]})
    table = tabulate_magnitudes(path, ["a", "b"], BASE, codings=coding)
    names = {"n@s": 0, "n": 1, "b": 2}
    for number in range(len(table.cells)):
        index = table.index(number)
        held: dict[str, int] = {}
        inside = [row for row in made if all(row[names[k]] == v for k, v in index.items() if v != "Total")]
        for *_, holding, x in inside:
            held[holding] = held.get(holding, 0) + x
        cells = table.cells
        assert (cells.value[number], cells.units[number]) == (sum(held.values()), len(inside))
        assert cells.holdings[number] == len(held)
        assert cells.nonzero[number] == sum(v != 0 for v in held.values())
        largest = sorted((abs(v) for v in held.values()), reverse=True)[:4]
        assert table.judged(4).top[number].tolist() == largest + [0] * (4 - len(largest))
        assert table.judged(4).total[number] == sum(abs(v) for v in held.values())


def test_the_file_keeps_all(tmp_path: Path) -> None:
    rows = [f"{i % 3},{'ns'[i % 2]},h{i % 5},{i * 1.25}" for i in range(40)]
    table = tabulate_magnitudes(records(tmp_path, *rows), ["a", "b"], BASE)
    assert table.decimals == 2
    write_magnitudes(table, tmp_path / "t.parquet")
    again = read_magnitudes(tmp_path / "t.parquet")
    assert again.variables == table.variables and again.names == table.names
    for name in ("key", "value", "units", "holdings", "nonzero"):
        assert np.array_equal(getattr(again.cells, name), getattr(table.cells, name)), name
    assert np.array_equal(again.listing.own, table.listing.own)


def test_levels_are_parents_too(tmp_path: Path) -> None:
    path = records(tmp_path, "A,1,e,4", "A,2,f,5", "B,3,e,6")
    coding = Codings(nested={"nace": ["a", "b"]})
    table = tabulate_magnitudes(path, ["a", "b"], BASE, codings=coding)
    assert table.index(table.number({"nace@a": "A"})) == {"nace@a": "A"}
    assert table.cells.value[table.number({"nace@a": "A"})] == 9
    assert table.cells.value[table.number({"nace": "3"})] == 6


def test_weights_in_three_readings(tmp_path: Path) -> None:
    path = records(tmp_path, "1,n,e,100,4", "1,n,f,10,7", head="a,b,ent,x,w")
    columns = MeasuredColumns(measure="x", holding="ent", weight="w")
    table = tabulate_magnitudes(path, ["a"], columns)
    number = table.number({})
    assert table.cells.value[number] == 470
    rules = rules_of(["dominance=2,50"])
    tops = {way: table.judged(2, way).top[number, :2].tolist() for way in ("sample", "replicate", "known")}
    assert tops == {"sample": [100, 10], "replicate": [100, 100], "known": [400, 70]}
    unsafe = {way: bool(sensitive_cells(table, rules, weights=way).unsafe[number]) for way in tops}
    assert unsafe == {"sample": False, "replicate": False, "known": True}


def test_small_weights_make_small_copies(tmp_path: Path) -> None:
    rows = ("1,n,e,100,0.1", "1,n,f,90,0.1", "1,n,g,50,1.5")
    columns = MeasuredColumns(measure="x", holding="ent", weight="w")
    table = tabulate_magnitudes(records(tmp_path, *rows, head="a,b,ent,x,w"), ["a"], columns)
    assert table.judged(2, "replicate").top[table.number({}), :2].tolist() == [50, 25]


@pytest.mark.parametrize(
    ("rows", "columns", "line", "said"),
    [
        (("1,n,e,10", "1,n,f,lots"), BASE, 3, "no number"),
        (("1,n,e,10", "1,s,E,5"), BASE, 3, "one holding"),
        (("1,n,e,10", "1,s,f,9e18", "1,s,f,9e18"), BASE, 3, "64 bits"),
        (("1,n,e,10", "1,s,e,5"), MeasuredColumns(measure="x", unit="ent"), 3, "twice"),
    ],
)
def test_bad_records_are_named_with_their_line(
    tmp_path: Path, rows: tuple[str, ...], columns: MeasuredColumns, line: int, said: str
) -> None:
    with pytest.raises(InputError, match=said) as error:
        tabulate_magnitudes(records(tmp_path, *rows), ["a", "b"], columns)
    assert error.value.line == line
    assert error.value.hint


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    table = tabulate_magnitudes(records(tmp_path, "1,n,e,10"), ["a", "b"], BASE)
    with pytest.raises(InputError, match="no category"):
        table.number({"a@section": "1"})


def test_the_description_of_records_says_who_contributes(tmp_path: Path) -> None:
    """Fixed columns with HOLDING, WEIGHT and REQUEST, as tau-ARGUS describes them."""
    lines = ["A entA   1002.01", "A entA    501.02", "A entB    301.0 ", "B entC     71.0 "]
    (tmp_path / "r.asc").write_text("\n".join(lines) + "\n")
    (tmp_path / "r.rda").write_text(
        "nace 1 1\n<RECODEABLE>\nent 3 4\n<HOLDING>\nx 8 5\n<NUMERIC>\nw 13 3\n<WEIGHT>\n"
        'asks 16 1\n<REQUEST> "2"\n'
    )
    path = tmp_path / "r.asc"
    columns = described(path, MeasuredColumns(measure="x"))
    table = tabulate_magnitudes(path, ["nace"], columns)
    assert described(path, MeasuredColumns(measure="x", holding="nace")).holding == "nace"
    cell = table.number({"nace": "A"})
    assert table.cells.holdings[cell] == 2 and table.cells.units[cell] == 3
    # 100 twice, 50 and 30: the description's weight; the one who asks is entA, by the code 2.
    assert table.weighted and table.cells.value[cell] == 280
    asked = table.listing.asked[table.listing.of(cell)]
    assert asked.tolist() == [True, False]
