"""SDMX-CSV: both versions, with codes, names or both; reserved columns and attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

ONE = """DATAFLOW,LAST UPDATE,freq,geo,OBS_VALUE,OBS_FLAG,CONF_STATUS
ESTAT:T(1.0),2024-01-01,A,DE,7,,F
ESTAT:T(1.0),2024-01-01,A,FR,5,e,F
"""
# The layouts of the specification: codes, both in one column, names beside the codes.
TWO = """STRUCTURE[;],STRUCTURE_ID,ACTION,GEO: Country,SEX: Sex,OBS_VALUE: Value,ATTR_1[]: Notes
dataflow,ESTAT:T(1.0): Title,I,DE: Germany,F: Female,7,X;Y
dataflow,ESTAT:T(1.0): Title,I,FR: France,F: Female,5,
"""
NAMED = """STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,GEO,Country,SEX,Sex,OBS_VALUE,Value
dataflow,ESTAT:T(1.0),Title,I,DE,Germany,F,Female,7,
dataflow,ESTAT:T(1.0),Title,I,FR,France,F,Female,5,
"""


def read(tmp_path: Path, text: str, **options: object) -> TableFile:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path, Reading.of(options))


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        (ONE, ("freq", "geo"), ("A", "DE")),
        (TWO, ("GEO", "SEX"), ("DE", "F")),
        (NAMED, ("GEO", "SEX"), ("DE", "F")),
        (ONE.replace(",", ";"), ("freq", "geo"), ("A", "DE")),
        ("\ufeff" + ONE, ("freq", "geo"), ("A", "DE")),
    ],
)
def test_layouts(tmp_path: Path, text: str, names: tuple[str, ...], first: tuple[str, ...]) -> None:
    found = read(tmp_path, text)
    assert found.table.domain.names == names
    assert found.table.domain.labels((0, 0)) == first
    assert found.table.counts.reshape(-1).tolist() == [7, 5]
    assert "attributes were left out" in found.notes[0]


@pytest.mark.parametrize("text", [TWO, NAMED])
def test_labels_beside_codes(tmp_path: Path, text: str) -> None:
    geo = read(tmp_path, text).table.domain["GEO"]
    assert geo.categories == ("DE", "FR") and geo.labels == ("Germany", "France")
    asked = read(tmp_path, text, labels=True)
    assert asked.table.domain["GEO"].categories == ("Germany", "France")
    total = text.splitlines()[1].replace("DE", "_T").replace("Germany", "All").replace("7", "12")
    with pytest.raises(InputError, match="totals are mixed"):
        read(tmp_path, text + total + "\n")


def test_a_message_that_deletes(tmp_path: Path) -> None:
    for value in ("-", "7"):
        with pytest.raises(InputError, match="line 2: the message deletes"):
            read(tmp_path, TWO.replace(",I,", ",D,", 1).replace("7", value))


def test_totals_are_told_by_their_code(tmp_path: Path) -> None:
    text = ONE + "ESTAT:T(1.0),2024-01-01,A,_T,12,,F\n"
    with pytest.raises(InputError, match="totals are mixed"):
        read(tmp_path, text)
    assert read(tmp_path, text, strip_totals=True).table.total == 12


def test_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty") as caught:
        read(tmp_path, ONE.replace(",7,", ",,"))
    assert (caught.value.line, caught.value.cell) == (2, "(A, DE)")
    with pytest.raises(InputError, match="no column OBS_VALUE") as caught:
        read(tmp_path, ONE.replace("OBS_VALUE", "VALUE"))
    assert "freq, geo" in caught.value.hint
    assert read(tmp_path, ONE.replace("OBS_VALUE", "VALUE"), count="VALUE").table.total == 12


ECB = """KEY,FREQ,REF_AREA,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS,TITLE
X.A.DE,A,DE,2024,7,A,F,"Persons, Germany"
X.A.FR,A,FR,2024,5,P,F,"Persons, France"
"""


def test_keys_of_the_central_bank_and_statuses_are_told(tmp_path: Path) -> None:
    found = read(tmp_path, ECB)
    assert found.table.domain.names == ("FREQ", "REF_AREA", "TIME_PERIOD")
    assert found.table.counts.reshape(-1).tolist() == [7, 5]
    assert "OBS_STATUS: 1 A (normal), 1 P (provisional)" in found.notes


def test_the_time_is_a_variable_wherever_it_stands(tmp_path: Path) -> None:
    found = read(tmp_path, "DATAFLOW,geo,OBS_VALUE,TIME_PERIOD,OBS_STATUS\nT,DE,7,2024,A\n")
    assert found.table.domain.names == ("geo", "TIME_PERIOD")
    with pytest.raises(InputError, match="no variable stands before"):
        read(tmp_path, "DATAFLOW,OBS_VALUE,geo\nT,7,DE\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (",Q,F", "suppressed .OBS_STATUS Q: suppressed"),
        (",A,C", "suppressed .CONF_STATUS C: confidential"),
        (",,D", "suppressed .CONF_STATUS D: hidden to protect others"),
        (",M,F", "the count is empty"),
        ("NaN,A,F", "'NaN' is not a number"),
    ],
)
def test_observations_without_a_value(tmp_path: Path, line: str, words: str) -> None:
    text = ECB.replace("5,P,F", line)
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, text)
    assert (caught.value.line, caught.value.cell) == (3, "(A, FR, 2024)")
    if "suppressed" not in words:
        mark = "NaN" if "NaN" in line else "blank"
        assert read(tmp_path, text, marks=f"{mark}=zero").table.total == 7
        with pytest.raises(InputError, match="1 of 2 cells is missing"):
            read(tmp_path, text, marks=f"{mark}=missing")
        assert read(tmp_path, text, fill_missing=True).table.counts.reshape(-1).tolist() == [7, 0]


def test_statuses_in_small_letters_hide_as_well(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"suppressed .OBS_STATUS Q: suppressed"):
        read(tmp_path, "DATAFLOW,geo,OBS_VALUE,obs_status\nT,DE,7,a\nT,FR,,q\n")
