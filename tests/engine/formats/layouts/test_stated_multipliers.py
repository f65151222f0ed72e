"""Multipliers that files state: applied, by row where they differ, or asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import sdmx
from sdmx.model import v21

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.stated_multipliers import multiplier_in, power_of
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

ROWS = [("M", "LU", "5"), ("F", "LU", "6"), ("M", "BE", "8"), ("F", "BE", "2")]


def csv_of(folder: Path, mults: list[str], unit: str = "PS") -> Path:
    path = folder / "t.sdmx.csv"
    lines = ["DATAFLOW,SEX,GEO,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,UNIT_MULT"]
    lines += [
        f"X:Y(1.0),{sex},{geo},2024,{value},{unit},{mult}"
        for (sex, geo, value), mult in zip(ROWS, mults, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path, **reading: object) -> TableFile:
    return read_table(path, Reading.of(reading))


def test_thousands_become_persons(tmp_path: Path) -> None:
    found = read(csv_of(tmp_path, ["3"] * 4))
    assert sorted(found.table.counts.reshape(-1).tolist()) == [2000, 5000, 6000, 8000]
    assert "the file's counts are multiplied by 1,000, as it says" in found.notes
    # What a person says goes before it.
    assert read(csv_of(tmp_path, ["3"] * 4), scale=1).table.total == 21


def test_mixed_multipliers_are_taken_by_row(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ["3", "0", "3", "0"])
    table = read(path).table
    assert list(table.domain.categories.values())[:2] == [("M", "F"), ("LU", "BE")]
    assert table.counts.reshape(-1).tolist() == [5000, 8000, 6, 2]
    path.write_text(path.read_text().replace(",6,PS", ",6.5,PS"))
    with pytest.raises(InputError, match="no whole number") as caught:
        read(path)
    assert caught.value.line == 3 and "--scale" in caught.value.hint
    with pytest.raises(InputError, match="'x' is no power of ten"):
        read(csv_of(tmp_path, ["x"] * 4))


def test_a_unit_in_words_is_asked_about(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ["0"] * 4, unit="THS_PER")
    path.write_text("\n".join(line.rpartition(",")[0] for line in path.read_text().splitlines()))
    with pytest.raises(InputError, match="the unit of the figures is 'THS_PER'") as caught:
        read(path)
    assert "--scale 1000" in caught.value.hint
    assert read(path, scale=1000).table.total == 21_000


def test_several_units_are_refused(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ["0"] * 4)
    path.write_text(path.read_text().replace("2024,6,PS", "2024,6,PC"))
    with pytest.raises(InputError, match="several units: 'PS', 'PC'"):
        read(path)


@pytest.mark.parametrize("level", ["observation", "series", "set"])
def test_messages_by_another_writer(level: str, tmp_path: Path) -> None:
    """SDMX-ML as sdmx1 writes it, the multiplier at each level at which a message may state it."""
    dsd = v21.DataStructureDefinition(id="D")
    for name in ("SEX", "GEO"):
        dsd.dimensions.getdefault(id=name)
    dsd.measures.getdefault(id="OBS_VALUE")
    of = v21.AttributeValue(value="3", value_for=dsd.attributes.getdefault(id="UNIT_MULT"))
    data = v21.GenericDataSet(structured_by=dsd)
    for sex, geo, value in ROWS:
        key = dsd.make_key(v21.Key, {"SEX": sex, "GEO": geo})
        one = v21.Observation(dimension=key, value=value, value_for=dsd.measures[0])
        if level == "observation":
            one.attached_attribute["UNIT_MULT"] = of
        data.obs.append(one)
    if level == "set":
        data.attrib["UNIT_MULT"] = of
    message = sdmx.message.DataMessage(dataflow=v21.DataflowDefinition(id="F", structure=dsd), data=[data])
    message.observation_dimension = v21.AllDimensions
    text = sdmx.to_xml(message)
    if level != "observation" and b"UNIT_MULT" not in text:
        pytest.skip("the writer leaves out attributes of this level")
    (tmp_path / "t.xml").write_bytes(text)
    assert read(tmp_path / "t.xml").table.total == 21_000


@pytest.mark.parametrize("level", ["observation", "series", "dataSet"])
def test_json_messages(level: str, tmp_path: Path) -> None:
    codes = [{"id": "M"}, {"id": "F"}]
    attribute = {"id": "UNIT_MULT", "name": "Multiplier", "values": [{"id": "3", "name": "Thousands"}]}
    attributes: dict[str, list[object]] = {"dataSet": [], "series": [], "observation": []}
    attributes[level] = [attribute]
    series = {
        "observations": {
            "0": [5, 0] if level == "observation" else [5],
            "1": [6, 0] if level == "observation" else [6],
        }
    }
    data: dict[str, object] = {"series": {"0": series | ({"attributes": [0]} if level == "series" else {})}}
    message = {
        "header": {"id": "x", "prepared": "2024-01-01"},
        "structure": {
            "dimensions": {
                "dataSet": [], "series": [{"id": "SEX", "values": codes[:1], "keyPosition": 0}],
                "observation": [{"id": "TIME_PERIOD", "values": [{"id": "2023"}, {"id": "2024"}], "keyPosition": 1}],
            },
            "attributes": attributes,
        },
        "dataSets": [data | ({"attributes": [0]} if level == "dataSet" else {})],
    }  # fmt: skip
    (tmp_path / "t.sdmx.json").write_text(json.dumps(message))
    assert read(tmp_path / "t.sdmx.json").table.total == 11_000


def test_units_of_measures_in_jsonstat(tmp_path: Path) -> None:
    def put(units: object) -> Path:
        dataset = {
            "version": "2.0", "class": "dataset", "id": ["sex", "what"], "size": [2, 2],
            "role": {"metric": ["what"]}, "value": [5, 50, 6, 60],
            "dimension": {
                "sex": {"category": {"index": ["M", "F"]}},
                "what": {"category": {"index": ["persons", "homes"], "unit": units}},
            },
        }  # fmt: skip
        (tmp_path / "t.json").write_text(json.dumps(dataset))
        return tmp_path / "t.json"

    path = put({"persons": {"base": "person", "multiplier": 3}, "homes": {"base": "home", "multiplier": 0}})
    assert read(path, count="persons").table.total == 11_000
    assert read(path, count="homes").table.total == 110
    assert read(path, count="persons", scale=100).table.total == 1100
    path = put({"persons": {"label": "Miles de personas"}, "homes": {"label": "homes"}})
    assert read(path, count="homes").table.total == 110
    with pytest.raises(InputError, match="Miles de personas"):
        read(path, count="persons")


PX = 'AXIS-VERSION="2013";\nUNITS="{unit}";\nSTUB="sex";\nVALUES("sex")="men","women";\nDATA=\n5 6;\n'


def test_units_of_px(tmp_path: Path) -> None:
    path = tmp_path / "t.px"
    path.write_text(PX.format(unit="thousand persons"))
    with pytest.raises(InputError, match="'thousand persons'"):
        read(path)
    assert read(path, scale=1000).table.total == 11_000 and read(path, scale=1).table.total == 11
    path.write_text(PX.format(unit="persons"))
    assert read(path).table.total == 11


def test_a_unit_that_is_a_variable_of_one_category(tmp_path: Path) -> None:
    frame = pd.DataFrame({"unit": "THS", "sex": ["M", "F"], "n": [5, 6]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="'THS'"):
        read(tmp_path / "t.csv")
    assert read(tmp_path / "t.csv", scale=1000).table.total == 11_000


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("thousand persons", 1000), ("1 000 personer", 1000), ("Tausend", 1000), ("tusental", 1000),
        ("millions of euro", 10**6), ("THS_PER", 1000), ("Miles de personas", 1000), ("1,000 persons", 1000),
        ("RPKs (mils)", 10**6), ("persons, 000s", 1000), ("persons", 1), ("", 1), ("per 1 000 inhabitants", 1), ("number", 1), ("1 000 000 kr", 10**6), ("smiles", 1),
    ],
)  # fmt: skip
def test_multipliers_in_words(unit: str, factor: int) -> None:
    assert multiplier_in(unit) == factor


def test_powers() -> None:
    assert [power_of(text) for text in ("", "0", 3, " 6 ", "Units", "Thousands")] == [0, 0, 3, 6, 0, 3]
