"""Published sums in every format: read back, they are the sums, and hidden ones are marked."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
import python_calamine
import sdmx
from magnitude_cases import hidden_square
from pyaxis import pyaxis
from pyjstat import pyjstat

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.tables.export import export_cube
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.observations import number_shown
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release

HIDDEN = {("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")}


def bundle(folder: Path, table: PublishedMagnitudes) -> Path:
    path = folder / "sums.zip"
    path.write_bytes(public.to_bytes(Release.of_magnitudes(table, "suppression"), page=False))
    return path


@pytest.mark.parametrize(
    "name", ["s.px", "s.json", "s.sdmx.csv", "s.xml", "s.xlsx", "s.ods", "s.parquet", "s.tab"]
)
def test_sums_are_read_back_but_for_the_hidden_ones(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = hidden_square()
    out = tmp_path / name
    code = "_T" if name.endswith((".tab", ".px")) else "T"
    words = ["export", str(bundle(tmp_path, release)), "--out", str(out), "--total-code", code]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["tables"][0]["suppressed"] == 4 and said["shape"] == [4, 4]
    with pytest.raises(InputError, match=r"confidential|suppressed|\.\.|\bx\b"):
        read_table(out)
    inner = np.array([[4, 3, 20], [2, 1, 15], [5, 25, 30]])
    whole = np.pad(inner, ((0, 1), (0, 1)))
    whole[3, :3], whole[:3, 3], whole[3, 3] = inner.sum(0), inner.sum(1), inner.sum()
    shown = replace(release, value=whole.reshape(-1), hidden=np.zeros(16, dtype=bool))
    words[1] = str(bundle(tmp_path, shown))
    assert main(words) == 0
    read = read_table(out, Reading(totals=code)).table
    places = [[v.categories.index(c) for c in ("1", "2", "3")] for v in read.domain.variables]
    assert read.counts[np.ix_(*places)].tolist() == inner.tolist()


def test_csv_has_values_and_both_statuses(tmp_path: Path) -> None:
    release = replace(hidden_square(), decimals=1)
    out = tmp_path / "s.csv"
    path = bundle(tmp_path, release)
    assert main(["export", str(path), "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {(r["a"], r["b"]) for r in rows if r["CONF_STATUS"] == "C"} == HIDDEN
    assert {r["value"] for r in rows if r["status"]} == {""}
    (total,) = (r for r in rows if r["a"] == r["b"] == "Total")
    assert total["value"] == "10.5" and total["CONF_STATUS"] == "F"
    assert main(["export", str(path), "--out", str(tmp_path / "s.parquet")]) == 0
    frame = pandas.read_parquet(tmp_path / "s.parquet")
    assert frame[(frame.a == "Total") & (frame.b == "Total")]["count"].tolist() == [10.5]
    assert frame["count"].isna().sum() == len(HIDDEN)


@pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")
def test_other_programs_read_the_decimals(tmp_path: Path) -> None:
    """Values in publication units as pyaxis, pyjstat and sdmx1 read them."""
    release = replace(hidden_square(), decimals=2)
    path, expected = bundle(tmp_path, release), release.value.reshape(4, 4) / 100
    files = {n: tmp_path / n for n in ("s.px", "s.json", "s.xml", "s.sdmx.json", "s.sdmx.csv")}
    for out in files.values():
        assert main(["export", str(path), "--out", str(out), "--total-code", "T"]) == 0
    with files["s.px"].open() as text:
        assert "DECIMALS=2;" in text.read()
    frames = [
        pyaxis.parse(uri=str(files["s.px"]), encoding="utf-8")["DATA"].set_axis(["a", "b", "v"], axis=1),
        pyjstat.Dataset.read(files["s.json"].read_text())
        .write("dataframe")
        .set_axis(["a", "b", "v"], axis=1),
        csv_frame(files["s.sdmx.csv"]),
        *(
            sdmx.to_pandas(sdmx.read_sdmx(io.BytesIO(files[n].read_bytes())))
            .reset_index()
            .set_axis(["a", "b", "v"], axis=1)
            for n in ("s.xml", "s.sdmx.json")
        ),
    ]
    codes = ["1", "2", "3", "T"]
    for frame in frames:
        read = {(str(a), str(b)): v for a, b, v in frame.itertuples(index=False)}
        for i, a in enumerate(codes):
            for j, b in enumerate(codes):
                if (a, b) not in HIDDEN:
                    assert float(read[a, b]) == expected[i, j]


def csv_frame(path: Path) -> pandas.DataFrame:
    return pandas.read_csv(path, dtype=str)[["a", "b", "OBS_VALUE"]]


def test_numbers_that_json_would_round_are_refused() -> None:
    assert number_shown(-(10**15) + 1, 3) == -999_999_999_999.999
    assert number_shown(10**17, 0) == 10**17
    with pytest.raises(InputError, match="15 digits"):
        number_shown(10**15, 3)


@pytest.mark.parametrize("name", ["s.px", "s.json", "s.sdmx.csv", "s.xml", "s.xlsx", "s.ods", "s.parquet"])
def test_numbers_and_means_stand_beside_the_sums(name: str, tmp_path: Path) -> None:
    units = np.arange(16) % 3 + 2
    table = replace(hidden_square(), units=units, means=np.arange(16))
    table = replace(table, value=units * 7, hidden=np.zeros(16, dtype=bool))
    out = tmp_path / name
    export_cube(Release.of_magnitudes(table, "suppression"), out, format_to_write(out, None))
    # Of a variable of contents, or of columns, one is read; elsewhere it is a variable like others.
    measures = name in ("s.px", "s.json", "s.parquet")
    columns = ("count", "mean") if name == "s.parquet" else ()
    reading = Reading(count="n" if measures else None, totals="none", drop=columns)
    read = read_table(out, reading).table
    found = read if measures else read.domain.variables[-1].categories
    assert measures or found == (table.measure, "n", "mean")
    counts = read.counts if measures else read.counts[:, :, 1]
    assert counts.reshape(-1).tolist() == units.tolist()
    assert measures or read.counts[:, :, 2].reshape(-1).tolist() == list(range(16))


def test_numbers_beside_the_sums_have_no_decimals(tmp_path: Path) -> None:
    table = replace(hidden_square(), units=np.full(16, 3), means=np.arange(16) * 10)
    path = bundle(tmp_path, replace(table, decimals=2))
    assert main(["export", str(path), "--out", str(tmp_path / "s.px")]) == 0
    text = (tmp_path / "s.px").read_text()
    assert "DECIMALS=2;\nSHOWDECIMALS=0;" in text and 'PRECISION("figure","mean")=2;' in text
    assert f'PRECISION("figure","{table.measure}")=2;' in text and '"figure","n")' not in text
    assert "\n0.20 3 0.20" in text
    assert main(["export", str(path), "--out", str(tmp_path / "s.json")]) == 0
    said = json.loads((tmp_path / "s.json").read_text())
    units = said["dimension"]["figure"]["category"]["unit"]
    assert units == {table.measure: {"decimals": 2}, "n": {"decimals": 0}, "mean": {"decimals": 2}}
    assert said["value"][6:9] == [0.2, 3, 0.2] and isinstance(said["value"][7], int)
    files = {name: tmp_path / f"s.sdmx.{name}" for name in ("csv", "json", "xml")}
    for out in files.values():
        assert main(["export", str(path), "--out", str(out)]) == 0
    assert [line.split(",")[-3] for line in files["csv"].read_text().splitlines()[7:10]] == [
        "0.20",
        "3",
        "0.20",
    ]
    observations = json.loads(files["json"].read_text())["dataSets"][0]["observations"]
    assert [str(observations[f"0:2:{n}"][0]) for n in range(3)] == ["0.2", "3", "0.2"]
    assert re.findall('ObsValue value="([^"]*)"', files["xml"].read_text())[:3] == ["0.20", "3", "0.20"]
    # A measure that is called as the numbers are has another name beside these.
    called = replace(table, measure="n", units=None, decimals=2)
    assert main(["export", str(bundle(tmp_path, called)), "--out", str(tmp_path / "m.px")]) == 0
    assert '"value","mean"' in (tmp_path / "m.px").read_text()


def test_numbers_of_a_sheet_have_no_decimals_and_a_file_without_room_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = replace(hidden_square(), units=np.full(16, 3), means=np.arange(16) * 10)
    path = bundle(tmp_path, replace(table, decimals=2))
    assert main(["export", str(path), "--out", str(tmp_path / "s.xlsx")]) == 0
    rows = python_calamine.load_workbook(str(tmp_path / "s.xlsx")).get_sheet_by_name("Table").to_python()
    head = next(n for n, row in enumerate(rows) if row[0] == "a")
    assert rows[head] == ["a", "b", table.measure, "n", "mean"]
    assert rows[head + 1] == ["1", "1", "..", "..", ".."] and rows[head + 3] == ["1", "3", 0.2, 3, 0.2]
    assert (
        main(["export", str(bundle(tmp_path, table)), "--out", str(tmp_path / "s.tab"), "--total-code", "T"])
        == 0
    )
    assert "numbers and means beside the sums are left out" in capsys.readouterr().err
