"""Messy files as people send them: each opens right or asks one question after the other.

By the library and by the command line, which say the same.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import xlsxwriter

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.errors import InputError

COUNTS = {
    ("Nord", "M", "0-14"): 1210, ("Nord", "M", "15-64"): 5321, ("Nord", "M", "65+"): 803,
    ("Nord", "K", "0-14"): 1187, ("Nord", "K", "15-64"): 5290, ("Nord", "K", "65+"): 1034,
    ("Süd", "M", "0-14"): 94, ("Süd", "M", "15-64"): 2240, ("Süd", "M", "65+"): 0,
    ("Süd", "K", "0-14"): 88, ("Süd", "K", "15-64"): 2191, ("Süd", "K", "65+"): 407,
    ("Öst", "M", "0-14"): 13, ("Öst", "M", "15-64"): 1007, ("Öst", "M", "65+"): 76,
    ("Öst", "K", "0-14"): 9, ("Öst", "K", "15-64"): 998, ("Öst", "K", "65+"): 112,
}  # fmt: skip
R, S, A = ("Nord", "Süd", "Öst"), ("M", "K"), ("0-14", "15-64", "65+")


def spaced(count: int) -> str:
    return f"{count:,}".replace(",", "\u00a0")


def row(region: str, sex: str) -> list[int]:
    return [COUNTS[region, sex, age] for age in A]


def titled() -> bytes:
    """A title with a comma, semicolons, Latin-1, blanks between thousands, totals, a source."""
    lines = ["Befolkning, efter region, kön och ålder; 2025", "", ";".join(["Region", *A, "Totalt"])]
    sums = {r: [sum(COUNTS[r, s, a] for s in S) for a in A] for r in R}
    sums["Totalt"] = [sum(column) for column in zip(*sums.values(), strict=True)]
    lines += [";".join([r, *map(spaced, n), spaced(sum(n))]) for r, n in sums.items()]
    return "\r\n".join([*lines, "", "Källa: SCB, egna beräkningar"]).encode("latin-1")


def footnoted() -> bytes:
    """A mark of byte order, two header rows with merged cells, footnotes on a count and a label."""
    lines = ["\ufeffTabelle 3: Bevölkerung", "", "Region;M;;;K;;", ";" + ";".join([*A, *A[:2], "65+ 1)"])]
    for region in R:
        texts = [str(n) for s in S for n in row(region, s)]
        texts[0] += "1)" * (region == "Süd")
        texts[1] += "*" * (region == "Öst")
        lines.append(";".join([region, *texts]))
    return "\n".join([*lines, "", "1) vorläufig", "* geschätzt", "Quelle: Amt"]).encode()


def repeated() -> bytes:
    """Long, weights with a decimal comma, and the header anew on every page."""
    lines = []
    for number, (cell, count) in enumerate(COUNTS.items()):
        if number % 7 == 0:
            lines.append("Region;Geschlecht;Alter;Personen")
        lines.append(f"{';'.join(cell)};{count},00")
    return "\n".join(lines).encode()


def foreign_totals() -> bytes:
    """A total in a language that no list knows, dots between thousands, one count missing."""
    cells = {"/".join(cell): f"{n:,}".replace(",", ".") for cell, n in COUNTS.items()}
    cells["Öst/K/0-14"] = ".."
    for r in R:
        for a in A:
            total = sum(COUNTS[r, s, a] for s in S)
            cells[f"{r}/Guztira/{a}"] = f"{total:,}".replace(",", ".")
    lines = [f"{cell.replace('/', ';')};{n}" for cell, n in cells.items()]
    return "\n".join(["Herrialdea;Sexua;Adina;Biztanleak", *lines]).encode()


def merged() -> bytes:
    """Labels that stand once for several rows, quoted thousands, a source right below."""
    lines = ["Region,Sex," + ",".join(A)]
    for region in R:
        for sex in S:
            shown = ",".join(f'"{n:,}"' for n in row(region, sex))
            lines.append(f"{region if sex == 'M' else ''},{sex},{shown}")
    return "\n".join([*lines, "Source: the office"]).encode()


def workbook() -> bytes:
    """A sheet of remarks first, title rows, merged cells, totals, a note."""
    path = Path("messy.xlsx")
    with xlsxwriter.Workbook(path) as book:
        remarks, sheet = book.add_worksheet("Read me"), book.add_worksheet("Table 1")
        remarks.write(0, 0, "Figures of 2025")
        sheet.merge_range(0, 0, 0, 6, "Table 1: Population by region, sex and age")
        sheet.merge_range(2, 0, 3, 0, "Region")
        for at, sex in enumerate(S):
            sheet.merge_range(2, 1 + 3 * at, 2, 3 + 3 * at, sex)
        sheet.write_row(3, 1, A + A)
        rows = [[n for s in S for n in row(r, s)] for r in R]
        rows.append([sum(column) for column in zip(*rows, strict=True)])
        for at, (name, counts) in enumerate(zip([*R, "Total"], rows, strict=True), 4):
            sheet.write_row(at, 0, [name, *counts])
        sheet.write(9, 0, "Source: Statistics Office. Provisional.")
    return path.read_bytes()


def utf_16() -> bytes:
    """Tabs, titles, a dash for nothing, notes with the date."""
    lines = ["Population", "(persons)", "", "region\tsex\tage\tpersons"]
    lines += ["\t".join([*cell, str(n or "-")]) for cell, n in COUNTS.items()]
    return "\n".join([*lines, "", "- means nil", "Last updated: 2025-01-02"]).encode("utf-16")


def blank_beside_a_total() -> bytes:
    """Titles with the separator in them; the last row's total stands over two columns of labels."""
    lines = [
        "Tabell 7; bosatte;;;;",
        "(tall; under 3 vises);;;;",
        "",
        ";".join(["Fylke", "Kjønn", *A, "I alt"]),
    ]
    for region in R:
        for sex in S:
            counts = row(region, sex)
            first = region if sex == "M" else ""
            lines.append(";".join([first, sex, *map(spaced, counts), spaced(sum(counts))]))
    sums = [sum(row(r, s)[n] for r in R for s in S) for n in range(3)]
    lines.append(";".join(["I alt", "", *map(spaced, sums), spaced(sum(sums))]))
    return "\n".join([*lines, "", "Kilde: byrået"]).encode("cp1252")


