from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def with_totals(inner: np.ndarray, axes: list[int]) -> Table:
    """The table with a category Total at the end of some axes, by numpy sums."""
    labels = {}
    for axis in range(inner.ndim):
        labels["uvw"[axis]] = [f"{'uvw'[axis]}{i}" for i in range(inner.shape[axis])]
    for axis in axes:
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
        labels["uvw"[axis]].append("Total")
    return Table.dense(Domain.of(labels), inner)


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    return np.array(counts, dtype=np.int64).reshape(shape), axes


def coincides(full: Table) -> bool:
    """Whether one of three categories is the sum of the others so often that it counts as a total.

    Arithmetic finds such a category whatever its name, as it should: it is then one more total.
    """
    for axis, labels in enumerate(full.domain.categories.values()):
        inner = [code for code, label in enumerate(labels) if label != "Total"]
        if len(inner) < 3:
            continue
        rows = np.moveaxis(full.counts, axis, 0)[inner].reshape(len(inner), -1)
        for row in rows:
            equal = rows.sum(axis=0) == 2 * row
            held = int((equal & (row > 0)).sum())
            if held and held >= 4 * int((~equal).sum()):
                return True
    return False


@given(cases(), st.data())
@settings(max_examples=70, deadline=None)
def test_totals_are_found_checked_and_stripped(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[np.ndarray, list[int]], data: st.DataObject
) -> None:
    inner, axes = case
    path = tmp_path_factory.getbasetemp() / "totals.csv"
    full = with_totals(inner, axes)
    assume(not coincides(full))
    path.write_bytes(write_csv(full))
    with pytest.raises(InputError, match="mixed with the inner cells") as caught:
        read_table(path)
    assert "--strip-totals" in caught.value.hint
    found = read_table(path, Reading(strip_totals=True))
    assert found.table == with_totals(inner, [])
    number = full.domain.size - inner.size
    assert ("one total" if number == 1 else f"{number} totals") in found.notes[0]

    # Any one wrong total is named with its line, its cell and both figures.
    flat = full.counts.reshape(-1).copy()
    totals = [
        key for key in range(full.domain.size) if "Total" in full.domain.labels(full.domain.unflat(key))
    ]
    key = data.draw(st.sampled_from(totals))
    flat[key] += 1
    wrong = Table.dense(full.domain, flat.reshape(full.domain.shape))
    assume(not coincides(wrong))
    path.write_bytes(write_csv(wrong))
    with pytest.raises(InputError, match="1 of") as caught:
        read_table(path, Reading(strip_totals=True))
    assert caught.value.line == key + 2
    assert caught.value.cell == full.domain.cell_text(full.domain.unflat(key))
    assert f"the total is {flat[key]}, its inner cells add up to {flat[key] - 1}" in (caught.value.detail)


def test_a_category_that_is_the_sum_of_the_others_by_chance_is_asked_about(tmp_path: Path) -> None:
    inner = np.array([[[0, 1, 1], [1, 1, 2]]])
    full = with_totals(inner, [0, 1])
    assert coincides(full)
    path = tmp_path / "t.csv"
    path.write_bytes(write_csv(full))
    with pytest.raises(InputError, match=r"mixed with the inner cells \(.*w = 'w2'") as caught:
        read_table(path)
    assert "--totals none" in caught.value.hint
    # Whoever knows better names the totals that there are.
    assert read_table(path, Reading(totals="u=Total,v=Total")).table == with_totals(inner, [])


def read(tmp_path: Path, text: str, *, strip: bool = True) -> Table:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read_table(path, Reading(strip_totals=strip)).table


def test_a_grid_with_totals(tmp_path: Path) -> None:
    text = "v\\w,x,y,TOTAL\na,1,2,3\nb,3,4,7\nSum,4,6,10\n"
    assert read(tmp_path, text).counts.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(InputError, match="2 of 5 do not add up") as caught:
        read(tmp_path, text.replace("10", "11").replace("3,4,7", "3,4,8"))
    assert caught.value.detail.splitlines() == [
        "line 3, cell (b, TOTAL): the total is 8, its inner cells add up to 7",
        "line 4, cell (Sum, TOTAL): the total is 11, its inner cells add up to 10",
    ]


def test_totals_and_cells_may_be_left_out(tmp_path: Path) -> None:
    text = "v,w,count\na,x,1\nb,y,4\na,_T,1\n_T,y,4\n"
    assert read(tmp_path, text).counts.tolist() == [[1, 0], [0, 4]]


def test_a_total_over_nothing_but_zeros_must_be_zero(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 of 1 do not"):
        read(tmp_path, "v,w,count\na,x,1\nb,Total,4\n")


def test_many_wrong_totals_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"a{i},x,1\na{i},Total,2\n" for i in range(80))
    with pytest.raises(InputError, match="80 of 80") as caught:
        read(tmp_path, "v,w,count\n" + rows)
    assert caught.value.detail.endswith("... and 30 more")


def test_a_category_without_a_name_is_a_total_only_if_it_adds_up(tmp_path: Path) -> None:
    text = "v,w,count\na,x,1\nb,x,2\n,x,{}\n"
    assert read(tmp_path, text.format(3)).counts.tolist() == [[1], [2]]
    path = tmp_path / "t.csv"
    path.write_text(text.format(4))
    with pytest.raises(InputError, match="category without a name") as caught:
        read_table(path)
    assert caught.value.line == 4
    assert read_table(path, Reading(blank="missing")).table.domain["v"].categories == ("a", "b", "(missing)")


def test_a_variable_with_nothing_but_total_is_no_total(tmp_path: Path) -> None:
    found = read(tmp_path, "v,w,count\na,Total,1\nb,Total,2\n", strip=False)
    assert found.domain.shape == (2, 1)
