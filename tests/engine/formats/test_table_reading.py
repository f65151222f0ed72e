from __future__ import annotations

import gzip
import io
import re
import zipfile
from pathlib import Path

import pytest
import xlsxwriter

from tabprotect.engine.budgets import WORKBOOK_SIZE_CELLS
from tabprotect.engine.errors import InputError, Interrupted
from tabprotect.engine.foreign.workbooks import cells_of_records, cells_of_text
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table
from tabprotect.engine.formats.text import rows
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LONG = "v,w,count\na,x,1\na,y,2\nb,x,3\nb,y,4\n"
TWO = Domain.of({"v": ["a", "b"], "w": ["x", "y"]})


def read(tmp_path: Path, text: str | bytes, name: str = "t.csv", **options: object) -> TableFile:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, Reading.of(options))


def refused(tmp_path: Path, text: str | bytes, **options: object) -> InputError:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, **options)
    assert caught.value.file == str(tmp_path / "t.csv")
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        LONG.replace(",", "|"),
        LONG.replace("count", "Freq"),
        LONG.replace("count", "n"),
        LONG.replace("count", " COUNT "),
        "\ufeff" + LONG,
        LONG.replace("\n", "\r\n"),
        LONG.replace("\n", "\n\n"),
        "count,v,w\n1,a,x\n2,a,y\n3,b,x\n4,b,y\n",
        '"v","w","antall"\n"a","x","1"\n"a","y"," 2 "\n"b","x","+3"\n"b","y","004"\n',
        "v\\w,x,y\na,1,2\nb,3,4\n",
        "sep=,\r\n" + LONG,
        '\ufeff"sep=;"\n' + LONG.replace(",", ";"),
        '"","v","w","Freq"\n"1","a","x",1\n"2","a","y",2\n"3","b","x",3\n"4","b","y",4\n',
    ],
)
def test_every_way_to_write_the_same_table(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).table == Table.dense(TWO, [[1, 2], [3, 4]])


def test_grid_names_and_bare_matrix(tmp_path: Path) -> None:
    found = read(tmp_path, ",x,y\na,1,2\nb,3,4\n").table
    assert found.domain.names == ("row", "column")
    assert found.domain["row"].categories == ("a", "b")
    found = read(tmp_path, "region,2019,2020\na,1,2\nb,3,4\n").table
    assert found.domain.names == ("region", "column")
    assert found.domain["column"].categories == ("2019", "2020")
    found = read(tmp_path, "1 ,2,3\n4,5,6\n").table
    assert found.domain["row"].categories == ("row1", "row2")
    assert found.counts.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_codes_are_opaque(tmp_path: Path) -> None:
    found = read(tmp_path, 'v,w,count\n01, x,1\n1,".y",2\n"Nuenen, Gerwen",Décembre,3\n').table
    assert found.domain["v"].categories == ("01", "1", "Nuenen, Gerwen")
    assert found.domain["w"].categories == (" x", ".y", "Décembre")


def test_cells_that_are_not_listed_are_zero_and_said(tmp_path: Path) -> None:
    found = read(tmp_path, "v,w,count\na,x,1\nb,y,4\n")
    assert found.table == Table.dense(TWO, [[1, 0], [0, 4]])
    assert found.notes == ("2 of 4 cells are not in the file and were taken as 0",)


def test_a_table_with_holes_is_refused(tmp_path: Path) -> None:
    # One of four, or any where zeros are listed: a mistake, not a list of positive cells.
    for text, cell in (
        ("v,w,count\na,x,1\na,y,2\nb,y,4\n", "(b, x)"),
        ("v,w,count\na,x,1\nb,y,0\n", "(a, y)"),
    ):
        with pytest.raises(InputError, match="missing") as caught:
            read(tmp_path, text)
        assert caught.value.cell == cell
        assert "--missing zero" in caught.value.hint
        filled = read(tmp_path, text, fill_missing=True)
        assert "taken as 0" in filled.notes[-1]


