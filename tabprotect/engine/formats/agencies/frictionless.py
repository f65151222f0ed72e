"""A Frictionless Data Package beside a file of delimited text: what each of its columns is.

Beside ``t.csv`` stands ``t.datapackage.json``, by https://datapackage.org: the fields with their types and
categories, the key, and what is told beside the numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, FREE
from tabprotect.engine.tables.cube import About, Cube

SUFFIX = ".datapackage.json"


def slug(title: str) -> str:
    """A title as a package name: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "release"


def told(about: About) -> dict[str, object]:
    """What a package says of itself; nothing of what was not given."""
    metadata = dict(about.metadata)
    licence, publisher = metadata.pop("licence", ""), metadata.pop("publisher", "")
    contact = metadata.pop("contact", "")
    said: dict[str, object] = {
        "title": about.title,
        "description": " ".join(about.sentences),
        "sources": [{"title": about.source}] if about.source else [],
        "created": f"{about.date}T00:00:00Z" if about.date else "",
        "licenses": [_licence(licence)] if licence else [],
        "contributors": [
            {"title": title, "roles": [role]}
            for title, role in ((publisher, "publisher"), (contact, "contact"))
            if title
        ],
        **metadata,
    }
    return {name: text for name, text in said.items() if text}


def _licence(text: str) -> dict[str, str]:
    """A licence by its address, or by its name, of which the standard allows letters, figures and ``-._``."""
    if re.match("https?://", text):
        return {"path": text, "title": text}
    return {"name": re.sub(r"[^-a-zA-Z0-9._]+", "-", text), "title": text}


def package(name: str, cube: Cube, count: str, beside: Sequence[str]) -> bytes:
    """Describe a file of a cube.

    Parameters
    ----------
    name, count
        Of the file, and of the column of its numbers.
    beside
        The columns of figures behind the first.
    """
    variables = cube.table.domain.variables
    places = cube.decimals_across if beside else (cube.decimals,)
    fields: list[dict[str, object]] = [
        {"name": one.name, "type": "string", "constraints": {"required": True, "enum": list(one.categories)}}
        for one in (variables[:-1] if beside else variables)
    ]
    key = [field["name"] for field in fields]
    unit = {"unit": cube.about.unit} if cube.about.unit else {}
    for column, decimals in zip((count, *beside), places, strict=True):
        fields.append({"name": column, "type": "number" if decimals else "integer", **unit})
    if cube.hidden is not None:
        codes = {"enum": [FREE, CONFIDENTIAL]}
        fields.append({"name": CONF_STATUS, "type": "string", "constraints": codes})
    said = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(cube.about.title or name),
        **told(cube.about),
        "resources": [
            {
                "name": slug(name.partition(".")[0]),
                "type": "table",
                "path": name,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": fields, "primaryKey": key, "missingValues": [""]},
            }
        ],
    }
    return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode()
