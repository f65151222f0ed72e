"""Reference values and the tables they are for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.project.sources import open_table
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = Path(__file__).parents[2] / "reference"


@pytest.fixture(scope="session")
def niss() -> dict[str, Any]:
    """Reference values; see the file's own account of them."""
    found = json.loads((REFERENCE / "niss_query_space.json").read_text())
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="session")
def czech() -> Table:
    """2^6, variables A..F as in Table 2 of the report."""
    return open_table("example:czech-autoworkers").table


@pytest.fixture(scope="session")
def czech_evidence(czech: Table) -> Evidence:
    """Counts 1 and 2 at risk."""
    return Evidence.gather(czech, SmallCount(1, 2))


@pytest.fixture(scope="session")
def kdd() -> Table:
    """13 variables, 40,952 non-zero cells."""
    with gzip.open(REFERENCE / "kdd13_b.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")[:-1]
        rows = np.loadtxt(file, delimiter=",", dtype=np.int64)
    shape = (rows[:, :-1].max(axis=0) + 1).tolist()
    keys = np.ravel_multi_index(tuple(rows[:, :-1].T), shape)
    return Table.sparse(Domain.of_shape(shape, names), keys, rows[:, -1])
