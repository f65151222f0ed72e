"""Exported tables: what is suppressed stays so, every table has its file, all or none is written."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import python_calamine

from tabprotect.engine.bundle.tables.about import Telling, about_release
from tabprotect.engine.bundle.tables.export import Exporting, export
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.foreign.workbook_names import LIST_SHEET
from tabprotect.engine.formats.registered import named
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of({"v": ["a", "b"], "w": ["x", "y"]})
TABLE = Table.dense(DOMAIN, np.array([[71, 2], [3, 4]]))
INNER = PublishedTable.hiding(TABLE, np.array([[True, False], [False, False]]))
RELEASE = Release(
    (INNER, PublishedTable(TABLE.margin(["w"])), PublishedTable(TABLE.margin(["v"]))),
    Mechanism("suppression", DOMAIN, methods()["suppression"].resolve(DOMAIN, {})),
    title="Health, 2026",
)


def test_the_main_table_has_the_name_and_others_their_number(tmp_path: Path) -> None:
    written = export(RELEASE, tmp_path / "t.sdmx.csv", named("sdmx-csv"))
    assert {path.name: cube.table.domain.names for path, cube in written} == {
        "t.sdmx.csv": ("v", "w"),
        "t_2.sdmx.csv": ("w",),
        "t_3.sdmx.csv": ("v",),
    }
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path, _ in written}
    assert read_table(tmp_path / "t_3.sdmx.csv").table.counts.tolist() == [73, 7]


def test_a_code_of_totals_goes_where_there_are_totals(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no totals"):
        export(RELEASE, tmp_path / "t.px", named("px"), Exporting(apart=True, total_code="ALL"))
    export(RELEASE, tmp_path / "t.xlsx", named("xlsx"), Exporting(apart=True, total_code="ALL"))
    rows = python_calamine.load_workbook(str(tmp_path / "t.xlsx")).get_sheet_by_name(LIST_SHEET).to_python()
    assert any("ALL" in row for row in rows)


@pytest.mark.parametrize("name", ["csv", "px", "jsonstat", "sdmx-csv", "sdmx-ml", "sdmx-json", "tau-argus"])
def test_a_suppressed_count_is_nowhere(tmp_path: Path, name: str) -> None:
    kind = named(name)
    export(Release((INNER,), RELEASE.mechanism), tmp_path / f"t{kind.suffixes[0]}", kind)
    for path in tmp_path.iterdir():
        assert b"71" not in path.read_bytes()
    with pytest.raises(InputError, match=r"suppressed|is not a number"):
        read_table(tmp_path / f"t{kind.suffixes[0]}")


def test_the_title_is_told_where_there_is_a_place_for_it(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.px", named("px"))
    assert 'TITLE="Health, 2026"' in (tmp_path / "t.px").read_text()


def test_what_is_packed_is_the_same_file_every_time(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.csv", named("csv"))
    export(RELEASE, tmp_path / "u.csv.gz", named("csv"))
    packed = (tmp_path / "u.csv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "t.csv").read_bytes()
    assert packed[4:8] == bytes(4)
    assert (tmp_path / "u_3.csv.gz").is_file()


def test_files_that_belong_to_a_table_stand_beside_it(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.tab", named("tau-argus"))
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"t.tab", "t.rda", "t.hst", "t_2.tab", "t_2.rda", "t_3.tab", "t_3.rda"}


def test_nothing_is_written_where_one_table_cannot_be(tmp_path: Path) -> None:
    other = Table.dense(Domain.of({'a "b"': ["x", "y"]}), np.array([1, 2]))
    release = Release((INNER, PublishedTable(other)), RELEASE.mechanism)
    with pytest.raises(InputError, match="cannot hold") as caught:
        export(release, tmp_path / "t.px", named("px"), Exporting(strict=True))
    assert caught.value.file == str(tmp_path / "t_2.px") and not any(tmp_path.iterdir())


TOLD = Exporting(unit="persons", source="The office", notes=["Age in years."], date="2026-11-28")


@pytest.mark.parametrize("name", ["px", "jsonstat", "csv", "sdmx-ml", "sdmx-json", "acro", "xlsx", "ods"])
def test_unit_source_note_and_date_are_told_where_the_format_tells_them(tmp_path: Path, name: str) -> None:
    kind = named(name)
    export(RELEASE, tmp_path / f"t{kind.suffixes[0]}", kind, TOLD)
    told = "".join(path.read_text("utf-8") for path in tmp_path.iterdir() if not kind.book)
    if kind.book:
        with zipfile.ZipFile(tmp_path / f"t{kind.suffixes[0]}") as book:
            told = "".join(book.read(part).decode() for part in book.namelist())
    for text in ("persons", "The office", "Age in years.", "2026-11-28" if name != "px" else "20261128"):
        assert text in told, text


@pytest.mark.parametrize("name", ["px", "jsonstat", "csv", "sdmx-ml", "sdmx-json"])
def test_what_a_file_says_of_itself_is_told_of_the_release_too(tmp_path: Path, name: str) -> None:
    kind = named(name)
    read = tmp_path / f"read{kind.suffixes[0]}"
    export(replace(RELEASE, title="People by v"), read, kind, TOLD)
    telling = Telling(texts_of=str(read), source="Another one")
    found = about_release(replace(RELEASE, title=""), telling=telling)
    assert (found.title, found.source, found.date) == ("People by v", "Another one", TOLD.date)
    assert "Age in years." in " ".join(found.notes) and found.unit == "persons"
    assert about_release(RELEASE, telling=Telling(texts_of=str(read), unit="firms")).unit == "firms"


def test_a_file_that_says_nothing_of_itself_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("v,count\na,1\n")
    assert about_release(RELEASE, telling=Telling(texts_of=str(tmp_path / "t.csv"))) == about_release(RELEASE)


def test_a_day_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="date: must look like"):
        Telling(date="28.11.2026")


@pytest.mark.parametrize("name", ["xlsx", "ods"])
def test_a_workbook_has_a_sheet_for_each_table_with_its_published_totals(tmp_path: Path, name: str) -> None:
    """Totals are those of the release, which need not be the sums of the cells shown."""
    three = Domain.of({"v": ["a", "b"], "w": ["x", "y"], "u": ["p", "q"]})
    table = Table.dense(three, np.arange(1, 9).reshape(2, 2, 2))
    totals = Table.dense(table.margin(["v"]).domain, np.array([11, 29]))
    mechanism = Mechanism("cell_key", three, methods()["cell_key"].resolve(three, {"margins": "v*w + w*u"}))
    parts = [PublishedTable(table.margin(names)) for names in (["v", "w"], ["w", "u"])]
    release = Release((*parts, PublishedTable(totals)), mechanism)
    path = tmp_path / f"t.{name}"
    written = export(release, path, named(name))
    assert [(out, cube.table.domain.names) for out, cube in written] == [
        (path, ("v", "w")),
        (path, ("w", "u")),
    ]
    assert list(tmp_path.iterdir()) == [path]
    book = python_calamine.CalamineWorkbook.from_path(str(path))
    assert book.sheet_names == ["v x w", "w x u", "Notes", "List of cells", "List of cells 2"]
    rows = book.get_sheet_by_name("v x w").to_python()
    assert [row[-1] for row in rows if row[0] in ("a", "b")] == [11.0, 29.0]
