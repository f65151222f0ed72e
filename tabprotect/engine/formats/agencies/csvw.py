"""CSVW descriptions (JSON) of delimited files, and those of Frictionless, which say the same.

Of a description (https://www.w3.org/TR/tabular-metadata) it takes the dialect (delimiter, encoding, lines
before the header, remarks), the signs of a number, the sign of a missing count, columns that are not to
be put out, columns whose numbers are codes, and which column holds the counts, if one alone does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.frictionless import SUFFIX as OF_ONE
from tabprotect.engine.formats.agencies.package_descriptions import PACKAGE, as_csvw
from tabprotect.engine.formats.layouts.stated_multipliers import multiplier_in, refuse_units
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.paths import is_file, read_text
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.languages.messages import message

SUFFIX = "-metadata.json"
"""Ending of a description's name: ``t.csv-metadata.json``."""

UNIT = "schema:unitText"
"""What says of a column in which unit its numbers are."""

TERMS = {
    "licence": "dc:license",
    "publisher": "dc:publisher",
    "contact": "schema:contactPoint",
    "period": "dc:temporal",
    "language": "dc:language",
    "concept": "schema:measurementTechnique",
    "confidentiality": "dc:accessRights",
    "accuracy": "schema:measurementMethod",
}
"""The terms by which descriptions tell what a table says of itself."""

MOST = 2**20

HEAD = 2**16
"""Bytes in which the header of a file is."""

_NUMBERS = frozenset(
    {"integer", "int", "long", "short", "number", "decimal", "double", "float", "nonNegativeInteger",
     "positiveInteger", "unsignedInt", "unsignedLong", "unsignedShort"}
)  # fmt: skip

Json = Mapping[str, object]


def described(path: Path, reading: Reading, file: Path) -> Reading:
    """The reading with what a description says of a file, where a person says nothing.

    Raises
    ------
    InputError
        If the description is not there or none of this file.
    """
    said = _said(file)
    found = _table(said, path.name)
    if found is None:
        raise InputError(
            message("this is no description of {name} in CSVW or as a Frictionless package", path.name),
            file=file,
            hint=message("name another one: --metadata FILE"),
        )
    refuse_units(_units(found), reading)
    with path.open("rb") as text:
        head = text.read(HEAD).decode(errors="replace")
    own, given = _Described(found, _object(said).get("dialect"), head), reading.given
    taken = {name: value for name, value in own.options() if name not in given}
    if set(taken.get("drop", ())) & {reading.count, *(reading.variable or ())}:  # type: ignore[call-overload]
        taken.pop("drop")
    return replace(reading, metadata=str(file), **taken)  # type: ignore[arg-type]


def beside(path: Path) -> Path | None:
    """The description beside a file: its own, else the package of the folder that names it."""
    own = path.with_name(path.name + SUFFIX)
    if is_file(own):
        return own
    packages = (path.with_name(path.stem + OF_ONE), path.with_name(PACKAGE))
    named = (one for one in packages if is_file(one) and as_csvw(_said(one), path.name) is not None)
    return next(named, None)


def about(path: Path) -> About:
    """What the description beside a file says of it; nothing where there is none."""
    file = beside(path)
    found = None if file is None else _table(_said(file), path.name)
    title, note, source, day = (
        text_of((found or {}).get(f"dc:{name}")) for name in ("title", "description", "source", "date")
    )
    # Figures that were thousands of persons are persons.
    unit = next((unit for unit in _units(found or {}) if multiplier_in(unit) == 1), "")
    told = {name: text for name, term in TERMS.items() if (text := text_of((found or {}).get(term)))}
    return About(
        title, notes=tuple(filter(None, [note])), unit=unit, source=source, date=day[:10], metadata=told
    )


def _units(table: Json) -> list[str]:
    """The units that a description says of columns."""
    columns = _objects(_object(table.get("tableSchema")).get("columns"))
    return [unit for column in columns if (unit := text_of(column.get(UNIT)))]


def _said(file: Path) -> object:
    try:
        return json.loads(read_text(file, most=MOST))
    except (json.JSONDecodeError, RecursionError):
        return None


