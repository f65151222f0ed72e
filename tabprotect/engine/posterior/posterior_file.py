"""A posterior as a CSV or Parquet file in long form, written by columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import duckdb

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.posterior import Posterior

Format = Literal["csv", "parquet"]

FIGURES = ("published", "mean", "mode", "count", "probability")
"""Columns after those of the variables; ``published`` is empty where nothing is published."""

_OPTIONS = {"csv": "(FORMAT csv, HEADER)", "parquet": "(FORMAT parquet, COMPRESSION zstd)"}

_PIECE = 1 << 20


def posterior_file(posterior: Posterior, cells: Ints, form: Format) -> Iterator[bytes]:
    """The bytes of the file in pieces; all of it is worked out before the first.

    Parameters
    ----------
    cells : int64
        Flat cells, in the order they are written.

    Raises
    ------
    InputError
        When a variable is called like one of the ``FIGURES``.
    TooLargeError
        When there are too many rows.
    """
    domain = posterior.domain
    for name in FIGURES:
        # SQL tells no upper case from lower.
        if name in map(str.lower, domain.names):
            raise InputError(
                f"a variable is called {name!r}, like a column of the posterior",
                hint="take --json, or rename the variable",
            )
    rows = PosteriorColumns.of(posterior, cells)
    columns = {
        "cell": rows.cells,
        "count": rows.counts,
        "probability": rows.chances,
        "mean": posterior.mean.reshape(-1)[rows.cells],
        "mode": posterior.mode.reshape(-1)[rows.cells],
        "published": posterior.published.counts.reshape(-1)[rows.cells],
        "shown": posterior.is_published.reshape(-1)[rows.cells],
    }
    chosen, step = [], domain.size
    for axis, size in enumerate(domain.shape):
        step //= size
        name = domain.names[axis].replace('"', '""')
        chosen.append(f'list_extract(${axis + 1}, cell // {step} % {size} + 1) AS "{name}"')
    chosen += ["CASE WHEN shown THEN published END AS published", *FIGURES[1:]]
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        target = Path(folder) / "posterior"
        connection.register("figures", columns)
        connection.execute(
            f"COPY (SELECT {', '.join(chosen)} FROM figures) TO '{target}' {_OPTIONS[form]}",
            [list(variable.categories) for variable in domain.variables],
        )
        with target.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
