"""The tables of a bundle as a Frictionless Data Package: ``datapackage.json`` and CSV files.

The main table is ``table.csv``; further ones are ``table-2.csv`` and so on. Suppressed cells have no
count. Tables of magnitudes have a row for each cell with its value and status, totals among them.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.bundle.tables.about import about_release
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.formats.agencies.frictionless import slug, told
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.plain_values.metadata import check_said
from tabprotect.engine.release.published_magnitudes import BESIDE, MOST_EMPTY, PLACES, PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message, plural
from tabprotect.version import __version__

PACKAGE = "datapackage.json"
TABLE = "table.csv"
COUNT = "count"
VALUE, STATUS = "value", "status"
HIDDEN = "hidden"
"""The status of a value that is not published; why it is hidden is never told."""

EMPTY = -1
"""In place of whether a cell is hidden: it has no records."""

_WHOLE = re.compile(r"-?[0-9]{1,19}\Z")


TABLES = re.compile(r"table(-([2-9]|[1-9][0-9]{1,3}))?\.csv\Z")
"""The pattern of the tables' file names."""


def table_name(number: int) -> str:
    """The file name of a table by its number, from 0."""
    return TABLE if number == 0 else f"table-{number + 1}.csv"


def package_json(release: Release, *, description: str = "") -> bytes:
    """The bytes of ``datapackage.json``: variables with their categories in order, and measures."""
    title = release.title
    tables: list[dict[str, object]] = [
        _resource(published, table_name(number)) for number, published in enumerate(release.published)
    ]
    package: dict[str, object] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(title),
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        **_said(release),
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


@dataclass(frozen=True)
class Said:
    """The title, and what else a bundle says of itself, by the names of ``TABLE_TEXTS``."""

    title: str
    metadata: Mapping[str, str]


def _said(release: Release) -> dict[str, object]:
    """What the publisher says of a release, as Frictionless has it, and by our own names to be read again."""
    if not release.metadata:
        return {}
    about = about_release(release, house={})
    return {
        **told(replace(about, title="", changed="", facts=(), notes=())),
        "metadata": dict(release.metadata),
    }


def _resource(published: PublishedTable | PublishedMagnitudes, path: str) -> dict[str, object]:
    if isinstance(published, PublishedTable):
        hiding = published.suppressed is not None
        categories = published.table.domain.categories
        measures: list[dict[str, object]] = [
            {"name": COUNT, "type": "integer", "constraints": {"required": not hiding}}
        ]
    else:
        hiding = True
        categories = {variable.name: variable.written for variable in published.variables}
        value = {"measure": published.measure, "decimals": published.decimals, "weighted": published.weighted}
        measures = [{"name": VALUE, "type": "number", **value}, {"name": STATUS, "type": "string"}]
        measures += [{"name": name, "type": "number"} for name in published.beside]
    fields: list[dict[str, object]] = [
        {"name": name, "type": "string", "constraints": {"required": True, "enum": list(own)}}
        for name, own in categories.items()
    ]
    return {
        "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
        "name": path.removesuffix(".csv"),
        "type": "table",
        "path": path,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {
            "fields": [*fields, *measures],
            "primaryKey": list(categories),
            "missingValues": [""] if hiding else [],
        },
    }


def table_csv(published: PublishedTable | PublishedMagnitudes) -> bytes:
    """The bytes of a table: every cell in order, one column per variable, then those of its measure.

    These are ``count``, or ``value``, ``status`` and what is published beside it.

    Raises
    ------
    InputError
        When a variable is named as one of these.
    """
    if isinstance(published, PublishedTable):
        _refuse_taken(published.table.domain.names, (COUNT,))
        return write_csv(published.table, count=COUNT, without=published.suppressed)
    names, columns = [v.name for v in published.variables], (VALUE, STATUS, *published.beside)
    _refuse_taken(names, columns)
    rows = ([*labels, *figures] for labels, figures in magnitude_rows(published))
    return csv_rows([*names, *columns], rows).encode()


def _refuse_taken(names: Sequence[str], columns: Sequence[str]) -> None:
    for name in columns:
        if name in names:
            raise InputError(
                message("a variable is called {COUNT}, like the column of the counts", repr(name))
                if name == COUNT
                else message("a variable is called {name}, like a column of the magnitudes", repr(name)),
                hint=message("rename the variable"),
            )


