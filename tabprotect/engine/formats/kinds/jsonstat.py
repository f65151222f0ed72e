"""JSON-stat 2, and datasets of JSON-stat 1: what many statistical offices' services answer with.

Categories are the codes of their dimensions (or their labels), in the order of the file; of several datasets in one
file (or a collection that holds them) the first is read. Of a dimension of measures one is read,
which `count` names where there are several. Values are a list of all cells, or the listed ones by
number; where a value is null it is asked what that means, by its status, unless missing cells are
taken as 0; where the status says that it is confidential, it is refused. Written as version 2, every cell, categories as codes; suppressed counts
are null with the status c. The labels of categories are kept beside their codes. The levels of
variables, structural zeros and the unit stand in the dataset's `extension`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Codes, Ints
from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.csvw import text_of
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import (
    Observations,
    counts_shown,
    number_shown,
    numbers_shown,
)
from tabprotect.engine.formats.layouts.stated_multipliers import (
    multiplied,
    multiplier_in,
    power_of,
    refuse_units,
    told,
)
from tabprotect.engine.formats.layouts.stated_trees import StatedTree
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.plain_values.metadata import METADATA
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import domain_json
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

_HEAD = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*"(class"\s*:\s*"dataset"|dimension"\s*:\s*\{)', re.DOTALL)
_CONFIDENTIAL = "c"
"""Eurostat's mark of confidential values."""
_HIDDEN = frozenset({_CONFIDENTIAL, "C", "Q", "x"})
"""Statuses with which some offices mark suppressed values."""
InPlace = Callable[[int, str], tuple[str, str]]
_HINT = message("ask the service for the dataset again, or take it as CSV")


class JsonStat(Format):
    label = message("JSON-stat")
    suffixes = (".json", ".jsonstat")
    media = "application/json"
    served_as = "json-stat2"
    begins = _HEAD
    options = frozenset({"count", "labels", "marks"})
    levels = True
    labels = True
    decimals = True
    limits = (
        message("Notes, units and hierarchies of other programs are left out."),
        message("A file has at most 512 MiB."),
    )

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        dataset, notes = _dataset(_parsed(path))
        dimension = _mapping(dataset.get("dimension"), "dimension")
        ids = _names(dataset.get("id", dimension.get("id")), "dimensions")
        size = dataset.get("size", dimension.get("size"))
        # Some services write sizes as text, and leave out those of 1.
        size = [str(number) for number in size] if isinstance(size, list) else []
        described = [_category(dimension, name) for name in ids]
        categories = [_categories(category, name) for category, name in zip(described, ids, strict=True)]
        sizes = [str(len(codes)) for codes in categories]
        if [s for s in sizes if s != "1"] != [s for s in size if s != "1"]:
            raise InputError(message("the sizes of the dimensions are not those stated"), hint=_HINT)
        codes, values, in_place = _values(dataset, tuple(map(len, categories)))
        for axis, category in enumerate(described):
            if isinstance(stated := category.get("unit"), dict):
                units = _units(stated, categories[axis], reading)
                at = CellList(tuple(ids), tuple(categories), codes, _NONE, lambda _: None).code(axis)
                powers = [units[code] for code in at.tolist()]
                values = multiplied(values, powers) if any(powers) else values
                notes = [*notes, told(powers)] if any(powers) else notes
        extension = dataset.get("extension")
        observations = Observations(
            tuple(ids),
            tuple(categories),
            codes,
            values,
            in_place,
            stated=extension if isinstance(extension, dict) else {},
            labels={name: _labels(category) for name, category in zip(ids, described, strict=True)},
            trees={
                name: StatedTree.of_parents(codes, _parents(category), _eliminated(dimension, name, codes))
                for name, codes, category in zip(ids, categories, described, strict=True)
                if _parents(category) or _eliminated(dimension, name, codes)
            },
        )
        cells, remarks = observations.cells(reading, _measures(dataset, dimension, ids))
        for category, names in zip(described, categories, strict=True):
            _refuse_units(category, names, reading)
        return cells, [*notes, *remarks, *_flags(dataset)]

    def about(self, path: Path, reading: Reading) -> About:
        dataset, _ = _dataset(_parsed(path))
        label, source, day = (text_of(dataset.get(name)) for name in ("label", "source", "updated"))
        notes = dataset.get("note")
        sentences = map(text_of, notes if isinstance(notes, list) else [notes])
        extension, dimension = dataset.get("extension"), _mapping(dataset.get("dimension"), "dimension")
        units = [text_of(extension.get("unit"))] if isinstance(extension, dict) else []
        ids = _names(dataset.get("id", dimension.get("id")), "dimensions")
        for axis in _measures(dataset, dimension, ids):
            said = _category(dimension, ids[axis]).get("unit")
            stated = said.values() if isinstance(said, dict) else ()
            units += [
                text_of(one.get("label")) or text_of(one.get("base"))
                for one in stated
                if isinstance(one, dict)
            ]
        return About(
            label,
            notes=tuple(filter(None, sentences)),
            # Figures that were thousands of persons are persons.
            unit=next((unit for unit in units if unit and multiplier_in(unit) == 1), ""),
            source=source,
            date=day[:10],
            metadata={
                name: said
                for name in METADATA
                if isinstance(extension, dict) and (said := text_of(extension.get(name)))
            },
        )

    def write(self, table: Table) -> bytes:
        return _written(table, {"value": counts_shown(table, None)}, {})

    def publish(self, cube: Cube) -> bytes:
        hidden = cube.hidden
        said: dict[str, object] = {"label": cube.about.title} if cube.about.title else {}
        about = cube.about
        if about.sentences:
            said["note"] = about.sentences
        said |= {name: text for name, text in {"source": about.source, "updated": about.date}.items() if text}
        if cube.figures:
            said["role"] = {"metric": [cube.figures]}
        extension: dict[str, object] = {"unit": about.unit} if about.unit else {}
        extension |= about.metadata
        if hidden is not None:
            cells = np.flatnonzero(hidden).tolist()
            said["status"] = {str(cell): _CONFIDENTIAL for cell in cells}
            extension["status"] = {"label": {_CONFIDENTIAL: "confidential"}}
        children = {v.name: cube.children(v.name) for v in cube.table.domain.variables}
        values = [None if shown is None else number_shown(*shown) for shown in numbers_shown(cube)]
        decimals = cube.decimals_across if cube.figures else ()
        return _written(cube.table, {**said, "value": values}, extension, children, decimals)


