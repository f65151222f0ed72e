"""Files of statistics programs: typed columns with labels, read whole by a library."""

from __future__ import annotations

import importlib
import importlib.util
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import codes
from tabprotect.engine.foreign.reader import RefusedFileError, asked
from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.formats.format import Format, RecordsFile
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import Observations, counts_shown, refuse_names
from tabprotect.engine.formats.layouts.table_forms import count_column
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import COLUMNS, CONF_STATUS, CONFIDENTIAL, COUNT, FREE, withheld
from tabprotect.engine.formats.text.fields import LabelCodes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.category_order import in_order
from tabprotect.engine.tables.cube import Cube
from tabprotect.languages.messages import message, some_of


@dataclass(frozen=True)
class TypedColumn:
    """A column as texts.

    Attributes
    ----------
    values
        One value for each row; ``None`` if missing.
    order
        The categories in the order declared in the file, if there is one.
    codes
        The code of each of them, where they are labels.
    """

    values: Sequence[str | None]
    order: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    @property
    def declared(self) -> dict[str, str]:
        """The categories in this order, each with its code."""
        return dict(zip(self.order, self.codes or self.order, strict=True))


class ColumnFormat(Format):
    """A format whose library returns whole columns.

    Attributes
    ----------
    library, extra
        The library that reads it, and the extra of this program that installs it.
    """

    orders_codes = True
    library: ClassVar[str]
    extra: ClassVar[str] = "statistics"
    holds = frozenset({"table", "records"})
    options = frozenset({"count", "decimal", "marks"})

    @abstractmethod
    def columns(self, path: Path, progress: Progress = SILENT) -> dict[str, TypedColumn]:
        """All columns by name."""

    def weight(self, path: Path, columns: Collection[str]) -> str | None:
        """The column by which the file says that its cases are weighted."""
        return None

    def asked(
        self, do: str, of: Mapping[str, object], path: Path, progress: Progress
    ) -> tuple[object, Sequence[Buffer]]:
        """Return what the library reads of a file, in a process of its own.

        Raises
        ------
        InputError
            If the library is not installed, or the file is damaged.
        RefusedFileError
            For another reason that the reader names.
        """
        if not self._installed():
            raise self.not_installed()
        try:
            return asked(do, of, path=path, progress=progress, stage=message("reading the table"))
        except RefusedFileError as refused:
            if refused.reason == "missing":
                raise self.not_installed() from None
            if refused.reason == "error":
                raise self.damaged(refused.said) from None
            raise

    @abstractmethod
    def pack(self, columns: Mapping[str, TypedColumn]) -> bytes:
        """Columns as a file, the same bytes for the same columns.

        ``count`` holds numbers (or nothing) unless it declares an order.
        """

    def module(self) -> ModuleType:
        """The library, imported when it is needed: it is an extra, and slow to import.

        Raises
        ------
        InputError
            If it is not installed, with how to install it.
        """
        try:
            return importlib.import_module(self.library)
        except ImportError:
            raise self.not_installed() from None

    def _installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.library) is not None
        except ValueError:
            return False

    def not_installed(self) -> InputError:
        """The error where the library is not there."""
        return InputError(
            f"{self.label} files need the library {self.library}, which is not installed",
            hint=f"install it with: pip install 'tabprotect[{self.extra}]'; or save the file as "
            "CSV or Parquet",
        )

    def damaged(self, said: object) -> InputError:
        """The error for a file that the library refuses."""
        error = said[-1] if type(said) is list and said else said
        return InputError(
            f"the {self.label} file is damaged, cut off, or of another kind",
            hint="save it again, or as CSV, from the program that made it",
            detail=str(error).partition("\n")[0][:200],
        )

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        found = self.columns(path, progress)
        count = count_column(found, reading.count, path)
        weight = self.weight(path, found)
        if weight not in (None, count) and reading.count is None:
            raise InputError(
                message("the file says that its cases are weighted by {weight}", repr(weight)),
                hint=message("say which column holds the counts: --count {count}", count),
            )
        statuses = {name: found[name].values for name in found.keys() - {count} if name.upper() in COLUMNS}
        names = tuple(name for name in found if name != count and name not in statuses)
        categories, numbers = [], []
        idle: list[str] = []
        for number, name in enumerate(names):
            progress.report("reading the table", number / len(names))
            numbered = LabelCodes()
            declared = found[name].declared
            order = in_order(list(declared), declared) if reading.order == "code" else list(declared)
            there = set(found[name].values)
            numbered.of_texts([text for text in order if text in there or reading.without_count])
            idle += [f"{name} = {text}" for text in order if text not in numbered.numbers]
            numbers.append(numbered.of_texts([text or "" for text in found[name].values]))
            categories.append(tuple(numbered.numbers))
            check_categories(name, len(categories[-1]))
        values = found[count].values
        if not names or not values:
            raise InputError("the file has no variable, or no row", hint="export the table again")

        def in_place(row: int, text: str) -> tuple[str, str]:
            return text, withheld({name: column[row] or "" for name, column in statuses.items()})

        observations = Observations(
            names, tuple(categories), tuple(numbers), values, in_place, line=lambda row: row + 1
        )
        cells, notes = observations.cells(reading)
        if idle:
            notes.append(message("declared, and without a row: {categories}", some_of(idle)))
        return cells, notes

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        found = self.columns(path, progress)
        arrays = {name: np.array(column.values, dtype=object) for name, column in found.items()}
        declared = {name: column.declared for name, column in found.items() if column.order}
        return RecordsFile("records", columns=arrays, declared=declared, weight=self.weight(path, found))

    def publish(self, cube: Cube) -> bytes:
        table, hidden = cube.table, cube.hidden
        domain = table.domain
        refuse_names(domain, (COUNT, CONF_STATUS))
        cells = np.unravel_index(np.arange(domain.size), domain.shape) if domain.ndim else ()
        columns = {
            v.name: TypedColumn(np.array(v.categories, dtype=object)[code].tolist(), v.categories)
            for v, code in zip(domain.variables, cells, strict=True)
        }
        texts = [None if count is None else str(count) for count in counts_shown(table, hidden)]
        if hidden is not None:
            marks = [FREE if text else CONFIDENTIAL for text in texts]
            columns[CONF_STATUS] = TypedColumn(marks, (FREE, CONFIDENTIAL))
        # Numbers in these programs are exact below 2^53; larger counts are written as text.
        exact = table.domain.size == 0 or int(table.counts.max()) < EXACT_FLOAT
        order = () if exact else tuple(dict.fromkeys(filter(None, texts)))
        columns[COUNT] = TypedColumn(texts, order)
        return self.pack(columns)


def in_rows(texts: Sequence[str], buffer: Buffer, path: Path) -> list[str | None]:
    """The text of each row, by the numbers of texts that a reader gives."""
    numbers = codes(buffer, len(texts), path)
    found: list[str | None] = np.array([*texts, None], dtype=object)[numbers].tolist()
    return found
