"""A Dask cluster of two workers gives the same widths, comparisons, releases and batches as one process.

Its workers are threads behind sockets: what is sent is the same, without two more processes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from distributed import LocalCluster

import tabprotect as tp
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import critical_widths
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers import spreading


@pytest.fixture
def scheduler() -> Iterator[str]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


def test_two_workers(scheduler: str) -> None:
    table = tp.read_table("example:czech-autoworkers")
    cells = AtRiskCells(Table.dense(table.domain, table.counts), SmallCount(1, 2))
    spread, alone = critical_widths(cells, workers=scheduler), critical_widths(cells)
    assert np.array_equal(spread.values, alone.values)
    assert np.array_equal(spread.smallest, alone.smallest)
    tables = {name: table.margin("A", name) for name in "BCD"}
    there, here = (tp.protect_all(tables, "random_rounding", workers=w, base=5) for w in (scheduler, 1))
    for name, protection in here.protections.items():
        assert there.protections[name].release.tables == protection.release.tables
    assert len(here.protections) == 3
    runs = ["random_rounding base=3", "cell_key D=5 V=3 js=2"]
    figures = [
        tp.compare(table.margin("A", "B"), runs, seed=5, runs=6, measures=["utility"], workers=w).to_frame(
            "dict"
        )
        for w in (scheduler, 1)
    ]
    assert figures[0] == figures[1]


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "WORKERS_PATIENCE", 0.5)
    table = tp.read_table("example:duncan-roehrig-4x4")
    with pytest.raises(InputError, match="no Dask scheduler"):
        tp.compare(table, ["random_rounding base=3"], workers="tcp://127.0.0.1:1")
    with pytest.raises(ParameterError, match="workers"):
        tp.compare(table, ["random_rounding base=3"], workers="many")
