"""SDMX-ML 2.1, generic data, as sdmx1 writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import sdmx
from sdmx.model import v21
from stated import Said, opened, states

from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of

CELLS = {("M", "N"): 5, ("M", "S"): 6, ("F", "N"): 7, ("F", "S"): 8}


def message(
    folder: Path,
    cells: Mapping[tuple[str, str], object],
    said: Mapping[str, str] | None = None,
    first: bool = False,
) -> Path:
    dsd = v21.DataStructureDefinition(id="D")
    for name in ("SEX", "GEO"):
        dsd.dimensions.getdefault(id=name)
    dsd.measures.getdefault(id="OBS_VALUE")
    data = v21.GenericDataSet(structured_by=dsd)
    for (sex, geo), value in cells.items():
        key = dsd.make_key(v21.Key, {"SEX": sex, "GEO": geo})
        one = v21.Observation(dimension=key, value=value, value_for=dsd.measures[0])
        for name, text in (said or {}).items():
            if not first or not data.obs:
                one.attached_attribute[name] = v21.AttributeValue(
                    value=text, value_for=dsd.attributes.getdefault(id=name)
                )
        data.obs.append(one)
    made = sdmx.message.DataMessage(dataflow=v21.DataflowDefinition(id="F", structure=dsd), data=[data])
    made.observation_dimension = v21.AllDimensions
    path = folder / "t.xml"
    path.write_bytes(sdmx.to_xml(made))
    return path


TOTALS = {("_T", "N"): 12, ("_T", "S"): 14}


@states("sdmx-ml", "a message as sdmx1 writes it")
def roles(folder: Path) -> Said:
    return opened(message(folder, CELLS), CELLS)


@states("sdmx-ml", "code `_T`")
def totals(folder: Path) -> Said:
    return opened(message(folder, {**CELLS, **TOTALS}))


STRUCTURE = """<m:Structure xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
 xmlns:s="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure"><m:Structures><s:Codelists>
<s:Codelist id="CL" agencyID="X"><s:Code id="M"><s:Parent><Ref id="{top}"/></s:Parent></s:Code>
<s:Code id="F"><s:Parent><Ref id="{top}"/></s:Parent></s:Code><s:Code id="{top}"/></s:Codelist></s:Codelists>
<s:DataStructures><s:DataStructure><s:DimensionList><s:Dimension id="SEX"><s:LocalRepresentation><s:Enumeration>
<Ref id="CL"/></s:Enumeration></s:LocalRepresentation></s:Dimension></s:DimensionList></s:DataStructure>
</s:DataStructures></m:Structures></m:Structure>"""


@states("sdmx-ml", "parents in `t.structure.xml` beside the data")
def parents(folder: Path) -> Said:
    (folder / "t.structure.xml").write_text(STRUCTURE.format(top="_T"))
    return opened(message(folder, {**CELLS, **TOTALS}), CELLS)


@states("sdmx-ml", "`UNIT_MEASURE` PS and PC")
def unit(folder: Path) -> Said:
    path = message(folder, CELLS, {"UNIT_MEASURE": "PS"})
    path.write_text(path.read_text().replace('value="PS"', 'value="PC"', 1))
    return opened(path)


@states("sdmx-ml", "`UNIT_MULT` 3")
def multiplier(folder: Path) -> Said:
    return opened(message(folder, CELLS, {"UNIT_MULT": "3"}), {cell: 1000 * n for cell, n in CELLS.items()})


@states("sdmx-ml", "a value of 5.5")
def decimals(folder: Path) -> Said:
    return opened(message(folder, {**CELLS, ("M", "N"): 5.5}))


@states("sdmx-ml", "`CONF_STATUS` C without a value")
def status(folder: Path) -> Said:
    path = message(folder, CELLS, {"CONF_STATUS": "C"}, first=True)
    text = path.read_text()
    path.write_text(text.replace('value="5"', 'value="NaN"', 1))
    return opened(path)


@states("sdmx-ml", "`OBS_STATUS` E beside a value")
def flags(folder: Path) -> Said:
    return opened(message(folder, CELLS, {"OBS_STATUS": "E"}, first=True), CELLS)


@states("sdmx-ml", "the order of the observations")
def order(folder: Path) -> Said:
    cells = {("F", "N"): 5, ("F", "S"): 6, ("M", "N"): 7, ("M", "S"): 8}
    return opened(message(folder, cells), cells)


NAMED = STRUCTURE.replace('id="M">', 'id="M"><c:Name xml:lang="en">men</c:Name><c:Name xml:lang="fr">hommes</c:Name>').replace(
    "<m:Structure xmlns:m", '<m:Structure xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common" xmlns:m'
)  # fmt: skip


@states("sdmx-ml", "names in `t.structure.xml` beside the data")
def labels(folder: Path) -> Said:
    (folder / "t.structure.xml").write_text(NAMED.format(top="_T"))
    said = opened(message(folder, {**CELLS, **TOTALS}), CELLS)
    assert said.file is not None and said.file.table.domain["SEX"].labels[0] == "men"
    return said


@states("sdmx-ml", "names of codes in two languages")
def languages(folder: Path) -> Said:
    return labels(folder)


@states("sdmx-ml", "`COMMENT_OBS` of an observation")
def notes(folder: Path) -> Said:
    return opened(message(folder, CELLS, {"COMMENT_OBS": "Without students"}, first=True), CELLS)


@states("sdmx-ml", "`COLLECTION`, `AGG_METHOD` and other attributes")
def aggregation(folder: Path) -> Said:
    return opened(message(folder, CELLS, {"AGG_METHOD": "SUM"}), CELLS)


@states("sdmx-ml", "`SOURCE` and `Prepared`")
def source(folder: Path) -> Said:
    path = message(folder, CELLS, {"SOURCE": "Statistics"})
    text = path.read_text()
    told = format_of(path).about(path, Reading())
    assert told.source == "Statistics"
    if "Prepared>" not in text:
        path.write_text(
            text.replace("</mes:Header>", "<mes:Prepared>2024-01-31T00:00:00</mes:Prepared></mes:Header>")
        )
    assert format_of(path).about(path, Reading()).date
    return opened(path, CELLS)


@states("sdmx-ml", "`TIME_PERIOD`")
def dates(folder: Path) -> Said:
    path = message(folder, CELLS)
    path.write_text(
        path.read_text().replace('id="GEO"', 'id="TIME_PERIOD"').replace('value="N"', 'value="2024"')
    )
    return opened(path, {(sex, "2024" if geo == "N" else geo): n for (sex, geo), n in CELLS.items()})


@states("sdmx-ml", "`action` Delete")
def deleted(folder: Path) -> Said:
    path = message(folder, CELLS)
    text = re.sub(r"(<\w+:DataSet\b)", r'\1 action="Delete"', re.sub(r' action="\w+"', "", path.read_text()))
    path.write_text(text)
    return opened(path)


@states("sdmx-ml", "a second data set")
def second_set(folder: Path) -> Said:
    path = message(folder, CELLS)
    path.write_text(re.sub(r"(?s)(<(\w+:DataSet)\b.*</\2>)", r"\1\1", path.read_text()))
    return opened(path, CELLS)
