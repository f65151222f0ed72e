"""Frictionless data packages (``datapackage.json``) and table schemas as the descriptions that CSVW has.

Of a resource (https://specs.frictionlessdata.io) it takes the dialect, the types of fields, the signs of
numbers and of missing ones, title, description, sources and date; the rest is that of CSVW.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

PACKAGE = "datapackage.json"
"""The name of the file that describes what stands in its folder."""

Json = Mapping[str, object]


def as_csvw(said: object, name: str) -> dict[str, object] | None:
    """The description of the file ``name`` in the words of CSVW; ``None`` where there is none."""
    top = cast(Json, said) if isinstance(said, Mapping) else {}
    listed = top.get("resources")
    resources = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    found = next((one for one in resources if _file(one.get("path")) == name), None)
    if found is None:
        return None
    schema = found.get("schema")
    schema = schema if isinstance(schema, Mapping) else {}
    fields = schema.get("fields")
    nulls = schema.get("missingValues", found.get("missingValues"))
    columns = [
        _column(field, nulls) for field in fields if isinstance(field, Mapping)
    ] if isinstance(fields, list) else []  # fmt: skip
    sources = found.get("sources", top.get("sources"))
    source = next((one.get("title") for one in sources if isinstance(one, Mapping)), None) if (
        isinstance(sources, list)
    ) else None  # fmt: skip
    return {
        "url": name,
        "dc:title": found.get("title", top.get("title")),
        "dc:description": found.get("description", top.get("description")),
        "dc:source": source,
        "dc:date": top.get("created"),
        "dialect": _dialect(found),
        "tableSchema": {"columns": columns, "primaryKey": schema.get("primaryKey")},
    }


def _file(path: object) -> str:
    path = path[0] if isinstance(path, list) and path else path
    return path.rpartition("/")[2] if isinstance(path, str) else ""


def _column(field: Json, nulls: object) -> dict[str, object]:
    signs = {name: field.get(name) for name in ("decimalChar", "groupChar")}
    name = field.get("name")
    return {
        "titles": name,
        "name": name,
        "datatype": {"base": field.get("type", "string"), "format": signs},
        "null": field.get("missingValues", nulls),
        # No word of the standard: what publishers write who state a unit.
        "schema:unitText": field.get("unit"),
    }


def _dialect(resource: Json) -> dict[str, object]:
    said = resource.get("dialect")
    dialect = said if isinstance(said, Mapping) else {}
    rows = dialect.get("headerRows")
    first = rows[0] if isinstance(rows, list) and rows else 1
    return {
        "delimiter": dialect.get("delimiter"),
        "encoding": resource.get("encoding"),
        "commentPrefix": dialect.get("commentChar"),
        "skipRows": first - 1 if type(first) is int else 0,
    }