def genesis() -> bytes:
    """Names of the office first, a date over the columns, decimal commas, a line drawn below."""
    lines = ["Statistisches Bundesamt", "Bevölkerung: Kreise, Stichtag", ";;;31.12.2024;31.12.2024"]
    lines[2] += ";31.12.2024;31.12.2024"
    lines.append(";;;" + ";".join([*A, "Insgesamt"]))
    for n, (region, sex) in enumerate(product(R, S)):
        counts = [f"{c:,}".replace(",", ".") + ",0" for c in (*row(region, sex), sum(row(region, sex)))]
        lines.append(";".join([f"0{n // 2 + 1}", region, sex, *counts]))
    return "\n".join([*lines, "__________", "Stand: 22.11.2026"]).encode("utf-8-sig")


def pivot() -> bytes:
    """What pandas writes of a pivot table with margins."""
    lines = ["sex,,M,M,M,K,K,K,All", "age,," + ",".join([*A, *A]) + ",", "region,,,,,,,,"]
    lines = [line.replace(",,", ",", 1) for line in lines]
    table = {r: row(r, "M") + row(r, "K") for r in R}
    table["All"] = [sum(column) for column in zip(*table.values(), strict=True)]
    lines += [",".join([r, *map(str, n), str(sum(n))]) for r, n in table.items()]
    return "\n".join(lines).encode()


