"""Records in files and DuckDB databases as a relation that DuckDB can query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.format import RecordsFile
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.formats.rows.sql import Connection, QueryError, connected, in_memory
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.microdata.places import files_of, is_database, table_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.languages.messages import message

T = TypeVar("T")

POLL = 0.05
"""Seconds between two checks for cancellation."""

_LINE = re.compile(r"CSV Error on Line: (\d+)")


@dataclass(frozen=True)
class RecordColumn:
    """A column of a microdata file.

    Attributes
    ----------
    name
    kind
        ``"text"``, ``"integer"``, ``"real"`` or ``"other"``; a CSV file has only text.
    """

    name: str
    kind: str


@dataclass(frozen=True)
class GivenRecords:
    """Records in memory, out of a data frame.

    Attributes
    ----------
    columns
        Texts by name; ``None`` where a value is missing.
    orders
        The categories of columns whose type orders them.
    """

    columns: Mapping[str, np.ndarray]
    orders: Mapping[str, Sequence[str]] = field(default_factory=lambda: MappingProxyType({}))


class MicrodataFile:
    """An open microdata file. All values of a CSV file are text: ``01`` is not ``1``.

    The connection may read this one file and nothing else: no network, no extensions, no
    temporary files. Use :func:`open_microdata`.
    """

    def __init__(self, path: Path, connection: Connection, file: RecordsFile):
        self.path = path
        self.summed: Mapping[str, str] = {}
        """The measures of rows that are already groups of records; else empty."""
        self.weights = (0, 0)
        """The smallest and largest design weight in such groups, in millionths."""
        self.key_range = KEY_MODULUS
        """Record keys are whole numbers below it, and so are their sums modulo it."""
        self.weight = file.weight
        """The column by which the file says that its cases are weighted."""
        self.trees = file.trees
        """The tree of a variable's codes, by column, where the file's description names one."""
        self.declared = file.declared
        """The categories that the file declares, each with its code, by column."""
        self.text = file.text
        self.relation = file.relation
        self._connection = connection
        self.columns = self._columns()

    def run(self, work: Callable[[Connection], T], stage: str, progress: Progress = SILENT) -> T:
        """Run a query while watching for cancellation, which stops it at once.

        Raises
        ------
        Interrupted
        InputError
            With the line of a broken row, if there is one.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="duckdb") as pool:
            future = pool.submit(work, self._connection)
            while True:
                try:
                    return future.result(timeout=POLL)
                except NotYet:
                    done = self._connection.query_progress()
                except QueryError as error:
                    raise self._fault(error) from None
                try:
                    progress.report(stage, min(max(done, 0.0), 100.0) / 100)
                except TabprotectError:
                    # An interrupt before the query has begun is lost.
                    while not future.done():
                        self._connection.interrupt()
                        wait([future], timeout=POLL)
                    raise

    def _columns(self) -> tuple[RecordColumn, ...]:
        try:
            rows = self._connection.execute(f"DESCRIBE SELECT * FROM {self.relation}").fetchall()
        except QueryError as error:
            raise self._fault(error) from None
        return tuple(RecordColumn(row[0], _kind(row[1])) for row in rows)

    def _fault(self, error: QueryError) -> InputError:
        said = str(error)
        if error.kind == "OutOfMemoryException":
            return InputError(
                message("the table would not fit into memory"),
                file=self.path,
                hint=message("tabulate by fewer variables, or by coarser ones"),
            )
        if error.kind in ("OutOfRangeException", "ConversionException"):
            return InputError(
                message("the weights are too large to be added up"),
                file=self.path,
                hint=message("check them for typing errors"),
            )
        if self.text is None and "CSV Error" not in said:
            return InputError(
                message("the records are damaged, cut off, or not of this format"),
                file=self.path,
                hint=message("copy or export it again"),
                detail=said.splitlines()[0] if said else "",
            )
        line = _LINE.search(said)
        cause = message("the row cannot be read") if line else message("the rows cannot be read")
        for words, meaning in (
            (
                message("Expected Number of Columns"),
                message("the row has more or fewer fields than the first row"),
            ),
            ("quote", message("a quotation mark is not closed, or stands inside a value")),
            (
                message("Maximum line size"),
                message("the row is absurdly long (a quotation mark is not closed?)"),
            ),
        ):
            if words in said:
                cause = meaning
                break
        return InputError(
            cause,
            file=self.path,
            line=int(line[1]) if line else None,
            hint=message(
                "export the file again; a value with a separator in it must stand in quotation "
                "marks, and all lines must end the same way"
            ),
        )


