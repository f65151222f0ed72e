"""The tables of a bundle as a Frictionless Data Package: ``datapackage.json`` and CSV files.

The main table is ``table.csv``; further ones are ``table-2.csv`` and so on. Suppressed cells have no
count.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message, plural
from tabprotect.version import __version__

PACKAGE = "datapackage.json"
TABLE = "table.csv"
COUNT = "count"

_WHOLE = re.compile(r"-?[0-9]{1,19}\Z")


TABLES = re.compile(r"table(-([2-9]|[1-9][0-9]{1,3}))?\.csv\Z")
"""The pattern of the tables' file names."""


def table_name(number: int) -> str:
    """The file name of a table by its number, from 0."""
    return TABLE if number == 0 else f"table-{number + 1}.csv"


def package_json(release: Release, *, description: str = "") -> bytes:
    """The bytes of ``datapackage.json``: variables with their categories in order, and counts."""
    title = release.title
    tables: list[dict[str, object]] = [
        _resource(published, table_name(number)) for number, published in enumerate(release.tables)
    ]
    package: dict[str, object] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(title),
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        "created_with": message("tabprotect {version}", __version__),
        "resources": [
            *tables,
            {
                "name": "mechanism",
                "path": "mechanism.json",
                "format": "json",
                "mediatype": "application/json",
            },
        ],
    }
    return dump_json(package)


def _resource(published: PublishedTable, path: str) -> dict[str, object]:
    domain, hiding = published.table.domain, published.suppressed is not None
    fields: list[dict[str, object]] = [
        {"name": v.name, "type": "string", "constraints": {"required": True, "enum": list(v.categories)}}
        for v in domain.variables
    ]
    fields.append({"name": COUNT, "type": "integer", "constraints": {"required": not hiding}})
    return {
        "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
        "name": path.removesuffix(".csv"),
        "type": "table",
        "path": path,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {
            "fields": fields,
            "primaryKey": list(domain.names),
            "missingValues": [""] if hiding else [],
        },
    }