def spaced_sheet() -> bytes:
    """Two sheets of tables, each with a title and a blank column between labels and counts."""
    path = Path("spaced.xlsx")
    with xlsxwriter.Workbook(path) as book:
        for name in ("2024", "2025"):
            sheet = book.add_worksheet(name)
            sheet.write(0, 0, f"Table 1. Persons by county and age, {name}")
            sheet.write_row(2, 0, ["County", "Sex", "", *A, "All"])
            for at, (region, sex) in enumerate(product(R, S), 3):
                sheet.write_row(at, 0, [region, sex, "", *row(region, sex), sum(row(region, sex))])
            sheet.write(10, 0, "c: confidential")
    return path.read_bytes()


TOTALS = ("totals are mixed", "totals", "auto")
FILES = [
    ("titled.csv", titled, [("cp1252", "encoding", "cp1252"), TOTALS]),
    ("footnoted.csv", footnoted, []),
    ("repeated.csv", repeated, []),
    ("merged.csv", merged, [("--thousands ,", "thousands", ",")]),
    ("messy.xlsx", workbook, [TOTALS]),
    ("blank.csv", blank_beside_a_total, [("cp1252", "encoding", "cp1252"), TOTALS]),
    ("pivot.csv", pivot, [TOTALS]),
    ("spaced.xlsx", spaced_sheet, [("--form grid", "form", "grid"), TOTALS]),
    ("messy.txt", utf_16, [('--marks "-=zero"', "marks", "-=zero")]),
]


