"""SDMX-CSV 1 and 2: a line for each observation, as statistical offices exchange them.

The first column is `DATAFLOW` (version 1), `STRUCTURE` (version 2) or `KEY` (the European Central
Bank). The columns before `OBS_VALUE` are the variables, and `TIME_PERIOD` wherever it stands; those
behind it are attributes, which are left out, and so are the reserved ones (`STRUCTURE_ID`, `ACTION`,
`LAST UPDATE` and their like). Categories are codes, `GEO: Country` and `DE: Germany` being codes with
their labels, as are two columns of codes and names; `_T` is a total. An observation without a value
is missing, or suppressed where `OBS_STATUS` or `CONF_STATUS` say so; suppressed counts are refused,
of missing ones it is asked what they mean. The statuses are told. Written as version
2 with `OBS_STATUS` A (normal) and `CONF_STATUS` N (not for publication: true counts); published
counts with F (free), suppressed ones without a value, with `OBS_STATUS` Q and `CONF_STATUS` C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.sdmx_identifiers import (
    AGENCY,
    UNIT,
    VERSION,
    identified,
    structure_id,
)
from tabprotect.engine.formats.agencies.sdmx_messages import deletions
from tabprotect.engine.formats.agencies.sdmx_stated import structure_of
from tabprotect.engine.formats.agencies.sdmx_structures import structure_beside
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import CountMarks
from tabprotect.engine.formats.layouts.long_form import read_long
from tabprotect.engine.formats.layouts.observations import texts_shown
from tabprotect.engine.formats.layouts.stated_multipliers import (
    UNIT_MULT,
    divided,
    power_of,
    refuse_several,
    refuse_units,
    told,
)
from tabprotect.engine.formats.layouts.table_forms import Form
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import (
    COLUMNS,
    CONF_STATUS,
    CONFIDENTIAL,
    FREE,
    NORMAL,
    NOT_FOR_PUBLICATION,
    OBS_STATUS,
    SUPPRESSED,
    VOCABULARIES,
    statuses_told,
)
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

VALUE = "OBS_VALUE"
TIME = "TIME_PERIOD"
RESERVED = frozenset(
    {
        "KEY",
        "DATAFLOW",
        "STRUCTURE",
        "STRUCTURE_ID",
        "STRUCTURE_NAME",
        "ACTION",
        "LAST UPDATE",
        "SERIES_KEY",
        "OBS_KEY",
    }
)
DELETE = "D"

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?"?(DATAFLOW"?(?P<one>[,;])|KEY"?(?P<key>[,;])[^\r\n]*[,;]"?OBS_VALUE\b|STRUCTURE(\[[^]]{0,9}\])?"?(?P<two>[,;])"?STRUCTURE_ID)'
)


class SdmxCsv(Format):
    label = message("SDMX-CSV")
    suffixes = (".sdmx.csv",)
    media = "application/vnd.sdmx.data+csv"
    labels_beside = True
    decimals = True
    begins = _HEAD
    packed = True
    options = frozenset({"count", "encoding", "delimiter", "decimal", "labels", "marks"})
    limits = (
        message("Attributes and the definition of the structure are left out, labels where it is written."),
        message("Other programs take only letters, digits and underscores in the names of variables."),
    )

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        delimiter = reading.delimiter or _delimiter(path)
        source = TextRows(path, encoding=reading.encoding, delimiter=delimiter, progress=progress)
        header = next(source.rows(), [])
        # With labels asked for, a column is "GEO: Geopolitical entity".
        ids = [_id(name) for name in header]
        wanted = reading.count or VALUE
        if wanted not in ids:
            raise InputError(
                message("there is no column {wanted}", wanted),
                line=1,
                hint=message(
                    "name the column of the values: --count COLUMN; there are {ids}", ", ".join(ids)
                ),
            )
        value = ids.index(wanted)
        aside = RESERVED | COLUMNS
        variables = [
            c
            for c, name in enumerate(ids)
            if (c < value and name.upper() not in aside) or (name == TIME and c != value)
        ]
        named = "STRUCTURE_NAME" in ids
        if named:
            # Every code is followed by its name.
            variables = [c for c in variables if c > value or (value - c) % 2 == 0]
        if not variables and set(ids[value + 1 :]) - aside:
            raise InputError(
                message("no variable stands before {wanted}", wanted),
                line=1,
                hint=message(
                    "the columns of the variables come first: put the value and what is said of it "
                    "behind them"
                ),
            )
        dropped = [c for c in range(len(ids)) if c != value and c not in variables]
        form = Form("long", value, left_out=frozenset(dropped))
        _refuse_units(source, ids, reading)
        powers = _powers(source, ids) if reading.scale is None else {}
        # A multiplier of 1 is stated, too.
        scaled = replace(reading, scale=10 ** max(powers.values())) if powers else reading
        try:
            cells, notes = read_long(
                source, form, scaled, marks=CountMarks.parse(reading.marks), progress=progress
            )
        except InputError:
            _refuse_deletions(source, ids)
            raise
        _refuse_deletions(source, ids)
        if any(powers.values()):
            own = [powers[cells.line(entry) or 0] for entry in range(len(cells.counts))]
            cells = divided(cells, np.array(own, dtype=np.int64))
            notes.append(told(own))
        # Headers with labels name their variables themselves.
        cells = cells if ids != header else structure_of(path).of(cells)
        cells = _with_labels(cells, source, variables if named else [], labels=reading.labels)
        behind = [header[c] for c in dropped if c > value or header[c].upper() in COLUMNS]
        behind = [name for name in behind if not powers or _id(name) != UNIT_MULT]
        if behind:
            notes.append(message("attributes were left out: {behind}", ", ".join(behind)))
        return cells, notes + _status_notes(source, ids)

    def write(self, table: Table) -> bytes:
        return self._written(Cube(table), NOT_FOR_PUBLICATION)

    def publish(self, cube: Cube) -> bytes:
        return self._written(cube, FREE)

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        return structure_beside(cube, path) if published else {}

    def held(self, domain: Domain, *, strict: bool) -> tuple[Domain, list[str]]:
        return (domain, []) if strict else identified(domain, RESERVED)

    def _written(self, cube: Cube, status: str) -> bytes:
        table = cube.table
        for name in table.domain.names:
            if _id(name) in RESERVED | {VALUE} or _id(name) != name:
                raise InputError(
                    message("no variable can be named {name} in SDMX-CSV", repr(name)),
                    hint=message("rename it first"),
                )
        named = f"{AGENCY}:{structure_id(table.domain)}({VERSION})"
        return write_csv(
            table,
            count=VALUE,
            texts=texts_shown(cube) if cube.decimals else (),
            before={"STRUCTURE": "dataflow", "STRUCTURE_ID": named, "ACTION": "I"},
            without=cube.hidden,
            after={OBS_STATUS: (NORMAL, SUPPRESSED), CONF_STATUS: (status, CONFIDENTIAL)},
        )


def _column(source: TextRows, ids: Sequence[str], name: str) -> Iterator[tuple[int, str]]:
    """The line and the code of each row in an attribute; nothing where there is none."""
    if name not in ids:
        return
    at = ids.index(name)
    for number, row in islice(enumerate(source.rows()), 1, None):
        yield source.line(number), _parted(row[at])[0] if len(row) > at else ""


def _powers(source: TextRows, ids: Sequence[str]) -> dict[int, int]:
    """The power of ten of each line, where the file states them."""
    return {line: power_of(text) for line, text in _column(source, ids, UNIT_MULT)}


def _refuse_units(source: TextRows, ids: Sequence[str], reading: Reading) -> None:
    """Refuse observations of several units, and of one that is said in words to be a multiple."""
    found = dict.fromkeys(text for _, text in _column(source, ids, UNIT) if text)
    refuse_several(found)
    refuse_units(found, reading, multiplied=UNIT_MULT in ids)


def _refuse_deletions(source: TextRows, ids: Sequence[str]) -> None:
    """Refuse a message that deletes observations: it is no table."""
    if "ACTION" not in ids:
        return
    at = ids.index("ACTION")
    for number, row in enumerate(source.rows()):
        if len(row) > at and row[at] == DELETE:
            raise deletions(source.line(number))


def _with_labels(cells: CellList, source: TextRows, beside: Sequence[int], *, labels: bool) -> CellList:
    """Codes and their labels, held in one column (``DE: Germany``) or in two."""
    known = [dict(map(_parted, categories)) for categories in cells.categories]
    names, categories, texts = list(cells.names), list(cells.categories), {}
    for axis, name in enumerate(cells.names):
        codes = tuple(known[axis])
        if _id(name) != name and all(codes) and len(codes) == len(categories[axis]):
            names[axis], categories[axis], texts[axis] = _id(name), codes, known[axis]
    for axis, at in enumerate(beside):
        texts[axis] = {row[at]: row[at + 1] for row in islice(source.rows(), 1, None)}
    named = replace(
        cells,
        names=tuple(names),
        categories=tuple(categories),
        labels={names[axis]: of for axis, of in texts.items()},
    )
    return named.called(instead=labels)


def _parted(text: str) -> tuple[str, str]:
    code, _, label = text.partition(":")
    return code.strip(), label.strip()


def _delimiter(path: Path) -> str | None:
    """The delimiter after the first column, whose name is fixed: categories may hold any character."""
    with path.open("rb") as stream:
        found = _HEAD.match(stream.read(100))
    return None if found is None else (found["one"] or found["key"] or found["two"]).decode()


def _status_notes(source: TextRows, ids: Sequence[str]) -> list[str]:
    """The statuses in words, if any count is not free or not normal."""
    notes = []
    for name in VOCABULARIES.keys() & set(ids):
        at = ids.index(name)
        codes = [row[at] for row in islice(source.rows(), 1, None) if len(row) > at]
        if set(codes) - {"", FREE, NORMAL, NOT_FOR_PUBLICATION}:
            notes.append(statuses_told(name, codes))
    return sorted(notes)


def _id(name: str) -> str:
    """The identifier in a header, without the rest of ``GEO: Geopolitical entity`` or ``ATTR[]``."""
    return name.partition(":")[0].partition("[")[0].strip()


PLUGIN = SdmxCsv()
