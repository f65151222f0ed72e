"""Formats: kinds of files that hold tables or records, read and written."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from tabprotect.engine.budgets import LAID_OUT_BYTES, MOST_COLUMNS
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import AS_IT_WAS, CountMarks
from tabprotect.engine.formats.layouts.laid_out import lay_out
from tabprotect.engine.formats.layouts.laid_out_columns import LaidOutRow
from tabprotect.engine.formats.layouts.long_form import read_long
from tabprotect.engine.formats.layouts.marked_cells import marked_cells
from tabprotect.engine.formats.layouts.stated_multipliers import multiples_in, refuse_units, units_in
from tabprotect.engine.formats.layouts.table_forms import SAMPLE_ROWS, Form, recognise
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.numerals import NotACountError, parse_counts
from tabprotect.engine.formats.text.rows import RowSource, SheetRows, TextRows, check_width
from tabprotect.engine.formats.text.shares import ask, counts_of
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.registry import Documented
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.formats.rows.figures import FigureRows


def read_grid(
    source: RowSource, form: Form, reading: Reading, *, progress: Progress = SILENT
) -> tuple[CellList, list[str]]:
    """Read a grid with row labels in the first column and column labels in the first row, or neither.

    The first cell may name the variables as ``rows\\columns``; else they are ``row`` (or the text
    there) and ``column``. A bare matrix gets the categories ``row1``, ``column1``, ...

    Raises
    ------
    InputError
        With the line and the cell of the first fault.
    """
    bare = form.kind == "matrix"
    first = next(source.rows())
    width = len(first)
    edge = 0 if bare else 1
    row_labels: list[str] = []
    column_labels = [f"column{c + 1}" for c in range(width)] if bare else first[1:]
    parts: list[np.ndarray] = []
    decimals = 0
    at = 1 - bare
    chunks = (block.rows() for block in source.blocks(width))
    for chunk in itertools.chain([[first]] if bare else [], chunks):
        progress.report(message("reading the table"), source.fraction)
        check_width(source, chunk, at=at, width=width)
        labels = [f"row{at + i + 1}" for i in range(len(chunk))] if bare else [r[0] for r in chunk]
        fields = list(itertools.chain.from_iterable(row[edge:] for row in chunk))
        try:
            values, written = parse_counts(fields, decimal=reading.decimal, scale=reading.scale)
        except NotACountError as error:
            row, column = divmod(error.at, width - edge)
            raise InputError(
                error.why,
                file=source.name,
                line=source.line(at + row),
                cell=f"({labels[row]}, {column_labels[column]})",
                hint=error.hint,
            ) from None
        parts.append(values)
        decimals += written
        row_labels += labels
        at += len(chunk)
    names = _grid_names("" if bare else first[0])
    _refuse_twice(source, names[0], row_labels, down=True)
    _refuse_twice(source, names[1], column_labels, down=False)
    shape = (len(row_labels), len(column_labels))
    cells = CellList(
        names,
        (tuple(row_labels), tuple(column_labels)),
        None,
        np.concatenate(parts),
        lambda entry: source.line(entry // shape[1] + (1 - bare)),
    )
    return cells, form.notes(decimals)


def _refuse_twice(source: RowSource, name: str, labels: list[str], *, down: bool) -> None:
    """Refuse a category that occurs twice, ``down`` the first column or along the first row."""
    if len(set(labels)) == len(labels):
        return
    again = next(i for i, label in enumerate(labels) if label in labels[:i])
    raise InputError(
        message("variable {name} has the category {labels} twice", repr(name), repr(labels[again])),
        file=source.name,
        line=source.line(again + 1 if down else 0),
        hint=message("rename or merge it"),
    )


def _grid_names(corner: str) -> tuple[str, str]:
    rows, _, columns = corner.partition("\\")
    return rows.strip() or "row", columns.strip() or "column"


Holds = Literal["table", "records"]


@dataclass(frozen=True)
class RecordsFile:
    """A file of records as DuckDB reads it.

    Attributes
    ----------
    relation
        An SQL table expression with the file's own column names.
    text
        The same rows as text, if the file is text: all values are text, and faults have a line.
    columns
        Columns already read, by name; the relation is ``records`` then.
    declared
        The categories that the file declares, in its order, each with its code; by column.
    trees
        What gives each of a column's codes with the codes above it, from the coarsest to itself; where the
        file's description names a hierarchy.
    weight
        The column by which the file says that its cases are weighted.
    """

    relation: str
    text: TextRows | None = None
    columns: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    declared: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    trees: Mapping[str, Callable[[Sequence[str]], Mapping[str, tuple[str, ...]]]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    weight: str | None = None


class Format(Documented, Encodable, ABC):
    """A kind of file. Each module in ``kinds/`` defines a subclass and ``PLUGIN``.

    The first line of the module's docstring describes the format; the rest is its help page.

    Attributes
    ----------
    label
        A short name for lists and for filters of dialogs.
    suffixes
        Suffixes of file names in lower case, the usual one first.
    only_read
        Those of them in which nothing is written: other layouts of the same kind.
    begins
        The first bytes that only files of this format have.
    holds
        The content such files can hold: tables, records, or both.
    options
        The options of :class:`Reading` that apply here, besides those of any format.
    limits
        What the format cannot carry, in sentences.
    levels
        True if levels of variables and structural zeros are written and read back.
    without_levels
        What happens to levels otherwise.
    labels
        True if the labels of categories are written and read back.
    labels_beside
        True if a cube has its labels in a file beside it.
    needs_beside
        True if a table cannot be read without the files beside it.
    packed
        True if files compressed by gzip are read.
    quotes
        True if texts may hold quotation marks.
    cube
        True if a table with totals as categories can be written.
    side_by_side
        True if a cell may have several numbers.
    decimals
        True if its numbers may have decimals there.
    orders_codes
        True if it puts categories in the order of their codes itself.
    described_by
        The suffixes of files that describe one of this format.
    media, served_as
        Its media type, and the name under which services offer it, if that differs.
    """

    label: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    only_read: ClassVar[tuple[str, ...]] = ()
    begins: ClassVar[re.Pattern[bytes] | None] = None
    holds: ClassVar[frozenset[Holds]] = frozenset({"table"})
    options: ClassVar[frozenset[str]] = frozenset({"count"})
    limits: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[bool] = False
    without_levels: ClassVar[str] = message("The levels of the variables are left out.")
    labels: ClassVar[bool] = False
    labels_beside: ClassVar[bool] = False
    needs_beside: ClassVar[bool] = False
    packed: ClassVar[bool] = False
    quotes: ClassVar[bool] = True
    cube: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True
    decimals: ClassVar[bool] = False
    book: ClassVar[bool] = False
    orders_codes: ClassVar[bool] = False
    described_by: ClassVar[tuple[str, ...]] = ()
    media: ClassVar[str] = "application/octet-stream"
    served_as: ClassVar[str] = ""
    json_keys = "name label suffixes holds options writes publishes levels labels limits"

    @property
    def name(self) -> str:
        """Its name for ``--format``: the module's name."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def sniff(self, head: bytes) -> bool:
        """Return True if a file that begins so is certainly of this format, whatever its name."""
        return self.begins is not None and self.begins.match(head) is not None

    def described(self, path: Path, reading: Reading) -> Reading:
        """The reading with what a description beside the file says, where a person says nothing."""
        return reading

    def about(self, path: Path, reading: Reading) -> About:
        """The title, unit, source, notes and date that a file states, read as its table is; empty for none."""
        return About()

    def parts(self, path: Path) -> tuple[str, ...]:
        """The parts of a file that ``sheet`` may name, besides sheets of workbooks."""
        return ()

    def accepts(self, path: Path, head: bytes) -> bool:
        """Return True if a file of this name may be of this format; else it is taken for text."""
        return True

    def loses(self, domain: Domain) -> list[str]:
        """Return what this format does not keep of a table, in sentences."""
        lost = {
            self.without_levels: domain.has_levels and not self.levels,
            message("The structural zeros are written as zeros like others."): (
                bool(domain.structural) and not self.levels
            ),
            message("The labels of categories are left out."): (
                any(v.labels for v in domain.variables) and not self.labels
            ),
        }
        return [sentence for sentence, so in lost.items() if so]

    @abstractmethod
    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        """The cells listed in a file, totals included, and notes for people.

        Raises
        ------
        InputError
            Naming the line and the cell of the first fault.
        """

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        """The file as records; only if ``holds`` includes them."""
        raise InputError(message("not a microdata file"), file=path, hint=message("save the records as CSV"))

    @property
    def writes(self) -> bool:
        """True if tables can be written."""
        return self.publishes or type(self).write is not Format.write

    def write(self, table: Table) -> bytes:
        """Write a table with every cell, so that reading it back gives the same table.

        Raises
        ------
        InputError
            If the format cannot be written, or cannot carry this table.
        """
        if self.publishes:
            return self.publish(Cube(table))
        raise InputError(
            message("tables are not written as {label}", self.label),
            hint=message("choose a format that is written"),
        )

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        """Further files in the same folder that belong to the one at ``path``, by name."""
        return {}

    def publish_all(self, cubes: Sequence[Cube]) -> bytes:
        """Write several published tables as one file; only if it is a ``book``."""
        return self.publish(cubes[0])

    @property
    def publishes(self) -> bool:
        """True if published tables, with their suppressed cells, can be written."""
        return type(self).publish is not Format.publish

    def publish(self, cube: Cube) -> bytes:
        """Write a published table, with the format's mark in place of suppressed counts.

        Parameters
        ----------
        cube
            Suppressed cells are 0; what is said of the table goes where the format has a place for it.

        Raises
        ------
        InputError
            If the format cannot mark suppressed cells, or cannot carry this table.
        """
        raise InputError(
            message("published tables are not written as {label}", self.label),
            hint=message("choose a format that is written"),
        )

    def as_held(self, cube: Cube) -> Cube:
        """The cube with texts that the format can hold."""
        return cube.on(self.held(cube.table.domain, strict=False)[0])

    def held(self, domain: Domain, *, strict: bool) -> tuple[Domain, list[str]]:
        """The domain with texts that the format can hold, and notes on what was replaced."""
        texts = [t for v in domain.variables for t in (v.name, *v.categories, *v.labels)]
        changed = sum('"' in text for text in texts)
        if self.quotes or strict or not changed:
            return domain, []
        variables = tuple(
            Variable(
                _typographic(v.name),
                tuple(map(_typographic, v.categories)),
                v.coarser,
                v.finest,
                tuple(map(_typographic, v.labels)),
            )
            for v in domain.variables
        )
        said = message(
            "{n:,} texts with quotation marks, which {label} cannot hold, have typographic ones",
            changed,
            self.label,
        )
        return Domain(variables), [said]

    @property
    def holds_figures(self) -> bool:
        """True if rows of figures can be written: a posterior, or drawn originals."""
        return type(self).figures is not Format.figures

    def figures(self, figures: FigureRows) -> Iterator[bytes]:
        """Write rows of figures as a file, in pieces.

        Raises
        ------
        InputError
            If the format does not hold figures.
        """
        raise InputError(
            message("figures are not written as {label}", self.label),
            hint=message("choose a format that holds them"),
        )

    @property
    def is_one_file(self) -> bool:
        """True if a published table can be read from a single file, as a service's answer must be."""
        return self.publishes and not self.needs_beside


