"""Observations and texts of an SDMX-ML message, by expat."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.workbook_names import DATA_SET
from tabprotect.engine.foreign.worker import Answer, Refused

_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"

_PAIRED = ("ObsKey", "SeriesKey", "GroupKey", "Attributes")
"""The parts of a generic message that hold values by their names."""

Observed = tuple[dict[str, str], dict[str, str], str]
"""Dimensions, statuses and value of an observation."""


def sdmx_ml(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The observations of the first data set, in runs of the same names.

    A run is the names of its dimensions, those of its statuses, and for each observation the texts of
    both and its value, one after the other. ``attributes`` are the names that are no dimensions,
    ``measure`` is that of the value.
    """
    data = _bytes(of)
    attributes = frozenset(map(str, of["attributes"]))  # type: ignore[call-overload]
    runs: list[tuple[list[str], list[str], list[str]]] = []
    try:
        for key, statuses, value in _observations(data, str(of["measure"]), attributes):
            names = list(key), list(statuses)
            if not runs or runs[-1][:2] != names:
                runs.append((*names, []))
            runs[-1][2].extend((*key.values(), *statuses.values(), value))
    except ElementTree.ParseError as error:
        raise _no_xml(error) from None
    return runs, ()


def sdmx_ml_texts(
    of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]
) -> Answer:
    """What a message says of its first data set: what each text is about, and the text.

    ``names`` are the attributes that are told; of others above the observations there is no text.
    """
    data, names = _bytes(of), frozenset(map(str, of["names"]))  # type: ignore[call-overload]
    found: dict[tuple[str, str], None] = {}
    sets = 0
    try:
        for _, element in ElementTree.iterparse(io.BytesIO(data)):
            kind = _local(element)
            if sets:
                sets += kind == "DataSet"
                element.clear()
            elif kind == "Header":
                parts = {_local(child): child.text or "" for child in element}
                found["PREPARED", parts.get("Prepared", "")] = None
                found["TITLE", parts.get("Name", "")] = None
            elif kind in ("Obs", "Series", "Group", "DataSet"):
                pairs = [
                    (v.get("id") or v.get("concept") or "", v.get("value", "")) for v in _values(element)
                ]
                found |= {pair: None for pair in (*element.attrib.items(), *pairs) if pair[0] in names}
                found |= {(name, ""): None for name in _further(element) if name not in names}
            if kind == "DataSet" and not sets:
                for part in element.iterfind("{*}Annotations/{*}Annotation"):
                    said = {_local(child): child.text or "" for child in part}
                    text = said.get("AnnotationText") or said.get("AnnotationTitle", "")
                    found[said.get("AnnotationType", ""), text] = None
                sets += 1
            if kind in ("Obs", "Series", "DataSet"):
                element.clear()
    except ElementTree.ParseError as error:
        raise _no_xml(error) from None
    return [*found, *[(DATA_SET, "")] * sets], ()


def sdmx_ml_structure(
    of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]
) -> Answer:
    """The dimensions of a structure message: identifier, agency, name, then each code, its parent and name."""
    try:
        root = ElementTree.fromstring(_bytes(of))
    except ElementTree.ParseError as error:
        raise _no_xml(error) from None
    lists: dict[str, tuple[str, str, list[str]]] = {}
    for one in root.iterfind(".//{*}Codelist"):
        codes: list[str] = []
        for code in one.iterfind("{*}Code"):
            parent = code.find("{*}Parent/Ref")
            above = "" if parent is None else parent.get("id", "")
            codes += [code.get("id", ""), above, code.findtext("{*}Name", "")]
        lists[one.get("id", "")] = one.get("agencyID", ""), one.findtext("{*}Name", ""), codes
    found = []
    for dimension in root.iterfind(".//{*}Dimension"):
        ref = dimension.find(".//{*}Enumeration/Ref")
        agency, name, codes = lists.get("" if ref is None else ref.get("id", ""), ("", "", []))
        found.append([dimension.get("id", ""), agency, name, codes])
    return found, ()


def _further(element: ElementTree.Element) -> Iterator[str]:
    """The attributes above the observations, as far as they are told from dimensions."""
    if _local(element) == "DataSet":
        yield from (name for name in element.attrib if name.isupper())
    for part in element.iterfind("{*}Attributes") if _local(element) != "Obs" else ():
        yield from (value.get("id") or value.get("concept") or "" for value in part)


def _values(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The values of a key or of attributes in a part of a generic message."""
    return (v for child in element if _local(child) in _PAIRED for v in child)


def _bytes(of: Mapping[str, object]) -> bytes:
    """The message, without declarations: entities are how hostile XML attacks; SDMX has none."""
    data = Path(str(of["path"])).read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise Refused("declarations")
    return data


def _no_xml(error: ElementTree.ParseError) -> Refused:
    return Refused("no xml", [error.position[0], error.msg.partition(":")[0]])


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _observations(data: bytes, measure: str, attributes: frozenset[str]) -> Iterator[Observed]:
    """The observations of the first data set."""
    series: list[Observed] = []
    inside = depth = 0
    at = "TIME_PERIOD"
    for event, element in ElementTree.iterparse(io.BytesIO(data), ("start", "end")):
        name = _local(element)
        if name == "Structure" and event == "start":
            at = element.get("dimensionAtObservation", at)
        elif name == "Structures":
            raise Refused("structures")
        elif name == "DataSet":
            inside += event == "start"
            if event == "start" and element.get("action") == "Delete":
                raise Refused("deletes")
        elif inside > 1:
            # Read to the end, so that a truncated file is noticed.
            element.clear()
        elif name == "Series":
            depth += 1 if event == "start" else -1
            if event == "end":
                own, said, _ = _said(element, at, measure, attributes)
                for key, statuses, value in series:
                    yield {**own, **key}, {**said, **statuses}, value
                series = []
                element.clear()
        elif name == "Obs" and event == "end":
            one = _said(element, at, measure, attributes)
            if depth:
                series.append(one)
            else:
                yield one
            element.clear()


def _said(element: ElementTree.Element, at: str, measure: str, attributes: frozenset[str]) -> Observed:
    """The dimensions, statuses and value of a series or an observation."""
    key = {
        name: text
        for name, text in element.attrib.items()
        if "}" not in name and name not in attributes and name != measure
    }
    statuses = {n: t for n, t in element.attrib.items() if n in attributes}
    if _TYPE in element.attrib and _local(element) == "Obs" and at not in key:
        # Measures as a dimension: each has its own type.
        key[at] = element.attrib[_TYPE].rpartition(":")[2]
    value = element.get(measure, "")
    for child in element:
        kind = _local(child)
        if kind in _PAIRED:
            pairs = {(v.get("id") or v.get("concept") or ""): v.get("value", "") for v in child}
            (statuses if kind == "Attributes" else key).update(pairs)
        elif kind == "ObsDimension":
            key[child.get("id", at)] = child.get("value", "")
        elif kind == "Time":
            key["TIME_PERIOD"] = child.text or ""
        elif kind == "ObsValue":
            value = child.get("value", "")
    return key, statuses, "" if value == "NaN" else value