@pytest.mark.parametrize(
    ("text", "line", "cell", "words"),
    [
        (LONG.replace("3", "three"), 4, "(b, x)", "not a number"),
        (LONG.replace("3", ""), 4, "(b, x)", "empty"),
        (LONG.replace("3", "-3"), 4, "(b, x)", "negative"),
        (LONG.replace("3", "3.5"), 4, "(b, x)", "not a whole number"),
        (LONG.replace("3", '"3,5"'), 4, "(b, x)", "decimal comma"),
        (LONG.replace("3", '"1,000"'), 4, "(b, x)", "1000"),
        (LONG.replace("3", "1e3"), 4, "(b, x)", "not a number"),
        (LONG.replace("3", "9223372036854775808"), 4, "(b, x)", "9.2e18"),
        (LONG.replace("3", "9" * 5000), 4, "(b, x)", "not a number"),
        (LONG.replace("b,x", "b,x,z"), 4, None, "4 fields, the first row has 3"),
        (LONG.replace("b,x,", "b,"), 4, None, "2 fields, the first row has 3"),
        (LONG + "a,y,5\n", 6, "(a, y)", r"occurs twice \(first in line 3\)"),
        (LONG.replace("b,x", '"b,x'), 4, None, "quotation"),
        (LONG.replace("b,x", "b\0,x"), 4, None, "NUL"),
        (LONG.replace("v,", ","), 1, None, "column 1 has no name"),
        ("v,w,count\n", 1, None, "no row of counts"),
        ("v,w,count\n\n\n", 1, None, "no row of counts"),
        ("", None, None, "file is empty"),
        ("\n\n", None, None, "no rows"),
        ("count\n3\n4\n", 1, None, "only one column"),
        ("v,v,count\na,x,1\n", None, None, "'v' occurs twice"),
        ("v,w\na,x\nb,y\n", None, None, "holds records"),
        ("a,x,3\nb,y,4\n", 1, None, "which column holds the counts"),
        ("v\\w,x,y\na,1,2\nb,3,?\n", 3, "(b, y)", "not a number"),
        ("v\\w,x,y\na,1,2\na,3,4\n", 3, None, "'a' twice"),
        ("v\\w,x,x\na,1,2\nb,3,4\n", 1, None, "'x' twice"),
        ("v\\w,x,y\na,1,2\nb,3\n", 3, None, "2 fields"),
    ],
)
def test_errors_name_their_place(
    tmp_path: Path, text: str, line: int | None, cell: str | None, words: str
) -> None:
    error = refused(tmp_path, text)
    assert (error.line, error.cell) == (line, cell)
    assert re.search(words, error.message)


def test_the_line_is_the_files_line(tmp_path: Path) -> None:
    assert refused(tmp_path, "sep=,\nv,w,count\n\na,x,bad\n").line == 4
    text = 'v,w,count\n"a\nb",x,1\n\n"c ""d""",x,bad\n'
    assert refused(tmp_path, text).line == 5


def test_decimals_of_zeros_are_whole(tmp_path: Path) -> None:
    found = read(tmp_path, "v;w;count\na;x;4373664,00\nb;x;3.0\n")
    assert found.table.counts.tolist() == [[4373664], [3]]
    assert "2 counts were written with decimals" in found.notes[0]
    text = "v;count\na;4,000\nb;12,5\n"
    assert refused(tmp_path, text, decimal=",").line == 3
    assert read(tmp_path, text.replace("12,5", "1"), decimal=",").table.counts.tolist() == [4, 1]


def test_wrong_encoding(tmp_path: Path) -> None:
    data = "v,w,count\na,é,1\nb,x,2\n".encode("cp1252")
    error = refused(tmp_path, data)
    assert "byte 13 (0xe9)" in error.message
    assert error.line == 2
    assert "cp1252" in error.hint
    assert read(tmp_path, data, encoding="cp1252").table.domain["w"].categories == ("é", "x")
    with pytest.raises(InputError, match="no encoding"):
        read(tmp_path, data, encoding="klingon")


def test_wrong_encoding_far_into_the_file(tmp_path: Path) -> None:
    rows = "".join(f"é{i},x,1\n" for i in range(200_000)).encode()
    error = refused(tmp_path, b"v,w,count\n" + rows + b"\xff,x,1\n")
    assert f"byte {len(rows) + 11} " in error.message
    assert error.line == 200_002
    assert "cut" not in error.message


