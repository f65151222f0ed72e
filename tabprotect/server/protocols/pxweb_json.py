"""JSON as PxWebApi says it: JSON-stat 2 with what its clients look for, JSON-stat 1 and PxWeb's own.

All of them are made from the one JSON-stat 2 that the program writes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from functools import partial

from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.formats.layouts.observations import texts_shown
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.variable import Variable
from tabprotect.server.asked_table import CONTENTS
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
        "id": [*(variable.name for variable in table.variables), *([CONTENTS] if table.figures else [])],
        "size": [
            *(len(variable.finest.categories) for variable in table.variables),
            *([len(table.figures)] if table.figures else []),
        ],
        "dimension": {v.name: dimension(v, address, language) for v in table.variables}
        | ({CONTENTS: _figures(table)} if table.figures else {}),
        **({"role": {"metric": [CONTENTS]}} if table.figures else {}),
        "value": [],
        "extension": {"px": _px(table.id, language), **_of_house()},
    }


def _figures(table: ListedTable) -> dict[str, object]:
    """The figures of a cell as a dimension; who does not ask for any gets the count alone."""
    places = {name: place for place, name in enumerate(table.figures)}
    labels = {name: name for name in table.figures}
    return {
        "label": CONTENTS,
        "category": {"index": places, "label": labels},
        "extension": {"elimination": True, "eliminationValueCode": "count", "show": "value"},
    }


def _of_house() -> dict[str, object]:
    """What the house says of all its tables; whom readers ask as PxWebApi has it."""
    told = dict(in_force().metadata)
    contact = told.pop("contact", "")
    return {**told, **({"contact": [{"raw": contact}]} if contact else {})}


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


def _dataset(cube: Cube) -> dict[str, object]:
    dataset: dict[str, object] = json.loads(OUTPUTS["json-stat2"].write(cube))
    dataset["dimension"] = {
        variable.name: {
            "label": variable.name,
            "category": {
                "index": {code: place for place, code in enumerate(variable.categories)},
                "label": labels_of(variable),
            },
            "extension": {"show": "value"},
        }
        for variable in cube.table.domain.variables
    }
    return dataset


def _json_stat2(name: str, language: str, cube: Cube) -> bytes:
    dataset = _dataset(cube)
    own = dataset.pop("extension", {})
    extension = {**(own if isinstance(own, dict) else {}), "px": _px(name, language)}
    return _bytes(dataset | {"extension": extension})


def _json_stat1(cube: Cube) -> bytes:
    said = _dataset(cube)
    dimensions = said["dimension"]
    assert isinstance(dimensions, dict)
    inside = {**dimensions, "id": said["id"], "size": said["size"]}
    if cube.figures:
        inside["role"] = said["role"]
    dataset = {"dimension": inside, "label": cube.about.title, "value": said["value"]}
    return _bytes({"dataset": dataset})


def _px_json(cube: Cube) -> bytes:
    """PxWeb's own: columns, and for each cell its key and its value, or its figures."""
    values = texts_shown(cube, hidden="..")
    front, figures = cube.table.domain.variables, ["count"]
    if cube.figures:
        front, figures = front[:-1], [*front[-1].categories]
    columns = [{"code": v.name, "text": v.name, "type": "d"} for v in front]
    columns += [{"code": name, "text": name, "type": "c"} for name in figures]
    keys, width = itertools.product(*(variable.categories for variable in front)), len(figures)
    data = [
        {"key": list(key), "values": values[width * place : width * (place + 1)]}
        for place, key in enumerate(keys)
    ]
    return _bytes({"columns": columns, "comments": [], "data": data})


def _bytes(said: Mapping[str, object]) -> bytes:
    return (json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def variables_listed(table: ListedTable) -> Sequence[dict[str, object]]:
    """The variables as PxWebApi 1 lists them."""
    listed = [
        {
            "code": variable.name,
            "text": variable.name,
            "values": list(variable.finest.categories),
            "valueTexts": list(labels_of(variable.finest).values()),
            "elimination": True,
        }
        for variable in table.variables
    ]
    names = list(table.figures)
    contents = {"code": CONTENTS, "text": CONTENTS, "values": names, "valueTexts": names, "elimination": True}
    return [*listed, contents] if names else listed
