"""A posterior as a CSV or Parquet file in long form, written by columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.tables.domain import Domain

Format = Literal["csv", "parquet"]

FIGURES = ("published", "mean", "mode", "count", "probability")
"""Columns after those of the variables; ``published`` is empty where no count is published."""

DRAWN = ("draw", "count")
"""Columns of drawn originals, beside those of the variables."""

_OPTIONS = {"csv": "(FORMAT csv, HEADER)", "parquet": "(FORMAT parquet, COMPRESSION zstd)"}

_PIECE = 1 << 20


def posterior_file(posterior: Posterior, cells: Ints, form: Format) -> Iterator[bytes]:
    """The bytes of the file in pieces; everything is computed before the first piece.

    Parameters
    ----------
    cells : int64
        Flat cells, in the order they are written.

    Raises
    ------
    InputError
        If a variable has the name of one of the ``FIGURES``.
    TooLargeError
        When there are too many rows.
    """
    domain = posterior.domain
    _check_names(domain, FIGURES)
    rows = PosteriorColumns.of(posterior, cells)
    columns = {
        "count": rows.counts,
        "probability": rows.chances,
        "mean": posterior.mean.reshape(-1)[rows.cells],
        "mode": posterior.mode.reshape(-1)[rows.cells],
        "published": posterior.published.counts.reshape(-1)[rows.cells],
        "shown": posterior.is_published.reshape(-1)[rows.cells],
    }
    chosen = ["CASE WHEN shown THEN published END AS published", *FIGURES[1:]]
    return _file(domain, rows.cells, columns, chosen, form)


def draws_file(domain: Domain, tables: Ints, form: Format) -> Iterator[bytes]:
    """The file of whole originals that were drawn: a row for each draw and cell.

    Parameters
    ----------
    tables : int64 (draws, cells)

    Raises
    ------
    InputError
        If a variable is called ``draw`` or ``count``.
    """
    _check_names(domain, DRAWN)
    number, cells = tables.shape
    columns = {"draw": np.repeat(np.arange(1, number + 1), cells), "count": tables.reshape(-1)}
    at = np.tile(np.arange(cells), number)
    return _file(domain, at, columns, ["count"], form, before=["draw"])


def _check_names(domain: Domain, taken: tuple[str, ...]) -> None:
    for name in taken:
        # SQL names are case-insensitive.
        if name in map(str.lower, domain.names):
            raise InputError(
                f"a variable is called {name!r}, like a column of the file",
                hint="rename the variable; or take another form: --json",
            )


def _file(
    domain: Domain,
    cells: Ints,
    columns: dict[str, Any],
    chosen: list[str],
    form: Format,
    before: Sequence[str] = (),
) -> Iterator[bytes]:
    """Columns as a file; the categories of each row's cell stand between two groups of columns."""
    columns["cell"] = cells
    names, step = [], domain.size
    for axis, size in enumerate(domain.shape):
        step //= size
        name = domain.names[axis].replace('"', '""')
        names.append(f'list_extract(${axis + 1}, cell // {step} % {size} + 1) AS "{name}"')
    wanted = ", ".join([*before, *names, *chosen])
    # Imported late: it takes a quarter of the time of a small `infer`.
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        target = Path(folder) / "posterior"
        connection.register("figures", columns)
        connection.execute(
            f"COPY (SELECT {wanted} FROM figures) TO '{target}' {_OPTIONS[form]}",
            [list(variable.categories) for variable in domain.variables],
        )
        with target.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
