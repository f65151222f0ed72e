"""The table of a bundle as a Frictionless Data Package: ``datapackage.json`` and ``table.csv``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import cast

import numpy as np

from tabprotect import __version__
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.tables.domain import Domain, Variable
from tabprotect.engine.tables.files import write_csv
from tabprotect.engine.tables.table import DENSE_LIMIT, INT64_MAX, Table

PACKAGE = "datapackage.json"
TABLE = "table.csv"
COUNT = "count"

_WHOLE = re.compile(r"-?[0-9]{1,19}\Z")


def package_json(domain: Domain, title: str) -> bytes:
    """The bytes of ``datapackage.json``: variables with their categories in order, and counts."""
    names = list(domain.names)
    fields: list[dict[str, object]] = [
        {
            "name": v.name,
            "type": "string",
            "constraints": {"required": True, "enum": list(v.categories)},
        }
        for v in domain.variables
    ]
    fields.append({"name": COUNT, "type": "integer", "constraints": {"required": True}})
    package: dict[str, object] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(title),
        **({"title": title} if title else {}),
        "created_with": f"tabprotect {__version__}",
        "resources": [
            {
                "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
                "name": "table",
                "type": "table",
                "path": TABLE,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": fields, "primaryKey": names, "missingValues": []},
            },
            {
                "name": "mechanism",
                "path": "mechanism.json",
                "format": "json",
                "mediatype": "application/json",
            },
        ],
    }
    return dump_json(package)


def slug(title: str) -> str:
    """A title as a package name: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "release"


def table_csv(table: Table) -> bytes:
    """The bytes of ``table.csv``: every cell in order, one column per variable, then ``count``.

    Raises
    ------
    InputError
        When a variable is called ``count``.
    """
    domain = table.domain
    if COUNT in domain.names:
        raise InputError(
            f"a variable is called {COUNT!r}, like the column of the counts",
            hint="rename the variable",
        )
    return write_csv(table, count=COUNT)


def _member(data: object, key: str, kind: type) -> object:
    found = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(found, kind):
        raise BundleError(f"{PACKAGE}: {key!r} is missing or of the wrong kind")
    return found


def read_package(data: object) -> tuple[Domain, str]:
    """Domain and title out of a parsed ``datapackage.json``.

    Raises
    ------
    BundleError
        Naming what is missing or contradicts itself.
    """
    resources = cast("list[object]", _member(data, "resources", list))
    tables = [r for r in resources if isinstance(r, Mapping) and r.get("path") == TABLE]
    if len(tables) != 1:
        raise BundleError(f"{PACKAGE}: it must describe {TABLE} once")
    schema = _member(tables[0], "schema", dict)
    fields = cast("list[object]", _member(schema, "fields", list))
    names = [_member(field, "name", str) for field in fields]
    if len(fields) < 2 or names[-1] != COUNT:
        raise BundleError(f"{PACKAGE}: the last field must be {COUNT!r}")
    if _member(fields[-1], "type", str) != "integer":
        raise BundleError(f"{PACKAGE}: {COUNT!r} must be of type integer")
    if cast("dict[str, object]", schema).get("primaryKey") != names[:-1]:
        raise BundleError(f"{PACKAGE}: the primary key must be the variables {names[:-1]}")
    variables = []
    for field, name in zip(fields[:-1], names, strict=False):
        categories = _member(_member(field, "constraints", dict), "enum", list)
        if not all(isinstance(c, str) for c in cast("list[object]", categories)):
            raise BundleError(f"{PACKAGE}: a category of {name!r} is not text")
        variables.append((cast(str, name), tuple(cast("list[str]", categories))))
    title = data.get("title", "") if isinstance(data, Mapping) else ""
    if not isinstance(title, str):
        raise BundleError(f"{PACKAGE}: the title is not text")
    try:
        return Domain(tuple(Variable(n, c) for n, c in variables)), title
    except InputError as error:
        raise BundleError(f"{PACKAGE}: {error.message}") from None


def read_table(data: bytes, domain: Domain) -> Table:
    """The table out of ``table.csv``: every cell of the domain once, whole counts.

    Raises
    ------
    BundleError
        Naming the line.
    """
    if domain.size > DENSE_LIMIT:
        raise BundleError(f"{PACKAGE}: a table of {domain.size:,} cells: refused")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{TABLE}: not UTF-8 at byte {error.start}") from None
    table = _as_written(data, text, domain)
    return _read_lines(text, domain) if table is None else table


def _as_written(data: bytes, text: str, domain: Domain) -> Table | None:
    """The table, if these are exactly the bytes this program writes for it; else ``None``.

    Comparing whole files is several times as fast as looking at every field.
    """
    endings = [line.rpartition(",")[2] for line in text.split("\n")[1:-1]]
    if len(endings) != domain.size:
        return None
    try:
        counts = np.array([int(ending) for ending in endings], dtype=np.int64)
        table = Table.dense(domain, counts.reshape(domain.shape))
    except (ValueError, OverflowError, InputError):
        return None
    return table if table_csv(table) == data else None


def _read_lines(text: str, domain: Domain) -> Table:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    counts = np.zeros(domain.size, dtype=np.int64)
    seen = np.zeros(domain.size, dtype=np.bool_)
    try:
        header = next(rows, [])
        if header != [*domain.names, COUNT]:
            raise BundleError(f"{TABLE}, line 1: the columns are not those of {PACKAGE}")
        for row in rows:
            key = _key(row, domain, rows.line_num)
            if seen[key]:
                raise BundleError(f"{TABLE}, line {rows.line_num}: the cell occurs twice")
            if not _WHOLE.match(row[-1]) or abs(int(row[-1])) > INT64_MAX:
                raise BundleError(f"{TABLE}, line {rows.line_num}: the count is no whole number")
            counts[key], seen[key] = int(row[-1]), True
    except csv.Error as error:
        raise BundleError(f"{TABLE}, line {rows.line_num}: {error}") from None
    if not seen.all():
        cell = domain.cell_text(domain.unflat(int(np.argmin(seen))))
        raise BundleError(
            f"{TABLE}: {int((~seen).sum()):,} of {domain.size:,} cells are missing, first {cell}"
        )
    try:
        return Table.dense(domain, counts.reshape(domain.shape))
    except InputError as error:
        raise BundleError(f"{TABLE}: {error.message}") from None


def _key(row: list[str], domain: Domain, line: int) -> int:
    if len(row) != domain.ndim + 1:
        raise BundleError(f"{TABLE}, line {line}: {len(row)} fields, not {domain.ndim + 1}")
    key = 0
    try:
        for label, variable in zip(row, domain.variables, strict=False):
            key = key * len(variable.categories) + variable.code(label)
    except InputError as error:
        raise BundleError(f"{TABLE}, line {line}: {error.message}") from None
    return key
