"""``export``: public tables in every format, suppressed counts with the mark of each."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pytest
import python_calamine
import sdmx
from sdmx.model.common import Code

import tabprotect as tp
from tabprotect.engine.bundle import public
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tests.cli.conftest import Command


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of suppression."""
    folder = tmp_path_factory.mktemp("bundle")
    counts = [[2, 30, 14], [11, 25, 9], [20, 31, 40]]
    rows = [f"r{i},c{j},{n}" for i, row in enumerate(counts) for j, n in enumerate(row)]
    (folder / "t.csv").write_text("\n".join(["row,column,count", *rows]) + "\n")
    table = tp.read_table(folder / "t.csv")
    release = tp.protect(table, "suppression", title="A title", seed=1).release
    public.write(release, folder / "r.zip")
    return folder / "r.zip"


def published(bundle: Path) -> PublishedTable:
    inner = tp.open_release(bundle).inner
    assert inner is not None and inner.suppressed is not None
    return inner


def exported(run: Command, bundle: Path, path: Path) -> Path:
    data = run("export", bundle, "--apart", "--out", path, "--json").json
    assert data["confidential"] is False and data["tables"][0]["out"] == str(path)
    assert data["tables"][0]["suppressed"] == published(bundle).hidden.sum() > 0
    return path


def test_csv(run: Command, bundle: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(exported(run, bundle, tmp_path / "t.csv").read_text().splitlines()))
    table = published(bundle)
    assert [row["CONF_STATUS"] == "C" for row in rows] == table.hidden.reshape(-1).tolist()
    for row, count in zip(rows, table.table.counts.reshape(-1), strict=True):
        assert row["count"] == ("" if row["CONF_STATUS"] == "C" else str(count))


def test_sdmx(run: Command, bundle: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(exported(run, bundle, tmp_path / "t.sdmx.csv").read_text().splitlines()))
    hidden = published(bundle).hidden.reshape(-1).tolist()
    marks = [(row["OBS_VALUE"] == "", row["OBS_STATUS"], row["CONF_STATUS"]) for row in rows]
    assert marks == [(True, "Q", "C") if h else (False, "A", "F") for h in hidden]


def test_jsonstat(run: Command, bundle: Path, tmp_path: Path) -> None:
    data = json.loads(exported(run, bundle, tmp_path / "t.json").read_text())
    hidden = np.flatnonzero(published(bundle).hidden).tolist()
    assert data["label"] == "A title"
    assert data["status"] == {str(cell): "c" for cell in hidden}
    assert [cell for cell, value in enumerate(data["value"]) if value is None] == hidden


def test_px(run: Command, bundle: Path, tmp_path: Path) -> None:
    text = exported(run, bundle, tmp_path / "t.px").read_text()
    words = text.partition("DATA=")[2].rstrip("\n;").split()
    assert 'TITLE="A title";' in text
    hidden = published(bundle).hidden.reshape(-1).tolist()
    assert [word == '".."' for word in words] == hidden


def test_parquet(run: Command, bundle: Path, tmp_path: Path) -> None:
    path = exported(run, bundle, tmp_path / "t.parquet")
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(f"SELECT count, CONF_STATUS FROM '{path}'").fetchall()
    assert [(n is None, s) for n, s in rows] == [
        (bool(h), "C" if h else "F") for h in published(bundle).hidden.reshape(-1)
    ]


def test_xlsx(run: Command, bundle: Path, tmp_path: Path) -> None:
    path = exported(run, bundle, tmp_path / "t.xlsx")
    book = python_calamine.load_workbook(str(path))
    assert book.sheet_names == ["Table", "Notes", "List of cells"]
    rows = book.get_sheet_by_name("List of cells").to_python()
    assert rows[0] == ["row", "column", "count", "CONF_STATUS", "status"]
    assert {(row[3], row[4]) for row in rows[1:]} == {("F", "free"), ("C", "confidential")}
    inner = [row for row in rows[1:] if "T" not in row[:2]]
    hidden = published(bundle).hidden.reshape(-1).tolist()
    assert [(row[2] == "..", row[3]) for row in inner] == [(h, "C" if h else "F") for h in hidden]