def magnitude_rows(published: PublishedMagnitudes) -> Iterator[tuple[list[str], list[str]]]:
    """The categories of every cell; its value, its status and what is published beside it."""
    names = [variable.written for variable in published.variables]
    number = {key: n for n, key in enumerate(published.key.tolist())}
    whole = math.prod(published.shape)
    for key in range(whole) if whole <= MOST_EMPTY else published.key.tolist():
        nodes = np.unravel_index(key, published.shape)
        labels = [name[int(node)] for name, node in zip(names, nodes, strict=True)]
        at = number.get(key)
        if at is None:
            yield labels, ["0", "", *("0" if name == "n" else "" for name in published.beside)]
        else:
            status = HIDDEN if published.hidden[at] else ""
            yield labels, [published.written(at), status, *published.figures(at)]


def _member(data: object, key: str, kind: type) -> object:
    found = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(found, kind):
        raise BundleError(message("{PACKAGE}: {key} is missing or of the wrong kind", PACKAGE, repr(key)))
    return found


@dataclass(frozen=True)
class Described:
    """A table of counts as described in ``datapackage.json``."""

    name: str
    domain: Domain
    hiding: bool


@dataclass(frozen=True)
class DescribedMagnitudes:
    """A table of magnitudes as described there: what its variables list, and its measure."""

    name: str
    listed: Mapping[str, tuple[str, ...]]
    measure: str
    decimals: int
    weighted: bool
    beside: tuple[str, ...]


