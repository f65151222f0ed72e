"""Each format that is exported, opened by a program that is not ours: counts, zeros and hidden cells."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import sdmx
from pyaxis import pyaxis
from pyjstat import pyjstat

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

pytestmark = pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")

TABLE = Table.dense(
    Domain.of({"sex": ["f", "m"], "region": ["North", "South", "West"]}), np.array([[5, 0, 7], [11, 2, 40]])
)
HIDDEN = np.array([[True, False, False], [False, False, False]])
CELLS = {TABLE.domain.labels((n // 3, n % 3)): count for n, count in enumerate([5, 0, 7, 11, 2, 40])}

Cells = Mapping[tuple[str, str], int | None]


def told(rows: Iterable[tuple[object, object, object]]) -> Cells:
    """Cells by sex and region; ``None`` for what is no number."""
    found = {(str(sex), str(region)): pd.to_numeric(count, errors="coerce") for sex, region, count in rows}
    return {cell: None if pd.isna(count) else int(count) for cell, count in found.items()}


def of_frame(frame: pd.DataFrame, count: str = "count") -> Cells:
    return told(zip(frame["sex"], frame["region"], frame[count], strict=True))


def by_sdmx(path: Path) -> Cells:
    with path.open("rb") as file:
        series = sdmx.to_pandas(sdmx.read_sdmx(file).data[0])
    return of_frame(series.reset_index(name="count"))


def by_r(path: Path) -> Cells:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    reads = {".rds": "readRDS(file)", ".sav": "foreign::read.spss(file, to.data.frame = TRUE)"}[path.suffix]
    line = f'file <- "{path.name}"; write.csv({reads}, "r.csv", row.names = FALSE)'
    subprocess.run([program, "--vanilla", "-e", line], cwd=path.parent, check=True, capture_output=True)
    return of_frame(pd.read_csv(path.parent / "r.csv"))


def of_acro(path: Path) -> Cells:
    result = next(iter(json.loads(path.read_text())["results"].values()))
    frame = pd.read_csv(path.parent / result["files"][0]["name"], index_col=0)
    return told((sex, region, frame.loc[sex, region]) for sex in frame.index for region in frame.columns)


def of_tau(path: Path) -> Cells:
    rows = csv.reader(io.StringIO(path.read_text()), delimiter=";")
    return told(
        (sex, region, count) for sex, region, count, status in rows if re.fullmatch("[SUPME]", status)
    )


def by_sqlite(path: Path) -> Cells:
    with closing(sqlite3.connect(path)) as base, base:
        return of_frame(pd.read_sql("SELECT * FROM cells", base))


READERS: Mapping[str, Callable[[Path], Cells]] = {
    "acro": of_acro,
    "csv": lambda path: of_frame(pd.read_csv(path)),
    "geopackage": by_sqlite,
    "jsonstat": lambda path: of_frame(pyjstat.Dataset.read(path.read_text()).write("dataframe"), "value"),
    "ods": lambda path: of_frame(pd.read_excel(path, sheet_name="List of cells", engine="odf")),
    "parquet": lambda path: of_frame(pd.read_parquet(path)),
    "px": lambda path: of_frame(pyaxis.parse(str(path), encoding="utf-8")["DATA"], "DATA"),
    "r": by_r,
    "sas": lambda path: of_frame(pyreadstat.read_xport(path)[0]),
    "sdmx-csv": lambda path: of_frame(pd.read_csv(path), "OBS_VALUE"),
    "sdmx-json": by_sdmx,
    "sdmx-ml": by_sdmx,
    "spss": by_r,
    "stata": lambda path: of_frame(pd.read_stata(path)),
    "tau-argus": of_tau,
    "xlsx": lambda path: of_frame(pd.read_excel(path, sheet_name="List of cells", engine="openpyxl")),
}
"""A reader of others for each format that is exported."""

EXPORTED = [kind for kind in formats().values() if kind.publishes]


def test_every_export_has_a_reader_of_others() -> None:
    assert {kind.name for kind in EXPORTED} == set(READERS)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("kind", EXPORTED, ids=lambda kind: kind.name)
def test_others_read_what_is_exported(kind: Format, hidden: bool, tmp_path: Path) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    counts = np.where(HIDDEN & hidden, 0, TABLE.counts)
    cube = Cube(Table.dense(TABLE.domain, counts), hidden=HIDDEN if hidden else None)
    path.write_bytes(kind.publish(cube))
    for name, data in kind.beside(cube, path, published=True).items():
        (tmp_path / name).write_bytes(data)
    wanted = {**CELLS, ("f", "North"): None} if hidden else CELLS
    assert READERS[kind.name](path) == wanted


@pytest.mark.parametrize("suffix", [one for kind in formats().values() for one in kind.only_read])
def test_what_is_only_read_is_not_written(suffix: str) -> None:
    for name in (None, "csv"):
        with pytest.raises(InputError, match="are read, not written"):
            format_to_write(Path(f"t{suffix}"), name)


@pytest.mark.parametrize("name", ["t.pdf", "t.feather", "t.html", "t.png", "t.mat"])
def test_what_is_no_table_is_not_written_as_text(name: str) -> None:
    with pytest.raises(InputError, match="is not written"):
        format_to_write(Path(name))