def test_a_sheet_shows_the_published_totals(run: Command, bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    assert run("export", bundle, "--out", path).code == 0
    sheet = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name("Table")
    assert sheet.to_python()[0][0] == "A title"
    rows = [row for row in sheet.to_python() if row and str(row[0]).startswith(("r", "Total"))]
    totals = {one.table.domain.names: one for one in tp.open_release(bundle).tables}
    assert any(".." in row[1:4] for row in rows)
    lines, total = [row for row in rows if row[0] != "row"], rows[-1]
    assert [row[4] for row in lines[:-1]] == totals["row",].table.counts.tolist()
    assert total[1:4] == totals["column",].table.counts.tolist()
    assert total[4] == int(totals[()].table.counts)


def test_notes_say_the_largest_change_and_the_check_number(run: Command, tmp_path: Path) -> None:
    bundle, out = tmp_path / "r.zip", tmp_path / "t.xlsx"
    words = ("--method", "random_rounding", "--set", "base=5", "--seed", "1", "--accept", "a test")
    protected = run("protect", "example:duncan-roehrig-4x4", *words, "--out", bundle, "--json").json
    assert run("export", bundle, "--out", out).code == 0
    rows = python_calamine.load_workbook(str(out)).get_sheet_by_name("Notes").to_python()
    notes = {row[0]: row[1] for row in rows}
    # Rounded to multiples of 5, up or down: by 4 at most.
    assert "by at most 4 " in notes["Changed"] and protected["fingerprint"] in notes["Check number"]


@pytest.mark.parametrize("method", ["cell_key", "cyclic_perturbation"])
def test_a_set_is_one_workbook(run: Command, tmp_path: Path, method: str) -> None:
    records = tmp_path / "r.csv"
    rows = [f"{'ab'[n % 2]},{n % 3},{n % 7 % 2}" for n in range(300)]
    records.write_text("\n".join(["geo,age,sex", *rows]) + "\n")
    words = (records, "--table", "regions=geo*age", "--table", "sexes=age*sex", "--method", method)
    more = ("--title", "Census", "--accept", "a test", "--no-page", "--out", tmp_path / "set")
    assert run("protect-set", *words, *more).code == 0
    out = tmp_path / "t.xlsx"
    told = run("export", tmp_path / "set", "--out", out, "--json").json
    assert told["title"] == "Census" and told["confidential"] is False
    book = python_calamine.load_workbook(str(out))
    notes = {row[0]: row[1] for row in book.get_sheet_by_name("Notes").to_python()}
    manifest = hashlib.sha256((tmp_path / "set" / "manifest.json").read_bytes()).hexdigest()
    assert notes["Title"] == "Census" and notes["Check number"].endswith(manifest)
    # One bundle for all, of which each table adds up, or a bundle for each.
    assert book.sheet_names[:3] == ["regions", "sexes", "Notes"]
    for name, names in (("regions", ("geo", "age")), ("sexes", ("age", "sex"))):
        sheet = book.get_sheet_by_name(name).to_python()
        assert sheet[0][0] == f"Census: {name}" and sheet[-1][0] == "Total"
        if method == "cell_key":
            part = tp.open_release(tmp_path / "set" / f"{name}.zip")
            table = next(one.table for one in part.tables if one.table.domain.names == names)
        else:
            table = tp.open_release(tmp_path / "set" / "all.zip").table.margin(names)
        found = [row[1:-1] for row in sheet if row[0] in table.domain.variables[0].categories]
        assert found == table.counts.tolist()
    # The library does the same.
    assert tp.export(tmp_path / "set", tmp_path / "l.xlsx") == (tmp_path / "l.xlsx",)
    again = python_calamine.load_workbook(str(tmp_path / "l.xlsx"))
    for name in book.sheet_names:
        same = again.get_sheet_by_name(name).to_python()
        assert same == book.get_sheet_by_name(name).to_python()
    assert run("export", tmp_path / "set", "--out", tmp_path / "t.ods").code == 0
    with zipfile.ZipFile(tmp_path / "t.ods") as sheets:
        assert "<style:region-left><text:p>Census</text:p>" in sheets.read("styles.xml").decode()
    assert run("export", tmp_path / "set", "--out", tmp_path / "c.xlsx", "--total-code", "ALL").code == 0
    coded = python_calamine.load_workbook(str(tmp_path / "c.xlsx"))
    lists = [coded.get_sheet_by_name(one).to_python() for one in coded.sheet_names if "List" in one]
    assert len(lists) == 2 and all(["ALL", "ALL"] in [row[:2] for row in one] for one in lists)
    assert "one workbook" in run("export", tmp_path / "set", "--out", tmp_path / "t.csv").err
    assert "leave it out" in run("export", tmp_path / "set", "--out", out, "--apart").err
    assert run("export", tmp_path / "set", "--out", "-", "--format", "xlsx").code == 2


def test_acro(run: Command, bundle: Path, tmp_path: Path) -> None:
    path = exported(run, bundle, tmp_path / "t.acro.json")
    (result,) = json.loads(path.read_text())["results"].values()
    (file,) = result["files"]
    rows = list(csv.reader((tmp_path / file["name"]).read_text().splitlines()))[1:]
    hidden = published(bundle).hidden.tolist()
    assert [[word == "x" for word in row[1:]] for row in rows] == hidden
    gone = [[result["outcome"][c][row[0]] == "suppressed; " for c in ("c0", "c1", "c2")]
            for row in rows]  # fmt: skip
    assert gone == hidden and result["comments"] == ["A title"]
    assert len(list(tmp_path.glob("output_0_*.csv"))) == len(tp.open_release(bundle).tables)
    assert "the count is suppressed" in run("convert", path, "--out", tmp_path / "t.csv").err


@pytest.mark.parametrize(
    "kind", [kind for kind in formats().values() if kind.publishes], ids=lambda kind: kind.name
)
def test_without_suppressed_counts_the_file_is_the_table(kind: Format, tmp_path: Path) -> None:
    table = tp.read_table("example:duncan-roehrig-4x4")
    release = tp.protect(table, "cyclic_perturbation", alpha=0.25, seed=3).release
    (file,) = tp.export(release, tmp_path / f"t{kind.suffixes[0]}", apart=True)
    assert tp.read_table(file).table == release.table


def test_further_tables_stand_beside(run: Command, tmp_path: Path) -> None:
    bundle = tmp_path / "r.zip"
    words = ["--method", "small_count_rounding", "--set", "margins=A*B + B*C", "--seed", 1]
    found = run("protect", "example:czech-autoworkers", *words, "--accept-weak", "--out", bundle)
    assert found.code == 0, found.err
    data = run("export", bundle, "--apart", "--out", tmp_path / "t.sdmx.csv", "--json").json
    for table, name in zip(data["tables"], ["t", "t_2", "t_3", "t_4"], strict=False):
        path = tmp_path / f"{name}.sdmx.csv"
        assert table["out"] == str(path) and path.is_file()
    release = tp.open_release(bundle)
    assert len(data["tables"]) == len(release.tables) > 1
    for table, one in zip(data["tables"], release.tables, strict=True):
        assert tp.read_table(table["out"]).table == one.table


def test_what_cannot_be_exported(run: Command, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK")
    assert run("export", tmp_path / "no.zip", "--out", tmp_path / "t.csv").code == 6
    assert run("export", bundle, "--out", bundle).code == 2
    assert not list(tmp_path.glob("t*"))


def test_one_cube_has_the_published_totals(run: Command, bundle: Path, tmp_path: Path) -> None:
    release = tp.open_release(bundle)
    inner = published(bundle)
    data = run("export", bundle, "--out", tmp_path / "c.csv", "--json").json
    (table,) = data["tables"]
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert len(rows) == 4 * 4 == np.prod(data["shape"])
    found = {(r["row"], r["column"]): (r["count"], r["CONF_STATUS"]) for r in rows}
    assert table["suppressed"] == sum(status == "C" for _, status in found.values())
    for index, hidden in np.ndenumerate(inner.hidden):
        cell = found[f"r{index[0]}", f"c{index[1]}"]
        assert cell == (("", "C") if hidden else (str(inner.table[index]), "F"))
    for one in release.tables[1:]:
        names = one.table.domain.names
        for index, hidden in np.ndenumerate(one.hidden):
            where = dict(zip(names, one.table.domain.labels(index), strict=True))
            cell = found[where.get("row", "T"), where.get("column", "T")]
            assert cell == (("", "C") if hidden else (str(one.table[index]), "F"))
    stat = run("export", bundle, "--out", tmp_path / "c.json", "--total-code", "_Z", "--json")
    category = json.loads((tmp_path / "c.json").read_text())["dimension"]["row"]["category"]
    assert stat.json["total_codes"] == {"row": "_Z", "column": "_Z"}
    assert category["child"] == {"_Z": ["r0", "r1", "r2"]} and category["label"]["_Z"] == "Total"
    run("export", bundle, "--out", tmp_path / "c.px")
    text = (tmp_path / "c.px").read_text()
    assert 'CODES("row")="r0","r1","r2","T"' in text and '"r2","Total"' in text
    assert run("export", bundle, "--total-code", "r1", "--out", tmp_path / "d.csv").code == 3


def test_totals_are_listed_as_the_source_listed_them(run: Command, tmp_path: Path) -> None:
    cells = [("n", "x", 12), ("n", "y", 30), ("s", "x", 9), ("s", "y", 14)]
    rows = [f"{a},{b},{n}" for a, b, n in cells]
    rows += ["_ALL,x,21", "_ALL,y,44", "n,SUM,42", "s,SUM,23", "_ALL,SUM,65"]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,count", *rows]) + "\n")
    totals = "--totals", "a=_ALL,b=SUM"
    told = run("convert", tmp_path / "t.csv", *totals, "--out", tmp_path / "t.json")
    assert told.code == 0
    table = tp.read_table(tmp_path / "t.json")
    assert [v.total for v in table.table.domain.variables] == [("_ALL", ""), ("SUM", "")]
    release = tp.protect(table, "cyclic_perturbation", alpha=0.25, seed=1).release
    public.write(release, tmp_path / "r.zip")
    found = run("export", tmp_path / "r.zip", "--out", tmp_path / "c.px", "--json")
    assert found.json["total_codes"] == {"a": "_ALL", "b": "SUM"}
    text = (tmp_path / "c.px").read_text()
    assert 'CODES("a")="n","s","_ALL"' in text and '"n","s","Total"' in text
    found = run("export", tmp_path / "r.zip", "--total-code", "T", "--out", tmp_path / "d.csv")
    assert "_ALL" not in (tmp_path / "d.csv").read_text()
    px = 'CODES("a")="n","s","ALT";VALUES("a")="Nord","Süd","Insgesamt";'
    whole = f'STUB="a";HEADING="b";{px}VALUES("b")="x","y";DATA=1 2 3 4 4 6;'
    (tmp_path / "l.px").write_text(f'CHARSET="ANSI";CODEPAGE="utf-8";TITLE="t";{whole}', "utf-8")
    found = tp.read_table(tmp_path / "l.px", totals="ALT").table.domain
    assert [v.total for v in found.variables] == [("ALT", "Insgesamt"), None]


def test_quotation_marks_and_identifiers(run: Command, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text('"a ""b""",w,count\n"x ""y""",u,5\nz,u,7\n')
    found = run("convert", tmp_path / "q.csv", "--out", tmp_path / "q.px")
    assert found.code == 0 and "typographic" in found.err
    assert tp.read_table(tmp_path / "q.px").domain.names[0] == "a \u201cb\u201d"
    assert run("convert", tmp_path / "q.csv", "--strict", "--out", tmp_path / "r.px").code == 3
    found = run("convert", tmp_path / "q.csv", "--out", tmp_path / "q.sdmx.csv")
    assert found.code == 0 and "a_b" in found.err
    other = run("convert", tmp_path / "q.csv", "--drop", "w", "--out", tmp_path / "s.sdmx.csv")
    assert other.code == 0
    ids = {(tmp_path / f).read_text().splitlines()[1].split(",")[1] for f in ("q.sdmx.csv", "s.sdmx.csv")}
    assert len(ids) == 2


def test_groups_of_levels_are_parents_of_codes(run: Command, tmp_path: Path) -> None:
    """In PX as a hierarchy, in SDMX in the code lists beside the data; the label is there, too."""
    halves = Level("half", ("N", "N", "S"))
    region = Variable("region", ("r1", "r2", "r3"), (halves,), labels=("Ulm", "Bonn", "Graz"))
    domain = Domain((region, Variable("age group", ("young", "old"))))
    table = Table.dense(domain, np.arange(10, 16).reshape(3, 2))
    (tmp_path / "t.json").write_bytes(formats()["jsonstat"].write(table))
    release = tp.protect(
        tp.read_table(tmp_path / "t.json"),
        "suppression",
        margins="region@half:`age group` + region",
        accept="a trial",
        seed=1,
    ).release
    public.write(release, tmp_path / "r.zip")
    expected = {"N": "T", "S": "T", "r1": "N", "r2": "N", "r3": "S"}
    px = run("export", tmp_path / "r.zip", "--out", "-", "--format", "px").out
    assert 'HIERARCHIES("region")="T","T":"N","T":"S","N":"r1","N":"r2","S":"r3";' in px
    assert 'ELIMINATION("age group")="Total";' in px
    for name in ("r.sdmx.csv", "r.sdmx.xml", "r.sdmx.json"):
        said = run("export", tmp_path / "r.zip", "--out", tmp_path / name, "--json").json
        assert said["tables"][0]["variables"] == ["region", "age_group"]
        message = sdmx.read_sdmx(io.BytesIO((tmp_path / "r.structure.xml").read_bytes()))
        codes = next(of for key, of in message.codelist.items() if key.endswith("_region"))
        parents = {code.id: code.parent.id for code in codes if isinstance(code.parent, Code)}
        assert parents == expected and str(codes["r1"].name) == "Ulm"
        (structure,) = message.structure.values()
        assert structure.id in (tmp_path / name).read_text()
        (tmp_path / "r.structure.xml").unlink()
    values = json.loads((tmp_path / "r.sdmx.json").read_text())["structure"]["dimensions"]
    first = values["observation"][0]["values"]
    assert {v["id"]: v["parent"] for v in first if "parent" in v} == expected
    assert values["observation"][1]["name"] == "age group"
