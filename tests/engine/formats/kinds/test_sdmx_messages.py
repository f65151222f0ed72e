"""SDMX-ML and SDMX-JSON: every layout by hand, and the SDMX library as an oracle both ways."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sdmx

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import TableFile, read_table
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

BOTH = pytest.mark.parametrize(
    "kind", [formats()["sdmx_ml"], formats()["sdmx_json"]], ids=lambda kind: kind.name
)
TABLE = Table.dense(
    Domain.of({"GEO": ["DE", "FR"], "SEX": ["F", "M"], "TIME_PERIOD": ["2021", "2022"]}),
    np.arange(8).reshape(2, 2, 2) + 3,
)
TOLD = About("A title", "Changed by 3.", ("A note.",), unit="persons", source="The office", date="2026-11-28")
HIDDEN = np.arange(8).reshape(2, 2, 2) == 5

MESSAGE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
GENERIC = f"""<?xml version="1.0"?>
<m:GenericData xmlns:m="{MESSAGE}" xmlns:g="{MESSAGE}/data/generic"><m:Header>
<m:Structure structureID="S" dimensionAtObservation="TIME_PERIOD"/></m:Header><m:DataSet>
<g:Series><g:SeriesKey><g:Value id="GEO" value="DE"/><g:Value id="SEX" value="F"/></g:SeriesKey>
<g:Attributes><g:Value id="TITLE" value="Women"/></g:Attributes>
<g:Obs><g:ObsDimension value="2021"/><g:ObsValue value="7"/></g:Obs>
<g:Obs><g:ObsDimension value="2022"/><g:ObsValue value="5.0"/><g:Attributes>
<g:Value id="OBS_STATUS" value="P"/></g:Attributes></g:Obs></g:Series></m:DataSet>
<m:DataSet><g:Obs><g:ObsValue value="999"/></g:Obs></m:DataSet></m:GenericData>"""
SPECIFIC = f"""<m:StructureSpecificData xmlns:m="{MESSAGE}" xmlns:i="i"><m:DataSet i:action="I">
<Series GEO="DE" SEX="F" TITLE="Women" DECIMALS="0"><Obs TIME_PERIOD="2021" OBS_VALUE="7"/>
<Obs TIME_PERIOD="2022" OBS_VALUE="5" OBS_STATUS="P" METHOD="x"/></Series></m:DataSet>
</m:StructureSpecificData>"""
COMPACT = SPECIFIC.replace("StructureSpecificData", "CompactData").replace(
    MESSAGE, "http://www.SDMX.org/resources/SDMXML/schemas/v2_0/message"
)
JSON_2 = {
    "meta": {"id": "x", "sender": {"id": "A"}},
    "data": {
        "structures": [
            {
                "dimensions": {
                    "dataSet": [{"id": "GEO", "keyPosition": 0, "values": [{"id": "DE"}]}],
                    "series": [{"id": "SEX", "keyPosition": 1, "values": [{"id": "F"}]}],
                    "observation": [
                        {
                            "id": "TIME_PERIOD",
                            "keyPosition": 2,
                            "values": [{"value": "2021"}, {"value": "2022"}],
                        }
                    ],
                },
                "measures": {"observation": [{"id": "PERSONS"}, {"id": "SHARE"}]},
                "attributes": {"observation": [{"id": "OBS_STATUS", "values": [{"id": "P"}]}]},
            }
        ],
        "dataSets": [{"structure": 0, "series": {"0": {"observations": {"0": [7, 0.4], "1": [5, 0.6, 0]}}}}],
    },
}


def read(tmp_path: Path, text: str, name: str = "t.xml", **options: object) -> TableFile:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_table(tmp_path / name, Reading.of(options))


@pytest.mark.parametrize("text", [GENERIC, SPECIFIC, COMPACT])
def test_layouts_of_xml(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.table.domain.names == ("GEO", "SEX", "TIME_PERIOD")
    assert found.table.counts.reshape(-1).tolist() == [7, 5]
    assert any("OBS_STATUS: 1 P (provisional)" in note for note in found.notes)
    assert ("METHOD" in "".join(found.notes)) == ("METHOD" in text)


def test_version_2_of_json_and_its_measures(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 measures: PERSONS, SHARE") as caught:
        read(tmp_path, json.dumps(JSON_2), "t.json")
    assert "--count" in caught.value.hint
    found = read(tmp_path, json.dumps(JSON_2), "t.json", count="PERSONS")
    assert found.table.domain.names == ("GEO", "SEX", "TIME_PERIOD")
    assert found.table.counts.reshape(-1).tolist() == [7, 5]


@BOTH
def test_the_library_reads_what_is_written(tmp_path: Path, kind: Format) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    path.write_bytes(kind.publish(Cube(TABLE, HIDDEN, about=TOLD)))
    assert kind.about(path, Reading()) == replace(TOLD, changed="", notes=("Changed by 3. A note.",))
    observations = sdmx.read_sdmx(io.BytesIO(path.read_bytes())).data[0].obs
    assert len(observations) == TABLE.domain.size
    for one in observations:
        index = TABLE.domain.index([one.key[name].value for name in TABLE.domain.names])
        status = {name: str(given.value) for name, given in one.attached_attribute.items()}
        if HIDDEN[index]:
            assert one.value is None and status == {"OBS_STATUS": "Q", "CONF_STATUS": "C"}
        else:
            assert int(one.value) == TABLE[index]
            assert status == {"OBS_STATUS": "A", "CONF_STATUS": "F"}


def test_what_the_library_writes_is_read(tmp_path: Path) -> None:
    kind = formats()["sdmx_ml"]
    message = sdmx.read_sdmx(io.BytesIO(kind.write(TABLE)))
    (tmp_path / "theirs.xml").write_bytes(sdmx.to_xml(message))
    assert read_table(tmp_path / "theirs.xml").table == TABLE


@pytest.mark.parametrize("text", [GENERIC, SPECIFIC, COMPACT])
def test_what_others_say_of_their_table(tmp_path: Path, text: str) -> None:
    header = "<m:Header><m:Prepared>2024-05-06T07:08:09</m:Prepared>"
    text = (
        text.replace("<m:Header>", header)
        if text == GENERIC
        else text.replace("<m:Data", f"{header}</m:Header><m:Data")
    )
    noted = (
        '<c:Annotations xmlns:c="c"><c:Annotation><c:AnnotationType>NOTE</c:AnnotationType>'
        "<c:AnnotationText>Revised.</c:AnnotationText></c:Annotation></c:Annotations></m:DataSet>"
    )
    (tmp_path / "t.xml").write_text(text.replace("</m:DataSet>", noted))
    found = formats()["sdmx_ml"].about(tmp_path / "t.xml", Reading())
    assert found == About("Women", notes=("Revised.",), date="2024-05-06")
    (tmp_path / "t.json").write_text(
        json.dumps(JSON_2)
        .replace('"OBS_STATUS"', '"UNIT_MEASURE"')
        .replace('"id": "P"', '"name": {"en": "Persons"}')
    )
    assert formats()["sdmx_json"].about(tmp_path / "t.json", Reading()) == About(unit="Persons")


@BOTH
def test_what_stands_in_place_of_counts(tmp_path: Path, kind: Format) -> None:
    text = kind.publish(Cube(TABLE, HIDDEN)).decode()
    with pytest.raises(InputError, match=r"suppressed \(CONF_STATUS C") as caught:
        read(tmp_path, text, "t")
    assert caught.value.cell == "(FR, F, 2022)"
    # Not suppressed but missing: it is asked what that means.
    gone = text.replace('"Q"', '"M"').replace('"C"', '"F"')
    with pytest.raises(InputError, match="empty") as caught:
        read(tmp_path, gone, "t")
    assert '--marks "blank=zero"' in caught.value.hint
    assert read(tmp_path, gone, "t", marks="blank=zero").table[1, 0, 1] == 0
    with pytest.raises(InputError, match="1 of 8 cells is missing"):
        read(tmp_path, gone, "t", marks="blank=missing")
    assert read(tmp_path, gone, "t", fill_missing=True).table.total == TABLE.total - TABLE[1, 0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GENERIC.replace('"7"', '"7.5"'), "not a whole number"),
        (GENERIC[:-40], "no XML"),
        (GENERIC.replace("<m:GenericData", '<!DOCTYPE a [<!ENTITY b "c">]><m:GenericData'), "decl"),
        (f'<m:Structure xmlns:m="{MESSAGE}"><m:Structures/></m:Structure>', "structures, and no"),
        (f'<m:GenericData xmlns:m="{MESSAGE}"/>', "no observations"),
    ],
)
def test_faults_of_xml(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"0": [7', '"2": [7', "does not fit"),
        ('"dataSets"', '"dataset"', "no data"),
        ('"keyPosition": 1', '"keyPosition": []', "does not fit"),
    ],
)
def test_faults_of_json(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, json.dumps(JSON_2).replace(old, new), "t.sdmx.json", count="PERSONS")


@BOTH
def test_names_that_sdmx_has_no_place_for(kind: Format) -> None:
    for name in ("a b", "é", "OBS_VALUE"):
        with pytest.raises(InputError):
            kind.write(Table.dense(Domain.of({name: ["a", "b"]}), [1, 2]))