def words(options: dict[str, str]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def expected(table: tp.Table) -> list[int]:
    """The counts of the table's own cells, whatever its variables are called."""
    cells = product(*(variable.categories for variable in table.domain.variables))
    return [sum(n for key, n in COUNTS.items() if set(cell) <= set(key)) for cell in cells]


@pytest.mark.parametrize(("name", "made", "dialogue"), FILES, ids=[name for name, *_ in FILES])
def test_messy_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    made: Callable[[], bytes],
    dialogue: list[tuple[str, str, str]],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_bytes(made())
    options: dict[str, str] = {}
    for question, option, answer in dialogue:
        with pytest.raises(InputError) as caught:
            tp.read_table(path, **options)
        assert question in f"{caught.value.message} {caught.value.hint}"
        assert main(["convert", str(path), "--out", "no.csv", *words(options)]) == 3
        assert question in capsys.readouterr().err
        options[option] = answer
    table = tp.read_table(path, **options)
    assert table.counts.sum() == sum(COUNTS.values())
    assert table.counts.reshape(-1).tolist() == expected(table)
    assert main(["convert", str(path), "--out", "out.csv", *words(options)]) == 0
    assert (tp.read_table("out.csv").counts == table.counts).all()


def test_a_letter_at_the_end_of_a_label_is_no_footnote(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Title\n\nflat,f,m\n1 a,3,4 p\n1 b,5,6\n2 a,7,8\n")
    table = tp.read_table(path, form="grid")
    assert table.domain["flat"].categories == ("1 a", "1 b", "2 a")
    assert table.counts.tolist() == [[3, 4], [5, 6], [7, 8]]


def test_codes_and_their_names_are_one_variable(tmp_path: Path) -> None:
    path = tmp_path / "genesis.csv"
    path.write_bytes(genesis())
    with pytest.raises(InputError, match="totals are mixed"):
        tp.read_table(path)
    table = tp.read_table(path, totals="auto", columns="day,age")
    assert table.domain.names == ("row 1", "row 3", "day", "age")
    place = table.domain["row 1"]
    assert place.categories == ("01", "02", "03") and place.labels == R
    assert table.counts.reshape(-1).tolist() == [n for r in R for s in S for n in row(r, s)]
    # In long form, too.
    names = dict(zip(R, "abc", strict=True))
    lines = [f"{names[r]},{r},{s},{a},{n}" for (r, s, a), n in COUNTS.items()]
    path.write_text("\n".join(["code,name,sex,age,count", *lines]) + "\n")
    found = tp.read_table(path)
    assert found.domain["code"].labels == R and "'name' names the categories" in found.notes[0]
    assert found.counts.reshape(-1).tolist() == list(COUNTS.values())


def test_a_total_that_would_be_counted_twice_where_a_count_is_missing(tmp_path: Path) -> None:
    # Guztira: the sum of the others where all are there; taking the missing one as 0 is no answer.
    path = tmp_path / "t.csv"
    path.write_bytes(foreign_totals())
    with pytest.raises(InputError, match=r"1\.210") as caught:
        tp.read_table(path)
    assert "--thousands ." in caught.value.hint
    with pytest.raises(InputError, match=r"'\.\.' is not") as caught:
        tp.read_table(path, thousands=".")
    for fill in (False, True):
        with pytest.raises(InputError, match=r"Guztira.*1 of 9 do not add up") as caught:
            tp.read_table(path, thousands=".", marks="..=missing", fill_missing=fill)
        assert "(Öst, Guztira, 0-14): the total is 22, its inner cells add up to 13" in (caught.value.detail)


def test_flags_beside_counts_are_no_variable(tmp_path: Path) -> None:
    path = tmp_path / "eu.tsv"
    path.write_text("geo\ttime\tvalue\tflag\nAT\t2024\t15\t\nBE\t2024\t7\tp\n")
    table = tp.read_table(path)
    assert table.domain.names == ("geo", "time") and table.counts.reshape(-1).tolist() == [15, 7]
    path.write_text(path.read_text() + "DE\t2024\t:\tb c\n")
    with pytest.raises(InputError, match="the count is suppressed"):
        tp.read_table(path, fill_missing=True)


def test_a_header_of_years_has_more_below(tmp_path: Path) -> None:
    lines = ["Persons", "", "Region,2023,,2024,", ",M,K,M,K", "A,3,4,5,6", "B,7,8,9,1"]
    path = tmp_path / "years.csv"
    path.write_text("\n".join(lines) + "\n")
    table = tp.read_table(path, columns="year,sex")
    assert table.domain.names == ("Region", "year", "sex") and table.domain.shape == (2, 2, 2)
    assert table.counts.reshape(-1).tolist() == [3, 4, 5, 6, 7, 8, 9, 1]


def test_options_as_python_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.xlsx").write_bytes(spaced_sheet())
    table = tp.read_table("b.xlsx", sheet=2, header_row=3, form="grid", totals="All")
    assert table.counts.reshape(-1).tolist() == list(COUNTS.values())
    # The code of totals, beside which other labels are blank.
    Path("b.csv").write_bytes(blank_beside_a_total())
    table = tp.read_table("b.csv", encoding="cp1252", totals="I alt")
    assert table.counts.reshape(-1).tolist() == list(COUNTS.values())
    Path("t.csv").write_text("v,count\na,3\nb,-\n")
    assert tp.read_table("t.csv", marks={"-": "zero"}).counts.tolist() == [3, 0]
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(InputError, match="JSON-stat files are not read packed"):
        tp.read_table("t.json.gz")


def test_a_column_of_percentages_is_left_out_unless_it_is_said_to_be_something(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    lines = ["Region;Persons;Share in %", "n;5;31,25", "m;3;18,75", "s;8;50"]
    path.write_text("\n".join(lines))
    found = tp.read_table(path)
    assert found.domain.names == ("Region",) and found.total == 16
    lines = ["Region;Sex;Persons;Share in %", "n;f;5;31,25", "n;m;3;18,75", "s;f;8;50,00"]
    path.write_text("\n".join([*lines, "s;m;0;0"]))
    assert tp.read_table(path).domain.names == ("Region", "Sex")
    # What is said counts more.
    with pytest.raises(InputError):
        tp.read_table(path, count="Persons", variable=["Share in %"])
    # Whole numbers may be counts of something.
    path.write_text("Region;Persons;Share in %\nn;5;31\nm;3;19\ns;8;50")
    assert tp.read_table(path).domain.shape == (3, 2)
