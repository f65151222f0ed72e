"""A table of sums in other formats: true sums with letters of what rules say. CONFIDENTIAL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle.tables.cube import magnitude_cube
from tabprotect.engine.bundle.tables.export import check_decimals
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.magnitudes.files.top_writing import top_table_files
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.protection.suppressing.given_statuses import given_text
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import message

GIVEN = ".hst"
"""The suffix of tau-ARGUS's a priori files."""


@dataclass(frozen=True)
class WrittenTable:
    """A written table: the format, the cells, what the format leaves out."""

    format: str
    cells: int
    notes: list[str]


def write_magnitudes(
    table: MagnitudeTable,
    path: Path,
    name: str | None = None,
    rules: Sequence[MagnitudeRule] = (),
    *,
    weights: str = "sample",
) -> WrittenTable:
    """Write the sums with totals; who contributes stays behind, but for sizes in tau-ARGUS's tables.

    Parameters
    ----------
    name
        The format, where the name of the file does not say it.
    rules
        What they say of each cell is written as letters: those of SDMX in CSV, of tau-ARGUS in its
        tables, where the levels stand too, and as an a priori file (.hst).

    Raises
    ------
    InputError
        When the format cannot hold them.
    """
    cells = len(table.cells)
    found = sensitive_cells(table, rules, weights=weights) if rules else None
    if path.suffix.lower() == GIVEN:
        if found is None:
            raise InputError(
                message("an a priori file says what is unsafe, and no rule is given"),
                hint=message("say by which: --rule p=10"),
            )
        text = given_text(table, found.unsafe, found.upper)
        write_together([Whole(path, text.encode(), private=True)])
        return WrittenTable("tau-argus", cells, [])
    kind = format_to_write(path, name)
    if kind.name == "tau-argus":
        files = top_table_files(table, path.stem, found)
        write_together([Whole(path.with_name(n), data, private=True) for n, data in files.items()])
        return WrittenTable(kind.name, cells, [])
    if kind.name == "csv":
        letters = [""] * cells
        if found is not None:
            letters = ["" if at < 0 else rules[at].letter for at in found.rule.tolist()]
        write_together([Whole(path, _csv(table, letters), private=True)])
        return WrittenTable(kind.name, cells, [])
    return WrittenTable(kind.name, cells, _as_cube(table, path, name))


def _as_cube(table: MagnitudeTable, path: Path, name: str | None) -> list[str]:
    kind = format_to_write(path, name)
    value = table.cells.value
    check_decimals(table.decimals)
    none = np.zeros(len(value), dtype=bool)
    published = PublishedMagnitudes(
        table.variables, table.measure, table.decimals, table.cells.key, value, none
    )
    whole = magnitude_cube(published).table
    return [*kind.loses(whole.domain), *write_table(whole, path, kind, strict=False)]


def _csv(table: MagnitudeTable, letters: Sequence[str]) -> bytes:
    cells = table.cells
    nodes = [
        [variable.written[n] for n in row] for variable, row in zip(table.variables, cells.nodes, strict=True)
    ]
    values = [table.shown(value) for value in cells.value.tolist()]
    numbers = (cells.units.tolist(), cells.holdings.tolist())
    header = [*(v.name for v in table.variables), "value", "status", "n", "holdings"]
    return csv_rows(header, zip(*nodes, values, letters, *numbers, strict=True)).encode()
