"""ACRO results (results.json): the crosstab of an output, whose CSV file stands beside it.

Of several outputs the first table of counts with a file that is there is read, as rows by columns, or the
one that `sheet` names (`output_1`); means, sums and shares are passed over, as their commands tell. Cells
that are empty and listed by a check are suppressed. Written as one output under review, with its table in `output_0_0.csv`; `check` adds flags and decisions. Of a
release each table is such an output, its suppressed counts an `x`, their outcome "suppressed".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.acro_results import FILE, UID, ResultTable, results_text, tables_of
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import CountMarks
from tabprotect.engine.formats.layouts.crosstab import HIDDEN, crosstab_csv
from tabprotect.engine.formats.layouts.laid_out import lay_out, text_rows
from tabprotect.engine.formats.layouts.laid_out_columns import LaidOutRow
from tabprotect.engine.formats.layouts.marked_cells import marked_cells
from tabprotect.engine.formats.layouts.observations import refuse_texts
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

_HEAD = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*"results"\s*:\s*\{.*"(uid|status)"\s*:', re.DOTALL)


class Acro(Format):
    label = message("ACRO results")
    cube = False
    suffixes = (".acro.json",)
    begins = _HEAD
    options = frozenset({"form", "columns", "marks", "count", "sheet"})
    needs_beside = True
    limits = (
        message("One table of rows and columns; means, regressions, plots and decisions are left out."),
        message("Names of variables cannot hold a backslash, nor categories blanks at their ends."),
    )

    def parts(self, path: Path) -> tuple[str, ...]:
        return tuple(dict.fromkeys(table.uid for table in tables_of(path)))

    def about(self, path: Path, reading: Reading) -> About:
        said = [text for table in tables_of(path) if not table.holds for text in table.comments]
        return About(notes=tuple(dict.fromkeys(said)))

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        listed = [*tables_of(path)]
        tables = [table for table in listed if not table.holds]
        others = [table for table in listed if table.holds]
        table = self._chosen(tables, others, reading)
        # The mark that this program itself writes for a suppressed count.
        marks = CountMarks.parse(reading.marks, own={HIDDEN: "suppressed"})
        rows = _with_hidden(text_rows(TextRows(path.parent / table.name), None), table)
        layout = lay_out(rows, reading, marks, table.name)
        cells, _ = marked_cells(layout, reading, marks, table.name)
        notes = []
        if len(tables) > 1 and reading.sheet is None:
            notes.append(
                message(
                    "read from {name} ({uid}), the first of {tables} tables",
                    table.name,
                    table.uid,
                    len(tables),
                )
            )
        if others and reading.sheet is None:
            notes.append(message("passed over, as they hold no counts: {outputs}", _named(others)))
        return cells, notes

    def _chosen(
        self, tables: Sequence[ResultTable], others: Sequence[ResultTable], reading: Reading
    ) -> ResultTable:
        """The table that is read: the first of counts, or the one that is named."""
        wanted = reading.sheet
        if wanted is not None:
            every = sorted((*tables, *others), key=lambda one: one.place)
            found = [one for one in every if wanted in (one.uid, one.name, str(one.place + 1))]
            if not found:
                raise InputError(
                    message("there is no output {wanted}", repr(wanted)),
                    hint=message("there are {names}", joined((one.uid for one in every), ", ")),
                )
            if found[0] in others:
                raise InputError(
                    message("{output} holds no counts", _named(found[:1])), hint=message("ask for the counts")
                )
            return found[0]
        if tables:
            return tables[0]
        if others:
            raise InputError(
                message("no output holds counts: {outputs}", _named(others)),
                hint=message("have the counts tabulated as an output of their own"),
            )
        raise InputError(
            message("no output is a table whose CSV file stands beside it"),
            hint=message("keep the folder together as ACRO has written it"),
        )

    def write(self, table: Table) -> bytes:
        _check(table.domain)
        return results_text(table.domain, {}, status="review").encode("utf-8")

    def publish(self, cube: Cube) -> bytes:
        domain, about = cube.table.domain, cube.about
        _check(domain)
        cells = [] if cube.hidden is None else np.argwhere(cube.hidden).tolist()
        gone = {domain.labels(tuple(cell)): ("suppressed",) for cell in cells}
        own, said = (
            _own_file(domain),
            [text for text in (about.title, *about.sentences, *about.origin) if text],
        )
        text = results_text(domain, gone, status="review", comments=said, file=own)
        return text.encode("utf-8")

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        name = _own_file(cube.table.domain) if published else FILE
        return {name: crosstab_csv(cube.table, cube.hidden)}


def _named(tables: Sequence[ResultTable]) -> str:
    return joined((f"{one.uid} ({one.holds})" for one in tables), ", ")


def _with_hidden(rows: list[LaidOutRow], table: ResultTable) -> list[LaidOutRow]:
    """The rows with the mark of suppression in cells that are empty because ACRO lists them."""
    high, wide = table.shape
    if not high and rows:
        # No outcomes: one row of heads and one column of labels.
        high, wide = len(rows) - 1, len(rows[0].fields) - 1
    out = [*rows]
    for down, across in table.flagged:
        at = len(rows) - high + down
        if not 0 < at < len(rows):
            continue
        fields = [*out[at].fields]
        column = len(fields) - wide + across
        if 0 < column < len(fields) and not fields[column].strip():
            fields[column] = HIDDEN
            out[at] = LaidOutRow(out[at].line, fields)
    return out


def _check(domain: Domain) -> None:
    labels = (label for v in domain.variables for label in v.categories)
    refuse_texts(labels, lambda t: t and t == t.strip() and t.isprintable(), "ACRO")


def _own_file(domain: Domain) -> str:
    """The tables of one release share a folder: each has a file named after its variables."""
    digest = hashlib.sha256("\0".join(domain.names).encode()).hexdigest()
    return f"{UID}_{digest[:8]}.csv"


PLUGIN = Acro()
