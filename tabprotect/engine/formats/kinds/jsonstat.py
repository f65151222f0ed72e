"""JSON-stat 2, and datasets of JSON-stat 1: what many statistical offices' services answer with.

Categories are the codes of their dimensions (or their labels), in the order of the file; of several datasets in one
file (or a collection that holds them) the first is read. Of a dimension of measures one is read,
which `count` names where there are several. Values are a list of all cells, or the listed ones by
number; where a value is null it is asked what that means, by its status, unless missing cells are
taken as 0; where the status says that it is confidential, it is refused. Written as version 2, every cell, categories as codes; suppressed counts
are null with the status c. The labels of categories are kept beside their codes. The levels of
variables and structural zeros stand in the dataset's `extension`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.budgets import MOST_TEXT as MOST_BYTES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.code_labels import labelled
from tabprotect.engine.formats.layouts.count_marks import CountMarks, absent
from tabprotect.engine.formats.layouts.several_measures import chosen_measures
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain_json import as_json
from tabprotect.engine.tables.table import INT64_MAX, Table

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{.*"(class"\s*:\s*"dataset"|dimension"\s*:\s*\{)', re.DOTALL
)
_CONFIDENTIAL = "c"
"""As Eurostat marks them."""
_HIDDEN = frozenset({_CONFIDENTIAL, "C", "Q", "x"})
"""Statuses of values that are suppressed, of offices that mark them so."""
_HINT = "ask the service for the dataset again, or take it as CSV"


class JsonStat(Format):
    label = "JSON-stat"
    suffixes = (".json", ".jsonstat")
    begins = _HEAD
    options = frozenset({"count", "labels", "marks"})
    levels = True
    labels = True
    limits = (
        "Notes, units and hierarchies of other programs are left out.",
        "A file has at most 512 MiB.",
    )

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        dataset, notes = _dataset(_parsed(path))
        dimension = _mapping(dataset.get("dimension"), "dimension")
        ids = _names(dataset.get("id", dimension.get("id")), "dimensions")
        size = dataset.get("size", dimension.get("size"))
        # Some services write the sizes as text, and leave those of 1 out.
        size = [str(number) for number in size] if isinstance(size, list) else []
        categories = [_categories(dimension, name) for name in ids]
        sizes = [str(len(known)) for known in categories]
        if [s for s in sizes if s != "1"] != [s for s in size if s != "1"]:
            raise InputError("the sizes of the dimensions are not those stated", hint=_HINT)
        cells = math.prod(map(len, categories))
        chosen = chosen_measures(_measures(dataset, dimension, ids), ids, categories, reading)
        kept = tuple(name for axis, name in enumerate(ids) if axis not in chosen)
        if len(kept) < len(ids):
            notes.append(f"left out: {', '.join(n for n in ids if n not in kept)}, one measure")
        keys, listed = _values(dataset.get("value"), cells)
        if any(len(categories[axis]) > 1 for axis in chosen):
            keys, listed = _of_measure(keys, listed, categories, chosen)
        keys, counts, gaps = _counts(keys, listed, dataset.get("status"), categories, reading)
        whole = len(keys) == cells and bool((keys == np.arange(cells)).all())
        codes: tuple[Codes, ...] | None = None
        if not whole:
            found = np.unravel_index(keys, tuple(map(len, categories)))
            codes = tuple(
                code.astype(np.int32) for name, code in zip(ids, found, strict=True) if name in kept
            )
        if reading.labels:
            categories = [
                labelled(known, _labels(dimension, name))
                for name, known in zip(ids, categories, strict=True)
            ]
        known = tuple(c for name, c in zip(ids, categories, strict=True) if name in kept)
        extension = dataset.get("extension")
        cells_found = CellList(
            kept,
            known,
            codes,
            counts,
            lambda entry: None,
            stated=extension if isinstance(extension, dict) else {},
            labels={} if reading.labels else {name: _labels(dimension, name) for name in kept},
            gaps=gaps,
        )
        return cells_found, notes

    def write(self, table: Table) -> bytes:
        return _written(table, {}, {})

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        said: dict[str, object] = {"label": title} if title else {}
        extension: dict[str, object] = {}
        if hidden is not None:
            cells = np.flatnonzero(hidden).tolist()
            said["status"] = {str(cell): _CONFIDENTIAL for cell in cells}
            extension["status"] = {"label": {_CONFIDENTIAL: "confidential"}}
        return _written(table, said, extension, hidden)


def _written(
    table: Table,
    said: Mapping[str, object],
    extension: Mapping[str, object],
    hidden: Bools | None = None,
) -> bytes:
    domain = table.domain
    extension = {**extension, **as_json(domain, labels=False)}
    values: list[int | None] = [*table.counts.reshape(-1).tolist()]
    for cell in () if hidden is None else np.flatnonzero(hidden).tolist():
        values[cell] = None
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
                },
            }
            for variable in domain.variables
        },
        "value": values,
        **said,
        **({"extension": extension} if extension else {}),
    }
    text = json.dumps(dataset, ensure_ascii=False, separators=(",", ":"))
    return (text + "\n").encode("utf-8")


def _parsed(path: Path) -> object:
    if path.stat().st_size > MOST_BYTES:
        raise InputError("the file is too large for JSON", hint="take the table as CSV or Parquet")
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8", hint=_HINT) from None
    except json.JSONDecodeError as error:
        raise InputError(f"this is no JSON: {error.msg}", line=error.lineno, hint=_HINT) from None
    except (RecursionError, ValueError):
        raise InputError("this is no JSON that a table is in", hint=_HINT) from None


def _dataset(parsed: object) -> tuple[Mapping[str, Any], list[str]]:
    """The dataset of a file, and a note where there are several."""
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
            "the file holds no JSON-stat dataset"
            + (f" but a {kind}" if kind in ("collection", "dimension") else ""),
            hint="open one of the datasets that it names" if kind == "collection" else _HINT,
        )
    notes = [f"the first of {len(inside)} datasets was read"] if len(inside) > 1 else []
    return inside[0], notes


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"the {what} is not a JSON object", hint=_HINT)
    return value


def _names(value: object, what: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise InputError(f"the {what} are not named", hint=_HINT)
    return value


def _categories(dimension: Mapping[str, Any], name: str) -> tuple[str, ...]:
    category = _mapping(_mapping(dimension.get(name), f"dimension {name!r}").get("category"), name)
    index = category.get("index")
    if index is None:
        # Of a single category the index may be left out.
        index = list(_mapping(category.get("label"), f"category of {name!r}"))
    elif isinstance(index, dict):
        if sorted(map(repr, index.values())) != sorted(map(repr, range(len(index)))):
            raise InputError(f"the categories of {name!r} are not numbered from 0", hint=_HINT)
        index = sorted(index, key=index.__getitem__)
    names = _names(index, f"categories of {name!r}")
    check_categories(name, len(names))
    return tuple(names)


def _labels(dimension: Mapping[str, Any], name: str) -> dict[str, str]:
    """Code -> label."""
    found = dimension[name]["category"].get("label")
    said = found.items() if isinstance(found, dict) else ()
    return {code: text for code, text in said if isinstance(text, str) and text}


def _values(value: object, cells: int) -> tuple[Ints, list[object]]:
    """Cells and what stands there."""
    if isinstance(value, dict):
        try:
            keys = np.array([int(key) for key in value], dtype=np.int64)
        except (ValueError, OverflowError):
            raise InputError("the values are not numbered", hint=_HINT) from None
        if len(keys) and not 0 <= keys.min() <= keys.max() < cells:
            raise InputError("a value has a number outside the table", hint=_HINT)
        if len(np.unique(keys)) < len(keys):
            raise InputError("a value is listed twice", hint=_HINT)
        return keys, list(value.values())
    if isinstance(value, list) and len(value) == cells:
        return np.arange(cells, dtype=np.int64), value
    raise InputError(f"there are not {cells:,} values, one for each cell", hint=_HINT)


def _of_measure(
    keys: Ints,
    listed: list[object],
    categories: Sequence[tuple[str, ...]],
    chosen: Mapping[int, int],
) -> tuple[Ints, list[object]]:
    """The values of the chosen measures alone."""
    places = np.unravel_index(keys, tuple(map(len, categories)))
    here = np.flatnonzero(
        np.logical_and.reduce([places[axis] == code for axis, code in chosen.items()])
    )
    return keys[here], [listed[at] for at in here.tolist()]


def _counts(
    keys: Ints,
    listed: list[object],
    status: object,
    categories: Sequence[tuple[str, ...]],
    reading: Reading,
) -> tuple[Ints, Ints, bool]:
    """Cells with a count, their counts, and whether there are others."""
    if all(type(v) is int for v in listed) and (not listed or _fit(listed)):  # type: ignore[arg-type]
        return keys, np.array(listed, dtype=np.int64), False
    marks = CountMarks.parse(reading.marks)
    kept, counts = [], []
    for at, (key, value) in enumerate(zip(keys.tolist(), listed, strict=True)):
        text = "" if value is None else str(value)
        if isinstance(value, float) and value.is_integer():
            text = str(int(value))
        try:
            if text and not marks.known(text):
                count: int | None = parse_count(text)
            else:
                mark = text or _status(status, key)
                withheld = f"status {mark}" if mark in _HIDDEN else ""
                count = absent(mark, marks, withheld=withheld, fill=reading.fill_missing)
        except NotACountError as error:
            labels = [c[i] for c, i in zip(categories, _index(key, categories), strict=True)]
            cell = f"({', '.join(labels)})"
            raise InputError(str(error), cell=cell, hint=error.hint) from None
        if count is not None:
            kept.append(at)
            counts.append(count)
    return keys[kept], np.array(counts, dtype=np.int64), len(kept) < len(listed)


def _status(status: object, key: int) -> str:
    """The status of a cell; nothing where there is none."""
    if isinstance(status, str):
        return status
    found: object = None
    if isinstance(status, dict):
        found = status.get(str(key))
    elif isinstance(status, list) and key < len(status):
        found = status[key]
    return found if isinstance(found, str) else ""


def _fit(listed: Sequence[int]) -> bool:
    return min(listed) >= 0 and max(listed) <= INT64_MAX


def _index(key: int, categories: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    index = []
    for known in reversed(categories):
        key, at = divmod(key, len(known))
        index.append(at)
    return tuple(reversed(index))


def _measures(
    dataset: Mapping[str, Any], dimension: Mapping[str, Any], ids: Sequence[str]
) -> list[int]:
    """The dimensions of measures, by their role."""
    role = dataset.get("role", dimension.get("role"))
    metric = role.get("metric", []) if isinstance(role, dict) else []
    found = [axis for axis, name in enumerate(ids) if isinstance(metric, list) and name in metric]
    return found if len(found) < len(ids) else []


PLUGIN = JsonStat()
