"""Parquet by pandas and Polars, files of SPSS, Stata and SAS by pyreadstat, of R by rdata, outputs of ACRO."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import rdata
from stated import Said, opened, states

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.magnitudes.tables.tabulating import MeasuredColumns, tabulate_magnitudes
from tabprotect.engine.microdata.tabulate import tabulate

FRAME = pd.DataFrame({"sex": ["m", "m", "f", "f"], "region": ["North", "South"] * 2, "count": [5, 6, 7, 8]})
CELLS = {("m", "North"): 5, ("m", "South"): 6, ("f", "North"): 7, ("f", "South"): 8}
CODED = pd.DataFrame({"sex": [2.0, 2, 1, 1], "region": [1.0, 2, 1, 2], "count": [5.0, 6, 7, 8]})
LABELS = {"sex": {2: "m", 1: "f", 3: "other"}, "region": {1: "North", 2: "South"}}
TURNED = {("f", "North"): 7, ("f", "South"): 8, ("m", "North"): 5, ("m", "South"): 6}
HIDDEN = FRAME.assign(count=[5.0, 6, 7, np.nan], CONF_STATUS=["F", "F", "F", "C"])
TOTALS = pd.concat([FRAME, pd.DataFrame({"sex": "Total", "region": ["North", "South"], "count": [12, 14]})])
BLANK = FRAME.assign(sex=["m", None, "f", None])
LEVELS = FRAME.assign(region=pd.Categorical(FRAME["region"], categories=["South", "North", "West"]))
BY_LEVELS = {("m", "South"): 6, ("m", "North"): 5, ("f", "South"): 8, ("f", "North"): 7}
DATES = FRAME.assign(region=[date(2024, 1, 1), date(2024, 2, 1)] * 2)
BY_DATE = {
    (sex, f"2024-0{m}-01"): CELLS[sex, place] for sex in "mf" for m, place in ((1, "North"), (2, "South"))
}

Writing = Callable[[pd.DataFrame, Path], object]


def in_file(folder: Path, name: str, frame: pd.DataFrame, write: Writing) -> Path:
    path = folder / name
    write(frame.reset_index(drop=True), path)
    return path


def parquet(folder: Path, frame: pd.DataFrame) -> Path:
    return in_file(folder, "t.parquet", frame, lambda f, p: f.to_parquet(p))


def sav(folder: Path, frame: pd.DataFrame, **said: object) -> Path:
    return in_file(folder, "t.sav", frame, lambda f, p: pyreadstat.write_sav(f, p, **said))


def dta(folder: Path, frame: pd.DataFrame, **said: object) -> Path:
    return in_file(folder, "t.dta", frame, lambda f, p: pyreadstat.write_dta(f, p, **said))


def xpt(folder: Path, frame: pd.DataFrame, **said: object) -> Path:
    return in_file(folder, "t.xpt", frame, lambda f, p: pyreadstat.write_xport(f, p, **said))


def rds(folder: Path, frame: pd.DataFrame) -> Path:
    # The library does not know the texts of pandas 3.
    plain = frame.astype({name: object for name in frame if frame[name].dtype == "str"})
    return in_file(folder, "t.rds", plain, lambda f, p: rdata.write_rds(p, f))


for _form, _written in {"parquet": parquet, "spss": sav, "stata": dta, "sas": xpt, "r": rds}.items():
    states(_form, "a column named `count`")(lambda folder, w=_written: opened(w(folder, FRAME), CELLS))
    states(_form, "a row `Total`")(lambda folder, w=_written: opened(w(folder, TOTALS)))
    states(_form, "no count, and `C` in `CONF_STATUS`")(lambda folder, w=_written: opened(w(folder, HIDDEN)))
    states(_form, "missing labels below one")(lambda folder, w=_written: opened(w(folder, BLANK), CELLS))


def tabulated(path: Path, by: list[str], wanted: list[tuple[str, ...]]) -> Said:
    found = tabulate(path, by).domain
    assert [v.categories for v in found.variables] == wanted
    return Said("")


states("parquet", "levels of a categorical column")(lambda folder: opened(parquet(folder, LEVELS), BY_LEVELS))
states("parquet", "levels of a categorical column, in records")(
    lambda folder: tabulated(
        parquet(folder, LEVELS.drop(columns="count")), ["region"], [("South", "North", "West")]
    )
)
states("parquet", "counts with decimals, `5.0`")(
    lambda folder: opened(parquet(folder, FRAME.assign(count=[5.0, 6, 7, 8])), CELLS)
)
states("parquet", "columns of dates")(lambda folder: opened(parquet(folder, DATES), BY_DATE))


@states("parquet", "an `Enum` of Polars, in records")
def enum(folder: Path) -> Said:
    kind = pl.Enum(["low", "middle", "high"])
    pl.DataFrame({"level": pl.Series(["middle", "low"], dtype=kind)}).write_parquet(folder / "t.parquet")
    return tabulated(folder / "t.parquet", ["level"], [("low", "middle", "high")])


@states("parquet", "pandas' metadata without the schema of Arrow, in records")
def without_a_schema(folder: Path) -> Said:
    levels = pd.Categorical(["middle", "low"], categories=["low", "middle", "high"])
    found = pa.Table.from_pandas(pd.DataFrame({"level": levels}))
    with pq.ParquetWriter(folder / "t.parquet", found.schema, store_schema=False) as writer:
        writer.write_table(found)
        writer.add_key_value_metadata({"pandas": found.schema.metadata[b"pandas"].decode()})
    assert not isinstance(pq.read_schema(folder / "t.parquet").field("level").type, pa.DictionaryType)
    return tabulated(folder / "t.parquet", ["level"], [("low", "middle", "high")])


for _form, _coded in {"spss": sav, "stata": dta}.items():
    states(_form, "labels of values")(
        lambda folder, w=_coded: opened(
            w(folder, CODED, variable_value_labels={"sex": {1: "f", 2: "m"}, "region": LABELS["region"]}),
            TURNED,
        )
    )
    states(_form, "a label without a row")(
        lambda folder, w=_coded: opened(
            w(
                folder,
                CODED,
                variable_value_labels={"sex": {1: "f", 2: "m", 3: "other"}, "region": LABELS["region"]},
            ),
            TURNED,
        )
    )
    states(_form, "labels of values, in records")(
        lambda folder, w=_coded: tabulated(
            w(
                folder,
                CODED.drop(columns="count"),
                variable_value_labels={"sex": {1: "f", 2: "m", 3: "other"}},
            ),
            ["sex"],
            [("f", "m", "other")],
        )
    )


def about(path: Path, title: str, notes: tuple[str, ...]) -> Said:
    said = format_of(path).about(path, Reading())
    assert said.title == title and said.notes == notes
    return Said("")


states("spss", "the file's label and its documents")(
    lambda folder: about(
        sav(folder, FRAME, file_label="Persons", note="provisional"), "Persons", ("provisional",)
    )
)
states("stata", "the file's label")(
    lambda folder: about(dta(folder, FRAME, file_label="Persons"), "Persons", ())
)
states("sas", "the file's label")(
    lambda folder: about(xpt(folder, FRAME, file_label="Persons"), "Persons", ())
)


@states("spss", "values declared missing, in records")
def missing(folder: Path) -> Said:
    path = sav(
        folder, pd.DataFrame({"sex": [1.0, 2, 9]}), variable_value_labels={"sex": {1: "f", 2: "m", 9: "refused"}},
        missing_ranges={"sex": [9]},
    )  # fmt: skip
    return tabulated(path, ["sex"], [("f", "m", "refused")])


def weighted(path: Path, number: int) -> Path:
    """The file with the number of its weight where SPSS has it: pyreadstat writes none."""
    data = bytearray(path.read_bytes())
    data[76:80] = number.to_bytes(4, "little")
    path.write_bytes(data)
    return path


@states("spss", "`WEIGHT BY count`")
def weighted_by_the_count(folder: Path) -> Said:
    frame = pd.DataFrame({"sex": ["m", "f"], "count": [5.0, 6.0]})
    return opened(weighted(sav(folder, frame), 2), {("m",): 5, ("f",): 6})


@states("spss", "`WEIGHT BY w`, in records")
def weighted_records(folder: Path) -> Said:
    # Its first variable takes three places, and its name is longer than the eight letters that it is listed by.
    frame = pd.DataFrame({"sex": ["m" * 20, "f", "f"], "weights_of_cases": [2.0, 3.0, 4.0]})
    path = weighted(sav(folder, frame.rename(columns={"weights_of_cases": "w"})), 4)
    for weight, wanted in {"none": [2, 1], "w": [7, 2]}.items():
        assert tabulate(path, ["sex"], weight=weight).counts.tolist() == wanted
    sums = weighted(
        sav(folder, frame.assign(income=[10.0, 20, 30]).rename(columns={"weights_of_cases": "w"})), 4
    )
    with pytest.raises(InputError, match="weighted by 'w'"):
        tabulate_magnitudes(sums, ["sex"], MeasuredColumns(measure="income"))
    once = tabulate_magnitudes(sums, ["sex"], MeasuredColumns(measure="income", weight="none"))
    many = tabulate_magnitudes(sums, ["sex"], MeasuredColumns(measure="income", weight="w"))
    assert sorted(once.rows.own.tolist()) == [10, 20, 30] and sorted(many.rows.weighted.tolist()) == [
        20,
        60,
        120,
    ]
    other = weighted(sav(folder, frame), 4)
    with pytest.raises(InputError, match="weighted by 'weights_of_cases'"):
        tabulate(other, ["sex"])
    path = weighted(sav(folder, frame.rename(columns={"weights_of_cases": "w"})), 4)
    try:
        tabulate(path, ["sex"])
    except InputError as error:
        return Said(f"{error.message} | {error.hint}", refused=True)
    return Said("")


states("r", "levels of a factor")(
    lambda folder: opened(
        rds(folder, LEVELS.assign(region=LEVELS["region"].cat.set_categories(["South", "North"]))), BY_LEVELS
    )
)
states("r", "a level without a row")(lambda folder: opened(rds(folder, LEVELS), BY_LEVELS))
states("r", "levels of a factor, in records")(
    lambda folder: tabulated(
        rds(folder, LEVELS.drop(columns="count")), ["region"], [("South", "North", "West")]
    )
)

COUNTS = "sex,North,South\nm,5,6\nf,7,8\n"


def acro(
    folder: Path, *outputs: tuple[str, str], cells: object = (), comments: object = (), outcomes: bool = True
) -> Path:
    found = {}
    for number, (command, text) in enumerate(outputs):
        (folder / f"output_{number}_0.csv").write_text(text)
        head, *rows = (line.split(",") for line in text.splitlines())
        found[f"output_{number}"] = {
            "uid": f"output_{number}", "status": "review", "type": "table", "properties": {"method": "crosstab"},
            "files": [{"name": f"output_{number}_0.csv", "sdc": {"summary": {}, "cells": {"MinimumThresholdCheck": cells}}}],
            "outcome": {name: {row[0]: "ok" for row in rows} for name in head[1:] if outcomes},
            "command": command, "comments": comments,
        }  # fmt: skip
    path = folder / "results.json"
    path.write_text(json.dumps({"version": "1.0.2", "results": found}))
    return path


COUNT, MEAN = (
    "acro.crosstab(df.sex, df.region)",
    'acro.crosstab(df.sex, df.region, values=df.age, aggfunc="mean")',
)
states("acro", "a crosstab")(lambda folder: opened(acro(folder, (COUNT, COUNTS)), CELLS))
states("acro", '`aggfunc="mean"` beside a crosstab')(
    lambda folder: opened(acro(folder, (MEAN, "sex,North,South\nm,2,3\nf,3,4\n"), (COUNT, COUNTS)), CELLS)
)
states("acro", '`aggfunc="mean"` alone')(
    lambda folder: opened(acro(folder, (MEAN, "sex,North,South\nm,2,3\nf,3,4\n")))
)
states("acro", "several crosstabs")(
    lambda folder: opened(acro(folder, (COUNT, COUNTS), (COUNT, COUNTS)), CELLS)
)
states("acro", "an empty cell that a check lists")(
    lambda folder: opened(acro(folder, (COUNT, COUNTS.replace("8", "")), cells=[[1, 1]]))
)
states("acro", "the same without outcomes")(
    lambda folder: opened(acro(folder, (COUNT, COUNTS.replace("8", "")), cells=[[1, 1]], outcomes=False))
)
states("acro", "a cell with a count that a check lists")(
    lambda folder: opened(acro(folder, (COUNT, COUNTS), cells=[[1, 1]]), CELLS)
)
states("acro", "`margins=True`")(
    lambda folder: opened(acro(folder, (COUNT, "sex,North,South,All\nm,5,6,11\nf,7,8,15\nAll,12,14,26\n")))
)
states("acro", "the order of rows and columns")(lambda folder: opened(acro(folder, (COUNT, COUNTS)), CELLS))
states("acro", "comments on an output")(
    lambda folder: about(acro(folder, (COUNT, COUNTS), comments=["known"]), "", ("known",))
)
