"""Observations of SDMX messages, whatever they are written in, as the cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.count_marks import CountMarks, absent
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import (
    CONF_STATUS,
    FREE,
    NORMAL,
    NOT_FOR_PUBLICATION,
    OBS_STATUS,
    statuses_told,
    withheld,
)
from tabprotect.engine.formats.text.label_codes import LabelCodes
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

VALUE = "OBS_VALUE"
AGENCY, STRUCTURE, VERSION = "TABPROTECT", "TABLE", "1.0"
PREPARED = "2000-01-01T00:00:00"
"""A message must say when it was made; the same table gives the same bytes all the same."""

HINT = "ask the service for the data again, or take them as SDMX-CSV"


@dataclass(frozen=True)
class Observation:
    """One observation.

    Attributes
    ----------
    key
        Dimension -> code.
    value
        Its text; empty where there is none.
    statuses
        Attribute -> code.
    """

    key: Mapping[str, str]
    value: str
    statuses: Mapping[str, str]


def cells_of(observations: Iterable[Observation], reading: Reading) -> tuple[CellList, list[str]]:
    """The observations as cells; their statuses are told.

    Raises
    ------
    InputError
        For observations of different dimensions, and counts that are none, with the cell.
    """
    marks = CountMarks.parse(reading.marks)
    names: tuple[str, ...] = ()
    labels: list[LabelCodes] = []
    codes: list[list[str]] = []
    counts: list[int] = []
    statuses: dict[str, list[str]] = {CONF_STATUS: [], OBS_STATUS: []}
    gaps = False
    for one in observations:
        if not names:
            names = tuple(one.key)
            labels, codes = [LabelCodes() for _ in names], [[] for _ in names]
        if one.key.keys() != set(names):
            raise InputError("the observations are not all of the same dimensions", hint=HINT)
        for name, listed in statuses.items():
            if name in one.statuses:
                listed.append(one.statuses[name])
        count = _count(one, marks, reading)
        for name, known, listed in zip(names, labels, codes, strict=True):
            if count is None:
                known.of_texts([one.key[name]])
            else:
                listed.append(one.key[name])
        if count is None:
            gaps = True
        else:
            counts.append(count)
    if not names or not counts:
        raise InputError("the message holds no observations with a value", hint=HINT)
    numbered = tuple(known.of_texts(listed) for known, listed in zip(labels, codes, strict=True))
    for name, known in zip(names, labels, strict=True):
        check_categories(name, len(known.numbers))
    cells = CellList(
        names,
        tuple(tuple(known.numbers) for known in labels),
        numbered,
        np.array(counts, dtype=np.int64),
        lambda entry: None,
        gaps=gaps,
    )
    plain = {FREE, NORMAL, NOT_FOR_PUBLICATION}
    return cells, [
        statuses_told(name, found) for name, found in statuses.items() if set(found) - plain
    ]


def _count(one: Observation, marks: CountMarks, reading: Reading) -> int | None:
    text = one.value.strip()
    try:
        if not text or marks.known(text):
            why = withheld(one.statuses)
            return absent(text, marks, withheld=why, fill=reading.fill_missing)
        return parse_count(text, decimal=reading.decimal)
    except NotACountError as error:
        cell = f"({', '.join(one.key.values())})"
        raise InputError(str(error), cell=cell, hint=error.hint) from None


def check_names(domain: Domain) -> None:
    """Refuse what a message cannot say.

    Raises
    ------
    InputError
        For the name of a variable that is no identifier of SDMX, and texts that XML cannot hold.
    """
    if not domain.ndim:
        raise InputError("SDMX needs a variable", hint="write CSV")
    for name in domain.names:
        if not name.isascii() or not name.replace("_", "a").replace("-", "a").isalnum():
            raise InputError(
                f"no variable can be named {name[:40]!r} in SDMX",
                hint="rename it: letters, digits, - and _",
            )
        if name in (VALUE, CONF_STATUS, OBS_STATUS):
            raise InputError(f"a variable is named {name!r}", hint="rename it before writing")
    for code in (c for v in domain.variables for c in v.categories):
        if not code.isprintable() or not code or code != code.strip():
            raise InputError(f"SDMX cannot hold the code {code[:40]!r}", hint="rename it first")


def with_a_variable(table: Table) -> Table:
    """The grand total alone as a table of one cell: SDMX has none without a dimension."""
    if table.domain.ndim:
        return table
    return Table.dense(Domain.of({"TOTAL": ["_T"]}), table.counts.reshape(1))
