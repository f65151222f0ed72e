"""SPSS, Stata, SAS and R files as their own programs write them."""

from __future__ import annotations

import base64
import bz2
import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata

from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.foreign.r_objects import data_frame
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

FRAME = pd.DataFrame({"region": [1.0, 2.0, 1.0, 99.0, None], "age": [20.0, 21.0, 20.0, 21.5, 20.0]})
TABLE_OF_R = (
    "H4sIAAAAAAAAA4vgYmBgYGZgYWJiYGYFMhlYQ0PcdC2AYnxADodDAwMYOBRPgNBhDhDaGCpeJgChMx9AaEOouAIDFLAwAQlG"
    "BhYGTpBFKZm5QIoXbCcDAxMCoyjjACrLS8xNLQZKCUPVCoDVQeUdU3IzS0pSU2D8oNSs1GQQH1Udi29iTiqUzeaWmgvioapg"
    "dIQxnNDcwAp1AFg5M0wQbDHMRPfUvJTUIphdLqkFJUD6H7o5yTmJxTBz4IIliUlgt/wDAFN6Md6AAQAA"
)
LABELS = {"region": {1: "North", 2: "South", 99: "Refused"}}


def test_labels_are_categories_and_user_missing_stays(tmp_path: Path) -> None:
    path = tmp_path / "r.sav"
    pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS, missing_ranges={"region": [99]})
    with pytest.raises(RecordsError):
        read_table(path)
    found = tabulate(path, ["region", "age"])
    assert found.domain["region"].categories == ("North", "South", "Refused", "(missing)")
    assert found.domain["age"].categories == ("20", "21", "21.5")
    assert found.counts.sum(axis=1).tolist() == [2, 1, 1, 1]


def test_stata_and_sas_records(tmp_path: Path) -> None:
    pyreadstat.write_dta(FRAME, str(tmp_path / "r.dta"), variable_value_labels=LABELS)
    found = tabulate(tmp_path / "r.dta", ["region"])
    assert found.counts.tolist() == [2, 1, 1, 1]
    pyreadstat.write_xport(FRAME, str(tmp_path / "r.xpt"))
    found = tabulate(tmp_path / "r.xpt", ["region"])
    assert found.domain["region"].categories == ("1", "2", "99", "(missing)")


def test_two_values_with_one_label_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "r.dta"
    labels = {"region": {1: "Other", 2: "Other", 99: "Refused"}}
    pyreadstat.write_dta(FRAME, str(path), variable_value_labels=labels)
    categories = tabulate(path, ["region"]).domain["region"].categories
    assert categories[:2] == ("Other (1)", "Other (2)")


@pytest.mark.parametrize("packed", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_r_records_with_factors(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    frame = pd.DataFrame({"sex": pd.Categorical(["m", "f", None], categories=["m", "f", "x"])})
    rdata.write_rda(tmp_path / "r.rdata", {"people": frame}, compression=None)
    data = (tmp_path / "r.rdata").read_bytes()
    # R itself writes a missing factor as its smallest integer; the library that writes here, 0.
    codes = [struct.pack(">3i", 1, 2, code) for code in (0, -(2**31))]
    assert data.count(codes[0]) == 1
    (tmp_path / "r.rdata").write_bytes(packed(data.replace(*codes)))
    found = tabulate(tmp_path / "r.rdata", ["sex"])
    assert found.domain["sex"].categories == ("m", "f", "x", "(missing)")


def test_r_without_a_data_frame(tmp_path: Path) -> None:
    rdata.write_rds(tmp_path / "r.rds", [1.0, 2.0])
    with pytest.raises(InputError, match="no data frame"):
        tabulate(tmp_path / "r.rds", ["sex"])


@pytest.mark.parametrize("name", ["spss", "stata", "sas", "r"])
def test_suppressed_counts_have_their_mark(tmp_path: Path, name: str) -> None:
    kind = formats()[name]
    table = Table.dense(Domain.of({"v": ["a", "b", "c"]}), [1, 0, 3])
    path = tmp_path / f"t{kind.suffixes[0]}"
    path.write_bytes(kind.publish(Cube(table, np.array([True, False, False]))))
    columns = kind.columns(path)  # type: ignore[attr-defined]
    assert list(columns["CONF_STATUS"].values) == ["C", "F", "F"]
    assert list(columns["count"].values) == [None, "0", "3"]
    with pytest.raises(InputError, match="line 1"):
        read_table(path)


@pytest.mark.parametrize("name", ["spss", "stata", "sas", "r"])
def test_any_name_and_any_label(tmp_path: Path, name: str) -> None:
    kind = formats()[name]
    names = ("région", "age group", "1st", "Geschlecht (m, w)", "Größe", "年", "x" * 70)
    domain = Domain.of({n: ["à, b", "Ärzte: 1; 2"] for n in names})
    table = Table.dense(domain, np.arange(domain.size).reshape(domain.shape))
    path = tmp_path / f"t{kind.suffixes[0]}"
    path.write_bytes(kind.write(table))
    assert read_table(path).table == table
    if name != "r":
        said = pyreadstat.read_sav(path)[1] if name == "spss" else None
        assert said is None or said.column_names[:3] == ["region", "age_group", "v_1st"]
        with pytest.raises(InputError, match="no place for a variable"):
            kind.write(Table.dense(Domain.of({"é": ["a"], "e": ["b"]}), [[1]]))


def test_labels_of_variables_are_no_names(tmp_path: Path) -> None:
    pyreadstat.write_sav(FRAME, str(tmp_path / "r.sav"), column_labels={"age": "Age of the person"})
    assert tabulate(tmp_path / "r.sav", ["age"]).domain.names == ("age",)


def test_dates_beyond_the_calendar_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "dates.sav"
    frame = pd.DataFrame({"at": [1e15, 5.0], "n": [1.0, 2.0]})
    pyreadstat.write_sav(frame, path, variable_format={"at": "DATETIME20"})
    found = read_table(path, Reading(count="n", variable=("at",))).table
    assert found.domain["at"].categories == ("1000000000000000", "5")


def test_a_table_of_r_is_read_by_the_names_of_its_dimensions() -> None:
    """`UCBAdmissions[1:2, , 1:2]` as R 4 saves it."""
    columns = data_frame(gzip.decompress(base64.b64decode(TABLE_OF_R)))
    assert columns is not None
    assert [(one.name, one.levels) for one in columns] == [
        ("Admit", ["Admitted", "Rejected"]),
        ("Gender", ["Male", "Female"]),
        ("Dept", ["A", "B"]),
        ("count", []),
    ]
    rows = [*zip(*(one.values for one in columns), strict=True)]
    assert rows[:3] == [
        ("Admitted", "Male", "A", 512), ("Rejected", "Male", "A", 313), ("Admitted", "Female", "A", 89)
    ]  # fmt: skip
    assert rows[-1] == ("Rejected", "Female", "B", 8)
