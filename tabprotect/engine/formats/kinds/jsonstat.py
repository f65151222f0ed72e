"""JSON-stat 2, and datasets of JSON-stat 1: what many statistical offices' services answer with.

Categories are the codes of their dimensions, in the order of the file; of several datasets in one
file the first is read. A dimension of measures must have one category, and is left out. Values are
a list of all cells, or the listed ones by number; a cell whose value is null is refused, unless
missing cells are taken as 0. Written as version 2, every cell, categories as codes; suppressed counts
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
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.levels import as_json
from tabprotect.engine.tables.table import INT64_MAX, Table

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{.*"(class"\s*:\s*"dataset"|dimension"\s*:\s*\{)', re.DOTALL
)
_CONFIDENTIAL = "c"
"""As Eurostat marks them."""
_HINT = "ask the service for the dataset again, or take it as CSV"


class JsonStat(Format):
    label = "JSON-stat"
    suffixes = (".json", ".jsonstat")
    options = frozenset()
    levels = True
    labels = True
    limits = (
        "Notes, units and hierarchies of other programs are left out.",
        "A file has at most 512 MiB.",
    )

    def sniff(self, head: bytes) -> bool:
        return _HEAD.match(head) is not None

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        dataset, notes = _dataset(_parsed(path))
        dimension = _mapping(dataset.get("dimension"), "dimension")
        ids = _names(dataset.get("id", dimension.get("id")), "dimensions")
        size = dataset.get("size", dimension.get("size"))
        # Some services write the sizes as text.
        size = [str(number) for number in size] if isinstance(size, list) else size
        found = {name: _categories(dimension, name) for name in ids}
        categories = [known for known, _ in found.values()]
        if [str(len(known)) for known in categories] != size:
            raise InputError("the sizes of the dimensions are not those stated", hint=_HINT)
        cells = math.prod(map(len, categories))
        keys, counts = _values(dataset.get("value"), cells, ids, categories, reading)
        kept = _without_measures(dataset, dimension, ids, categories)
        if len(kept) < len(ids):
            notes.append(f"left out: {', '.join(n for n in ids if n not in kept)}, one measure")
        codes: tuple[Codes, ...] | None = None
        if keys is not None:
            places = np.unravel_index(keys, tuple(map(len, categories)))
            codes = tuple(
                code.astype(np.int32)
                for name, code in zip(ids, places, strict=True)
                if name in kept
            )
        known = tuple(c for name, c in zip(ids, categories, strict=True) if name in kept)
        extension = dataset.get("extension")
        stated = extension if isinstance(extension, dict) else {}
        labels = {name: labels for name, (_, labels) in found.items()}
        return CellList(kept, known, codes, counts, lambda entry: None, stated, labels), notes

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
    # Version 1: datasets by name.
    inside = [v for v in top.values() if isinstance(v, dict) and "value" in v]
    if not inside:
        raise InputError("the file holds no JSON-stat dataset", hint=_HINT)
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


def _categories(dimension: Mapping[str, Any], name: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Codes, and the labels of those that have one."""
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
    labels = category.get("label")
    said = labels.items() if isinstance(labels, dict) else ()
    return tuple(names), {code: text for code, text in said if isinstance(text, str) and text}


def _values(
    value: object,
    cells: int,
    ids: Sequence[str],
    categories: Sequence[tuple[str, ...]],
    reading: Reading,
) -> tuple[Ints | None, Ints]:
    """Cells and counts; no cells where every one has its value, in order."""
    if isinstance(value, dict):
        try:
            keys = [int(key) for key in value]
        except ValueError:
            raise InputError("the values are not numbered", hint=_HINT) from None
        if keys and not 0 <= min(keys) <= max(keys) < cells:
            raise InputError("a value has a number outside the table", hint=_HINT)
        listed = list(value.values())
    elif isinstance(value, list) and len(value) == cells:
        keys, listed = list(range(cells)), value
    else:
        raise InputError(f"there are not {cells:,} values, one for each cell", hint=_HINT)
    if not all(type(v) is int for v in listed) or (listed and not _fit(listed)):
        kept = [at for at, v in enumerate(listed) if v is not None or not reading.fill_missing]
        for at in kept:
            listed[at] = _count(listed[at], keys[at], categories)
        keys, listed = [keys[at] for at in kept], [listed[at] for at in kept]
    if len(set(keys)) < len(keys):
        raise InputError("a value is listed twice", hint=_HINT)
    counts = np.array(listed, dtype=np.int64)
    return (None if len(keys) == cells == len(value) and keys == [*range(cells)]
            else np.array(keys, dtype=np.int64)), counts  # fmt: skip


def _fit(listed: Sequence[int]) -> bool:
    return min(listed) >= 0 and max(listed) <= INT64_MAX


def _count(value: object, key: int, categories: Sequence[tuple[str, ...]]) -> int:
    text = "" if value is None else str(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    try:
        return parse_count(text)
    except NotACountError as error:
        labels = [c[i] for c, i in zip(categories, _index(key, categories), strict=True)]
        hint = error.hint
        if value is None:
            hint = "say that missing cells are 0 if they are: --fill-missing"
        raise InputError(str(error), cell=f"({', '.join(labels)})", hint=hint) from None


def _index(key: int, categories: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    index = []
    for known in reversed(categories):
        key, at = divmod(key, len(known))
        index.append(at)
    return tuple(reversed(index))


def _without_measures(
    dataset: Mapping[str, Any],
    dimension: Mapping[str, Any],
    ids: Sequence[str],
    categories: Sequence[tuple[str, ...]],
) -> tuple[str, ...]:
    """The dimensions that are variables: all but that of the measures, which must be one."""
    role = dataset.get("role", dimension.get("role"))
    metric = role.get("metric", []) if isinstance(role, dict) else []
    kept = []
    for name, known in zip(ids, categories, strict=True):
        if isinstance(metric, list) and name in metric and len(ids) > 1:
            if len(known) > 1:
                raise InputError(
                    f"the dimension {name!r} holds {len(known)} measures: {', '.join(known[:8])}",
                    hint="take the dataset with one of them",
                )
            continue
        kept.append(name)
    return tuple(kept)


PLUGIN = JsonStat()
