"""Observations of an SDMX-ML message, by expat."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.worker import Answer, Refused

_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"

Observed = tuple[dict[str, str], dict[str, str], str]
"""Dimensions, statuses and value of an observation."""


def sdmx_ml(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The observations of the first data set, in runs of the same names.

    A run is the names of its dimensions, those of its statuses, and for each observation the texts of
    both and its value, one after the other. ``attributes`` are the names that are no dimensions,
    ``measure`` is that of the value.
    """
    # Entities are how hostile XML attacks; SDMX has none.
    data = Path(str(of["path"])).read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise Refused("declarations")
    attributes = frozenset(map(str, of["attributes"]))  # type: ignore[call-overload]
    runs: list[tuple[list[str], list[str], list[str]]] = []
    try:
        for key, statuses, value in _observations(data, str(of["measure"]), attributes):
            names = list(key), list(statuses)
            if not runs or runs[-1][:2] != names:
                runs.append((*names, []))
            runs[-1][2].extend((*key.values(), *statuses.values(), value))
    except ElementTree.ParseError as error:
        raise Refused("no xml", [error.position[0], error.msg.partition(":")[0]]) from None
    return runs, ()


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
        if kind in ("ObsKey", "SeriesKey", "Attributes"):
            pairs = {(v.get("id") or v.get("concept") or ""): v.get("value", "") for v in child}
            (statuses if kind == "Attributes" else key).update(pairs)
        elif kind == "ObsDimension":
            key[child.get("id", at)] = child.get("value", "")
        elif kind == "Time":
            key["TIME_PERIOD"] = child.text or ""
        elif kind == "ObsValue":
            value = child.get("value", "")
    return key, statuses, "" if value == "NaN" else value