def slug(title: str) -> str:
    """A title as a package name: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "release"


def table_csv(published: PublishedTable) -> bytes:
    """The bytes of a table: every cell in order, one column per variable, then ``count``.

    Raises
    ------
    InputError
        When a variable is named ``count``.
    """
    table = published.table
    if COUNT in table.domain.names:
        raise InputError(
            message("a variable is called {COUNT}, like the column of the counts", repr(COUNT)),
            hint=message("rename the variable"),
        )
    return write_csv(table, count=COUNT, without=published.suppressed)


def _member(data: object, key: str, kind: type) -> object:
    found = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(found, kind):
        raise BundleError(message("{PACKAGE}: {key} is missing or of the wrong kind", PACKAGE, repr(key)))
    return found


@dataclass(frozen=True)
class Described:
    """A table as described in ``datapackage.json``."""

    name: str
    domain: Domain
    hiding: bool


def read_package(data: object) -> tuple[tuple[Described, ...], str]:
    """The tables and the title from a parsed ``datapackage.json``.

    Raises
    ------
    BundleError
        Naming what is missing or contradictory.
    """
    resources = cast("list[object]", _member(data, "resources", list))
    found = [r for r in resources if isinstance(r, Mapping) and TABLES.match(str(r.get("path")))]
    expected = [table_name(number) for number in range(len(found))]
    if not found or [r["path"] for r in found] != expected:
        raise BundleError(
            message("{PACKAGE}: it must describe {TABLE} once, further ones in order", PACKAGE, TABLE)
        )
    title = data.get("title", "") if isinstance(data, Mapping) else ""
    if not isinstance(title, str):
        raise BundleError(message("{PACKAGE}: the title is not text", PACKAGE))
    return tuple(map(_described, found)), title


def _described(resource: Mapping[str, object]) -> Described:
    schema = cast("dict[str, object]", _member(resource, "schema", dict))
    fields = cast("list[object]", _member(schema, "fields", list))
    names = [_member(field, "name", str) for field in fields]
    if not fields or names[-1] != COUNT:
        raise BundleError(message("{PACKAGE}: the last field must be {COUNT}", PACKAGE, repr(COUNT)))
    if _member(fields[-1], "type", str) != "integer":
        raise BundleError(message("{PACKAGE}: {COUNT} must be of type integer", PACKAGE, repr(COUNT)))
    if schema.get("primaryKey") != names[:-1]:
        raise BundleError(
            message("{PACKAGE}: the primary key must be the variables {names}", PACKAGE, names[:-1])
        )
    variables = []
    for field, name in zip(fields[:-1], names, strict=False):
        categories = _member(_member(field, "constraints", dict), "enum", list)
        if not all(isinstance(c, str) for c in cast("list[object]", categories)):
            raise BundleError(message("{PACKAGE}: a category of {name} is not text", PACKAGE, repr(name)))
        variables.append((cast(str, name), tuple(cast("list[str]", categories))))
    missing = schema.get("missingValues", [])
    if missing not in ([], [""]):
        raise BundleError(message("{PACKAGE}: missing values must be empty fields", PACKAGE))
    try:
        domain = Domain(tuple(Variable(n, c) for n, c in variables))
    except InputError as error:
        raise BundleError(message("{PACKAGE}: {message}", PACKAGE, error.message)) from None
    return Described(str(resource["path"]), domain, bool(missing))


def read_table(data: bytes, domain: Domain, *, name: str = TABLE, hiding: bool = False) -> PublishedTable:
    """Read a table from its file: every cell of the domain once, with whole counts.

    Parameters
    ----------
    hiding
        True if counts may be missing (suppressed).

    Raises
    ------
    BundleError
        Naming the line.
    """
    if domain.size > DENSE_LIMIT:
        raise BundleError(message("{PACKAGE}: a table of {size:,} cells: refused", PACKAGE, domain.size))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BundleError(message("{name}: not UTF-8 at byte {start}", name, error.start)) from None
    table = None if hiding else _as_written(data, domain)
    if table is not None:
        return PublishedTable(table)
    return _read_lines(text, domain, name, hiding)


def _as_written(data: bytes, domain: Domain) -> Table | None:
    """The table, if the bytes are exactly those this program writes for it; else ``None``.

    Comparing whole files is several times faster than parsing every field.
    """
    characters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))[1:]
    if len(ends) != domain.size:
        return None
    # Digits are read from the last one on; anything else shows when the bytes are compared.
    counts, scale = np.zeros(domain.size, dtype=np.int64), 1
    at, open_ = ends - 1, np.arange(domain.size)
    for _ in range(19):
        digit = characters[at[open_]].astype(np.int64) - ord("0")
        inside = (digit >= 0) & (digit <= 9)
        open_ = open_[inside]
        if not len(open_):
            break
        counts[open_] += digit[inside] * scale
        at[open_] -= 1
        scale *= 10
    counts[characters[at] == ord("-")] *= -1
    try:
        table = Table.dense(domain, counts.reshape(domain.shape))
        return table if table_csv(PublishedTable(table)) == data else None
    except InputError:
        return None


def _read_lines(text: str, domain: Domain, name: str, hiding: bool) -> PublishedTable:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    counts = np.zeros(domain.size, dtype=np.int64)
    seen = np.zeros(domain.size, dtype=np.bool_)
    hidden = np.zeros(domain.size, dtype=np.bool_)
    try:
        header = next(rows, [])
        if header != [*domain.names, COUNT]:
            raise BundleError(
                message("{name}, line 1: the columns are not those of {PACKAGE}", name, PACKAGE)
            )
        for row in rows:
            key = _key(row, domain, message("{name}, line {line_num}", name, rows.line_num))
            if seen[key]:
                raise BundleError(
                    message("{name}, line {line_num}: the cell occurs twice", name, rows.line_num)
                )
            if hiding and row[-1] == "":
                hidden[key] = True
            elif not _WHOLE.match(row[-1]) or abs(int(row[-1])) > INT64_MAX:
                raise BundleError(
                    message("{name}, line {line_num}: the count is no whole number", name, rows.line_num)
                )
            else:
                counts[key] = int(row[-1])
            seen[key] = True
    except csv.Error as error:
        raise BundleError(message("{name}, line {line_num}: {error}", name, rows.line_num, error)) from None
    if not seen.all():
        cell = domain.cell_text(domain.unflat(int(np.argmin(seen))))
        missing = int((~seen).sum())
        raise BundleError(
            plural(
                missing,
                "{name}: {missing:,} of {size:,} cells is missing, first {cell}",
                "{name}: {missing:,} of {size:,} cells are missing, first {cell}",
                name,
                missing,
                domain.size,
                cell,
            )
        )
    try:
        table = Table.dense(domain, counts.reshape(domain.shape))
        return PublishedTable(table, hidden.reshape(domain.shape))
    except InputError as error:
        raise BundleError(message("{name}: {message}", name, error.message)) from None


def _key(row: list[str], domain: Domain, place: str) -> int:
    if len(row) != domain.ndim + 1:
        raise BundleError(message("{place}: {row} fields, not {ndim}", place, len(row), domain.ndim + 1))
    key = 0
    try:
        for label, variable in zip(row, domain.variables, strict=False):
            key = key * len(variable.categories) + variable.code(label)
    except InputError as error:
        raise BundleError(message("{place}: {message}", place, error.message)) from None
    return key
