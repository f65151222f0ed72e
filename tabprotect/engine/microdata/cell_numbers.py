"""Counted cells as numbers: one key per cell, or the numbers of its categories."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.domain import Domain


def keyed(connection: duckdb.DuckDBPyConnection, domain: Domain, measure: str) -> tuple[Ints, Ints]:
    """Mixed-radix keys of the cells and one of their measures."""
    terms, stride = [], domain.size
    for i, size in enumerate(domain.shape):
        stride //= size
        terms.append(f"codes{i}.code * {stride}")
    key, counts = _numbers(connection, domain, [" + ".join(terms)], measure)
    return key, counts


def category_numbers(connection: duckdb.DuckDBPyConnection, domain: Domain) -> list[Ints]:
    """The category numbers of the cells by variable, and their counts."""
    return _numbers(connection, domain, [f"codes{i}.code" for i in range(domain.ndim)], "n")


def _numbers(
    connection: duckdb.DuckDBPyConnection, domain: Domain, wanted: Sequence[str], measure: str
) -> list[Ints]:
    """Columns (cells,) computed from the numbers ``codes0.code``, ..., and a measure."""
    joins = []
    for i, variable in enumerate(domain.variables):
        connection.execute(
            f"CREATE OR REPLACE TABLE codes{i} AS SELECT unnest($labels::VARCHAR[]) AS label, "
            "unnest(range($size::BIGINT)) AS code",
            {"labels": list(variable.categories), "size": len(variable.categories)},
        )
        joins.append(f"JOIN codes{i} ON cells.v{i} = codes{i}.label")
    columns = [*wanted, f"CAST({measure} AS BIGINT)"]
    said = ", ".join(f"{column} AS c{number}" for number, column in enumerate(columns))
    found = connection.execute(f"SELECT {said} FROM cells {' '.join(joins)}").fetchnumpy()
    return [np.asarray(found[f"c{number}"], dtype=np.int64) for number in range(len(columns))]