def _typographic(text: str) -> str:
    """A text with typographic quotation marks: opening at its beginning and behind a blank."""
    return re.sub(r'(^|[\s(\[])"', "\\1\u201c", text).replace('"', "\u201d")


TURNED = message("is the file turned on its side? Cells and records are rows")


class RowFormat(Format):
    """A format of text rows: long form, a grid, or a bare matrix, recognised from the rows."""

    @abstractmethod
    def rows(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[RowSource, list[str]]:
        """The rows of a file, and notes for people."""

    def whole(self, path: Path, reading: Reading) -> list[LaidOutRow]:
        """All rows in memory with their lines, for tables laid out by hand."""
        rows = self.apart(path, reading)
        if reading.cells is None:
            return rows
        fields = counts_of((row.fields for row in rows), reading.cells)
        return [LaidOutRow(row.line, found) for row, found in zip(rows, fields, strict=True)]

    def apart(self, path: Path, reading: Reading) -> list[LaidOutRow]:
        """The rows as they stand in the file."""
        source, _ = self._narrow(path, replace(reading, cells=None))
        return [LaidOutRow(source.line(number), fields) for number, fields in enumerate(source.rows())]

    def _narrow(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[RowSource, list[str]]:
        """The rows of a file of no more columns than a table has."""
        source, notes = self.rows(path, reading, progress)
        columns = len(next(iter(source.rows()), ()))
        if columns > MOST_COLUMNS:
            raise InputError(
                message(
                    "the first line has {columns:,} columns: at most {most:,} are read", columns, MOST_COLUMNS
                ),
                file=path,
                hint=TURNED,
            )
        if reading.cells is not None:
            rows = counts_of(source.rows(), reading.cells)
            source = SheetRows(source.name, rows, [source.line(number) for number in range(len(rows))])
        return source, notes

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        try:
            return self._cells(path, reading, progress)
        except InputError:
            if reading.cells is None and path.stat().st_size <= LAID_OUT_BYTES:
                rows = itertools.islice(self.rows(path, reading)[0].rows(), SAMPLE_ROWS)
                if (question := ask(rows)) is not None:
                    raise question from None
            raise

    def _cells(self, path: Path, reading: Reading, progress: Progress) -> tuple[CellList, list[str]]:
        refused: InputError | None = None
        if not reading.lays_out:
            try:
                if (found := self._plain(path, reading, progress)) is not None:
                    return found
            except InputError as error:
                if error.hint in (AS_IT_WAS, TURNED):
                    raise
                refused = error
        if refused is not None and path.stat().st_size > LAID_OUT_BYTES:
            raise refused
        marks = CountMarks.parse(reading.marks)
        try:
            layout = lay_out(self.whole(path, reading), reading, marks, str(path))
            titles, notes = ([" ".join(r.fields) for r in of] for of in (layout.title, layout.notes))
            refuse_units([*units_in(titles), *multiples_in(notes)], reading)
            cells, parts = marked_cells(layout, reading, marks, str(path))
            refuse_units([cells.counted], reading)
        except InputError as error:
            # The fault found by reading it as a plain table is the better cause, except for a question.
            asks = any(name in error.hint for name in ("--marks", "--thousands", "--form", "--scale"))
            raise (error if refused is None or asks else refused) from None
        return cells, [
            message("{option}: {value} ({reason})", p.option, p.value, p.reason)
            for p in (*layout.parts, *parts)
        ]

    def _plain(self, path: Path, reading: Reading, progress: Progress) -> tuple[CellList, list[str]] | None:
        source, notes = self._narrow(path, reading, progress)
        form = recognise(
            source, count=reading.count, drop=reading.drop or (), variable=reading.variable or ()
        )
        if form.kind == "long":
            cells, said = read_long(source, form, reading, progress=progress)
            refuse_units([cells.counted], reading)
        elif reading.drop:
            # A column of a grid goes with all its counts, which is told by the header.
            return None
        else:
            cells, said = read_grid(source, form, reading, progress=progress)
        return cells, notes + said
