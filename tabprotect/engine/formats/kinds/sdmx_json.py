"""SDMX-JSON 1 and 2: what many statistical offices' services answer with.

Dimensions are the variables, in the order of their positions, codes the categories, `_T` is a total;
attributes are left out, but statuses are told. Of several data sets the first is read, of several
measures the one that `count` names. An observation without a value is missing, or suppressed where
`OBS_STATUS` or `CONF_STATUS` say so. Written as version 1, as the European Central Bank and the OECD
answer, with `OBS_STATUS` A and `CONF_STATUS` N (true counts); published counts with F, suppressed ones
are null with Q and C.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import MOST_TEXT as MOST_BYTES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.sdmx.observations import (
    AGENCY,
    HINT,
    PREPARED,
    STRUCTURE,
    Observation,
    cells_of,
    check_names,
    with_a_variable,
)
from tabprotect.engine.formats.statuses import (
    CONF,
    CONF_STATUS,
    CONFIDENTIAL,
    FREE,
    NORMAL,
    NOT_FOR_PUBLICATION,
    OBS,
    OBS_STATUS,
    SUPPRESSED,
)
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{.*("dataSets"\s*:|/sdmx-json[/-]|"(header|meta)"\s*:\s*\{.*"sender"\s*:)',
    re.DOTALL,
)
_LEVELS = ("dataSet", "series", "observation")


class SdmxJson(Format):
    label = "SDMX-JSON"
    suffixes = (".sdmx.json",)
    begins = _HEAD
    options = frozenset({"count", "decimal", "marks"})
    limits = (
        "Attributes, names of codes and the definition of the structure are left out.",
        "Names of variables are ASCII letters, digits, - and _; codes have no blanks at their ends.",
        "A file has at most 512 MiB.",
    )

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        if path.stat().st_size > MOST_BYTES:
            raise InputError("the message is too large for JSON", hint="take it as SDMX-CSV")
        try:
            top = json.loads(path.read_bytes().decode("utf-8-sig"))
        except (ValueError, RecursionError):
            raise InputError("this is no JSON", hint=HINT) from None
        try:
            structure, data = _parts(top)
            return cells_of(list(_observations(structure, data, reading.count)), reading)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                "the message does not fit the structure it states",
                hint=HINT,
                detail=f"{type(error).__name__}: {error}"[:200],
            ) from None

    def write(self, table: Table) -> bytes:
        return _written(table, None, NOT_FOR_PUBLICATION, "")

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        table = with_a_variable(table)
        return _written(table, hidden, FREE, title)


def _parts(top: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The structure and the first data set, where either version keeps them."""
    inside = top.get("data", top)
    sets = inside.get("dataSets")
    structures = inside.get("structures") or [inside.get("structure")]
    if not sets or not structures[0]:
        raise InputError("the message holds no data", hint=HINT)
    return structures[sets[0].get("structure", 0)], sets[0]


def _listed(structure: Mapping[str, Any], what: str, level: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = structure.get(what, {}).get(level) or []
    return found


def _key(dimensions: Sequence[Mapping[str, Any]], text: str) -> dict[str, str]:
    """``0:2`` in words."""
    if not dimensions:
        return {}
    places = map(int, text.split(":"))
    return {d["id"]: _code(d["values"], place) for d, place in zip(dimensions, places, strict=True)}


def _code(values: Sequence[Mapping[str, Any]], place: int) -> str:
    if place < 0:
        raise IndexError(place)
    value = values[place]
    return str(value.get("id", value.get("value", value.get("start"))))


def _statuses(attributes: Sequence[Mapping[str, Any]], given: Sequence[Any]) -> dict[str, str]:
    """Attribute -> code; what is no number is the value itself."""
    found = {}
    for attribute, value in zip(attributes, given, strict=False):
        if value is not None and attribute["id"] in (OBS_STATUS, CONF_STATUS):
            place = type(value) is int and attribute.get("values")
            found[attribute["id"]] = _code(attribute["values"], value) if place else str(value)
    return found


def _observations(
    structure: Mapping[str, Any], data: Mapping[str, Any], measure: str | None
) -> Iterator[Observation]:
    dimensions = {level: _listed(structure, "dimensions", level) for level in _LEVELS}
    attributes = {level: _listed(structure, "attributes", level) for level in _LEVELS}
    measures = [m["id"] for m in _listed(structure, "measures", "observation")] or ["OBS_VALUE"]
    if len(measures) > 1 and measure not in measures:
        raise InputError(
            f"the message holds {len(measures)} measures: {', '.join(measures[:8])}",
            hint="say which of them is the count: --count NAME",
        )
    at = measures.index(measure) if measure in measures else 0
    every = {d["id"]: _code(d["values"], 0) for d in dimensions["dataSet"]}
    flat = [d for level in _LEVELS for d in dimensions[level]]
    order = [d["id"] for d in sorted(flat, key=lambda d: d.get("keyPosition", len(flat)))]
    for series_key, series in (data.get("series") or {"": data}).items():
        outer = every | _key(dimensions["series"], series_key)
        said = _statuses(attributes["series"], series.get("attributes") or [])
        for key, values in (series.get("observations") or {}).items():
            inner = outer | _key(dimensions["observation"], key)
            rest = _statuses(attributes["observation"], values[len(measures) :])
            value = values[at] if at < len(values) else None
            whole = isinstance(value, float) and value.is_integer()
            text = "" if value is None else str(int(value) if whole else value)
            yield Observation(
                {name: inner[name] for name in order}, "" if text == "nan" else text, said | rest
            )


def _written(table: Table, hidden: Bools | None, status: str, title: str) -> bytes:
    domain = table.domain
    check_names(domain)
    without = set() if hidden is None else set(np.flatnonzero(hidden).tolist())
    counts = table.counts.reshape(-1).tolist()
    observations = {
        ":".join(map(str, index)): [None, 1, 1] if cell in without else [counts[cell], 0, 0]
        for cell, index in enumerate(np.ndindex(*domain.shape))
    }
    message = {
        "header": {"id": STRUCTURE, "prepared": PREPARED, "test": False, "sender": {"id": AGENCY}},
        "structure": {
            "name": title or STRUCTURE,
            "dimensions": {"dataSet": [], "series": [], "observation": _dimensions(domain)},
            "attributes": {
                "dataSet": [],
                "series": [],
                "observation": [
                    _attribute(OBS_STATUS, OBS, (NORMAL, SUPPRESSED)),
                    _attribute(CONF_STATUS, CONF, (status, CONFIDENTIAL)),
                ],
            },
        },
        "dataSets": [{"action": "Information", "observations": observations}],
    }
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return (text + "\n").encode("utf-8")


def _dimensions(domain: Domain) -> list[dict[str, object]]:
    return [
        {
            "id": variable.name,
            "name": variable.name,
            "keyPosition": number,
            "values": [{"id": code, "name": code} for code in variable.categories],
        }
        for number, variable in enumerate(domain.variables)
    ]


def _attribute(name: str, vocabulary: Mapping[str, str], codes: Sequence[str]) -> dict[str, object]:
    values = [{"id": code, "name": vocabulary[code]} for code in codes]
    return {"id": name, "name": name, "values": values}


PLUGIN = SdmxJson()
