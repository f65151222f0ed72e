"""Totals that a file states, and those of which the evidence is short: taken, or asked about by name."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

SEX_AGE = "sex,age,count\nT,Y15-24,5\nT,Y25-64,40\nM,Y15-24,1\nM,Y25-64,21\nF,Y15-24,4\nF,Y25-64,19\n"


def read(path: Path, text: str, **reading: object) -> TableFile:
    path.write_text(text, encoding="utf-8")
    return read_table(path, Reading.of(reading))


def jsonstat(child: object, value: list[int], labels: dict[str, str] | None = None) -> str:
    codes = ["T", "A", "B", "C"][: len(value) // 2]
    category = {"index": codes, "child": child, **({"label": labels} if labels else {})}
    dimension = {"r": {"category": category}, "c": {"category": {"index": ["x", "y"]}}}
    return json.dumps(
        {
            "version": "2.0", "class": "dataset", "id": ["r", "c"], "size": [len(codes), 2],
            "dimension": dimension, "value": value,
        }
    )  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "sdmx"])
def test_two_slices_are_asked_about(form: str, tmp_path: Path) -> None:
    text, name = SEX_AGE, "t.csv"
    if form == "sdmx":
        head, *rows = SEX_AGE.splitlines()
        text, name = "\n".join([f"DATAFLOW,{head.upper()}".replace("COUNT", "OBS_VALUE")]
                               + [f"X:Y(1.0),{row}" for row in rows]), "t.sdmx.csv"  # fmt: skip
    with pytest.raises(InputError, match=r"(?i)totals are mixed .*sex = 'T'.*all 2 add up"):
        read(tmp_path / name, text)
    found = read(tmp_path / name, text, totals="auto")
    assert found.table.domain.shape == (2, 2) and found.table.total == 45
    assert read(tmp_path / name, text, totals="none").table.total == 90


def test_a_code_that_says_nothing_is_asked_about_where_two_slices_are_large(tmp_path: Path) -> None:
    large = "sex,age,n\n9,a,50\n9,b,40\nM,a,46\nM,b,21\nF,a,4\nF,b,19\n"
    with pytest.raises(InputError, match="sex = '9'"):
        read(tmp_path / "t.csv", large)


def test_small_counts_that_add_up_are_remarked(tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", "v,w,n\na,x,1\na,y,2\nb,x,3\nb,y,0\nz,x,4\nz,y,2\n")
    assert found.table.total == 12
    assert (
        "'z' of v equals the sum of the others in all 2 places: is it a total? Then: --totals v=z"
        in found.notes
    )
    assert read(tmp_path / "t.csv", "v,w,n\na,x,1\na,y,2\nb,x,3\nb,y,0\nz,x,4\nz,y,3\n").notes == ()


def test_a_parent_is_checked_and_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    found = read(path, jsonstat({"T": ["A", "B"]}, [9, 10, 4, 5, 5, 5]))
    assert found.table.domain["r"].categories == ("A", "B") and found.table.total == 19
    assert "2 totals (r = 'T') were checked and left out" in found.notes
    with pytest.raises(InputError, match="1 of 2 do not add up"):
        read(path, jsonstat({"T": ["A", "B"]}, [9, 11, 4, 5, 5, 5]))


def test_groups_below_a_total_become_levels(tmp_path: Path) -> None:
    codes, counts = ["T", "N", "n1", "n2", "S"], np.array([[12, 20], [7, 11], [3, 5], [4, 6], [5, 9]])
    category = {"index": codes, "child": {"T": ["N", "S"], "N": ["n1", "n2"]}}
    found = read(tmp_path / "t.json", json.dumps({
        "class": "dataset", "id": ["r", "c"], "size": [5, 2],
        "dimension": {"r": {"category": category}, "c": {"category": {"index": ["x", "y"]}}},
        "value": counts.reshape(-1).tolist(),
    }))  # fmt: skip
    variable = found.table.domain["r"]
    assert variable.categories == ("n1", "n2", "S") and found.table.total == 32
    assert (variable.levels[0].name, variable.levels[0].groups) == ("r_1", ("N", "N", "S"))


PX = """CHARSET="ANSI";
AXIS-VERSION="2013";
STUB="region";
HEADING="sex";
VALUES("region")="All","North","n1","n2","South";
CODES("region")="0","1","11","12","2";
VALUES("sex")="men","women","both";
{more}DATA=
12 20 32
7 11 18
3 5 8
4 6 10
5 9 14;
"""


def test_elimination_and_hierarchies_of_px(tmp_path: Path) -> None:
    tree = 'HIERARCHIES("region")="0","0":"1","1":"11","1":"12","0":"2";\n'
    more = tree + 'ELIMINATION("region")="All";\nELIMINATION("sex")="both";\n'
    found = read(tmp_path / "t.px", PX.format(more=more))
    assert found.table.domain["region"].categories == ("11", "12", "2")
    assert found.table.domain["sex"].categories == ("men", "women") and found.table.total == 32
    assert found.table.domain["region"].levels[0].groups == ("1", "1", "2")
    # YES says that a table may be made without the variable, and names no total.
    with pytest.raises(InputError, match="sex = 'both'"):
        read(
            tmp_path / "t.px",
            PX.format(more=tree + 'ELIMINATION("region")="All";\nELIMINATION("sex")=YES;\n'),
        )


def test_one_code_is_asked_about_in_every_variable(tmp_path: Path) -> None:
    inner = np.random.default_rng(3).integers(1, 60, (2, 2, 3, 2))
    names = [("a", "b"), ("c", "d"), ("e", "f", "g"), ("h", "i")]
    lines = ["p,q,r,s,n"]
    for cell in itertools.product(*(("T", *codes) for codes in names)):
        slices = tuple(
            slice(None) if c == "T" else slice(codes.index(c), codes.index(c) + 1)
            for c, codes in zip(cell, names, strict=True)
        )
        lines.append(f"{','.join(cell)},{inner[slices].sum()}")
    text = "\n".join(lines)
    with pytest.raises(InputError, match="p = 'T', q = 'T', r = 'T', s = 'T'"):
        read(tmp_path / "t.csv", text)
    assert read(tmp_path / "t.csv", text, totals="auto").table.total == inner.sum()


def test_a_code_that_is_a_total_in_one_variable_only_is_asked_about(tmp_path: Path) -> None:
    # T is everybody in sex, and one of three modes of transport.
    rng = np.random.default_rng(5)
    lines = ["sex,mode,n"]
    for mode in "TKB":
        men, women = rng.integers(30, 90, 2).tolist()
        lines += [f"T,{mode},{men + women}", f"M,{mode},{men}", f"F,{mode},{women}"]
    text = "\n".join(lines)
    with pytest.raises(
        InputError, match=r"sex = 'T' adds up, mode = 'T' does not: is it a total as well"
    ) as caught:
        read(tmp_path / "t.csv", text)
    assert "--totals sex=T" in caught.value.hint
    assert read(tmp_path / "t.csv", text, totals="sex=T").table.domain.shape == (2, 3)