def description(
    name: str, cube: Cube, count: str, further: Sequence[str] = (), beside: Sequence[str] = ()
) -> bytes:
    """Describe a file that is written: its title, that numbers were changed, its columns.

    Parameters
    ----------
    name, count, further
        Of the file, of the column of its numbers, and of those behind it.
    beside
        Columns of numbers behind the first.
    """
    about = cube.about
    texts = [*cube.table.domain.names, *further]
    at = cube.table.domain.ndim
    columns = [{"titles": text, "datatype": "string"} for text in texts]
    columns[at:at] = [{"titles": text, "datatype": "decimal"} for text in beside]
    numbers = {"titles": count, "datatype": "decimal" if cube.decimals else "integer"}
    columns.insert(at, numbers | ({UNIT: about.unit} if about.unit else {}))
    said = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": name,
        **{
            name: text
            for name, text in {
                "dc:title": about.title,
                "dc:description": " ".join(about.sentences),
                "dc:source": about.source,
                "dc:date": about.date,
                **{TERMS[name]: text for name, text in about.metadata.items()},
            }.items()
            if text
        },
        "tableSchema": {"columns": columns},
    }
    return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode()


def _object(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Sequence[Json]:
    return [_object(one) for one in value] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The first text of a value: itself, or of a list, or by language."""
    if isinstance(value, Mapping):
        value = next(iter(value.values()), "")
    if isinstance(value, list):
        value = next(iter(value), "")
    return value if isinstance(value, str) else ""


def _table(said: object, name: str) -> Json | None:
    """The description of one table: the only one, or that of this file's name."""
    if (found := as_csvw(said, name)) is not None:
        return found
    top = _object(said)
    tables = _objects(top.get("tables")) or ([top] if "tableSchema" in top or "url" in top else [])
    named = [t for t in tables if text_of(t.get("url")).rpartition("/")[2] == name]
    return next(iter(named or (tables if len(tables) == 1 else ())), None)


@dataclass(frozen=True)
class _Described:
    """The description of one table, and the dialect of the group that it stands in."""

    table: Json
    group_dialect: object = None
    head: str = ""
    """The beginning of the file, where one of several titles of a column stands."""

    @property
    def _schema(self) -> Json:
        return _object(self.table.get("tableSchema"))

    @property
    def _columns(self) -> dict[str, Json]:
        """Columns by what stands above them: the title that stands there, else the first, else the name."""
        listed = _objects(self._schema.get("columns"))
        return {self._title(column): column for column in listed if column.get("virtual") is not True}

    def _title(self, column: Json) -> str:
        titles = column.get("titles")
        listed = [*titles.values()] if isinstance(titles, Mapping) else [titles]
        texts = [text_of(one) for text in listed for one in (text if isinstance(text, list) else [text])]
        there = (text for text in texts if text and text in self.head)
        return next(there, "") or text_of(titles) or text_of(column.get("name"))

    def _numbers(self) -> Iterator[str]:
        """The columns of numbers that are no part of the key."""
        key = self._schema.get("primaryKey")
        keys = {key} if isinstance(key, str) else set(key) if isinstance(key, list) else set()
        for title, column in self._columns.items():
            if _base(column) in _NUMBERS and text_of(column.get("name")) not in keys:
                yield title

    def options(self) -> Iterator[tuple[str, object]]:
        """The options of reading that it answers."""
        dialect = _object(self.table.get("dialect") or self.group_dialect)
        for name, option in (("delimiter", "delimiter"), ("encoding", "encoding")):
            if text := text_of(dialect.get(name)):
                yield option, text
        if comment := text_of(dialect.get("commentPrefix")):
            yield "comment", comment
        skipped = dialect.get("skipRows")
        if type(skipped) is int and skipped > 0:
            yield "header_row", str(skipped + 1)
        columns = self._columns
        out = [title for title, column in columns.items() if column.get("suppressOutput") is True]
        numbers = [title for title in self._numbers() if title not in out]
        if out:
            yield "drop", tuple(out)
        if len(numbers) == 1:
            yield "count", numbers[0]
            yield from _signs(columns[numbers[0]])
        stated = [title for title, column in columns.items() if title not in numbers + out]
        if stated:
            yield "variable", tuple(stated)


def _base(column: Json) -> str:
    kind = column.get("datatype")
    return text_of(_object(kind).get("base")) if isinstance(kind, Mapping) else text_of(kind)


def _signs(column: Json) -> Iterator[tuple[str, object]]:
    """The signs in the numbers of the column of the counts, and in place of them."""
    form = _object(_object(column.get("datatype")).get("format"))
    for sign, option in (("decimalChar", "decimal"), ("groupChar", "thousands")):
        if len(text := text_of(form.get(sign))) == 1:
            yield option, text
    nulls = column.get("null")
    marks = [nulls] if isinstance(nulls, str) else nulls if isinstance(nulls, list) else []
    if said := [f"{mark}=missing" for mark in marks if isinstance(mark, str) and mark.strip()]:
        yield "marks", " ".join(said)
