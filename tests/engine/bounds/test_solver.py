"""The solver: limits, cancelling in the middle, and answers that hold afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csc_array

from tabprotect.engine.bounds.support import Support, support
from tabprotect.engine.errors import InfeasibleError, Interrupted
from tabprotect.engine.solver import Entries, Limit, TableProgramme, whole_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.table import Table


class CancelAfter:
    """Progress that cancels at its n-th report."""

    def __init__(self, reports: int) -> None:
        self.left = reports

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self.left -= 1
        if self.left < 0:
            raise Interrupted()


def opened(shape: tuple[int, ...]) -> Support:
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, np.random.default_rng(0).poisson(2.0, shape))
    found = support(table, margins_of_order(domain, 2))
    assert found is not None
    return found


def model(cells: Support, *, integral: bool = False) -> TableProgramme:
    low = np.zeros(len(cells.keys), dtype=np.int64)
    sums, ends = (cells.totals, cells.totals), (low, low + cells.total)
    return TableProgramme(Entries.adding_up(cells.rows), sums=sums, cells=ends, integral=integral)


def test_cancelling_in_the_middle_of_a_linear_programme_leaves_the_model_usable() -> None:
    cells = opened((6, 6, 6))
    fresh = model(cells).optimise(np.array([17]), "max").bound
    kept = model(cells)
    watch = CancelAfter(20)
    with pytest.raises(Interrupted):
        kept.optimise(np.array([17]), "max", progress=watch)
    assert kept.optimise(np.array([17]), "max").bound == pytest.approx(fresh)


def test_cancelling_in_the_middle_of_an_integer_programme() -> None:
    cells = opened((10, 10, 10))
    kept = model(cells, integral=True)
    with pytest.raises(Interrupted):
        kept.optimise(np.array([5]), "max", progress=CancelAfter(2))
    found = kept.optimise(np.zeros(0, dtype=np.int64), "max", start=cells.truth)
    assert found.value == 0
    with kept.held(np.array([5]), cells.total + 1, cells.total + 1), pytest.raises(InfeasibleError):
        kept.optimise(np.array([5]), "max")
    assert kept.optimise(np.zeros(0, dtype=np.int64), "max", start=cells.truth).value == 0


def test_a_node_limit_still_gives_a_bound() -> None:
    cells = opened((5, 5, 5))
    exact = model(cells, integral=True).optimise(np.array([3]), "max")
    assert exact.optimal
    for nodes in (0, 1):
        limited = model(cells, integral=True).optimise(
            np.array([3]), "max", start=cells.truth, limit=Limit(nodes)
        )
        assert exact.value is not None and limited.bound >= exact.value - 1e-6
        assert limited.value is None or limited.value <= exact.value + 1e-6


def test_sums_that_no_table_has() -> None:
    entries, totals = Entries.adding_up(np.array([[0, 1], [0, 2]])), np.array([3, 1, 1])
    ends = np.zeros(2), np.full(2, 9)
    with pytest.raises(InfeasibleError):
        TableProgramme(entries, sums=(totals, totals), cells=ends).optimise(np.array([0]), "min")
    with pytest.raises(InfeasibleError):
        whole_table(entries, sums=(totals, totals), cells=ends, stage="")


def test_entries_in_any_order_are_those_of_columns() -> None:
    rows = np.array([[0, 3], [1, 3], [0, 4]])
    expected = Entries.adding_up(rows)
    order = np.random.default_rng(1).permutation(rows.size)
    places = rows.reshape(-1)[order], np.repeat(np.arange(3), 2)[order]
    matrix = csc_array((np.ones(rows.size), (rows.reshape(-1), np.repeat(np.arange(3), 2))))
    for found in (
        Entries.at(*places, 1.0, 3),
        Entries.joined([(row, 1.0) for row in rows]),
        Entries.of(matrix),
    ):
        assert all(map(np.array_equal, vars(found).values(), vars(expected).values()))


def test_warm_runs_agree_with_fresh_ones() -> None:
    cells = opened((4, 4, 4))
    kept = model(cells)
    for cell in range(0, len(cells.keys), 5):
        for sense in ("min", "max"):
            warm = kept.optimise(np.array([cell]), sense).bound
            assert warm == pytest.approx(model(cells).optimise(np.array([cell]), sense).bound)


CANCEL_AND_EXIT = """
import sys
from types import SimpleNamespace

import numpy as np

from tabprotect.engine import solver
from tabprotect.engine.errors import Interrupted


class Soon:
    asked = 0

    def report(self, stage, fraction, partial=None):
        self.asked += 1
        if self.asked > 3:
            raise Interrupted()


# No time to notice: the solvers are left behind in the middle of their work.
solver.PATIENCE = 0.0
side = 10
generator = np.random.default_rng(0)
counts = generator.poisson(2.5, (side, side, side))
i, j, k = np.indices(counts.shape).reshape(3, -1)
rows = np.stack([i * side + j, side**2 + i * side + k, 2 * side**2 + j * side + k], axis=1)
totals = np.bincount(rows.reshape(-1), weights=np.repeat(counts.reshape(-1), 3)).astype(np.int64)
low, high = np.zeros(counts.size, np.int64), np.full(counts.size, 99)
weights = generator.integers(-50, 50, counts.size)
for _ in range(4):
    entries = solver.Entries.adding_up(rows)
    model = solver.TableProgramme(entries, sums=(totals, totals), cells=(low, high), integral=True)
    try:
        model.weighted(weights.astype(float), progress=Soon())
    except Interrupted:
        print("cancelled", file=sys.stderr)
"""


def test_a_program_that_cancelled_ends_cleanly() -> None:
    run = subprocess.run([sys.executable, "-c", CANCEL_AND_EXIT], capture_output=True, text=True, check=False)
    # The solver's newest releases print who they are on standard output.
    assert (run.returncode, run.stderr.split()) == (0, ["cancelled"] * 4)


def test_a_search_reports_how_much_of_its_nodes_it_has_done() -> None:
    """A market split: three sums of thirty numbers that a search hits at no early node."""
    generator = np.random.default_rng(4)
    weights = generator.integers(1, 100, (3, 30)).astype(float)
    goal = np.floor(weights.sum(axis=1) / 2)
    rows, columns = np.divmod(np.arange(90), 30)
    entries = Entries.at(rows, columns, weights.reshape(-1), 30)
    model = TableProgramme(entries, sums=(goal, goal), cells=(np.zeros(30), np.ones(30)), integral=True)
    seen: list[float] = []
    asked = SimpleNamespace(report=lambda stage, fraction, partial=None: seen.append(fraction))
    model.weighted(np.ones(30), limit=Limit(300), progress=asked)
    assert seen[0] == 0.0 and max(seen) > 0.1 and seen == sorted(seen)


def test_ctrl_c_never_passes_through_the_solver() -> None:
    """As an exception in the solver's own code it left a model whose next change ended the process."""
    cells = opened((6, 6, 6))
    kept = model(cells)
    fresh = model(cells).optimise(np.array([17]), "max").bound
    handlers = []

    class Pressed:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            handlers.append(signal.getsignal(signal.SIGINT))
            if len(handlers) == 20:
                signal.raise_signal(signal.SIGINT)

    # A shell starts what runs beside it with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            kept.optimise(np.array([17]), "max", progress=Pressed())
        assert len(handlers) == 20 and signal.default_int_handler not in handlers[1:]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert kept.optimise(np.array([17]), "max").bound == fresh