def test_a_file_cut_inside_a_character(tmp_path: Path) -> None:
    assert "0xc3" in refused(tmp_path, "v,count\na,1\né".encode()[:-1]).message


def test_utf16_and_gzip(tmp_path: Path) -> None:
    expected = Table.dense(TWO, [[1, 2], [3, 4]])
    assert read(tmp_path, LONG.replace(",", "\t").encode("utf-16")).table == expected
    packed = gzip.compress(LONG.encode())
    assert read(tmp_path, packed, name="t.csv.gz").table == expected
    with pytest.raises(InputError, match="damaged or cut off"):
        read(tmp_path, packed[:-9], name="t.csv.gz")


def test_the_count_column_can_be_named(tmp_path: Path) -> None:
    text = "v,cases,w\na,1,7\na,2,8\nb,3,7\nb,4,8\n"
    refused(tmp_path, text)
    found = read(tmp_path, text, count="cases").table
    assert found.domain.names == ("v", "w")
    assert found.counts.tolist() == [[1, 2], [3, 4]]
    assert "columns are v, cases, w" in refused(tmp_path, text, count="case").hint


def test_other_kinds_of_file(tmp_path: Path) -> None:
    for name in ("a.zip", "a.por", "a.tabprotect"):
        with pytest.raises(InputError, match="not a table file") as caught:
            read_table(tmp_path / name)
        assert caught.value.hint
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="folder"):
        read_table(tmp_path)


def workbook(path: Path, *sheets: list[list[object]], skip: int = 0) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        for rows in sheets:
            sheet = book.add_worksheet()
            for r, row in enumerate(rows):
                for c, value in enumerate(row):
                    sheet.write(r + skip, c + skip, value)
    return path


def test_excel_long_and_grid(tmp_path: Path) -> None:
    rows: list[list[object]] = [["v", "w", "count"], ["01", 2019, 1], ["01", 2020, 2.0]]
    found = read_table(workbook(tmp_path / "a.xlsx", [], rows, skip=2))
    assert found.table.domain["v"].categories == ("01",)
    assert found.table.domain["w"].categories == ("2019", "2020")
    assert found.table.counts.tolist() == [[1, 2]]
    assert "'Sheet2'" in found.notes[0]
    grid: list[list[object]] = [["", 1, 2], ["a", 5, 6], ["b", 7, 8]]
    assert read_table(workbook(tmp_path / "b.xlsx", grid)).table.counts.tolist() == [[5, 6], [7, 8]]


def test_excel_faults(tmp_path: Path) -> None:
    rows: list[list[object]] = [["v", "w", "count"], ["a", "x", 1], ["b", "x", 2.5]]
    with pytest.raises(InputError, match="not a whole number") as caught:
        read_table(workbook(tmp_path / "a.xlsx", rows, skip=3))
    assert (caught.value.line, caught.value.cell) == (6, "(b, x)")
    rows[2][2] = 2.0**60
    with pytest.raises(InputError, match="too large to be exact"):
        read_table(workbook(tmp_path / "a.xlsx", rows))
    with pytest.raises(InputError, match="no data"):
        read_table(workbook(tmp_path / "a.xlsx", []))
    whole = workbook(tmp_path / "a.xlsx", rows).read_bytes()
    for name in ("b.xlsx", "b.xls", "b.ods"):
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(InputError, match="cannot be read"):
            read_table(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.xlsx")


def test_a_workbook_with_cells_far_apart_is_refused(tmp_path: Path) -> None:
    # A few kilobytes that would be laid out as 2^34 cells.
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "v")
        sheet.write(1048575, 16383, 1)
    with pytest.raises(InputError, match="too large to be laid out"):
        read_table(path)
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("xl/worksheets/sheet2.xml", "<row r = '1'><c r = 'XFD1048576'/></row>")
    with pytest.raises(InputError, match="too large to be laid out"):
        read_table(path)


@pytest.mark.parametrize(
    "stray",
    [
        "<row r='9999999999'><c r='ZZZZZZZ9999999999'><v>1</v></c></row>",
        "<row r='99999999'><c r='A99999999'><v>1</v></c></row>",
        "<row r='999999999'><c><v>1</v></c></row>",
        "<row r='3'><c r='zzzzzz3'><v>1</v></c></row>",
    ],
)
def test_places_that_no_spreadsheet_has_are_refused(stray: str) -> None:
    sheet = f"<sheetData><row r='1'><c r='A1'><v>1</v></c></row>{stray}</sheetData>".encode()
    assert cells_of_text(io.BytesIO(sheet)) > WORKBOOK_SIZE_CELLS


