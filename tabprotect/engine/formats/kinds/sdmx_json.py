"""SDMX-JSON 1 and 2: what many statistical offices' services answer with.

Dimensions are the variables, in the order of their positions, codes the categories, with their names
as labels, `_T` is a total; attributes are left out and told, as are statuses. Of several data sets the first is read, of several
measures the one that `count` names. An observation without a value is missing, or suppressed where
`OBS_STATUS` or `CONF_STATUS` say so. Written as version 1, as the European Central Bank and the OECD
answer, with `OBS_STATUS` A and `CONF_STATUS` N (true counts); published counts with F, suppressed ones
are null with Q and C.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.csvw import text_of
from tabprotect.engine.formats.agencies.sdmx_identifiers import AGENCY, MADE, TITLE, UNIT, structure_id
from tabprotect.engine.formats.agencies.sdmx_messages import (
    HINT,
    UNKNOWN,
    Observation,
    SdmxMessage,
    about_of,
    deletions,
    first_of,
    left_out,
    prepared,
    texts_beside,
)
from tabprotect.engine.formats.agencies.sdmx_stated import StatedStructure
from tabprotect.engine.formats.layouts.observations import number_shown, numbers_shown
from tabprotect.engine.formats.layouts.stated_multipliers import UNIT_MULT
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import (
    CONF,
    CONF_STATUS,
    CONFIDENTIAL,
    NORMAL,
    OBS,
    OBS_STATUS,
    SUPPRESSED,
)
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.languages.messages import message

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{.*("dataSets"\s*:|/sdmx-json[/-]|"(header|meta)"\s*:\s*\{.*"sender"\s*:)',
    re.DOTALL,
)
Level = Literal["dataSet", "series", "observation"]
_LEVELS: tuple[Level, ...] = ("dataSet", "series", "observation")


class Code(TypedDict, total=False):
    """A code of a component, or a value in its place."""

    id: object
    name: object
    names: object
    value: object
    start: object
    parent: object


class Component(TypedDict):
    """A dimension, an attribute or a measure."""

    id: str
    values: list[Code]
    keyPosition: NotRequired[int]


class Structure(TypedDict, total=False):
    """The components of a message by the level at which they stand."""

    dimensions: Mapping[Level, Sequence[Component]]
    attributes: Mapping[Level, Sequence[Component]]
    measures: Mapping[Level, Sequence[Component]]
    name: object
    annotations: Sequence[Mapping[str, object]]


class Series(TypedDict, total=False):
    """Observations by key: values of the measures, then of the attributes."""

    attributes: Sequence[object]
    observations: Mapping[str, Sequence[object]]


class DataSet(Series, total=False):
    """Series by key, or observations alone."""

    structure: int
    action: object
    annotations: Sequence[int]
    series: Mapping[str, Series]


class Parts(TypedDict, total=False):
    """The parts of a message; in version 2 within ``data``."""

    dataSets: Sequence[DataSet]
    structure: Structure
    structures: Sequence[Structure]


class Message(Parts, total=False):
    """A message as it is parsed; what does not fit is found where it is read."""

    data: Parts
    header: Mapping[str, object]
    meta: Mapping[str, object]


class SdmxJson(SdmxMessage):
    label = message("SDMX-JSON")
    suffixes = (".sdmx.json",)
    media = "application/vnd.sdmx.data+json"
    begins = _HEAD

    def observations(self, path: Path, reading: Reading) -> tuple[list[Observation], list[str]]:
        with _parsed(path) as top:
            said, data = _parts(top)
            sets = top.get("data", top)["dataSets"]
            if any(str(one.get("action")).casefold() == "delete" for one in sets):
                raise deletions()
            attributes = [part["id"] for level in _LEVELS for part in _listed(said, "attributes", level)
                          if part.get("values") or level == "observation"]  # fmt: skip
            notes = [*left_out(attributes), *first_of(len(sets))]
            if others := _languages(said)[1:]:
                notes.append(message("names in {languages} were left out", ", ".join(others)))
            return list(_observations(said, data, reading.count)), notes

    def structure(self, path: Path) -> StatedStructure:
        with _parsed(path) as top:
            said, _ = _parts(top)
            sender = (top.get("header") or {}).get("sender")
            ours = isinstance(sender, dict) and sender.get("id") == AGENCY
            every = [d for level in _LEVELS for d in _listed(said, "dimensions", level)]
            parents = {
                d["id"]: {_code([v], 0): str(v["parent"]) for v in d["values"] if v.get("parent")}
                for d in every
            }
            labels = {d["id"]: {_code([v], 0): _name(v) for v in d["values"]} for d in every}
            own = {d["id"]: text_of(d.get("name")) for d in every} if ours else {}
            return StatedStructure(parents, own, labels)

    def about(self, path: Path, reading: Reading) -> About:
        with _parsed(path) as top:
            return about_of(_texts(top, *_parts(top)))

    def message(self, cube: Cube, status: str) -> bytes:
        table = cube.table
        notes = texts_beside(replace(cube.about, title=""))
        observations = {
            ":".join(map(str, index)): ([None, 1, 1] if shown is None else [number_shown(*shown), 0, 0])
            for index, shown in zip(np.ndindex(*table.domain.shape), numbers_shown(cube), strict=True)
        }
        message = {
            "header": {
                "id": structure_id(table.domain),
                "prepared": prepared(cube.about),
                "test": False,
                "sender": {"id": AGENCY, **_named(cube.about)},
            },
            "structure": {
                "name": cube.about.title or structure_id(table.domain),
                "dimensions": {"dataSet": [], "series": [], "observation": _dimensions(cube)},
                "attributes": {
                    "dataSet": [],
                    "series": [],
                    "observation": [
                        _attribute(OBS_STATUS, OBS, (NORMAL, SUPPRESSED)),
                        _attribute(CONF_STATUS, CONF, (status, CONFIDENTIAL)),
                    ],
                },
                **(
                    {"annotations": [{"type": kind, "text": text} for kind, text in notes.items()]}
                    if notes
                    else {}
                ),
            },
            "dataSets": [
                {
                    "action": "Information",
                    **({"annotations": list(range(len(notes)))} if notes else {}),
                    "observations": observations,
                }
            ],
        }
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        return (text + "\n").encode("utf-8")


@contextmanager
def _parsed(path: Path) -> Iterator[Message]:
    """A message as it is parsed; whatever of it does not fit is said as a fault of the file."""
    try:
        top: Message = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InputError(message("this is no JSON"), hint=HINT) from None
    try:
        yield top
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            message("the message does not fit the structure it states"),
            hint=HINT,
            detail=message("{name}: {error}", type(error).__name__, error)[:200],
        ) from None


def _texts(top: Message, structure: Structure, data: DataSet) -> Iterator[tuple[str, str]]:
    """What a message says beside its observations: what each text is about, and the text."""
    header = top.get("header") or top.get("meta") or {}
    yield MADE, text_of(header.get("prepared"))
    name = text_of(structure.get("name")) or text_of(header.get("name"))
    # Without a title a table is called by its structure.
    yield TITLE, name if name != header.get("id") else ""
    listed = structure.get("annotations") or []
    for one in (listed[place] for place in data.get("annotations") or ()):
        yield text_of(one.get("type")), text_of(one.get("text") or one.get("texts") or one.get("title"))
    for level in _LEVELS:
        for part in (*_listed(structure, "dimensions", level), *_listed(structure, "attributes", level)):
            for value in part.get("values") or ():
                yield part["id"], text_of(value.get("name")) or _code([value], 0)


def _parts(top: Message) -> tuple[Structure, DataSet]:
    """The structure and the first data set, in either version."""
    inside: Parts = top.get("data", top)
    sets = inside.get("dataSets")
    structures = inside.get("structures") or [inside.get("structure", Structure())]
    if not sets or not structures[0]:
        raise InputError(message("the message holds no data"), hint=HINT)
    return structures[sets[0].get("structure", 0)], sets[0]


def _name(value: Code) -> str:
    """The name of a code, in the language of the message or the first that it has."""
    return text_of(value.get("name")) or text_of(value.get("names"))


def _languages(structure: Structure) -> list[str]:
    """The languages of the names of codes, the one that is taken first."""
    values = (v for level in _LEVELS for d in _listed(structure, "dimensions", level) for v in d["values"])
    named = (of for v in values for of in (v.get("name"), v.get("names")) if isinstance(of, dict))
    return list(dict.fromkeys(language for of in named for language in of))


def _listed(
    structure: Structure, what: Literal["dimensions", "attributes", "measures"], level: Level
) -> Sequence[Component]:
    return structure.get(what, {}).get(level) or []


def _key(dimensions: Sequence[Component], text: str) -> dict[str, str]:
    """The codes of a key such as ``0:2``."""
    if not dimensions:
        return {}
    places = map(int, text.split(":"))
    return {d["id"]: _code(d["values"], place) for d, place in zip(dimensions, places, strict=True)}


def _code(values: Sequence[Code], place: int) -> str:
    if place < 0:
        raise IndexError(place)
    value = values[place]
    return str(value.get("id", value.get("value", value.get("start"))))


def _statuses(attributes: Sequence[Component], given: Sequence[object]) -> dict[str, str]:
    """Attribute -> code; an entry that is no number is the value itself."""
    found = {}
    for attribute, value in zip(attributes, given, strict=False):
        if value is not None and attribute["id"] in (OBS_STATUS, CONF_STATUS, UNIT, UNIT_MULT):
            codes = attribute.get("values")
            if codes and isinstance(value, int) and not isinstance(value, bool):
                value = _code(codes, value)
            found[attribute["id"]] = str(value)
    return found


def _observations(structure: Structure, data: DataSet, measure: str | None) -> Iterator[Observation]:
    dimensions = {level: _listed(structure, "dimensions", level) for level in _LEVELS}
    attributes = {level: _listed(structure, "attributes", level) for level in _LEVELS}
    measures = [m["id"] for m in _listed(structure, "measures", "observation")] or ["OBS_VALUE"]
    if len(measures) > 1 and measure not in measures:
        raise InputError(
            message(
                "the message holds {measures} measures: {measures2}", len(measures), ", ".join(measures[:8])
            ),
            hint=message("say which of them is the count: --count NAME"),
        )
    at = measures.index(measure) if measure in measures else 0
    every = {d["id"]: _code(d["values"], 0) for d in dimensions["dataSet"]}
    alone = {
        part["id"]: _code(part["values"], 0) if len(part["values"]) == 1 else UNKNOWN
        for level in _LEVELS
        for part in attributes[level]
        if part["id"] in (UNIT, UNIT_MULT) and part.get("values")
    }
    alone |= _statuses(attributes["dataSet"], data.get("attributes") or [])
    flat = [d for level in _LEVELS for d in dimensions[level]]
    order = [d["id"] for d in sorted(flat, key=lambda d: d.get("keyPosition", len(flat)))]
    for series_key, series in (data.get("series") or {"": data}).items():
        outer = every | _key(dimensions["series"], series_key)
        said = alone | _statuses(attributes["series"], series.get("attributes") or [])
        for key, values in (series.get("observations") or {}).items():
            inner = outer | _key(dimensions["observation"], key)
            rest = _statuses(attributes["observation"], values[len(measures) :])
            value = values[at] if at < len(values) else None
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            text = "" if value is None else str(value)
            yield Observation(
                {name: inner[name] for name in order}, "" if text == "nan" else text, said | rest
            )


def _dimensions(cube: Cube) -> list[dict[str, object]]:
    return [
        {
            "id": variable.name,
            "name": cube.own.get(variable.name, variable.name),
            "keyPosition": number,
            "values": [
                {"id": code, "name": variable.label(place)}
                | ({"parent": above[code]} if code in above else {})
                for place, code in enumerate(variable.categories)
            ],
        }
        for number, variable in enumerate(cube.table.domain.variables)
        for above in [cube.parents.get(variable.name, {})]
    ]


def _attribute(name: str, vocabulary: Mapping[str, str], codes: Sequence[str]) -> dict[str, object]:
    values = [{"id": code, "name": vocabulary[code]} for code in codes]
    return {"id": name, "name": name, "values": values}


def _named(about: About) -> dict[str, str]:
    name = about.metadata.get("publisher", "")
    return {"name": name} if name else {}


PLUGIN = SdmxJson()
