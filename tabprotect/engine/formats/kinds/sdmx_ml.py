"""SDMX-ML (XML) 2.0, 2.1 and 3.0: generic and structure-specific data, as offices exchange them.

Dimensions are the variables, codes the categories, `_T` is a total; groups and attributes are left
out, but statuses are told. A structure-specific message says without its definition (which is
another file) of no name whether it is a dimension: what every observation has is one, unless it is
an attribute that everybody knows (`DECIMALS`, `TITLE` and their like). An observation without a value
is missing, or suppressed where `OBS_STATUS` or `CONF_STATUS` say so. Of several data sets the first is
read. Written as generic data, version 2.1, with `OBS_STATUS` A and `CONF_STATUS` N (true counts);
published counts with F, suppressed ones without a value, with Q and C.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.sdmx_messages import (
    AGENCY,
    HINT,
    PREPARED,
    STRUCTURE,
    VALUE,
    VERSION,
    Observation,
    SdmxMessage,
)
from tabprotect.engine.formats.layouts.observations import cells_shown
from tabprotect.engine.formats.statuses import (
    CONF_STATUS,
    CONFIDENTIAL,
    NORMAL,
    OBS_STATUS,
    SUPPRESSED,
)
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

_HEAD = re.compile(rb"(\xef\xbb\xbf)?\s*<.*sdmx\.org/resources/sdmxml/", re.DOTALL | re.IGNORECASE)
_ATTRIBUTES = frozenset(
    {OBS_STATUS, CONF_STATUS, "OBS_FLAG", "OBS_CONF", "CONF_STATUS_OBS", "PRE_BREAK_VALUE", "DECIMALS",
     "UNIT_MULT", "TITLE", "TITLE_COMPL", "TIME_FORMAT", "COLL_METHOD", "COMMENT_OBS", "COMMENT_TS",
     "EMBARGO_TIME", "EMBARGO_DATE", "LAST_UPDATE"}
)  # fmt: skip
"""Attributes of series and observations in any structure-specific message."""

_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_NAMESPACE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"


class SdmxMl(SdmxMessage):
    label = say("SDMX-ML")
    suffixes = (".sdmx.xml", ".xml")
    media = "application/vnd.sdmx.genericdata+xml"
    begins = _HEAD

    def accepts(self, path: Path, head: bytes) -> bool:
        return not head or self.sniff(head)

    def observations(self, data: bytes, measure: str | None) -> tuple[list[Observation], list[str]]:
        # Entities are how hostile XML attacks; SDMX has none.
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise InputError(say("a message with declarations of its own is not read"), hint=HINT)
        try:
            found = list(_observations(data, measure or VALUE))
        except ElementTree.ParseError as error:
            line, _ = error.position
            raise InputError(
                say("this is no XML: {partition}", error.msg.partition(":")[0]),
                line=line,
                hint=HINT,
            ) from None
        shared = set.intersection(*(set(one.key) for one in found)) if found else set()
        further = sorted({name for one in found for name in one.key} - shared)
        if not further:
            return found, []
        kept = [
            replace(one, key={k: v for k, v in one.key.items() if k in shared}) for one in found
        ]
        return kept, [
            say("taken for attributes, as not all have them: {further}", ", ".join(further))
        ]

    def message(self, table: Table, hidden: Bools | None, status: str, title: str) -> bytes:
        normal = _values({OBS_STATUS: NORMAL, CONF_STATUS: status})
        suppressed = _values({OBS_STATUS: SUPPRESSED, CONF_STATUS: CONFIDENTIAL})
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<m:GenericData xmlns:m="{_NAMESPACE}/message" xmlns:c="{_NAMESPACE}/common" '
            f'xmlns:g="{_NAMESPACE}/data/generic">',
            f"<m:Header><m:ID>{STRUCTURE}</m:ID><m:Test>false</m:Test>"
            f'<m:Prepared>{PREPARED}</m:Prepared><m:Sender id="{AGENCY}"/>'
            f'<m:Structure structureID="{STRUCTURE}" dimensionAtObservation="AllDimensions">'
            f'<c:Structure><Ref agencyID="{AGENCY}" id="{STRUCTURE}" version="{VERSION}"/>'
            "</c:Structure></m:Structure></m:Header>",
            f'<m:DataSet structureRef="{STRUCTURE}" action="Information">',
        ]
        for _, labels, count in cells_shown(table, hidden):
            key = _values(dict(zip(table.domain.names, labels, strict=True)))
            value = "" if count is None else f'<g:ObsValue value="{count}"/>'
            said = suppressed if count is None else normal
            lines.append(
                f"<g:Obs><g:ObsKey>{key}</g:ObsKey>{value}"
                f"<g:Attributes>{said}</g:Attributes></g:Obs>"
            )
        lines += ["</m:DataSet>", "</m:GenericData>"]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _observations(data: bytes, measure: str) -> Iterator[Observation]:
    """The observations of the first data set."""
    series: list[Observation] = []
    inside = depth = 0
    at = "TIME_PERIOD"
    for event, element in ElementTree.iterparse(io.BytesIO(data), ("start", "end")):
        name = _local(element)
        if name == "Structure" and event == "start":
            at = element.get("dimensionAtObservation", at)
        elif name == "Structures":
            raise InputError(say("the message holds structures, and no data"), hint=HINT)
        elif name == "DataSet":
            inside += event == "start"
        elif inside > 1:
            # Read to the end, so that a truncated file is noticed.
            element.clear()
        elif name == "Series":
            depth += 1 if event == "start" else -1
            if event == "end":
                own, said, _ = _said(element, at, measure)
                for one in series:
                    yield Observation({**own, **one.key}, one.value, {**said, **one.statuses})
                series = []
                element.clear()
        elif name == "Obs" and event == "end":
            key, said, value = _said(element, at, measure)
            one = Observation(key, value, said)
            if depth:
                series.append(one)
            else:
                yield one
            element.clear()


def _said(
    element: ElementTree.Element, at: str, measure: str
) -> tuple[dict[str, str], dict[str, str], str]:
    """The dimensions, statuses and value of a series or an observation."""
    key = {
        name: text
        for name, text in element.attrib.items()
        if "}" not in name and name not in _ATTRIBUTES and name != measure
    }
    statuses = {n: t for n, t in element.attrib.items() if n in _ATTRIBUTES}
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


def _values(pairs: Mapping[str, str]) -> str:
    return "".join(
        f"<g:Value id={quoteattr(name)} value={quoteattr(text)}/>" for name, text in pairs.items()
    )


PLUGIN = SdmxMl()