def read_package(data: object) -> tuple[tuple[Described | DescribedMagnitudes, ...], Said]:
    """The tables, the title and what else is said, from a parsed ``datapackage.json``.

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
    said = data.get("metadata", {}) if isinstance(data, Mapping) else {}
    if not isinstance(said, Mapping) or not all(isinstance(text, str) for text in said.values()):
        raise BundleError(message("{PACKAGE}: what is said of the table is not text", PACKAGE))
    if wrong := check_said(said):
        raise BundleError(joined([PACKAGE, ": ", *(f"{name} {text}" for name, text in wrong.items())], ""))
    return tuple(map(_described, found)), Said(title, dict(said))


def _described(resource: Mapping[str, object]) -> Described | DescribedMagnitudes:
    schema = cast("dict[str, object]", _member(resource, "schema", dict))
    fields = cast("list[object]", _member(schema, "fields", list))
    names = [cast(str, _member(field, "name", str)) for field in fields]
    path, last = str(resource["path"]), len(names) - 1
    of_magnitudes = VALUE in names
    if of_magnitudes:
        last = names.index(VALUE)
        beside = tuple(name for name in BESIDE if name in names[last:])
        if names[last:] != [VALUE, STATUS, *beside]:
            raise BundleError(
                message("{PACKAGE}: the last fields must be {names}", PACKAGE, [VALUE, STATUS, *beside])
            )
    elif not fields or names[-1] != COUNT:
        raise BundleError(message("{PACKAGE}: the last field must be {COUNT}", PACKAGE, repr(COUNT)))
    elif _member(fields[-1], "type", str) != "integer":
        raise BundleError(message("{PACKAGE}: {COUNT} must be of type integer", PACKAGE, repr(COUNT)))
    if schema.get("primaryKey") != names[:last]:
        raise BundleError(
            message("{PACKAGE}: the primary key must be the variables {names}", PACKAGE, names[:last])
        )
    variables = []
    for field, name in zip(fields[:last], names, strict=False):
        categories = _member(_member(field, "constraints", dict), "enum", list)
        if not all(isinstance(c, str) for c in cast("list[object]", categories)):
            raise BundleError(message("{PACKAGE}: a category of {name} is not text", PACKAGE, repr(name)))
        variables.append((name, tuple(cast("list[str]", categories))))
    if of_magnitudes:
        value = fields[last]
        decimals = int(cast(int, _member(value, "decimals", int)))
        if not 0 <= decimals <= PLACES:
            raise BundleError(message("{PACKAGE}: decimals must be from 0 to {most}", PACKAGE, PLACES))
        measure, weighted = _member(value, "measure", str), _member(value, "weighted", bool)
        listed = dict(variables)
        return DescribedMagnitudes(path, listed, cast(str, measure), decimals, cast(bool, weighted), beside)
    missing = schema.get("missingValues", [])
    if missing not in ([], [""]):
        raise BundleError(message("{PACKAGE}: missing values must be empty fields", PACKAGE))
    try:
        domain = Domain(tuple(Variable(n, c) for n, c in variables))
    except InputError as error:
        raise BundleError(message("{PACKAGE}: {message}", PACKAGE, error.message)) from None
    return Described(path, domain, bool(missing))


def read_magnitudes(data: bytes, described: DescribedMagnitudes, domain: Domain) -> PublishedMagnitudes:
    """Read a table of magnitudes: every total of its cells, none of them twice.

    Parameters
    ----------
    domain
        The variables with their levels, which the mechanism states.

    Raises
    ------
    BundleError
        Naming the line.
    """
    name, beside = described.name, described.beside
    empty = np.zeros(0, dtype=np.int64)
    known = PublishedMagnitudes(
        domain.variables, described.measure, described.decimals, empty, empty, empty.astype(bool)
    )
    if described.listed != {variable.name: variable.written for variable in known.variables}:
        raise BundleError(
            message("{PACKAGE}: its categories are not those of the mechanism with their levels", PACKAGE)
        )
    try:
        header, *rows = csv.reader(io.StringIO(data.decode()), strict=True)
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        raise BundleError(message("{name} cannot be read", name), detail=str(error)) from None
    if header != [*domain.names, VALUE, STATUS, *beside]:
        raise BundleError(message("{name}, line 1: the columns are not those of {PACKAGE}", name, PACKAGE))
    found = _magnitude_lines(rows, described, known)
    found = found[np.argsort(found[:, 0], kind="stable")]
    twice = bool((np.diff(found[:, 0]) == 0).any())
    # What has no records is no cell of the table where that is told.
    found = found[found[:, 1] != EMPTY]
    columns = dict(zip(beside, found[:, 3:].T, strict=True))
    table = PublishedMagnitudes(
        domain.variables,
        described.measure,
        described.decimals,
        found[:, 0],
        found[:, 2],
        found[:, 1].astype(bool),
        described.weighted,
        *(columns.get(column) for column in BESIDE),
    )
    # Late: bundles of counts, which are most, do not wait for it.
    from tabprotect.engine.magnitudes.tables.equations import has_all_sums

    if twice or not has_all_sums(table.variables, table.key, table.nodes):
        raise BundleError(message("{name}: a sum is missing, or a cell occurs twice", name))
    return table


def _magnitude_lines(
    rows: Sequence[list[str]], described: DescribedMagnitudes, known: PublishedMagnitudes
) -> Ints:
    """The key of each line, whether it is hidden (or EMPTY), its value and what stands beside it."""
    name, columns, ndim = described.name, (VALUE, *described.beside), len(known.variables)
    places = [{label: node for node, label in enumerate(variable.written)} for variable in known.variables]
    found = np.zeros((len(rows), 2 + len(columns)), dtype=np.int64)
    for line, row in enumerate(rows, 2):
        if len(row) != ndim + 1 + len(columns):
            raise BundleError(message("{name}, line {line}: a field is missing", name, line))
        status, texts = row[ndim + 1], [row[ndim], *row[ndim + 2 :]]
        hidden = status == HIDDEN
        try:
            if status not in ("", HIDDEN) or (hidden and any(texts)):
                raise ValueError
            nodes = [place[label] for place, label in zip(places, row, strict=False)]
            numbers = [
                0
                if hidden or (column != VALUE and not text)
                else _units(text, 0 if column == "n" else described.decimals)
                for column, text in zip(columns, texts, strict=True)
            ]
            empty = not hidden and texts[1:2] == (["0"] if "n" in columns else [""])
            if empty and any(numbers):
                raise ValueError
            state = EMPTY if empty else int(hidden)
            found[line - 2] = [int(np.ravel_multi_index(tuple(nodes), known.shape)), state, *numbers]
        except (KeyError, ValueError):
            raise BundleError(
                message("{name}, line {line}: an unknown category, or no number", name, line)
            ) from None
    return found


def _units(text: str, decimals: int) -> int:
    """A decimal number in whole units of 10^-decimals; ``ValueError`` for any other text."""
    whole, _, part = text.partition(".")
    if not _WHOLE.match(whole) or len(part) not in (0, decimals) or not (part or "0").isdecimal():
        raise ValueError
    number = int(whole + (part or "0" * decimals))
    if abs(number) > INT64_MAX or not part.isascii():
        raise ValueError
    return number


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
    return PublishedTable(table) if table is not None else _read_lines(text, domain, name, hiding)


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
