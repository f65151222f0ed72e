"""A Dask cluster of two workers gives the same widths as one process alone.

Its workers are threads behind sockets: what is sent is the same, without two more processes.
"""

from __future__ import annotations

import numpy as np
import pytest
from distributed import LocalCluster

from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space import workers
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import critical_widths
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table


def test_two_workers(czech: Table) -> None:
    cells = AtRiskCells(czech, SmallCount(1, 2))
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as cluster:
        spread = critical_widths(cells, workers=cluster.scheduler_address)
    alone = critical_widths(cells)
    assert np.array_equal(spread.values, alone.values)
    assert np.array_equal(spread.smallest, alone.smallest)


def test_nobody_answers(czech: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WORKERS_PATIENCE", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler"):
        critical_widths(AtRiskCells(czech, SmallCount(1, 2)), workers="tcp://127.0.0.1:1")