def _written(
    table: Table,
    said: Mapping[str, object],
    extension: Mapping[str, object],
    children: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({}),
    decimals: Sequence[int] = (),
) -> bytes:
    """The file of a table; ``decimals`` are those of the categories of its last variable."""
    domain = table.domain
    last = domain.variables[-1] if decimals else None
    codes = () if last is None else last.categories
    units = {code: {"decimals": places} for code, places in zip(codes, decimals, strict=True)}
    extension = {**extension, **domain_json(domain, labels=False)}
    dataset = {
        "version": "2.0",
        "class": "dataset",
        "id": list(domain.names),
        "size": list(domain.shape),
        "dimension": {
            variable.name: {
                "label": variable.name,
                "category": {
                    "index": variable.categories,
                    **(
                        {"label": dict(zip(variable.categories, variable.labels, strict=True))}
                        if variable.labels
                        else {}
                    ),
                    **({"unit": units} if variable is last else {}),
                    **({"child": child} if (child := children.get(variable.name)) else {}),
                },
            }
            for variable in domain.variables
        },
        **said,
        **({"extension": extension} if extension else {}),
    }
    text = json.dumps(dataset, ensure_ascii=False, separators=(",", ":"))
    return (text + "\n").encode("utf-8")


def _parsed(path: Path) -> object:
    if path.stat().st_size > MOST_TEXT:
        raise InputError(
            message("the file is too large for JSON"), hint=message("take the table as CSV or Parquet")
        )
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(message("byte {start} is not UTF-8", error.start + 1), hint=_HINT) from None
    except json.JSONDecodeError as error:
        raise InputError(
            message("this is no JSON: {msg}", error.msg), line=error.lineno, hint=_HINT
        ) from None
    except (RecursionError, ValueError):
        raise InputError(message("this is no JSON that a table is in"), hint=_HINT) from None


def _dataset(parsed: object) -> tuple[Mapping[str, object], list[str]]:
    """The dataset of a file, and a note if there are several."""
    top = _mapping(parsed, "file")
    if "value" in top:
        return top, []
    links = top.get("link")
    items = links.get("item") if isinstance(links, dict) else None
    # Version 1: datasets by name; of version 2 a collection may hold them.
    listed = items if isinstance(items, list) else top.values()
    inside = [v for v in listed if isinstance(v, dict) and "value" in v]
    if not inside:
        kind = top.get("class")
        raise InputError(
            message("the file holds no JSON-stat dataset")
            + (message(" but a {kind}", kind) if kind in ("collection", "dimension") else ""),
            hint=message("open one of the datasets that it names") if kind == "collection" else _HINT,
        )
    notes = [message("the first of {inside} datasets was read", len(inside))] if len(inside) > 1 else []
    return inside[0], notes


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InputError(message("the {what} is not a JSON object", what), hint=_HINT)
    return value


