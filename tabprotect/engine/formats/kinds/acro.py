"""ACRO results (results.json): the crosstab of an output, whose CSV file stands beside it.

Of several outputs the first table with a file that is there is read, as rows by columns. Written as
one output under review, with its table in `output_0_0.csv`; `check` adds flags and decisions. Of a
release each table is such an output, its suppressed counts an `x`, their outcome "suppressed".
"""

from __future__ import annotations

import hashlib
import re
from os.path import isfile
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.acro_results import FILE, UID, read_results, results_text
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import CountMarks
from tabprotect.engine.formats.layouts.crosstab import HIDDEN, crosstab_csv
from tabprotect.engine.formats.layouts.laid_out import lay_out, text_rows
from tabprotect.engine.formats.layouts.marked_cells import marked_cells
from tabprotect.engine.formats.layouts.observations import refuse_texts
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

_HEAD = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*"results"\s*:\s*\{.*"(uid|status)"\s*:', re.DOTALL)


class Acro(Format):
    label = message("ACRO results")
    cube = False
    suffixes = (".acro.json",)
    begins = _HEAD
    options = frozenset({"form", "columns", "marks", "count"})
    needs_beside = True
    limits = (
        message("One table of rows and columns; means, regressions, plots and decisions are left out."),
        message("Names of variables cannot hold a backslash, nor categories blanks at their ends."),
    )

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        tables = [
            (uid, name)
            for uid, result in read_results(path).items()
            if result.get("type") == "table" and isinstance(files := result.get("files"), list)
            for file in files
            if isinstance(file, dict) and isinstance(name := file.get("name"), str)
            # Only the file name is used: the file is not to be trusted.
            and Path(name).name == name and name.endswith(".csv") and isfile(path.parent / name)
        ]  # fmt: skip
        if not tables:
            raise InputError(
                message("no output is a table whose CSV file stands beside it"),
                hint=message("keep the folder together as ACRO has written it"),
            )
        uid, name = tables[0]
        # The mark that this program itself writes for a suppressed count.
        marks = CountMarks.parse(reading.marks, own={HIDDEN: "suppressed"})
        rows = text_rows(TextRows(path.parent / name), None)
        layout = lay_out(rows, reading, marks, name)
        cells, _ = marked_cells(layout, reading, marks, name)
        notes = [message("read from {name} ({uid}), the first of {tables} tables", name, uid, len(tables))]
        return cells, notes if len(tables) > 1 else []

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


def _check(domain: Domain) -> None:
    labels = (label for v in domain.variables for label in v.categories)
    refuse_texts(labels, lambda t: t and t == t.strip() and t.isprintable(), "ACRO")


def _own_file(domain: Domain) -> str:
    """The tables of one release share a folder: each has a file named after its variables."""
    digest = hashlib.sha256("\0".join(domain.names).encode()).hexdigest()
    return f"{UID}_{digest[:8]}.csv"


PLUGIN = Acro()
