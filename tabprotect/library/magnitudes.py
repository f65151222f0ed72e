"""Magnitude tables: sums of a measure with who contributes to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.engine.formats.format import RecordsFile
from tabprotect.engine.formats.rows.sql import in_memory
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes as opened
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.engine.magnitudes.tables.axis import TOTAL
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable as EngineTable
from tabprotect.engine.magnitudes.tables.sensitive_cells import cell_rows, sensitive_cells
from tabprotect.engine.magnitudes.tables.tabulating import summed
from tabprotect.engine.microdata.record_files import MicrodataFile
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.asked import MagnitudeTabulation
from tabprotect.engine.project.releasing.magnitude_release import LeavingSums
from tabprotect.engine.project.sources import codings_of, magnitudes_tabulated, measured_columns
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, protect_magnitudes
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.variable import AT
from tabprotect.library.shown.frames import Frame, Framed, html_rows, made, usual_kind


@dataclass(frozen=True, eq=False)
class MagnitudeTable(Framed):
    """A confidential table of sums with its contributors. It never prints its values.

    Made by :func:`tabulate` with a measure, or by :func:`read_magnitudes`.

    Attributes
    ----------
    table
        The sums and contributions as the engine holds them.
    kind
        What data frames come back as: ``pandas``, ``polars``, ``pyarrow`` or ``dict``.
    """

    table: EngineTable = field(repr=False)
    kind: str = field(default_factory=usual_kind, repr=False)

    def __repr__(self) -> str:
        names = " | ".join(v.name for v in self.table.variables)
        return f"MagnitudeTable({self.table.measure} by {names}, {len(self.table.cells)} cells)"

    def to_frame(self, kind: str | None = None) -> Any:
        """A row for each cell, totals among them: variables, ``value``, ``status``, ``n``, ``holdings``.

        CONFIDENTIAL. A total has the category ``Total``; ``status`` is empty: nothing is hidden.

        Parameters
        ----------
        kind
            ``pandas``, ``polars``, ``pyarrow``, ``duckdb`` or ``dict``; by default what went in.
        """
        cells = self.table.cells
        columns = {
            axis.variable.name: np.array(axis.written, dtype=object)[nodes]
            for axis, nodes in zip(self.table.axes, cells.nodes, strict=True)
        }
        value = cells.value / 10**self.table.decimals if self.table.decimals else cells.value
        columns |= {"value": value, "status": np.array([""] * len(cells), dtype=object)}
        columns |= {"n": cells.units, "holdings": cells.holdings, "nonzero": cells.nonzero}
        return made(columns, kind or self.kind)

    def contributors(self, **cell: str) -> Any:
        """Who contributes to a cell, the largest first: ``holding``, ``value``, ``share``, ``n``.

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
        table = self.table
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

    def protect(
        self,
        *rule: str,
        method: str = "suppression",
        out: str | Path | None = None,
        dossier: str | Path | None = None,
        accept: str = "",
        **parameters: object,
    ) -> dict[str, Any]:
        """Protect it, audit that, and publish it. What comes back is CONFIDENTIAL.

        Parameters
        ----------
        rule
            As of :func:`rules`.
        method
            ``suppression``, ``multiplicative_noise`` or ``cell_key``.
        out, dossier
            The bundle for readers, and the file that stays in the house.
        accept
            Why it is published whatever the verdict says.
        **parameters
            Of the method: ``cost="n"``, ``least=0.05``.

        Returns
        -------
        dict
            As ``protect --json`` has it, with the ``verdict``.

        Raises
        ------
        RefusedError
            When a contributor still comes too near another, or it was not judged whole.
        """
        asked = Asked(
            method=method,
            rules=rules_of(rule) if rule else (),
            parameters={name: str(value) for name, value in parameters.items()},
        )
        paths = [None if path is None else Path(path) for path in (out, dossier)]
        leaving = LeavingSums(out=paths[0], dossier=paths[1], accept=accept)
        done = protect_magnitudes(self.table, asked, leaving)
        return {**done.figures, "verdict": done.verdict.as_json()}

    def write(self, path: str | Path) -> None:
        """Write it as a Parquet file that ``protect`` and ``rules`` open. CONFIDENTIAL."""
        write_magnitudes(self.table, Path(path))

    def _repr_html_(self) -> str:
        rows = [(v.name, len(v.categories), ", ".join(v.categories[:6])) for v in self.table.variables]
        return html_rows(f"{self!r}, CONFIDENTIAL", ("variable", "categories", "first"), rows, len(rows))


def read_magnitudes(path: str | Path) -> MagnitudeTable:
    """Open a magnitude table that ``tabulate --measure`` wrote.

    Raises
    ------
    InputError
        For a file that is none.
    """
    return MagnitudeTable(opened(Path(path)))


def rules(table: MagnitudeTable, *rule: str, weights: str = "sample") -> dict[str, Any]:
    """Which sums tell too much of a contributor. CONFIDENTIAL.

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

    Examples
    --------
    >>> import tabprotect as tp
    >>> firms = {"nace": ["24"] * 6, "turnover": [660, 83, 49, 8, 5, 4]}
    >>> table = tp.tabulate(firms, by=["nace"], measure="turnover")
    >>> tp.rules(table, "p=10")["unsafe"]
    0
    """
    asked = rules_of(rule)
    found = sensitive_cells(table.table, asked, weights=weights)
    rows = list(cell_rows(table.table, asked, found))
    return {"cells": rows, "unsafe": int(found.unsafe.sum())}


def summed_records(records: object, asked: MagnitudeTabulation, progress: Progress) -> MagnitudeTable:
    """The magnitude table of records in a file or a data frame."""
    if isinstance(records, str | Path):
        return MagnitudeTable(magnitudes_tabulated(asked, progress))
    frame = (
        Frame({str(name): list(values) for name, values in records.items()}, {}, usual_kind())
        if isinstance(records, Mapping)
        else Frame.of(records)
    )
    columns = measured_columns(asked)
    codings = codings_of(asked)
    texts = {
        name: np.array([None if one is None else str(one) for one in values], dtype=object)
        for name, values in frame.columns.items()
    }
    with in_memory() as connection:
        connection.register("given", texts)
        source = MicrodataFile(Path("records"), connection, RecordsFile("given"))
        table = summed(source, codings.columns(asked.by), columns, codings, progress=progress)
    return MagnitudeTable(table, frame.kind)
