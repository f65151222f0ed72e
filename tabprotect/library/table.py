"""Confidential tables: from a file, an example, records, or a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import checked_table
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable as SummedTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project import examples as bundled
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import MagnitudeTabulation
from tabprotect.engine.project.workflow import opened, tabulated, tabulated_frame
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table as CountTable
from tabprotect.engine.tables.variable import AT, TOTAL
from tabprotect.languages.messages import message
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.shown.frames import AnyArray, Frame, Framed, html_rows, in_rows, made, usual_kind

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.engine.assessment.sample_uniques import SampleUniques
    from tabprotect.library.arguments.keywords import (
        MagnitudeTabulationKeywords,
        ReadingKeywords,
        TabulationKeywords,
    )


@dataclass(frozen=True, eq=False)
class Table(Framed):
    """A confidential table of counts with what came with it (an example's cycles, record keys).

    Made by :func:`read_table`, :func:`tabulate` or :meth:`from_frame`. It never prints its counts.

    Attributes
    ----------
    history
        The steps that made it, as the window and the command line keep them.
    kind
        What data frames come back as: ``pandas``, ``polars``, ``pyarrow`` or ``dict``.

    See Also
    --------
    read_table, tabulate, protect

    Examples
    --------
    >>> import tabprotect as tp
    >>> tp.read_table("example:duncan-roehrig-4x4").margin("v")
    Table(v, 4)
    """

    history: History = field(repr=False)
    kind: str = field(default_factory=usual_kind, repr=False)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        count: str = "count",
        variables: Sequence[str] | None = None,
        title: str = "",
        fill_missing: bool = False,
    ) -> Table:
        """A table from a data frame with a row for each cell.

        Parameters
        ----------
        frame
            pandas, Polars, Arrow, a DuckDB relation, or anything narwhals knows; also a crosstab or
            a Series of pandas, whose index classifies, a dict of columns, or one of counts by cell.
        count
            The column of counts.
        variables
            The columns that classify; all others by default.
        title
            For the reader; published.
        fill_missing
            Take cells that are not listed as 0.

        Raises
        ------
        InputError
            Naming row and column.

        Examples
        --------
        >>> import pandas as pd
        >>> import tabprotect as tp
        >>> frame = pd.DataFrame(
        ...     {
        ...         "region": ["north", "north", "south", "south"],
        ...         "sex": ["f", "m", "f", "m"],
        ...         "count": [4, 2, 1, 7],
        ...     }
        ... )
        >>> tp.Table.from_frame(frame, count="count")
        Table(region | sex, 2 x 2)
        """
        given = Frame.of(in_rows(frame, count, variables))
        by = [n for n in given.columns if n != count] if variables is None else list(variables)
        table, _ = checked_table(given.cells(count, by), missing_are="zero" if fill_missing else None)
        return cls(History.of(table, title=title), given.kind)

    @classmethod
    def from_magnitudes(cls, magnitudes: MagnitudeTable) -> Table:
        """The count table of the records of a magnitude table: units by the finest categories.

        Releases of both find each other in the register.

        Examples
        --------
        >>> import tabprotect as tp
        >>> firms = {"nace": ["24", "24", "25"], "turnover": [480, 20, 7]}
        >>> turnover = tp.tabulate(firms, by=["nace"], measure="turnover")
        >>> tp.Table.from_magnitudes(turnover).counts.tolist()
        [2, 1]
        """
        return cls(History.of(magnitudes.table), magnitudes.kind)

    @property
    def table(self) -> CountTable:
        """The counts as the engine holds them."""
        return self.history.project.original

    @property
    def domain(self) -> Domain:
        """The variables with their categories."""
        return self.table.domain

    @property
    def counts(self) -> Ints:
        """All counts, a read-only array of the domain's shape."""
        return self.table.counts

    @property
    def total(self) -> int:
        """The grand total."""
        return self.table.total

    @property
    def title(self) -> str:
        """Say what a release of it is called; published."""
        return self.history.project.title

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how the file was read, in sentences."""
        return tuple(self.history.project.notes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.table == other.table

    def __hash__(self) -> int:
        return hash(self.table)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.domain.shape))
        return f"Table({' | '.join(self.domain.names)}, {shape})"

    def margin(self, *names: str) -> Table:
        """The table summed over all other variables.

        Examples
        --------
        >>> import tabprotect as tp
        >>> tp.read_table("example:czech-autoworkers").margin("A", "B").counts.tolist()
        [[522, 439], [541, 339]]
        """
        return Table(History.of(self.table.margin(names)), self.kind)

    def sample_uniques(self, fraction: float | None = None) -> SampleUniques:
        """How many people counted alone in a survey are alone in the population. CONFIDENTIAL.

        Parameters
        ----------
        fraction
            The share of the population in the survey; by default what the design weights say.

        Raises
        ------
        InputError
            Without weights and fraction, or with both.

        Examples
        --------
        >>> import tabprotect as tp
        >>> found = tp.read_table("example:adult-occupations").sample_uniques(fraction=0.1)
        >>> found.number, round(found.population_uniques, 2)
        (194, 14.17)
        """
        from tabprotect.engine.assessment.sample_uniques import sample_uniques

        return sample_uniques(self.table, self.history.project.weights, fraction=fraction)

    def to_frame(self, kind: str | None = None) -> Any:
        """A row for each cell: its categories, then its count. CONFIDENTIAL.

        Parameters
        ----------
        kind
            ``pandas``, ``polars``, ``arrow``, ``duckdb`` or ``dict``; by default what went in.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.Table.from_frame({"sex": ["f", "m"], "count": [3, 4]})
        >>> table.to_frame("dict")["count"]
        [3, 4]
        """
        columns = cell_columns(self.domain) | {"count": self.counts.reshape(-1)}
        return made(columns, kind or self.kind)

    def _repr_html_(self) -> str:
        # A notebook is passed on: its counts are not shown unasked.
        rows = [(v.name, len(v.categories), ", ".join(v.categories[:6])) for v in self.domain.variables]
        title = f"{self!r}, CONFIDENTIAL"
        return html_rows(title, ("variable", "categories", "first"), rows, len(rows))


def check_table(given: object) -> None:
    """Refuse what is no table, such as a data frame.

    Raises
    ------
    ParameterError
    """
    if not isinstance(given, Table):
        raise ParameterError(
            {"table": message("must be a Table, is a {kind}", type(given).__name__)},
            hint=message(
                "make one by tp.read_table(FILE), tp.tabulate(records) or tp.Table.from_frame(counts)"
            ),
        )


def cell_columns(domain: Domain) -> dict[str, AnyArray]:
    """A column of categories for each variable, all cells in order."""
    codes = np.indices(domain.shape).reshape(domain.ndim, -1)
    return {
        v.name: np.array(v.categories, dtype=object)[code]
        for v, code in zip(domain.variables, codes, strict=True)
    }


@dataclass(frozen=True, eq=False)
class MagnitudeTable(Table):
    """A confidential table of sums with its contributors. It never prints its values.

    Made by :func:`tabulate` with a measure, or by :func:`read_table`. Its ``counts`` are those of the
    records, by the finest categories.

    See Also
    --------
    tabulate, rules, Table

    Examples
    --------
    >>> import tabprotect as tp
    >>> firms = {"nace": ["24", "24", "25"], "turnover": [480, 20, 7]}
    >>> tp.tabulate(firms, by=["nace"], measure="turnover")
    MagnitudeTable(turnover by nace, 3 cells)
    """

    @property
    def magnitudes(self) -> SummedTable:
        """The sums and contributions as the engine holds them."""
        magnitudes = self.history.project.magnitudes
        assert magnitudes is not None
        return magnitudes.table

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        table = self.magnitudes
        return f"MagnitudeTable({table.measure} by {' | '.join(self.domain.names)}, {len(table.cells)} cells)"

    def to_frame(self, kind: str | None = None) -> Any:
        """A row for each cell, totals among them: variables, ``value``, ``status``, ``n``, ``holdings``.

        CONFIDENTIAL. A total has the category ``Total``; ``status`` is empty: nothing is hidden.

        Parameters
        ----------
        kind
            ``pandas``, ``polars``, ``pyarrow``, ``duckdb`` or ``dict``; by default what went in.

        Examples
        --------
        >>> import tabprotect as tp
        >>> firms = {"nace": ["24", "24", "25"], "turnover": [480, 20, 7]}
        >>> table = tp.tabulate(firms, by=["nace"], measure="turnover")
        >>> table.to_frame("dict")["value"]
        [500, 7, 507]
        """
        table, cells = self.magnitudes, self.magnitudes.cells
        columns = {
            variable.name: np.array(variable.written, dtype=object)[nodes]
            for variable, nodes in zip(table.variables, cells.nodes, strict=True)
        }
        value = cells.value / 10**table.decimals if table.decimals else cells.value
        columns |= {"value": value, "status": np.array([""] * len(cells), dtype=object)}
        columns |= {"n": cells.units, "holdings": cells.holdings, "nonzero": cells.nonzero}
        return made(columns, kind or self.kind)

    def contributors(self, **cell: str) -> Any:
        """Return who contributes to a cell, the largest first: ``holding``, ``value``, ``share``, ``n``.

        CONFIDENTIAL. Variables that are not named are totals; a level is ``variable@level``.

        Raises
        ------
        InputError
            For an unknown variable or category.

        Examples
        --------
        >>> import tabprotect as tp
        >>> firms = {
        ...     "nace": ["24", "24", "25"],
        ...     "ent": ["a", "b", "a"],
        ...     "turnover": [480, 20, 7],
        ... }
        >>> table = tp.tabulate(firms, by=["nace"], measure="turnover", holding="ent")
        >>> list(table.contributors(nace="24")["holding"])
        ['a', 'b']
        """
        table = self.magnitudes
        index = {name: str(value) for name, value in cell.items() if value != TOTAL or AT in name}
        number = table.number(index)
        listing = table.listing_of(np.array([number]))
        own, holding = listing.own, listing.holding
        order = np.lexsort((holding, -np.abs(own)))
        whole = max(1, int(np.abs(own).sum()))
        columns = {
            "holding": np.array([table.names[h] for h in holding[order]], dtype=object),
            "value": np.array([table.shown(v) for v in own[order].tolist()]),
            "share": np.abs(own[order]) / whole,
            "n": listing.units[order],
        }
        return made(columns, self.kind)

    def write(self, path: str | Path) -> None:
        """Write it as a Parquet file that ``protect`` and ``rules`` open. CONFIDENTIAL.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tabprotect as tp
        >>> firms = {"nace": ["24", "24", "25"], "turnover": [480, 20, 7]}
        >>> table = tp.tabulate(firms, by=["nace"], measure="turnover")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.write(Path(folder) / "turnover.parquet")
        ...     tp.read_table(Path(folder) / "turnover.parquet")
        MagnitudeTable(turnover by nace, 3 cells)
        """
        from tabprotect.engine.magnitudes.files.table_files import write_magnitudes

        write_magnitudes(self.magnitudes, Path(path))

    def _repr_html_(self) -> str:
        rows = [(v.name, len(v.categories), ", ".join(v.categories[:6])) for v in self.domain.variables]
        return html_rows(f"{self!r}, CONFIDENTIAL", ("variable", "categories", "first"), rows, len(rows))


def examples() -> tuple[str, ...]:
    """Names of the bundled examples, to be read as ``example:NAME``.

    See Also
    --------
    read_table

    Examples
    --------
    >>> import tabprotect as tp
    >>> "example:duncan-roehrig-4x4" in tp.examples()
    True
    """
    return tuple(f"{bundled.PREFIX}{example.name}" for example in bundled.examples())


@asks(Reading)
def read_table(
    path: str | Path,
    *,
    reading: str | Path | None = None,
    progress: Progress = SILENT,
    **asked: Unpack[ReadingKeywords],
) -> Table:
    """Read a table of counts; of magnitudes, what ``tabulate --measure`` wrote.

    Parameters
    ----------
    path
        A file, a project, or ``example:NAME``.
    reading
        A TOML file of such options; those that are given here go before.
    **asked

    Raises
    ------
    InputError
        Naming file, line, cell, cause and remedy.

    See Also
    --------
    tabulate, convert, Table.from_frame

    Examples
    --------
    >>> import tabprotect as tp
    >>> tp.read_table("example:duncan-roehrig-4x4")
    Table(v | w, 4 x 4)
    """
    named = {} if reading is None else Reading.file(Path(reading))
    return _shown(opened(str(path), Reading.of({**named, **asked}), progress), usual_kind())


@overload
def tabulate(
    records: object,
    by: Sequence[str] = (),
    *,
    progress: Progress = SILENT,
    **asked: Unpack[TabulationKeywords],
) -> Table: ...


@overload
def tabulate(
    records: object,
    by: Sequence[str] = (),
    *,
    progress: Progress = SILENT,
    **asked: Unpack[MagnitudeTabulationKeywords],
) -> MagnitudeTable: ...


@asks(MagnitudeTabulation)
def tabulate(
    records: object,
    by: Sequence[str] = (),
    *,
    progress: Progress = SILENT,
    **asked: Unpack[MagnitudeTabulationKeywords],
) -> Table | MagnitudeTable:
    """Count records by some variables; with a ``measure``, sum it: a :class:`MagnitudeTable`.

    Parameters
    ----------
    records
        A file (CSV, Parquet, SPSS, ...), a folder or a pattern of files, ``people.duckdb#table``,
        ``postgresql://host/base#people``, ``example:NAME``; or a data frame, or a dict of columns,
        with a row for each record.
    by
        The columns that classify; those that are coded below are among them anyway.
    **asked

    Raises
    ------
    InputError
        Also for a value that falls into no band or is not in the code list, with its line.

    See Also
    --------
    read_table, Table.from_frame, protect

    Examples
    --------
    >>> import polars as pl
    >>> import tabprotect as tp
    >>> people = pl.DataFrame({"region": ["n", "n", "s"], "sex": ["f", "f", "m"]})
    >>> tp.tabulate(people, by=["region", "sex"]).to_frame()["count"].to_list()
    [2, 0, 0, 1]
    """
    source = str(records) if isinstance(records, str | Path) else ""
    wanted = taken(MagnitudeTabulation, asked, source=source, by=[by] if isinstance(by, str) else list(by))
    if source:
        return _shown(tabulated(wanted, progress), usual_kind())
    frame = Frame.of(records)
    return _shown(tabulated_frame(frame.records(), wanted, progress), frame.kind)


def _shown(history: History, kind: str) -> Table:
    """The table of a history, by its measure."""
    return (Table if history.project.measure == "counts" else MagnitudeTable)(history, kind)


def rules(table: MagnitudeTable, *rule: str, weights: str = "sample") -> dict[str, Any]:
    """Return which sums tell too much of a contributor. CONFIDENTIAL.

    Parameters
    ----------
    rule
        ``p=10``, ``p=10,coalition=2``, ``pq=20,50``, ``dominance=1,85``, ``n=3``, ``niss=3,60``,
        ``request=70``; several are judged together.
    weights
        How weights are read: ``sample``, ``replicate`` or ``known``.

    Returns
    -------
    dict
        ``cells``, each with ``index``, ``value``, ``n``, ``holdings``, ``unsafe``, ``rule``, ``status``
        and ``upper_level``, and how many are ``unsafe``.

    Raises
    ------
    ParameterError
        For a rule that never hides anything.

    See Also
    --------
    tabulate, protect

    Examples
    --------
    >>> import tabprotect as tp
    >>> firms = {"nace": ["24"] * 6, "turnover": [660, 83, 49, 8, 5, 4]}
    >>> table = tp.tabulate(firms, by=["nace"], measure="turnover")
    >>> tp.rules(table, "p=10")["unsafe"]
    0
    """
    from tabprotect.engine.magnitudes.tables.sensitive_cells import cell_rows, sensitive_cells
    from tabprotect.engine.sensitivity.magnitude_rules import rules_of

    asked = rules_of(rule)
    found = sensitive_cells(table.magnitudes, asked, weights=weights)
    return {"cells": list(cell_rows(table.magnitudes, asked, found)), "unsafe": int(found.unsafe.sum())}
