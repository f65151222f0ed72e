"""JSON as PxWebApi says it: JSON-stat 2 with what its clients look for, JSON-stat 1 and PxWeb's own.

All of them are made from the one JSON-stat 2 that the program writes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from functools import partial

from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.server.egress import OUTPUTS, ServedFormat, Write
from tabprotect.server.protocols.catalogue import GROUPING, ListedTable, ListedVariable

MEDIA = "application/json"


def labels_of(variable: Variable) -> dict[str, str]:
    """Code -> label of every category."""
    return dict(zip(variable.categories, variable.labels or variable.categories, strict=True))


def dimension(variable: ListedVariable, address: str, language: str) -> dict[str, object]:
    """A variable as a dimension of the metadata."""
    own = variable.finest
    code_lists = [
        {
            "id": f"{GROUPING}{level.name}",
            "label": level.finest,
            "type": "Aggregation",
            "links": [
                {
                    "rel": "metadata",
                    "hreflang": language,
                    "href": f"{address}/codelists/{GROUPING}{level.name}",
                }
            ],
        }
        for level in variable.levels
    ]
    return {
        "label": variable.name,
        "category": {
            "index": {code: place for place, code in enumerate(own.categories)},
            "label": labels_of(own),
        },
        "extension": {"elimination": True, "show": "value", "codeLists": code_lists},
    }


def metadata(table: ListedTable, address: str, language: str) -> dict[str, object]:
    """A table without its numbers, as JSON-stat 2."""
    return {
        "version": "2.0",
        "class": "dataset",
        "href": f"{address}/tables/{table.id}/metadata",
        "label": table.label,
        "link": {"describes": [{"type": MEDIA, "href": f"{address}/tables/{table.id}/data"}]},
        "id": [variable.name for variable in table.variables],
        "size": [len(variable.finest.categories) for variable in table.variables],
        "dimension": {v.name: dimension(v, address, language) for v in table.variables},
        "value": [],
        "extension": {"px": _px(table.id, language)},
    }


def _px(name: str, language: str) -> dict[str, object]:
    return {"tableid": name, "matrix": name, "decimals": 0, "language": language}


def output_for(name: str, table: ListedTable, language: str) -> ServedFormat | None:
    """A format as clients of PxWebApi expect it; ``None`` where there is none of that name."""
    made: Mapping[str, Write] = {
        "json-stat2": partial(_json_stat2, table.id, language),
        "json-stat": _json_stat1,
        "json": _px_json,
    }
    if name in made:
        return ServedFormat(f"{name} {table.id} {language}", MEDIA, "json", made[name])
    return OUTPUTS.get(name)


def _dataset(table: Table, title: str) -> dict[str, object]:
    dataset: dict[str, object] = json.loads(OUTPUTS["json-stat2"].write(table, title))
    dataset["dimension"] = {
        variable.name: {
            "label": variable.name,
            "category": {
                "index": {code: place for place, code in enumerate(variable.categories)},
                "label": labels_of(variable),
            },
            "extension": {"show": "value"},
        }
        for variable in table.domain.variables
    }
    return dataset


def _json_stat2(name: str, language: str, table: Table, title: str) -> bytes:
    dataset = _dataset(table, title)
    own = dataset.pop("extension", {})
    extension = {**(own if isinstance(own, dict) else {}), "px": _px(name, language)}
    return _bytes(dataset | {"extension": extension})


def _json_stat1(table: Table, title: str) -> bytes:
    said = _dataset(table, title)
    dimensions = said["dimension"]
    assert isinstance(dimensions, dict)
    inside = {**dimensions, "id": said["id"], "size": said["size"]}
    dataset = {"dimension": inside, "label": title, "value": said["value"]}
    return _bytes({"dataset": dataset})


def _px_json(table: Table, title: str) -> bytes:
    """PxWeb's own: columns, and for each cell its key and its value."""
    dataset = _dataset(table, title)
    values = dataset["value"]
    assert isinstance(values, list)
    columns = [{"code": n, "text": n, "type": "d"} for n in table.domain.names]
    columns.append({"code": "count", "text": "count", "type": "c"})
    keys = itertools.product(*(variable.categories for variable in table.domain.variables))
    data = [
        {"key": list(key), "values": [".." if value is None else str(value)]}
        for key, value in zip(keys, values, strict=True)
    ]
    return _bytes({"columns": columns, "comments": [], "data": data})


def _bytes(said: Mapping[str, object]) -> bytes:
    return (json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def variables_listed(table: ListedTable) -> Sequence[dict[str, object]]:
    """The variables as PxWebApi 1 lists them."""
    return [
        {
            "code": variable.name,
            "text": variable.name,
            "values": list(variable.finest.categories),
            "valueTexts": list(labels_of(variable.finest).values()),
            "elimination": True,
        }
        for variable in table.variables
    ]