def _kind(sql_type: str) -> str:
    if re.fullmatch(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", sql_type):
        return "integer"
    if sql_type in ("FLOAT", "DOUBLE") or sql_type.startswith("DECIMAL"):
        return "real"
    return "text" if sql_type in ("VARCHAR", "BOOLEAN") or "ENUM" in sql_type else "other"


@contextmanager
def open_microdata(path: Path | str | GivenRecords, progress: Progress = SILENT) -> Iterator[MicrodataFile]:
    """Open records: a file of any format that can hold them, a folder of such files, a pattern such as
    ``data/*.parquet``, a table of a DuckDB file (``people.duckdb#table``), or columns in memory.

    Raises
    ------
    InputError
        For files that are missing, empty, not UTF-8, truncated, of another kind, or that differ in
        their columns.
    """
    if isinstance(path, GivenRecords):
        with in_memory() as here:
            here.register("given", path.columns)
            given = MicrodataFile(Path("records"), here, RecordsFile("given"))
            given.declared = {
                name: {category: str(code) for code, category in enumerate(order)}
                for name, order in path.orders.items()
            }
            yield given
        return
    files, table = files_of(str(path))
    if is_database(files[0]):
        with connected(database=files[0]) as base:
            relation = table_of(base, files[0], table)
            yield MicrodataFile(files[0], base, RecordsFile(relation, declared=_enumerated(base, relation)))
        return
    found = [format_of(file).records(file, progress) for file in files]
    with ExitStack() as open_now:
        relations = [file.relation for file in found]
        connection: Connection
        if any(file.columns for file in found):
            # They have been read and checked: nothing of a foreign file is left.
            own = open_now.enter_context(in_memory())
            for number, file in enumerate(found):
                relations[number] = f"{file.relation}{number}"
                own.register(relations[number], file.columns)
            connection = own
        else:
            connection = open_now.enter_context(connected(*files))
        if len(files) == 1:
            yield MicrodataFile(files[0], connection, replace(found[0], relation=relations[0]))
            return
        sources = [
            MicrodataFile(file, connection, RecordsFile(relation, one.text))
            for file, relation, one in zip(files, relations, found, strict=True)
        ]
        together: dict[str, Mapping[str, str]] = {}
        for file in found:
            for name, categories in file.declared.items():
                together[name] = {**together.get(name, {}), **categories}
        yield MicrodataFile(
            Path(path),
            connection,
            RecordsFile(_together(sources), declared=together, trees=found[0].trees, weight=found[0].weight),
        )


def _enumerated(connection: Connection, relation: str) -> dict[str, dict[str, str]]:
    """The values of a database's columns of type ENUM, by column."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    found = {}
    for name in (row[0] for row in rows if row[1].startswith("ENUM")):
        values = connection.execute(
            f"SELECT unnest(enum_range(any_value({quoted(name)}))) FROM {relation}"
        ).fetchall()
        found[name] = {value: str(code) for code, (value,) in enumerate(values)}
    return found


def _together(sources: Sequence[MicrodataFile]) -> str:
    """The rows of all files as one relation.

    Raises
    ------
    InputError
        Naming the first file whose columns differ from those of the first.
    """
    names = [column.name for column in sources[0].columns]
    for source in sources:
        others = [column.name for column in source.columns]
        if sorted(others) != sorted(names):
            odd = sorted(set(names) ^ set(others))
            raise InputError(
                message("the files do not have the same columns: {odd}", ", ".join(odd[:8])),
                file=source.path,
                hint=message("put files of one kind into a folder of their own"),
            )
    listed = ", ".join(map(quoted, names))
    parts = [f"SELECT {listed} FROM {source.relation}" for source in sources]
    return f"({' UNION ALL '.join(parts)})"