def _names(value: object, what: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise InputError(message("the {what} are not named", what), hint=_HINT)
    return value


def _category(dimension: Mapping[str, object], name: str) -> Mapping[str, object]:
    own = _mapping(dimension.get(name), message("dimension {name}", repr(name)))
    return _mapping(own.get("category"), name)


def _categories(category: Mapping[str, object], name: str) -> tuple[str, ...]:
    index = category.get("index")
    if index is None:
        # The index of a single category may be left out.
        index = list(_mapping(category.get("label"), message("category of {name}", repr(name))))
    elif isinstance(index, dict):
        # Some services write numbers as text.
        places = {code: str(number) for code, number in index.items()}
        if sorted(places.values()) != sorted(map(str, range(len(index)))):
            raise InputError(
                message("the categories of {name} are not numbered from 0", repr(name)), hint=_HINT
            )
        index = sorted(places, key=lambda code: int(places[code]))
    names = _names(index, message("categories of {name}", repr(name)))
    check_categories(name, len(names))
    return tuple(names)


def _labels(category: Mapping[str, object]) -> dict[str, str]:
    """Code -> label."""
    found = category.get("label")
    said = found.items() if isinstance(found, dict) else ()
    return {code: text for code, text in said if isinstance(text, str) and text}


_NONE: Ints = np.empty(0, dtype=np.int64)


def _units(stated: Mapping[str, object], codes: Sequence[str], reading: Reading) -> list[int]:
    """The power of ten by which the values of each code are multiplied; none where a person says it."""
    said = [unit if isinstance(unit := stated.get(code), dict) else {} for code in codes]
    powers = [power_of(unit.get("multiplier") or 0) for unit in said]
    return powers if reading.scale is None else [0] * len(codes)


def _refuse_units(category: Mapping[str, object], codes: Sequence[str], reading: Reading) -> None:
    """Refuse a unit that is a multiple in words alone."""
    found = category.get("unit")
    stated: Mapping[str, object] = found if isinstance(found, dict) else {}
    read = [reading.count] if reading.count in codes else list(codes) if len(codes) == 1 else []
    for code in read:
        unit = stated.get(str(code))
        if isinstance(unit, dict) and not unit.get("multiplier"):
            refuse_units([text_of(unit.get(name)) for name in ("label", "base")], reading)


def _parents(category: Mapping[str, object]) -> dict[str, str]:
    """Code -> the code that it is part of."""
    found = category.get("child")
    said = found.items() if isinstance(found, dict) else ()
    parts = ((child, parent) for parent, children in said if isinstance(children, list) for child in children)
    return {child: parent for child, parent in parts if isinstance(child, str)}


def _eliminated(dimension: Mapping[str, object], name: str, codes: Sequence[str]) -> str | None:
    """The code that stands for all of a dimension, as services of PX state it in its extension."""
    own = dimension.get(name)
    said = own.get("extension") if isinstance(own, dict) else None
    found = said.get("eliminationValueCode") if isinstance(said, dict) else None
    return found if isinstance(found, str) and found in codes else None


def _values(
    dataset: Mapping[str, object], shape: tuple[int, ...]
) -> tuple[tuple[Codes, ...] | None, list[object], InPlace]:
    """The codes of the cells that have a value, the values, and the marks in their place."""
    value, cells = dataset.get("value"), math.prod(shape)

    def in_place(cell: int, text: str) -> tuple[str, str]:
        mark = text or _status(dataset.get("status"), cell)
        return mark, message("status {mark}", mark) if mark.lstrip(": ") in _HIDDEN else ""

    if isinstance(value, list) and len(value) == cells:
        return None, value, in_place
    if not isinstance(value, dict):
        raise InputError(message("there are not {cells:,} values, one for each cell", cells), hint=_HINT)
    try:
        keys = np.array([int(key) for key in value], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(message("the values are not numbered"), hint=_HINT) from None
    if len(keys) and not 0 <= keys.min() <= keys.max() < cells:
        raise InputError(message("a value has a number outside the table"), hint=_HINT)
    if len(np.unique(keys)) < len(keys):
        raise InputError(message("a value is listed twice"), hint=_HINT)
    codes = tuple(code.astype(np.int32) for code in np.unravel_index(keys, shape))
    return codes, list(value.values()), lambda at, text: in_place(int(keys[at]), text)


def _flags(dataset: Mapping[str, object]) -> list[str]:
    """The statuses of cells that have a value, counted, for people."""
    status, value = dataset.get("status"), dataset.get("value")
    listed = (
        status.items() if isinstance(status, dict) else enumerate(status if isinstance(status, list) else ())
    )
    found: Counter[str] = Counter()
    for cell, code in listed:
        known = value.get(str(cell)) if isinstance(value, dict) else None
        if isinstance(value, list) and str(cell).isdecimal() and int(cell) < len(value):
            known = value[int(cell)]
        if isinstance(code, str) and code and known is not None:
            found[code] += 1
    extension = dataset.get("extension")
    said = extension.get("status") if isinstance(extension, dict) else None
    labels = said.get("label") if isinstance(said, dict) else None
    named = labels if isinstance(labels, dict) else {}
    parts = [
        f"{n:,} {code}" + (f" ({named[code]})" if code in named else "") for code, n in sorted(found.items())
    ]
    return [message("status: {parts}", ", ".join(parts))] if parts else []


def _status(status: object, cell: int) -> str:
    """The status of a cell; empty if there is none."""
    if isinstance(status, str):
        return status
    found: object = None
    if isinstance(status, dict):
        found = status.get(str(cell))
    elif isinstance(status, list) and cell < len(status):
        found = status[cell]
    return found if isinstance(found, str) else ""


def _measures(
    dataset: Mapping[str, object], dimension: Mapping[str, object], ids: Sequence[str]
) -> list[int]:
    """The dimensions of measures, by their role."""
    role = dataset.get("role", dimension.get("role"))
    metric = role.get("metric", []) if isinstance(role, dict) else []
    return [axis for axis, name in enumerate(ids) if isinstance(metric, list) and name in metric]


PLUGIN = JsonStat()
