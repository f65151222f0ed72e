"""Counts beside shares, as tables of medicine print them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table

WRITTEN = {"n (%)": "{n} ({p}%)", "% (n)": "{p}% ({n})", "n/N": "{n} / 100", "n/N (%)": "{n} / 100 ({p}%)"}
COUNTS = ("3", "1,234", "0", "41")


def file(folder: Path, form: str, *, grid: bool) -> Path:
    cells = [
        '"' + WRITTEN[form].format(n=n, p=p) + '"'
        for n, p in zip(COUNTS, ("1.7", "<0.1", "0", "NA"), strict=True)
    ]
    if form in ("% (n)", "n/N (%)"):
        cells[3] = cells[3].replace("NA%", "9%")
    path = folder / "t.csv"
    lines = [f"A,{cells[0]},{cells[1]}", f"B,{cells[2]},{cells[3]}"]
    rows = [f"{arm},{sex},{cell}" for arm, sex, cell in zip("AABB", "mfmf", cells, strict=True)]
    path.write_text("\n".join(["arm,m,f", *lines] if grid else ["arm,sex,count", *rows]) + "\n")
    return path


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("form", WRITTEN)
def test_the_count_alone_is_read(tmp_path: Path, form: str, grid: bool) -> None:
    path = file(tmp_path, form, grid=grid)
    found = read_table(path, Reading(cells=form, thousands=","))
    assert found.table.counts.tolist() == [[3, 1234], [0, 41]]


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("form", ["n (%)", "% (n)", "n/N (%)"])
def test_it_is_asked_what_cells_hold(tmp_path: Path, form: str, grid: bool) -> None:
    with pytest.raises(InputError, match="cells hold more than a count") as caught:
        read_table(file(tmp_path, form, grid=grid))
    assert caught.value.hint.endswith(f'--cells "{form}"')


def test_a_form_that_no_cell_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("arm,sex,count\nA,m,3\nA,f,4\n")
    with pytest.raises(InputError, match="no cell is of the form"):
        read_table(path, Reading(cells="n (%)"))