def test_the_size_of_a_sheet() -> None:
    grid = b"".join(b'<c r="%s%d"/>' % (c, r) for c in (b"A", b"AB", b"BA") for r in (1, 70000))
    assert cells_of_text(io.BytesIO(grid * 3000)) == 53 * 70000
    assert cells_of_text(io.BytesIO(b'<c r="B7"/>')) == 26 * 2**20
    record = b"".join(
        bytes([kind, 8]) + number.to_bytes(4, "little") + bytes(4)
        for kind, number in ((0, 0), (1, 2), (0, 99999), (7, 16383))
    )
    longer = bytes([0x81, 0x01, 0x80, 0x01]) + bytes(128)
    assert cells_of_records(io.BytesIO(longer + record + longer)) == 100_000 * 16384
    assert cells_of_records(io.BytesIO(record[:-9])) == 100_000 * 3


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(rows, "BLOCK", 1 << 16)
    for name, end in (("t.csv.gz", "\n"), ("t2.csv.gz", "\r")):
        text = f"v,w,count{end}" + "a" * (1 << 21)
        with pytest.raises(InputError, match="absurdly long") as caught:
            read(tmp_path, gzip.compress(text.encode()), name=name)
        assert caught.value.line == 1 + (end == "\n")


def test_large_sparse_list_stays_sparse(tmp_path: Path) -> None:
    n = 5000
    text = "a,b,count\n" + "".join(f"r{i},s{i},{i + 1}\n" for i in range(n))
    found = read(tmp_path, text).table
    assert found.is_sparse
    assert found.domain.shape == (n, n)
    assert found[(7, 7)] == 8
    assert found[(7, 8)] == 0


def test_repeated_cells_stop_the_reading_early(tmp_path: Path) -> None:
    text = "a,b,count\n" + "x,y,1\n" * 300_000 + "not,a,row,at,all\n"
    assert "occurs twice" in refused(tmp_path, text).message


def test_written_bytes() -> None:
    assert write_csv(Table.dense(TWO, [[1, 2], [3, 4]])) == LONG.encode()
    odd = Domain.of({"a b": ['say "x"', " y"]})
    assert write_csv(Table.dense(odd, [0, 1])) == b'a b,count\n"say ""x""",0\n" y",1\n'


def test_columns_that_group_others_are_suspected(tmp_path: Path) -> None:
    rows = "".join(f"r{i},c{i // 10},g{i // 20},5\n" for i in range(100))
    found = read(tmp_path, "region,county,group,count\n" + rows)
    assert "tabulate the file" in found.notes[1]


def test_progress_and_cancel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TEXT_BLOCK_FIELDS", 6000)
    monkeypatch.setattr(rows, "BLOCK", 1 << 14)

    class Watched(Cancellable):
        def __init__(self, most: int) -> None:
            super().__init__()
            self.most = most
            self.seen: list[tuple[str, float]] = []

        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            self.seen.append((stage, fraction))
            if len(self.seen) == self.most:
                self.cancel()
            super().report(stage, fraction, partial)

    path = tmp_path / "t.csv"
    path.write_text("a,b,count\n" + "".join(f"r{i},s{i % 9},1\n" for i in range(10_000)))
    watched = Watched(10_000)
    read_table(path, progress=watched)
    for stage in ("checking the file", "reading the table"):
        fractions = [f for s, f in watched.seen if s == stage]
        assert len(fractions) > 2
        assert fractions == sorted(fractions)
        assert 0 <= fractions[0] < fractions[-1] <= 1
    for most in range(1, len(watched.seen) + 1):
        with pytest.raises(Interrupted):
            read_table(path, progress=Watched(most))


def test_a_header_of_a_million_columns_is_refused_before_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(20_000)) + "\n" + ",".join(["1"] * 20_000) + "\n")
    with pytest.raises(InputError, match="20,000 columns") as refused:
        read_table(path)
    assert len(str(refused.value)) < 300
