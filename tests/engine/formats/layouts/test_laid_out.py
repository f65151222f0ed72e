"""Files as offices send them: title lines, notes, several header rows, marks, totals in any language.

Samples are made here, in the style of what was found in the field.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import xlsxwriter

from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

MESSY = """Population by region, sex and year
"(persons, all ages)";;;

region;sex;year;count
North;f;2023;"31 577"
North;m;2023;30 120
South;f;2023;1 204
South;m;2023;987

Source: register of persons, 2024
"""

TOTALT = "region;sex;agegroup;n\n" + "".join(
    f"{r};{s};{a};{n}\n"
    for n, (r, s, a) in enumerate(
        ((r, s, a) for r in ("SE1", "SE2", "SE3") for s in ("K", "M") for a in ("0-14", "15-64")), 3
    )
)

PIVOT = """sex,f,f,m,m
survived,no,yes,no,yes
class,,,,
1st,4,141,118,62
2nd,13,93,154,25
3rd,106,90,422,88
"""


def opened(tmp_path: Path, text: str | bytes, **options: object) -> TableFile:
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, Reading.of(options))


def test_a_title_with_a_comma_thousands_blanks_and_a_note(tmp_path: Path) -> None:
    found = opened(tmp_path, MESSY)
    assert found.table.domain.names == ("region", "sex", "year")
    assert found.table.counts.reshape(-1).tolist() == [31577, 30120, 1204, 987]
    said = "; ".join(found.notes)
    assert "header-row: 4 (2 lines of text above it)" in said
    assert "footer: 1" in said and "thousands" in said


def test_a_grand_total_in_another_language_asks_and_never_fills(tmp_path: Path) -> None:
    total = sum(int(line.rpartition(";")[2]) for line in TOTALT.splitlines()[1:])
    text = TOTALT + f"Totalt;Totalt;Totalt;{total}\n"
    with pytest.raises(InputError, match="mixed with the inner cells") as caught:
        opened(tmp_path, text)
    assert "--totals" in caught.value.hint and "fill" not in caught.value.hint
    found = opened(tmp_path, text, totals="auto")
    assert found.table.total == total and found.table.domain.shape == (3, 2, 2)
    # A word that no list has, off by one: still no offer to fill, the difference is told.
    wrong = text.replace("Totalt", "Zusammen").replace(str(total), str(total + 1))
    with pytest.raises(InputError, match="occur with each other only") as caught:
        opened(tmp_path, wrong)
    assert "fill" not in caught.value.hint and "difference is 1" in caught.value.detail
    plain = opened(tmp_path, wrong, totals="none", fill_missing=True)
    assert plain.table.domain.shape == (4, 3, 3)


def test_latin_1_is_asked_about(tmp_path: Path) -> None:
    data = "län,count\nVästra,3\nÖstra,4\n".encode("latin-1")
    with pytest.raises(InputError, match="not UTF-8") as caught:
        opened(tmp_path, data)
    assert "latin-1" in caught.value.hint
    assert opened(tmp_path, data, encoding="latin-1").table.domain.names == ("län",)


def test_a_pivot_with_two_header_rows(tmp_path: Path) -> None:
    found = opened(tmp_path, PIVOT).table
    assert found.domain.names == ("class", "sex", "survived")
    assert found.counts[0].tolist() == [[4, 141], [118, 62]]
    assert found.total == 1316


def test_a_workbook_with_a_title_and_merged_headers(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("read me").write(0, 0, "Contact the office")
        sheet = book.add_worksheet("data")
        sheet.write(0, 0, "Table 3. Persons by region, sex and age")
        sheet.write_row(2, 0, ["Region", "Men", "", "Women", ""])
        sheet.write_row(3, 0, ["", "under 30", "30+", "under 30", "30+"])
        sheet.write_row(4, 0, ["North", 10, 20, 30, 40])
        sheet.write_row(5, 0, ["South", 1, 2, 3, 4])
        sheet.write(7, 0, "Source: census")
    found = read_table(path, Reading(sheet="data", columns="sex,age"))
    assert found.table.domain.names == ("Region", "sex", "age")
    assert found.table.counts.tolist() == [[[10, 20], [30, 40]], [[1, 2], [3, 4]]]
    part = read_table(path, Reading(sheet="2", range="A3:C5", columns="sex,age")).table
    assert part.counts.tolist() == [[[10, 20]]]
    with pytest.raises(InputError, match="no sheet 'x'"):
        read_table(path, Reading(sheet="x"))


def test_marks_are_asked_about_and_then_taken(tmp_path: Path) -> None:
    text = "v\\w,a,b\nx,3,-\ny,..,4\nz,5,\n"
    with pytest.raises(InputError) as caught:
        opened(tmp_path, text)
    assert '--marks "-=zero"' in caught.value.hint
    found = opened(tmp_path, text, marks="-=zero ..=structural blank=zero")
    assert found.table.counts.tolist() == [[3, 0], [0, 4], [5, 0]]
    (nobody,) = found.table.domain.structural
    assert [categories for _, categories in nobody.where] == [("y",), ("a",)]
    with pytest.raises(InputError, match="suppressed") as caught:
        opened(tmp_path, text, marks="-=zero ..=suppressed blank=zero")
    assert caught.value.cell == "(y, a)" and caught.value.line == 3
    with pytest.raises(InputError, match="1 of 6 cells is missing"):
        opened(tmp_path, text, marks="-=missing ..=zero blank=zero")


@pytest.mark.parametrize(
    ("counts", "options", "expected"),
    [
        (("1.234.567", "1.000"), {}, [1234567, 1000]),
        (("1,234", "2,000"), {"thousands": ","}, [1234, 2000]),
        (("1'234", "7"), {}, [1234, 7]),
        (("1 234,00", "7,00"), {"decimal": ","}, [1234, 7]),
    ],
)
def test_thousands_signs(
    tmp_path: Path, counts: tuple[str, str], options: dict[str, object], expected: list[int]
) -> None:
    text = f'v;count\na;"{counts[0]}"\nb;"{counts[1]}"\n'
    assert opened(tmp_path, text, **options).table.counts.tolist() == expected


def test_an_ambiguous_sign_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        opened(tmp_path, "v;count\na;1,234\nb;2,345\n")
    assert "--thousands" in caught.value.hint


def test_the_header_row_footer_and_comments_can_be_said(tmp_path: Path) -> None:
    text = "# made by hand\nfirst,second,count\nv,w,count\na,x,1\nb,x,2\nend,of,it\n"
    found = opened(tmp_path, text, header_row=3, footer=1, comment="#")
    assert found.table.counts.tolist() == [[1], [2]]
    with pytest.raises(InputError, match="line 40"):
        opened(tmp_path, text, header_row="40")


def test_a_row_that_was_cut_off_is_no_note(tmp_path: Path) -> None:
    for end in ("b", "b,x", "b,x,"):
        with pytest.raises(InputError):
            opened(tmp_path, f"v,w,count\na,x,1\nb,y,2\n{end}")


def test_a_reading_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('header_row = 3\n[marks]\n"-" = "zero"\n"" = "missing"\n')
    assert Reading.file(path) == {"header_row": "3", "marks": "-=zero blank=missing"}
    path.write_text("colour = 1\n")
    with pytest.raises(InputError, match="no option") as caught:
        Reading.file(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_records_that_pandas_numbers_are_no_grid(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"survived": [0, 1] * 15, "sex": ["male", "female", "male"] * 10})
    path = tmp_path / f"people{suffix}"
    (frame.to_csv if suffix == ".csv" else frame.to_excel)(path)
    with pytest.raises(RecordsError) as caught:
        read_table(path)
    assert ("save the sheet of records as CSV" in caught.value.hint) == (suffix == ".xlsx")
    # A grid whose rows are numbered is one.
    grid = pd.DataFrame({"m": range(1, 31), "f": range(2, 32)})
    grid.to_csv(tmp_path / "grid.csv")
    assert read_table(tmp_path / "grid.csv").table.domain.shape == (30, 2)
